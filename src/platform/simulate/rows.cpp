// Rows of a batch of motions, in and out.
#include <algorithm>
#include <cmath>
#include <limits>

#include "platform/simulate/simulate_job.hpp"

namespace garra::platform {

namespace {

constexpr double kMaxSteps = 1e9;     // of a span between two moments that must be met
constexpr double kSameMoment = 1e-9;  // two moments closer than this share of a step are one

/// Row i of an optional array; zeros if it is empty.
template <int N>
Vec<double, N> read_row(const std::vector<double>& array, std::int64_t i) {
  Vec<double, N> v = Vec<double, N>::zero();
  if (array.empty()) return v;
  for (int k = 0; k < N; ++k) v[k] = array[static_cast<std::size_t>(i * N + k)];
  return v;
}

MotionStart<double> make_start(const MotionJob& job, std::int64_t i) {
  const Starts& from = *job.starts;
  const double* force = job.force_at(i);
  // Forces shared by all samples are checked once, in check_force().
  const bool forces =
      !job.own_force || std::all_of(force, force + job.force_numbers(1), [](double x) { return std::isfinite(x); });
  return motion_start({read_row<3>(from.pose.position, i), read_row<4>(from.pose.quaternion, i)},
                      read_row<6>(from.velocity, i), read_row<6>(from.wrench, i), forces);
}

/// Copies `width` numbers to row i of an array.
void put(const double* from, int width, std::int64_t i, std::vector<double>& to) {
  std::copy(from, from + width, to.begin() + static_cast<std::ptrdiff_t>(i * width));
}

struct Moment {
  double time;
  std::int64_t output;  ///< or -1
};

/// Moments that steps must meet, ascending: outputs, samples of the forces, the end.
std::vector<Moment> list_moments(const SimulateOptions& o, const ForceInput& f) {
  std::vector<Moment> at;
  for (std::size_t k = 0; k < o.times.size(); ++k)
    // Output 0 at the start needs no step: it is written before the first span.
    if (o.times[k] > 0) at.push_back({o.times[k], static_cast<std::int64_t>(k)});
  if (o.duration > 0 && (at.empty() || at.back().time < o.duration)) at.push_back({o.duration, -1});
  // Firm times are the requested outputs. Force samples that nearly coincide with one are left out:
  // a span of 1e-9 steps would follow.
  const std::size_t firm = at.size();
  if (f.interval > 0) {
    for (std::int64_t j = 1; j < f.samples; ++j) {
      const double time = static_cast<double>(j) * f.interval;
      if (time >= o.duration) break;
      const auto next = std::lower_bound(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(firm), time,
                                         [](const Moment& m, double t) { return m.time < t; });
      const double near = kSameMoment * o.step;
      const bool met =
          (next != at.end() && next->time - time < near) || (next != at.begin() && time - (next - 1)->time < near);
      if (!met) at.push_back({time, -1});
    }
    std::sort(at.begin(), at.end(), [](const Moment& a, const Moment& b) { return a.time < b.time; });
  }
  return at;
}

}  // namespace

std::vector<MotionSpan> motion_spans(const SimulateOptions& o, const ForceInput& f) {
  std::vector<MotionSpan> spans;
  double from = 0;
  for (const Moment& m : list_moments(o, f)) {
    const double wanted = (m.time - from) / o.step;
    if (!(wanted < kMaxSteps))
      throw Error(ExitCode::kUsage, "the step is too small for this duration", "Take a longer step.");
    // An excess by rounding does not add a step. At least one step: a span has a positive length.
    const double steps = std::max(1.0, std::ceil(wanted - kSameMoment)), h = (m.time - from) / steps;
    MotionSpan s{from, m.time, h, static_cast<std::int64_t>(steps), m.output, 0, 0, 0, 0};
    if (f.interval > 0) {
      const auto last = static_cast<double>(f.samples - 1);
      // The middle of the span determines its row: its ends lie on rows, where rounding could
      // select either.
      const double row = std::min(std::floor(0.5 * (from + m.time) / f.interval), last);
      s.force = static_cast<std::int64_t>(row);
      // Held after the last row: from it to itself.
      s.force_next = std::min(s.force + 1, f.samples - 1);
      // At a time merged with a firm one this may be slightly below 0 or above 1: linear
      // extrapolation.
      s.share = from / f.interval - row;
      s.share_of_step = h / f.interval;
    }
    spans.push_back(s);
    from = m.time;
  }
  return spans;
}

Trajectories motion_room(std::int64_t count, const SimulateOptions& o) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto n = static_cast<std::size_t>(count), rows = n * o.times.size();
  Trajectories t;
  t.count = count;
  t.times = o.times;
  t.pose.position.resize(3 * rows);
  t.pose.quaternion.resize(4 * rows);
  t.velocity.resize(6 * rows);
  t.lengths.resize(6 * rows);
  for (std::vector<double>* v : {&t.kinetic, &t.potential, &t.work, &t.balance, &t.drift}) v->resize(rows);
  t.end_pose.position.assign(3 * n, nan);
  t.end_pose.quaternion.assign(4 * n, nan);
  t.end_velocity.assign(6 * n, nan);
  for (std::vector<double>* v : {&t.end_time, &t.end_balance, &t.worst_balance, &t.worst_drift}) v->assign(n, nan);
  t.steps.assign(n, 0);
  t.corrections.assign(n, 0);
  t.status.assign(n, MotionStatus::kCompleted);
  return t;
}

MotionRows::MotionRows(const MotionJob& job, std::int64_t most)
    // A shared platform needs no tiles.
    : job_(job), plants_(job.own_plants() ? most : 0), starts_(most) {}

MotionArrays MotionRows::take(std::int64_t first, std::int64_t count) {
  // Spare lanes of the last tile repeat the last sample: ordinary numbers, no NaN to slow them or to be raised.
  const std::int64_t padded = batch::tiles_for(count) * batch::kTile;
  for (std::int64_t k = 0; k < padded; ++k) {
    const std::int64_t i = first + std::min(k, count - 1);
    starts_.set(k, make_start(job_, i));
    if (job_.own_plants()) plants_.set(k, job_.plants[static_cast<std::size_t>(i)]);
  }
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  trajectory_.assign(static_cast<std::size_t>(count * job_.outputs() * kMotionFields), nan);
  end_.assign(static_cast<std::size_t>(count * kEndFields), nan);
  return {count,
          static_cast<std::int64_t>(job_.spans.size()),
          job_.outputs(),
          job_.force_rows,
          job_.own_force,
          plants_.data(),
          starts_.data(),
          job_.force_at(first),
          job_.spans.data(),
          trajectory_.data(),
          end_.data()};
}

void MotionRows::give_back(std::int64_t first, std::int64_t count) const {
  Trajectories& out = *job_.out;
  const std::int64_t outputs = job_.outputs();
  for (std::int64_t k = 0; k < count * outputs; ++k) {
    const double* row = trajectory_.data() + k * kMotionFields;
    const std::int64_t i = first * outputs + k;
    put(row + kMotionPosition, 3, i, out.pose.position);
    put(row + kMotionQuaternion, 4, i, out.pose.quaternion);
    put(row + kMotionVelocity, 6, i, out.velocity);
    put(row + kMotionLengths, 6, i, out.lengths);
    put(row + kMotionKinetic, 1, i, out.kinetic);
    put(row + kMotionPotential, 1, i, out.potential);
    put(row + kMotionWork, 1, i, out.work);
    put(row + kMotionBalance, 1, i, out.balance);
    put(row + kMotionDrift, 1, i, out.drift);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    const double* row = end_.data() + k * kEndFields;
    const auto i = static_cast<std::size_t>(first + k);
    out.status[i] = static_cast<MotionStatus>(static_cast<int>(row[kEndStatus]));
    out.steps[i] = static_cast<std::int64_t>(row[kEndSteps]);
    out.corrections[i] = static_cast<std::int64_t>(row[kEndCorrections]);
    out.end_time[i] = row[kEndTime];
    put(row + kEndPosition, 3, first + k, out.end_pose.position);
    put(row + kEndQuaternion, 4, first + k, out.end_pose.quaternion);
    put(row + kEndVelocity, 6, first + k, out.end_velocity);
    out.end_balance[i] = row[kEndBalance];
    out.worst_balance[i] = row[kEndWorstBalance];
    out.worst_drift[i] = row[kEndWorstDrift];
  }
}

}  // namespace garra::platform
