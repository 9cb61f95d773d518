// Six-legged platforms: files, inverse and forward kinematics.
#include "garra/platform.hpp"

#include "arrays.hpp"
#include "garra/io/platform_file.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/platform_study.hpp"
#include "platform_on_gpu.hpp"

namespace garra::python {

namespace {

using platform::Platform;
using platform::Poses;

nb::dict inverse(const Platform& p, const Numbers& position, const Numbers& quaternion, const std::string& device,
                 int threads) {
  const std::size_t n = position.shape(0);
  const Poses poses{copied(position), copied(quaternion)};
  auto r = compute([&] {
    platform::InverseOptions options;
    options.conditioning = options.limits = true;
    return platform::inverse_kinematics({p}, poses, {}, options, make_device(device, threads, core_seconds::kCopying));
  });
  return to_dict(std::move(r), n);
}

nb::dict solve_forward(const Platform& p, const Numbers& lengths, const Numbers& position, const Numbers& quaternion,
                       bool certify, const std::string& device, int threads) {
  const std::size_t n = lengths.shape(0);
  const Poses guess{copied(position), copied(quaternion)};
  auto r = compute([&] {
    platform::ForwardOptions options;
    options.certify = certify;
    return platform::forward_kinematics({p}, copied(lengths), guess, options,
                                        make_device(device, threads, core_seconds::kCopying));
  });
  return to_dict(std::move(r), n);
}

/// Queues what inverse() gives, of poses that are on a GPU; `out` has an array for each answer.
void inverse_on_gpu(const Platform& p, const nb::dict& given, const nb::dict& out, std::uintptr_t stream,
                    const nb::callable& allocate) {
  const PosesOnGpu there = poses_on_gpu(given, stream, allocate);
  platform::DeviceLengths lengths;
  platform::each_array(lengths, TakeResult{out});
  run_gpu_call(
      there.place,
      [&](const DeviceCall& call) { return platform::workspace_bytes(p, there.poses, {}, lengths, call.device); },
      [&](const DeviceCall& call) { platform::inverse_kinematics(p, there.poses, {}, lengths, call); });
  platform::DeviceDetails details;
  platform::each_detail_array(details, TakeResult{out});
  const double length = platform::InverseOptions{}.characteristic_length;
  run_gpu_call(
      there.place,
      [&](const DeviceCall& call) { return platform::workspace_bytes(p, there.poses, length, details, call.device); },
      [&](const DeviceCall& call) { platform::inverse_details(p, there.poses, length, details, call); });
}

/// Queues what forward() gives, of lengths that are on a GPU, from a guess there or from home.
void forward_on_gpu(const Platform& p, const nb::dict& given, const nb::dict& out, bool certify, std::uintptr_t stream,
                    const nb::callable& allocate) {
  const auto lengths = nb::cast<OnGpu<const double>>(given["lengths"]);
  platform::DevicePoses guess{static_cast<std::int64_t>(lengths.shape(0))};
  if (given.contains("position")) {
    take<const double>(given, "position", guess.position);
    take<const double>(given, "quaternion", guess.quaternion);
  }
  const DeviceArray<const double> from = make_view<const double>(lengths);
  platform::DeviceFound to;
  platform::each_array(to, TakeResult{out});
  platform::ForwardOptions options;
  options.certify = certify;
  run_gpu_call(
      {lengths.device_id(), stream, allocate},
      [&](const DeviceCall& call) { return platform::workspace_bytes(p, from, guess, options, to, call.device); },
      [&](const DeviceCall& call) { platform::forward_kinematics(p, from, guess, options, to, call); });
}

nb::dict modes(const Platform& p, const Numbers& lengths, int starts, std::uint64_t seed, bool limits) {
  platform::AssemblyModes r;
  auto reach = compute([&] {
    platform::ModeOptions options;
    options.starts = starts;
    options.seed = seed;
    r = platform::assembly_modes({p}, copied(lengths), options);
    platform::PathSearch search;
    search.near_singular = options.forward.near_singular;
    search.limits = limits;
    return platform::reach_of_modes({p}, r, search);
  });
  const std::size_t n = r.status.size(), rows = r.first.size();
  nb::dict out = to_dict(r, n);
  out["first"] = taken(std::move(r.first), {rows});
  out["from_home"] = taken_as<std::int32_t>(std::move(reach), {n});
  return out;
}

platform::Place<double> row_place(const Numbers& position, const Numbers& quaternion, std::size_t row) {
  const double *r = position.data() + 3 * row, *p = quaternion.data() + 4 * row;
  return {{{r[0], r[1], r[2]}}, {{p[0], p[1], p[2], p[3]}}};
}

/// Between the first rows.
nb::dict find_path(const Platform& p, const Numbers& from_position, const Numbers& from_quaternion,
                   const Numbers& to_position, const Numbers& to_quaternion, double near_singular, bool limits,
                   int tries, std::uint64_t seed, int poses) {
  platform::PlannedPath r;
  const platform::Place<double> from = row_place(from_position, from_quaternion, 0),
                                to = row_place(to_position, to_quaternion, 0);
  auto along = compute([&] {
    platform::PathSearch search;
    search.near_singular = near_singular;
    search.limits = limits;
    search.tries = tries;
    search.seed = seed;
    r = platform::find_path(p, from, to, search);
    return poses > 0 ? platform::poses_along(r, poses) : r.pose;
  });
  const std::size_t n = along.position.size() / 3;
  nb::dict out;
  out["reach"] = name_of(r.reach);
  out["position"] = taken(std::move(along.position), {n, 3});
  out["quaternion"] = taken(std::move(along.quaternion), {n, 4});
  out["length"] = r.length;
  out["sigma_min"] = r.sigma_min;
  out["proof_steps"] = r.proof_steps;
  out["characteristic_length"] = r.characteristic_length;
  return out;
}

/// Of the first row.
nb::dict nearest_singular_pose(const Platform& p, const Numbers& position, const Numbers& quaternion) {
  const platform::Place<double> place = row_place(position, quaternion, 0);
  auto s = compute([&] { return platform::nearest_singular_pose(p, place); });
  std::vector<double> ways;
  for (const auto& way : s.along_axes) ways.insert(ways.end(), way.begin(), way.end());
  nb::dict out;
  out["found"] = s.found;
  out["distance"] = s.distance;
  out["shift"] = taken(std::vector<double>(s.shift.m, s.shift.m + 3), {3});
  out["turn"] = taken(std::vector<double>(s.turn.m, s.turn.m + 3), {3});
  out["position"] = taken(std::vector<double>(s.place.r.m, s.place.r.m + 3), {3});
  out["quaternion"] = taken(std::vector<double>(s.place.p.m, s.place.p.m + 4), {4});
  out["mask"] = s.mask;
  out["along_axes"] = taken(std::move(ways), {6, 2});
  out["characteristic_length"] = s.length;
  out["reach"] = s.reach;
  return out;
}

nb::object stiffness(const Platform& p, const Numbers& position, const Numbers& quaternion, const Numbers& legs) {
  const std::size_t n = position.shape(0);
  std::vector<double> all;
  {
    const Computing computing;
    for (std::size_t row = 0; row < n; ++row) {
      std::array<double, platform::kLegs> k;
      std::copy_n(legs.data() + 6 * row, 6, k.begin());
      const Mat<double, 6, 6> K = platform::stiffness(p, row_place(position, quaternion, row), k);
      all.insert(all.end(), K.m, K.m + 36);
    }
  }
  return taken(std::move(all), {n, 6, 6});
}

std::vector<double> home_position(const Platform& p) { return {p.home.m, p.home.m + 3}; }
std::vector<double> home_quaternion(const Platform& p) { return {p.home_turn.m, p.home_turn.m + 4}; }

}  // namespace

void add_platform(nb::module_& m) {
  nb::class_<Platform>(m, "PlatformModel")
      .def_ro("name", &Platform::name)
      .def_ro("notes", &Platform::notes)
      .def_prop_ro("home_position", home_position)
      .def_prop_ro("home_quaternion", home_quaternion)
      .def("with_tool",
           [](const Platform& p, double x, double y, double z) {
             return platform::with_tool(p, {{x, y, z}});
           })
      .def("describe", [](const Platform& p) { return io::describe_platform(p); })
      .def("to_toml", [](const Platform& p) { return io::platform_toml(p); });
  m.def("platform_nearest_singular_pose", nearest_singular_pose);
  m.def("platform_stiffness", stiffness);
  m.def("platform_find_path", find_path);
  m.attr("platform_reaches") = to_tuple(names_of(platform::Reach{}));
  m.attr("pose_statuses") = to_tuple<platform::PoseStatus>(platform::kPoseStatuses);
  m.def("platform_from_toml", [](const std::string& text) { return io::parse_platform(text, "text"); });
  m.def("read_platform", [](const std::string& file, const std::vector<std::string>& overrides) {
    return io::read_platform(file, overrides);
  });
  m.def("platform_inverse", inverse);
  m.def("platform_forward", solve_forward);
  m.def("platform_inverse_on_gpu", inverse_on_gpu);
  m.def("platform_forward_on_gpu", forward_on_gpu);
  m.def("platform_modes", modes);
}

}  // namespace garra::python
