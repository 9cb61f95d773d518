// Tolerance studies: every state has numbers of its own. Two sizes, padded: a copy of the model per state costs more
// than the spare joints.
#include "chain/eval/run.hpp"

namespace garra::chain {

namespace {

template <int J>
void evaluate_as(const EvalJob& job, const std::vector<Column>& columns) {
  auto source = source_of<VaryingModel<J>>(job.robot);
  source.columns = columns.data();
  source.count = static_cast<int>(columns.size());
  if (job.device.executor == Executor::kScalar)
    evaluate_tiles<VaryingModel<J>, Executor::kScalar>(source, job);
  else
    evaluate_tiles<VaryingModel<J>, Executor::kLanes>(source, job);
}

}  // namespace

void evaluate_varying(const EvalJob& job, const std::vector<Column>& columns) {
  if (job.robot.joints <= kMaxComposite)
    evaluate_as<kMaxComposite>(job, columns);
  else
    evaluate_as<kMaxJoints>(job, columns);
}

}  // namespace garra::chain
