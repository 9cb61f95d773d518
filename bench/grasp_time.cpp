// Grasps in time on one core, in lanes and scalar. tools/bench adds MuJoCo, Drake and Pinocchio
// (peers/grasp_engines.py) at the same jobs.
//
//   grasp_time/<job>_<step>/<who>   whole trajectories, by Motion::run. The papers' hand at constant torques: hold,
//                                   shake (within the cones), pull (until all three slip); samples differ in mass and
//                                   friction. With the grasp controller: small_four (fingers of four joints),
//                                   pumas_eight; groups of objects: spheres_hold, spheres_shake (two spheres between
//                                   two fingers, three contacts as the papers' hand has, which is their peer),
//                                   board_hold (lean_on_table)
//   grasp_phase/<phase>/<who>       a step of `pull` taken apart: orders, fingers, assemble, solve, certify, close
//
// Counters, per step of one grasp: ns, per_s of them, steps (of Newton's method), flops (operations of the scalar
// code), in lanes peak: their share of the multiply-add limit of this core; bytes: to and from the tiles, which stay in
// the L2 cache. slip, gap, error: as in grasp_engines.py, of the nominal grasp, by the scalar executor.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "counting.hpp"
#include "grasp/group/motion.hpp"
#include "grasp/time/host.hpp"
#include "grasp_time_cases.hpp"
#include "measured_peak.hpp"
#include "motion_cases.hpp"

namespace garra::bench {
namespace {

using namespace garra::grasp;
using benchmark::Counter;

constexpr std::int64_t kSamples = 256;
constexpr std::int64_t kInCache = 128;  // of a phase: as Motion::run has in flight

// Whole trajectories.

struct TrajectoryResult {
  double slip = 0, gap = 0, error = 0;
};

/// The sphere's nominal trajectory at its end, from places alone, as the peers are checked.
TrajectoryResult evaluate_trajectory(const Motion& motion) {
  const MotionSeries s = motion.nominal(2);
  const std::size_t last = s.time.size() - 1;
  const Mat3<double> R = test::rotation_at(s.quaternion, last);
  TrajectoryResult out;
  for (std::size_t j = 0; j < s.links.size(); ++j) {
    const Vec3<double> first = motion.scenario().contacts[j].point;
    const Vec3<double> now =
        transpose_times(R, test::row(s.links[j], s.links[j].size() / 3 - 1) - test::row(s.position, last));
    out.slip = std::max(out.slip, norm(cross(first, now)) / norm(first));
    out.gap = std::max(out.gap, std::abs(norm(now) - norm(first)));
  }
  out.error = std::abs(s.velocity.back() - kConvergedSpeed);
  return out;
}

/// Measures whole trajectories; report(state) adds counters.
template <class OneMotion, class Report>
void measure(const std::string& name, const std::shared_ptr<const OneMotion>& motion, const Report& report) {
  for (const auto& [who, executor] : {std::pair{"/lanes", Executor::kLanes}, std::pair{"/scalar", Executor::kScalar}})
    benchmark::RegisterBenchmark((name + who).c_str(), [=, executor = executor](benchmark::State& state) {
      double steps = 0, newton = 0;
      for (auto _ : state)
        for (const Trajectory& t : motion->run(0, kSamples, {executor, 1}).trajectory) {
          steps += t.steps;
          newton += t.iterations;
        }
      state.counters["each"] = Counter(steps, Counter::kIsRate | Counter::kInvert);
      state.counters["per_s"] = Counter(steps, Counter::kIsRate);
      state.counters["steps"] = newton / steps;
      report(state);
    });
}

void add(const std::string& name, const Scenario& scenario, const TimeJob& job) {
  const auto motion = std::make_shared<const Motion>(scenario);
  const TrajectoryResult checked = evaluate_trajectory(*motion);
  measure(name, motion, [=](benchmark::State& state) {
    if (motion->scenario().object.shape != Shape::kSphere) return;
    state.counters["slip"] = checked.slip;
    state.counters["gap"] = checked.gap;
    if (job.pull > 0) state.counters["error"] = checked.error;
  });
}
void add_group(const std::string& name, const Scenario& scenario) {
  measure("grasp_time/" + name, std::make_shared<const GroupMotion>(scenario), [](benchmark::State&) {});
}

void add_jobs() {
  for (const double step : {1e-3, 2e-3}) {
    const std::string at = step == 1e-3 ? "_1ms" : "_2ms";
    for (const TimeJob& job : {kHold, kShake, kPull})
      add("grasp_time/" + std::string(job.name) + at, papers_hand(job, step, kSpread), job);
  }
  add("grasp_time/small_four_1ms", four_small_fingers(1e-3), kHold);
  add("grasp_time/pumas_eight_1ms", puma_ring(8, 1e-3), kHold);
  add_group("spheres_hold_1ms", group_in_time("two_spheres", kHold, 1e-3));
  add_group("spheres_shake_1ms", group_in_time("two_spheres", kShake, 1e-3));
  add_group("board_hold_1ms", group_in_time("lean_on_table", kHold, 1e-3));
}

// A step taken apart.

enum Phase : int { kOrders, kFingers, kAssemble, kSolve, kCertify, kClose, kPhases };
constexpr const char* kPhaseName[kPhases] = {"orders", "fingers", "assemble", "solve", "certify", "close"};
constexpr int kN = kAnyContacts;
constexpr int kContacts = 3;
using Solve = contact::IterateKernel<solvers::FrictionNewton, kN>;
using Certify = contact::CertifyKernel<kN>;

/// A backend of run_steps that hands every phase over to be measured.
template <class Phases>
struct MeasuringBackend {
  Phases* phases;
  HostBackend host;

  [[nodiscard]] const MotionRules* rules() const { return host.rules(); }
  [[nodiscard]] bool any_running(const MotionTiles& tiles, std::int64_t count) const {
    return host.any_running(tiles, count);
  }
  void start_fingers(const MotionRules& rules, const MotionTiles& tiles, std::int64_t count) const {
    host.start_fingers(rules, tiles, count);
  }
  void for_each(std::int64_t count, const MotionDrawKernel& body) const { host.for_each(count, body); }
  void for_each(std::int64_t count, const OrderKernel& body) const {
    phases->run(kOrders, [&] { phases->for_each(host, body, count); });
  }
  void close(std::int64_t count, const CloseKernel<kN>& body) const {
    phases->run(kClose, [&] { phases->for_each(host, body, count); });
  }
  void step_fingers(const MotionRules& rules, const MotionTiles& tiles, const StepNow& step, std::int64_t count) const {
    phases->run(kFingers, [&] { phases->fingers(host, rules, tiles, step, count); });
  }
  void assemble(const AssembleKernel<kN>& body, std::int64_t count) const {
    phases->run(kAssemble, [&] { phases->for_each(host, body, count); });
  }
  void iterate(const Solve& body, std::int64_t count) const {
    phases->run(kSolve, [&] { phases->for_each(host, body, count); });
  }
  void certify(const Certify& body, std::int64_t count) const {
    phases->run(kCertify, [&] { phases->for_each(host, body, count); });
  }
};

/// Processor time of this thread [s]: what others do on a shared core does not count, as in the other benchmarks.
double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds of each phase, as Motion::run does it.
struct Clock {
  std::array<double, kPhases> seconds{};

  template <class Work>
  void run(std::size_t phase, const Work& work) {
    const double start = processor_seconds();
    work();
    seconds[phase] += processor_seconds() - start;
  }
  static void fingers(const HostBackend& host, const MotionRules& rules, const MotionTiles& tiles, const StepNow& step,
                      std::int64_t count) {
    host.step_fingers(rules, tiles, step, count);
  }
  template <class Body>
  static void for_each(const HostBackend& host, const Body& body, std::int64_t count) {
    host.for_each(count, body);
  }
  static void for_each(const HostBackend& host, const AssembleKernel<kN>& body, std::int64_t count) {
    host.assemble(body, count);
  }
  static void for_each(const HostBackend& host, const CloseKernel<kN>& body, std::int64_t count) {
    host.close(count, body);
  }
  static void for_each(const HostBackend& host, const Solve& body, std::int64_t count) { host.iterate(body, count); }
  static void for_each(const HostBackend& host, const Certify& body, std::int64_t count) { host.certify(body, count); }
};

/// Operations and bytes of each phase, by the scalar code on counted numbers.
struct Counts {
  std::array<double, kPhases> flops{}, bytes{};

  template <class Work>
  void run(std::size_t phase, const Work& work) {
    operations = {};
    moved_bytes = 0;
    work();
    flops[phase] += operations.flops();
    bytes[phase] += static_cast<double>(moved_bytes);
  }
  static void fingers(const HostBackend& host, const MotionRules& rules, const MotionTiles& tiles, const StepNow& step,
                      std::int64_t count) {
    for (int j = 0; j < kContacts; ++j)
      for_each(host,
               FingerStepKernel<chain::Joints::kRevolute, 6>{&rules, j, step.first,
                                                             make_finger_drive<6>(rules, j, step), tiles},
               count);
  }
  template <class Body>
  static void for_each(const HostBackend&, const Body& body, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) body.template operator()<Counted>(i);
  }
};

/// Samples of a motion, and their tiles.
class Block : private ContactsInUse {
 public:
  explicit Block(const Scenario& scenario) : ContactsInUse(kContacts), motion_(scenario) {
    for (std::int64_t i = 0; i < kInCache; ++i) draw_.push_back(static_cast<std::uint64_t>(i));
    tiles_ = cut_tiles<kN>(motion_.model(), draw_.data(), kInCache, false, [&](int fields) {
      memory_.emplace_back(fields * kInCache);
      return memory_.back().data();
    });
  }
  template <class Phases>
  void run(Executor executor, Phases& phases) const {
    const MotionModel& model = motion_.model();
    run_steps<kN>(MeasuringBackend<Phases>{&phases, {executor, &model.rules, model.solver}}, model, tiles_, NoLooks{},
                  kInCache, [](const StepNow&) {});
  }
  [[nodiscard]] double steps() const { return static_cast<double>(motion_.model().steps * kInCache); }

 private:
  Motion motion_;
  std::vector<std::uint64_t> draw_;
  std::vector<batch::Tiles<double>> memory_;
  MotionTiles tiles_;
};

void add_phases(const Scenario& scenario, double peak) {
  const auto block = std::make_shared<Block>(scenario);
  Counts counts;
  block->run(Executor::kScalar, counts);
  for (const auto& [who, executor] : {std::pair{"/lanes", Executor::kLanes}, std::pair{"/scalar", Executor::kScalar}})
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
      const double flops = counts.flops[phase] / block->steps(), bytes = counts.bytes[phase] / block->steps();
      const std::string name = std::string("grasp_phase/") + kPhaseName[phase] + who;
      benchmark::RegisterBenchmark(name.c_str(), [=, executor = executor](benchmark::State& state) {
        Clock clock;
        for (auto _ : state) block->run(executor, clock);
        const double done = static_cast<double>(state.iterations()) * block->steps();
        state.counters["ns"] = 1e9 * clock.seconds[phase] / done;
        state.counters["flops"] = flops;
        state.counters["bytes"] = bytes;
        if (executor == Executor::kLanes) state.counters["peak"] = flops * done / clock.seconds[phase] / peak;
      });
    }
}

}  // namespace
}  // namespace garra::bench

int main(int argc, char** argv) {
  using namespace garra::bench;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  add_jobs();
  add_phases(papers_hand(kPull, 1e-3, kSpread), peak_flops());
  benchmark::RunSpecifiedBenchmarks();
}
