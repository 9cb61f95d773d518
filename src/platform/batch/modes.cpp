// Assembly modes (garra/platform_kinematics.hpp): proofs of which one a pose belongs to, and all that a search from
// random poses finds.
#include "platform/batch/modes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "garra/core/philox.hpp"
#include "platform/batch/forward_ops.hpp"
#include "platform/batch/rows_run.hpp"

namespace garra::platform {

namespace {

constexpr std::int64_t kRows = 1 << 16;  // starts at once: bounds the memory of a search over many samples

/// Where C can be at all: from every base anchor no farther than the leg and the anchor's lever together.
struct Box {
  Vec3<double> low, high;
};

Box box_of(const Platform& p, const double* lengths) {
  // Unbounded until the first leg: every leg narrows it.
  Box box{{{-1e300, -1e300, -1e300}}, {{1e300, 1e300, 1e300}}};
  for (std::size_t i = 0; i < kLegs; ++i) {
    const double reach = lengths[i] + norm(p.leg[i].anchor);
    for (int k = 0; k < 3; ++k) {
      box.low[k] = std::max(box.low[k], p.leg[i].base[k] - reach);
      box.high[k] = std::min(box.high[k], p.leg[i].base[k] + reach);
    }
  }
  return box;
}

/// Numbers in (0, 1) that belong to a start of a sample, whatever else is computed.
Vec<double, 6> draw(std::uint64_t seed, std::int64_t sample, std::int64_t start) {
  const auto index =
      // Samples count in the high half of the index: the starts of a sample do not depend on how many samples or starts
      // there are.
      SampleIndex<double>::consecutive((static_cast<std::uint64_t>(sample) << 32) + static_cast<std::uint64_t>(start));
  Vec<double, 6> u;
  for (int k = 0; k < 3; ++k) uniform_pair<double>(seed, index, static_cast<std::uint32_t>(k), u[2 * k], u[2 * k + 1]);
  return u;
}

/// Anywhere in the box, turned anyhow: uniform rotations (K. Shoemake, "Uniform random rotations", 1992).
void append_start(const Box& box, const Vec<double, 6>& u, Poses& to) {
  for (int k = 0; k < 3; ++k) to.position.push_back(box.low[k] + u[k] * (box.high[k] - box.low[k]));
  const double a = sqrt(1 - u[3]), b = sqrt(u[3]);
  const double one = 2 * std::numbers::pi * u[4], two = 2 * std::numbers::pi * u[5];
  to.quaternion.insert(to.quaternion.end(), {b * cos(two), a * sin(one), a * cos(one), b * sin(two)});
}

Vec3<double> position_of(const Poses& poses, std::size_t row) {
  return {{poses.position[3 * row], poses.position[3 * row + 1], poses.position[3 * row + 2]}};
}

Quaternion<double> quaternion_of(const Poses& poses, std::size_t row) {
  const double* q = poses.quaternion.data() + 4 * row;
  return {{q[0], q[1], q[2], q[3]}};
}

/// The larger of |dr| and L times the angle between two poses.
double distance(const Poses& poses, std::size_t a, std::size_t b, double L) {
  const Quaternion<double> p = quaternion_of(poses, a), q = quaternion_of(poses, b);
  const double apart = std::min(norm(p - q), norm(p + q));  // of unit quaternions: twice the sine of a quarter
  return std::max(norm(position_of(poses, a) - position_of(poses, b)), 4 * L * std::asin(std::min(1.0, apart / 2)));
}

/// One pose of the different ones that a search has found.
struct Mode {
  std::size_t row;     // of the start with the least residual
  std::int64_t found;  ///< starts that came to it
};

/// The different poses among the rows first .. last - 1 of a search, by height of C.
std::vector<Mode> different(const ForwardKinematics& of, std::size_t first, std::size_t last,
                            const ModeOptions& options) {
  std::vector<Mode> modes;
  for (std::size_t row = first; row < last; ++row) {
    if (!(of.residual[row] <= options.forward.tol)) continue;
    // Greedy, against the best start of each mode so far: poses of one mode agree to the tolerance, far below `same`.
    const auto known = std::find_if(modes.begin(), modes.end(), [&](const Mode& mode) {
      return distance(of.pose, mode.row, row, options.forward.characteristic_length) <= options.same;
    });
    if (known == modes.end()) {
      modes.push_back({row, 1});
      continue;
    }
    ++known->found;
    if (of.residual[row] < of.residual[known->row]) known->row = row;
  }
  // By height, as the order of finding depends on the draws; stable, so that equal heights keep it.
  std::stable_sort(modes.begin(), modes.end(), [&](const Mode& a, const Mode& b) {
    return of.pose.position[3 * a.row + 2] < of.pose.position[3 * b.row + 2];
  });
  return modes;
}

struct Query {
  const Platforms& platforms;
  const std::vector<double>& lengths;
  const ModeOptions& options;
  const Device& device;
};

/// Samples first .. last - 1, which share their platform.
void search(const Query& query, std::int64_t first, std::int64_t last, AssemblyModes& to) {
  const ModeOptions& options = query.options;
  const Platforms platform = {query.platforms[query.platforms.size() > 1 ? static_cast<std::size_t>(first) : 0]};
  Poses starts;
  std::vector<double> wanted;
  for (std::int64_t sample = first; sample < last; ++sample) {
    const double* own = query.lengths.data() + 6 * sample;
    const Box box = box_of(platform.front(), own);
    for (std::int64_t start = 0; start < options.starts; ++start) {
      append_start(box, draw(options.seed, sample, start), starts);
      wanted.insert(wanted.end(), own, own + 6);
    }
  }
  // Many starts lead to few modes: certificates are made for these only, in judge().
  ForwardOptions plain = options.forward;
  plain.certify = plain.prove_mode = false;
  const ForwardKinematics ends = forward_kinematics(platform, wanted, starts, plain, query.device);
  for (std::int64_t sample = first; sample < last; ++sample) {
    const auto begin = static_cast<std::size_t>((sample - first) * options.starts);
    for (const Mode& mode : different(ends, begin, begin + static_cast<std::size_t>(options.starts), options)) {
      for (int k = 0; k < 3; ++k) to.pose.position.push_back(position_of(ends.pose, mode.row)[k]);
      for (int k = 0; k < 4; ++k) to.pose.quaternion.push_back(quaternion_of(ends.pose, mode.row)[k]);
      to.found.push_back(mode.found);
    }
    to.first.push_back(static_cast<std::int64_t>(to.found.size()));
  }
}

/// Certificate and conditioning of every mode, as the row of its sample.
void judge(const Query& query, AssemblyModes& to) {
  const Platforms& platforms = query.platforms;
  Platforms each;
  std::vector<double> wanted;
  for (std::size_t sample = 0; sample + 1 < to.first.size(); ++sample)
    for (std::int64_t mode = to.first[sample]; mode < to.first[sample + 1]; ++mode) {
      // Rows are modes from here on, so lengths and platform are repeated for each.
      wanted.insert(wanted.end(), query.lengths.data() + 6 * sample, query.lengths.data() + 6 * sample + 6);
      if (platforms.size() > 1) each.push_back(platforms[sample]);
    }
  const Platforms& own = platforms.size() > 1 ? each : platforms;
  ForwardOptions certified = query.options.forward;
  certified.certify = true;
  certified.prove_mode = false;
  // Once more from themselves, so that residual, status and uniqueness mean what they mean there.
  const ForwardKinematics found = forward_kinematics(own, wanted, to.pose, certified, query.device);
  InverseOptions inverse;
  inverse.conditioning = true;
  inverse.characteristic_length = certified.characteristic_length;
  to.determinant = inverse_kinematics(own, found.pose, {}, inverse, query.device).determinant;
  to.pose = found.pose;
  to.status = found.status;
  to.residual = found.residual;
  to.sigma_min = found.sigma_min;
  to.uniqueness = found.uniqueness;
}

}  // namespace

ModeProofs mode_proofs(const RowsJob& forward, const Poses& found, const ForwardOptions& options) {
  ModeProofs to;
  RowsJob job = forward;
  job.in.push_back(column(found.position, 3));
  job.in.push_back(column(found.quaternion, 4));
  job.out = {room(to.proven, job.count, 1), room(to.unique, job.count, 1), {nullptr, 1}};
  // What the certificate knows besides is not asked for: null.
  run_rows(mode_op(options), job);
  return to;
}

AssemblyModes assembly_modes(const Platforms& platforms, const std::vector<double>& lengths, const ModeOptions& options,
                             const Device& device) {
  const auto n = static_cast<std::int64_t>(lengths.size() / 6);
  check_rows("lengths", lengths, n, 6);
  static_cast<void>(models_for(platforms, n));  // refuses another number of platforms
  if (options.starts < 1) throw Error(ExitCode::kUsage, "the number of starts is not positive", "Give at least 1.");
  const Query query{platforms, lengths, options, device};
  AssemblyModes to;
  to.first.push_back(0);
  // Rows of samples with their own platforms cannot share a job whose platform is one.
  const std::int64_t together = platforms.size() > 1 ? 1 : std::max<std::int64_t>(1, kRows / options.starts);
  for (std::int64_t first = 0; first < n; first += together) search(query, first, std::min(n, first + together), to);
  if (!to.found.empty()) judge(query, to);
  return to;
}

}  // namespace garra::platform
