// accuracy::make_study: names of inputs and outputs, nominal deflections, one instance per number of joints.
#include <cmath>
#include <utility>

#include "accuracy/body.hpp"
#include "garra/accuracy.hpp"
#include "garra/systems/chain/kernels_dynamics.hpp"

namespace garra::accuracy {
namespace {

[[noreturn]] void refuse(const std::string& problem, const std::string& remedy) {
  throw Error(ExitCode::kUsage, "accuracy: " + problem, remedy);
}

void require_arm(const Scenario& s) {
  chain::require_uncoupled(s.robot, "accuracy");
  const auto joints = static_cast<std::size_t>(s.robot.joints);
  if (s.robot.joints < 2 || s.robot.joints > kMostJoints)
    refuse("the arm \"" + s.robot.name + "\" has " + std::to_string(s.robot.joints) + " joints",
           "Between 2 and " + std::to_string(kMostJoints) + " are supported.");
  if (s.q.empty() || s.q.size() % joints != 0 || s.q.size() / joints > kMostPoses)
    refuse("q has " + std::to_string(s.q.size()) + " numbers for " + std::to_string(joints) + " joints",
           "Give joint values of 1 to " + std::to_string(kMostPoses) + " poses.");
  for (const chain::JointInputs* in : {&s.frame_position, &s.frame_angle, &s.offset, &s.backlash})
    if (in->value.size() != joints)
      refuse("a tolerance has another number of joints than the arm", "Give one for each.");
  if (s.stiffness.size() != joints) refuse("stiffness has another number of joints than the arm", "Give one for each.");
  for (const double k : s.stiffness)
    if (!(k > 0)) refuse("a stiffness is not positive", "Give infinity for a rigid joint.");
  if (!(s.position_limit > 0) || !(s.angle_limit > 0)) refuse("a limit is not positive", "Give positive limits.");
}

/// Inputs of the joints as ArmErrors takes them.
std::vector<study::SystemInput> name_inputs(const Scenario& s) {
  std::vector<study::SystemInput> out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.robot.joints); ++i) {
    const std::string joint = "joint_" + std::to_string(i) + "_";
    const char* unit = s.robot.joint[i].prismatic ? "m" : "rad";
    for (const char* axis : {"x", "y", "z"}) out.push_back({joint + axis, "m", s.frame_position.value[i]});
    for (const char* axis : {"rx", "ry", "rz"}) out.push_back({joint + axis, "rad", s.frame_angle.value[i]});
    out.push_back({joint + "offset", unit, s.offset.value[i]});
    out.push_back({joint + "backlash", unit, s.backlash.value[i]});
  }
  out.push_back({"payload", "kg", s.payload});
  out.push_back({"temperature", "K", s.temperature});
  return out;
}

/// Axes of the histograms: four times the limits.
std::vector<study::SystemOutput> name_outputs(const Scenario& s) {
  const double p = 4 * s.position_limit, a = std::isfinite(s.angle_limit) ? 4 * s.angle_limit : 0.05;
  const char* const here = "Of the tool point in the first pose.";
  return {
      {"position_error", "m", "Error of position", 0, p, 200,
       "The largest distance of the tool point from where it should be, over all poses.", s.position_limit},
      {"angle_error", "rad", "Error of orientation", 0, a, 200, "The largest angle, over all poses.", s.angle_limit},
      {"error_x", "m", "Error along x", -p, p, 200, here},
      {"error_y", "m", "Error along y", -p, p, 200, here},
      {"error_z", "m", "Error along z", -p, p, 200, here}};
}

template <int J>
CommandedPose<J> commanded_pose(const Scenario& s, const chain::Model<double, J>& model, const double* q) {
  CommandedPose<J> out{};
  Vec<double, J> at;
  for (int i = 0; i < J; ++i) at[i] = out.q[i] = q[i];
  const auto angles = chain::angles(model, at);
  const auto frames = chain::frames(model, angles);
  out.tool = frames.tool;
  const Vec<double, J> held = chain::gravity_torque(model, angles);
  const Mat<double, 6, J> jacobian = chain::jacobian(model, frames);
  for (int i = 0; i < J; ++i) {
    // The drive's torque k (commanded - actual value) holds the weight.
    const double compliance = 1 / s.stiffness[static_cast<std::size_t>(i)];
    double payload = 0;
    for (int r = 0; r < 3; ++r) payload -= jacobian(r, i) * model.gravity[r];
    out.own[i] = s.gravity_compensated ? 0 : -held[i] * compliance;
    out.of_payload[i] = -payload * compliance;
  }
  return out;
}

template <int J>
std::unique_ptr<study::RowStudy> make_arm_study(const Scenario& s) {
  ArmErrors<J, kMostPoses> arm{};
  arm.model = chain::make_model<J>(s.robot);
  for (int i = 0; i < J; ++i) {
    arm.link[i] = Pose<double>::identity();
    for (const chain::Frame& frame : s.robot.link)
      if (frame.joint == i) arm.link[i] = frame.offset;
  }
  arm.poses = static_cast<int>(s.q.size()) / J;
  for (int p = 0; p < arm.poses; ++p) arm.pose[p] = commanded_pose<J>(s, arm.model, s.q.data() + std::ptrdiff_t{p} * J);
  arm.expansion = s.expansion;
  arm.position_limit = s.position_limit;
  arm.angle_limit = s.angle_limit;
  study::SystemWords words{"accuracy",
                           s.title,
                           "within",
                           name_inputs(s),
                           name_outputs(s),
                           s.plan,
                           {},
                           "the tool’s errors of position and orientation stay within their limits in every pose"};
  return std::make_unique<study::SystemStudy<ArmErrors<J, kMostPoses>>>(std::move(words), arm);
}

}  // namespace

std::unique_ptr<study::RowStudy> make_study(const Scenario& scenario) {
  require_arm(scenario);
  constexpr std::unique_ptr<study::RowStudy> (*kMake[])(const Scenario&) = {
      make_arm_study<2>, make_arm_study<3>, make_arm_study<4>, make_arm_study<5>, make_arm_study<6>, make_arm_study<7>};
  return kMake[scenario.robot.joints - 2](scenario);
}

}  // namespace garra::accuracy
