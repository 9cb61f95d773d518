// Proofs of the assembly modes of platforms on the GPU.
#include "platform_rows.cuh"
#include "systems/platform_modes_ops.hpp"

template void garra::batch::on_device(const garra::Device&, const garra::platform::ModeOp&,
                                      const garra::platform::RowsJob&);
