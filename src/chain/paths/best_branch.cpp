#include <cmath>
#include <limits>

#include "garra/chain_generate.hpp"
#include "garra/core/error.hpp"

namespace garra::chain {

namespace {

double travel(const PathBranch& branch, std::size_t joints) {
  double sum = 0;
  for (std::size_t k = 0; k + joints < branch.q.size(); k += joints) {
    double squares = 0;
    for (std::size_t i = k; i < k + joints; ++i) squares += std::pow(branch.q[i + joints] - branch.q[i], 2);
    sum += std::sqrt(squares);
  }
  return sum;
}

double apart(const Robot& robot, const PathBranch& branch, std::span<const double> q0, double unit) {
  double squares = 0;
  for (std::size_t i = 0; i < q0.size(); ++i) {
    const double by = branch.q[i] - q0[i];
    squares += std::pow(robot.joint[i].prismatic ? by / unit : by, 2);  // whole turns count
  }
  return std::sqrt(squares);
}

double cost(const Robot& robot, PathCriterion criterion, std::span<const double> q0, const PathCheck& found,
            const PathBranch& branch) {
  switch (criterion) {
    case PathCriterion::kSigma:
      return -branch.sigma_bound;
    case PathCriterion::kLimits:
      return -branch.limit_distance;
    case PathCriterion::kTravel:
      return travel(branch, static_cast<std::size_t>(found.joints));
    case PathCriterion::kSpeed:
      return branch.speed_share;
    case PathCriterion::kStart:
      break;
  }
  return apart(robot, branch, q0, found.unit);
}

}  // namespace

void choose_best(const Robot& robot, PathCriterion criterion, std::span<const double> q0, PathCheck& found) {
  if (criterion == PathCriterion::kStart && q0.size() != robot.joint.size())
    throw Error(ExitCode::kUsage, "path: the branch next to which start?", "Give q0.");
  double least = std::numeric_limits<double>::infinity();
  found.best = -1;
  for (PathBranch& branch : found.branch) {
    branch.cost = cost(robot, criterion, q0, found, branch);
    if (!branch.passes() || branch.limit_distance < 0 || branch.speed_share > 1 || branch.cost >= least) continue;
    least = branch.cost;
    found.best = &branch - found.branch.data();
  }
}

}  // namespace garra::chain
