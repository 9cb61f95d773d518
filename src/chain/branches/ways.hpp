// Chooses the eliminations of an arm by tries at random poses.
#pragma once

#include <span>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/chain_generate.hpp"
#include "garra/systems/chain/branches/all_solutions.hpp"

namespace garra::chain {

/// Coordinates of a task: the joints that an arm moves for it.
[[nodiscard]] int task_coordinates(ToolTask task);
/// The arm with six joints: behind its tool come joints that stay at 0 if the pose can be reached, and then those that
/// the task leaves free.
[[nodiscard]] Robot extend_to_six(const Robot& robot, ToolTask task);

/// The closed form of an arm; false where it has none.
[[nodiscard]] bool find_closed_way(const Robot& robot, branches::Way& way);

/// Bound of the second derivatives of the pose over the unit of length, with slides within one unit of 0.
[[nodiscard]] double bend_bound(const Robot& robot, double unit);

/// The operation with its model, its bound for the certificate, and up to four eliminations: for a general arm any will
/// do; an arm of special geometry takes those with links that are off by a little that find most.
/// @throws Error kUsage where no elimination fits: more than three sliding joints.
[[nodiscard]] branches::AllSolutionsOp prepare_all_solutions(const Robot& robot);

/// The same for an arm with almost the same joints, without tries. Changes of links are `factor` times as large.
[[nodiscard]] branches::AllSolutionsOp prepare_like(const Robot& robot, const branches::AllSolutionsOp& other,
                                                    double factor);

/// A solution, as a row of branches::Solutions.
struct Solution {
  Vec<double, branches::kLoop> q;
  double residual, unique;
};

/// A solution with its joints in some turns.
struct TurnedSolution : Solution {
  double limit_distance = 0, apart = 0;
  bool family = false;  ///< one of a continuous family
};

/// Solutions of some poses.
struct SolutionRows {
  std::vector<Solution> all;
  std::vector<std::size_t> begin, end;  ///< [n] of a pose's solutions in `all`
  std::vector<double> complete;         ///< [n]

  [[nodiscard]] std::size_t count(std::size_t n) const { return end[n] - begin[n]; }
  [[nodiscard]] std::span<const Solution> of(std::size_t n) const { return {&all[begin[n]], count(n)}; }
};
/// Runs the operation; there is room for count_most() solutions of each pose.
void run_all_solutions(const branches::AllSolutionsOp& op, std::span<const double> pose, const Device& device,
                       SolutionRows& out);
/// Replaces solutions of poses [m,16] by what the operation makes of them.
void run_hold(const branches::HoldOp& op, std::span<const double> pose, const Device& device,
              std::span<Solution> solutions);

}  // namespace garra::chain
