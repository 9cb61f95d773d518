// Assembly modes (garra/platform_kinematics.hpp): proofs of the mode of a pose, and the search from
// random poses.
#include "platform/batch/modes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>

#include "garra/core/philox.hpp"
#include "platform/batch/forward_ops.hpp"
#include "platform/batch/rows_run.hpp"

namespace garra::platform {

namespace {

constexpr std::int64_t kRows = 1 << 16;  // starts at once: bounds the memory of a search over many samples

/// Bounds of C: its distance from a base anchor is at most the leg length plus the anchor's lever.
struct Box {
  Vec3<double> low, high;
};

Box find_box(const Platform& p, const double* lengths) {
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

/// Random numbers in (0, 1) of one start of a sample, independent of other starts.
Vec<double, 6> draw_start(std::uint64_t seed, std::int64_t sample, std::int64_t start) {
  const auto index =
      // Samples count in the high half of the index: the starts of a sample do not depend on how many samples or starts
      // there are.
      SampleIndex<double>::consecutive((static_cast<std::uint64_t>(sample) << 32) + static_cast<std::uint64_t>(start));
  Vec<double, 6> u;
  for (int k = 0; k < 3; ++k) uniform_pair<double>(seed, index, static_cast<std::uint32_t>(k), u[2 * k], u[2 * k + 1]);
  return u;
}

/// Random pose: uniform in the box, with a uniform rotation (K. Shoemake, "Uniform random
/// rotations", 1992).
void append_start(const Box& box, const Vec<double, 6>& u, Poses& to) {
  for (int k = 0; k < 3; ++k) to.position.push_back(box.low[k] + u[k] * (box.high[k] - box.low[k]));
  const double a = sqrt(1 - u[3]), b = sqrt(u[3]);
  const double one = 2 * std::numbers::pi * u[4], two = 2 * std::numbers::pi * u[5];
  to.quaternion.insert(to.quaternion.end(), {b * cos(two), a * sin(one), a * cos(one), b * sin(two)});
}

Vec3<double> get_position(const Poses& poses, std::size_t row) {
  return {{poses.position[3 * row], poses.position[3 * row + 1], poses.position[3 * row + 2]}};
}

Quaternion<double> to_quaternion(const Poses& poses, std::size_t row) {
  const double* q = poses.quaternion.data() + 4 * row;
  return {{q[0], q[1], q[2], q[3]}};
}

/// The larger of |dr| and L times the angle between two poses.
double distance(const Place<double>& a, const Place<double>& b, double L) {
  const double apart = std::min(norm(a.p - b.p), norm(a.p + b.p));  // of unit quaternions: twice the sine of a quarter
  return std::max(norm(a.r - b.r), 4 * L * std::asin(std::min(1.0, apart / 2)));
}

/// One distinct pose found by a search.
struct Mode {
  Place<double> place;  ///< of the start with the least residual
  double residual;
  std::int64_t found;  ///< starts that came to it
};

/// Modes found so far for one sample.
struct Found {
  std::int64_t sample, starts = 0;
  std::vector<Mode> modes;
};

/// Adds an end of the search to the modes.
void merge(const Mode& end, const ModeOptions& options, std::vector<Mode>& modes) {
  // Greedy, against the best start of each mode so far: poses of one mode agree to the tolerance, far below `same`.
  const auto known = std::find_if(modes.begin(), modes.end(), [&](const Mode& mode) {
    return distance(mode.place, end.place, options.forward.characteristic_length) <= options.same;
  });
  if (known == modes.end()) {
    modes.push_back(end);
    return;
  }
  ++known->found;
  if (end.residual < known->residual) known->place = end.place, known->residual = end.residual;
}

struct Query {
  const Platforms& platforms;
  const std::vector<double>& lengths;
  ModeOptions options;
  const Device& device;
};

/// True if more starts may find more modes.
bool goes_on(const Found& of, const ModeOptions& options) {
  if (of.starts >= options.most_starts) return false;
  // Without any mode, the search continues a few times longer.
  if (of.modes.empty()) return of.starts < std::int64_t{options.often} * options.starts;
  return std::any_of(of.modes.begin(), of.modes.end(), [&](const Mode& m) { return m.found < options.often; });
}

/// As many further starts for each of the samples begin .. end - 1, which share their platform.
void search(const Query& query, std::int64_t more, std::vector<Found>::iterator begin,
            std::vector<Found>::iterator end) {
  const ModeOptions& options = query.options;
  const Platforms platform = {
      query.platforms[query.platforms.size() > 1 ? static_cast<std::size_t>(begin->sample) : 0]};
  Poses starts;
  std::vector<double> wanted;
  for (auto of = begin; of != end; ++of) {
    const double* own = query.lengths.data() + 6 * of->sample;
    const Box box = find_box(platform.front(), own);
    for (std::int64_t start = of->starts; start < of->starts + more; ++start) {
      append_start(box, draw_start(options.seed, of->sample, start), starts);
      wanted.insert(wanted.end(), own, own + 6);
    }
  }
  // Many starts lead to few modes: certificates are made for these only, in check().
  ForwardOptions plain = options.forward;
  plain.certify = plain.certify_mode = false;
  plain.plain_iterations = -1;  // any pose that has the lengths will do
  const ForwardKinematics ends = forward_kinematics(platform, wanted, starts, plain, query.device);
  std::size_t row = 0;
  for (auto of = begin; of != end; ++of) {
    for (std::int64_t k = 0; k < more; ++k, ++row)
      if (ends.residual[row] <= options.forward.tolerance)
        merge({{get_position(ends.pose, row), to_quaternion(ends.pose, row)}, ends.residual[row], 1}, options,
              of->modes);
    of->starts += more;
  }
}

/// Searches all samples, each until its rarest mode is found often enough.
std::vector<Found> search_all(const Query& query, std::int64_t n) {
  std::vector<Found> open, done;
  for (std::int64_t sample = 0; sample < n; ++sample) open.push_back({sample, 0, {}});
  for (std::int64_t more = query.options.starts; !open.empty();) {
    // Rows of samples with their own platforms cannot share a job whose platform is one.
    const std::int64_t together = query.platforms.size() > 1 ? 1 : std::max<std::int64_t>(1, kRows / more);
    for (auto at = open.begin(); at != open.end();) {
      const auto next = at + std::min<std::int64_t>(together, open.end() - at);
      search(query, more, at, next);
      at = next;
    }
    const auto rest =
        std::stable_partition(open.begin(), open.end(), [&](const Found& of) { return goes_on(of, query.options); });
    more = std::min(open.front().starts, query.options.most_starts - open.front().starts);  // twice as many in all
    done.insert(done.end(), std::make_move_iterator(rest), std::make_move_iterator(open.end()));
    open.erase(rest, open.end());
  }
  std::sort(done.begin(), done.end(), [](const Found& a, const Found& b) { return a.sample < b.sample; });
  return done;
}

/// Chao's estimate of the number of modes not found, from the modes found once and twice.
double missing(const std::vector<Mode>& modes) {
  double once = 0, twice = 0;
  for (const Mode& mode : modes) once += mode.found == 1, twice += mode.found == 2;
  return once * (once - 1) / (2 * (twice + 1));
}

void append_modes(Found& of, AssemblyModes& to) {
  // By height, as the order of finding depends on the draws; stable, so that equal heights keep it.
  std::stable_sort(of.modes.begin(), of.modes.end(),
                   [](const Mode& a, const Mode& b) { return a.place.r[2] < b.place.r[2]; });
  for (const Mode& mode : of.modes) {
    to.pose.position.insert(to.pose.position.end(), mode.place.r.m, mode.place.r.m + 3);
    to.pose.quaternion.insert(to.pose.quaternion.end(), mode.place.p.m, mode.place.p.m + 4);
    to.found.push_back(mode.found);
  }
  to.first.push_back(static_cast<std::int64_t>(to.found.size()));
  to.starts.push_back(of.starts);
  to.missing.push_back(missing(of.modes));
}

/// Certificate and conditioning of every mode, as the row of its sample.
void certify_modes(const Query& query, AssemblyModes& to) {
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
  certified.certify_mode = false;
  certified.plain_iterations = -1;
  // Solved again from the modes: residual, status and uniqueness then have their usual meaning.
  const ForwardKinematics found = forward_kinematics(own, wanted, to.pose, certified, query.device);
  InverseOptions inverse;
  inverse.conditioning = inverse.limits = true;
  inverse.characteristic_length = certified.characteristic_length;
  InverseKinematics at = inverse_kinematics(own, found.pose, {}, inverse, query.device);
  to.determinant = std::move(at.determinant);
  to.mask = std::move(at.mask);
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
  // The other outputs of the certificate are not needed: null.
  run_rows(mode_op(options), job);
  return to;
}

AssemblyModes assembly_modes(const Platforms& platforms, const std::vector<double>& lengths, const ModeOptions& options,
                             const Device& device) {
  const auto n = static_cast<std::int64_t>(lengths.size() / 6);
  check_rows("lengths", lengths, n, 6);
  static_cast<void>(models_for(platforms, n));  // refuses another number of platforms
  if (options.starts < 1 || options.often < 1)
    throw Error(ExitCode::kUsage, "the number of starts or of finds is not positive", "Give at least 1.");
  Query query{platforms, lengths, options, device};
  query.options.forward = scaled_options(options.forward, platforms);
  query.options.most_starts = std::max<std::int64_t>(options.most_starts, options.starts);
  AssemblyModes to;
  to.first.push_back(0);
  for (Found& of : search_all(query, n)) append_modes(of, to);
  if (!to.found.empty()) certify_modes(query, to);
  return to;
}

}  // namespace garra::platform
