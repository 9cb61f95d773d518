// Instances for the steps of groups in time, on the host.
#include "garra/batch/for_each.hpp"
#include "grasp/group/step.hpp"

namespace garra::grasp {

void start_samples(Executor executor, const GroupStartKernel& body, std::int64_t count) {
  batch::for_each(executor, count, body);
}
void place_step(Executor executor, const GroupPlaceKernel& body, std::int64_t count) {
  batch::for_each(executor, count, body);
}
void pose_problems(Executor executor, const GroupProblemKernel& body, std::int64_t count) {
  batch::for_each(executor, count, body);
}
template <int D>
void take_forces(Executor executor, const GroupTakeKernel<D>& body, std::int64_t count) {
  batch::for_each(executor, count, body);
}
void close_step(Executor executor, const GroupCloseKernel& body, std::int64_t count) {
  batch::for_each(executor, count, body);
}
template void take_forces(Executor, const GroupTakeKernel<3>&, std::int64_t);
template void take_forces(Executor, const GroupTakeKernel<4>&, std::int64_t);

}  // namespace garra::grasp
