// Links from parts: boxes, beams, tubes, balls and meshes of given materials, from which mass, center and inertia
// follow (docs/reference/robots.md, "Links from parts").
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/scenario/field_values.hpp"
#include "garra/chain.hpp"

namespace garra::io {

/// Densities by name [kg/m^3].
using Materials = std::map<std::string, double>;

/// [materials]
void materials_field(Fields& f, Materials& materials);

/// The list of parts of a link into their bodies, in the link frame. `folder`: of the robot file, beside which meshes
/// are looked for.
[[nodiscard]] AnyValue part_list(std::vector<chain::Body>& bodies, const Materials& materials,
                                 const std::string& folder);

/// All parts as one body.
[[nodiscard]] chain::Body merged_body(const std::vector<chain::Body>& parts);

}  // namespace garra::io
