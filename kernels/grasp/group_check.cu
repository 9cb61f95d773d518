// Certificates and outcomes of samples of groups on the GPU, for each number of contacts.
#include "grasp/group.cuh"

namespace garra::grasp {

template <int N>
void check_on_device(std::int64_t count, const GroupCheckKernel<N, 3>& check) {
  cuda::for_each(count, check);
}
template void check_on_device(std::int64_t, const GroupCheckKernel<1, 3>&);
template void check_on_device(std::int64_t, const GroupCheckKernel<2, 3>&);
template void check_on_device(std::int64_t, const GroupCheckKernel<3, 3>&);
template void check_on_device(std::int64_t, const GroupCheckKernel<4, 3>&);
template void check_on_device(std::int64_t, const GroupCheckKernel<5, 3>&);
template void check_on_device(std::int64_t, const GroupCheckKernel<6, 3>&);
template void check_on_device(std::int64_t, const GroupCheckKernel<7, 3>&);
template void check_on_device(std::int64_t, const GroupCheckKernel<8, 3>&);

}  // namespace garra::grasp
