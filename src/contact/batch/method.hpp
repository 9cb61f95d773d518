// A method's iteration on problems in tiles: contact::solve, grasp studies and simulations call it.
#pragma once

#include <cstdint>

#include "garra/batch/device.hpp"
#include "garra/contact.hpp"

namespace garra::contact {

/// Problems in tiles of the device, of a thread that has set their number of contacts (ContactsInUse). On a GPU the
/// tiles are those of for_contacts(), padding contacts included.
struct TileJob {
  Device device;
  const double* problems;  ///< tiles of FrictionProblem
  const double* sliding;   ///< tiles of SlidingContacts; null: all contacts may roll
  double* candidates;      ///< tiles of Candidate, written
  const double* guesses;   ///< tiles of initial forces for Newton's method; null: none
  std::int64_t count;
  bool of_host = false;  ///< tiles of the host, for a GPU to solve; at most kMaxOwnSize contacts
};

/// The same on the GPU, for kernels/contact/tiles.cuh.
struct DeviceTiles {
  int contacts;
  const double *problems, *sliding;
  double* candidates;
  const double* guesses;
  std::int64_t count;
  bool of_host;
};

/// Candidates by options.method, which is one of friction_methods().
void iterate_tiles(const Options& options, const TileJob& tiles);

/// Most contacts of a problem that the method solves on a GPU.
[[nodiscard]] int most_on_device(Method method);

}  // namespace garra::contact
