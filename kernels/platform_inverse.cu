// Inverse kinematics of platforms on the GPU.
#include "platform_rows.cuh"
#include "systems/platform_inverse_ops.hpp"

template void garra::batch::on_device(const garra::Device&, const garra::platform::LengthsOp&,
                                      const garra::platform::RowsJob&);
template void garra::batch::on_device(const garra::Device&, const garra::platform::RatesOp&,
                                      const garra::platform::RowsJob&);
template void garra::batch::on_device(const garra::Device&, const garra::platform::DetailOp&,
                                      const garra::platform::RowsJob&);
