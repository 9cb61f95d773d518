// Runs the bodies of a group's steps on the GPU.
#pragma once

#include "contact/tiles.cuh"
#include "grasp/group/run.hpp"

namespace garra::grasp {

/// The backend of run_group_steps().
struct GroupBackend {
  const DeviceGroup& job;
  const Device& device;
  const GroupRules* there;  ///< device memory, as all that it shows
  GroupRoom looks_there;

  [[nodiscard]] const GroupRules* shown_rules() const { return there; }
  [[nodiscard]] const GroupRoom& looks() const { return looks_there; }
  template <class Body>
  void run(const Body& body) const {
    cuda::for_each(job.count, body);
  }
  /// Compiled for each size of finger, in group_fingers.cu.
  void run_finger(const GroupMemory& at, bool first, int finger) const;
  void find_rest(const GroupMemory& at, bool first) const;
  /// Kernels of kernels/contact, compiled for some numbers of contacts.
  void solve(const GroupMemory& at) const;
  /// Always true: a query would wait for the device, and ended samples cost it little.
  [[nodiscard]] bool any_running() const { return true; }
};

}  // namespace garra::grasp
