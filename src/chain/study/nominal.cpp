// Trajectories of the designs with nominal inputs: for plots and animations (nominal.h5).
#include <algorithm>
#include <cmath>

#include "chain/simulate/formula.hpp"
#include "chain/simulate/simulate_setup.hpp"
#include "chain/study/chain_study.hpp"

namespace garra::chain {

namespace {

// Files and plots stay readable; sweeps may have more designs than that.
constexpr int kMaxNominalDesigns = 64;

/// All designs, or so many evenly spaced ones and the best.
std::vector<int> chosen_designs(int designs, int best) {
  std::vector<int> list;
  const int n = std::min(designs, kMaxNominalDesigns);
  for (int k = 0; k < n; ++k) list.push_back(n > 1 ? static_cast<int>(std::int64_t{k} * (designs - 1) / (n - 1)) : 0);
  if (best >= 0 && std::find(list.begin(), list.end(), best) == list.end()) {
    list.push_back(best);
    std::sort(list.begin(), list.end());
  }
  return list;
}

/// The torque input at one state.
class TorqueAt {
 public:
  explicit TorqueAt(const Group& g)
      : code_(compile_torques(g.torque, g.robot.joints)),
        law_(make_torque_law<kMaxJoints>(g.torque, g.robot.joints, code_)),
        model_(make_source<SharedModel<kMaxJoints, Joints::kMixed>>(g.robot).model) {}

  void operator()(double t, const double* q, const double* qd, const Vec<double, kMaxJoints>& amplitude,
                  double* tau) const {
    auto at = Vec<double, kMaxJoints>::zero(), speed = at;
    std::copy_n(q, law_.joints, at.m);
    std::copy_n(qd, law_.joints, speed.m);
    // Torque at this very time: a jump has happened.
    const auto drive = chain::drive(law_, model_, Clock<double>{t, t}, at, speed, amplitude);
    std::copy_n(drive.tau.m, law_.joints, tau);
  }

 private:
  std::vector<double> code_;
  TorqueLaw<kMaxJoints> law_;
  Model<double, kMaxJoints> model_;
};

/// Of row `row`, whose motion is there already.
void add_torques(const Group& g, const Drawn& x, std::size_t row, NominalTrajectories& out) {
  const TorqueAt torque(g);
  const std::size_t times = out.motion.times.size(), joints = static_cast<std::size_t>(g.robot.joints);
  auto amplitude = Vec<double, kMaxJoints>::zero();
  for (int j = 0; j < g.robot.joints; ++j)
    // As make_samples() gives it to the simulation.
    amplitude[j] = x[kSlotAmplitude] * g.torque.amplitude[static_cast<std::size_t>(j)];
  for (std::size_t k = 0; k < times; ++k) {
    const std::size_t at = (row * times + k) * joints;
    torque(out.motion.times[k], out.motion.q.data() + at, out.motion.qd.data() + at, amplitude, out.torque.data() + at);
  }
}

/// Base, origins of the link frames and tool tip at the states q [t,j].
void add_points(const Robot& robot, const std::vector<double>& q, double* points) {
  const auto joints = static_cast<std::size_t>(robot.joints);
  const std::int64_t count = static_cast<std::int64_t>(q.size() / joints);
  const Results r = evaluate(robot, {count, q}, {Output::kLinkPoses, Output::kPose});
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const auto origin = [&](const double* pose) {
      for (int c = 0; c < 3; ++c) *points++ = pose[4 * c + 3];
    };
    const bool known = r.status[i] == Status::kConverged;
    // Where a state is not finite nothing of its row is known.
    for (int c = 0; c < 3; ++c) *points++ = known ? robot.base.p[c] : NAN;
    for (std::size_t j = 0; j < joints; ++j) origin(r.link_poses.data() + (i * joints + j) * 16);
    origin(r.pose.data() + i * 16);
  }
}

/// The only sample of `one` becomes row `to`.
void copy_row(const Trajectories& one, std::size_t to, Trajectories& all) {
  const std::size_t t = all.times.size(), j = static_cast<std::size_t>(all.joints),
                    n = static_cast<std::size_t>(all.count);
  const auto copy = [&](auto member, std::size_t size) {
    auto& target = all.*member;
    target.resize(n * size);
    std::copy_n((one.*member).begin(), size, target.begin() + static_cast<std::ptrdiff_t>(to * size));
  };
  for (auto member : {&Trajectories::q, &Trajectories::qd}) copy(member, t * j);
  copy(&Trajectories::tip, t * 3);
  for (auto member : {&Trajectories::kinetic, &Trajectories::potential, &Trajectories::dissipated, &Trajectories::work,
                      &Trajectories::stop_loss, &Trajectories::balance})
    copy(member, t);
  copy(&Trajectories::settling_time, 1);
  copy(&Trajectories::status, 1);
}

}  // namespace

NominalTrajectories Study::nominal(int best) const {
  NominalTrajectories out;
  out.design = chosen_designs(designs(), best);
  const auto n = out.design.size(), joints = static_cast<std::size_t>(scenario_.robot.joints);
  double duration = scenario_.designs.front().options.duration;
  // The shortest, so that all designs have the same times.
  for (const Design& design : scenario_.designs) duration = std::min(duration, design.options.duration);
  out.motion.joints = scenario_.robot.joints;
  out.motion.count = static_cast<std::int64_t>(n);
  out.motion.times = output_times(scenario_.designs.front(), duration);
  const std::size_t times = out.motion.times.size();
  out.torque.resize(n * times * joints);
  out.points.resize(n * times * (joints + 2) * 3);
  for (std::size_t row = 0; row < n; ++row) {
    const int d = out.design[row];
    const Design& design = scenario_.designs[static_cast<std::size_t>(d)];
    const Group& group = sample_group(d);
    const Drawn x = nominal_inputs(design, scenario_.robot.joints);
    const Trajectories one = simulate_group(group, {x}, out.motion.times, {});
    copy_row(one, row, out.motion);
    add_torques(group, x, row, out);
    const std::vector<double> q(one.q.begin(), one.q.begin() + static_cast<std::ptrdiff_t>(times * joints));
    add_points(group.robot, q, out.points.data() + row * times * (joints + 2) * 3);
  }
  return out;
}

}  // namespace garra::chain
