// Forward kinematics of platforms on the GPU.
#include "platform_rows.cuh"
#include "systems/platform_kinematics_ops.hpp"

template void garra::batch::on_device(const garra::Device&, const garra::platform::ForwardOp&,
                                      const garra::platform::RowsJob&);
