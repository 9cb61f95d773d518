// Proofs of the assembly modes of platforms on the GPU.
#include "garra/systems/platform/modes_ops.hpp"
#include "platform/rows.cuh"

template void garra::batch::on_device(const garra::Device&, const garra::platform::ModeOp&,
                                      const garra::platform::RowsJob&);
