// Sizes of vectors and matrices: numbers that are known when a program is compiled, and sizes per contact, for
// problems whose number of contacts is known when it runs.
//
// Code for few contacts is compiled for each number of them. Code for more is compiled once: its number of contacts N
// is kAnyContacts = -1, so that a vector of D numbers a contact has D * N = -D rows. A negative size is a size per
// contact; extent<>() gives its value. All problems of a batch have as many contacts, and a loop over problems says how
// many (ContactsInUse) before it enters a body. Host only: kernels are compiled for each number.
#pragma once

#include "garra/core/hd.hpp"

namespace garra {

inline constexpr int kContactCapacity = 32;  ///< that a problem may have
/// In place of a number of contacts: one that is known when the program runs, at most kContactCapacity.
inline constexpr int kAnyContacts = -1;

/// Numbers that there is memory for where there are extent<N>().
template <int N>
inline constexpr int kCapacity = N >= 0 ? N : -N* kContactCapacity;

namespace extent_detail {

/// Of the problems that this thread works on; in src/base/extent.cpp. Read without a function call.
#if !defined(__CUDACC__)
[[gnu::tls_model("initial-exec")]]
#endif
extern constinit thread_local int contacts;

}  // namespace extent_detail

/// For its lifetime, code for kAnyContacts solves problems of so many contacts in this thread.
class ContactsInUse {
 public:
  explicit ContactsInUse(int contacts) : before_(extent_detail::contacts) { extent_detail::contacts = contacts; }
  ~ContactsInUse() { extent_detail::contacts = before_; }
  ContactsInUse(const ContactsInUse&) = delete;
  ContactsInUse& operator=(const ContactsInUse&) = delete;

 private:
  int before_;
};

/// N; of a size per contact, that of the problems that this thread works on.
template <int N>
GARRA_HD constexpr int extent() {
  if constexpr (N >= 0) {
    return N;
  } else {
#if defined(__CUDA_ARCH__)
    return 0;  // no thread of a GPU comes here
#else
    return -N * extent_detail::contacts;
#endif
  }
}

}  // namespace garra
