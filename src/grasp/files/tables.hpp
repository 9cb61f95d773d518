// Tables of a grasp scenario.
#pragma once

#include "base/scenario/fields.hpp"
#include "garra/grasp.hpp"

namespace garra::io {

/// [object]; whether its shape and dimensions are known.
[[nodiscard]] bool object_fields(Fields& f, grasp::Object& object);
/// [load]; object, hand and contacts must have been read.
void load_fields(Fields& f, grasp::Scenario& scenario);
void held_fields(Fields& f, grasp::Scenario& scenario);
void motion_fields(Fields& f, grasp::Scenario& scenario);
void solver_fields(Fields& f, grasp::Scenario& scenario);

}  // namespace garra::io
