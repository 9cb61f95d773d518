// Keys of a finger's command, and the place in the file of a contradiction between them.
#include "grasp/files/command_fields.hpp"

#include <algorithm>
#include <cmath>

#include "base/scenario/distribution_reader.hpp"
#include "chain/files/robot_table.hpp"

namespace garra::io {

namespace {

using grasp::CommandProblem;
using grasp::Finger;

/// Reads the effort limits of the finger's robot file.
void read_effort_limits(const Node& node, const std::string& key, Finger& finger) {
  static_cast<void>(read_choice(node, key, {"file"}));
  const std::string remedy = "Write torque_limit = [...], a torque (sliding joints: a force) for each joint.";
  if (!finger.robot) fail(node.place, key, "this finger comes from no file that could have effort limits", remedy);
  finger.torque_limit.clear();
  for (const chain::Joint& joint : finger.robot->joint)
    // An effort of 0, or none, in the robot file sets no limit.
    finger.torque_limit.push_back(joint.effort_limit > 0 ? joint.effort_limit : INFINITY);
  const auto finite = [](double x) { return std::isfinite(x); };
  if (std::none_of(finger.torque_limit.begin(), finger.torque_limit.end(), finite))
    fail(node.place, key, finger.file.name + " gives none of the finger's joints an effort limit", remedy);
}

AnyValue torque_limit(Finger& finger) {
  const auto read = [&finger](const Node& node, const std::string& key) { read_effort_limits(node, key, finger); };
  return either(Node::Kind::kString, custom({read, [] { return std::string(); }, "`\"file\"`", R"({"const": "file"})"}),
                joint_values(finger.torque_limit, finger, {kJointTorque, Bounds::positive()}));
}

/// A key for all fingers: one value, or a list with one per finger. `lists`: one value is a list itself.
AnyValue of_fingers(std::size_t count, const std::function<AnyValue(std::size_t)>& one, bool lists) {
  const auto read = [=](const Node& node, const std::string& key) {
    const bool array = node.kind == Node::Kind::kArray && !node.items.empty();
    // If a finger's value is a list itself, a list of lists has one per finger.
    const bool each = array && (!lists || node.items[0].kind == Node::Kind::kArray);
    if (each) static_cast<void>(read_array(node, key, count));
    for (std::size_t j = 0; j < count; ++j) one(j).read(each ? node.items[j] : node, each ? item(key, j) : key);
  };
  const auto write = [=] {
    std::string all;
    bool equal = true;
    for (std::size_t j = 0; j < count; ++j) {
      all += (j == 0 ? "[" : ", ") + one(j).text();
      // One value if all fingers have the same, as people write it.
      equal = equal && one(j).text() == one(0).text();
    }
    return equal && count > 0 ? one(0).text() : all + (count == 0 ? "" : "]");
  };
  const std::string takes = count == 0 ? "" : one(0).takes();
  return custom({read, write, takes + ", or a list with one for each finger"});
}

struct Written {
  Place place;
  std::string key;
};

/// Place of `key`: in the item of a list of tables, or in the table for all items.
Written written(const Node* list, const Node* all, const std::string& list_name, const CommandProblem& p) {
  // A problem of the whole table has no index; the first item stands for it.
  const auto index = static_cast<std::size_t>(std::max(p.index, 0));
  const std::string all_name = list_name == "contact" ? "contacts" : "hand";
  const Node* one = list != nullptr && index < list->items.size() ? &list->items[index] : nullptr;
  if (one != nullptr && one->find(p.key) != nullptr)
    return {one->find(p.key)->place, item(list_name, index) + "." + p.key};
  const Node* node = all == nullptr ? nullptr : all->find(p.key);
  if (node != nullptr) return {node->place, all_name + "." + p.key};
  return {one != nullptr ? one->place : all->place, item(list_name, index) + "." + p.key};
}

Written written(const Node& document, const CommandProblem& p) {
  const Node* hand = document.find("hand");
  if (p.table == CommandProblem::Table::kContact)
    return written(document.find("contact"), document.find("contacts"), "contact", p);
  if (p.table == CommandProblem::Table::kFinger) return written(hand->find("finger"), hand, "hand.finger", p);
  if (p.table == CommandProblem::Table::kHand) {
    const Node* value = hand->find(p.key);  // no key: the hand itself
    return value == nullptr ? Written{hand->place, "hand"} : Written{value->place, "hand." + p.key};
  }
  if (p.table == CommandProblem::Table::kObject) return written(document.find("object"), nullptr, "object", p);
  const Node* time = document.find("simulation");
  const Node* drive = time->find("drive");
  const Node* value = drive == nullptr ? nullptr : drive->find(p.key);
  return {(value != nullptr ? value : drive != nullptr ? drive : time)->place, "simulation.drive." + p.key};
}

}  // namespace

std::vector<double> read_joint_values(const Node& node, const std::string& key, const Finger& finger,
                                      const JointWanted& wanted) {
  std::vector<double> out;
  if (finger.joint_count() == 0) return out;  // something was wrong with it, and has been said
  const std::vector<Node>& items = read_array(node, key, finger.joint_count());
  for (std::size_t i = 0; i < items.size(); ++i)
    out.push_back(read_bounded(items[i], item(key, i), {wanted.dimension.of(finger.prismatic(i)), wanted.bounds}));
  return out;
}

AnyValue joint_values(std::vector<double>& values, const Finger& finger, const JointWanted& wanted) {
  const auto read = [&values, &finger, wanted](const Node& node, const std::string& key) {
    values = read_joint_values(node, key, finger, wanted);
  };
  const auto write = [&values] {
    std::vector<double> finite = values;
    for (double& x : finite) x = std::min(x, 1e300);  // TOML's numbers are finite here: none
    return values.empty() ? std::string() : list(finite, static_cast<int>(finite.size()), kRatio);
  };
  const std::string above = wanted.bounds.above_low ? ", above 0" : "";
  return custom({read, write, wanted.what + std::string(" per joint") + above, R"({"type": "array"})"});
}

namespace {

/// A hand without finger tables has one value for all; a finger's own table has one for that finger.
AnyValue of_each(std::span<Finger> fingers, const std::function<AnyValue(Finger&)>& one, bool lists) {
  if (fingers.size() == 1) return one(fingers[0]);
  return of_fingers(
      fingers.size(), [fingers, one](std::size_t j) { return one(fingers[j]); }, lists);
}

}  // namespace

void tip_fields(Fields& f, std::span<Finger> fingers) {
  const auto any = [&](const std::function<bool(const Finger&)>& has) {
    return std::any_of(fingers.begin(), fingers.end(), has);
  };
  if (f.has("tool", any([](const Finger& x) { return norm(x.tool.p) > 0; })))
    f.key("tool",
          of_each(
              fingers, [](Finger& x) { return vector(x.tool.p, {kLength}); }, true),
          {.doc = "the point of the tip link that touches, in its frame", .otherwise = "its origin"});
  if (f.has("tip_radius", any([](const Finger& x) { return x.tip_radius > 0; })))
    f.key("tip_radius",
          of_each(
              fingers,
              [](Finger& x) {
                return quantity(x.tip_radius, {kLength, Bounds::not_negative()});
              },
              false),
          {.doc = "of a ball about that point: the contact is on its surface, the point one radius behind it; for an "
                  "object at rest, not in `[simulation]`",
           .otherwise = "`0`"});
}

void command_fields(Fields& f, std::span<Finger> fingers) {
  const auto of = [&](const std::function<AnyValue(Finger&)>& one, bool lists) { return of_each(fingers, one, lists); };
  f.key("tau",
        of(
            [](Finger& x) {
              return joint_values(x.tau, x, {kJointTorque, Bounds::any()});
            },
            true),
        {.doc = "the finger's whole command, instead of the grasp controller's",
         .comment = "N*m or N: the whole command"});
  // The default is not printed.
  if (f.has("gravity_compensation", !fingers[0].gravity_compensation))
    f.key("gravity_compensation", of([](Finger& x) { return boolean(x.gravity_compensation); }, false),
          {.doc = "false: this finger's `compensation` is 0"});
  if (f.has("rates", !fingers[0].rates.empty()))
    f.key("rates",
          of(
              [](Finger& x) {
                return joint_values(x.rates, x, {{kAngularVelocity, kVelocity}, Bounds::any(), "a rate"});
              },
              true),
          {.doc = "of the joints at the instant, if its contacts slide",
           .comment = "rad/s or m/s",
           .otherwise = "the fingertip follows the surface along its normal only"});
  f.key("torque_limit", of(torque_limit, true),
        {.doc = "commanded torques are cut off there, and a wrench resisted only if no joint needs more for it and "
                "the finger's own weight ([grasp-model.md](../theory/grasp-model.md), sections 5 and 7); `\"file\"`: "
                "the effort limits of the finger's robot file (0 there: none), which are not used unless asked for; in "
                "`[simulation]` the same as `simulation.drive.torque_limit`",
         .comment = "N*m or N, of each joint"});
}

void check_command(const Node& document, const grasp::Scenario& scenario) {
  const auto problem = grasp::command_problem(scenario);
  if (!problem) return;
  const Written at = written(document, *problem);
  fail(at.place, at.key, problem->problem, problem->remedy);
}

}  // namespace garra::io
