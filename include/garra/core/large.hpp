// Temporaries too large for a thread's stack: matrices sized at run time, in lanes megabytes.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "garra/core/mat.hpp"

namespace garra {

namespace large_detail {

/// Memory of this thread for `bytes`, aligned for lanes, until give_back(). The last piece taken is
/// given back first; in src/base/large.cpp.
[[nodiscard]] void* take(std::size_t bytes);
void give_back();

}  // namespace large_detail

/// Whether matrices, and structs of them, keep their numbers in memory of their own (core/heap_mat.hpp).
template <class T>
inline constexpr bool kOnHeap = false;
template <class T>
requires requires { T::parts(); }
inline constexpr bool kOnHeap<T> = std::apply(
    [](auto... part) { return (kOnHeap<std::remove_reference_t<decltype(std::declval<T>().*part)>> || ...); },
    T::parts());

/// The result of make(), constructed in place: on the stack if its size is known at compile time,
/// otherwise in memory that the thread keeps for reuse.
template <class T>
class Large {
 public:
  template <class Make>
  GARRA_HD explicit Large(const Make& make) : value_(make()) {}
  GARRA_HD T& operator*() { return value_; }
  GARRA_HD const T& operator*() const { return value_; }

 private:
  T value_;
};

#if !defined(__CUDACC__)  // kernels have another (kernels/contact/any_size.cuh)
template <class T>
requires(kSizedAtRunTime<T> && !kOnHeap<T>) class Large<T> {
 public:
  template <class Make>
  explicit Large(const Make& make) : value_(::new (large_detail::take(sizeof(T))) T(make())) {}
  ~Large() { large_detail::give_back(); }
  Large(const Large&) = delete;
  Large& operator=(const Large&) = delete;
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }

 private:
  T* value_;
};
#endif

template <class Make>
Large(const Make&) -> Large<std::invoke_result_t<const Make&>>;

}  // namespace garra
