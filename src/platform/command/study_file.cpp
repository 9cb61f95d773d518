#include "platform/command/study_file.hpp"

#include "base/files/hdf5.hpp"

namespace garra::cli {

namespace {

using io::Hdf5Writer;
using io::Shape;
using platform::kLegs;
using platform::PlatformStudy;

void write_machine(Hdf5Writer& file, const platform::Platform& p) {
  std::vector<double> base, anchor, low, high;
  for (const platform::Leg& leg : p.leg) {
    base.insert(base.end(), leg.base.m, leg.base.m + 3);
    anchor.insert(anchor.end(), leg.anchor.m, leg.anchor.m + 3);
    low.push_back(leg.length_min);
    high.push_back(leg.length_max);
  }
  file.write("base_anchors", {kLegs, 3}, base);
  file.write("platform_anchors", {kLegs, 3}, anchor);
  file.write("length_min", {kLegs}, low);
  file.write("length_max", {kLegs}, high);
}

void write_gravity(Hdf5Writer& file, const Vec3<double>& g) {
  file.attribute("/", "gravity", std::vector<double>{g[0], g[1], g[2]});
}

void write_envelope(Hdf5Writer& file, const PlatformStudy& study, const study::Total& t, std::uint64_t instants) {
  const auto n = static_cast<std::ptrdiff_t>(instants * kLegs);
  const auto low = t.least.begin() + study.layout().force_low, high = t.least.begin() + study.layout().force_high;
  std::vector<double> largest;
  for (auto x = high; x != high + n; ++x) largest.push_back(-*x);
  file.write("force_low", {instants, kLegs}, std::vector<double>(low, low + n));
  file.write("force_high", {instants, kLegs}, largest);
}

void write_attributes(Hdf5Writer& file, const platform::Scenario& s) {
  file.attribute("/", "title", s.title);
  file.attribute("/", "force_limit", s.allowed.force);
  file.attribute("/", "near_singular", s.allowed.near_singular);
  write_gravity(file, s.platform.gravity);
}

}  // namespace

void write_platform_path(const std::string& path, const PlatformStudy& study, const platform::StudySeries& series,
                         const study::Total* total) {
  Hdf5Writer file;
  const auto n = static_cast<std::uint64_t>(series.time.size());
  file.write("time", {n}, series.time);
  file.write("position", {n, 3}, series.pose.position);
  file.write("quaternion", {n, 4}, series.pose.quaternion);
  file.write("lengths", {n, kLegs}, series.lengths);
  file.write("rates", {n, kLegs}, series.rates);
  file.write("force", {n, kLegs}, series.force);
  file.write("sigma_min", {n}, series.sigma_min);
  file.write("condition", {n}, series.condition);
  file.write("stroke_margin", {n, kLegs}, series.stroke);
  file.write("universal_margin", {n, kLegs}, series.universal);
  file.write("spherical_margin", {n, kLegs}, series.spherical);
  file.write("clearance", {n}, series.clearance);
  if (!series.position_error.empty()) {
    file.write("position_error", {n}, series.position_error);
    file.write("angle_error", {n}, series.angle_error);
  }
  if (total != nullptr && !total->least.empty()) write_envelope(file, study, *total, n);
  write_machine(file, study.scenario().platform);
  write_attributes(file, study.scenario());
  file.commit(path);
}

void write_platform_map(const std::string& path, const PlatformStudy& study, const platform::MapValues& v) {
  Hdf5Writer file;
  const char* name[] = {"x", "y", "z"};
  const auto size = [&](int k) { return static_cast<std::uint64_t>(v.axis[k].size()); };
  for (int k = 0; k < 3; ++k) file.write(name[k], {size(k)}, v.axis[k]);
  const Shape shape = {size(2), size(1), size(0)};
  file.write("feasible_share", shape, v.feasible_share);
  file.write("sigma_min", shape, v.sigma_min);
  file.write("worst_force", shape, v.worst_force);
  write_attributes(file, study.scenario());
  file.commit(path);
}

void write_experiment_path(const std::string& path, const platform::ExperimentStudy& study) {
  const platform::ShownPath shown = study.shown_path();
  const platform::InverseKinematics& at = shown.at;
  const auto n = static_cast<std::uint64_t>(at.sigma_min.size());
  std::vector<double> segment;
  for (std::uint64_t k = 0; k < n; ++k) segment.push_back(static_cast<double>(k));
  Hdf5Writer file;
  file.write("segment", {n}, segment);
  file.write("position", {n, 3}, shown.pose.position);
  file.write("quaternion", {n, 4}, shown.pose.quaternion);
  file.write("lengths", {n, kLegs}, at.lengths);
  file.write("sigma_min", {n}, at.sigma_min);
  file.write("condition", {n}, at.condition);
  file.write("stroke_margin", {n, kLegs}, at.stroke_margin);
  file.write("universal_margin", {n, kLegs}, at.universal_margin);
  file.write("spherical_margin", {n, kLegs}, at.spherical_margin);
  file.write("clearance", {n}, at.clearance);
  write_machine(file, study.scenario().platform);
  file.attribute("/", "title", study.scenario().title);
  write_gravity(file, study.scenario().platform.gravity);
  file.commit(path);
}

}  // namespace garra::cli
