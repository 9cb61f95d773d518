// All solutions of inverse kinematics on the GPU: a thread per pose.
#include "garra/batch/rows.cuh"
#include "garra/systems/chain/branches/all_solutions.hpp"

template struct garra::batch::Kernels<garra::chain::branches::AllSolutionsOp, garra::batch::Rows>;
