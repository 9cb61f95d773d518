// Chains of any number of joints, which is known when the program runs.
#include "chain/eval/evaluate_tiles.hpp"

namespace garra::chain {

template void evaluate_on_lanes<kAnyJoints>(const EvalJob& job);

void evaluate_on_scalar(const EvalJob& job) {
  using Mixed = SharedModel<kAnyJoints, Joints::kMixed>;
  evaluate_tiles<Mixed, Executor::kScalar>(make_source<Mixed>(job.robot), job);
}

}  // namespace garra::chain
