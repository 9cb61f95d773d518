// Loads over time: means over a step for quantities whose integral counts, values at its middle for the others.
#include "grasp/time/loads.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "garra/core/error.hpp"

namespace garra::grasp {

namespace {

using Kind = TimeLoad::Kind;

constexpr double kPi = 3.14159265358979323846;
constexpr double kShakeEdge = 0.05;  // a shake begins and ends within this [s], unless it is shorter than two of them

/// A time step [s].
struct Step {
  double from, to;
};

/// Progress of a load at t: 0 before it, 1 after it.
double progress(const TimeLoad& load, double t) {
  if (t >= load.to) return t > load.from ? 1 : 0;
  return std::clamp((t - load.from) / (load.to - load.from), 0.0, 1.0);
}

/// Mean over the step of a ramp from 0 to 1.
double mean_ramp(const TimeLoad& load, const Step& step) {
  if (step.from >= load.to) return 1;
  const double a = std::clamp(step.from, load.from, load.to), b = std::clamp(step.to, load.from, load.to);
  // The ramp is linear, so its mean is the value in the middle.
  const double rising = (b - a) * progress(load, 0.5 * (a + b)), whole = std::max(step.to - load.to, 0.0);
  return (rising + whole) / (step.to - step.from);
}

/// Mean over the step of a half sine with integral 1. Its integral is (1 - cos(pi s)) / 2 with s = progress, and the
/// difference of two of them a product.
double mean_half_sine(const TimeLoad& load, const Step& step) {
  const double a = progress(load, step.from), b = progress(load, step.to);
  return sin(0.5 * kPi * (a + b)) * sin(0.5 * kPi * (b - a)) / (step.to - step.from);
}

/// v turned about an axis of any length (O. Rodrigues).
Vec3<double> rotated(const Vec3<double>& v, const Vec3<double>& axis, double angle) {
  const Vec3<double> e = (1 / norm(axis)) * axis;
  const auto turn = sincos(angle);
  return axpy((1 - turn.cos) * dot(e, v), e, axpy(turn.sin, cross(e, v), turn.cos * v));
}

double edge_duration(const TimeLoad& load) { return std::min(kShakeEdge, 0.5 * (load.to - load.from)); }

/// Envelope of a shake: 1 inside, raised cosines at the edges, 0 outside.
double fade(const TimeLoad& load, double t) {
  const double inside = std::min(t - load.from, load.to - t), edge = edge_duration(load);
  if (inside <= 0) return 0;
  return inside >= edge ? 1 : 0.5 * (1 - cos(kPi * inside / edge));
}

/// Tone k lies in the middle of the k-th of equal parts of the band.
double tone_frequency(const TimeLoad& load, int k) { return std::lerp(load.low, load.high, (k + 0.5) / kShakeTones); }

void add_tones(const TimeLoad& load, Instant& now) {
  const double size = fade(load, now.t);
  for (int k = 0; k < kShakeTones; ++k) {
    const double turns = tone_frequency(load, k) * now.t;
    // Whole turns are dropped first, because sincos of a small argument is accurate to its last digit.
    const auto tone = sincos(2 * kPi * (turns - std::floor(turns)));
    now.shake_cos[k] = size * tone.cos;
    now.shake_sin[k] = size * tone.sin;
  }
}

/// Interpolates linearly between the rows; zero outside of them.
Vec3<double> sampled(const TimeLoad& load, double t) {
  if (t < load.times.front() || t > load.times.back()) return Vec3<double>::zero();
  const auto next = std::upper_bound(load.times.begin(), load.times.end(), t);
  const auto k = static_cast<std::size_t>(next - load.times.begin() - 1), k1 = std::min(k + 1, load.times.size() - 1);
  const double share = k1 > k ? (t - load.times[k]) / (load.times[k1] - load.times[k]) : 0;
  Vec3<double> a;
  for (int i = 0; i < 3; ++i) a[i] = std::lerp(load.accelerations[k][i], load.accelerations[k1][i], share);
  return a;
}

/// Adds the load's acceleration of the palm.
void add_palm(const TimeLoad& load, Instant& now) {
  if (load.kind == Kind::kShake) add_tones(load, now);
  if (load.kind == Kind::kSampled) now.carried += sampled(load, now.t);
}

void add_wrench(double size, const TimeLoad& load, Instant& now) {
  for (int i = 0; i < 3; ++i) {
    now.wrench[i] += size * load.force[i];
    now.wrench[i + 3] += size * load.torque[i];
  }
}

void check_load(const TimeLoad& load, std::size_t number) {
  const std::string name = "load " + std::to_string(number) + " of the time table ";
  const auto require = [&](bool fine, const std::string& problem, const std::string& remedy) {
    if (!fine) throw Error(ExitCode::kInvalidFile, name + problem, remedy);
  };
  require(std::isfinite(load.from) && std::isfinite(load.to) && load.from >= 0 && load.to >= load.from,
          "ends before it begins, or begins before time 0", "give 0 <= from <= to");
  if (load.kind == Kind::kTilt) require(norm(load.axis) > 0, "has no axis", "give an axis of any length but 0");
  if (load.kind == Kind::kSampled) {
    require(!load.times.empty() && load.times.size() == load.accelerations.size(),
            "does not have one acceleration for each time", "give as many of both, at least one");
    require(std::is_sorted(load.times.begin(), load.times.end(), std::less_equal<>()), "has times that do not grow",
            "write them in growing order");
  }
  if (load.kind != Kind::kShake) return;
  require(load.low > 0 && load.high >= load.low && std::isfinite(load.high), "has no band of frequencies",
          "give 0 < low <= high");
  require(load.rms[0] >= 0 && load.rms[1] >= 0 && load.rms[2] >= 0, "has a negative rms",
          "give 0 or more along each axis");
}

}  // namespace

LoadClock::LoadClock(std::vector<TimeLoad> loads, const Vec3<double>& gravity, double duration)
    : loads_(std::move(loads)), gravity_(gravity) {
  for (TimeLoad& load : loads_)
    // Without a given end the shake lasts to the end of the motion.
    if (load.kind == Kind::kShake && load.to == 0) load.to = duration;
  for (std::size_t k = 0; k < loads_.size(); ++k) check_load(loads_[k], k);
  if (std::count_if(loads_.begin(), loads_.end(), [](const TimeLoad& l) { return l.kind == Kind::kShake; }) > 1)
    throw Error(ExitCode::kInvalidFile, "more than one load of the time table shakes the palm",
                "give one shake, with an rms along each axis");
}

Vec3<double> LoadClock::palm(double t, const ShakePhases<double>& shake) const {
  Instant now{};
  now.t = t;
  for (const TimeLoad& load : loads_) add_palm(load, now);
  return palm_acceleration(now, shake) + now.carried;
}

std::optional<ShakeTones> LoadClock::tones(const ShakePhases<double>& shake) const {
  const auto load =
      std::find_if(loads_.begin(), loads_.end(), [](const TimeLoad& l) { return l.kind == Kind::kShake; });
  if (load == loads_.end()) return std::nullopt;
  ShakeTones out{load->from, load->to, edge_duration(*load), {}, {}, {}};
  for (int k = 0; k < kShakeTones; ++k) out.frequency.push_back(tone_frequency(*load, k));
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < kShakeTones; ++k) {
      out.amplitude.push_back(std::hypot(shake.a[i][k], shake.b[i][k]));
      // amplitude cos(x + phase) = a cos x + b sin x.
      out.phase.push_back(std::atan2(-shake.b[i][k], shake.a[i][k]));
    }
  return out;
}

Instant LoadClock::at(double t0, double t1) const {
  Instant now{.t = 0.5 * (t0 + t1),
              .wrench = Vec<double, 6>::zero(),
              .known_gravity = gravity_,
              .shake_cos = {},
              .shake_sin = {},
              .carried = Vec3<double>::zero()};
  const Step step{t0, t1};
  for (const TimeLoad& load : loads_) switch (load.kind) {
      case Kind::kRamp:
        add_wrench(mean_ramp(load, step), load, now);
        break;
      case Kind::kImpulse:
        add_wrench(mean_half_sine(load, step), load, now);
        break;
      case Kind::kTilt:
        // Tilts rotate gravity one after another, in the given order.
        now.known_gravity = rotated(now.known_gravity, load.axis, load.angle * progress(load, now.t));
        break;
      case Kind::kShake:
      case Kind::kSampled:
        add_palm(load, now);
        break;
    }
  return now;
}

}  // namespace garra::grasp
