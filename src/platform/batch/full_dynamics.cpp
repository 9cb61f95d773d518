// Dynamics of the full form (the paper's 91 coordinates), compiled apart.
#include "platform/batch/full_ops.hpp"
#include "platform/batch/rows_run.hpp"

namespace garra::platform {

template void run_rows(const FullInverseDynamicsOp&, const RowsJob&);
template void run_rows(const FullForwardDynamicsOp&, const RowsJob&);

}  // namespace garra::platform
