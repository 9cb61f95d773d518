#include "io/command_reader.hpp"

#include <algorithm>
#include <cmath>

#include "io/distribution_reader.hpp"
#include "io/robot_table.hpp"

namespace garra::io {

namespace {

using grasp::CommandProblem;
using grasp::Finger;
using study::Distribution;

std::vector<double> read_torques(const Node& node, const std::string& key, const Finger& finger) {
  return read_joint_values(node, key, finger, {kJointTorque, Bounds::any()});
}

/// A list, or "file": the effort limits of the finger's robot file.
std::vector<double> read_torque_limit(const Node& node, const std::string& key, const Finger& finger) {
  if (node.kind != Node::Kind::kString) return read_joint_values(node, key, finger, {kJointTorque, Bounds::positive()});
  static_cast<void>(read_choice(node, key, {"file"}));
  const std::string remedy = "Write torque_limit = [...], a torque (sliding joints: a force) for each joint.";
  if (!finger.robot) fail(node.place, key, "this finger comes from no file that could have effort limits", remedy);
  std::vector<double> out;
  for (const chain::Joint& joint : finger.robot->joint)
    out.push_back(joint.effort_limit > 0 ? joint.effort_limit : INFINITY);
  if (std::none_of(out.begin(), out.end(), [](double x) { return std::isfinite(x); }))
    fail(node.place, key, finger.file.name + " gives none of the finger's joints an effort limit", remedy);
  return out;
}

/// Calls read(finger, node, key) for each finger, with its own item where `own` says that the value has one for each.
template <class Own, class Read>
void for_each_finger(const Node& node, const std::string& key, std::vector<Finger>& fingers, const Own& own,
                     const Read& read) {
  const bool each = node.kind == Node::Kind::kArray && !node.items.empty() && own(node.items[0]);
  if (each) static_cast<void>(read_array(node, key, fingers.size()));
  for (std::size_t j = 0; j < fingers.size(); ++j)
    read(fingers[j], each ? node.items[j] : node, each ? item(key, j) : key);
}

struct Written {
  Place place;
  std::string key;
};

/// Where `key` stands: in the item of a list of tables, or in the table that speaks for all of them.
Written written(const Node* list, const Node* all, const std::string& list_name, const CommandProblem& p) {
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
  const Node* time = document.find("time");
  const Node* drive = time->find("drive");
  const Node* value = drive == nullptr ? nullptr : drive->find(p.key);
  return {(value != nullptr ? value : drive != nullptr ? drive : time)->place, "time.drive." + p.key};
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

void read_finger_command(TableReader& table, Finger& finger) {
  if (const Node* tau = table.find("tau")) finger.tau = read_torques(*tau, table.name("tau"), finger);
  if (const Node* on = table.find("gravity_compensation"))
    finger.gravity_compensation = read_boolean(*on, table.name("gravity_compensation"));
  if (const Node* limit = table.find("torque_limit"))
    finger.torque_limit = read_torque_limit(*limit, table.name("torque_limit"), finger);
}

void read_hand_command(TableReader& hand, std::vector<Finger>& fingers) {
  const auto is_list = [](const Node& n) { return n.kind == Node::Kind::kArray; };
  if (const Node* tau = hand.find("tau"))
    for_each_finger(*tau, hand.name("tau"), fingers, is_list,
                    [](Finger& f, const Node& n, const std::string& key) { f.tau = read_torques(n, key, f); });
  if (const Node* limit = hand.find("torque_limit"))
    for_each_finger(
        *limit, hand.name("torque_limit"), fingers, is_list,
        [](Finger& f, const Node& n, const std::string& key) { f.torque_limit = read_torque_limit(n, key, f); });
  const auto any = [](const Node&) { return true; };
  if (const Node* on = hand.find("gravity_compensation"))
    for_each_finger(
        *on, hand.name("gravity_compensation"), fingers, any,
        [](Finger& f, const Node& n, const std::string& key) { f.gravity_compensation = read_boolean(n, key); });
}

void read_friction(const Node& node, const std::string& key, Distribution* common, grasp::Contact& contact) {
  const Wanted wanted{kRatio, Bounds::not_negative()};
  const auto has = [&](const char* name) { return node.kind == Node::Kind::kTable && node.find(name) != nullptr; };
  if (!has("common") && !has("each")) {
    contact.friction = read_distribution(node, key, wanted);
    contact.common_friction = false;
    return;
  }
  TableReader table(node, key);
  const Node* shared = table.find("common");
  if (shared != nullptr && common == nullptr)
    fail(shared->place, table.name("common"), "is one draw for all contacts",
         "Write it in [contacts], and here each = ....");
  if (shared == nullptr && !contact.common_friction)
    fail(node.place, table.name("each"), "is a factor on the friction common to all contacts, and there is none",
         "Write friction = { common = ... } in [contacts], or a friction of its own here.");
  if (shared != nullptr) *common = read_distribution(*shared, table.name("common"), wanted);
  contact.common_friction = true;
  contact.friction = Distribution::constant(1);
  if (const Node* each = table.find("each")) contact.friction = read_distribution(*each, table.name("each"), wanted);
  table.finish();
}

void check_command(const Node& document, const grasp::Scenario& scenario) {
  const auto problem = grasp::command_problem(scenario);
  if (!problem) return;
  const Written at = written(document, *problem);
  fail(at.place, at.key, problem->problem, problem->remedy);
}

}  // namespace garra::io
