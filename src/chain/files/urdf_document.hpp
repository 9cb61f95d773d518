// URDF as a tree of links and joints, every number read and every name resolved; what a chain makes of it is in
// robot_urdf.cpp. Only this part knows the XML library.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "garra/chain.hpp"

namespace garra::io {

/// A link with what hangs on it.
struct UrdfLink {
  std::string name;
  int line = 0;               ///< in the file, for errors
  bool has_inertial = false;  ///< a link without one has no mass
  chain::Body body;           ///< in the link's frame
  int inertial_line = 0;      ///< of <inertial>
  int parent_joint = -1;      ///< index into joints; -1: a root
  std::vector<int> children;  ///< indices of joints
};

/// A joint between two links.
struct UrdfJoint {
  std::string name, type;  ///< type: as in the file, one of the six of URDF
  int line = 0;
  int parent = -1, child = -1;  ///< links
  Pose<double> origin = Pose<double>::identity();
  Vec3<double> axis = {{1, 0, 0}};                        ///< URDF's default; joint frame
  bool has_limit = false, mimic = false;                  ///< <limit>, <mimic> are there
  std::string leader;                                     ///< mimic: the joint that it follows,
  double multiplier = 1, offset = 0;                      ///< q = multiplier * q_leader + offset
  double lower = 0, upper = 0, velocity = 0, effort = 0;  ///< [rad, m]; [rad/s, m/s]; [N m, N]
  double damping = 0, friction = 0;                       ///< [N m s/rad, N s/m]; dry friction [N m, N]
};

/// A forest: no link has two parents, no loop.
struct UrdfDocument {
  std::string file, name;
  std::vector<UrdfLink> links;
  std::vector<UrdfJoint> joints;
  std::vector<std::string> warnings;  ///< "file:line: ...": what is there and not read, each once
};

/// Throws Error(kInvalidFile, "file:line: key: problem", remedy).
[[noreturn]] void fail_urdf(const std::string& file, int line, const std::string& problem, const std::string& remedy);

/// What to do about limits [rad or m] of which the lower is above the upper, with both readings.
[[nodiscard]] std::string exchanged_limits(const std::array<double, 2>& limits, bool prismatic);

/// The whole document, checked as a forest. Throws Error(kInvalidFile).
[[nodiscard]] UrdfDocument parse_urdf_document(const std::string& text, const std::string& file);

}  // namespace garra::io
