// Samples of a grasp study and the kinematics and dynamics they are made of, scalar and lanes on one core; the PUMA's
// also beside Orocos KDL. The study is data/scenarios/three_puma_sphere.toml.
//
//   sample/<stage>   one stage on samples that stay in the cache: draw (inputs), build (inverse kinematics, A, b, metrics),
//                    solve (contact forces), solve_cold (again from zero), judge (certificate, states, outcome)
//   study/<how>      whole samples through Study::run; `twice` looks for a second solution of every sample
//   finger/<kernel>   from joint angles, forward kinematics included (puma_ik: from the tool's pose)
//
// Counters: ns per sample or configuration, per_s of them on one core, flops (operations of the scalar code, a fused
// multiply-add being two) where they are counted.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <numbers>
#include <string>
#include <vector>

#include "counting.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/io/scenario.hpp"
#include "garra/solve/friction_newton.hpp"
#include "garra/systems/chain/dynamics.hpp"
#include "garra/systems/chain/inverse_kinematics.hpp"
#include "peers/kdl.hpp"
#include "systems/contact_lanes.hpp"
#include "systems/grasp_model.hpp"
#include "systems/grasp_study.hpp"

namespace garra::bench {
namespace {

constexpr int kContacts = 3;
constexpr int kJoints = 6;
constexpr std::int64_t kItems = 512;  // a stage's samples: all of their data stay in the L2 cache
constexpr std::int64_t kStudySamples = 16 * study::kBlock;
constexpr std::uint64_t kSeed = 560;
constexpr Vec3<double> kGravity = {{0, 0, -9.81}};

using Problem = solvers::FrictionProblem<double, kContacts>;
using Candidate = solvers::Candidate<double, kContacts>;
using Iterate = contact::IterateBody<solvers::FrictionNewton, kContacts>;

void report(benchmark::State& state, std::int64_t items, double flops = 0) {
  const double done = static_cast<double>(state.iterations()) * static_cast<double>(items);
  using benchmark::Counter;
  state.counters["ns"] = Counter(1e-9 * done, Counter::kIsRate | Counter::kInvert);
  state.counters["per_s"] = Counter(done, Counter::kIsRate);
  if (flops > 0) state.counters["flops"] = flops;
}

/// Registers a stage that does kItems items per call.
void add(const std::string& name, const std::function<void()>& stage, double flops = 0) {
  benchmark::RegisterBenchmark(name.c_str(), [stage, flops](benchmark::State& state) {
    for (auto _ : state) {
      stage();
      benchmark::ClobberMemory();
    }
    report(state, kItems, flops);
  });
}

/// Registers one body on both executors.
template <class Body>
void add_body(const std::string& name, const Body& body, double flops = 0) {
  add(name + "/lanes", [body] { batch::for_each_lanes(kItems, body); }, flops);
  add(name + "/scalar", [body] { batch::for_each_scalar(kItems, body); }, flops);
}

// Samples.

struct DrawBody {
  const grasp::GraspModel* model;
  double* inputs;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto index = SampleIndex<S>::consecutive(static_cast<std::uint64_t>(i));
    batch::store<S>(inputs, i, grasp::draw_inputs<S>(*model, index, nullptr));
  }
};

struct BuildDrawnBody {
  const grasp::GraspModel* model;
  const double* inputs;
  double* problems;
  double* metrics;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto built = grasp::build_sample<S, kContacts, 6>(*model, batch::load<S, grasp::Inputs<S>>(inputs, i));
    batch::store<S>(problems, i, built.problem);
    batch::store<S>(metrics, i, built.metrics);
  }
};

/// The stages of kItems samples, each with what the one before it left.
struct Stages {
  explicit Stages(const grasp::Study& study)
      : draw{&study.model(), inputs.data()},
        build{&study.model(), inputs.data(), problems.data(), metrics.data()},
        solve{solver(study.scenario(), false), problems.data(), nullptr, candidates.data()},
        solve_cold{solver(study.scenario(), true), problems.data(), nullptr, second.data()},
        judge{study.scenario().tol, problems.data(), metrics.data(), candidates.data(), nullptr,
              verdicts.data()} {
    batch::for_each_lanes(kItems, draw);
    batch::for_each_lanes(kItems, build);
    contact::iterate_lanes(solve, kItems);
  }

  static solvers::FrictionNewton solver(const grasp::Scenario& s, bool cold) {
    solvers::FrictionNewton out;
    out.tol = s.tol;
    out.max_iterations = s.max_iterations;
    out.cold = cold;
    return out;
  }

  batch::Tiles<grasp::Inputs<double>> inputs{kItems};
  batch::Tiles<Problem> problems{kItems};
  batch::Tiles<grasp::Metrics<double, kContacts>> metrics{kItems};
  batch::Tiles<Candidate> candidates{kItems}, second{kItems};
  batch::Tiles<grasp::Verdict<double, kContacts>> verdicts{kItems};
  DrawBody draw;
  BuildDrawnBody build;
  Iterate solve, solve_cold;
  grasp::JudgeBody<kContacts> judge;
};

double mean_build_flops(const grasp::GraspModel& model, const Stages& stages) {
  operations = {};
  for (std::int64_t i = 0; i < kItems; ++i) {
    const auto drawn = stages.inputs.get(i);
    grasp::Inputs<Counted> in;
    std::copy_n(drawn.x, grasp::kSlots, in.x);
    benchmark::DoNotOptimize(grasp::build_sample<Counted, kContacts, 6>(model, in));
  }
  return operations.flops() / static_cast<double>(kItems);
}

double mean_solve_flops(const Iterate& iterate, const Stages& stages) {
  operations = {};
  for (std::int64_t i = 0; i < kItems; ++i) {
    const Problem given = stages.problems.get(i);
    solvers::FrictionProblem<Counted, kContacts> problem;
    std::copy_n(given.A.m, 9 * kContacts * kContacts, problem.A.m);
    std::copy_n(given.b.m, 3 * kContacts, problem.b.m);
    std::copy_n(given.mu.m, kContacts, problem.mu.m);
    auto state = iterate.solver.start(problem);
    while (iterate.solver.running(state)) iterate.solver.step(state);
    benchmark::DoNotOptimize(iterate.solver.candidate(state));
  }
  return operations.flops() / static_cast<double>(kItems);
}

void add_stages(const grasp::Study& study, const Stages& stages) {
  add_body("sample/draw", stages.draw);
  add_body("sample/build", stages.build, mean_build_flops(study.model(), stages));
  const auto add_solve = [&](const std::string& name, const Iterate& body) {
    const double flops = mean_solve_flops(body, stages);
    add(name + "/lanes", [&body] { contact::iterate_lanes(body, kItems); }, flops);
    add(name + "/scalar", [&body] { batch::for_each_scalar(kItems, body); }, flops);
  };
  add_solve("sample/solve", stages.solve);
  add_solve("sample/solve_cold", stages.solve_cold);
  add_body("sample/judge", stages.judge);
}

void add_study(const std::string& name, const grasp::Study& study) {
  for (const Executor executor : {Executor::kLanes, Executor::kScalar})
    benchmark::RegisterBenchmark((name + (executor == Executor::kLanes ? "/lanes" : "/scalar")).c_str(),
                                 [&study, executor](benchmark::State& state) {
                                   for (auto _ : state)
                                     benchmark::DoNotOptimize(study.run(0, kStudySamples, {executor, 1}));
                                   report(state, kStudySamples);
                                 });
}

// Chains.

/// Joint angles in (-pi, pi), rates and accelerations in (-1, 1), tool poses, and room for every kernel's output.
struct Configurations {
  explicit Configurations(const chain::Chain& chain) {
    for (std::int64_t i = 0; i < kItems; ++i) {
      double u[3 * kJoints];
      for (int k = 0; k < 3 * kJoints; k += 2)
        uniform_pair<double>(kSeed, SampleIndex<double>::consecutive(static_cast<std::uint64_t>(i)),
                             static_cast<std::uint32_t>(k / 2), u[k], u[k + 1]);
      Vec<double, kJoints> x[3];
      for (int k = 0; k < 3 * kJoints; ++k)
        x[k / kJoints][k % kJoints] = (k < kJoints ? std::numbers::pi : 1.0) * (2 * u[k] - 1);
      q.set(i, x[0]);
      qd.set(i, x[1]);
      qdd.set(i, x[2]);
      tool.set(i, chain::forward_kinematics<double, kJoints>(chain, x[0]).tool);
    }
  }

  batch::Tiles<Vec<double, kJoints>> q{kItems}, qd{kItems}, qdd{kItems}, torque{kItems};
  batch::Tiles<Pose<double>> tool{kItems};
  batch::Tiles<Mat<double, 6, kJoints>> jacobian{kItems};
  batch::Tiles<chain::InertiaAndGravity<double, kJoints>> inertia{kItems};
  batch::Tiles<chain::IkSolution<double, kJoints>> ik{kItems};
};

template <class S>
using Joints = Vec<S, kJoints>;

struct JacobianBody {
  const chain::Chain* chain;
  const double* q;
  double* out;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto k = chain::forward_kinematics<S, kJoints>(*chain, batch::load<S, Joints<S>>(q, i));
    batch::store<S>(out, i, chain::geometric_jacobian(*chain, k, k.tool.p));
  }
};

struct InertiaBody {
  const chain::Chain* chain;
  const double* q;
  double* out;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto k = chain::forward_kinematics<S, kJoints>(*chain, batch::load<S, Joints<S>>(q, i));
    batch::store<S>(out, i, chain::inertia_and_gravity(*chain, k, cast<S>(kGravity)));
  }
};

struct InverseDynamicsBody {
  const chain::Chain* chain;
  const double* q;
  const double* qd;
  const double* qdd;
  double* out;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto k = chain::forward_kinematics<S, kJoints>(*chain, batch::load<S, Joints<S>>(q, i));
    batch::store<S>(out, i,
                    chain::inverse_dynamics(*chain, k, batch::load<S, Joints<S>>(qd, i),
                                            batch::load<S, Joints<S>>(qdd, i), cast<S>(kGravity)));
  }
};

struct PumaIkBody {
  const chain::Chain* chain;
  const double* tool;
  double* out;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    batch::store<S>(out, i, chain::puma_ik(*chain, batch::load<S, Pose<S>>(tool, i), {}));
  }
};

/// The same work by KDL, on arrays in its own order.
class KdlPeer {
 public:
  KdlPeer(const chain::Chain& chain, const Configurations& given) : arm_(chain, kGravity) {
    for (std::int64_t i = 0; i < kItems; ++i) {
      q_.push_back(given.q.get(i));
      qd_.push_back(given.qd.get(i));
      qdd_.push_back(given.qdd.get(i));
    }
  }
  void jacobians() {
    for (std::size_t i = 0; i < q_.size(); ++i) arm_.jacobian(q_[i].m, jacobian_[i].m);
  }
  void inertias() {
    for (std::size_t i = 0; i < q_.size(); ++i) arm_.inertia_and_gravity(q_[i].m, inertia_[i].H.m, inertia_[i].g.m);
  }
  void inverse_dynamics() {
    for (std::size_t i = 0; i < q_.size(); ++i) arm_.inverse_dynamics(q_[i].m, qd_[i].m, qdd_[i].m, torque_[i].m);
  }
  /// Largest difference from garra's results: a peer that computes something else is no peer.
  double difference(const Configurations& ours) {
    jacobians();
    inertias();
    inverse_dynamics();
    double most = 0;
    const auto compare = [&most](const auto& a, const auto& b) {
      for (int k = 0; k < static_cast<int>(sizeof(a) / sizeof(double)); ++k)
        most = std::max(most, std::abs(reinterpret_cast<const double*>(&a)[k] - reinterpret_cast<const double*>(&b)[k]));
    };
    for (std::size_t i = 0; i < q_.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      compare(jacobian_[i], ours.jacobian.get(at));
      compare(inertia_[i], ours.inertia.get(at));
      compare(torque_[i], ours.torque.get(at));
    }
    return most;
  }

 private:
  kdl::Arm arm_;
  std::vector<Vec<double, kJoints>> q_, qd_, qdd_;
  std::vector<Vec<double, kJoints>> torque_{static_cast<std::size_t>(kItems)};
  std::vector<Mat<double, 6, kJoints>> jacobian_{static_cast<std::size_t>(kItems)};
  std::vector<chain::InertiaAndGravity<double, kJoints>> inertia_{static_cast<std::size_t>(kItems)};
};

/// Registers the kernels and leaves their results in `data` for the peer to be compared with.
void add_chain(const chain::Chain& chain, Configurations& data) {
  const auto add_kernel = [](const std::string& name, const auto& body) {
    add_body("finger/" + name, body);
    batch::for_each_lanes(kItems, body);
  };
  add_kernel("jacobian", JacobianBody{&chain, data.q.data(), data.jacobian.data()});
  add_kernel("inertia_and_gravity", InertiaBody{&chain, data.q.data(), data.inertia.data()});
  add_kernel("inverse_dynamics", InverseDynamicsBody{&chain, data.q.data(), data.qd.data(), data.qdd.data(),
                                                     data.torque.data()});
  add_kernel("puma_ik", PumaIkBody{&chain, data.tool.data(), data.ik.data()});
}

void add_kdl(KdlPeer& peer) {
  add("finger/jacobian/kdl", [&peer] { peer.jacobians(); });
  add("finger/inertia_and_gravity/kdl", [&peer] { peer.inertias(); });
  add("finger/inverse_dynamics/kdl", [&peer] { peer.inverse_dynamics(); });
}

}  // namespace
}  // namespace garra::bench

int main(int argc, char** argv) {
  using namespace garra;
  using namespace garra::bench;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;

  grasp::Scenario scenario = io::read_scenario(GARRA_SOURCE_DIR "/data/scenarios/three_puma_sphere.toml");
  scenario.check_uniqueness = true;
  const grasp::Study twice(scenario);
  scenario.check_uniqueness = false;
  const grasp::Study once(scenario);
  const Stages stages(once);
  add_stages(once, stages);
  add_study("study/once", once);
  add_study("study/twice", twice);

  const chain::Chain arm = chain::puma560(0.1);
  Configurations configurations(arm);
  add_chain(arm, configurations);
  KdlPeer peer(arm, configurations);
  if (!kdl::available())
    std::cerr << "Orocos KDL was not found when this was built: garra alone is measured\n";
  else if (const double apart = peer.difference(configurations); apart > 1e-9)
    std::cerr << "KDL's results differ by " << apart << ": it is not measured\n";
  else
    add_kdl(peer);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
