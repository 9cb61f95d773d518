// Whether forces can balance wrenches that are in tiles already: for rooms that make them there.
#pragma once

#include "contact/balance/op.hpp"
#include "garra/batch/device.hpp"
#include "garra/batch/rows.hpp"

namespace garra::contact {

/// `count` problems in tiles of BalanceOp<kAnyContacts, D>::In, answers in tiles of Out, by one thread of the host,
/// which has said how many contacts they have. D: 3, or 4 of soft contacts.
template <int D>
void balance_tiles(Executor executor, std::int64_t count, const double* problems, double* answers);

}  // namespace garra::contact
