#include "platform/experiment/flops.hpp"

#include "garra/core/counted.hpp"
#include "garra/systems/platform/dynamics.hpp"
#include "garra/systems/platform/forward.hpp"
#include "garra/systems/platform/full_dynamics.hpp"

namespace garra::platform {

namespace {

constexpr int kMaxSteps = 40;
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
