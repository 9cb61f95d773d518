// Chooses the eliminations of an arm by tries at random poses.
#pragma once

#include <span>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/chain.hpp"
#include "garra/systems/chain/branches/all_solutions.hpp"

namespace garra::chain {

/// The operation with its model, its bound for the certificate, and two eliminations: for a general arm any two will
/// do; an arm of special geometry takes those with links that are off by a little that find most.
/// @throws Error kUsage where no elimination fits: more than three sliding joints.
[[nodiscard]] branches::AllSolutionsOp prepare_all_solutions(const Robot& robot);

/// The same for an arm with almost the same joints, without tries.
[[nodiscard]] branches::AllSolutionsOp prepare_like(const Robot& robot, const branches::AllSolutionsOp& other);

/// Runs the operation on the host; the answers by number of the pose.
struct SolutionRows {
  std::vector<double> q, residual, unique, count, complete;  ///< [n,16,6], [n,16], [n,16], [n], [n]
};
[[nodiscard]] SolutionRows run_all_solutions(const branches::AllSolutionsOp& op, std::span<const double> pose,
                                             const Device& device);

}  // namespace garra::chain
