// Samples of a grasp study, scalar and lanes on one core. The study is data/scenarios/three_puma_sphere.toml;
// bench/chain.cpp measures the kernels of its fingers.
//
//   sample/<stage>   one stage on samples that stay in the cache: draw (inputs, object, contacts), fingers (inverse
//                    kinematics and dynamics of all three), build (A, b, metrics), solve (contact forces), solve_cold
//                    (again from zero), check (certificate, states, outcome)
//   study/<how>      whole samples through Study::run; `twice` looks for a second solution of every sample
//   group/<stage>    data/scenarios/two_spheres.toml and three_boxes.toml: evaluate (one sample up to A and b), study
//                    (whole samples)
//   finger/<what>    puma_ik: from the tool's pose; terms: from joint angles to the finger's part of A and b
//   jaw/<what>       touch: contacts of a jaw at a pose, with closing; rank: 16 samples of such a grasp
//
// Counters: ns per sample or configuration, per_s of them on one core, flops (operations of the scalar code, a fused
// multiply-add being two) where they are counted.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "contact/batch/lanes.hpp"
#include "counting.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/grasp_set.hpp"
#include "garra/grasp_touch.hpp"
#include "garra/io/scenario.hpp"
#include "garra/solvers/friction_newton.hpp"
#include "grasp/group/model.hpp"
#include "grasp/sample/balance.hpp"
#include "grasp/sample/check.hpp"
#include "grasp/study/grasp_study.hpp"
#include "places.hpp"

namespace garra::bench {
namespace {

constexpr int kContacts = 3;
constexpr int kJoints = 6;
constexpr std::int64_t kItems = 512;  // a stage's samples: all of their data stay in the L2 cache
constexpr std::int64_t kStudySamples = 16 * study::kBlock;

using Problem = solvers::FrictionProblem<double, kContacts>;
using Candidate = solvers::Candidate<double, kContacts>;
using Iterate = contact::IterateKernel<solvers::FrictionNewton, kContacts>;

void report(benchmark::State& state, std::int64_t items, double flops = 0) {
  const double done = static_cast<double>(state.iterations()) * static_cast<double>(items);
  using benchmark::Counter;
  state.counters["each"] = Counter(done, Counter::kIsRate | Counter::kInvert);
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
  add(
      name + "/lanes", [body] { batch::for_each_lanes(kItems, body); }, flops);
  add(
      name + "/scalar", [body] { batch::for_each_scalar(kItems, body); }, flops);
}

// Samples.

/// All fingers, by the bodies that the study runs.
struct FingersKernel {
  const grasp::GraspModel* model;
  grasp::SampleParts parts;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    for (int j = 0; j < kContacts; ++j)
      grasp::FingerKernel<chain::Joints::kRevolute, kJoints>{model, j, parts}.template operator()<S>(i);
  }
};

/// The stages of kItems samples, each with what the one before it left.
struct Stages {
  explicit Stages(const grasp::Study& study)
      : draw{&study.model(), 0, parts()},
        fingers{&study.model(), parts()},
        build{&study.model(), parts(), problems.data(), metrics.data()},
        solve{solver(study.scenario(), false), problems.data(), nullptr, candidates.data()},
        solve_cold{solver(study.scenario(), true), problems.data(), nullptr, second.data()},
        balance{&study.model(), parts(), metrics.data()},
        sample_check{&study.model(),
                     parts(),
                     {study.scenario().tolerance, study.model().held, problems.data(), metrics.data(),
                      candidates.data(), nullptr},
                     sample_results.data()} {
    batch::for_each_lanes(kItems, draw);
    batch::for_each_lanes(kItems, fingers);
    batch::for_each_lanes(kItems, build);
    batch::iterate_lanes(solve, kItems);
  }
  grasp::SampleParts parts() { return {loads.data(), tasks.data(), shares.data(), uniforms.data(), kItems}; }

  static solvers::FrictionNewton solver(const grasp::Scenario& s, bool cold) {
    solvers::FrictionNewton out;
    out.tolerance = s.tolerance;
    out.max_iterations = s.max_iterations;
    out.cold = cold;
    return out;
  }

  batch::Tiles<grasp::Inputs<double>> uniforms{kItems};  // room for the most draws there can be
  batch::Tiles<grasp::ObjectLoad<double>> loads{kItems};
  batch::Tiles<grasp::FingerTask<double>> tasks{kContacts * kItems};
  batch::Tiles<grasp::FingerShare<double>> shares{kContacts * kItems};
  batch::Tiles<Problem> problems{kItems};
  batch::Tiles<grasp::Metrics<double, kContacts>> metrics{kItems};
  batch::Tiles<Candidate> candidates{kItems}, second{kItems};
  batch::Tiles<grasp::SampleResult<double, kContacts>> sample_results{kItems};
  grasp::DrawKernel draw;
  FingersKernel fingers;
  grasp::BuildKernel<kContacts> build;
  Iterate solve, solve_cold;
  grasp::BalanceKernel<kContacts> balance;
  grasp::SampleCheckKernel<kContacts> sample_check;
};

/// A struct of numbers of the batch as one of counted numbers.
template <template <class> class T>
T<Counted> counted(const T<double>& given) {
  constexpr int kNumbers = batch::kFields<double, T<double>>;
  T<Counted> out;
  std::copy_n(reinterpret_cast<const double*>(&given), kNumbers, reinterpret_cast<Counted*>(&out));
  return out;
}

double mean_finger_flops(const Stages& stages) {
  operations = {};
  for (std::int64_t i = 0; i < kContacts * kItems; ++i) {
    const int j = static_cast<int>(i / kItems);
    const grasp::FingerKernel<chain::Joints::kRevolute, kJoints> finger{stages.fingers.model, j, {}};
    grasp::FingerStance<Counted, kJoints> stance;
    benchmark::DoNotOptimize(finger.share(counted<grasp::FingerTask>(stages.tasks.get(i)), stance));
  }
  return operations.flops() / static_cast<double>(kItems);
}

double mean_build_flops(const Stages& stages) {
  operations = {};
  for (std::int64_t i = 0; i < kItems; ++i) {
    grasp::Parts<Counted, kContacts> parts;
    parts.load = counted<grasp::ObjectLoad>(stages.loads.get(i));
    parts.reached = Counted(1);
    for (int j = 0; j < kContacts; ++j) {
      const auto task = counted<grasp::FingerTask>(stages.tasks.get(j * kItems + i));
      const auto share = counted<grasp::FingerShare>(stages.shares.get(j * kItems + i));
      parts.contacts[j] = grasp::contact_terms(stages.build.model->surface[j], task.place, share);
      parts.friction[j] = task.friction;
    }
    const auto least = grasp::least_singular_value<Counted, kContacts>(parts.load.body, parts.contacts);
    const auto problem = grasp::friction_problem(*stages.build.model, parts, stages.build.model->moving);
    benchmark::DoNotOptimize(grasp::compute_metrics(*stages.build.model, parts, problem, least));
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

void add_stages(const Stages& stages) {
  add_body("sample/draw", stages.draw);
  add_body("sample/fingers", stages.fingers, mean_finger_flops(stages));
  add_body("sample/build", stages.build, mean_build_flops(stages));
  const auto add_solve = [&](const std::string& name, const Iterate& body) {
    const double flops = mean_solve_flops(body, stages);
    add(
        name + "/lanes", [&body] { batch::iterate_lanes(body, kItems); }, flops);
    add(
        name + "/scalar", [&body] { batch::for_each_scalar(kItems, body); }, flops);
  };
  add_solve("sample/solve", stages.solve);
  add_solve("sample/solve_cold", stages.solve_cold);
  add_body("sample/balance", stages.balance);
  add_body("sample/judge", stages.sample_check);
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

/// A group of objects: one sample up to A and b, and whole samples.
void add_group(const std::string& name, const grasp::Study& study) {
  benchmark::RegisterBenchmark(("group/evaluate/" + name).c_str(), [&study](benchmark::State& state) {
    std::int64_t k = 0;
    for (auto _ : state)
      benchmark::DoNotOptimize(
          grasp::evaluate_group(*study.group(), grasp::draw_group(*study.group(), k++, nullptr, 0)));
    report(state, 1);
  });
  benchmark::RegisterBenchmark(("group/study/" + name).c_str(), [&study](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(study.run(0, study::kBlock, {Executor::kLanes, 1}));
    report(state, study::kBlock);
  });
}

// Fingers.

template <class S>
using Joints = Vec<S, kJoints>;

struct PumaIkKernel {
  const grasp::FingerModel* finger;
  const double* tasks;
  double* out;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto task = batch::load<S, grasp::FingerTask<S>>(tasks, i);
    const auto found = grasp::finger_ik<chain::Joints::kRevolute, kJoints>(*finger, task.place);
    batch::store<S>(out, i, found);
  }
};

struct TermsKernel {
  const grasp::FingerModel* finger;
  const double* tasks;
  const double* solutions;
  double* out;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto task = batch::load<S, grasp::FingerTask<S>>(tasks, i);
    const auto ik = batch::load<S, chain::IkSolution<S, kJoints>>(solutions, i);
    const grasp::FingerState<S, kJoints> state = {ik.q, Joints<S>::zero(), false};
    const grasp::TorqueCommand<S, kJoints> command = {false, Joints<S>::zero(), task.compensation, task.force};
    const auto terms = grasp::finger_terms<chain::Joints::kRevolute>(finger->six, task.place, state, command);
    batch::store<S>(out, i, grasp::FingerShare<S>{terms.A, terms.drift, ik.reached, terms.bias, terms.velocity});
  }
};

void add_fingers(Stages& stages, batch::Tiles<chain::IkSolution<double, kJoints>>& ik) {
  const grasp::FingerModel* finger = &stages.fingers.model->finger[0];
  const PumaIkKernel solve{finger, stages.tasks.data(), ik.data()};
  batch::for_each_lanes(kItems, solve);
  add_body("finger/puma_ik", solve);
  add_body("finger/terms", TermsKernel{finger, stages.tasks.data(), ik.data(), stages.shares.data()});
}

/// Poses of a jaw about a capsule's mesh, from the sides.
std::vector<double> jaw_poses(std::int64_t count) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < count; ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(count);
    const double c = std::cos(turn), s = std::sin(turn), x = 0.01 * std::sin(7 * turn);
    out.insert(out.end(), {c, 0, s, x - 0.11 * s, 0, 1, 0, 0.02 * std::cos(3 * turn), -s, 0, c, -0.11 * c, 0, 0, 0, 1});
  }
  return out;
}

/// Contacts of a jaw with closing, and the ranking of its grasps, one sample each: grasps per second.
void add_jaw() {
  constexpr std::int64_t kPoses = 256;
  static const auto object = mesh::make_surface(mesh::make_capsule(0.02, 0.1)->picture());
  static const std::vector<double> poses = jaw_poses(kPoses);
  static grasp::TouchOptions options;
  options.draws = 4;
  options.position_noise = 0.003;
  options.rotation_noise = 0.035;
  static const Device one_thread{.executor = Executor::kLanes, .threads = 1};
  benchmark::RegisterBenchmark("jaw/touch", [](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(grasp::touch(*object, poses, options, one_thread));
    state.SetItemsProcessed(state.iterations() * kPoses * options.draws);
  });
  benchmark::RegisterBenchmark("jaw/rank", [](benchmark::State& state) {
    const grasp::GraspSet set = grasp::touch(*object, poses, options, one_thread).set;
    grasp::SetStudy study;
    study.samples = 16;
    study.friction_samples = 0;
    study.check_uniqueness = false;
    for (auto _ : state) benchmark::DoNotOptimize(grasp::rank(set, study, one_thread));
    state.SetItemsProcessed(state.iterations() * kPoses * options.draws);
  });
}

}  // namespace
}  // namespace garra::bench

int main(int argc, char** argv) {
  using namespace garra;
  using namespace garra::bench;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;

  grasp::Scenario scenario = io::read_scenario(test::source_folder() + "/data/scenarios/three_puma_sphere.toml");
  scenario.check_uniqueness = true;
  const grasp::Study twice(scenario);
  scenario.check_uniqueness = false;
  const grasp::Study once(scenario);
  Stages stages(once);
  add_stages(stages);
  add_study("study/once", once);
  add_study("study/twice", twice);
  const auto group = [](const char* name) {
    return grasp::Study(io::read_scenario(test::source_folder() + "/data/scenarios/" + name + ".toml"));
  };
  const grasp::Study spheres = group("two_spheres"), boxes = group("three_boxes");
  add_group("two_spheres", spheres);
  add_group("three_boxes", boxes);
  batch::Tiles<chain::IkSolution<double, kJoints>> ik(kItems);
  add_fingers(stages, ik);
  add_jaw();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
