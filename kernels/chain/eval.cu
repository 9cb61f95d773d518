// Kinematics and dynamics of many states of one chain on the GPU: the bodies of the host's executors. Chains of six and
// seven revolute joints have kernels of their own; all others are padded to eight or sixteen.
#include "chain/eval.cuh"

namespace garra::chain {

extern template void evaluate_padded<kMaxComposite>(const DeviceChain&);
extern template void evaluate_padded<kMaxJoints>(const DeviceChain&);

void run_kernels(const Device&, const DeviceChain& chain) {
  const batch::ResidentCall call(chain.rows);
  switch (device_padded(chain.robot, !chain.columns.empty())) {
    case 6:
      return evaluate_as(make_source<SharedModel<6, Joints::kRevolute>>(chain.robot), chain);
    case 7:
      return evaluate_as(make_source<SharedModel<7, Joints::kRevolute>>(chain.robot), chain);
    case kMaxComposite:
      return evaluate_padded<kMaxComposite>(chain);
    default:
      return evaluate_padded<kMaxJoints>(chain);
  }
}
void run_kernels(const Device& device, const HostChain& chain) {
  batch::run_staged(chain.rows, batch::as_many_as_fit(device, batch::kDeviceChunk, 0),
                    [&](const batch::ResidentRows& rows) {
                      run_kernels(device, DeviceChain{chain.robot, chain.options, chain.columns, rows});
                    });
}

}  // namespace garra::chain

template struct garra::batch::Kernels<garra::chain::DeviceChain>;
template struct garra::batch::Kernels<garra::chain::HostChain>;
