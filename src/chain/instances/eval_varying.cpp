// Tolerance studies: every state has numbers of its own.
#include "chain/eval/evaluate_tiles.hpp"

namespace garra::chain {

void evaluate_varying(const EvalJob& job, const std::vector<Column>& columns) {
  using Source = VaryingModel<kAnyJoints>;
  auto source = make_source<Source>(job.robot);
  source.columns = columns.data();
  source.count = static_cast<int>(columns.size());
  if (job.device.executor == Executor::kScalar)
    evaluate_tiles<Source, Executor::kScalar>(source, job);
  else
    evaluate_tiles<Source, Executor::kLanes>(source, job);
}

}  // namespace garra::chain
