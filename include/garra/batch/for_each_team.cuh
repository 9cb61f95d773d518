// Runs one problem on several threads of a warp, if the registers of one do not suffice.
#pragma once

#include "garra/batch/for_each.cuh"

namespace garra::cuda {

/// The threads that work on one problem: kLanes neighbors of a warp. All teams of a warp take the
/// same branches, decided by any(); a finished team follows without changes.
template <int kLanes>
struct Team {
  static_assert(32 % kLanes == 0);
  int lane;
  bool has_problem = true;  ///< false: this team repeats the last problem and stores nothing

  /// Waits for the warp; each thread then sees what the others wrote to shared memory before.
  __device__ void sync() const { __syncwarp(); }
  /// Whether `so` holds for any team of the warp.
  [[nodiscard]] __device__ bool any(bool so) const { return kLanes == 32 ? so : __any_sync(~0u, so); }
};

/// Resident warps per multiprocessor with 227 kB of shared memory and 65,536 registers, at
/// Body::kRegisters registers a thread. The launch bounds tell the assembler this number.
template <class Body>
inline constexpr int kTeamWarps = std::min<int>(65536 / 32 / Body::kRegisters,
                                                227 * 1024 /
                                                    (32 / Body::kLanes * sizeof(typename Body::Shared) + 1024));

// A block is a warp: its teams share up to 27 kB, and static shared memory ends at 48 kB.
template <class Body>
__global__ void __launch_bounds__(32, kTeamWarps<Body>) for_each_team_kernel(Body body, std::int64_t count) {
  constexpr int kLanes = Body::kLanes, kTeams = 32 / kLanes;
  __shared__ typename Body::Shared shared[kTeams];
  const int team = static_cast<int>(threadIdx.x) / kLanes, lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kTeams + team;
  body(min(i, count - 1), Team<kLanes>{lane, i < count}, shared[team]);
}
template <class Body>
inline const bool kTeamListed = (all_kernels().push_back(reinterpret_cast<const void*>(for_each_team_kernel<Body>)),
                                 true);

/// Runs body(i, team, shared) for i = 0 .. count - 1. `shared` is the team's own and not cleared.
template <class Body>
void for_each_team(std::int64_t count, const Body& body) {
  static_assert(kFitsParameters<Body>);
  static_cast<void>(kTeamListed<Body>);
  if (count == 0 || only_counts()) return;
  constexpr int kTeams = 32 / Body::kLanes;
  const auto blocks = static_cast<unsigned>((count + kTeams - 1) / kTeams);
  check(launched([&] { for_each_team_kernel<<<blocks, 32, 0, current_stream()>>>(body, count); }), "starting a kernel");
}

/// The same for teams of whole warps that need Body::kRoom doubles of device memory each.
template <class Body>
__global__ void __launch_bounds__(kThreads, 8)
    for_each_far_team_kernel(const Body body, const std::int64_t count, double* const room) {
  constexpr int kTeams = kThreads / Body::kLanes;
  __shared__ typename Body::Shared shared[kTeams];
  const int its = static_cast<int>(threadIdx.x) / Body::kLanes;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTeams + its;
  const Team<Body::kLanes> team{static_cast<int>(threadIdx.x) % Body::kLanes};
  for (std::int64_t i = first; i < count; i += static_cast<std::int64_t>(gridDim.x) * kTeams) {
    body(i, team, shared[its], room + first * Body::kRoom);
    team.sync();
  }
}
template <class Body>
inline const bool kFarTeamListed =
    (all_kernels().push_back(reinterpret_cast<const void*>(for_each_far_team_kernel<Body>)), true);

/// Runs body(i, team, shared, room) for i = 0 .. count - 1.
template <class Body>
void for_each_far_team(std::int64_t count, const Body& body) {
  static_assert(kFitsParameters<Body> && Body::kLanes == 32);
  static_cast<void>(kFarTeamListed<Body>);
  constexpr std::int64_t kTeams = kThreads / Body::kLanes, kAtOnce = 2048;  // fills the largest GPU there is
  const std::int64_t blocks = (std::min(count, kAtOnce) + kTeams - 1) / kTeams;
  const Buffer<double> room(blocks * kTeams * Body::kRoom);
  if (count == 0 || only_counts()) return;
  check(launched([&] {
          for_each_far_team_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, current_stream()>>>(body, count,
                                                                                                     room.data());
        }),
        "starting a kernel");
}

}  // namespace garra::cuda
