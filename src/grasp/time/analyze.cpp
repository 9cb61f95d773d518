// Analyzes one instant of many grasps: converts scenario and plain arrays to tiles and back, and loops over blocks on
// the host.
#include "grasp/time/analyze.hpp"

#include <algorithm>
#include <memory>

#include "contact/batch/arrays.hpp"
#include "garra/core/error.hpp"
#include "grasp/group/model.hpp"
#include "grasp/study/grasp_study.hpp"
#include "grasp/study/study_solver.hpp"
#include "grasp/time/host.hpp"

namespace garra::grasp {

namespace {

MotionRules make_rules(const Scenario& s, const GraspModel& grasp, const GraspStates& states) {
  MotionRules r{};
  r.grasp = grasp;
  make_nominal(r.grasp);
  // The fingers follow the object if their own motion is not given.
  r.grasp.moving = grasp.moving || !states.velocity.empty() || !states.spin.empty();
  // Restitution 1: contacts carry force if their gap is closed now, not if a step could close it (OpenKernel).
  r.step = {.explicit_step = true, .step = 1, .restitution = 1, .baumgarte = 0};
  r.drive = states.tau.empty() ? Drive::kController : Drive::kConstant;
  r.tolerance = s.tolerance;
  for (std::size_t j = 0; j < s.contacts.size(); ++j) {
    r.kind[j] = followed_surface(s.contacts[j], j, "near which no nearest point is known");
    r.limits[j] = FingerLimits::none();
    if (!states.tau.empty()) {
      r.grasp.finger[j].torque_given = false;  // the file's torques count, whatever their limits
      // Nothing limits them, so limits stay infinite.
      continue;
    }
    std::copy_n(grasp.finger[j].torque_limit, chain::kMaxJoints, r.limits[j].torque);
    r.limits[j].torque_limited = grasp.finger[j].torque_limited;
  }
  return r;
}

/// The nominal grasp, as drawn in the trajectories' first step.
void find_nominal(AnalysisJob& job) {
  const int contacts = job.model.rules.grasp.contacts;
  const ContactsInUse many(contacts);
  HostMemory memory(1);
  const MotionTiles tiles =
      cut_tiles<kAnyContacts>(job.model, nullptr, memory.padded(), false, [&](int n) { return memory.take(n); });
  const std::vector<std::uint64_t> draw(batch::kTile);
  MotionTiles drawn = tiles;
  // With every input nominal nothing is drawn: any number works.
  drawn.draw = draw.data();
  MotionDrawKernel{&job.model.rules, drawn}.operator()<double>(0);
  job.object = batch::load<double, ObjectMotion<double>>(tiles.objects, 0);
  job.object.running = 0;  // the state is given: a step changes nothing in it
  for (int j = 0; j < contacts; ++j) {
    job.task[j] = batch::load<double, FingerTask<double>>(tiles.parts.task_tile(j), 0);
    job.surface[j] = batch::load<double, LocalSurface<double>>(tiles.surface_tile(j), 0);
  }
}

void run_on_host(const AnalysisJob& job, const Device& device) {
  const batch::Blocks blocks{job.states.count, kInFlight};
  const HostBackend backend{device.executor, &job.model.rules, job.model.solver};
  struct Workspace : private ContactsInUse {
    HostMemory memory;
    AnalysisTiles tiles;
    Workspace(const AnalysisJob& job, std::int64_t most)
        : ContactsInUse(job.model.rules.grasp.contacts),
          memory(most),
          tiles(cut_analysis_tiles<kAnyContacts>(job.model, memory.padded(), [&](int k) { return memory.take(k); })) {}
  };
  batch::for_blocks(
      study_threads(device), blocks, [&] { return Workspace(job, blocks.largest()); },
      [&](const Workspace& w, std::int64_t first, std::int64_t count) {
        job.fill(w.tiles.motion, first, count);
        run_analysis<kAnyContacts>(backend, job, w.tiles, count,
                                   [&] { job.fill_fingers(w.tiles.motion, first, count); });
        take_over(job, w.tiles, first, count);
      });
}

std::string shape(std::int64_t rows, std::int64_t columns) {
  return "[" + std::to_string(rows) + ", " + std::to_string(columns) + "]";
}

void check_size(const std::string& name, const std::vector<double>& values, std::int64_t rows, std::int64_t columns) {
  if (std::ssize(values) == rows * columns) return;
  throw Error(ExitCode::kInvalidFile, name + " has " + std::to_string(values.size()) + " numbers, not the " +
                                          std::to_string(rows * columns) + " of shape " + shape(rows, columns));
}

void check_states(const Scenario& s, const GraspStates& x) {
  if (x.count < 0) throw Error(ExitCode::kInvalidFile, "count = " + std::to_string(x.count) + " is negative");
  const auto optional = [&](const char* name, const std::vector<double>& values, std::int64_t columns) {
    if (!values.empty()) check_size(name, values, x.count, columns);
  };
  optional("position", x.position, 3);
  optional("quaternion", x.quaternion, 4);
  optional("velocity", x.velocity, 3);
  optional("spin", x.spin, 3);
  optional("wrench", x.wrench, 6);
  optional("friction", x.friction, std::ssize(s.contacts));
  const std::pair<const char*, const std::vector<std::vector<double>>*> per_finger[] = {
      {"q", &x.q}, {"qd", &x.qd}, {"tau", &x.tau}};
  for (const auto& [name, fingers] : per_finger) {
    if (fingers->empty()) continue;
    if (fingers->size() != s.fingers.size())
      throw Error(ExitCode::kInvalidFile,
                  std::string(name) + " is given for " + std::to_string(fingers->size()) +
                      " fingers, but the hand has " + std::to_string(s.fingers.size()),
                  "give it for every finger, or for none");
    for (std::size_t j = 0; j < fingers->size(); ++j)
      check_size("finger_" + std::to_string(j) + "/" + name, (*fingers)[j], x.count,
                 static_cast<std::ptrdiff_t>(s.fingers[j].joint_count()));
  }
}

/// Allocates arrays of the right sizes.
Analysis sized(const Scenario& s, std::int64_t count) {
  const auto n = static_cast<std::size_t>(count), contacts = s.contacts.size();
  Analysis out;
  out.contacts = static_cast<int>(contacts);
  out.status.resize(n);
  for (auto* list : {&out.residual, &out.iterations}) list->resize(n);
  for (auto* list : {&out.mode_before, &out.mode_after}) list->resize(n * contacts);
  out.gap.resize(n * contacts);
  for (auto* list : {&out.normal, &out.relative_velocity, &out.force, &out.relative_acceleration})
    list->resize(3 * n * contacts);
  out.acceleration.resize(6 * n);
  for (auto* lists : {&out.q, &out.qd, &out.qdd, &out.tau})
    for (const Finger& f : s.fingers) lists->emplace_back(n * f.joint_count());
  return out;
}

template <int D>
void take_row(const std::vector<double>& values, std::int64_t row, Vec<double, D>& to) {
  if (!values.empty()) std::copy_n(values.data() + row * D, D, to.m);
}

}  // namespace

void AnalysisJob::fill(const MotionTiles& host, std::int64_t first, std::int64_t count) const {
  const int contacts = model.rules.grasp.contacts;
  const std::int64_t padded = batch::tiles_for(count) * batch::kTile;
  for_instants(padded, [&](std::int64_t i) {
    // Unused lanes of the last tile repeat the last instant.
    const std::int64_t at = first + std::min(i, count - 1);
    ObjectMotion<double> x = object;
    take_row(states.position, at, x.p);
    take_row(states.quaternion, at, x.turn);
    // A file's quaternions may have any length; the nominal one is a unit.
    if (!states.quaternion.empty()) x.turn = normalized(x.turn);
    take_row(states.velocity, at, x.v);
    take_row(states.spin, at, x.w);
    take_row(states.wrench, at, x.wrench);
    x.first = x.p;
    x.first_turn = x.turn;
    x.turned = x.whole_turns = x.alone = 0;
    batch::store<double>(host.objects, i, x);
    const Pose<double> pose = {rotation_matrix(x.turn), x.p};
    for (int j = 0; j < contacts; ++j) {
      FingerTask<double> t = task[j];
      // Relative to the object's pose: the nominal contacts move with it.
      t.place = pose * ContactPlace<double>{surface[j].point, surface[j].E};
      t.velocity = x.v + cross(x.w, t.place.p - x.p);
      if (!states.friction.empty()) t.friction = states.friction[static_cast<std::size_t>(at * contacts + j)];
      batch::store<double>(host.parts.task_tile(j), i, t);
      batch::store<double>(host.surface_tile(j), i, surface[j]);
    }
  });
}

void AnalysisJob::fill_fingers(const MotionTiles& host, std::int64_t first, std::int64_t count) const {
  const std::int64_t padded = batch::tiles_for(count) * batch::kTile;
  for (int j = 0; j < model.rules.grasp.contacts; ++j)
    with_finger_size(model.rules.grasp.finger[j].size, [&](auto, auto size) {
      constexpr int J = size;
      const int joints = finger_chain<J>(model.rules.grasp.finger[j]).joints;
      const auto put = [&](const std::vector<std::vector<double>>& given, std::int64_t at, Vec<double, J>& to) {
        if (given.empty()) return;
        std::copy_n(given[static_cast<std::size_t>(j)].data() + at * joints, joints, to.m);
      };
      for_instants(padded, [&](std::int64_t i) {
        const std::int64_t at = first + std::min(i, count - 1);
        FingerMotion<double, J> x{};
        x.within = 1;
        // Beyond `count` no finger was placed.
        if (by_inverse_kinematics() && i < count)
          x = batch::load<double, FingerMotion<double, J>>(host.finger_tile(j), i);
        put(states.q, at, x.q);
        put(states.qd, at, x.qd);
        put(states.tau, at, x.kept);
        x.first = x.q;
        batch::store<double>(host.finger_tile(j), i, x);
      });
    });
}

namespace {

/// An analysis has the model of time steps.
void require_hand_of_steps(const Scenario& s) {
  const auto refuse = [](const std::string& what) {
    throw Error(ExitCode::kInvalidFile, what,
                "Run the scenario as a study and replay a sample (`garra run`, `garra replay`), or leave it out.");
  };
  if (s.arm) refuse("hand.arm_root: an analysis of instants takes palms that stand still");
  for (std::size_t j = 0; j < s.fingers.size(); ++j) {
    const std::string name = "finger " + std::to_string(j);
    if (s.fingers[j].tip_radius > 0) refuse(name + ": tip_radius: an analysis of instants takes points as fingertips");
    if (s.fingers[j].robot && !s.fingers[j].robot->coupled.empty())
      refuse(name + ": a joint follows another one (mimic), which an analysis of instants does not take");
  }
}

}  // namespace

Analysis analyze(const Scenario& scenario, const GraspStates& states, const Device& device) {
  if (is_group(scenario)) return analyze_group(scenario, states, device);
  require_hand_of_steps(scenario);
  check_states(scenario, states);
  const auto grasp = make_model(scenario);
  Analysis out = sized(scenario, states.count);
  AnalysisJob job{.model = {.rules = make_rules(scenario, *grasp, states),
                            .solver = contact_options(scenario),
                            .clock = LoadClock({}, scenario.gravity, 1)},
                  .step = {},
                  .states = states,
                  .out = out};
  job.step.now = job.model.clock.at(0, 1);
  job.step.first = states.tau.empty();  // torques that are given count as kept since an earlier step
  if (states.count == 0) return out;
  find_nominal(job);
  if (device.executor == Executor::kCuda) {
    batch::on_device(device, job);
  } else {
    run_on_host(job, device);
  }
  return out;
}

}  // namespace garra::grasp
