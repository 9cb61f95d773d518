#include "io/pose_reader.hpp"

#include "garra/chain.hpp"
#include "garra/math/rotation.hpp"

namespace garra::io {

Pose<double> read_pose(const Node& node, const std::string& key) {
  TableReader table(node, key);
  Pose<double> pose = Pose<double>::identity();
  if (const Node* p = table.find("position")) pose.p = read_vector(*p, table.name("position"), kLength);
  if (const Node* r = table.find("rpy")) pose.R = rotation_from_rpy(read_vector(*r, table.name("rpy"), kAngle));
  table.finish();
  return pose;
}

Mat3<double> read_inertia(const Node& node, const std::string& key) {
  const std::vector<Node>& items = read_array(node, key, 0);
  if (items.size() != 3 && items.size() != 6) static_cast<void>(read_array(node, key, 3));
  double v[6] = {};
  for (std::size_t i = 0; i < items.size(); ++i) v[i] = read_quantity(items[i], item(key, i), kInertia);
  const Mat3<double> I = {{v[0], v[3], v[5], v[3], v[1], v[4], v[5], v[4], v[2]}};
  if (!chain::is_inertia(I, false)) {
    fail(node.place, key, "not the inertia of a body: it has a negative principal moment",
         "Order: [ixx, iyy, izz, ixy, iyz, ixz], about the center of mass.");
  }
  return I;
}

}  // namespace garra::io
