// A study of a system that garra does not know: how likely does a pendulum with uncertain length, friction and start
// come to rest within ten seconds? The struct is all there is to the system; the rest names its numbers. The run folder
// can be stopped and run again, and `garra report FOLDER` makes its report.
//
// usage: example_own_study FOLDER [scalar | cpu | cuda] [SAMPLES]
#ifdef __CUDACC__
#include "garra/study/system.cuh"
#else
#include <cstdio>
#include <cstdlib>

#include "garra/core/error.hpp"
#include "garra/io/run.hpp"
#include "garra/study/system.hpp"
#endif

#include "garra/core/elementary.hpp"

/// Inputs: length [m], damping [1/s], angle at the start [rad]. Outputs: largest speed of the bob [m/s]; largest angle
/// in the last second [rad]. Event: that angle is below 5 degrees.
struct Pendulum {
  static constexpr int kInputs = 3, kOutputs = 2, kSteps = 1000;
  static constexpr double kGravity = 9.81, kUntil = 10, kSmall = 5 * 3.14159265358979 / 180;

  template <class S>
  struct State {
    S angle, rate;
  };

  template <class S>
  GARRA_HD garra::study::SystemAnswer<S, kOutputs> operator()(const garra::Vec<S, kInputs>& x) const {
    const S stiffness = S(kGravity) / x[0], damping = x[1];
    const auto slope = [&](const State<S>& s) -> State<S> {
      return {s.rate, -(stiffness * garra::sin(s.angle)) - damping * s.rate};
    };
    const auto moved = [](const State<S>& s, const State<S>& d, double h) -> State<S> {
      return {garra::fma(d.angle, S(h), s.angle), garra::fma(d.rate, S(h), s.rate)};
    };
    constexpr double h = kUntil / kSteps;
    State<S> s = {x[2], S(0)};
    S fastest = S(0), late = S(0);
    for (int k = 0; k < kSteps; ++k) {  // Runge and Kutta's method of order 4
      const State<S> a = slope(s), b = slope(moved(s, a, h / 2)), c = slope(moved(s, b, h / 2)),
                     d = slope(moved(s, c, h));
      s.angle = garra::fma(a.angle + S(2) * (b.angle + c.angle) + d.angle, S(h / 6), s.angle);
      s.rate = garra::fma(a.rate + S(2) * (b.rate + c.rate) + d.rate, S(h / 6), s.rate);
      fastest = garra::max(fastest, garra::abs(s.rate));
      if (k >= kSteps * 9 / 10) late = garra::max(late, garra::abs(s.angle));
    }
    return {garra::select(late < S(kSmall), S(1), S(0)), {{fastest * x[0], late}}};
  }
};

#ifdef __CUDACC__

template struct garra::batch::Kernels<garra::study::SystemKernel<Pendulum>, garra::study::RowsToCount>;

#else

namespace {

using garra::study::Distribution;

garra::study::SystemWords words(std::int64_t samples) {
  const Distribution damping = Distribution::normal(0.6, 0.2).truncated(0, 10);
  return {
      .job = "pendulum",
      .title = "A pendulum comes to rest",
      .event = "settled",
      .inputs = {{"length", "m", Distribution::uniform(0.2, 1.0)},
                 {"damping", "1/s", damping},
                 {"start angle", "rad", Distribution::uniform(0.2, 2.0)}},
      .outputs = {{"peak_speed", "m/s", "Peak speed", 0, 8}, {"late_angle", "rad", "Angle in the last second", 0, 1}},
      .plan = {.seed = 1, .samples = samples, .chunk = 16 * garra::study::kBlock}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: %s FOLDER [scalar | cpu | cuda] [SAMPLES]\n", argv[0]), 2;
  try {
    const std::int64_t samples = argc > 3 ? std::atoll(argv[3]) : 100'000;
    const garra::study::SystemStudy<Pendulum> study(words(samples));
    const std::string description =
        "job = \"pendulum\"  # examples/own_study.cpp\nsamples = " + std::to_string(samples) + "\n";
    garra::io::FolderRunOptions options{.command = "example_own_study"};
    options.run.device = garra::parse_device(argc > 2 ? argv[2] : "cpu");
    options.run.on_progress = [&](const garra::study::Progress& p) {
      std::fprintf(stderr, "\r%lld of %lld, P(settled) = %.4f", static_cast<long long>(p.samples),
                   static_cast<long long>(samples), p.estimate.probability);
    };
    const garra::io::FolderRun run = garra::io::run_in_folder(argv[1], description, study, options);
    const auto e = study.estimate(run.result.total);
    std::printf("\nP(settled) = %.4f [%.4f, %.4f], %lld samples, %lld of them computed now\n", e.probability,
                e.interval.low, e.interval.high, static_cast<long long>(run.result.total.count),
                static_cast<long long>(run.result.fresh));
    return 0;
  } catch (const garra::Error& error) {
    return std::fprintf(stderr, "own_study: %s\n", error.what()), static_cast<int>(error.code());
  }
}

#endif
