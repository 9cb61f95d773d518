// Decides whether forces can balance wrenches that lie in tiles already, for modules that make them there.
#pragma once

#include "contact/balance/op.hpp"
#include "garra/batch/device.hpp"
#include "garra/batch/rows.hpp"

namespace garra::contact {

/// Solves `count` problems in tiles of BalanceOp<kAnyContacts, D>::In, answers in tiles of Out. Runs in one host
/// thread, which has set its number of contacts (ContactsInUse). D: 3, or 4 for soft contacts. `pad`: the first contact
/// of each contact's pad, whose limit is that of all its contacts together; null: contacts have their own.
template <int D>
void balance_tiles(Executor executor, std::int64_t count, const double* problems, double* answers,
                   const int* pad = nullptr);
/// The same for pads; compiled once, in pads.cpp.
template <int D>
void balance_pads(Executor executor, std::int64_t count, const double* problems, double* answers, const int* pad);

}  // namespace garra::contact
