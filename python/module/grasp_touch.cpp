// Closes a parallel jaw at hand poses; distances of points from an object, for other hands.
#include "garra/grasp_touch.hpp"

#include <limits>

#include "garra/batch/parallel.hpp"
#include "grasp_object.hpp"

namespace garra::python {

namespace {

grasp::TouchOptions make_touch_options(const nb::dict& jaw, const nb::dict& d, const Numbers& up,
                                       const Numbers& scale) {
  grasp::TouchOptions o;
  for (const auto& number : grasp::kJawNumbers) o.jaw.*number.value = nb::cast<double>(jaw[number.name]);
  for (const auto& number : grasp::kTouchNumbers) o.*number.value = nb::cast<double>(d[number.name]);
  o.soft = nb::cast<bool>(d["soft"]);
  o.close = nb::cast<bool>(d["close"]);
  o.draws = nb::cast<std::int64_t>(d["draws"]);
  o.seed = nb::cast<std::uint64_t>(d["seed"]);
  const auto u = to_span(up);
  o.up.assign(u.begin(), u.end());
  const auto s = to_span(scale);
  o.scale.assign(s.begin(), s.end());
  return o;
}

nb::dict touch(const std::string& words, const std::optional<Numbers>& vertex, const std::optional<Faces>& face,
               double scale, const Numbers& poses, const nb::dict& jaw, const nb::dict& options, const Numbers& up,
               const Numbers& scales, int threads) {
  const grasp::TouchOptions o = make_touch_options(jaw, options, up, scales);
  io::Object object;
  auto t = compute([&] {
    object = read_object(words, vertex, face, scale);
    return grasp::touch(*object.surface, to_span(poses), o, make_device("cpu", threads, 1));
  });
  const std::size_t g = t.status.size();
  nb::dict out = to_dict(std::move(t.set), *object.surface);
  out["status"] = taken(std::move(t.status), {g});
  out["collision"] = taken(std::move(t.collision), {g});
  out["turn"] = taken(std::move(t.turn), {g});
  out["rotation"] = taken(std::move(t.rotation), {g, 3, 3});
  out["shift"] = taken(std::move(t.shift), {g});
  out["width"] = taken(std::move(t.width), {g});
  out["pose"] = taken(std::move(t.pose), {g, 4, 4});
  if (!object.warning.empty()) out["warning"] = object.warning;
  return out;
}

void append(std::vector<double>& to, const Vec3<double>& v) { to.insert(to.end(), v.m, v.m + 3); }

/// A file, a shape or arrays, read once.
class MeshObject {
 public:
  MeshObject(const std::string& words, const std::optional<Numbers>& vertex, const std::optional<Faces>& face,
             double scale)
      : object_(read_object(words, vertex, face, scale)) {}

  /// Signed distances of points [n,3], and the places of the surface; infinite and NaN beyond `most`.
  [[nodiscard]] nb::dict distances(const Numbers& points, double most, int threads) const {
    const auto n = static_cast<std::size_t>(points.shape(0));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> distance(n, std::numeric_limits<double>::infinity()), point(3 * n, nan), normal(3 * n, nan);
    {
      const Computing computing;
      batch::for_blocks(study_threads(make_device("cpu", threads, 1)), {static_cast<std::int64_t>(n), 512},
                        [&](std::int64_t first, std::int64_t count) {
                          for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(first + count);
                               ++i) {
                            const double* p = points.data() + 3 * i;
                            const auto found = signed_nearest(*object_.surface, vec3(p[0], p[1], p[2]), most);
                            if (!found) continue;
                            distance[i] = found->distance;
                            std::copy_n(found->place.point.m, 3, point.data() + 3 * i);
                            std::copy_n(found->place.normal.m, 3, normal.data() + 3 * i);
                          }
                        });
    }
    nb::dict out;
    out["distance"] = taken(std::move(distance), {n});
    out["point"] = taken(std::move(point), {n, 3});
    out["normal"] = taken(std::move(normal), {n, 3});
    return out;
  }
  /// First principal directions [n,3] and curvatures [n,2] of the surface next to points [n,3].
  [[nodiscard]] nb::tuple curvatures(const Numbers& points) const {
    std::vector<double> tangent, curvature;
    const auto n = static_cast<std::size_t>(points.shape(0));
    for (std::size_t i = 0; i < n; ++i) {
      const double* p = points.data() + 3 * i;
      const mesh::Place at = object_.surface->nearest(vec3(p[0], p[1], p[2])).place;
      append(tangent, at.tangent);
      curvature.insert(curvature.end(), at.curvature.begin(), at.curvature.end());
    }
    return nb::make_tuple(taken(std::move(tangent), {n, 3}), taken(std::move(curvature), {n, 2}));
  }
  /// Points of the surface, uniform by area, with outward normals.
  [[nodiscard]] nb::dict points(std::int64_t count, std::uint64_t seed) const {
    std::vector<double> point, normal;
    for (std::int64_t i = 0; i < count; ++i) {
      mesh::Draws draws(seed, static_cast<std::uint64_t>(i));
      const mesh::Place place = object_.surface->draw(draws);
      append(point, place.point);
      append(normal, place.normal);
    }
    const auto n = static_cast<std::size_t>(count);
    nb::dict out;
    out["point"] = taken(std::move(point), {n, 3});
    out["normal"] = taken(std::move(normal), {n, 3});
    return out;
  }
  [[nodiscard]] nb::dict body(double mass, double density) const {
    const mesh::Body b = mesh::weigh(*object_.surface, mass, density);
    nb::dict out;
    out["mass"] = b.mass;
    out["com"] = taken(std::vector<double>(b.com.m, b.com.m + 3), {3});
    out["inertia"] = taken(std::vector<double>(b.inertia.m, b.inertia.m + 9), {3, 3});
    return out;
  }
  /// Vertices and faces.
  [[nodiscard]] nb::tuple picture() const {
    mesh::Mesh picture = object_.surface->picture();
    const auto v = static_cast<std::size_t>(picture.vertices()), f = static_cast<std::size_t>(picture.faces());
    return nb::make_tuple(taken(std::move(picture.vertex), {v, 3}), taken(std::move(picture.face), {f, 3}));
  }
  [[nodiscard]] const std::string& warning() const { return object_.warning; }
  [[nodiscard]] bool encloses() const { return object_.surface->encloses(); }

 private:
  io::Object object_;
};

}  // namespace

void add_grasp_touch(nb::module_& m) {
  nb::class_<MeshObject>(m, "MeshObject")
      .def(nb::init<const std::string&, const std::optional<Numbers>&, const std::optional<Faces>&, double>())
      .def("distances", &MeshObject::distances)
      .def("curvatures", &MeshObject::curvatures)
      .def("points", &MeshObject::points)
      .def("body", &MeshObject::body)
      .def("picture", &MeshObject::picture)
      .def_prop_ro("encloses", &MeshObject::encloses)
      .def_prop_ro("warning", &MeshObject::warning);
  m.def("grasp_touch", touch);
  nb::dict jaws;
  for (const grasp::ParallelJaw& j : grasp::kJaws) {
    nb::dict d;
    for (const auto& number : grasp::kJawNumbers) d[number.name] = j.*number.value;
    jaws[j.name] = d;
  }
  m.attr("jaws") = jaws;
  m.attr("touch_statuses") = to_tuple(names_of(grasp::TouchStatus{}));
}

}  // namespace garra::python
