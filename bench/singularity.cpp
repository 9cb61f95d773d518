// Singularity maps on one core, in lanes and scalar: what one configuration costs, for a PUMA 560 (six joints) and an
// arm with the lengths of the LBR iiwa (seven). Configurations stay in the cache; sines and cosines are included.
//
//   singularity/<arm>/<operation>/<who>   who: lanes, scalar, pinocchio
//
//   volume         manipulability in a given unit of length
//   tool_sigma     singular values about the tool in a given unit of length; Pinocchio: its Jacobian and Eigen's
//                  JacobiSVD
//   measures       natural scaling, sigma_1, sigma_6 and manipulability of random configurations: first pass
//   analysis       subsets, responsible joints and escapes of singular configurations: second pass
//
// and of maps, as a run makes them, in batches that leave the cache: map/<arm>/<operation>
//
//   measures       first pass, from and to plain arrays
//   singles        the same in single precision
//   nearest        of near configurations (sigma_g <= 0.02 sigma_1): the singularity next to them and its analysis
//   run            all of it, counting included
//   run_singles    the same with its first pass in single precision
//
// Counters: ns per configuration, per_s of them, flops (operations of the scalar code, mean over the configurations)
// and, in lanes, peak: the share of the multiply-add limit of this core. The peer's answers are compared before the
// clock starts.
#include <benchmark/benchmark.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "counting.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/tiles.hpp"
#include "garra/chain.hpp"
#include "garra/io/robot.hpp"
#include "garra/systems/singularity/escape.hpp"
#include "measured_peak.hpp"
#include "peers/pinocchio.hpp"
#include "places.hpp"
#include "singularity/map/arm.hpp"

namespace garra::bench {
namespace {

using namespace garra::singularity;

constexpr std::int64_t kItems = 128;
constexpr double kLength = 0.5;      // [m] of what has a given unit
constexpr double kAgreement = 1e-9;  // of a peer, relative to the largest singular value
constexpr Joints kKind = Joints::kRevolute;

template <int J>
struct Arm {
  Model<double, J> model;
  IntervalDims<J> dims;
  Tolerances tolerances;
};

// Operations: from the arm and the sines and cosines x.

constexpr auto kVolume = [](const auto& arm, const auto& x) {
  using S = std::decay_t<decltype(x.cos[0])>;
  constexpr int J = static_cast<int>(sizeof(x.cos) / sizeof(S));
  if constexpr (J == 6) {
    return manipulability_of_revolute(arm.model, x, S(kLength));
  } else {
    const auto lines = joint_lines<kKind>(arm.model, x);
    return manipulability(scaled_screws<kKind>(arm.model, lines, ScalingOf<S>{lines.point[J - 2], S(kLength)}));
  }
};
constexpr auto kToolSigma = [](const auto& arm, const auto& x) {
  using S = std::decay_t<decltype(x.cos[0])>;
  const auto lines = joint_lines<kKind>(arm.model, x);
  return singular_values(scaled_screws<kKind>(arm.model, lines, ScalingOf<S>{lines.tool, S(kLength)}));
};
constexpr auto kMeasures = [](const auto& arm, const auto& x) {
  const auto lines = joint_lines<kKind>(arm.model, x);
  return extremes<6>(scaled_screws<kKind>(arm.model, lines, natural_scaling<kKind>(arm.model, lines)));
};
constexpr auto kAnalysis = [](const auto& arm, const auto& x) {
  const auto lines = joint_lines<kKind>(arm.model, x);
  const auto screws = scaled_screws<kKind>(arm.model, lines, natural_scaling<kKind>(arm.model, lines));
  return analyze<6>(screws, arm.dims, arm.tolerances);
};

template <class Op, int J>
struct Body {
  const Arm<J>* arm;
  const double* states;
  double* out;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto q = batch::load<S, Vec<S, J>>(states, i);
    batch::store<S>(out, i, Op{}(*arm, chain::angles<kKind>(arm->model, q)));
  }
};

/// flops: of one configuration, 0 where not counted; peak: of this core, 0 where it is no limit.
void add(const std::string& name, const std::function<void()>& pass, double flops = 0, double peak = 0) {
  benchmark::RegisterBenchmark(("singularity/" + name).c_str(), [=](benchmark::State& state) {
    for (auto _ : state) {
      pass();
      benchmark::ClobberMemory();
    }
    const double done = static_cast<double>(state.iterations()) * static_cast<double>(kItems);
    using benchmark::Counter;
    state.counters["each"] = Counter(done, Counter::kIsRate | Counter::kInvert);
    state.counters["per_s"] = Counter(done, Counter::kIsRate);
    if (flops > 0) state.counters["flops"] = Counter(flops);
    if (peak > 0) state.counters["peak"] = Counter(flops * done / peak, Counter::kIsRate);
  });
}

template <int J>
struct Bench {
  Bench(std::string arm_name, const std::vector<chain::DhJoint>& joints, int zero)
      : name(std::move(arm_name)),
        arm{chain::make_model<J>(chain::from_dh({}, joints)), {}, {}},
        peer({{arm.model.joint, arm.model.joint + J}, arm.model.base, arm.model.tool, arm.model.gravity}),
        random(kItems),
        singular(kItems),
        out(kItems),
        peak(peak_flops()) {
    arm.dims = interval_dims(arm.model);
    std::mt19937_64 gen(1);
    std::uniform_real_distribution<double> angle(-M_PI, M_PI);
    for (std::int64_t i = 0; i < kItems; ++i) {
      Vec<double, J> q;
      for (int j = 0; j < J; ++j) q[j] = angle(gen);
      random.set(i, q);
      q[zero] = 0;
      singular.set(i, q);
    }
  }

  template <class Op>
  [[nodiscard]] double flops(const batch::Tiles<Vec<double, J>>& states) const {
    operations = {};
    for (std::int64_t i = 0; i < kItems; ++i) {
      const Vec<double, J> q = states.get(i);
      Vec<Counted, J> counted;
      for (int j = 0; j < J; ++j) counted[j] = q[j];
      const auto result = Op{}(arm, chain::angles<kKind>(arm.model, counted));
      benchmark::DoNotOptimize(&result);
    }
    return operations.flops() / static_cast<double>(kItems);
  }
  template <class Op>
  void run(const std::string& operation, Op, batch::Tiles<Vec<double, J>>& states) {
    const Body<Op, J> body{&arm, states.data(), out.data()};
    const double count = flops<Op>(states);
    add(
        name + "/" + operation + "/lanes", [body] { batch::for_each_lanes(kItems, body); }, count, peak);
    add(
        name + "/" + operation + "/scalar", [body] { batch::for_each_scalar(kItems, body); }, count);
  }
  /// False where Pinocchio's singular values are others.
  [[nodiscard]] bool run_peer() {
    if (!pinocchio_peer::available()) {
      std::cerr << "built without Pinocchio\n";
      return true;
    }
    for (std::int64_t i = 0; i < kItems; ++i) {
      const Vec<double, J> q = random.get(i);
      const auto ours = kToolSigma(arm, chain::angles<kKind>(arm.model, q));
      double theirs[6];
      peer.singular_values(q.m, kLength, theirs);
      for (int k = 0; k < 6; ++k)
        if (std::abs(ours[k] - theirs[k]) > kAgreement * ours[0]) {
          std::cerr << name << ": singular values differ: " << ours[k] << ", " << theirs[k] << "\n";
          return false;
        }
      plain.push_back(q);
    }
    add(name + "/tool_sigma/pinocchio", [this] {
      double sigma[6];
      for (const auto& q : plain) {
        peer.singular_values(q.m, kLength, sigma);
        benchmark::DoNotOptimize(sigma);
      }
    });
    return true;
  }
  void run_all() {
    run("volume", kVolume, random);
    run("tool_sigma", kToolSigma, random);
    run("measures", kMeasures, random);
    run("analysis", kAnalysis, singular);
  }

  std::string name;
  Arm<J> arm;
  pinocchio_peer::Arm peer;
  std::vector<Vec<double, J>> plain;
  batch::Tiles<Vec<double, J>> random, singular;
  batch::Tiles<Findings<double, J>> out;
  double peak;
};

// Maps.

constexpr std::int64_t kSamples = 64 * 1024;

void add_map(const std::string& name, std::int64_t items, const std::function<void()>& pass) {
  benchmark::RegisterBenchmark(("map/" + name).c_str(), [=](benchmark::State& state) {
    for (auto _ : state) pass();
    const double done = static_cast<double>(state.iterations()) * static_cast<double>(items);
    using benchmark::Counter;
    state.counters["each"] = Counter(done, Counter::kIsRate | Counter::kInvert);
    state.counters["per_s"] = Counter(done, Counter::kIsRate);
  })->Unit(benchmark::kMillisecond);
}

/// One arm, one thread, lanes.
struct MapBench {
  MapBench(std::string arm_name, const std::string& file)
      : name(std::move(arm_name)),
        robot(io::read_robot(test::source_folder() + "/data/robots/" + file)),
        arm(make_map_arm(robot, options)) {
    std::mt19937_64 gen(1);
    std::uniform_real_distribution<double> angle(-M_PI, M_PI);
    for (std::int64_t i = 0; i < kSamples * robot.joints; ++i) q.push_back(angle(gen));
    arm->measure(q, Precision::kDouble, one, measures);
    const std::ptrdiff_t joints = robot.joints;
    for (std::int64_t i = 0; i < kSamples; ++i)
      if (measures.inverse_condition[static_cast<std::size_t>(i)] <= options.near)
        near.insert(near.end(), q.begin() + i * joints, q.begin() + (i + 1) * joints);
  }

  [[nodiscard]] MapScenario scenario(Precision precision) const {
    MapScenario s;
    s.robot = robot;
    s.joint.assign(static_cast<std::size_t>(robot.joints), {JointSource::Kind::kUniform, -M_PI, M_PI, 1});
    s.measure.precision = precision;
    s.plan.keep = "none";
    return s;
  }
  void run_all() {
    add_map(name + "/measures", kSamples, [this] { arm->measure(q, Precision::kDouble, one, measures); });
    add_map(name + "/singles", kSamples, [this] { arm->measure(q, Precision::kSingle, one, measures); });
    add_map(name + "/nearest", std::ssize(near) / robot.joints,
            [this] { arm->nearest(near, refine_options(options), one, found); });
    add_map(name + "/run", kSamples, [this] { static_cast<void>(exact.run(0, kSamples, one)); });
    add_map(name + "/run_singles", kSamples, [this] { static_cast<void>(rough.run(0, kSamples, one)); });
  }

  std::string name;
  chain::Robot robot;
  MeasureOptions options;
  std::unique_ptr<MapArm> arm;
  Device one{Executor::kLanes, 1, 0};
  std::vector<double> q, near;
  Measures measures;
  NearSingularities found;
  MapEngine exact{scenario(Precision::kDouble)}, rough{scenario(Precision::kSingle)};
};

}  // namespace
}  // namespace garra::bench

int main(int argc, char** argv) {
  using namespace garra::bench;
  constexpr double kRight = M_PI / 2;
  benchmark::Initialize(&argc, argv);
  Bench<6> puma("puma560",
                {{0, 0, kRight, 0, {}},
                 {0.4318, 0, 0, 0, {}},
                 {0.0203, 0.15005, -kRight, 0, {}},
                 {0, 0.4318, kRight, 0, {}},
                 {0, 0, -kRight, 0, {}},
                 {0, 0, 0, 0, {}}},
                4);
  Bench<7> iiwa("iiwa",
                {{0, 0.34, -kRight, 0, {}},
                 {0, 0, kRight, 0, {}},
                 {0, 0.4, kRight, 0, {}},
                 {0, 0, -kRight, 0, {}},
                 {0, 0.4, -kRight, 0, {}},
                 {0, 0, kRight, 0, {}},
                 {0, 0.126, 0, 0, {}}},
                3);
  puma.run_all();
  iiwa.run_all();
  if (!puma.run_peer() || !iiwa.run_peer()) return 1;
  MapBench puma_map("puma560", "puma560.toml"), iiwa_map("iiwa", "iiwa14.urdf");
  puma_map.run_all();
  iiwa_map.run_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
