#include "io/finger_reader.hpp"

#include "io/distribution_reader.hpp"
#include "io/pose_reader.hpp"

namespace garra::io {

namespace {

using chain::Chain;
using chain::Link;
using grasp::Finger;

/// "ldn": arm r or l, elbow u or d, wrist n or f.
void read_branch(const Node& node, const std::string& key, Finger& finger) {
  const std::string branch = read_string(node, key);
  const auto letter_in = [&](std::size_t i, const char* two) {
    return branch.size() == 3 && (branch[i] == two[0] || branch[i] == two[1]);
  };
  if (!letter_in(0, "rl") || !letter_in(1, "ud") || !letter_in(2, "nf")) {
    fail(node.place, key, "not a branch of the PUMA's inverse kinematics: " + describe(node),
         "Write three letters: arm r or l, elbow u or d, wrist n or f, such as \"ldn\".");
  }
  finger.arm = branch[0] == 'r' ? 1 : -1;
  finger.elbow = branch[1] == 'u' ? 1 : -1;
  finger.wrist = branch[2] == 'n' ? 1 : -1;
}

void read_dh_rows(const Node& node, const std::string& key, Chain& chain) {
  const std::vector<Node>& rows = read_array(node, key, 0);
  if (rows.empty() || rows.size() > chain::kMaxJoints) {
    fail(node.place, key,
         "expected 1 to " + std::to_string(chain::kMaxJoints) + " rows, found " +
             std::to_string(rows.size()),
         "Write one row [a, d, alpha, theta_offset] for each joint.");
  }
  chain.joints = static_cast<int>(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string row_key = item(key, i);
    const std::vector<Node>& row = read_array(rows[i], row_key, 4);
    chain.link[i].a = read_quantity(row[0], item(row_key, 0), kLength);
    chain.link[i].d = read_quantity(row[1], item(row_key, 1), kLength);
    chain.link[i].alpha = read_quantity(row[2], item(row_key, 2), kAngle);
    chain.link[i].offset = read_quantity(row[3], item(row_key, 3), kAngle);
  }
}

/// Calls read(link, node, key) for each joint's item of an array, where the key is given.
template <class Read>
void for_each_link(TableReader& table, const std::string& name, Chain& chain, Read read) {
  const Node* node = table.find(name);
  if (node == nullptr) return;
  const std::string key = table.name(name);
  const std::vector<Node>& items = read_array(*node, key, static_cast<std::size_t>(chain.joints));
  for (std::size_t i = 0; i < items.size(); ++i) read(chain.link[i], items[i], item(key, i));
}

void read_bodies(TableReader& table, Chain& chain) {
  for_each_link(table, "prismatic", chain, [](Link& l, const Node& n, const std::string& key) {
    l.prismatic = read_boolean(n, key);
  });
  for_each_link(table, "mass", chain, [](Link& l, const Node& n, const std::string& key) {
    l.mass = read_bounded(n, key, {kMass, Bounds::not_negative()});
  });
  for_each_link(table, "com", chain, [](Link& l, const Node& n, const std::string& key) {
    l.com = read_vector(n, key, kLength);
  });
  for_each_link(table, "inertia", chain, [](Link& l, const Node& n, const std::string& key) {
    l.inertia = read_inertia(n, key);
  });
  for_each_link(table, "armature", chain, [](Link& l, const Node& n, const std::string& key) {
    l.armature = read_bounded(n, key, {l.prismatic ? kMass : kInertia, Bounds::not_negative()});
  });
}

/// A last joint that moves nothing makes the mass matrix singular.
void check_last_link(const TableReader& table, const Chain& chain) {
  const Link& last = chain.link[chain.joints - 1];
  const double inertia = last.inertia(0, 0) + last.inertia(1, 1) + last.inertia(2, 2);
  if (last.armature > 0 || last.mass > 0 || (inertia > 0 && !last.prismatic)) return;
  fail(table.place(), table.path(), "the last joint moves no mass",
       "Give mass and com, inertia, or armature for each joint.");
}

Chain read_dh_chain(TableReader& table, const Node& rows) {
  Chain chain;
  read_dh_rows(rows, table.name("dh"), chain);
  if (const Node* node = table.find("modified"))
    chain.modified = read_boolean(*node, table.name("modified"));
  read_bodies(table, chain);
  check_last_link(table, chain);
  if (const Node* node = table.find("tool")) {
    if (node->kind == Node::Kind::kTable) {
      chain.tool = read_pose(*node, table.name("tool"));
    } else {
      chain.tool.p[2] = read_quantity(*node, table.name("tool"), kLength);
    }
  }
  chain.finish();
  return chain;
}

void read_ik(TableReader& table, bool is_puma, Finger& finger) {
  finger.ik = is_puma ? grasp::Ik::kPuma : grasp::Ik::kNumeric;
  if (const Node* node = table.find("ik")) {
    const std::string ik = read_choice(*node, table.name("ik"), {"puma", "numeric"});
    if (ik == "puma" && !is_puma) {
      fail(node->place, table.name("ik"), "the closed form fits model = \"puma560\" only",
           "Write ik = \"numeric\" and start = [...].");
    }
    finger.ik = ik == "puma" ? grasp::Ik::kPuma : grasp::Ik::kNumeric;
  }
  if (finger.ik != grasp::Ik::kNumeric) return;
  const Node& node = table.require(
      "start", "Give joint values near the grasp, one per joint: start = [\"30 deg\", ...].");
  const std::string key = table.name("start");
  const std::vector<Node>& items =
      read_array(node, key, static_cast<std::size_t>(finger.chain.joints));
  for (std::size_t i = 0; i < items.size(); ++i) {
    finger.start[i] =
        read_quantity(items[i], item(key, i), finger.chain.link[i].prismatic ? kLength : kAngle);
  }
}

}  // namespace

Finger read_puma(TableReader& table) {
  double tool = 0.1;
  bool armature = true;
  if (const Node* node = table.find("tool"))
    tool = read_quantity(*node, table.name("tool"), kLength);
  if (const Node* node = table.find("armature"))
    armature = read_boolean(*node, table.name("armature"));
  Finger finger{.chain = chain::puma560(tool, armature), .elbow = -1};
  if (const Node* node = table.find("branch")) read_branch(*node, table.name("branch"), finger);
  return finger;
}

Finger read_finger(const Node& node, const std::string& key) {
  TableReader table(node, key);
  const Node* dh = table.find("dh");
  const Node* model = table.find("model");
  if ((dh == nullptr) == (model == nullptr)) {
    fail(table.place(), key, dh == nullptr ? "neither model nor dh" : "both model and dh",
         "Write model = \"puma560\", or dh = [[a, d, alpha, theta_offset], ...].");
  }
  Finger finger;
  if (model != nullptr) {
    static_cast<void>(read_choice(*model, table.name("model"), {"puma560"}));
    finger = read_puma(table);
  } else {
    finger.chain = read_dh_chain(table, *dh);
  }
  if (const Node* base = table.find("base")) finger.base = read_pose(*base, table.name("base"));
  read_ik(table, model != nullptr, finger);
  table.finish();
  return finger;
}

}  // namespace garra::io
