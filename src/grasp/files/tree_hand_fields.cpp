// Fingers of a tree of links, each a chain from the palm to its tip.
#include "grasp/files/tree_hand_fields.hpp"

#include <algorithm>
#include <map>

#include "base/files/suggest.hpp"
#include "base/files/text_file.hpp"
#include "base/scenario/field_values.hpp"
#include "chain/files/pose_reader.hpp"
#include "chain/files/robot_table.hpp"
#include "grasp/files/command_fields.hpp"

namespace garra::io {

namespace {

using grasp::Finger;

/// What the table says.
struct TreeHand {
  std::string urdf, palm;
  std::vector<std::string> tips;
  Pose<double> base = Pose<double>::identity();
  Node q{};  ///< joint = value, in the units of the joints, which only the URDF knows
};

/// The number of the finger's joint of this name; its joint count: it has none.
std::size_t joint_of(const Finger& finger, const std::string& name) {
  const auto& joints = finger.robot->joint;
  const auto found = std::find_if(joints.begin(), joints.end(), [&](const auto& joint) { return joint.name == name; });
  return static_cast<std::size_t>(found - joints.begin());
}

Finger finger_to(const TreeHand& hand, const std::string& path, const std::string& tip) {
  Finger finger;
  finger.ik = grasp::Ik::kNumeric;
  finger.base = hand.base;
  finger.file = {hand.urdf, path, hand.palm, tip};
  finger.robot = read_robot(path, {.base = hand.palm, .tip = tip, .overrides = {}, .needs_mass = true});
  return finger;
}

/// Where the finger stands, and the joints that are not its own: those of the other fingers hang on its palm.
void stand(const Node& q, Finger& finger) {
  std::vector<JointLock> others;
  const std::vector<JointLock> all = q.members.empty() ? std::vector<JointLock>() : read_locks(q, "hand.q");
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::size_t i = joint_of(finger, all[k].joint);
    if (i == finger.joint_count())
      others.push_back(all[k]);
    else
      quantity(finger.start[i], {kJointPosition.of(finger.prismatic(i))})
          .read(q.members[k].value, "hand.q." + all[k].joint);
  }
  if (!others.empty())
    finger.robot = read_robot(
        finger.file.path,
        {.base = finger.file.root_link, .tip = finger.file.tip, .overrides = {}, .locks = others, .needs_mass = true});
}

/// Fingers push one another where a joint carries more than one of them, which is another model.
void check_apart(Fields& f, const std::vector<Finger>& fingers) {
  std::map<std::string, std::size_t> owner;
  for (std::size_t j = 0; j < fingers.size(); ++j) {
    for (const chain::Joint& joint : fingers[j].robot->joint) {
      const auto [at, fresh] = owner.emplace(joint.name, j);
      if (fresh) continue;
      return f.check(
          false, item("tips", j),
          "joint " + quoted(joint.name) + " carries this finger and that of " + quoted(fingers[at->second].file.tip),
          "Fingers of a scenario move by themselves: take the link behind that joint as root_link, so that "
          "the joint stands still, or bring hand and arm from Python (garra.grasp.from_urdf, from_mujoco).");
    }
  }
}

void make_fingers(Fields& f, const std::string& scenario, const TreeHand& hand, std::vector<Finger>& fingers) {
  const std::string path = file_beside(scenario, hand.urdf);
  for (std::size_t j = 0; j < hand.tips.size(); ++j) {
    try {
      fingers.push_back(finger_to(hand, path, hand.tips[j]));
      stand(hand.q, fingers.back());
    } catch (const Error& error) {
      fingers.clear();
      // A missing file and a wrong link are mistakes in this scenario; what is wrong inside the URDF has its own place.
      if (error.code() == ExitCode::kInputOutput) return f.check(false, "urdf", error.what(), "");
      if (error.code() == ExitCode::kUsage) return f.check(false, item("tips", j), error.what(), "");
      throw;
    }
  }
  check_apart(f, fingers);
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
  return custom({read, [] { return std::string(); }, "names of links",
                 R"({"type": "array", "minItems": 1, "items": {"type": "string"}})"});
}

AnyValue stands_at(Node& q) {
  return custom({[&q](const Node& node, const std::string& key) {
                   static_cast<void>(read_locks(node, key));
                   q = node;
                 },
                 [] { return std::string(); }, "`{ joint = value, ... }`",
                 R"({"type": "object", "additionalProperties": {"type": ["number", "string"]}})"});
}

}  // namespace

void tree_hand_fields(Fields& f, const std::string& scenario, grasp::Scenario& s) {
  TreeHand hand;
  f.key("urdf", string(hand.urdf),
        {.doc = "a URDF beside the scenario (`models/` first) that has the whole hand: in place of `model`, with a "
                "finger for each of `tips`",
         .otherwise = "`model`"});
  f.key("tips", tip_names(hand.tips),
        {.doc = "the links at the ends of the fingers, one for each [[contact]], in their order",
         .required = "Name the link at the end of each finger: tips = [\"thumb_tip\", \"index_tip\"]."});
  f.key(
      "root_link", string(hand.palm, true),
      {.doc = "the palm: the link that the fingers start from, and that stands still", .otherwise = "the URDF's root"});
  f.key("base", pose(hand.base), {.doc = "where that link is in the palm's frame", .otherwise = "there"});
  f.key("q", stands_at(hand.q),
        {.doc = "where the hand stands: the search for the contacts starts there", .otherwise = "all joints at 0"});
  f.then([&] { make_fingers(f, scenario, hand, s.fingers); });
  if (!s.fingers.empty()) return command_fields(f, s.fingers);
  // Something was wrong with them, and has been said.
  if (f.reading()) return f.give_up();
  // Where keys are only described any finger does.
  std::vector<Finger> some(1);
  command_fields(f, some);
}

}  // namespace garra::io
