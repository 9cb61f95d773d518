// Matrices of any size known at run time, on the heap: for problems whose number of unknowns the caller chooses.
//
// A size is a stand-in below 0, as a size per contact (extent.hpp). SizesInUse sets the two numbers that extents follow
// from: n unknowns, and s slacks. Host only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "garra/core/large.hpp"
#include "garra/core/mat.hpp"
#include "garra/core/symmetric_mat.hpp"

namespace garra {

inline constexpr int kAnyUnknowns = -(1 << 20);               ///< stands for n
inline constexpr int kAnySlacks = 2 * kAnyUnknowns;           ///< for s
inline constexpr int kAnyVariables = 3 * kAnyUnknowns;        ///< for n + s
inline constexpr int kAnyOneMore = kAnyUnknowns - (1 << 10);  ///< for n + 1

namespace extent_detail {

struct AnySizes {
  int unknowns = 0, slacks = 0;
};
/// Of this thread; in src/base/extent.cpp, once for all libraries of a process.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local AnySizes any_sizes;

}  // namespace extent_detail

/// For its lifetime, the sizes that stand-ins have in this thread.
class SizesInUse {
 public:
  SizesInUse(int unknowns, int slacks) : before_(extent_detail::any_sizes) {
    extent_detail::any_sizes = {unknowns, slacks};
  }
  ~SizesInUse() { extent_detail::any_sizes = before_; }
  SizesInUse(const SizesInUse&) = delete;
  SizesInUse& operator=(const SizesInUse&) = delete;

 private:
  extent_detail::AnySizes before_;
};

/// Arrays of a fixed size, as those of masks in lcp.hpp, hold this many.
template <>
inline constexpr int kCapacity<kAnyUnknowns> = 1024;

#if !defined(__CUDACC__)  // device code cannot name a host's variable
template <>
inline int extent<kAnyUnknowns>() {
  return extent_detail::any_sizes.unknowns;
}
template <>
inline int extent<kAnySlacks>() {
  return extent_detail::any_sizes.slacks;
}
template <>
inline int extent<kAnyVariables>() {
  return extent_detail::any_sizes.unknowns + extent_detail::any_sizes.slacks;
}
template <>
inline int extent<kAnyOneMore>() {
  return extent_detail::any_sizes.unknowns + 1;
}
#endif

/// Base of the matrices below: extent<R>() * extent<C>() numbers, of no particular value at first.
template <class S, int R, int C>
struct HeapMat {
  using Matrix = Mat<S, R, C>;
  static constexpr int kRows = R, kCols = C;

  S* m;

  HeapMat() : m(new S[count()]) {}
  HeapMat(const HeapMat& b) : HeapMat() { std::copy_n(b.m, count(), m); }
  HeapMat(HeapMat&& b) noexcept : m(std::exchange(b.m, nullptr)) {}
  HeapMat& operator=(const HeapMat& b) {
    if (this == &b) return *this;
    if (m == nullptr) m = new S[count()];
    std::copy_n(b.m, count(), m);
    return *this;
  }
  HeapMat& operator=(HeapMat&& b) noexcept {
    std::swap(m, b.m);
    return *this;
  }
  ~HeapMat() { delete[] m; }

  static std::size_t count() { return static_cast<std::size_t>(extent<R>()) * static_cast<std::size_t>(extent<C>()); }

  S& operator()(int i, int j) { return m[i * extent<C>() + j]; }
  const S& operator()(int i, int j) const { return m[i * extent<C>() + j]; }
  S& operator[](int i) { return m[i]; }
  const S& operator[](int i) const { return m[i]; }

  static Matrix zero() {
    Matrix z;
    std::fill_n(z.m, count(), S(0));
    return z;
  }
  friend Matrix operator+(const Matrix& a, const Matrix& b) {
    Matrix r;
    for_each_entry<R, C>([&](int k) { r.m[k] = a.m[k] + b.m[k]; });
    return r;
  }
  friend Matrix operator-(const Matrix& a, const Matrix& b) {
    Matrix r;
    for_each_entry<R, C>([&](int k) { r.m[k] = a.m[k] - b.m[k]; });
    return r;
  }
  friend Matrix operator-(const Matrix& a) {
    Matrix r;
    for_each_entry<R, C>([&](int k) { r.m[k] = -a.m[k]; });
    return r;
  }
  friend Matrix operator*(const S& s, const Matrix& a) {
    Matrix r;
    for_each_entry<R, C>([&](int k) { r.m[k] = s * a.m[k]; });
    return r;
  }
};

template <class S>
struct Mat<S, kAnyUnknowns, 1> : HeapMat<S, kAnyUnknowns, 1> {};
template <class S>
struct Mat<S, kAnyVariables, 1> : HeapMat<S, kAnyVariables, 1> {};
template <class S>
struct Mat<S, kAnyOneMore, 1> : HeapMat<S, kAnyOneMore, 1> {};
template <class S>
struct Mat<S, kAnyUnknowns, kAnyUnknowns> : HeapMat<S, kAnyUnknowns, kAnyUnknowns> {};
template <class S>
struct Mat<S, kAnyVariables, kAnyVariables> : HeapMat<S, kAnyVariables, kAnyVariables> {};
template <class S>
struct Mat<S, kAnyOneMore, kAnyVariables> : HeapMat<S, kAnyOneMore, kAnyVariables> {};

template <class S, int C>
inline constexpr bool kOnHeap<Mat<S, kAnyUnknowns, C>> = true;
template <class S, int C>
inline constexpr bool kOnHeap<Mat<S, kAnyVariables, C>> = true;
template <class S, int C>
inline constexpr bool kOnHeap<Mat<S, kAnyOneMore, C>> = true;

}  // namespace garra
