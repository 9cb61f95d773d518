// Reads the fingers of a tree of links, each a chain from the palm to its tip.
#include "grasp/files/tree_hand_fields.hpp"

#include <algorithm>
#include <map>

#include "base/files/number.hpp"
#include "base/files/suggest.hpp"
#include "base/files/text_file.hpp"
#include "base/scenario/field_values.hpp"
#include "chain/files/pose_reader.hpp"
#include "chain/files/robot_table.hpp"
#include "grasp/files/command_fields.hpp"

namespace garra::io {

namespace {

using grasp::Finger;

/// Contents of the table.
struct TreeHand {
  std::string urdf, palm, arm_root;
  std::vector<std::string> tips;
  Pose<double> base = Pose<double>::identity();
  Node q{};  ///< joint = value, in the units of the joints, which only the URDF knows
};

/// Index of the robot's joint of this name; its joint count if there is none.
std::size_t find_joint(const chain::Robot& robot, const std::string& name) {
  const auto& joints = robot.joint;
  const auto found = std::find_if(joints.begin(), joints.end(), [&](const auto& joint) { return joint.name == name; });
  return static_cast<std::size_t>(found - joints.begin());
}

Finger finger_to(const TreeHand& hand, const std::string& path, const std::string& tip) {
  Finger finger;
  finger.ik = grasp::Ik::kNumeric;
  finger.base = hand.base;
  finger.file = {hand.urdf, path, hand.palm, tip};
  finger.robot =
      read_robot(path, {.base = hand.palm, .tip = tip, .overrides = {}, .needs_mass = true, .takes_coupled = true});
  return finger;
}

/// The chain between two links of the hand's URDF. Joints off the chain are locked at their values in `q`, except those
/// of `without`; the values of its own joints go to `at`.
chain::Robot chain_between(const RobotOptions& links, const std::string& path, const Node& q,
                           const chain::Robot& without, double* at) {
  RobotOptions options = links;
  chain::Robot robot = read_robot(path, options);
  const std::vector<JointLock> all = q.members.empty() ? std::vector<JointLock>() : read_locks(q, "hand.q");
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::size_t i = find_joint(robot, all[k].joint);
    for (const chain::Coupling& c : robot.coupled)
      if (static_cast<std::size_t>(c.joint) == i)
        throw Error(ExitCode::kUsage,
                    "joint " + quoted(all[k].joint) + " follows " +
                        quoted(robot.joint[static_cast<std::size_t>(c.leader)].name) + " (mimic)",
                    "Give the joint that it follows; it stands as that one has it.");
    if (i < robot.joint.size())
      quantity(at[i], {kJointPosition.of(robot.joint[i])}).read(q.members[k].value, "hand.q." + all[k].joint);
    else if (find_joint(without, all[k].joint) == without.joint.size())
      options.locks.push_back(all[k]);
  }
  return options.locks.empty() ? robot : read_robot(path, options);
}

/// Sets the finger's start configuration, and locks joints that are not its own: other fingers are part of its palm.
void stand(const TreeHand& hand, const std::string& path, const chain::Robot& arm, Finger& finger) {
  const RobotOptions links = {
      .base = hand.palm, .tip = finger.file.tip, .overrides = {}, .needs_mass = true, .takes_coupled = true};
  chain::Robot robot = chain_between(links, path, hand.q, arm, finger.start);
  constexpr double kWorthSaying = 0.01;  // [rad or m] beyond a limit
  for (std::size_t i = 0; i < robot.joint.size(); ++i)
    if (const double q = finger.start[i]; std::max(robot.joint[i].lower - q, q - robot.joint[i].upper) > kWorthSaying)
      robot.warnings.push_back("hand.q: joint " + quoted(robot.joint[i].name) + " starts at " + shortest(q) +
                               ", its limits are " + shortest(robot.joint[i].lower) + " and " +
                               shortest(robot.joint[i].upper) + " (rad or m)");
  finger.robot = std::move(robot);
}

/// The arm that carries the palm, including the fingers.
grasp::Arm read_arm(const TreeHand& hand, const std::string& path, const std::vector<Finger>& fingers) {
  const auto between = [&](const std::string& tip, double* at) {
    return chain_between(
        {.base = hand.arm_root, .tip = tip, .overrides = {}, .needs_mass = true, .takes_coupled = true}, path, hand.q,
        {}, at);
  };
  grasp::Arm arm;
  arm.root_link = hand.arm_root;
  double at[chain::kMaxJoints] = {};
  arm.carrier = between(hand.palm, at);
  arm.q.assign(at, at + arm.carrier.joints);
  for (const Finger& finger : fingers) arm.fingers.push_back(between(finger.file.tip, at));
  return arm;
}

/// Checks that no joint carries several fingers: such fingers push one another, which needs another model.
void check_apart(Fields& f, const std::vector<Finger>& fingers) {
  std::map<std::string, std::size_t> owner;
  for (std::size_t j = 0; j < fingers.size(); ++j) {
    for (const chain::Joint& joint : fingers[j].robot->joint) {
      const auto [at, fresh] = owner.emplace(joint.name, j);
      if (fresh) continue;
      return f.check(
          false, item("tips", j),
          "joint " + quoted(joint.name) + " carries this finger and that of " + quoted(fingers[at->second].file.tip),
          "Fingers have joints of their own: take the link behind that joint as root_link. The joint stands still "
          "then, or gives way where arm_root names the link that the arm begins with.");
    }
  }
}

/// Calls make(); its errors on links that the scenario names are reported at `key`.
template <class Make>
void of_links(Fields& f, const std::string& key, const std::string& remedy, const Make& make) {
  try {
    make();
  } catch (const Error& error) {
    // A missing file is a mistake in this scenario; an error inside the URDF has its own place.
    if (error.code() == ExitCode::kInputOutput) return f.check(false, "urdf", error.what(), "");
    if (error.code() != ExitCode::kUsage && remedy.empty()) throw;
    const std::string what = error.what();
    // The remedy in an error names flags of commands.
    f.check(false, key, remedy.empty() ? what : what.substr(0, what.find('\n')), remedy);
  }
}

void make_hand(Fields& f, const std::string& scenario, const TreeHand& hand, grasp::Scenario& s) {
  const std::string path = file_beside(scenario, hand.urdf);
  std::vector<Finger> fingers;
  for (std::size_t j = 0; j < hand.tips.size() && f.sound(); ++j)
    of_links(f, item("tips", j), "", [&] { fingers.push_back(finger_to(hand, path, hand.tips[j])); });
  chain::Robot arm;
  const bool carried = !hand.arm_root.empty();
  if (carried && f.sound())
    of_links(f, "arm_root", "Name a link with joints that move between it and root_link.",
             [&] { arm = read_robot(path, {.base = hand.arm_root, .tip = hand.palm, .overrides = {}}); });
  for (std::size_t j = 0; j < fingers.size() && f.sound(); ++j)
    of_links(f, "q", "", [&] { stand(hand, path, arm, fingers[j]); });
  if (f.sound()) check_apart(f, fingers);
  if (!f.sound()) return;
  const std::string nearer = "Take a link nearer to root_link.";
  if (carried) of_links(f, "arm_root", nearer, [&] { s.arm = read_arm(hand, path, fingers); });
  f.check(!s.arm || s.arm->q.size() <= grasp::kMaxArmJoints, "arm_root",
          "more than " + std::to_string(grasp::kMaxArmJoints) + " joints between it and the palm", nearer);
  s.fingers = std::move(fingers);
}

AnyValue tip_names(std::vector<std::string>& tips) {
  const auto read = [&tips](const Node& node, const std::string& key) {
    const std::size_t count = read_array(node, key, 0).size();
    if (count == 0 || count > grasp::kMaxContacts)
      fail(node.place, key,
           "expected 1 to " + std::to_string(grasp::kMaxContacts) + " tips, found " + std::to_string(count),
           "Name the link at the end of each finger, in the order of the [[contact]] tables.");
    for (std::size_t j = 0; j < count; ++j) tips.push_back(read_string(node.items[j], item(key, j)));
  };
  const auto write = [&tips] {
    return list_value({tips.size(), [&](std::size_t j) { return string(tips[j]); }, ""}).text();
  };
  return custom({read, write, "names of links", R"({"type": "array", "minItems": 1, "items": {"type": "string"}})"});
}

/// Positions of every joint, with whether it slides: joints of arm and fingers, and locked ones.
std::map<std::string, std::pair<double, bool>> stances(const grasp::Scenario& s) {
  std::map<std::string, std::pair<double, bool>> all;
  for (std::size_t i = 0; i < s.arm->q.size(); ++i)
    all[s.arm->carrier.joint[i].name] = {s.arm->q[i], s.arm->carrier.joint[i].prismatic};
  for (const Finger& finger : s.fingers)
    for (const int i : chain::coordinates(*finger.robot)) {  // the others follow
      const auto at = static_cast<std::size_t>(i);
      all[finger.robot->joint[at].name] = {finger.start[at], finger.prismatic(at)};
    }
  for (const chain::LockedJoint& joint : s.arm->carrier.locked)
    all.emplace(joint.name, std::pair(joint.q, joint.prismatic));
  return all;
}

/// The table of a hand on an arm, reconstructed for writing.
TreeHand said(const grasp::Scenario& s) {
  TreeHand hand;
  hand.urdf = s.fingers[0].file.name;
  hand.palm = s.fingers[0].file.root_link;
  hand.base = s.fingers[0].base;
  hand.arm_root = s.arm->root_link;
  for (const Finger& finger : s.fingers) hand.tips.push_back(finger.file.tip);
  return hand;
}

AnyValue stands_at(Node& q, const grasp::Scenario& s) {
  const auto write = [&s] {
    auto all = s.arm ? stances(s) : std::map<std::string, std::pair<double, bool>>();
    std::vector<std::string> names;
    for (const auto& [name, stance] : all) names.push_back(name);
    const auto one = [&](const std::string& name) {
      return quantity(all[name].first, {kJointPosition.of(all[name].second)});
    };
    return map_value({names, one, ""}).text();
  };
  return custom({[&q](const Node& node, const std::string& key) {
                   static_cast<void>(read_locks(node, key));
                   q = node;
                 },
                 write, "`{ joint = value, ... }`",
                 R"({"type": "object", "additionalProperties": {"type": ["number", "string"]}})"});
}

}  // namespace

void tree_hand_fields(Fields& f, const std::string& scenario, grasp::Scenario& s) {
  TreeHand hand = f.writing() && s.arm ? said(s) : TreeHand();
  f.key("urdf", string(hand.urdf),
        {.doc = "a URDF beside the scenario (`models/` first) that has the whole hand: in place of `model`, with a "
                "finger for each of `tips`",
         .otherwise = "`model`"});
  f.key("tips", tip_names(hand.tips),
        {.doc = "the links at the ends of the fingers, one for each [[contact]], in their order",
         .required = "Name the link at the end of each finger: tips = [\"thumb_tip\", \"index_tip\"]."});
  f.key("root_link", string(hand.palm, true),
        {.doc = "the palm: the link that the fingers start from", .otherwise = "the URDF's root"});
  f.key("base", pose(hand.base), {.doc = "where that link is in the palm's frame", .otherwise = "there"});
  f.key("arm_root", string(hand.arm_root, true),
        {.doc = "the link where an arm begins that carries the palm (`root_link`) and gives way: motors hold it where "
                "`q` has it, but no brake does ([grasp-model.md](../theory/grasp-model.md), section 3)",
         .otherwise = "the palm stands still"});
  f.key("q", stands_at(hand.q, s),
        {.doc = "where the hand stands: the search for the contacts starts there", .otherwise = "all joints at 0"});
  f.check(!f.reading() || hand.arm_root.empty() || !hand.palm.empty(), "root_link", "missing beside arm_root",
          "Name the palm: the link that all fingers start from.");
  f.then([&] { make_hand(f, scenario, hand, s); });
  if (!s.fingers.empty()) {
    tip_fields(f, s.fingers);
    return command_fields(f, s.fingers);
  }
  // Their error has been reported.
  if (f.reading()) return f.give_up();
  // For a description any finger does.
  std::vector<Finger> some(1);
  tip_fields(f, some);
  command_fields(f, some);
}

}  // namespace garra::io
