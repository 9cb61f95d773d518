// Sizes of vectors and matrices: numbers known at compile time, and sizes per contact for problems
// whose number of contacts is known at run time.
//
// Code for few contacts is compiled for each number of them, code for more once. Its number of
// contacts N is kAnyContacts = -1, so that a vector of D numbers per contact has D * N = -D rows. A
// negative size is a size per contact; extent<>() gives its value. All problems of a batch have the
// same number of contacts, which a loop over problems sets (ContactsInUse) before it enters a body.
// Kernels are compiled for each number, or for any number up to eight (kernels/contact/any_size.cuh).
#pragma once

#include "garra/core/hd.hpp"

namespace garra {

inline constexpr int kContactCapacity = 32;  ///< most contacts of a problem
/// Stands for a number of contacts known at run time, at most kContactCapacity.
inline constexpr int kAnyContacts = -1;

/// Size of the memory reserved for extent<N>() numbers.
template <int N>
inline constexpr int kCapacity = N >= 0 ? N : -N* kContactCapacity;

namespace extent_detail {

/// Contacts of this thread's problems; in src/base/extent.cpp. Read without a function call.
#if !defined(__CUDACC__)
[[gnu::tls_model("initial-exec")]]
#endif
extern constinit thread_local int contacts;

}  // namespace extent_detail

/// For its lifetime, the number of contacts that code for kAnyContacts solves in this thread.
class ContactsInUse {
 public:
  explicit ContactsInUse(int contacts) : before_(extent_detail::contacts) { extent_detail::contacts = contacts; }
  ~ContactsInUse() { extent_detail::contacts = before_; }
  ContactsInUse(const ContactsInUse&) = delete;
  ContactsInUse& operator=(const ContactsInUse&) = delete;

 private:
  int before_;
};

/// N; for a size per contact, its value for the problems that this thread works on.
template <int N>
GARRA_HD constexpr int extent() {
  if constexpr (N >= 0) {
    return N;
  } else {
#if defined(__CUDA_ARCH__)
    return 0;  // never reached on a GPU
#else
    return -N * extent_detail::contacts;
#endif
  }
}

}  // namespace garra
