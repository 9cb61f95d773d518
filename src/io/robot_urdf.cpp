// The serial chain between two links of a URDF (docs/robots.md): fixed joints merged, bodies lumped, branches left out.
#include <algorithm>

#include "garra/io/robot.hpp"
#include "io/suggest.hpp"
#include "io/urdf_document.hpp"

namespace garra::io {

namespace {

using chain::Body;
using chain::GeneralJoint;

const UrdfLink& link_at(const UrdfDocument& urdf, int index) { return urdf.links[static_cast<std::size_t>(index)]; }
const UrdfJoint& joint_at(const UrdfDocument& urdf, int index) { return urdf.joints[static_cast<std::size_t>(index)]; }

std::string list_of(const UrdfDocument& urdf, const std::vector<int>& links) {
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
  std::vector<int> roots;
  for (std::size_t i = 0; i < urdf.links.size(); ++i)
    if (urdf.links[i].parent_joint < 0) roots.push_back(static_cast<int>(i));
  if (roots.size() == 1) return roots[0];
  fail_urdf(urdf.file, link_at(urdf, roots.at(1)).line,
            std::to_string(roots.size()) + " links without a parent: " + list_of(urdf, roots),
            "Name the link that the chain starts from: --base LINK.");
}

int find_tip(const UrdfDocument& urdf, int base, const std::string& name) {
  if (!name.empty()) return find_link(urdf, name);
  std::vector<int> leaves, open = {base};
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    const std::vector<int>& children = link_at(urdf, at).children;
    if (children.empty()) leaves.push_back(at);
    for (auto j = children.rbegin(); j != children.rend(); ++j) open.push_back(joint_at(urdf, *j).child);
  }
  if (leaves.size() == 1) return leaves[0];
  fail_urdf(urdf.file, link_at(urdf, leaves[1]).line,
            "not one chain: it ends in " + std::to_string(leaves.size()) + " links: " + list_of(urdf, leaves),
            "Name the link that the chain ends in: --tip LINK.");
}

/// Joints from base to tip.
std::vector<int> path_between(const UrdfDocument& urdf, int base, int tip) {
  std::vector<int> path;
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

/// Throws unless the joint can be part of a chain.
void check_joint(const UrdfDocument& urdf, const UrdfJoint& joint) {
  const auto refuse = [&](const std::string& problem, const std::string& remedy) {
    fail_urdf(urdf.file, joint.line, "joint " + quoted(joint.name) + ": " + problem, remedy);
  };
  if (joint.type == "floating" || joint.type == "planar") {
    refuse(joint.type + " joints are not supported", joint.type == "floating"
                                                         ? "Start the chain behind it: --base LINK."
                                                         : "Replace it by two prismatic joints and a revolute one.");
  }
  if (joint.type == "fixed") return;
  if (joint.mimic) refuse("mimic joints are not supported", "End the chain before it: --tip LINK.");
  if (norm(joint.axis) == 0) refuse("the axis is zero", "Give its direction, such as <axis xyz=\"0 0 1\"/>.");
  if (joint.type != "continuous" && !joint.has_limit)
    refuse("a " + joint.type + " joint without <limit>", "Give its limits; a joint without any is of type continuous.");
}

/// Throws unless a link's own inertial data are those of a body, or all zero.
void check_inertial(const UrdfDocument& urdf, const UrdfLink& link) {
  const auto refuse = [&](const std::string& problem) {
    fail_urdf(urdf.file, link.inertial_line, "link " + quoted(link.name) + ": <inertial>: " + problem,
              "Give the inertia about the center of mass in the axes of the inertial's origin, ixx > 0 and so on.");
  };
  const Mat3<double>& I = link.body.inertia;
  const bool no_inertia = std::all_of(std::begin(I.m), std::end(I.m), [](double x) { return x == 0; });
  if (link.body.mass < 0) refuse("the mass is negative");
  if (link.body.mass == 0 && no_inertia) return;
  if (link.body.mass == 0) refuse("an inertia without mass");
  const double minor = I(0, 0) * I(1, 1) - I(0, 1) * I(0, 1);
  const double det = dot(column(I, 0), cross(column(I, 1), column(I, 2)));
  if (!(I(0, 0) > 0 && minor > 0 && det > 0)) refuse("the inertia is not positive definite");
}

/// Builds the chain link by link along the path.
class ChainBuilder {
 public:
  ChainBuilder(const UrdfDocument& urdf, std::vector<int> path)
      : urdf_(urdf), path_(std::move(path)), on_path_(urdf.joints.size()) {
    for (const int index : path_) on_path_[static_cast<std::size_t>(index)] = true;
  }

  [[nodiscard]] chain::Robot build(int base) {
    add_link(base);
    for (const int index : path_) {
      const UrdfJoint& joint = joint_at(urdf_, index);
      check_joint(urdf_, joint);
      since_joint_ = since_joint_ * joint.origin;
      if (joint.type != "fixed") start_joint(joint);
      add_link(joint.child);
    }
    check_masses();
    if (joints_.empty())
      throw Error(ExitCode::kInvalidFile, urdf_.file + ": no joint moves between base and tip",
                  "Name other links: --base LINK, --tip LINK.");
    if (joints_.size() > chain::kMaxJoints) {
      throw Error(ExitCode::kInvalidFile, urdf_.file + ": a chain of " + std::to_string(joints_.size()) + " joints",
                  "At most " + std::to_string(chain::kMaxJoints) +
                      " are supported: name links between: --base LINK, --tip LINK.");
    }
    chain::Robot robot = chain::from_joints({.name = urdf_.name, .source = urdf_.file, .tool = since_joint_}, joints_);
    robot.notes.insert(robot.notes.begin(), notes_.begin(), notes_.end());
    return robot;
  }

 private:
  void start_joint(const UrdfJoint& urdf) {
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
    since_joint_ = Pose<double>::identity();
  }

  /// A link of the path and all that is fixed to it, in the frame of the last joint's link.
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
        if (joint.type == "fixed") {
          open.push_back({joint.child, part.pose * joint.origin});
        } else {
          notes_.push_back("joint " + quoted(joint.name) + ": a branch off the chain, left out with all behind it");
        }
      }
    }
  }

  void add_body(const UrdfLink& link, const Pose<double>& pose) {
    if (joints_.empty() || !link.has_inertial) return;  // the base does not move
    check_inertial(urdf_, link);
    if (link.body.mass == 0) return;
    Body& body = joints_.back().link.body;
    body = chain::merge(body, link.body, pose);
  }

  /// A link that moves must have mass, its own or of something fixed to it.
  void check_masses() const {
    for (const GeneralJoint& joint : joints_) {
      if (joint.link.body.mass > 0) continue;
      const UrdfLink& link = urdf_.links[static_cast<std::size_t>(find_link(urdf_, joint.link.frame))];
      fail_urdf(urdf_.file, link.line,
                "link " + quoted(link.name) + ": it moves but has no inertia, nor has anything fixed to it",
                "Write <inertial> with origin, mass and inertia.");
    }
  }

  const UrdfDocument& urdf_;
  std::vector<int> path_;
  std::vector<bool> on_path_;  ///< by joint
  std::vector<GeneralJoint> joints_;
  std::vector<std::string> notes_;
  Pose<double> since_joint_ = Pose<double>::identity();  ///< of the current link in the last joint's link
};

}  // namespace

chain::Robot parse_urdf(const std::string& text, const std::string& name, const RobotOptions& options) {
  if (!options.overrides.empty())
    throw Error(ExitCode::kUsage, name + ": --set changes keys of TOML files", "Edit the URDF.");
  const UrdfDocument urdf = parse_urdf_document(text, name);
  const int base = find_base(urdf, options.base), tip = find_tip(urdf, base, options.tip);
  return ChainBuilder(urdf, path_between(urdf, base, tip)).build(base);
}

}  // namespace garra::io
