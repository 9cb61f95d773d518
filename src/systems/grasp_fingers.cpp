#include "systems/grasp_fingers.hpp"

#include "garra/batch/for_each.hpp"

namespace garra::grasp {

void draw_samples(Executor executor, const DrawBody& draw, std::int64_t count) {
  const auto for_each = [&](const auto& body) {
    if (executor == Executor::kScalar)
      batch::for_each_scalar(count, body);
    else
      batch::for_each_lanes(count, body);
  };
  for_each(draw);
  for (int j = 0; j < draw.model->contacts; ++j) with_finger(*draw.model, j, draw.model, draw.parts, for_each);
}

}  // namespace garra::grasp
