#include "platform/files/rows_file.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <type_traits>

#include "base/files/hdf5.hpp"

namespace garra::io {

namespace {

using platform::Leg;
using platform::Platform;

const char* const kRowsFile =
    "A file for `garra platform` holds position [n,3], quaternion [n,4] (w, x, y, z) and what the command reads: "
    "lengths, velocity, acceleration, wrench, force [n,6]; and parameters of every sample such as base_anchors [n,6,3] "
    "or platform_mass [n].";

/// Numbers of one sample that replace those of the platform.
struct ParameterSet {
  const char* name;
  Shape tail;
  std::function<void(Platform&, const double*)> put;
};

void put_vector(Vec3<double>& to, const double* from) { std::copy(from, from + 3, to.m); }

/// One number of each leg, `at` gives its place.
template <class At>
ParameterSet of_legs(const char* name, At at) {
  return {name, {6}, [at](Platform& p, const double* x) {
            for (Leg& leg : p.leg) at(leg) = *x++;
          }};
}
template <class At>
ParameterSet vectors_of_legs(const char* name, At at) {
  return {name, {6, 3}, [at](Platform& p, const double* x) {
            for (Leg& leg : p.leg) put_vector(at(leg), x), x += 3;
          }};
}

const std::vector<ParameterSet>& parameter_sets() {
  static const std::vector<ParameterSet> sets = {
      vectors_of_legs(
          "base_anchors", [](Leg & leg) -> auto& { return leg.base; }),
      vectors_of_legs(
          "platform_anchors", [](Leg & leg) -> auto& { return leg.anchor; }),
      vectors_of_legs(
          "universal_axes", [](Leg & leg) -> auto& { return leg.axis; }),
      vectors_of_legs(
          "tube_inertia", [](Leg & leg) -> auto& { return leg.lower.inertia; }),
      vectors_of_legs(
          "rod_inertia", [](Leg & leg) -> auto& { return leg.upper.inertia; }),
      of_legs(
          "tube_mass", [](Leg & leg) -> auto& { return leg.lower.mass; }),
      of_legs(
          "tube_com", [](Leg & leg) -> auto& { return leg.lower.com; }),
      of_legs(
          "rod_mass", [](Leg & leg) -> auto& { return leg.upper.mass; }),
      of_legs(
          "rod_com", [](Leg & leg) -> auto& { return leg.upper.com; }),
      {"platform_mass", {}, [](Platform& p, const double* x) { p.mass = *x; }},
      {"platform_inertia", {3, 3}, [](Platform& p, const double* x) { std::copy(x, x + 9, p.inertia.m); }},
      {"gravity", {3}, [](Platform& p, const double* x) { put_vector(p.gravity, x); }},
  };
  return sets;
}

Shape with_rows(std::uint64_t n, const Shape& tail) {
  Shape shape = {n};
  shape.insert(shape.end(), tail.begin(), tail.end());
  return shape;
}

void read_parameters(const Hdf5Reader& file, std::uint64_t n, platform::Platforms& platforms) {
  bool own = false;
  for (const ParameterSet& set : parameter_sets()) {
    if (!file.has(set.name)) continue;
    file.require_shape(set.name, with_rows(n, set.tail));
    const std::vector<double> values = file.doubles(set.name);
    // Copies only where a file has parameters: one platform for all is faster and smaller.
    if (!own) platforms.assign(n, Platform(platforms.front()));
    own = true;
    const std::size_t width = n == 0 ? 0 : values.size() / n;
    for (std::size_t i = 0; i < n; ++i) set.put(platforms[i], values.data() + i * width);
  }
  for (std::size_t i = 0; own && i < n; ++i) {
    try {
      // Checked as a file of its own; the error names the sample, since there may be millions.
      platforms[i] = platform::checked(platforms[i]);
    } catch (const Error& error) {
      throw Error(ExitCode::kInvalidFile, file.path() + ": sample " + std::to_string(i) + ": " + error.what());
    }
  }
}

std::vector<double> read_rows(const Hdf5Reader& file, const char* name, const Shape& shape, bool needed) {
  if (!needed && !file.has(name)) return {};
  file.require_shape(name, shape);
  return file.doubles(name);
}

/// Constant forces [n,6]; over time [k,6] or [n,k,6].
void read_force(const Hdf5Reader& file, bool over_time, bool needed, PlatformRows& rows) {
  const auto n = static_cast<std::uint64_t>(rows.count);
  if (!over_time) {
    rows.force = read_rows(file, "force", {n, 6}, needed);
    return;
  }
  if (!needed && !file.has("force")) return;
  const Shape shape = file.shape("force");
  // Three axes are samples, moments, legs; two are moments for all.
  const bool own = shape.size() == 3 && shape[0] == n;
  if ((shape.size() != 2 && !own) || shape.back() != 6) {
    file.refuse("force", "expected shape [k, 6] or [" + std::to_string(n) + ", k, 6] of forces over time, found " +
                             to_string(shape));
  }
  rows.force = file.doubles("force");
  rows.force_points = static_cast<std::int64_t>(shape[shape.size() - 2]);
}

template <class State>
void write_words(Hdf5Writer& file, const char* name, const std::vector<State>& words,
                 const std::vector<std::string>& names) {
  file.write(name, {words.size()}, enum_numbers<std::uint8_t>(words));
  file.attribute(name, "names", names);
}

/// The arrays [n, axes...] of a result of `rows` samples.
template <class Result>
void write_arrays(Hdf5Writer& file, const Result& r, std::size_t rows) {
  platform::each_array(r, [&]<class T>(const char* name, const std::vector<T>& values, platform::Axes axes) {
    if constexpr (std::is_enum_v<T>) {
      const bool motion = std::is_same_v<T, platform::MotionStatus>;
      write_words(file, name, values, enum_names<T>(motion ? platform::kMotionStatuses : platform::kPoseStatuses));
    } else if (!values.empty() ||
               (rows == 0 && std::is_same_v<T, double> && std::find(axes.begin(), axes.end(), 0u) == axes.end())) {
      // Empty means "not asked for", but for a batch of no samples, whose datasets exist with no rows.
      file.write(name, with_rows(rows, {axes.begin(), axes.end()}), std::span<const T>(values));
    }
  });
}

void commit(Hdf5Writer& file, const std::string& path, const PlatformAttributes& attributes) {
  for (const auto& [name, text] : attributes) file.attribute("/", name, text);
  file.commit(path);
}

}  // namespace

PlatformRows read_platform_rows(const std::string& path, const Platform& platform, const PlatformNeeds& needs,
                                bool forces_over_time) {
  const Hdf5Reader file(path, kRowsFile);
  const char* const counted = needs.lengths ? "lengths" : "position";
  const std::uint64_t width = needs.lengths ? 6 : 3;
  const std::uint64_t n = file.rows(counted, {width});
  PlatformRows rows;
  rows.count = static_cast<std::int64_t>(n);
  rows.platforms = {platform};
  rows.lengths = read_rows(file, "lengths", {n, 6}, needs.lengths);
  // The guess of forward kinematics may be one for all.
  const bool shared = !needs.pose && file.has("position") && file.shape("position") == Shape{1, 3};
  const std::uint64_t poses = shared ? 1 : n;
  rows.pose.position = read_rows(file, "position", {poses, 3}, needs.pose);
  rows.pose.quaternion = read_rows(file, "quaternion", {poses, 4}, needs.pose || !rows.pose.position.empty());
  rows.velocity = read_rows(file, "velocity", {n, 6}, false);
  rows.acceleration = read_rows(file, "acceleration", {n, 6}, false);
  rows.wrench = read_rows(file, "wrench", {n, 6}, false);
  read_force(file, forces_over_time, needs.force, rows);
  read_parameters(file, n, rows.platforms);
  return rows;
}

template <class Result>
void write_platform_results(const std::string& path, const Result& r, const PlatformAttributes& attributes) {
  Hdf5Writer file;
  write_arrays(file, r, r.status.size());
  commit(file, path, attributes);
}
template void write_platform_results(const std::string&, const platform::InverseKinematics&, const PlatformAttributes&);
template void write_platform_results(const std::string&, const platform::ForwardKinematics&, const PlatformAttributes&);
template void write_platform_results(const std::string&, const platform::InverseDynamics&, const PlatformAttributes&);
template void write_platform_results(const std::string&, const platform::ForwardDynamics&, const PlatformAttributes&);

void write_platform_results(const std::string& path, const platform::Poses& along, const platform::InverseKinematics& r,
                            const PlatformAttributes& attributes) {
  Hdf5Writer file;
  file.write("position", {r.status.size(), 3}, along.position);
  file.write("quaternion", {r.status.size(), 4}, along.quaternion);
  platform::InverseKinematics shown;
  shown.lengths = r.lengths;
  shown.sigma_min = r.sigma_min;
  shown.stroke_margin = r.stroke_margin;
  shown.status = r.status;
  write_arrays(file, shown, r.status.size());
  commit(file, path, attributes);
}

void write_platform_results(const std::string& path, const platform::AssemblyModes& r,
                            const std::vector<platform::Reach>& reach, const PlatformAttributes& attributes) {
  Hdf5Writer file;
  file.write("first", {r.first.size()}, std::span<const std::int64_t>(r.first));
  write_arrays(file, r, r.status.size());
  constexpr auto kReach = names_of(platform::Reach{});
  if (!reach.empty()) write_words(file, "from_home", reach, {kReach.begin(), kReach.end()});
  commit(file, path, attributes);
}

void write_platform_results(const std::string& path, const platform::Trajectories& r,
                            const platform::Platforms& platforms, const PlatformAttributes& attributes) {
  Hdf5Writer file;
  if (!r.times.empty()) file.write("times", {r.times.size()}, r.times);
  write_arrays(file, r, r.status.size());
  // With a platform per sample the input file has the anchors.
  if (platforms.size() == 1) {
    std::vector<double> base, anchor;
    for (const Leg& leg : platforms.front().leg) {
      base.insert(base.end(), leg.base.m, leg.base.m + 3);
      anchor.insert(anchor.end(), leg.anchor.m, leg.anchor.m + 3);
    }
    file.write("base_anchors", {6, 3}, base);
    file.write("platform_anchors", {6, 3}, anchor);
  }
  commit(file, path, attributes);
}

}  // namespace garra::io
