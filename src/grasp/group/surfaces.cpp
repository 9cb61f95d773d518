#include "grasp/group/surfaces.hpp"

#include "garra/core/error.hpp"

namespace garra::grasp {

namespace {

using Kind = Partner::Kind;

/// Radius of a surface of these curvatures; 0: a plane.
double radius_or_refuse(double curvature_t, double curvature_o, std::size_t j) {
  if (std::abs(curvature_t - curvature_o) > 1e-9 * (std::abs(curvature_t) + std::abs(curvature_o)) || curvature_t < 0)
    throw Error(ExitCode::kInvalidFile,
                "contact " + std::to_string(j) + ": a surface that [simulation] cannot follow between two objects",
                "there both are planes or spheres");
  return curvature_t > 0 ? 1 / curvature_t : 0;
}

}  // namespace

std::vector<ContactKind> make_kinds(const GroupModel& m) {
  std::vector<ContactKind> kinds;
  for (std::size_t j = 0; j < m.contacts.size(); ++j) {
    const GroupContact& c = m.contacts[j];
    const SurfaceKind kind = surface_kind(c.surface.curvature_t, c.surface.curvature_o);
    if (c.partner.kind == Kind::kFinger) {
      if (kind == SurfaceKind::kNone)
        throw Error(ExitCode::kInvalidFile,
                    "contact " + std::to_string(j) + " has two different curvatures, which [simulation] cannot follow",
                    "give both directions the same curvature, or one of them 0");
      const int joints = m.chains[static_cast<std::size_t>(c.partner.number)].joints;
      kinds.push_back({kind, false, false, c.partner.link < 0 ? joints - 1 : c.partner.link});
    } else {
      kinds.push_back({kind, radius_or_refuse(c.surface.curvature_t, c.surface.curvature_o, j) > 0,
                       radius_or_refuse(c.partner.curvature_t, c.partner.curvature_o, j) > 0, 0});
    }
  }
  return kinds;
}

std::vector<ContactShape<double>> make_shapes(const GroupModel& m, const GroupSample& s) {
  const auto scale = [&](int object) {
    return s.inputs[static_cast<std::size_t>(m.objects[static_cast<std::size_t>(object)].slot + kScale)];
  };
  const auto radius = [](double curvature) { return curvature > 0 ? 1 / curvature : 0; };
  std::vector<ContactShape<double>> shapes;
  for (std::size_t j = 0; j < m.contacts.size(); ++j) {
    const GroupContact& c = m.contacts[j];
    const ContactPlace<double>& at = s.place[j];
    const Pose<double>& object = s.pose[static_cast<std::size_t>(c.object)];
    ContactShape<double> shape{};
    shape.first = {transpose_times(object.R, at.p - object.p), transpose_times(object.R, at.E),
                   c.surface.curvature_t / scale(c.object), c.surface.curvature_o / scale(c.object)};
    if (c.partner.kind != Kind::kFinger) {
      const bool both = c.partner.kind == Kind::kObject;
      const Pose<double> second = both ? s.pose[static_cast<std::size_t>(c.partner.number)] : Pose<double>::identity();
      shape.second = {transpose_times(second.R, at.E), transpose_times(second.R, at.p - second.p)};
      shape.radius_a = radius(shape.first.curvature_t);
      shape.radius_b = radius(c.partner.curvature_t / (both ? scale(c.partner.number) : 1));
    }
    shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace garra::grasp
