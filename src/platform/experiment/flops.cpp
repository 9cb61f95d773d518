#include "platform/experiment/flops.hpp"

#include "garra/core/counted.hpp"
#include "garra/systems/platform/dynamics.hpp"
#include "garra/systems/platform/forward.hpp"
#include "garra/systems/platform/full_dynamics.hpp"
#include "platform/simulate/full_steps.hpp"

namespace garra::platform {

namespace {

constexpr int kMaxSteps = 40;
constexpr int kEvaluations = 4;           // of a step of order 4
constexpr double kUnknowns = 91;          // coordinates
constexpr double kMultipliers = 72 + 13;  // of (8), whose actuators push instead of driving

Place<Counted> to_counted(const Place<double>& at) { return {cast<Counted>(at.r), cast<Counted>(at.p)}; }

Vec<Counted, 6> to_counted(const std::vector<double>& six) {
  Vec<Counted, 6> v;
  for (int k = 0; k < 6; ++k) v[k] = six[static_cast<std::size_t>(k)];
  return v;
}

/// Operations of `work`.
template <class Work>
double count_flops(const Work& work) {
  // The counter is one for the process: one core, one count at a time.
  operations = {};
  work();
  return operations.flops();
}

}  // namespace

double dense_flops(double n) {
  // Multipliers of the elimination; then an update of (n-1)^2 + ... + 1 entries by two flops each; then both
  // substitutions.
  const double divisions = n * (n - 1) / 2, elimination = (n - 1) * n * (2 * n - 1) / 3, substitution = 2 * n * n - n;
  return divisions + elimination + substitution;
}

ForwardFlops forward_flops(const Model<double>& model, const std::vector<double>& lengths, const Place<double>& guess,
                           double tolerance) {
  ForwardFlops f;
  double steps = 0;
  f.full = count_flops(
      [&] { steps = full_forward(model, to_counted(lengths), to_counted(guess), tolerance, kMaxSteps).iterations.v; });
  f.dense = steps * dense_flops(kUnknowns);
  f.minimal = count_flops([&] {
    (void)forward_solve(model, ForwardRule{tolerance, kMaxSteps}, to_counted(lengths), to_counted(guess));
  });
  return f;
}

MotionFlops motion_flops(const Platform& platform, const Place<double>& start, const std::vector<double>& force,
                         const FlopsOfSteps& of) {
  const Model<double> model = make_model(platform);
  const Wrench6<Counted> none{Vec3<Counted>::zero(), Vec3<Counted>::zero()};
  const Twist6<Counted> rest{Vec3<Counted>::zero(), Vec3<Counted>::zero()};
  const ForceSpan<Counted> span{to_counted(force), Vec<Counted, 6>::zero()};
  Loads<Counted> loads{span.from, none, {0, 0, 1}};
  const StepOf step{of.h, 0, 0};
  const Limits<Counted> limits = cast_limits<Counted>(make_limits(platform));
  const HybridWatch unwatched{{0, 1}, false};
  FullState<Counted> full = hybrid_start(model, limits, unwatched, to_counted(start), rest);
  MovingVector<Counted> minimal = to_vector(Moving<Counted>{to_counted(start), rest, 0});
  const Stages method = runge_kutta4();
  MotionFlops out{{0}, {0}, {0}};
  for (int k = 1; k < of.instants; ++k) {
    double sums[3] = {out.full.back(), out.dense.back(), out.minimal.back()};
    for (int j = 0; j < of.steps; ++j) {
      const FullState<Counted> before = full;
      const double cost = count_flops([&] {
        hybrid_step(model, limits, loads, span, step, {{of.baumgarte}, of.correct_above}, unwatched, full);
      });
      sums[0] += cost;
      // Of the dense method: four times (8), and the 85 constraints for each Newton step of a correction and its rates.
      sums[1] += kEvaluations * dense_flops(kUnknowns + kMultipliers);
      if (full.corrections.v > before.corrections.v) {
        const double newton = full.newton.v - before.newton.v;
        sums[1] += (newton + 1) * dense_flops(kMultipliers);
        FullState<Counted> uncorrected = before;
        out.corrections +=
            cost - count_flops([&] {
              hybrid_step(model, limits, loads, span, step, {{of.baumgarte}, 1e300}, unwatched, uncorrected);
            });
      }
      sums[2] += count_flops([&] {
        minimal = runge_kutta_step(method, model, loads, span, step, minimal);
        (void)normalize_motion(minimal);
      });
    }
    out.full.push_back(sums[0]);
    out.dense.push_back(sums[1]);
    out.minimal.push_back(sums[2]);
  }
  return out;
}

ForwardFlops acceleration_flops(const Model<double>& model, const Place<double>& place,
                                const std::vector<double>& force) {
  const Place<Counted> at = to_counted(place);
  const Twist6<Counted> rest{Vec3<Counted>::zero(), Vec3<Counted>::zero()};
  const Wrench6<Counted> none{Vec3<Counted>::zero(), Vec3<Counted>::zero()};
  FullMotion<Counted> q;
  q.at = full_place(model, at);
  q.rate = full_rate(model, q.at, rest);
  ForwardFlops f;
  f.full = count_flops([&] {
    (void)full_acceleration(model, q, to_counted(force), none, Baumgarte{0},
                            static_cast<Multipliers<Counted>*>(nullptr));
  });
  f.dense = dense_flops(kUnknowns + kMultipliers);
  f.minimal = count_flops([&] { (void)acceleration(model, at, rest, to_counted(force), none); });
  return f;
}

}  // namespace garra::platform
