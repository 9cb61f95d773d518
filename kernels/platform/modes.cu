// Proofs of the assembly modes of platforms on the GPU.
#include "garra/systems/platform/modes_ops.hpp"
#include "platform/rows.cuh"

template struct garra::batch::Kernels<garra::platform::ModeOp, garra::platform::RowsJob>;
template struct garra::batch::Kernels<garra::platform::CertifiedForwardOp, garra::platform::ResidentJob>;
template struct garra::batch::Kernels<garra::platform::FromOneGuess<garra::platform::CertifiedForwardOp>,
                                      garra::platform::ResidentJob>;
template struct garra::batch::Kernels<garra::platform::FollowOp, garra::platform::RowsJob>;
