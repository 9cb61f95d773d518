// Forces that leave redundant contacts at rest, as the start of a step's solver (docs/theory/grasp-groups.md, "In
// time"). One problem at a time, in the caller's memory. Host and device.
#pragma once

#include "grasp/group/rest_search.hpp"
#include "grasp/group/step.hpp"

namespace garra::grasp {

/// Before the solver of a step: where redundant contacts at rest may have other solutions, which move, the solver might
/// change to one of them. There, and in the first step, the start is at rest if any forces leave all contacts at rest.
template <int D>
struct GroupRestKernel {
  const GroupRules* rules;
  GroupMemory memory;
  bool first;      ///< step
  bool redundant;  ///< contacts, so that their forces are not unique

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    static_assert(std::is_same_v<S, double>);
    if (MeasuresOf<double>(*rules, memory, i).whole.end >= 0) return;
    if (!first && TileOf<double>(memory.moves, i).at(0) > kSlipSpeed) return;
    const int rows = rules->model.rows(), contacts = rules->contacts();
    const TileOf<double> problem(memory.problems, i), guesses(memory.guesses, i);
    const RestRoom<D> at(memory.rest.first + i * memory.rest.fields, problem, contacts);
    const ProblemInMemory& p = at.problem;
    double *guess = at.guess, *start = at.start;
    for (int k = 0; k < rows; ++k) guess[k] = start[k] = guesses.at(k);
    if (left_over(p, guess).is_rest()) return;
    // Of redundant contacts the first forces are those of the search, which are farther within the cones.
    if ((first && redundant) || !settle_forces<D>(p, start, at.change, at.room)) {
      const solvers::RestProblem<D> rest{contacts, 0, at.room};
      const bool found = find_rest_forces<D>(p, guess, rest);
      if (!found && !first) return;
      for (int k = 0; k < rows; ++k) start[k] = guess[k] = found ? rest.c()[k] : 0;
      if (found && !settle_forces<D>(p, start, at.change, at.room))
        for (int k = 0; k < rows; ++k) start[k] = guess[k];
    }
    for (int k = 0; k < rows; ++k) guesses.put(k, start[k]);
  }
};

}  // namespace garra::grasp
