// Inverse kinematics of platforms on the GPU.
#include "garra/systems/platform/inverse_ops.hpp"
#include "platform/rows.cuh"

template void garra::batch::on_device(const garra::Device&, const garra::platform::LengthsOp&,
                                      const garra::platform::RowsJob&);
template void garra::batch::on_device(const garra::Device&, const garra::platform::RatesOp&,
                                      const garra::platform::RowsJob&);
template void garra::batch::on_device(const garra::Device&, const garra::platform::DetailOp&,
                                      const garra::platform::RowsJob&);
