// Storage of problems with fewer contacts than their solver's code has (docs/theory/contact-solver.md, "More than four
// contacts"). Tiles for N contacts hold the numbers of `contacts` of them first, without gaps, in the order of
// contact.hpp. Copying rows is therefore the same as without padding; only loads and stores of a problem differ. Host
// and device.
#pragma once

#include <cstdint>

#include "garra/batch/tiles.hpp"
#include "garra/contact.hpp"
#include "garra/solvers/friction_problem.hpp"

namespace garra::contact {

/// Whether code for N contacts also solves problems of fewer.
template <int N>
inline constexpr bool kTakesFewer = N > kMaxOwnSize;

/// Calls f(std::integral_constant<int, N>) with the smallest compiled size N <= Most that holds `contacts`; with none
/// if there is no such size. For kernels, which are compiled for each number of contacts.
template <int Most = kMaxContacts, class F>
void for_contacts(int contacts, const F& f) {
  bool found = contacts < 1;
  const auto offer = [&](auto n) {
    if constexpr (n <= Most) {
      if (found || contacts > n) return;
      found = true;
      f(n);
    }
  };
  [&]<int... N>(std::integer_sequence<int, N...>) { (offer(std::integral_constant<int, N>{}), ...); }
  (std::integer_sequence<int, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32>{});
}

/// A problem whose numbers A(), b() and mu() return one after another.
template <class S, int N, class Matrix, class NextA, class NextB, class NextMu>
GARRA_HD void fill_up(int contacts, NextA& A, NextB& b, NextMu& mu, solvers::FrictionProblem<S, N, 3, Matrix>& p) {
  for (int k = 0; k < 9 * N * N; ++k) p.A[k] = S(0);
  p.b = Vec<S, 3 * N>::zero();
  for (int r = 0; r < 3 * contacts; ++r)
    for (int c = 0; c < 3 * contacts; ++c) p.A(r, c) = A();
  for (int r = 0; r < 3 * contacts; ++r) p.b[r] = b();
  for (int j = 0; j < contacts; ++j) p.mu[j] = mu();
  for (int j = contacts; j < extent<N>(); ++j) p.mu[j] = S(1);
  // As stiff as the problem's own stiffest direction, so that its scale does not change.
  solvers::add_spare<S, N>({contacts, solvers::friction_scale(p).size_a, S(0)}, p.A, p.b);
}

/// The numbers of a problem in a tile.
template <class S>
struct TileReader {
  const double* at;
  GARRA_HD S operator()() {
    const S x = batch::load<S, S>(at, 0);
    at += batch::kTile;
    return x;
  }
};

/// Problem i in tiles of FrictionProblem, with fewer contacts than N.
template <class S, int N, class Matrix>
GARRA_HD void load_padded(const double* problems, std::int64_t i, int contacts,
                          solvers::FrictionProblem<S, N, 3, Matrix>& p) {
  TileReader<S> next{batch::tile_at<S, solvers::FrictionProblem<S, N>>(problems, i)};
  fill_up<S, N>(contacts, next, next, next, p);
}
/// Problem i in tiles of FrictionProblem.
template <class S, int N>
GARRA_HD solvers::FrictionProblem<S, N> load_given(const double* problems, std::int64_t i, int contacts) {
  if constexpr (!kTakesFewer<N>) {
    return batch::load<S, solvers::FrictionProblem<S, N>>(problems, i);
  } else {
    solvers::FrictionProblem<S, N> p;
    load_padded<S, N>(problems, i, contacts, p);
    return p;
  }
}

/// The numbers of problem i, left in their tile.
template <class S, int N>
class TileProblem {
 public:
  GARRA_HD TileProblem(const double* problems, std::int64_t i, int contacts)
      : tile_(batch::tile_at<S, solvers::FrictionProblem<S, N>>(problems, i)),
        contacts_(kTakesFewer<N> ? contacts : extent<N>()),
        stiffness_(S(1)) {
    if constexpr (kTakesFewer<N>) {
      S stiffest = S(0);
      for (int k = 0; k < 3 * contacts_; ++k) stiffest = max(stiffest, A(k, k));
      stiffness_ = select(stiffest > S(0), stiffest, S(1));
    }
  }
  GARRA_HD S A(int row, int column) const {
    const int rows = 3 * contacts_;
    if (!kTakesFewer<N> || (row < rows && column < rows)) return field(row * rows + column);
    return row == column ? stiffness_ : S(0);
  }
  GARRA_HD S b(int row) const {
    return !kTakesFewer<N> || row < 3 * contacts_ ? field(9 * contacts_ * contacts_ + row) : S(0);
  }
  GARRA_HD S mu(int contact) const {
    return !kTakesFewer<N> || contact < contacts_ ? field((9 * contacts_ + 3) * contacts_ + contact) : S(1);
  }
  GARRA_HD Vec<S, 3 * N> b() const {
    Vec<S, 3 * N> all;
    for (int k = 0; k < extent<3 * N>(); ++k) all[k] = b(k);
    return all;
  }
  GARRA_HD Vec<S, N> mu() const {
    Vec<S, N> all;
    for (int j = 0; j < extent<N>(); ++j) all[j] = mu(j);
    return all;
  }

 private:
  [[nodiscard]] GARRA_HD S field(int k) const { return batch::load<S, S>(tile_ + k * batch::kTile, 0); }

  const double* tile_;
  int contacts_;
  S stiffness_;  ///< of padding contacts (add_spare)
};

/// A vector of `each` numbers per contact, with zeros for padding contacts.
template <class S, int each, int N>
GARRA_HD Vec<S, each * N> load_vector(const double* vectors, std::int64_t i, int contacts) {
  using Vector = Vec<S, each * N>;
  if constexpr (!kTakesFewer<N>) {
    return batch::load<S, Vector>(vectors, i);
  } else {
    Vector v = Vector::zero();
    TileReader<S> next{batch::tile_at<S, Vector>(vectors, i)};
    for (int k = 0; k < each * contacts; ++k) v[k] = next();
    return v;
  }
}

/// Calls use(field of T, number in the tile) for the fields of a solution that are present.
template <int N, class Use>
GARRA_HD void for_solution_fields(int contacts, const Use& use) {
  constexpr int kFields = batch::kFields<double, solvers::FrictionSolution<double, N>>;
  int number = 0;
  for (int k = 0; k < 3 * contacts; ++k) use(k, number++);
  for (int k = 0; k < 3 * contacts; ++k) use(3 * N + k, number++);
  for (int k = 6 * N; k < kFields; ++k) use(k, number++);
}

/// Solution i of tiles of FrictionSolution.
template <class S, int N>
GARRA_HD void put_solution(double* solutions, std::int64_t i, const solvers::FrictionSolution<S, N>& s, int contacts) {
  using Solution = solvers::FrictionSolution<S, N>;
  if constexpr (!kTakesFewer<N>) {
    batch::store<S>(solutions, i, s);
  } else {
    const S* fields = reinterpret_cast<const S*>(&s);
    double* tile = const_cast<double*>(batch::tile_at<S, Solution>(solutions, i));
    for_solution_fields<N>(
        contacts, [&](int field, int number) { batch::store<S>(tile + number * batch::kTile, 0, fields[field]); });
  }
}
template <class S, int N>
GARRA_HD solvers::FrictionSolution<S, N> take_solution(const double* solutions, std::int64_t i, int contacts) {
  using Solution = solvers::FrictionSolution<S, N>;
  if constexpr (!kTakesFewer<N>) {
    return batch::load<S, Solution>(solutions, i);
  } else {
    Solution s;
    s.c = s.a = Vec<S, 3 * N>::zero();
    S* fields = reinterpret_cast<S*>(&s);
    const double* tile = batch::tile_at<S, Solution>(solutions, i);
    for_solution_fields<N>(
        contacts, [&](int field, int number) { fields[field] = batch::load<S, S>(tile + number * batch::kTile, 0); });
    return s;
  }
}

}  // namespace garra::contact
