// Inverse kinematics of platforms on the GPU.
#include "platform_rows.cuh"
#include "systems/platform_inverse_ops.hpp"

template void garra::platform::cuda_rows(const garra::platform::LengthsOp&, const garra::platform::RowsJob&);
template void garra::platform::cuda_rows(const garra::platform::RatesOp&, const garra::platform::RowsJob&);
template void garra::platform::cuda_rows(const garra::platform::DetailOp&, const garra::platform::RowsJob&);
