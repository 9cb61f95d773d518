// Stewart platforms on one core, in lanes and scalar: kinematics, dynamics and trajectories of the reference platform,
// and the same by Simbody. tools/bench adds MuJoCo and Pinocchio (peers/platform_engines.py).
//
//   platform/<operation>/<who>   who: lanes, scalar, simbody
//
//   lengths               six leg lengths of a pose
//   forward               pose from lengths, guess 0.1 m and 0.2 rad off, to 1e-12 m; Simbody: projectQ to 1e-10
//   forward_checked        the same with what its decision needs: smallest singular value, sign of det J
//   forward_full          the same in the paper's 91 coordinates, through the public entry, from and to plain arrays
//   inverse_dynamics      actuator forces of a moving platform
//   inverse_dynamics_reactions  the same with joint reactions, power balance, singular values
//   acceleration          of a moving platform under given forces; Simbody: realize(Acceleration), with its pose set
//   trajectory            0.5 s from rest at constant forces, through the public entry: order 8, five steps; Simbody:
//   accuracy 1e-6 trajectory_rk4        the same with 25 steps of order 4
//   controlled_LAW        a period of 1 ms of an uncertain machine under control: a sample, then a step of order 4
//
// Counters: ns per problem, per_s of them, flops (operations of the scalar code, mean), in lanes peak: the share of the
// multiply-add limit of this core; error: of the position at the end of the reference trajectory [m]. Every operation
// is checked against data/reference/platform or its own inverse before the clock starts.
#include <benchmark/benchmark.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "counting.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/io/platform_scenario.hpp"
#include "garra/platform_dynamics.hpp"
#include "garra/platform_simulate.hpp"
#include "garra/systems/platform/dynamics.hpp"
#include "garra/systems/platform/forward.hpp"
#include "garra/systems/platform/inverse_ops.hpp"
#include "garra/systems/platform/kinematics_ops.hpp"
#include "measured_peak.hpp"
#include "peers/simbody.hpp"
#include "places.hpp"
#include "platform/batch/dynamics_ops.hpp"
#include "platform/batch/rows.hpp"
#include "platform/study/platform_study.hpp"
#include "platform_reference.hpp"

namespace garra::bench {
namespace {

using namespace garra::platform;
using test::platform_reference;
using test::reference_platform;

constexpr std::int64_t kItems = 128;
constexpr double kAgreement = 1e-9;  // [m, m/s^2, rad/s^2]

struct ForwardWork {
  template <class S>
  struct In {
    Vec<S, 6> lengths;
    Place<S> guess;
  };
  template <class S>
  struct Out {
    Place<S> place;
    S residual, iterations;
  };
  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    const ForwardState<S> s = forward_solve(m, ForwardRule{1e-12, 40}, in.lengths, in.guess);
    return {s.place, s.residual, s.iterations};
  }
};

struct InverseWork {
  template <class S>
  struct In {
    Place<S> place;
    Twist6<S> twist, acceleration;
    Wrench6<S> wrench;
  };
  template <class S>
  struct Out {
    Vec<S, 6> force;
  };
  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    return {inverse_dynamics(m, in.place, in.twist, in.acceleration, in.wrench)};
  }
};

struct AccelerationWork {
  template <class S>
  struct In {
    Place<S> place;
    Twist6<S> twist;
    Vec<S, 6> force;
    Wrench6<S> wrench;
  };
  template <class S>
  struct Out {
    Vec<S, 6> acceleration;
  };
  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    return {acceleration(m, in.place, in.twist, in.force, in.wrench)};
  }
};

struct Setting {
  Platform machine = reference_platform("trepa_like");
  Model<double> model = make_model(machine);
  double peak = peak_flops();
};

void add(const std::string& name, std::int64_t items, const std::function<void()>& pass, double flops = 0,
         double peak = 0, double error = -1) {
  benchmark::RegisterBenchmark(("platform/" + name).c_str(), [=](benchmark::State& state) {
    for (auto _ : state) {
      pass();
      benchmark::ClobberMemory();
    }
    const double done = static_cast<double>(state.iterations()) * static_cast<double>(items);
    using benchmark::Counter;
    state.counters["each"] = Counter(done, Counter::kIsRate | Counter::kInvert);
    state.counters["per_s"] = Counter(done, Counter::kIsRate);
    if (flops > 0) state.counters["flops"] = Counter(flops);
    if (peak > 0) state.counters["peak"] = Counter(flops * done / peak, Counter::kIsRate);
    if (error >= 0) state.counters["error"] = Counter(error);
  });
}

/// The same number in another scalar.
template <class To, class From>
To converted(const From& from) {
  constexpr std::size_t n = sizeof(From) / sizeof(double);
  To to;
  const double* f = reinterpret_cast<const double*>(&from);
  auto* t = reinterpret_cast<Counted*>(&to);
  for (std::size_t k = 0; k < n; ++k) t[k] = f[k];
  return to;
}

template <class Op>
void add_kernel(const Setting& s, const std::string& name, const std::vector<typename Op::template In<double>>& inputs,
                const Op& op = {}) {
  using In = typename Op::template In<double>;
  using Out = typename Op::template Out<double>;
  operations = {};
  for (const In& in : inputs) {
    auto out = op(s.model, converted<typename Op::template In<Counted>>(in));
    benchmark::DoNotOptimize(&out);
  }
  const double flops = operations.flops() / static_cast<double>(kItems);
  auto in = std::make_shared<batch::Tiles<In>>(kItems);
  auto out = std::make_shared<batch::Tiles<Out>>(kItems);
  for (std::int64_t i = 0; i < kItems; ++i) in->set(i, inputs[static_cast<std::size_t>(i)]);
  using Body = batch::RowsKernel<OnSharedModel<Op>>;
  const auto body = std::make_shared<Body>(Body{{op, s.model}, in->data(), out->data()});
  add(
      name + "/lanes", kItems, [in, out, body] { batch::for_each_lanes(kItems, *body); }, flops, s.peak);
  add(
      name + "/scalar", kItems, [in, out, body] { batch::for_each_scalar(kItems, *body); }, flops);
}

struct Problems {
  std::vector<LengthsOp::In<double>> places;
  std::vector<ForwardWork::In<double>> forward;
  std::vector<InverseWork::In<double>> inverse;
  std::vector<AccelerationWork::In<double>> acceleration;
};

/// Around the home pose; guesses 0.1 m and 0.2 rad off in every coordinate, at most.
Problems problems(const Setting& s) {
  std::mt19937_64 gen(1);
  std::uniform_real_distribution<double> unit(-1, 1);
  const auto vector = [&](double size) { return vec3<double>(size * unit(gen), size * unit(gen), size * unit(gen)); };
  const auto moved = [&](const Place<double>& from, double shift, double turn) {
    return Place<double>{from.r + vector(shift), retract(from.p, vector(turn))};
  };
  Place<double> middle = home_place(s.machine);
  middle.r[2] += 0.25;
  Problems all;
  for (std::int64_t i = 0; i < kItems; ++i) {
    const Place<double> place = moved(middle, 0.15, 0.25);
    all.places.push_back({place});
    all.forward.push_back({LengthsOp{}(s.model, LengthsOp::In<double>{place}).lengths, moved(place, 0.1, 0.2)});
    const Twist6<double> twist{vector(0.3), vector(0.5)}, change{vector(1), vector(2)};
    const Wrench6<double> wrench{vector(50), vector(5)};
    all.inverse.push_back({place, twist, change, wrench});
    const auto force = InverseWork{}(s.model, all.inverse.back()).force;
    all.acceleration.push_back({place, twist, force, wrench});
    const ForwardWork::Out<double> found = ForwardWork{}(s.model, all.forward.back());
    const Vec3<double> off = found.place.r - place.r;
    const auto a = AccelerationWork{}(s.model, all.acceleration.back()).acceleration;
    for (int j = 0; j < 3; ++j) {
      if (std::abs(off[j]) < kAgreement && std::abs(a[j] - change.v[j]) < kAgreement &&
          std::abs(a[3 + j] - change.w[j]) < kAgreement)
        continue;
      std::cerr << "bench_platform: forward and inverse problem " << i << " do not agree\n";
      std::exit(1);
    }
  }
  return all;
}

struct ReferenceRun {
  Starts starts;
  ForceInput force;
  Vec3<double> end;
  Vec<double, 6> lengths, first_acceleration;
};
ReferenceRun reference_run(const Setting& s) {
  const nlohmann::json cases = platform_reference("fwddyn");
  const nlohmann::json& run = cases.at(1);
  ReferenceRun r;
  const Place<double> home = home_place(s.machine);
  for (std::int64_t i = 0; i < kItems; ++i) {
    for (int k = 0; k < 3; ++k) r.starts.pose.position.push_back(home.r[k]);
    for (int k = 0; k < 4; ++k) r.starts.pose.quaternion.push_back(home.p[k]);
  }
  r.force.force = run.at("actuator_forces").get<std::vector<double>>();
  for (int k = 0; k < 3; ++k) r.end[k] = run.at("states").back().at("r").at(k);
  for (int k = 0; k < 6; ++k) {
    r.lengths[k] = run.at("states").back().at("lengths").at(k);
    r.first_acceleration[k] = run.at("states").front().at("nudot").at(k);
  }
  return r;
}

double distance(const Vec3<double>& a, const Vec3<double>& b) { return norm(a - b); }

void add_trajectories(const Setting& s, const ReferenceRun& r) {
  struct Method {
    const char* name;
    Integrator method;
    double step;
  };
  for (const Method& m :
       {Method{"trajectory", Integrator::kRk8, 0.1}, Method{"trajectory_rk4", Integrator::kRk4, 0.02}}) {
    SimulateOptions options;
    options.method = m.method;
    options.step = m.step;
    const Device lanes{Executor::kLanes, 1, 0}, scalar{Executor::kScalar, 1, 0};
    const std::vector<double> end = simulate({s.machine}, r.starts, r.force, options, lanes).end_pose.position;
    const double error = distance({{end[0], end[1], end[2]}}, r.end);
    for (const auto& [who, device] : {std::pair{"/lanes", lanes}, std::pair{"/scalar", scalar}})
      add(
          m.name + std::string(who), kItems,
          [=, machine = s.machine, run = r, device = device] {
            benchmark::DoNotOptimize(simulate({machine}, run.starts, run.force, options, device).end_time.data());
          },
          0, 0, error);
  }
}

void add_full(const Setting& s, const Problems& all) {
  std::vector<double> lengths;
  Poses guess;
  for (const auto& p : all.forward) {
    lengths.insert(lengths.end(), p.lengths.m, p.lengths.m + 6);
    guess.position.insert(guess.position.end(), p.guess.r.m, p.guess.r.m + 3);
    guess.quaternion.insert(guess.quaternion.end(), p.guess.p.m, p.guess.p.m + 4);
  }
  for (const auto& [who, device] :
       {std::pair{"/lanes", Device{Executor::kLanes, 1, 0}}, std::pair{"/scalar", Device{Executor::kScalar, 1, 0}}})
    add("forward_full" + std::string(who), kItems, [=, machine = s.machine, device = device] {
      benchmark::DoNotOptimize(forward_kinematics_full({machine}, lengths, guess, {}, device).residual.data());
    });
}

template <std::size_t N, class V>
std::array<double, N> plain(const V& v) {
  std::array<double, N> a;
  for (std::size_t k = 0; k < N; ++k) a[k] = v[static_cast<int>(k)];
  return a;
}

simbody_peer::Model peer_model(const Model<double>& m) {
  simbody_peer::Model to;
  for (std::size_t i = 0; i < kLegs; ++i) {
    const LegForm<double>& leg = m.leg[i];
    to.leg[i] = {plain<3>(leg.base),
                 plain<3>(leg.anchor),
                 plain<3>(leg.axis),
                 {leg.lower_mass, leg.lower_com, plain<3>(leg.lower_inertia)},
                 {leg.upper_mass, leg.upper_com, plain<3>(leg.upper_inertia)}};
  }
  to.mass = m.mass;
  to.inertia = {m.xx, m.yy, m.zz, m.xy, m.xz, m.yz};
  to.gravity = plain<3>(m.gravity);
  return to;
}

void add_simbody(const Setting& s, const ReferenceRun& r, const Problems& all) {
  if (!simbody_peer::available()) return;
  const auto place_at = [](const Place<double>& p) { return simbody_peer::Place{plain<3>(p.r), plain<4>(p.p)}; };
  const simbody_peer::Place home = place_at(home_place(s.machine));
  const auto machine = std::make_shared<simbody_peer::Machine>(peer_model(s.model), home);
  const auto force = plain<6>(r.force.force), lengths = plain<6>(all.forward[0].lengths);
  const auto guess = place_at(all.forward[0].guess);
  const auto a = machine->acceleration(home, force);
  const auto found = machine->forward_kinematics(lengths, guess, 1e-10);
  const auto end = machine->trajectory(home, force, 0.5, 1e-6);
  for (int k = 0; k < 6; ++k)
    if (!(std::abs(a[static_cast<std::size_t>(k)] - r.first_acceleration[k]) < kAgreement)) {
      std::cerr << "bench_platform: Simbody's acceleration is not the reference's\n";
      std::exit(1);
    }
  const double off = distance({{found.r[0], found.r[1], found.r[2]}}, all.places[0].place.r);
  add(
      "forward/simbody", 1, [=] { benchmark::DoNotOptimize(machine->forward_kinematics(lengths, guess, 1e-10)); }, 0, 0,
      off);
  add("acceleration/simbody", 1, [=] { benchmark::DoNotOptimize(machine->acceleration(home, force)); });
  add(
      "trajectory/simbody", 1, [=] { benchmark::DoNotOptimize(machine->trajectory(home, force, 0.5, 1e-6)); }, 0, 0,
      distance({{end.r[0], end.r[1], end.r[2]}}, r.end));
}

/// Studies of data/scenarios/platform_control.toml under each law; an item is a sampling period of one machine.
void add_controlled() {
  for (const char* law : {"computed_torque", "gravity", "legs"}) {
    const auto study = std::make_shared<PlatformStudy>(
        io::read_platform_scenario(test::source_folder() + "/data/scenarios/platform_control.toml",
                                   {std::string("simulation.control=\"") + law + "\"", "path.duration=0.1",
                                    "path.instants=6", "allowed.position_error=10", "allowed.near_singular=0"}));
    constexpr std::int64_t kSamples = 64, kPeriods = 100;
    for (const auto& [who, device] :
         {std::pair{"/lanes", Device{Executor::kLanes, 1, 0}}, std::pair{"/scalar", Device{Executor::kScalar, 1, 0}}})
      add("controlled_" + std::string(law) + who, kSamples * kPeriods,
          [study, device = device] { benchmark::DoNotOptimize(study->run(0, kSamples, device).counts.data()); });
  }
}

void register_all() {
  const Setting s;
  const Problems all = problems(s);
  const ReferenceRun run = reference_run(s);
  add_kernel<LengthsOp>(s, "lengths", all.places);
  add_kernel<ForwardWork>(s, "forward", all.forward);
  std::vector<ForwardOp::In<double>> checked;
  for (const ForwardWork::In<double>& in : all.forward) checked.push_back({in.lengths, in.guess});
  add_kernel<ForwardOp>(s, "forward_judged", checked, {{1e-12, 40}, 0.4});
  add_kernel<InverseWork>(s, "inverse_dynamics", all.inverse);
  std::vector<InverseDynamicsOp::In<double>> whole;
  for (const InverseWork::In<double>& in : all.inverse)
    whole.push_back({in.place, in.twist, in.acceleration, in.wrench});
  add_kernel<InverseDynamicsOp>(s, "inverse_dynamics_reactions", whole, {0.4});
  add_kernel<AccelerationWork>(s, "acceleration", all.acceleration);
  add_full(s, all);
  add_trajectories(s, run);
  add_controlled();
  add_simbody(s, run, all);
}

}  // namespace
}  // namespace garra::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  garra::bench::register_all();
  benchmark::RunSpecifiedBenchmarks();
}
