// The serial chain between two links of a URDF (docs/reference/robots.md): fixed joints merged, bodies lumped, branches
// locked.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "base/files/suggest.hpp"
#include "base/files/units.hpp"
#include "base/scenario/field_reader.hpp"
#include "base/scenario/field_values.hpp"
#include "chain/files/pose_reader.hpp"
#include "chain/files/robot_table.hpp"
#include "chain/files/urdf_document.hpp"
#include "garra/io/robot.hpp"
#include "garra/math/rotation.hpp"

namespace garra::io {

namespace {

using chain::Body;
using chain::GeneralJoint;

const UrdfLink& link_at(const UrdfDocument& urdf, int index) { return urdf.links[static_cast<std::size_t>(index)]; }
const UrdfJoint& joint_at(const UrdfDocument& urdf, int index) { return urdf.joints[static_cast<std::size_t>(index)]; }

std::string format_links(const UrdfDocument& urdf, const std::vector<int>& links) {
  constexpr std::size_t kShown = 10;
  std::string out;
  for (std::size_t i = 0; i < std::min(links.size(), kShown); ++i)
    out += (i > 0 ? ", " : "") + quoted(link_at(urdf, links[i]).name);
  return out + (links.size() > kShown ? ", ..." : "");
}

int find_link(const UrdfDocument& urdf, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < urdf.links.size(); ++i) {
    if (urdf.links[i].name == name) return static_cast<int>(i);
    names.push_back(urdf.links[i].name);
  }
  if (names.size() > 10) names.resize(10);
  throw Error(ExitCode::kUsage, urdf.file + ": there is no link " + quoted(name), suggest(name, names, "Links here"));
}

int find_base(const UrdfDocument& urdf, const std::string& name) {
  if (!name.empty()) return find_link(urdf, name);
  // Without a name the only root is the base.
  std::vector<int> roots;
  for (std::size_t i = 0; i < urdf.links.size(); ++i)
    if (urdf.links[i].parent_joint < 0) roots.push_back(static_cast<int>(i));
  if (roots.size() == 1) return roots[0];
  fail_urdf(urdf.file, link_at(urdf, roots.at(1)).line,
            std::to_string(roots.size()) + " links without a parent: " + format_links(urdf, roots),
            "Name the link that the chain starts from: --base LINK.");
}

bool moves(const UrdfJoint& joint) {
  return joint.type == "revolute" || joint.type == "continuous" || joint.type == "prismatic";
}

/// How many joints the chain to a link has.
int joints_to(const UrdfDocument& urdf, int base, int tip) {
  int count = 0;
  for (int at = tip; at != base; at = joint_at(urdf, link_at(urdf, at).parent_joint).parent) {
    const UrdfJoint& joint = joint_at(urdf, link_at(urdf, at).parent_joint);
    count += moves(joint) && !joint.mimic ? 1 : 0;
  }
  return count;
}

int find_tip(const UrdfDocument& urdf, int base, const std::string& name) {
  if (!name.empty()) return find_link(urdf, name);
  std::vector<int> leaves, open = {base};
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    const std::vector<int>& children = link_at(urdf, at).children;
    if (children.empty()) leaves.push_back(at);
    // In the file's order, so that messages name links as a reader finds them.
    for (auto j = children.rbegin(); j != children.rend(); ++j) open.push_back(joint_at(urdf, *j).child);
  }
  // A frame that does not move (ROS-Industrial's "base" beside "tool0") is no end of a chain.
  const auto still = [&](int leaf) { return joints_to(urdf, base, leaf) == 0; };
  if (!std::all_of(leaves.begin(), leaves.end(), still)) std::erase_if(leaves, still);
  if (leaves.size() == 1) return leaves[0];
  const auto longest = std::max_element(
      leaves.begin(), leaves.end(), [&](int a, int b) { return joints_to(urdf, base, a) < joints_to(urdf, base, b); });
  fail_urdf(urdf.file, link_at(urdf, leaves[1]).line,
            "not one chain: it ends in " + std::to_string(leaves.size()) + " links: " + format_links(urdf, leaves),
            "Name the link that the chain ends in: --tip LINK. The longest chain: --tip " +
                link_at(urdf, *longest).name + " (" + std::to_string(joints_to(urdf, base, *longest)) + " joints).");
}

/// Joints from base to tip.
std::vector<int> path_between(const UrdfDocument& urdf, int base, int tip) {
  std::vector<int> path;
  // Upwards: every link has one parent, so there is one way at most.
  for (int at = tip; at != base; at = joint_at(urdf, path.back()).parent) {
    path.push_back(link_at(urdf, at).parent_joint);
    if (path.back() < 0) {
      throw Error(
          ExitCode::kUsage,
          urdf.file + ": " + quoted(link_at(urdf, tip).name) + " is not below " + quoted(link_at(urdf, base).name),
          "The base must be on the way from the tip to its root; chains are not turned around.");
    }
  }
  std::reverse(path.begin(), path.end());
  return path;
}

/// "0.02", "20 mm", "30 deg": where a joint is told to stand.
double lock_value(const UrdfDocument& urdf, const UrdfJoint& joint, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  // A plain number is in SI; anything else must have a unit of the joint's kind.
  const auto [next, error] = std::from_chars(text.data(), end, value);
  const bool plain = error == std::errc{} && next == end && std::isfinite(value);
  const Quantity q =
      plain ? Quantity{value, "", ""} : parse_quantity(text, joint.type == "prismatic" ? kLength : kAngle);
  if (q.problem.empty()) return q.value;
  throw Error(ExitCode::kUsage, urdf.file + ": lock of joint " + quoted(joint.name) + ": " + q.problem, q.remedy);
}

/// Where joints stand that do not move with the chain.
class Locks {
 public:
  Locks(const UrdfDocument& urdf, const std::vector<JointLock>& told) : urdf_(urdf), told_(urdf.joints.size()) {
    for (std::size_t i = 0; i < urdf.joints.size(); ++i) index_.emplace(urdf.joints[i].name, i);
    for (const JointLock& lock : told) {
      const auto found = index_.find(lock.joint);
      if (found == index_.end()) refuse_unknown(lock.joint);
      const UrdfJoint& joint = urdf.joints[found->second];
      if (!moves(joint))
        throw Error(ExitCode::kUsage, urdf.file + ": lock of joint " + quoted(joint.name) + ": it is " + joint.type,
                    "Only joints that turn or slide have a value.");
      told_[found->second] = lock_value(urdf, joint, lock.value);
    }
  }

  [[nodiscard]] bool is_told(int joint) const { return told_[static_cast<std::size_t>(joint)].has_value(); }

  /// How a joint follows the one that leads it.
  struct Following {
    int leader;
    double multiplier, offset;
  };
  /// The joint of the chain that this one follows, however many stand between; nothing: none, or it is told where it
  /// stands.
  [[nodiscard]] std::optional<Following> following(int joint, const std::vector<bool>& on_path) const {
    Following out{joint, 1, 0};
    for (std::size_t steps = 0; steps <= urdf_.joints.size(); ++steps) {  // a ring of mimics ends, too
      const auto i = static_cast<std::size_t>(out.leader);
      const UrdfJoint& one = urdf_.joints[i];
      if (told_[i]) return std::nullopt;
      if (!one.mimic) return on_path[i] && moves(one) ? std::optional(out) : std::nullopt;
      const auto leader = index_.find(one.leader);
      if (leader == index_.end()) return std::nullopt;
      out = {static_cast<int>(leader->second), out.multiplier * one.multiplier,
             out.offset + out.multiplier * one.offset};
    }
    return std::nullopt;
  }
  [[nodiscard]] int moving_leader(int joint, const std::vector<bool>& on_path) const {
    const auto found = following(joint, on_path);
    return found ? found->leader : -1;
  }

  /// As told; a joint that mimics another, where that one stands; else 0.
  [[nodiscard]] double at(int joint) const {
    double scale = 1, sum = 0;
    std::size_t i = static_cast<std::size_t>(joint);
    for (std::size_t steps = 0; steps <= urdf_.joints.size(); ++steps) {  // a ring of mimics ends, too
      const UrdfJoint& one = urdf_.joints[i];
      if (told_[i]) return sum + scale * *told_[i];
      if (!one.mimic) return sum;
      sum += scale * one.offset;
      scale *= one.multiplier;
      const auto leader = index_.find(one.leader);
      if (leader == index_.end()) return sum;
      i = leader->second;
    }
    return 0;
  }

 private:
  [[noreturn]] void refuse_unknown(const std::string& name) const {
    std::vector<std::string> names;
    for (const UrdfJoint& joint : urdf_.joints)
      if (moves(joint)) names.push_back(joint.name);
    const std::string near = nearest_word(name, names);
    if (names.size() > 10) names.resize(10);
    throw Error(ExitCode::kUsage, urdf_.file + ": there is no joint " + quoted(name),
                near.empty() ? suggest(name, names, "Joints here") : "Did you mean " + quoted(near) + "?");
  }

  const UrdfDocument& urdf_;
  std::map<std::string, std::size_t> index_;
  std::vector<std::optional<double>> told_;
};

[[noreturn]] void refuse_joint(const UrdfDocument& urdf, const UrdfJoint& joint, const std::string& problem,
                               const std::string& remedy) {
  fail_urdf(urdf.file, joint.line, "joint " + quoted(joint.name) + ": " + problem, remedy);
}

Vec3<double> unit_axis(const UrdfDocument& urdf, const UrdfJoint& joint) {
  const double length = norm(joint.axis);
  if (length == 0) refuse_joint(urdf, joint, "the axis is zero", "Give its direction, such as <axis xyz=\"0 0 1\"/>.");
  return (1 / length) * joint.axis;
}

/// How far the joint takes its child from its origin at q (Rodrigues' formula).
Pose<double> motion(const UrdfDocument& urdf, const UrdfJoint& joint, double q) {
  Pose<double> out = Pose<double>::identity();
  if (q == 0 || !moves(joint)) return out;
  const Vec3<double> u = unit_axis(urdf, joint);
  if (joint.type == "prismatic") {
    out.p = q * u;
    return out;
  }
  double c, s;
  exact_cos_sin(q, c, s);
  // Rodrigues: cos 1 + sin [u]x + (1 - cos) u u^T.
  const Mat3<double> cross_u = {{0, -u[2], u[1], u[2], 0, -u[0], -u[1], u[0], 0}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out.R(i, j) = (i == j ? c : 0) + s * cross_u(i, j) + (1 - c) * u[i] * u[j];
  return out;
}

/// Throws unless the joint can move as part of a chain.
void check_joint(const UrdfDocument& urdf, const UrdfJoint& joint) {
  const auto refuse = [&](const std::string& problem, const std::string& remedy) {
    refuse_joint(urdf, joint, problem, remedy);
  };
  if (joint.type == "floating" || joint.type == "planar") {
    refuse(joint.type + " joints are not supported", joint.type == "floating"
                                                         ? "Start the chain behind it: --base LINK."
                                                         : "Replace it by two prismatic joints and a revolute one.");
  }
  static_cast<void>(unit_axis(urdf, joint));
  if (joint.type != "continuous" && !joint.has_limit)
    // A revolute joint without limits is a mistake in URDF, where continuous says so.
    refuse("a " + joint.type + " joint without <limit>", "Give its limits; a joint without any is of type continuous.");
}

bool is_zero(const Mat3<double>& I) {
  return std::all_of(std::begin(I.m), std::end(I.m), [](double x) { return x == 0; });
}

/// What a URDF has no element for, as keys that `--set` gives.
struct Surroundings {
  Vec3<double> gravity = {{0, 0, -9.81}};
  Body payload;  ///< in the tip link's frame
};

Surroundings read_surroundings(const std::string& file, const RobotOptions& options) {
  Surroundings around;
  if (options.gravity) around.gravity = *options.gravity;
  if (options.payload) around.payload = *options.payload;
  const Node document = parse_toml("", file, options.overrides);
  FieldReader f(document);
  f.key("gravity", vector(around.gravity, {kAcceleration}), {.doc = "in the base's axes"});
  f.table("payload", {.doc = "what the tip link carries"}, [&] { payload_fields(f, around.payload); });
  f.finish();
  return around;
}

/// Builds the chain link by link along the path.
class ChainBuilder {
 public:
  ChainBuilder(const UrdfDocument& urdf, std::vector<int> path, const Locks& locks, bool takes_coupled)
      : urdf_(urdf),
        path_(std::move(path)),
        locks_(locks),
        takes_coupled_(takes_coupled),
        on_path_(urdf.joints.size()) {
    for (const int index : path_) on_path_[static_cast<std::size_t>(index)] = true;
  }

  [[nodiscard]] chain::Robot build(int base, bool needs_mass, const Surroundings& around) {
    add_link(base);
    for (const int index : path_) {
      const UrdfJoint& joint = joint_at(urdf_, index);
      since_joint_ = since_joint_ * joint.origin;
      const bool follows = joint.mimic && locks_.moving_leader(index, on_path_) >= 0;
      if (follows) check_takes_coupled(index);
      if (moves(joint) && !follows && (joint.mimic || locks_.is_told(index))) {
        since_joint_ = since_joint_ * motion(urdf_, joint, locks_.at(index));
        lock(index, 0);
        if (joint.mimic && !locks_.is_told(index))
          warnings_.push_back("joint " + quoted(joint.name) + ": it follows " + quoted(joint.leader) +
                              ", no joint of this chain: it stands where that one stands");
      } else if (joint.type != "fixed") {
        check_joint(urdf_, joint);
        start_joint(joint);
        started_.push_back(index);
      }
      add_link(joint.child);
    }
    check_size();
    Body& last = joints_.back().link.body;
    if (around.payload.mass > 0) last = chain::merge(last, around.payload, since_joint_);
    for (std::size_t i = 0; i < joints_.size(); ++i) check_body(i);
    look_at_mass(needs_mass);
    chain::Robot robot = finish(around.gravity);
    robot.payload = around.payload;
    return robot;
  }

 private:
  [[nodiscard]] chain::Robot finish(const Vec3<double>& gravity) {
    chain::Robot robot;
    try {
      robot = chain::from_joints({.name = urdf_.name, .source = urdf_.file, .tool = since_joint_, .gravity = gravity},
                                 joints_);
    } catch (const Error& error) {
      throw Error(ExitCode::kInvalidFile, urdf_.file + ": " + error.what());
    }
    if (still_ > 0)
      notes_.push_back("joints that branch off the base: " + std::to_string(still_) +
                       "; what they carry does not move with the chain");
    robot.notes.insert(robot.notes.begin(), notes_.begin(), notes_.end());
    robot.warnings = urdf_.warnings;
    robot.warnings.insert(robot.warnings.end(), warnings_.begin(), warnings_.end());
    robot.locked = std::move(locked_);
    couple(robot);
    return robot;
  }

  void check_size() const {
    for (const int index : path_)
      if (const UrdfJoint& joint = joint_at(urdf_, index); joints_.empty() && joint.mimic && moves(joint))
        throw Error(ExitCode::kInvalidFile,
                    urdf_.file + ": joint " + quoted(joint.name) +
                        " alone moves between base and tip, and it follows " + quoted(joint.leader) +
                        ", which is not there (mimic)",
                    "garra.grasp.from_urdf follows leaders in a tree of fingers. Without <mimic> the joint moves by "
                    "itself.");
    if (joints_.empty())
      throw Error(ExitCode::kInvalidFile, urdf_.file + ": no joint moves between base and tip",
                  "Name other links: --base LINK, --tip LINK.");
    if (joints_.size() > chain::kMaxJoints) {
      throw Error(
          ExitCode::kInvalidFile, urdf_.file + ": a chain of " + std::to_string(joints_.size()) + " joints",
          "At most " + std::to_string(chain::kMaxJoints) +
              " are supported: name links between (--base LINK, --tip LINK), or lock joints (--lock JOINT=VALUE).");
    }
  }

  /// Mass of all links behind a joint.
  [[nodiscard]] double mass_behind(int joint) const {
    double mass = 0;
    std::vector<int> open = {joint_at(urdf_, joint).child};
    while (!open.empty()) {
      const UrdfLink& link = link_at(urdf_, open.back());
      open.pop_back();
      mass += link.body.mass;
      for (const int index : link.children) open.push_back(joint_at(urdf_, index).child);
    }
    return mass;
  }

  /// Joints of the chain that follow others of it, by their numbers there.
  void couple(chain::Robot& robot) const {
    for (std::size_t i = 0; i < started_.size(); ++i) {
      if (!joint_at(urdf_, started_[i]).mimic) continue;
      const Locks::Following to = *locks_.following(started_[i], on_path_);
      const auto leader = std::find(started_.begin(), started_.end(), to.leader);
      robot.coupled.push_back(
          {static_cast<int>(i), static_cast<int>(leader - started_.begin()), to.multiplier, to.offset});
    }
  }

  [[nodiscard]] std::string following(int index) const {
    const int leader = locks_.moving_leader(index, on_path_);
    return "it follows " + quoted(joint_at(urdf_, leader).name) + ", a joint of the chain (mimic)";
  }

  /// Of a joint on the way whose leader is on it, too.
  void check_takes_coupled(int index) const {
    if (takes_coupled_) return;
    const UrdfJoint& joint = joint_at(urdf_, index);
    refuse_joint(urdf_, joint, following(index),
                 "Coupled joints are not supported here: hold one of the two, --lock " + joint.name +
                     "=VALUE, or end the chain before it, --tip LINK; garra chain eval, garra.load and [hand] urdf "
                     "take them.");
  }

  /// A side branch stands still on its link: one whose leader moves with the chain is refused.
  void check_leader(int index) const {
    if (locks_.moving_leader(index, on_path_) < 0) return;
    const UrdfJoint& joint = joint_at(urdf_, index);
    refuse_joint(urdf_, joint, following(index) + ", but is no part of the chain itself",
                 "Side branches stand still: hold it, --lock " + joint.name +
                     "=VALUE; garra.grasp.from_urdf follows leaders in a tree of fingers.");
  }

  void lock(int index, double mass) {
    const UrdfJoint& joint = joint_at(urdf_, index);
    locked_.push_back({joint.name, joint.type == "prismatic", moves(joint) ? locks_.at(index) : 0, mass});
  }

  void start_joint(const UrdfJoint& urdf) {
    // The axis is in the frame of the joint, as GeneralJoint has it.
    GeneralJoint joint{.placement = since_joint_, .axis = urdf.axis};
    joint.link.frame = link_at(urdf_, urdf.child).name;
    joint.link.damping = urdf.damping;
    chain::Joint& info = joint.link.joint;
    info.name = urdf.name;
    info.prismatic = urdf.type == "prismatic";
    if (urdf.type != "continuous") {
      info.lower = urdf.lower;
      info.upper = urdf.upper;
    }
    if (urdf.has_limit) {
      info.velocity_limit = urdf.velocity;
      info.effort_limit = urdf.effort;
    }
    if (urdf.friction > 0) notes_.push_back("joint " + quoted(urdf.name) + ": dry friction is left out");
    joints_.push_back(joint);
    parts_.emplace_back();
    since_joint_ = Pose<double>::identity();
  }

  /// A link of the path and all that hangs on it but the rest of the path, in the frame of the last joint's link.
  void add_link(int link) {
    struct Part {
      int link;
      Pose<double> pose;
    };
    std::vector<Part> open = {{link, since_joint_}};
    while (!open.empty()) {
      const Part part = open.back();
      open.pop_back();
      add_body(link_at(urdf_, part.link), part.pose);
      for (const int index : link_at(urdf_, part.link).children) {
        const UrdfJoint& joint = joint_at(urdf_, index);
        if (on_path_[static_cast<std::size_t>(index)]) continue;
        if (joint.type != "fixed" && joints_.empty()) {
          ++still_;  // off the base: what it carries stands still, wherever it is
          continue;
        }
        if (joint.mimic) check_leader(index);
        const double q = joint.type == "fixed" ? 0 : locks_.at(index);
        if (joint.type != "fixed") lock(index, mass_behind(index));
        open.push_back({joint.child, part.pose * joint.origin * motion(urdf_, joint, q)});
      }
    }
  }

  void add_body(const UrdfLink& link, const Pose<double>& pose) {
    if (joints_.empty() || !link.has_inertial) return;  // the base does not move
    if (link.body.mass < 0) refuse_inertial(link, "the mass is negative");
    Body& body = joints_.back().link.body;
    // Lumped at once: from here on a link is one body.
    body = chain::merge(body, link.body, pose);
    parts_.back().push_back(&link);
  }

  [[noreturn]] void refuse_inertial(const UrdfLink& link, const std::string& problem) const {
    fail_urdf(urdf_.file, link.inertial_line, "link " + quoted(link.name) + ": <inertial>: " + problem,
              "Give the inertia about the center of mass in the axes of the inertial's origin, ixx > 0 and so on.");
  }

  /// What moves as one must be a body, whatever its parts are: tool frames often have made-up inertias. Where it is
  /// none, the part at fault is named.
  void check_body(std::size_t joint) {
    const Body& body = joints_[joint].link.body;
    if (parts_[joint].empty() || (body.mass == 0 && is_zero(body.inertia))) return;
    const bool positive = chain::is_inertia(body.inertia, false);
    const double ratio = positive ? chain::moment_ratio(body.inertia) : 0;
    if (positive && body.mass > 0 && ratio <= chain::kWorstMoment) {
      if (is_zero(body.inertia))
        warnings_.push_back("link " + quoted(parts_[joint].front()->name) +
                            ": a point mass, all its moments of inertia are 0");
      return;
    }
    // Of the parts the first bad one; all may be sound and their sum is not (mass 0).
    const auto bad = std::find_if(parts_[joint].begin(), parts_[joint].end(), [](const UrdfLink* part) {
      const Mat3<double>& I = part->body.inertia;
      return !chain::is_inertia(I, false) || chain::moment_ratio(I) > chain::kWorstMoment;
    });
    const UrdfLink& link = bad == parts_[joint].end() ? *parts_[joint].front() : **bad;
    const std::size_t others = parts_[joint].size() - 1;
    const std::string lumped =
        others > 0 ? ", also together with the " + std::to_string(others) + " other links that move as one with it"
                   : "";
    if (!positive) refuse_inertial(link, "the inertia is not positive definite" + lumped);
    if (body.mass == 0) refuse_inertial(link, "an inertia without mass" + lumped);
    refuse_inertial(link, "a principal moment of inertia is more than " +
                              std::to_string(static_cast<int>(chain::kWorstMoment)) +
                              " times the sum of the other two, as of no body" + lumped);
  }

  /// Without mass in the last link the mass matrix is singular: much that is published is like that (flanges, robots
  /// drawn for their kinematics). One between may have none: a joint of several axes.
  void look_at_mass(bool is_needed) {
    if (joints_.back().link.body.mass > 0) return;
    const UrdfLink& last = link_at(urdf_, find_link(urdf_, joints_.back().link.frame));
    const std::string problem =
        "link " + quoted(last.name) + ": it moves but has no mass, nor has anything fixed to it";
    if (is_needed)
      fail_urdf(urdf_.file, last.line, problem,
                "Write <inertial> with origin, mass and inertia: it is to move under torques.");
    warnings_.push_back(problem + ": kinematics and inverse dynamics only");
  }

  const UrdfDocument& urdf_;
  std::vector<int> path_;
  const Locks& locks_;
  bool takes_coupled_;         ///< RobotOptions
  std::vector<bool> on_path_;  ///< by joint
  std::vector<int> started_;   ///< joints of the chain, by their numbers there
  std::vector<GeneralJoint> joints_;
  std::vector<std::vector<const UrdfLink*>> parts_;  ///< by joint: links with <inertial> that move with it
  std::vector<chain::LockedJoint> locked_;
  std::vector<std::string> notes_, warnings_;
  int still_ = 0;                                        ///< joints off the base
  Pose<double> since_joint_ = Pose<double>::identity();  ///< of the current link in the last joint's link
};

}  // namespace

chain::Robot parse_urdf(const std::string& text, const std::string& name, const RobotOptions& options) {
  const UrdfDocument urdf = parse_urdf_document(text, name);
  const int base = find_base(urdf, options.base), tip = find_tip(urdf, base, options.tip);
  const Locks locks(urdf, options.locks);
  return ChainBuilder(urdf, path_between(urdf, base, tip), locks, options.takes_coupled)
      .build(base, options.needs_mass, read_surroundings(name, options));
}

}  // namespace garra::io
