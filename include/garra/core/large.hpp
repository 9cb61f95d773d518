// Temporaries that a thread's stack has no room for: matrices that are sized at run time, which in lanes are megabytes.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "garra/core/mat.hpp"

namespace garra {

namespace large_detail {

/// Memory of this thread for `bytes`, aligned for lanes, until give_back(). Last taken, first given back; in
/// src/base/large.cpp.
[[nodiscard]] void* take(std::size_t bytes);
void give_back();

}  // namespace large_detail

/// What make() returns, made in its place: on the stack where its size is known when a program is compiled, else in
/// memory that the thread keeps for the next one.
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

/// Host only, as all that is sized at run time.
template <class T>
requires kSizedAtRunTime<T>
class Large<T> {
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

template <class Make>
Large(const Make&) -> Large<std::invoke_result_t<const Make&>>;

}  // namespace garra
