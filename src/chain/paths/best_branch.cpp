#include <cmath>
#include <limits>

#include "garra/chain_generate.hpp"

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

}  // namespace

void choose_best(PathCheck& found, PathCriterion criterion) {
  double least = std::numeric_limits<double>::infinity();
  found.best = -1;
  for (PathBranch& branch : found.branch) {
    branch.cost = criterion == PathCriterion::kSigma    ? -branch.sigma_bound
                  : criterion == PathCriterion::kLimits ? -branch.limit_distance
                  : criterion == PathCriterion::kTravel ? travel(branch, static_cast<std::size_t>(found.joints))
                                                        : branch.speed_share;
    if (!branch.passes() || branch.limit_distance < 0 || branch.speed_share > 1 || branch.cost >= least) continue;
    least = branch.cost;
    found.best = &branch - found.branch.data();
  }
}

}  // namespace garra::chain
