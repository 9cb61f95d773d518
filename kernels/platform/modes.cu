// Forward kinematics of platforms on the GPU with proofs of the assembly modes.
#include "garra/systems/platform/modes_ops.hpp"
#include "platform/rows.cuh"

template struct garra::batch::Kernels<garra::platform::ModeOp, garra::platform::RowsJob>;
template struct garra::batch::Kernels<garra::platform::CertifiedForwardOp, garra::platform::ResidentJob>;
template struct garra::batch::Kernels<garra::platform::FromOneGuess<garra::platform::CertifiedForwardOp>,
                                      garra::platform::ResidentJob>;
template struct garra::batch::Kernels<garra::platform::LedForwardOp, garra::platform::RowsJob>;
template struct garra::batch::Kernels<garra::platform::LedForwardOp, garra::platform::ResidentJob>;
template struct garra::batch::Kernels<garra::platform::FromOneGuess<garra::platform::LedForwardOp>,
                                      garra::platform::ResidentJob>;
