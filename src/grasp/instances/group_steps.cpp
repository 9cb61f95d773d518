// Instances for the steps of groups in time, on the host.
#include "garra/batch/for_each.hpp"
#include "grasp/group/step.hpp"

namespace garra::grasp {

template <class Body>
void run_step_body(Executor executor, const Body& body, std::int64_t count) {
  batch::for_each(executor, count, body);
}
template void run_step_body(Executor, const GroupStartKernel&, std::int64_t);
template void run_step_body(Executor, const GroupPlaceKernel&, std::int64_t);
template void run_step_body(Executor, const GroupFingerKernel<chain::kAnyJoints>&, std::int64_t);
template void run_step_body(Executor, const GroupProblemKernel&, std::int64_t);
template void run_step_body(Executor, const GroupTakeKernel&, std::int64_t);
template void run_step_body(Executor, const GroupCloseKernel&, std::int64_t);

}  // namespace garra::grasp
