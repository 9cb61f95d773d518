// Tables of a grasp scenario.
#pragma once

#include "base/scenario/fields.hpp"
#include "garra/grasp.hpp"

namespace garra::io {

/// Reads [object]; returns whether its shape and dimensions are known.
[[nodiscard]] bool object_fields(Fields& f, grasp::Object& object);
/// Reads [load], after object, hand and contacts.
void load_fields(Fields& f, grasp::Scenario& scenario);
/// [held]: criteria by which a sample without [simulation] counts as held.
void held_fields(Fields& f, grasp::Scenario& scenario);
/// [motion]: velocities of the object at the instant.
void motion_fields(Fields& f, grasp::Scenario& scenario);
/// [solver]: tolerance and limits of the contact problem.
void solver_fields(Fields& f, grasp::Scenario& scenario);

}  // namespace garra::io
