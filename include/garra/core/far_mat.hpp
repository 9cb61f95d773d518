// A matrix outside of its owner's registers and stack: 73 kB for 32 contacts, which a GPU thread
// keeps in the device's memory. Code written for a matrix M of either kind calls take_room() for
// another of M's kind; all else is access to entries.
#pragma once

#include "garra/core/symmetric_mat.hpp"

namespace garra {

/// A matrix in interleaved memory: entries are `stride` apart, so that those of neighboring threads
/// are adjacent. A copy is the same matrix. The memory behind it has space for more matrices of its
/// kind, as many as the creator of the first reserved.
template <class S, int R, int C, int stride>
struct FarMat {
  S* at;

  GARRA_HD S& operator()(int i, int j) const { return at[(i * C + j) * stride]; }
  GARRA_HD S& operator[](int k) const { return at[k * stride]; }
};

template <class S, int R, int C, int stride>
GARRA_HD constexpr int count_numbers(const FarMat<S, R, C, stride>&) {
  return R * C;
}

/// Makes `to` the matrix behind `beside`, of the same kind, with undefined numbers.
template <class S, int R, int C, int stride>
GARRA_HD void take_room(FarMat<S, R, C, stride>& to, const FarMat<S, R, C, stride>& beside) {
  to.at = beside.at + R * C * stride;
}
/// Does nothing: a Mat has its own memory.
template <class S, int R, int C>
GARRA_HD void take_room(Mat<S, R, C>&, const Mat<S, R, C>&) {}

/// Makes `to` refer to the same matrix as `it`. A Mat has its own memory, with undefined numbers.
template <class S, int R, int C, int stride>
GARRA_HD void take_place(FarMat<S, R, C, stride>& to, const FarMat<S, R, C, stride>& it) {
  to.at = it.at;
}
template <class S, int R, int C>
GARRA_HD void take_place(Mat<S, R, C>&, const Mat<S, R, C>&) {}

/// A copy of a in memory of its own.
template <class S, int R, int C>
GARRA_HD Mat<S, R, C> copied(const Mat<S, R, C>& a) {
  return a;
}
template <class S, int R, int C, int stride>
GARRA_HD FarMat<S, R, C, stride> copied(const FarMat<S, R, C, stride>& a) {
  FarMat<S, R, C, stride> out;
  take_room(out, a);
  for (int k = 0; k < R * C; ++k) out[k] = a[k];
  return out;
}

/// As for a Mat: sums in the same order.
template <class S, int R, int C, int stride>
GARRA_HD Vec<S, R> operator*(const FarMat<S, R, C, stride>& a, const Vec<S, C>& x) {
  Vec<S, R> out;
#if defined(__CUDA_ARCH__)
#pragma unroll 1  // else a loop around it would put the whole matrix on the stack
#endif
  for (int i = 0; i < R; ++i) {
    S sum = a(i, 0) * x[0];
    for (int k = 1; k < C; ++k) sum = fma(a(i, k), x[k], sum);
    out[i] = sum;
  }
  return out;
}

/// Selects one of the two matrices; their numbers stay in place.
template <class S, int R, int C, int stride>
GARRA_HD FarMat<S, R, C, stride> select(bool mask, const FarMat<S, R, C, stride>& a, const FarMat<S, R, C, stride>& b) {
  return mask ? a : b;
}

}  // namespace garra
