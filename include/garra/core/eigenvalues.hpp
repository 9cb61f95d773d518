// Eigenvalues of a small real matrix without symmetry: reflections to Hessenberg form, then implicit QR steps with two
// shifts (J. G. F. Francis, Comput. J. 4 (1961); EISPACK's hqr). Each SIMD lane has a window and shifts of its own.
#pragma once

#include <limits>

#include "garra/core/mat.hpp"

namespace garra {

template <class S, int N>
struct Eigenvalues {
  Vec<S, N> re, im;  ///< conjugate pairs are adjacent, the positive imaginary part first
  S open;            ///< number of eigenvalues that did not converge; their values mean nothing
};

namespace eigenvalues {

inline constexpr int kSweepsPerValue = 8;

/// a without its entries below the first subdiagonal, by similarity.
template <class S, int N>
GARRA_HD void reduce_to_hessenberg(Mat<S, N, N>& a) {
  const S zero(0), one(1);
  for (int k = 0; k + 2 < N; ++k) {
    Vec<S, N> v;
    S squares = zero;
    for (int i = k + 1; i < N; ++i) {
      v[i] = a(i, k);
      squares = fma(v[i], v[i], squares);
    }
    const S length = sqrt(squares), pivot = v[k + 1];
    const auto nothing = !(squares > S(std::numeric_limits<RealOf<S>>::min()));
    const S reach = length + abs(pivot);
    const S beta = select(nothing, zero, one / select(nothing, one, length * reach));
    v[k + 1] = select(pivot < zero, -reach, reach);
    for (int j = k; j < N; ++j) {
      S along = zero;
      for (int i = k + 1; i < N; ++i) along = fma(v[i], a(i, j), along);
      along = along * beta;
      for (int i = k + 1; i < N; ++i) a(i, j) = fnma(v[i], along, a(i, j));
    }
    for (int i = 0; i < N; ++i) {
      S along = zero;
      for (int j = k + 1; j < N; ++j) along = fma(v[j], a(i, j), along);
      along = along * beta;
      for (int j = k + 1; j < N; ++j) a(i, j) = fnma(v[j], along, a(i, j));
    }
    for (int i = k + 2; i < N; ++i) a(i, k) = zero;
  }
}

/// Lowest block of three rows or more that is still connected: rows first to last.
template <class S>
struct Window {
  S first, last;
  MaskOf<S> open;
};

/// Sets subdiagonal entries that are rounding noise to zero, and finds the window.
template <class S, int N>
GARRA_HD Window<S> deflate(Mat<S, N, N>& h) {
  const S zero(0), eps(std::numeric_limits<RealOf<S>>::epsilon());
  for (int l = 1; l < N; ++l) {
    const auto small = abs(h(l, l - 1)) <= eps * (abs(h(l - 1, l - 1)) + abs(h(l, l)));
    h(l, l - 1) = select(small, zero, h(l, l - 1));
  }
  Window<S> w{zero, zero, zero != zero};
  for (int l = N - 1; l > 1; --l) {
    const auto begins = !w.open && h(l, l - 1) != zero && h(l - 1, l - 2) != zero;
    w.last = select(begins, S(l), w.last);
    w.open = w.open || begins;
  }
  auto ended = !w.open;
  for (int l = N - 1; l > 0; --l) {
    const auto ends = !ended && S(l) <= w.last && h(l, l - 1) == zero;
    w.first = select(ends, S(l), w.first);
    ended = ended || ends;
  }
  return w;
}

/// Sum and product of a step's two shifts: the eigenvalues of the window's last two rows, or others now and then.
template <class S>
struct Shifts {
  S sum, product;
};

template <class S, int N>
GARRA_HD Shifts<S> choose_shifts(const Mat<S, N, N>& h, const Window<S>& w, bool unusual) {
  Shifts<S> s{S(0), S(0)};
  for (int l = 2; l < N; ++l) {
    const auto here = w.last == S(l);
    const S size = abs(h(l, l - 1)) + abs(h(l - 1, l - 2));
    const S sum = unusual ? S(1.5) * size : h(l - 1, l - 1) + h(l, l);
    const S product = unusual ? size * size : fma(h(l - 1, l - 1), h(l, l), -(h(l - 1, l) * h(l, l - 1)));
    s.sum = select(here, sum, s.sum);
    s.product = select(here, product, s.product);
  }
  return s;
}

/// Lowest first row and highest last row of the lanes.
template <class S, int N>
GARRA_HD void find_range(const Window<S>& w, int& first, int& last) {
  first = N - 1, last = 0;
  for (int l = N - 1; l >= 0; --l) {
    if (any(w.open && w.first == S(l))) first = l;
    if (last == 0 && any(w.open && w.last == S(l))) last = l;
  }
}

/// One implicit step with two shifts in the window.
template <class S, int N>
GARRA_HD_CALL void chase_bulge(Mat<S, N, N>& h, const Window<S>& w, const Shifts<S>& shifts) {
  const S zero(0), one(1);
  int first, last;
  find_range<S, N>(w, first, last);
  for (int k = first; k < last; ++k) {
    const auto begins = w.open && w.first == S(k), inside = w.open && w.first <= S(k) && S(k) < w.last;
    if (!any(inside)) continue;
    const int next = k + 2 < N ? k + 2 : k, before = k > 0 ? k - 1 : 0;
    const S d = h(k, k), below = h(k + 1, k), lower = k + 2 < N ? h(next, k + 1) : zero;
    S x = select(begins, fma(d, d - shifts.sum, fma(h(k, k + 1), below, shifts.product)), h(k, before));
    S y = select(begins, below * (d + h(k + 1, k + 1) - shifts.sum), h(k + 1, before));
    S z = select(begins, below * lower, h(next, before));
    z = select(S(k + 2) <= w.last, z, zero);
    const S scale = abs(x) + abs(y) + abs(z);
    const auto acts = inside && scale > zero;
    const S inverse = one / select(acts, scale, one);
    x = x * inverse, y = y * inverse, z = z * inverse;
    const S length = sqrt(fma(x, x, fma(y, y, z * z)));
    const S sign = select(x < zero, -length, length);
    const S reach = select(acts, x + sign, one);
    const S beta = select(acts, reach / select(acts, sign, one), zero), v1 = y / reach, v2 = z / reach;
    const auto chases = acts && !begins;
    h(k, before) = select(chases, -(sign * scale), h(k, before));
    h(k + 1, before) = select(chases, zero, h(k + 1, before));
    if (k + 2 < N) h(k + 2, before) = select(chases, zero, h(k + 2, before));
    for (int j = k; j <= last; ++j) {
      const S along = beta * fma(v2, k + 2 < N ? h(next, j) : zero, fma(v1, h(k + 1, j), h(k, j)));
      h(k, j) -= along;
      h(k + 1, j) = fnma(v1, along, h(k + 1, j));
      if (k + 2 < N) h(k + 2, j) = fnma(v2, along, h(k + 2, j));
    }
    for (int i = first; i <= (k + 3 < last ? k + 3 : last); ++i) {
      const S along = beta * fma(v2, k + 2 < N ? h(i, next) : zero, fma(v1, h(i, k + 1), h(i, k)));
      h(i, k) -= along;
      h(i, k + 1) = fnma(v1, along, h(i, k + 1));
      if (k + 2 < N) h(i, k + 2) = fnma(v2, along, h(i, k + 2));
    }
  }
}

/// Values of the blocks of one and two rows that are left.
template <class S, int N>
GARRA_HD Eigenvalues<S, N> read_blocks(const Mat<S, N, N>& h) {
  const S zero(0), half(0.5);
  Eigenvalues<S, N> out;
  out.open = zero;
  for (int k = 0; k < N; ++k) out.re[k] = h(k, k), out.im[k] = zero;
  auto taken = zero != zero, stuck = taken;
  for (int k = 0; k + 1 < N; ++k) {
    const auto pair = !taken && h(k + 1, k) != zero;
    stuck = taken && h(k + 1, k) != zero;
    out.open = out.open + select(stuck, S(1), zero);
    const S middle = half * (h(k, k) + h(k + 1, k + 1)), apart = half * (h(k, k) - h(k + 1, k + 1));
    const S rest = fma(apart, apart, h(k, k + 1) * h(k + 1, k)), root = sqrt(abs(rest));
    const auto real = rest >= zero;
    // The larger root first; the other from the product, without cancellation.
    const S large = select(apart < zero, apart - root, apart + root);
    const S small = select(large == zero, zero, -(h(k, k + 1) * h(k + 1, k)) / select(large == zero, S(1), large));
    out.re[k] = select(pair, select(real, h(k + 1, k + 1) + large, middle), out.re[k]);
    out.re[k + 1] = select(pair, select(real, h(k + 1, k + 1) + small, middle), out.re[k + 1]);
    out.im[k] = select(pair && !real, root, out.im[k]);
    out.im[k + 1] = select(pair && !real, -root, out.im[k + 1]);
    taken = pair;
  }
  return out;
}

}  // namespace eigenvalues

/// All eigenvalues. The backward error is a few eps |a|. Matrices with numbers that are not finite have `open` > 0 or
/// values that are not finite.
template <class S, int N>
[[nodiscard]] GARRA_HD Eigenvalues<S, N> compute_eigenvalues(Mat<S, N, N> a) {
  eigenvalues::reduce_to_hessenberg(a);
  for (int step = 0; step < eigenvalues::kSweepsPerValue * N; ++step) {
    const auto window = eigenvalues::deflate(a);
    if (!any(window.open)) break;
    eigenvalues::chase_bulge(a, window, eigenvalues::choose_shifts(a, window, step % 11 == 10));
  }
  return eigenvalues::read_blocks(a);
}

}  // namespace garra
