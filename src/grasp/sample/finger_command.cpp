// Commands of a scenario's fingers, as far as they need no kinematics: which fingers balance the load, and which keys
// contradict.
#include "grasp/sample/finger_command.hpp"

#include <algorithm>

#include "garra/core/error.hpp"

namespace garra::grasp {

namespace {

using Problem = CommandProblem;

std::optional<Problem> problem_of_torques(const Scenario& s, int contact, int j) {
  const Contact& c = s.contacts[static_cast<std::size_t>(contact)];
  const Finger& f = s.fingers[static_cast<std::size_t>(j)];
  const auto beside = [&](bool given, const char* key) -> std::optional<Problem> {
    if (!given) return std::nullopt;
    return Problem{Problem::Table::kContact, contact, key,
                   "stands beside tau, which is the whole command of that finger", "Leave one of them out."};
  };
  if (f.tau.size() != f.joint_count())
    return Problem{Problem::Table::kFinger, j, "tau",
                   std::to_string(f.tau.size()) + " torques for " + std::to_string(f.joint_count()) + " joints",
                   "Give one torque for each joint."};
  for (const chain::Coupling& follower : f.robot ? f.robot->coupled : std::vector<chain::Coupling>())
    if (f.tau[static_cast<std::size_t>(follower.joint)] != 0)
      return Problem{Problem::Table::kFinger, j, "tau",
                     "joint " + std::to_string(follower.joint) + " follows joint " + std::to_string(follower.leader) +
                         ": it has no motor",
                     "Write 0 there: one torque drives both, that of the leader."};
  if (auto p = beside(c.force.has_value(), "force")) return p;
  if (auto p = beside(c.grip_force.has_value(), "grip_force")) return p;
  // grip_force_error has a default: only a different value was given.
  if (auto p = beside(!(c.grip_force_error.is_constant() && c.grip_force_error.a == 0), "grip_force_error")) return p;
  if (!f.gravity_compensation)
    return Problem{Problem::Table::kFinger, j, "gravity_compensation",
                   "stands beside tau, which is the whole command of that finger", "Leave one of them out."};
  // If all fingers have given torques or forces, nothing is balanced, and no finger needs to know the others.
  if (!any_balances(s)) return std::nullopt;
  return Problem{Problem::Table::kFinger, j, "tau",
                 "other fingers balance the load, but what this one presses with is not known to them",
                 "Give tau for every finger, or force = [n, t, o] for the contacts of the others."};
}

std::optional<Problem> problem_of_limits(const Scenario& s, int j) {
  const Finger& f = s.fingers[static_cast<std::size_t>(j)];
  if (f.torque_limit.empty()) return std::nullopt;
  if (f.torque_limit.size() != f.joint_count())
    return Problem{Problem::Table::kFinger, j, "torque_limit",
                   std::to_string(f.torque_limit.size()) + " limits for " + std::to_string(f.joint_count()) + " joints",
                   "Give one limit for each joint."};
  if (!s.time || s.time->torque_limit.empty()) return std::nullopt;
  return Problem{Problem::Table::kDrive, -1, "torque_limit",
                 "stands beside the torque_limit of finger " + std::to_string(j),
                 "Keep one of them: those of the fingers hold in time, too."};
}

std::optional<Problem> problem_of_arm(const Scenario& s) {
  if (!s.arm) return std::nullopt;
  const std::string remedy = "Leave it out, or the arm: a palm without arm_root stands still.";
  if (s.time)
    return Problem{Problem::Table::kHand, -1, "arm_root", "stands beside [simulation], in which a palm stands still",
                   "Leave one of them out."};
  for (std::size_t j = 0; j < s.fingers.size(); ++j) {
    const int index = static_cast<int>(j);
    if (!s.fingers[j].tau.empty())
      return Problem{Problem::Table::kFinger, index, "tau", "what the arm is told beside it is not known", remedy};
    if (!s.fingers[j].gravity_compensation)
      return Problem{Problem::Table::kFinger, index, "gravity_compensation",
                     "the arm holds what it carries, of all fingers or of none", remedy};
  }
  return std::nullopt;
}

/// A ball rolls on a moving object, so its contact moves along the finger.
std::optional<Problem> problem_of_tips(const Scenario& s) {
  const bool moves = norm(s.velocity) > 0 || norm(s.angular_velocity) > 0;
  for (std::size_t j = 0; (s.time || moves) && j < s.fingers.size(); ++j)
    if (s.fingers[j].tip_radius > 0)
      return Problem{
          Problem::Table::kFinger, static_cast<int>(j), "tip_radius",
          s.time ? "[simulation] takes fingertips that are points" : "the object moves: a ball would roll on it",
          "Give the point that touches instead: tool = [x, y, z] in the tip link's frame."};
  return std::nullopt;
}

/// Joints that follow others are supported at an instant only, not in time steps.
std::optional<Problem> problem_of_followers(const Scenario& s) {
  for (std::size_t j = 0; s.time && j < s.fingers.size(); ++j)
    if (s.fingers[j].robot && !s.fingers[j].robot->coupled.empty())
      return Problem{Problem::Table::kHand, -1, "",
                     "finger " + std::to_string(j) +
                         " has a joint that follows another one (mimic), which [simulation] does not take",
                     "Leave out [simulation], or hold the joint in the robot file: write it as fixed."};
  return std::nullopt;
}

/// Gains that move the object act through contact forces.
std::optional<Problem> problem_in_time(const Scenario& s) {
  const bool torques = std::any_of(s.fingers.begin(), s.fingers.end(), [](const Finger& f) { return !f.tau.empty(); });
  if (!s.time || !torques) return std::nullopt;
  const std::string remedy = "Leave it out, or tau; joint_stiffness and joint_damping act beside tau.";
  if (s.time->drive == Drive::kSampled)
    return Problem{Problem::Table::kDrive, -1, "kind", "sampled torques replace the tau of every finger",
                   "Leave tau out, or write kind = \"constant\"."};
  // Joint gains are allowed: they act beside tau.
  const Controller& c = s.time->controller;
  const std::pair<const char*, double> gains[] = {{"stiffness", c.stiffness},
                                                  {"damping", c.damping},
                                                  {"turn_stiffness", c.turn_stiffness},
                                                  {"turn_damping", c.turn_damping}};
  for (const auto& [key, gain] : gains)
    if (gain != 0)
      return Problem{Problem::Table::kDrive, -1, key, "acts through contact forces, but a finger is given tau", remedy};
  return std::nullopt;
}

}  // namespace

bool is_group(const Scenario& s) {
  if (!s.others.empty()) return true;
  for (std::size_t j = 0; j < s.contacts.size(); ++j) {
    const Contact& c = s.contacts[j];
    const bool plain = contact_finger(s, j) == static_cast<int>(j) && c.partner.link < 0 && c.law == ContactLaw::kHard;
    if (!plain || c.slides) return true;
  }
  return false;
}

bool any_slides(const Scenario& s) { return std::ranges::any_of(s.contacts, &Contact::slides); }

bool balances(const Scenario& s, std::size_t j) {
  const int finger = contact_finger(s, j);
  return finger >= 0 && s.fingers[static_cast<std::size_t>(finger)].tau.empty() && !s.contacts[j].force;
}

bool any_balances(const Scenario& s) {
  for (std::size_t j = 0; j < s.contacts.size(); ++j)
    if (balances(s, j)) return true;
  return false;
}

std::optional<CommandProblem> command_problem(const Scenario& s) {
  if (auto problem = group_problem(s)) return problem;
  for (std::size_t j = 0; j < s.contacts.size(); ++j) {
    const int contact = static_cast<int>(j), finger = contact_finger(s, j);
    if (finger >= static_cast<int>(s.fingers.size())) continue;  // has been said
    const bool told = s.contacts[j].force || s.contacts[j].grip_force;
    if (finger < 0 && told)
      return Problem{Problem::Table::kContact, contact, s.contacts[j].force ? "force" : "grip_force",
                     "no finger is at this contact", "Leave it out: only fingers take commands."};
    if (finger < 0) continue;
    if (s.contacts[j].force && s.contacts[j].grip_force)
      return Problem{Problem::Table::kContact, contact, "grip_force", "stands beside force",
                     "Keep one of them: force = [n, t, o] is the whole command, its n the grip force."};
    if (auto problem = problem_of_limits(s, finger)) return problem;
    if (s.fingers[static_cast<std::size_t>(finger)].tau.empty()) continue;
    if (auto problem = problem_of_torques(s, contact, finger)) return problem;
  }
  if (auto problem = problem_of_arm(s)) return problem;
  if (auto problem = problem_of_tips(s)) return problem;
  if (auto problem = problem_of_followers(s)) return problem;
  return problem_in_time(s);
}

void require_sound_command(const Scenario& s) {
  const auto problem = command_problem(s);
  if (!problem) return;
  static constexpr const char* table[5] = {"contact ", "finger ", "simulation.drive", "hand", "object "};
  const std::string number = problem->index < 0 ? "" : std::to_string(problem->index);
  throw Error(ExitCode::kInvalidFile,
              table[static_cast<int>(problem->table)] + number + ": " + problem->key + ": " + problem->problem,
              problem->remedy);
}

std::vector<std::vector<double>> torque_limits(const Scenario& s) {
  if (s.time && !s.time->torque_limit.empty()) return s.time->torque_limit;
  std::vector<std::vector<double>> out;
  for (const Finger& f : s.fingers) out.push_back(f.torque_limit);
  // Empty if no finger has a limit, not a list of empty lists.
  const bool none = std::all_of(out.begin(), out.end(), [](const auto& list) { return list.empty(); });
  return none ? std::vector<std::vector<double>>{} : out;
}

double nominal_friction(const Scenario& s, std::size_t j) {
  const Contact& c = s.contacts[j];
  return c.common_friction ? c.friction.nominal() * s.common_friction.nominal() : c.friction.nominal();
}

double largest_push(const Scenario& s) {
  double most = 0;
  for (std::size_t j = 0; j < s.contacts.size(); ++j) {
    const Contact& c = s.contacts[j];
    const int finger = contact_finger(s, j);
    // With given torques the force is unknown here; the weight is its order of magnitude.
    const double weight = s.object.mass.nominal() * norm(s.gravity);
    const bool torques = finger >= 0 && finger < static_cast<int>(s.fingers.size()) &&
                         !s.fingers[static_cast<std::size_t>(finger)].tau.empty();
    if (finger < 0) continue;
    most = std::max(most, torques ? weight : c.force ? (*c.force)[0] : c.grip_force.value_or(s.grip_force).nominal());
  }
  return most;
}

}  // namespace garra::grasp
