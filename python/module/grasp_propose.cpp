// Candidate grasps of an object.
#include "garra/grasp_propose.hpp"

#include "garra/core/error.hpp"
#include "grasp_object.hpp"

namespace garra::python {

namespace {

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

nb::dict words_to_dict(const mesh::Report& r) {
  nb::dict out;
  out["vertices"] = r.vertices;
  out["faces"] = r.faces;
  out["merged"] = r.merged;
  out["dropped"] = r.dropped;
  out["open_edges"] = r.open_edges;
  out["watertight"] = r.watertight();
  out["turned_faces"] = r.turned;
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

nb::dict propose(const std::string& words, const std::optional<Numbers>& vertex, const std::optional<Faces>& face,
                 double scale, const nb::dict& options, const std::string& device, int threads) {
  const grasp::ProposeOptions o = make_propose_options(options);
  io::Object object;
  auto p = compute([&] {
    object = read_object(words, vertex, face, scale);
    return grasp::propose(*object.surface, o, make_device(device, threads, core_seconds::proposals(o.count, o.fingers)),
                          {});
  });
  nb::dict out = to_dict(std::move(p.set), *object.surface);
  out["about"] = about(std::move(p), object);
  return out;
}

}  // namespace

void add_grasp_propose(nb::module_& m) { m.def("grasp_propose", propose); }

}  // namespace garra::python
