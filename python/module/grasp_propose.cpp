// Candidate grasps of an object.
#include "garra/grasp_propose.hpp"

#include "arrays.hpp"
#include "garra/core/error.hpp"
#include "garra/io/mesh_file.hpp"

namespace garra::python {

namespace {

using Faces = nb::ndarray<const std::int32_t, nb::c_contig, nb::device::cpu>;

grasp::ProposeOptions make_propose_options(const nb::dict& d) {
  grasp::ProposeOptions o;
  o.fingers = nb::cast<int>(d["fingers"]);
  o.count = nb::cast<std::int64_t>(d["count"]);
  o.friction = nb::cast<double>(d["friction"]);
  o.mass = nb::cast<double>(d["mass"]);
  o.density = nb::cast<double>(d["density"]);
  o.force_limit = nb::cast<double>(d["force_limit"]);
  o.torsion_radius = nb::cast<double>(d["torsion_radius"]);
  o.max_opening = nb::cast<double>(d["max_opening"]);
  o.pad_radius = nb::cast<double>(d["pad_radius"]);
  o.finger_radius = nb::cast<double>(d["finger_radius"]);
  o.clearance = nb::cast<double>(d["clearance"]);
  const auto approach = nb::cast<std::vector<double>>(d["approach"]);
  if (approach.size() != 3)
    throw Error(ExitCode::kUsage, "approach has " + std::to_string(approach.size()) + " numbers, not 3");
  o.approach = vec3(approach[0], approach[1], approach[2]);
  o.floor = nb::cast<double>(d["floor"]);
  o.max_samples = nb::cast<std::int64_t>(d["max_samples"]);
  o.seed = nb::cast<std::uint64_t>(d["seed"]);
  return o;
}

nb::dict to_arrays(grasp::GraspSet&& s) {
  const auto m = static_cast<std::size_t>(s.first.back()), g = static_cast<std::size_t>(s.count());
  nb::dict out;
  out["point"] = taken(std::move(s.point), {m, 3});
  out["normal"] = taken(std::move(s.normal), {m, 3});
  out["tangent"] = taken(std::move(s.tangent), {m, 3});
  out["friction"] = taken(std::move(s.friction), {m});
  out["curvature"] = taken(std::move(s.curvature), {m, 2});
  if (!s.force_limit.empty()) out["force_limit"] = taken(std::move(s.force_limit), {m});
  if (!s.torsion_radius.empty()) out["torsion_radius"] = taken(std::move(s.torsion_radius), {m});
  out["mass"] = taken(std::move(s.mass), {g});
  out["com"] = taken(std::move(s.com), {g, 3});
  out["inertia"] = taken(std::move(s.inertia), {g, 3, 3});
  return out;
}

nb::dict words_to_dict(const mesh::Report& r) {
  nb::dict out;
  out["vertices"] = r.vertices;
  out["faces"] = r.faces;
  out["merged"] = r.merged;
  out["dropped"] = r.dropped;
  out["open_edges"] = r.open_edges;
  out["watertight"] = r.watertight();
  out["flipped"] = r.flipped;
  out["inverted_bodies"] = r.inverted;
  out["area"] = r.area;
  out["volume"] = r.volume;
  return out;
}

nb::dict about(grasp::Proposal&& p, const io::Object& object) {
  nb::dict rejection;
  const auto names = names_of(grasp::RejectionReason{});
  for (std::size_t k = 0; k < names.size(); ++k)
    if (p.rejection[k] > 0) rejection[names[k]] = p.rejection[k];
  nb::dict out;
  out["samples"] = p.samples;
  out["rejections"] = rejection;
  const std::size_t g = p.sample.size();
  out["sample"] = taken(std::move(p.sample), {g});
  if (object.is_mesh()) out["mesh"] = words_to_dict(object.report);
  if (!object.warning.empty()) out["warning"] = object.warning;
  return out;
}

/// `words` names a file or a shape, unless there are vertices and faces.
nb::dict propose(const std::string& words, const std::optional<Numbers>& vertex, const std::optional<Faces>& face,
                 double scale, const nb::dict& options, const std::string& device, int threads) {
  const grasp::ProposeOptions o = make_propose_options(options);
  io::Object object;
  grasp::Proposal p;
  {
    const Computing computing;
    if (vertex && face) {
      const auto v = to_span(*vertex);
      const auto f = to_span(*face);
      object = io::make_object({{v.begin(), v.end()}, {f.begin(), f.end()}}, words, scale);
    } else {
      object = io::read_object(words, scale);
    }
    p = grasp::propose(*object.surface, o, make_device(device, threads, core_seconds::proposals(o.count, o.fingers)),
                       {});
  }
  mesh::Mesh picture = object.surface->picture();
  const auto v = static_cast<std::size_t>(picture.vertices()), f = static_cast<std::size_t>(picture.faces());
  nb::dict out;
  const std::size_t n = p.set.first.size();
  auto first = p.set.first;
  out["first"] = taken(std::move(first), {n});
  out["arrays"] = to_arrays(std::move(p.set));
  out["about"] = about(std::move(p), object);
  out["vertex"] = taken(std::move(picture.vertex), {v, 3});
  out["face"] = taken(std::move(picture.face), {f, 3});
  return out;
}

}  // namespace

void add_grasp_propose(nb::module_& m) {
  m.def("grasp_propose", propose, nb::arg("words"), nb::arg("vertex").none(), nb::arg("face").none(), nb::arg("scale"),
        nb::arg("options"), nb::arg("device"), nb::arg("threads"));
}

}  // namespace garra::python
