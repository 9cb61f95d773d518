// Contacts in TOML: a place on the object's surface, and what is uncertain there.
#pragma once

#include <string>

#include "garra/grasp.hpp"
#include "io/toml_reader.hpp"

namespace garra::io {

/// Puts a contact onto a sphere: azimuth and elevation [rad] in the object frame, the frame turned
/// by roll about the inward normal. With all three 0 the contact lies on +x with t up (+z) and o =
/// +y.
struct SpherePlace {
  double azimuth = 0, elevation = 0, roll = 0;
};
void place_on_sphere(const SpherePlace& place, double radius, grasp::Contact& contact);

/// Reads the keys that say where the contact is; which ones depends on the object's shape. `point`
/// with `normal` works on any shape.
void read_contact_place(TableReader& table, const grasp::Object& object, grasp::Contact& contact);

/// Reads friction, slide, tilt and squeeze_error as far as they are given. Returns whether friction
/// is. `common_friction` takes what contacts share; null where it cannot be given.
bool read_contact_inputs(TableReader& table, grasp::Contact& contact, study::Distribution* common_friction = nullptr);

}  // namespace garra::io
