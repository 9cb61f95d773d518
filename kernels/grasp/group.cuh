// Runs the bodies of a group's steps on the GPU.
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include "contact/tiles.cuh"
#include "grasp/group/instant.hpp"
#include "grasp/group/run.hpp"

namespace garra::grasp {

/// Copies lists to the device; they live as long as this. Chains for any number of joints stay on the host.
class ListsThere {
 public:
  template <class T>
  Shown<T> operator()(Shown<T> list) {
    if constexpr (std::is_same_v<T, FingerChain<chain::kAnyJoints>>) return {};
    const auto there = std::make_shared<cuda::Buffer<T>>(std::ssize(list));
    there->upload(list.data());
    lists_.push_back(there);
    return {there->data(), list.size()};
  }

 private:
  std::vector<std::shared_ptr<void>> lists_;
};

/// The fingers of samples at one instant; compiled for each size of finger, in group_fingers.cu.
void stand_on_device(const GroupTask& task, const GroupParts<Shown>* there, const InstantMemory& at);
/// Compiled for each number of contacts, in group_check.cu.
template <int N>
void check_on_device(std::int64_t count, const GroupCheckKernel<N, 3>& check);

/// Problems of soft contacts in tiles of the device, to be solved there; in group_soft.cu.
struct SoftProblems {
  solvers::FrictionNewton solver;
  const double *problems, *guesses;  ///< guesses: forces to start from; null: none
  double* candidates;
  int contacts;  ///< at most kSoftOnDevice
  std::int64_t count;
};
inline constexpr int kSoftOnDevice = 4;
void iterate_soft_contacts(const SoftProblems& job);
void certify_on_device(const SoftProblems& job, double* solutions);
void check_on_device(const SoftProblems& job, const GroupTask& task, const InstantMemory& at);

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
