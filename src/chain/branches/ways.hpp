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

/// The operation with its model, its bound for the certificate, and up to four eliminations: for a general arm any will
/// do; an arm of special geometry takes those with links that are off by a little that find most.
/// @throws Error kUsage where no elimination fits: more than three sliding joints.
[[nodiscard]] branches::AllSolutionsOp prepare_all_solutions(const Robot& robot);

/// The same for an arm with almost the same joints, without tries. Changes of links are `factor` times as large.
[[nodiscard]] branches::AllSolutionsOp prepare_like(const Robot& robot, const branches::AllSolutionsOp& other,
                                                    double factor);

/// Runs the operation on the host; the answers by number of the pose.
struct SolutionRows {
  std::vector<double> q, residual, unique, count, complete;  ///< [n,16,6], [n,16], [n,16], [n], [n]
};
[[nodiscard]] SolutionRows run_all_solutions(const branches::AllSolutionsOp& op, std::span<const double> pose,
                                             const Device& device);
/// What the operation makes of solutions [m,6] of their poses [m,16]: q, residual, unique.
[[nodiscard]] SolutionRows run_hold(const branches::HoldOp& op, std::span<const double> pose, std::span<const double> q,
                                    const Device& device);

}  // namespace garra::chain
