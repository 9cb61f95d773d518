// Closes a parallel jaw at hand poses.
#include "garra/grasp_touch.hpp"

#include "arrays.hpp"
#include "garra/core/error.hpp"
#include "garra/io/mesh_file.hpp"

namespace garra::python {

namespace {

using Faces = nb::ndarray<const std::int32_t, nb::c_contig, nb::device::cpu>;

grasp::TouchOptions make_touch_options(const nb::dict& jaw, const nb::dict& d, const Numbers& up) {
  grasp::TouchOptions o;
  for (const auto& number : grasp::kJawNumbers) o.jaw.*number.value = nb::cast<double>(jaw[number.name]);
  for (const auto& number : grasp::kTouchNumbers) o.*number.value = nb::cast<double>(d[number.name]);
  o.soft = nb::cast<bool>(d["soft"]);
  o.close = nb::cast<bool>(d["close"]);
  o.draws = nb::cast<std::int64_t>(d["draws"]);
  o.seed = nb::cast<std::uint64_t>(d["seed"]);
  const auto u = to_span(up);
  o.up.assign(u.begin(), u.end());
  return o;
}

nb::dict to_arrays(grasp::GraspSet&& s) {
  const auto m = static_cast<std::size_t>(s.first.back()), g = static_cast<std::size_t>(s.count());
  nb::dict out;
  out["point"] = taken(std::move(s.point), {m, 3});
  out["normal"] = taken(std::move(s.normal), {m, 3});
  out["tangent"] = taken(std::move(s.tangent), {m, 3});
  out["friction"] = taken(std::move(s.friction), {m});
  if (m > 0) out["jacobian"] = taken(std::move(s.jacobian), {m, 3, 1});
  if (!s.torsion_radius.empty()) {
    out["torsion_radius"] = taken(std::move(s.torsion_radius), {m});
    out["angular_jacobian"] = taken(std::move(s.angular_jacobian), {m, 3, 1});
  }
  out["mass"] = taken(std::move(s.mass), {g});
  out["com"] = taken(std::move(s.com), {g, 3});
  out["inertia"] = taken(std::move(s.inertia), {g, 3, 3});
  if (!s.gravity.empty()) out["gravity"] = taken(std::move(s.gravity), {g, 3});
  if (m > 0) out["mass_matrix"] = taken(std::move(s.mass_matrix), {g, 1, 1});
  if (m > 0) out["torque"] = taken(std::move(s.torque), {g, 1});
  return out;
}

/// `words` names a file or a shape, unless there are vertices and faces.
nb::dict touch(const std::string& words, const std::optional<Numbers>& vertex, const std::optional<Faces>& face,
               double scale, const Numbers& poses, const nb::dict& jaw, const nb::dict& options, const Numbers& up,
               int threads) {
  const grasp::TouchOptions o = make_touch_options(jaw, options, up);
  io::Object object;
  grasp::Touched t;
  {
    const Computing computing;
    if (vertex && face) {
      const auto v = to_span(*vertex);
      const auto f = to_span(*face);
      object = io::make_object({{v.begin(), v.end()}, {f.begin(), f.end()}}, words, scale);
    } else {
      object = io::read_object(words, scale);
    }
    t = grasp::touch(*object.surface, to_span(poses), o, make_device("cpu", threads, 1));
  }
  mesh::Mesh picture = object.surface->picture();
  const auto v = static_cast<std::size_t>(picture.vertices()), f = static_cast<std::size_t>(picture.faces());
  const std::size_t g = t.status.size();
  nb::dict out;
  auto first = t.set.first;
  out["first"] = taken(std::move(first), {g + 1});
  out["arrays"] = to_arrays(std::move(t.set));
  out["status"] = taken(std::move(t.status), {g});
  out["collision"] = taken(std::move(t.collision), {g});
  out["turn"] = taken(std::move(t.turn), {g});
  out["shift"] = taken(std::move(t.shift), {g});
  out["width"] = taken(std::move(t.width), {g});
  out["pose"] = taken(std::move(t.pose), {g, 4, 4});
  out["vertex"] = taken(std::move(picture.vertex), {v, 3});
  out["face"] = taken(std::move(picture.face), {f, 3});
  if (!object.warning.empty()) out["warning"] = object.warning;
  return out;
}

}  // namespace

void add_grasp_touch(nb::module_& m) {
  m.def("grasp_touch", touch, nb::arg("words"), nb::arg("vertex").none(), nb::arg("face").none(), nb::arg("scale"),
        nb::arg("poses"), nb::arg("jaw"), nb::arg("options"), nb::arg("up"), nb::arg("threads"));
  nb::dict jaws;
  for (const grasp::ParallelJaw& j : grasp::kJaws) {
    nb::dict d;
    for (const auto& number : grasp::kJawNumbers) d[number.name] = j.*number.value;
    jaws[j.name] = d;
  }
  m.attr("jaws") = jaws;
  nb::list statuses;
  for (const char* name : names_of(grasp::TouchStatus{})) statuses.append(name);
  m.attr("touch_statuses") = nb::tuple(statuses);
}

}  // namespace garra::python
