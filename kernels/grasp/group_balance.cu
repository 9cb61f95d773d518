// Whether contact forces can balance samples of groups, on the GPU: a thread per sample.
#include "garra/batch/on_device.cuh"
#include "grasp/group/balance.hpp"

namespace garra::grasp {

template <int D>
void run_kernels(const Device&, const GroupBalances<D>& job) {
  const int rows = D * job.contacts;
  const auto numbers = [&](int each) { return job.count * each; };
  cuda::Buffer<double> data(numbers(BalanceData::fields(job.of_objects, rows, job.contacts)));
  cuda::Buffer<double> room(numbers(balance_room<D>(job.of_objects, rows)));
  cuda::Buffer<GroupBalance> answers(job.count);
  data.upload(job.data);
  cuda::for_each(job.count,
                 GroupBalanceKernel<D>{job.of_objects, job.contacts, data.data(), room.data(), answers.data()});
  answers.download(job.answers);
}

}  // namespace garra::grasp

template struct garra::batch::Kernels<garra::grasp::GroupBalances<3>>;
template struct garra::batch::Kernels<garra::grasp::GroupBalances<4>>;
