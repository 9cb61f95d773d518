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
template <int D>
void pose_problems(Executor executor, const GroupProblemKernel<D>& body, std::int64_t count) {
  batch::for_each(executor, count, body);
}
template <int D>
void close_step(Executor executor, const GroupCloseKernel<D>& body, std::int64_t count) {
  batch::for_each(executor, count, body);
}
template void pose_problems(Executor, const GroupProblemKernel<3>&, std::int64_t);
template void pose_problems(Executor, const GroupProblemKernel<4>&, std::int64_t);
template void close_step(Executor, const GroupCloseKernel<3>&, std::int64_t);
template void close_step(Executor, const GroupCloseKernel<4>&, std::int64_t);

}  // namespace garra::grasp
