// Samples of a study of a group: contact problems and metrics before the solver, outcomes after it
// (docs/theory/grasp-groups.md). Host only.
#pragma once

#include <cstdint>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/contact.hpp"
#include "grasp/group/balance.hpp"
#include "grasp/group/model.hpp"
#include "grasp/sample/check.hpp"

namespace garra::grasp {

/// Tiles of the samples in flight, for any number of contacts with D numbers each (GroupModel::numbers).
template <int D>
struct GroupTiles {
  double *problems, *metrics, *candidates;
  const double* second;  ///< candidates from another start, or null
  double *sample_results, *uniforms;
};

/// Samples first ... first + count - 1; `nominal`: the nominal grasp in place of each.
struct GroupRange {
  std::int64_t first, count;
  bool nominal;
  const GroupBalance* balances = nullptr;  ///< of each sample; null: not known
};

/// Draws the samples; fills problems, metrics and uniforms.
template <int D>
[[nodiscard]] std::vector<GroupSample> build_group(const GroupModel& m, const GroupRange& range,
                                                   const GroupTiles<D>& t);

/// W c + w of one object: force, and moment about the center of mass.
struct NetWrench {
  Vec3<double> force, moment;
};
[[nodiscard]] std::vector<NetWrench> net_wrenches(const GroupSample& s, const Column& c);
/// Net wrench on each object under contact forces, as an acceleration: that of the center of mass, or of the turn times
/// the radius of gyration.
[[nodiscard]] std::vector<double> accelerations(const GroupSample& s, const Column& c);

/// Whether an object of a sample is held.
enum class ObjectHeld : std::uint8_t { kNo, kYes, kUnknown };

/// Whether forces balance the samples from `first` on, on a GPU; most_balances(): of how many at once.
[[nodiscard]] std::int64_t most_balances(const GroupModel& m, const Device& device);
[[nodiscard]] std::vector<GroupBalance> balance_on_device(const GroupModel& m, std::int64_t first, std::int64_t count,
                                                          const Device& device);

/// Outcomes of these samples, after the solver; of each sample, each object.
template <int D>
[[nodiscard]] std::vector<ObjectHeld> conclude_group(const GroupModel& m, const HeldRule& held, double tolerance,
                                                     const std::vector<GroupSample>& samples, const GroupTiles<D>& t);

/// The contact problems of samples with contacts that slide, or of hard contacts.
[[nodiscard]] contact::Problems point_problems(const GroupModel& m, const std::vector<GroupSample>& samples);

/// Outcomes of samples with contacts that slide (docs/theory/grasp-sliding.md): solves their problems.
void solve_sliding(const Scenario& s, const std::vector<GroupSample>& samples, const contact::Problems& problems,
                   const GroupTiles<3>& t);

}  // namespace garra::grasp
