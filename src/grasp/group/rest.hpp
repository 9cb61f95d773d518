// Forces that leave redundant contacts at rest, as the start of a step's solver (docs/theory/grasp-groups.md, "In
// time"). One problem at a time, in the caller's memory. Host and device.
#pragma once

#include "garra/solvers/rest_forces.hpp"
#include "grasp/group/step.hpp"

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

/// Before the solver of a step: where redundant contacts at rest may have other solutions, which move, the solver might
/// change to one of them. There, and in the first step, the start is at rest if any forces leave all contacts at rest.
template <int D>
struct GroupRestKernel {
  const GroupRules* rules;
  GroupMemory memory;
  bool first;      ///< step
  bool redundant;  ///< contacts, so that their forces are not unique

  /// Numbers of GroupMemory::rest.
  [[nodiscard]] static int room(int contacts) {
    const int rows = D * contacts;
    return rows * rows + 4 * rows + contacts + std::max(rows * rows, solvers::RestProblem<D>::room(contacts));
  }

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    static_assert(std::is_same_v<S, double>);
    if (MeasuresOf<double>(*rules, memory, i).whole.end >= 0) return;
    if (!first && TileOf<double>(memory.moves, i).at(0) > kSlipSpeed) return;
    const int rows = rules->model.rows(), contacts = rules->contacts();
    Cutter<double> cut{memory.rest.first + i * memory.rest.fields};
    const auto take = [&](int count) {
      double* const at = cut.at;
      cut.at += count;
      return at;
    };
    const ProblemInMemory p{rows, contacts, take(rows * rows), take(rows), take(contacts)};
    double *guess = take(rows), *start = take(rows), *change = take(rows), *room = cut.at;
    const TileOf<double> problem(memory.problems, i), guesses(memory.guesses, i);
    for (int k = 0; k < rows * rows + rows + contacts; ++k) p.matrix[k] = problem.at(k);
    double load = 0, left = 0;
    for (int k = 0; k < rows; ++k) guess[k] = start[k] = guesses.at(k);
    for (int k = 0; k < rows; ++k) {
      load = max(load, abs(p.b[k]));
      left = max(left, abs(left_over(p, guess, k)));
    }
    if (left <= kStartsWithin * load) return;
    // Of redundant contacts the first forces are those of the search, which are farther within the cones.
    if ((first && redundant) || !settle_forces(p, start, change, room)) {
      const solvers::RestProblem<D> rest{contacts, 0, room};
      const bool found = find_rest_forces<D>(p, guess, rest);
      if (!found && !first) return;
      for (int k = 0; k < rows; ++k) start[k] = guess[k] = found ? rest.c()[k] : 0;
      if (found && !settle_forces(p, start, change, room))
        for (int k = 0; k < rows; ++k) start[k] = guess[k];
    }
    for (int k = 0; k < rows; ++k) guesses.put(k, start[k]);
  }

 private:
  /// Forces that leave this share of the load are a start at rest: below the tolerance of the certificate.
  static constexpr double kStartsWithin = 2e-10;

  /// Row r of A c + b.
  static GARRA_HD double left_over(const ProblemInMemory& p, const double* c, int r) {
    double a = p.b[r];
    for (int k = 0; k < p.rows; ++k) a += p.A(r, k) * c[k];
    return a;
  }

  /// Moves forces by the least that leaves all contacts at rest, to rounding. Whether it does, within the cones.
  static GARRA_HD bool settle_forces(const ProblemInMemory& p, double* c, double* change, double* room) {
    constexpr double kSoftens = 1e-4;  ///< A may be singular: this share of its largest entry on the diagonal
    GroupInstant<double, View> s;
    s.M_man.rows = s.M_man.cols = p.rows;
    s.M_man.m = {room, static_cast<std::size_t>(p.rows * p.rows)};
    s.factor = s.M_man;  // in its place
    double largest = 0, load = 0;
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
    bool rests = true;
    for (int r = 0; r < p.rows; ++r) load = max(load, abs(p.b[r]));
    for (int r = 0; r < p.rows; ++r) rests = rests && abs(left_over(p, c, r)) <= kStartsWithin * load;
    for (int j = 0; j < p.contacts; ++j) rests = rests && tangential(&c[D * j], D) <= p.mu[j] * c[D * j];
    return rests;
  }
};

}  // namespace garra::grasp
