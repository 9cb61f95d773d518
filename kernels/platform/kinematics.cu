// Forward kinematics of platforms on the GPU.
#include "garra/systems/platform/kinematics_ops.hpp"
#include "platform/rows.cuh"

template void garra::batch::on_device(const garra::Device&, const garra::platform::ForwardOp&,
                                      const garra::platform::RowsJob&);
