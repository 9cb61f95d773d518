// chain::simulate: what can be misuse is refused here; stops are planned, rows cut, results put back.
#include <algorithm>
#include <array>
#include <cmath>

#include "chain/eval/buffer.hpp"
#include "chain/simulate/formula.hpp"
#include "chain/simulate/simulate_on_device.hpp"
#include "garra/batch/on_device.hpp"
#include "garra/chain_simulate.hpp"
#include "garra/core/error.hpp"

namespace garra::chain {

namespace {

[[noreturn]] void refuse(const std::string& problem, const std::string& remedy = {}) {
  throw Error(ExitCode::kUsage, problem, remedy);
}

/// One number per joint: `values` as it is, or its only number for all joints, or `otherwise`.
std::vector<double> per_joint(const char* name, const std::vector<double>& values, int joints, double otherwise) {
  const auto n = static_cast<std::size_t>(joints);
  for (const double v : values)
    if (!std::isfinite(v)) refuse(std::string(name) + " holds a number that is not finite");
  if (values.empty()) return std::vector<double>(n, otherwise);
  if (values.size() == 1) return std::vector<double>(n, values[0]);
  if (values.size() != n)
    refuse(std::string(name) + " has " + std::to_string(values.size()) + " numbers for " + std::to_string(joints) +
               " joints",
           "give one number per joint, or one for all");
  return values;
}

void require_positive(const char* name, double value) {
  if (!(value > 0) || !std::isfinite(value)) refuse(std::string(name) + " must be a number > 0");
}

void check_rows(const char* name, const std::vector<double>& values, const Samples& in, int joints) {
  const auto n = static_cast<std::size_t>(in.count), j = static_cast<std::size_t>(joints);
  if (values.size() != n * j)
    throw Error(ExitCode::kInvalidFile, std::string(name) + " has " + std::to_string(values.size()) +
                                            " numbers, not [n,j] of n = " + std::to_string(n) +
                                            ", j = " + std::to_string(j));
}

void check_options(const SimulateOptions& o) {
  require_positive("duration", o.duration);
  if (o.method == Integrator::kDopri5) {
    require_positive("the absolute tolerance", o.tolerance.absolute);
    require_positive("the relative tolerance", o.tolerance.relative);
    require_positive("the tolerance of a joint limit", o.limit_tolerance);
    if (o.max_steps < 1) refuse("max_steps must be at least 1");
  } else {
    require_positive("the step", o.step);
    // Guards a typing error; steps are counted in an int.
    if (o.duration / o.step > 1e9) refuse("more than 1e9 steps", "give a longer step or an earlier end");
  }
  for (std::size_t k = 0; k < o.times.size(); ++k)
    if (!(o.times[k] >= 0 && o.times[k] <= o.duration) || (k > 0 && !(o.times[k] > o.times[k - 1])))
      refuse("the output times must ascend from 0 at the earliest to the end at the latest");
}

/// The torque with one number per joint everywhere.
TorqueInput complete(TorqueInput t, int joints) {
  t.frequency = per_joint("frequency", t.frequency, joints, 0);
  t.phase = per_joint("phase", t.phase, joints, 0);
  t.set_point = per_joint("set_point", t.set_point, joints, 0);
  t.kp = per_joint("kp", t.kp, joints, 0);
  t.kd = per_joint("kd", t.kd, joints, 0);
  if (!t.limit.empty()) t.limit = per_joint("the torque limit", t.limit, joints, 0);
  for (const double limit : t.limit)
    if (limit < 0) refuse("a torque limit is negative");
  MotorInput& motor = t.motor;
  if (motor.stall_torque.empty() != motor.no_load_speed.empty())
    refuse("a motor needs its stall torque and its no-load speed", "give both or none");
  if (!motor.stall_torque.empty()) {
    motor.stall_torque = per_joint("the stall torque", motor.stall_torque, joints, 0);
    motor.no_load_speed = per_joint("the no-load speed", motor.no_load_speed, joints, 0);
    for (const double v : motor.stall_torque)
      if (v < 0) refuse("a stall torque is negative");
    for (const double v : motor.no_load_speed) require_positive("the no-load speed", v);
  }
  if (t.kind == TorqueKind::kExpression) {
    if (t.expression.size() == 1) t.expression.resize(static_cast<std::size_t>(joints), t.expression[0]);
    if (t.expression.size() != static_cast<std::size_t>(joints))
      refuse(std::to_string(t.expression.size()) + " expressions for " + std::to_string(joints) + " joints",
             "give one per joint, or one for all");
  }
  if (t.kind == TorqueKind::kRamp && !(t.end > t.start)) refuse("a ramp must end after it starts");
  if (t.kind != TorqueKind::kSampled) return t;
  require_positive("the interval of a sampled torque", t.interval);
  if (t.points.empty() || t.points.size() % static_cast<std::size_t>(joints) != 0)
    refuse("a sampled torque needs [k,j] numbers, j = " + std::to_string(joints));
  return t;
}

/// The force on the tool, checked.
void check_tool(const ToolForceInput& tool) {
  const bool touches = tool.kind == ToolForceKind::kWall || tool.kind == ToolForceKind::kSpring;
  if (touches && !(tool.stiffness >= 0 && tool.damping >= 0 && tool.play >= 0))
    refuse("a stiffness, damping or play of the tool's force is negative");
  if (tool.kind == ToolForceKind::kWall && !(norm(tool.normal) > 0)) refuse("the normal of the wall is zero");
  if (tool.kind != ToolForceKind::kSampled) return;
  require_positive("the interval of a sampled force", tool.interval);
  if (tool.points.empty() || tool.points.size() % 6 != 0) refuse("a sampled force needs [k,6] numbers");
}

/// Dry friction with one number per joint everywhere; empty where there is none.
FrictionInput complete(FrictionInput f, int joints) {
  if (f.coulomb.empty() && f.breakaway.empty()) return {};
  f.coulomb = per_joint("the Coulomb friction", f.coulomb, joints, 0);
  f.breakaway = f.breakaway.empty() ? f.coulomb : per_joint("the breakaway torque", f.breakaway, joints, 0);
  f.stribeck = per_joint("the Stribeck speed", f.stribeck, joints, 0.1);
  f.smooth = per_joint("the smoothing speed", f.smooth, joints, 1e-3);
  for (std::size_t i = 0; i < f.coulomb.size(); ++i) {
    if (!(f.coulomb[i] >= 0) || !(f.breakaway[i] >= f.coulomb[i]))
      refuse("the friction of joint " + std::to_string(i) + " is negative or above its breakaway torque",
             "give 0 <= coulomb <= breakaway");
    require_positive("the Stribeck speed", f.stribeck[i]);
    require_positive("the smoothing speed", f.smooth[i]);
  }
  return f;
}

/// Times at which the torque or the force on the tool jumps or has a kink.
std::vector<double> list_breaks(const TorqueInput& t, const ToolForceInput& tool, int joints) {
  std::vector<double> breaks;
  if (t.kind == TorqueKind::kStep || t.kind == TorqueKind::kRamp) breaks.push_back(t.start);
  if (t.kind == TorqueKind::kRamp) breaks.push_back(t.end);
  const auto add_rows = [&](std::size_t rows, double interval) {
    for (std::size_t k = 0; k < rows; ++k) breaks.push_back(static_cast<double>(k) * interval);
  };
  if (t.kind == TorqueKind::kSampled) add_rows(t.points.size() / static_cast<std::size_t>(joints), t.interval);
  if (tool.kind == ToolForceKind::kSampled) add_rows(tool.points.size() / 6, tool.interval);
  return breaks;
}

/// Stops in order, and the fixed steps between them, none of which is longer than asked for.
void plan_stops(SimulateJob& job) {
  const SimulateOptions& o = job.options;
  std::vector<double>& at = job.stop_time;
  at = {0, o.duration};
  at.insert(at.end(), o.times.begin(), o.times.end());
  // A step across a jump or kink would lose the method's order.
  for (const double t : list_breaks(job.torque, o.tool, job.robot.joints))
    if (t > 0 && t < o.duration) at.push_back(t);
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  double before = 0;
  for (const double t : at) {
    // 1e-12: rounding of until / step must not make one step more.
    const double steps = o.method == Integrator::kDopri5 ? 1 : std::ceil((t - before) / o.step * (1 - 1e-12));
    job.stop_steps.push_back(steps);
    job.stop_step.push_back(steps > 0 ? (t - before) / steps : 0);
    // Exact: the output times themselves are among the stops.
    const auto found = std::lower_bound(o.times.begin(), o.times.end(), t);
    const bool output = found != o.times.end() && *found == t;
    job.stop_output.push_back(output ? static_cast<double>(found - o.times.begin()) : -1);
    before = t;
  }
}

void size_output(const SimulateJob& job) {
  Trajectories& out = job.out;
  const auto n = static_cast<std::size_t>(job.in.count), j = static_cast<std::size_t>(job.robot.joints);
  const std::size_t nt = n * job.options.times.size();
  out.joints = job.robot.joints;
  out.count = job.in.count;
  out.times = job.options.times;
  out.q.resize(nt * j);
  out.qd.resize(nt * j);
  out.tip.resize(nt * 3);
  for (auto* v : {&out.kinetic, &out.potential, &out.dissipated, &out.work, &out.stop_loss, &out.balance})
    v->resize(nt);
  for (auto* v : {&out.end_q, &out.end_qd, &out.peak_speed, &out.peak_torque}) v->resize(n * j);
  for (auto* v : {&out.end_time, &out.settling_time, &out.end_dissipated, &out.end_work, &out.end_stop_loss,
                  &out.end_balance, &out.worst_balance})
    v->resize(n);
  out.steps.resize(n);
  out.rejected.resize(n);
  out.status.resize(n);
}

/// Numbers that all samples share: per joint, from the samples' own array where that has one row, else from
/// `otherwise`.
std::vector<double> shared_numbers(const char* name, const std::vector<double>& own, const SimulateJob& job,
                                   const std::vector<double>& otherwise) {
  const auto j = static_cast<std::size_t>(job.robot.joints);
  if (own.empty()) return otherwise;
  // Also of a single sample, whose row it then is.
  if (own.size() == j) return own;
  check_rows(name, own, job.in, job.robot.joints);
  return otherwise;
}

void fill_job(SimulateJob& job) {
  const int joints = job.robot.joints;
  std::vector<double> friction;
  for (int i = 0; i < joints; ++i) {
    const auto at = static_cast<std::size_t>(i);
    friction.push_back(job.robot.form[at].damping);
    job.lower.push_back(job.robot.joint[at].lower);
    job.upper.push_back(job.robot.joint[at].upper);
  }
  // There the amplitude is a factor on what the law gives, else it is the torque itself.
  const bool factor = job.torque.kind == TorqueKind::kPd || job.torque.kind == TorqueKind::kComputed ||
                      job.torque.kind == TorqueKind::kSampled || job.torque.kind == TorqueKind::kExpression;
  job.damping = shared_numbers("damping", job.in.damping, job, friction);
  job.amplitude = shared_numbers("amplitude", job.in.amplitude, job,
                                 per_joint("amplitude", job.torque.amplitude, joints, factor ? 1 : 0));
  job.columns = make_columns({job.in.count, {}, {}, {}, {}, {}, job.in.parameters}, job.robot);
  for (const Parameter& p : job.in.parameters)
    job.column_values.insert(job.column_values.end(), p.value.begin(), p.value.end());
  job.code = compile_torques(job.torque, joints);
  plan_stops(job);
}

/// Lanes have code for two, four, six and seven joints; chains of one, three and five are padded.
void simulate_on_host(const SimulateJob& job) {
  const int joints = job.robot.joints;
  if (job.device.executor == Executor::kScalar) return simulate_on_scalar(job);
  if (job.followers.any) return simulate_on_lanes<kAnyJoints>(job);  // the only size that follows leaders
  if (joints <= 2) return simulate_on_lanes<2>(job);
  if (joints <= 4) return simulate_on_lanes<4>(job);
  if (joints <= 6) return simulate_on_lanes<6>(job);
  if (joints == 7) return simulate_on_lanes<7>(job);
  return simulate_on_lanes<kAnyJoints>(job);
}

}  // namespace

SimulateRows::SimulateRows(const SimulateJob& job, std::int64_t most) : job_(job) {
  const int n = job.robot.joints;
  const auto outputs = static_cast<std::int64_t>(job.options.times.size());
  trajectory_.resize(static_cast<std::size_t>(most * outputs * trajectory_fields(n)));
  summary_.resize(static_cast<std::size_t>(most * summary_fields(n)));
}

SimulateArrays SimulateRows::take(std::int64_t first, std::int64_t count) {
  first_ = first;
  count_ = count;
  // What a sample does not reach stays NaN.
  std::fill(trajectory_.begin(), trajectory_.end(), std::nan(""));
  const auto n = static_cast<std::size_t>(job_.in.count), j = static_cast<std::size_t>(job_.robot.joints);
  const auto rows = [&](const std::vector<double>& values) -> const double* {
    // Null where all samples share the row, which the setup holds.
    return values.size() == n * j ? values.data() + first * job_.robot.joints : nullptr;
  };
  SimulateArrays a{};
  a.count = count;
  a.q = rows(job_.in.q);
  a.qd = rows(job_.in.qd);
  a.damping = rows(job_.in.damping);
  a.amplitude = rows(job_.in.amplitude);
  a.values = job_.column_values.empty() ? nullptr : job_.column_values.data() + first;
  a.values_stride = job_.in.count;
  a.columns = job_.columns.data();
  a.column_count = static_cast<int>(job_.columns.size());
  a.stops = {static_cast<int>(job_.stop_time.size()), job_.stop_time.data(), job_.stop_step.data(),
             job_.stop_steps.data(), job_.stop_output.data()};
  a.outputs = static_cast<int>(job_.options.times.size());
  a.trajectory = trajectory_.data();
  a.summary = summary_.data();
  return a;
}

void SimulateRows::give_back() {
  const int n = job_.robot.joints;
  const auto outputs = static_cast<std::int64_t>(job_.options.times.size());
  for (std::int64_t i = 0; i < count_; ++i) {
    give_back_trajectory(first_ + i, trajectory_.data() + i * outputs * trajectory_fields(n));
    give_back_summary(first_ + i, summary_.data() + i * summary_fields(n));
  }
}

void SimulateRows::give_back_trajectory(std::int64_t i, const double* rows) {
  Trajectories& out = job_.out;
  const int n = job_.robot.joints;
  const auto outputs = static_cast<std::int64_t>(job_.options.times.size());
  double* const energies[] = {out.kinetic.data(), out.potential.data(), out.dissipated.data(),
                              out.work.data(),    out.stop_loss.data(), out.balance.data()};
  for (std::int64_t k = 0; k < outputs; ++k) {
    const double* row = rows + k * trajectory_fields(n);
    const std::int64_t at = i * outputs + k;
    std::copy_n(row, n, out.q.data() + at * n);
    std::copy_n(row + n, n, out.qd.data() + at * n);
    std::copy_n(row + 2 * n, 3, out.tip.data() + at * 3);
    for (int f = 0; f < kEnergyFields; ++f) energies[f][at] = row[2 * n + 3 + f];
  }
}

void SimulateRows::give_back_summary(std::int64_t i, const double* row) {
  Trajectories& out = job_.out;
  const int n = job_.robot.joints;
  double* const vectors[] = {out.end_q.data(), out.end_qd.data(), out.peak_speed.data(), out.peak_torque.data()};
  for (int f = 0; f < 4; ++f) std::copy_n(row + f * n, n, vectors[f] + i * n);
  const double* end = row + 4 * n;
  const auto at = static_cast<std::size_t>(i);
  out.end_time[at] = end[kEndTime];
  out.status[at] = static_cast<SimulationStatus>(static_cast<int>(end[kEndStatus]));
  out.steps[at] = static_cast<std::int64_t>(end[kSteps]);
  out.rejected[at] = static_cast<std::int64_t>(end[kRejected]);
  out.settling_time[at] = end[kSettling];
  out.end_dissipated[at] = end[kEndDissipated];
  out.end_work[at] = end[kEndWork];
  out.end_stop_loss[at] = end[kEndStopLoss];
  out.end_balance[at] = end[kEndBalance];
  out.worst_balance[at] = end[kWorst];
}

namespace {

/// Torque and options of a job, checked and with one number per joint everywhere.
struct Asked {
  TorqueInput torque;
  SimulateOptions options;
};
Asked checked(const Robot& robot, std::int64_t count, const TorqueInput& torque, const SimulateOptions& options) {
  if (robot.joints < 1 || robot.joints > kMaxJoints)
    refuse("the chain has " + std::to_string(robot.joints) + " joints",
           "between 1 and " + std::to_string(kMaxJoints) + " joints are supported");
  if (count < 0) refuse("the number of samples is negative");
  check_options(options);
  check_tool(options.tool);
  Asked asked{complete(torque, robot.joints), options};
  asked.options.friction = complete(options.friction, robot.joints);
  const bool feedback = torque.kind == TorqueKind::kPd || torque.kind == TorqueKind::kComputed;
  // Where there is nowhere to settle given, a feedback law settles at its set point.
  if (!options.settle_at.empty())
    asked.options.settle_at = per_joint("settle_at", options.settle_at, robot.joints, 0);
  else if (feedback)
    asked.options.settle_at = asked.torque.set_point;
  return asked;
}

}  // namespace

namespace {

/// All joints are given, followers where their leaders have them.
Trajectories simulate_joints(const Robot& robot, const Followers& followers, const Samples& samples,
                             const TorqueInput& torque, const SimulateOptions& options, const Device& device) {
  const Asked asked = checked(robot, samples.count, torque, options);
  check_rows("q", samples.q, samples, robot.joints);
  if (!samples.qd.empty()) check_rows("qd", samples.qd, samples, robot.joints);
  Trajectories out;
  SimulateJob job{robot, samples, asked.torque, asked.options, device, followers, {}, {}, {}, {}, {}, {}, {}, {}, {},
                  {},    {},      out};
  fill_job(job);
  size_output(job);
  if (samples.count == 0) return out;
  if (device.executor == Executor::kCuda)
    batch::on_device(device, job);
  else
    simulate_on_host(job);
  return out;
}

}  // namespace

namespace {

/// Numbers of a chain's coordinates as those of all its joints, and back (docs/theory/chain-simulation.md, "Coupled
/// joints").
class AllJoints {
 public:
  enum class Follower { kRest, kRate, kPlace };  ///< a given number; P x; P x + c

  explicit AllJoints(const Robot& robot) : free(robot), followers(find_followers(robot)), own_(coordinates(robot)) {
    free.coupled.clear();
    for (int i = 0; i < robot.joints; ++i) {
      Joint& joint = free.joint[static_cast<std::size_t>(i)];
      joint = coordinate_limits(robot, i);
      if (followers.leader[i] != i) joint.lower = -kNoLimit, joint.upper = kNoLimit;  // the leader keeps them
    }
  }

  /// Every row of numbers for coordinates.
  [[nodiscard]] std::vector<double> rows(const std::vector<double>& x, Follower kind, double rest = 0) const {
    std::vector<double> out;
    for (std::size_t first = 0; first + own_.size() <= x.size(); first += own_.size()) {
      Vec<double, kMaxJoints> row;
      for (double& number : row.m) number = rest;
      for (std::size_t k = 0; k < own_.size(); ++k) row[own_[k]] = x[first + k];
      if (kind == Follower::kRate) follow_rates(followers, row);
      if (kind == Follower::kPlace) follow(followers, row);
      out.insert(out.end(), row.m, row.m + free.joints);
    }
    return out;
  }
  /// One number for each coordinate, or one for all.
  [[nodiscard]] std::vector<double> numbers(const char* name, const std::vector<double>& x, double rest = 0,
                                            Follower kind = Follower::kRest) const {
    if (x.empty()) return {};
    return rows(per_joint(name, x, static_cast<int>(own_.size()), 0), kind, rest);
  }
  [[nodiscard]] Samples samples(const Samples& s) const {
    const int n = static_cast<int>(own_.size());
    check_rows("q", s.q, s, n);
    for (const auto& [name, values] : {std::pair{"qd", &s.qd}, {"damping", &s.damping}, {"amplitude", &s.amplitude}})
      if (values->size() != own_.size() && !values->empty()) check_rows(name, *values, s, n);
    return {s.count,
            rows(s.q, Follower::kPlace),
            rows(s.qd, Follower::kRate),
            rows(s.damping, Follower::kRest),
            rows(s.amplitude, Follower::kRest),
            s.parameters};
  }
  [[nodiscard]] TorqueInput torque(TorqueInput t) const {
    for (const auto& [name, values] : {std::pair{"amplitude", &t.amplitude},
                                       {"frequency", &t.frequency},
                                       {"phase", &t.phase},
                                       {"set_point", &t.set_point},
                                       {"kp", &t.kp},
                                       {"kd", &t.kd},
                                       {"the torque limit", &t.limit},
                                       {"the stall torque", &t.motor.stall_torque}})
      *values = numbers(name, *values);
    t.motor.no_load_speed = numbers("the no-load speed", t.motor.no_load_speed, 1);
    if (t.points.size() % own_.size() != 0) refuse("a sampled torque needs [k,j] numbers of the coordinates");
    t.points = rows(t.points, Follower::kRest);
    if (t.expression.size() > 1 && t.expression.size() != own_.size())
      refuse(std::to_string(t.expression.size()) + " expressions for " + std::to_string(own_.size()) + " coordinates");
    std::vector<std::string> all(t.expression.empty() ? 0 : static_cast<std::size_t>(free.joints), "0");
    for (std::size_t k = 0; k < own_.size() && !all.empty(); ++k)
      all[static_cast<std::size_t>(own_[k])] = t.expression[t.expression.size() == 1 ? 0 : k];
    t.expression = all;
    return t;
  }
  [[nodiscard]] SimulateOptions options(SimulateOptions o) const {
    o.settle_at = numbers("settle_at", o.settle_at, 0, Follower::kPlace);
    o.friction.coulomb = numbers("the Coulomb friction", o.friction.coulomb);
    o.friction.breakaway = numbers("the breakaway torque", o.friction.breakaway);
    o.friction.stribeck = numbers("the Stribeck speed", o.friction.stribeck, 1);
    o.friction.smooth = numbers("the smoothing speed", o.friction.smooth, 1);
    return o;
  }
  /// The coordinates' columns of what the simulation gives.
  void reduce(Trajectories& out) const {
    for (auto* values : {&out.q, &out.qd, &out.end_q, &out.end_qd, &out.peak_speed, &out.peak_torque}) {
      std::vector<double> few;
      for (std::size_t first = 0; first < values->size(); first += static_cast<std::size_t>(free.joints))
        for (const int k : own_) few.push_back((*values)[first + static_cast<std::size_t>(k)]);
      *values = std::move(few);
    }
    out.joints = static_cast<int>(own_.size());
  }

  Robot free;  ///< without couplings
  Followers followers;

 private:
  std::vector<int> own_;
};

}  // namespace

Trajectories simulate(const Robot& robot, const Samples& samples, const TorqueInput& torque,
                      const SimulateOptions& options, const Device& device) {
  if (robot.coupled.empty()) return simulate_joints(robot, Followers{}, samples, torque, options, device);
  const AllJoints all(robot);
  Trajectories out =
      simulate_joints(all.free, all.followers, all.samples(samples), all.torque(torque), all.options(options), device);
  all.reduce(out);
  return out;
}

// --- samples that are on the GPU ------------------------------------------------------------------------------------

namespace {

/// Sets `needed` and runs nothing, where it is not null.
void simulate_there(const Robot& robot, const DeviceSamples& samples, const TorqueInput& torque,
                    const SimulateOptions& options, const DeviceTrajectories& to, const DeviceCall& call,
                    std::size_t* needed) {
  using batch::device_column;
  require_uncoupled(robot, "samples on a GPU");
  const Asked asked = checked(robot, samples.count, torque, options);
  if (samples.count == 0) return;
  if (samples.q.data == nullptr) refuse("q is a null pointer");
  const Device device{Executor::kCuda, 0, call.device};
  Samples shared;
  shared.count = samples.count;
  Trajectories nothing;
  SimulateJob job{robot, shared, asked.torque, asked.options, device, {}, {}, {}, {}, {}, {}, {}, {}, {},
                  {},    {},     {},           nothing};
  fill_job(job);
  job.columns = make_columns(samples.parameters, robot);
  const int j = robot.joints, t = static_cast<int>(options.times.size());
  DeviceSimulateJob there{job,
                          device_column(samples.q, j),
                          device_column(samples.qd, j),
                          device_column(samples.damping, j),
                          device_column(samples.amplitude, j),
                          {},
                          {device_column(to.q, t * j), device_column(to.qd, t * j), device_column(to.tip, t * 3)},
                          {device_column(to.end_q, j), device_column(to.end_qd, j), device_column(to.peak_speed, j),
                           device_column(to.peak_torque, j)},
                          call,
                          needed};
  for (const DeviceParameter& p : samples.parameters) there.values.push_back(device_column(p.value, 1));
  // In the order of TrajectoryField and of SummaryField.
  for (const auto& energy : {to.kinetic, to.potential, to.dissipated, to.work, to.stop_loss, to.balance})
    there.trajectory.push_back(device_column(energy, t));
  there.summary.push_back(device_column(to.end_time, 1));
  there.summary.push_back(device_column(to.status, 1));
  for (const auto& count : {to.steps, to.rejected}) there.summary.push_back(device_column(count, 1));
  for (const auto& number :
       {to.settling_time, to.end_dissipated, to.end_work, to.end_stop_loss, to.end_balance, to.worst_balance})
    there.summary.push_back(device_column(number, 1));
  batch::on_device(device, there);
}

}  // namespace

void simulate(const Robot& robot, const DeviceSamples& samples, const TorqueInput& torque,
              const SimulateOptions& options, const DeviceTrajectories& to, const DeviceCall& call) {
  simulate_there(robot, samples, torque, options, to, call, nullptr);
}

std::size_t workspace_bytes(const Robot& robot, const DeviceSamples& samples, const TorqueInput& torque,
                            const SimulateOptions& options, const DeviceTrajectories& to, int device) {
  std::size_t bytes = 0;
  simulate_there(robot, samples, torque, options, to, {.device = device}, &bytes);
  return bytes;
}

namespace {

template <std::size_t N>
int find_index(const std::array<const char*, N>& names, const std::string& name, const char* what) {
  std::string all;
  for (std::size_t i = 0; i < N; ++i) {
    if (name == names[i]) return static_cast<int>(i);
    all += (i > 0 ? ", " : "") + std::string(names[i]);
  }
  refuse(std::string("no ") + what + " \"" + name + "\"", "there are " + all);
}

constexpr std::array<const char*, 5> kStatuses = {"completed", "non_finite", "step_limit", "joint_limit",
                                                  "invalid_input"};

}  // namespace

const char* to_string(Integrator method) { return name_of(method); }
Integrator parse_integrator(const std::string& name) {
  return static_cast<Integrator>(find_index(names_of(Integrator{}), name, "integration method"));
}
const char* to_string(SimulationStatus status) { return kStatuses[static_cast<std::size_t>(status)]; }
const char* to_string(TorqueKind kind) { return name_of(kind); }
TorqueKind parse_torque_kind(const std::string& name) {
  return static_cast<TorqueKind>(find_index(names_of(TorqueKind{}), name, "torque"));
}

}  // namespace garra::chain
