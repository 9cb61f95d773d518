// Forces of redundant contacts that leave all of them at rest (docs/theory/grasp-groups.md, "Held"). One problem at a
// time, in the caller's memory. Host and device.
#pragma once

#include "garra/solvers/friction_problem.hpp"
#include "garra/solvers/rest_forces.hpp"
#include "grasp/group/assemble.hpp"
#include "grasp/group/rooms.hpp"

namespace garra::grasp {

/// A contact problem in memory: A, b and mu as FrictionProblem has them.
struct ProblemInMemory {
  int rows, contacts;
  double *matrix, *b, *mu;
  [[nodiscard]] GARRA_HD double& A(int r, int c) const { return matrix[r * rows + c]; }
};

/// Searches forces within the cones that leave every contact of p at rest, from normal forces `first`; they are in
/// rest.c(). False: there are none, or that is not decided. Where forces are not unique, solvers may find others, which
/// move.
template <int D>
GARRA_HD bool find_rest_forces(const auto& p, const double* first, solvers::RestProblem<D> rest) {
  double load = 0, push = 0;
  for (int r = 0; r < rest.rows(); ++r) load = max(load, abs(p.b[r]));
  for (int j = 0; j < rest.n; ++j) push = max(push, first[D * j]);
  rest.most = load > 0 ? 1e-10 * load : 1.0;
  for (int r = 0; r < rest.rows(); ++r) {
    for (int c = 0; c < rest.rows(); ++c) rest.A(r, c) = p.A(r, c);
    rest.b()[r] = p.b[r];
    rest.c()[r] = r % D == 0 ? max(first[r], 1e-3 * push) : 0;
  }
  for (int j = 0; j < rest.n; ++j) {
    rest.mu()[j] = p.mu[j];
    rest.limit()[j] = __builtin_huge_val();
    rest.least()[j] = 0;
  }
  return solvers::rest_forces(rest).exists == 1;
}

/// Forces that leave this share of the load leave contacts at rest: it is below the tolerance of the certificate.
inline constexpr double kRestsWithin = 2e-10;

/// Row r of A c + b.
GARRA_HD double left_over(const ProblemInMemory& p, const double* c, int r) {
  double a = p.b[r];
  for (int k = 0; k < p.rows; ++k) a += p.A(r, k) * c[k];
  return a;
}
/// The largest of them, and the largest entry of b.
struct LeftOver {
  double most = 0, load = 0;
  [[nodiscard]] GARRA_HD bool is_rest() const { return most <= kRestsWithin * load; }
};
GARRA_HD LeftOver left_over(const ProblemInMemory& p, const double* c) {
  LeftOver out;
  for (int r = 0; r < p.rows; ++r) {
    out.load = max(out.load, abs(p.b[r]));
    out.most = max(out.most, abs(left_over(p, c, r)));
  }
  return out;
}

/// Moves forces by the least that leaves all contacts at rest, to rounding. Whether it does, within the cones.
/// `room`: as many numbers as A has.
template <int D>
GARRA_HD bool settle_forces(const ProblemInMemory& p, double* c, double* change, double* room) {
  constexpr double kSoftens = 1e-4;  ///< A may be singular: this share of its largest entry on the diagonal
  GroupInstant<double, View> s;
  s.M_man.rows = s.M_man.cols = p.rows;
  s.M_man.m = {room, static_cast<std::size_t>(p.rows * p.rows)};
  s.factor = s.M_man;  // in its place
  double largest = 0;
  for (int r = 0; r < p.rows; ++r) largest = max(largest, p.A(r, r));
  for (int r = 0; r < p.rows; ++r)
    for (int k = 0; k < p.rows; ++k) s.M_man(r, k) = p.A(r, k) + (r == k ? kSoftens * largest : 0);
  factor_finger(0, p.rows, s);
  const auto at = [&](int r) -> double& { return change[r]; };
  for (int round = 0; round < 3; ++round) {
    for (int r = 0; r < p.rows; ++r) change[r] = -left_over(p, c, r);
    solve_finger(0, p.rows, s, at);
    for (int r = 0; r < p.rows; ++r) c[r] += change[r];
  }
  bool rests = left_over(p, c).is_rest();
  for (int j = 0; j < p.contacts; ++j) rests = rests && tangential(&c[D * j], D) <= p.mu[j] * c[D * j];
  return rests;
}

/// Where the search for forces at rest works.
template <int D>
struct RestRoom {
  ProblemInMemory problem;
  double *guess, *start, *change, *room;

  [[nodiscard]] static int fields(int contacts) {
    const int rows = D * contacts;
    return rows * rows + 4 * rows + contacts + std::max(rows * rows, solvers::RestProblem<D>::room(contacts));
  }
  /// With the problem in tile i of `problems`.
  GARRA_HD RestRoom(double* memory, const TileOf<double>& from, int contacts) {
    const int rows = D * contacts;
    Cutter<double> cut{memory};
    const auto take = [&](int count) {
      double* const at = cut.at;
      cut.at += count;
      return at;
    };
    problem = {rows, contacts, take(rows * rows), take(rows), take(contacts)};
    guess = take(rows), start = take(rows), change = take(rows), room = cut.at;
    for (int k = 0; k < rows * rows + rows + contacts; ++k) problem.matrix[k] = from.at(k);
  }
};

}  // namespace garra::grasp
