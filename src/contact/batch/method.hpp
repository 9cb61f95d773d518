// A method's iteration on problems in tiles: contact::solve, grasp studies and simulations call it.
#pragma once

#include <cstdint>

#include "garra/batch/device.hpp"
#include "garra/contact.hpp"

namespace garra::contact {

/// Problems in tiles on the host, of a thread that has set their number of contacts (ContactsInUse).
struct TileJob {
  Executor executor;
  const double* problems;  ///< tiles of FrictionProblem
  const double* sliding;   ///< tiles of SlidingContacts; null: all contacts may roll
  double* candidates;      ///< tiles of Candidate, written
  const double* guesses;   ///< tiles of initial forces for Newton's method; null: none
  std::int64_t count;
};

/// Candidates by options.method, which is one of friction_methods().
void iterate_tiles(const Options& options, const TileJob& tiles);

}  // namespace garra::contact
