// Contacts in TOML: a place on the object's surface, and what is uncertain there.
#pragma once

#include "base/scenario/field_values.hpp"
#include "base/scenario/fields.hpp"
#include "garra/grasp.hpp"

namespace garra::io {

/// Place of a contact on a sphere: azimuth and elevation [rad] in the object frame, the frame turned by roll about the
/// inward normal. With all three 0 the contact lies on +x with t up (+z) and o = +y.
struct SpherePlace {
  double azimuth = 0, elevation = 0, roll = 0;  ///< [rad]
};
/// Point, frame and curvatures; `radius` [m].
void place_on_sphere(const SpherePlace& place, double radius, grasp::Contact& contact);

/// `between` of contact j: its object and its partner.
[[nodiscard]] AnyValue between(grasp::Scenario& scenario, std::size_t j);

/// The keys of a contact's location; not read unless the object is `known`.
void contact_place_fields(Fields& f, bool known, const grasp::Object& object, grasp::Contact& contact);

/// friction, slide, tilt, grip_force_error, force_limit. `common_friction` takes the friction shared by contacts; null
/// if it cannot be given.
void contact_input_fields(Fields& f, grasp::Contact& contact, study::Distribution* common_friction);

/// Commands of the contact's finger: grip force, force.
void contact_command_fields(Fields& f, grasp::Contact& contact);

}  // namespace garra::io
