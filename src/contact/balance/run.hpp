// Whether forces can balance wrenches that are in tiles already: for rooms that make them there.
#pragma once

#include "contact/balance/op.hpp"
#include "garra/batch/device.hpp"
#include "garra/batch/rows.hpp"

namespace garra::contact {

/// For N = 1 ... 8, 12, 16, 24, 32, and with D = 4 for N = 2, 3, 4, 5, 8, 16, 32: `count` problems in tiles of
/// BalanceOp<N, D>::In, answers in tiles of Out, by one thread of the host.
template <int N, int D = 3>
void balance_tiles(Executor executor, std::int64_t count, const double* problems, double* answers);

}  // namespace garra::contact
