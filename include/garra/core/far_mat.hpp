// A matrix that is not in its owner's registers or stack: a thread of a GPU has 73 kB for one of 32 contacts only where
// it finds it in the device's memory. Code that is written for a matrix M of either kind asks take_room() for another
// of M's kind; everything else is entries.
#pragma once

#include "garra/core/symmetric_mat.hpp"

namespace garra {

/// Entry after entry, `stride` apart, so that those of threads that go side by side lie side by side. A copy is the
/// same matrix. Behind it there is room for more of its kind, as many as whoever makes the first has seen to.
template <class S, int R, int C, int stride>
struct FarMat {
  S* at;

  GARRA_HD S& operator()(int i, int j) const { return at[(i * C + j) * stride]; }
  GARRA_HD S& operator[](int k) const { return at[k * stride]; }
};

template <class S, int R, int C, int stride>
GARRA_HD constexpr int numbers_of(const FarMat<S, R, C, stride>&) {
  return R * C;
}

/// `to` is, from now on, a matrix of the kind of `beside`, with any numbers: the one that lies behind it.
template <class S, int R, int C, int stride>
GARRA_HD void take_room(FarMat<S, R, C, stride>& to, const FarMat<S, R, C, stride>& beside) {
  to.at = beside.at + R * C * stride;
}
/// A matrix has its room already.
template <class S, int R, int C>
GARRA_HD void take_room(Mat<S, R, C>&, const Mat<S, R, C>&) {}

/// `to` is the matrix that `it` is. A Mat is one of its own, with its numbers still to come.
template <class S, int R, int C, int stride>
GARRA_HD void take_place(FarMat<S, R, C, stride>& to, const FarMat<S, R, C, stride>& it) {
  to.at = it.at;
}
template <class S, int R, int C>
GARRA_HD void take_place(Mat<S, R, C>&, const Mat<S, R, C>&) {}

/// a, in another matrix.
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

/// As of a Mat: sums in the same order.
template <class S, int R, int C, int stride>
GARRA_HD Vec<S, R> operator*(const FarMat<S, R, C, stride>& a, const Vec<S, C>& x) {
  Vec<S, R> out;
#if defined(__CUDA_ARCH__)
#pragma unroll 1  // or a loop around it would put the whole matrix where it is not to be, on the stack
#endif
  for (int i = 0; i < R; ++i) {
    S sum = a(i, 0) * x[0];
    for (int k = 1; k < C; ++k) sum = fma(a(i, k), x[k], sum);
    out[i] = sum;
  }
  return out;
}

/// One of the two: their numbers stay where they are.
template <class S, int R, int C, int stride>
GARRA_HD FarMat<S, R, C, stride> select(bool mask, const FarMat<S, R, C, stride>& a, const FarMat<S, R, C, stride>& b) {
  return mask ? a : b;
}

}  // namespace garra
