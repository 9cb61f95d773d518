// All kernels of a serial chain (docs/theory/chain.md, "Kernels").
#pragma once

#include "garra/systems/chain/kernels_articulated.hpp"
#include "garra/systems/chain/kernels_dynamics.hpp"
#include "garra/systems/chain/kernels_inertia.hpp"
#include "garra/systems/chain/kernels_kinematics.hpp"
#include "garra/systems/chain/kernels_singular.hpp"
