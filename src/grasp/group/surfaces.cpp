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

/// The frame E turned such that its first column is n.
Mat3<double> turned_to(const Mat3<double>& E, const Vec3<double>& n) {
  Vec3<double> t = column(E, 1);
  t = axpy(-dot(t, n), n, t);
  t = (1 / norm(t)) * t;
  const Vec3<double> o = cross(n, t);
  Mat3<double> out;
  for (int i = 0; i < 3; ++i) {
    out(i, 0) = n[i];
    out(i, 1) = t[i];
    out(i, 2) = o[i];
  }
  return out;
}

Vec3<double> transformed(const Pose<double>& pose, const Vec3<double>& p) { return pose.R * p + pose.p; }

}  // namespace

std::vector<ContactShape> make_shapes(const GroupModel& m, const GroupSample& s) {
  std::vector<ContactShape> shapes;
  for (std::size_t j = 0; j < m.contacts.size(); ++j) {
    const GroupContact& c = m.contacts[j];
    const ContactPlace<double>& at = s.place[j];
    const Pose<double>& object = s.pose[static_cast<std::size_t>(c.object)];
    const double scale =
        s.inputs[static_cast<std::size_t>(m.objects[static_cast<std::size_t>(c.object)].slot + kScale)];
    ContactShape shape{};
    shape.first = {transpose_times(object.R, at.p - object.p), transpose_times(object.R, at.E),
                   c.surface.curvature_t / scale, c.surface.curvature_o / scale};
    shape.kind = surface_kind(c.surface.curvature_t, c.surface.curvature_o);
    if (c.partner.kind == Kind::kFinger) {
      if (shape.kind == SurfaceKind::kNone)
        throw Error(ExitCode::kInvalidFile,
                    "contact " + std::to_string(j) + " has two different curvatures, which [simulation] cannot follow",
                    "give both directions the same curvature, or one of them 0");
      shapes.push_back(shape);
      continue;
    }
    Pose<double> second = Pose<double>::identity();
    double second_scale = 1;
    if (c.partner.kind == Kind::kObject) {
      second = s.pose[static_cast<std::size_t>(c.partner.number)];
      second_scale =
          s.inputs[static_cast<std::size_t>(m.objects[static_cast<std::size_t>(c.partner.number)].slot + kScale)];
    }
    shape.second = {transpose_times(second.R, at.E), transpose_times(second.R, at.p - second.p)};
    shape.radius_a = radius_or_refuse(shape.first.curvature_t, shape.first.curvature_o, j);
    shape.radius_b = radius_or_refuse(c.partner.curvature_t / second_scale, c.partner.curvature_o / second_scale, j);
    shapes.push_back(shape);
  }
  return shapes;
}

PlaceAndGap touch_of_finger(const ContactShape& shape, const Pose<double>& object, const Vec3<double>& tip) {
  const Touch<double> at = touch(shape.kind, shape.first, transpose_times(object.R, tip - object.p));
  return {{tip, object.R * at.E}, at.gap};
}

PlaceAndGap touch_of_objects(const ContactShape& shape, const Pose<double>& first, const Pose<double>& second) {
  const double r_a = shape.radius_a, r_b = shape.radius_b;
  const Mat3<double> E_a = first.R * shape.first.E, E_b = second.R * shape.second.R;
  const Vec3<double> p_a = transformed(first, shape.first.point), p_b = transformed(second, shape.second.p);
  // Centers of balls are behind their surfaces: n points into the first body.
  const Vec3<double> center_a = axpy(r_a, column(E_a, 0), p_a), center_b = axpy(-r_b, column(E_b, 0), p_b);
  if (r_a > 0 && r_b > 0) {
    const Vec3<double> apart = center_a - center_b;
    const double distance = norm(apart);
    const Vec3<double> n = (1 / distance) * apart;
    return {{axpy(r_b, n, center_b), turned_to(E_a, n)}, distance - r_a - r_b};
  }
  if (r_b > 0) {  // a ball on the first object's plane
    const Vec3<double> n = column(E_a, 0);
    return {{axpy(r_b, n, center_b), E_a}, dot(p_a - center_b, n) - r_b};
  }
  // A ball of the first object, or its point, on the second one's plane.
  const Vec3<double> n = column(E_b, 0);
  return {{axpy(-r_a, n, center_a), E_b}, dot(center_a - p_b, n) - r_a};
}

}  // namespace garra::grasp
