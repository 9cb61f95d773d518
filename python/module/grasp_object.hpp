// Objects that calls receive, and sets of grasps of them that calls return.
#pragma once

#include "arrays.hpp"
#include "garra/grasp_set.hpp"
#include "garra/io/mesh_file.hpp"

namespace garra::python {

using Faces = nb::ndarray<const std::int32_t, nb::c_contig, nb::device::cpu>;

/// `words` names a file or a shape, unless there are vertices and faces.
inline io::Object read_object(const std::string& words, const std::optional<Numbers>& vertex,
                              const std::optional<Faces>& face, double scale) {
  if (!vertex || !face) return io::read_object(words, scale);
  const auto v = to_span(*vertex);
  const auto f = to_span(*face);
  return io::make_object({{v.begin(), v.end()}, {f.begin(), f.end()}}, words, scale);
}

/// Arrays of a set by their names in files: those that are not empty, and points and normals.
inline nb::dict to_arrays(grasp::GraspSet& s) {
  const auto m = static_cast<std::size_t>(s.first.back()), g = static_cast<std::size_t>(s.count());
  const auto joints = static_cast<std::size_t>(s.joints());
  nb::dict out;
  for (const grasp::GraspSetArray& a : grasp::kGraspSetArrays) {
    std::vector<double>& values = s.*a.values;
    if (values.empty() && a.values != &grasp::GraspSet::point && a.values != &grasp::GraspSet::normal) continue;
    const std::size_t rows = a.per_contact ? m : g;
    std::vector<std::size_t> shape{rows};
    for (const int axis : a.axes)
      if (axis != 0 && !(a.or_number && values.size() == rows))
        shape.push_back(axis == grasp::GraspSetArray::kJoints ? joints : static_cast<std::size_t>(axis));
    out[a.name] = taken(std::move(values), std::move(shape));
  }
  return out;
}

/// {"first", "arrays", "vertex", "face"} of a set of grasps of an object.
inline nb::dict to_dict(grasp::GraspSet&& set, const mesh::Surface& object) {
  nb::dict out;
  out["arrays"] = to_arrays(set);
  const std::size_t n = set.first.size();
  out["first"] = taken(std::move(set.first), {n});
  mesh::Mesh picture = object.picture();
  const auto v = static_cast<std::size_t>(picture.vertices()), f = static_cast<std::size_t>(picture.faces());
  out["vertex"] = taken(std::move(picture.vertex), {v, 3});
  out["face"] = taken(std::move(picture.face), {f, 3});
  return out;
}

}  // namespace garra::python
