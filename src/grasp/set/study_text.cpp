// The study of a ranking as its file has it.
#include <cmath>
#include <type_traits>
#include <variant>

#include "garra/grasp_set.hpp"
#include "study/summary.hpp"

namespace garra::grasp {

std::string describe_study(const SetStudy& s) {
  using study::describe;
  study::Json out = {{"friction", describe(s.friction)},
                     {"friction_nominal", s.friction.nominal()},
                     {"friction_is_factor", s.friction_is_factor},
                     {"per_contact_friction_factor_nominal", s.per_contact_friction_factor.nominal()},
                     {"mass", describe(s.mass)},
                     {"mass_is_factor", s.mass_is_factor},
                     {"wrenches", s.wrenches},
                     {"method", s.method},
                     {"samples", s.samples},
                     {"friction_samples", s.friction_samples},
                     {"radius_samples", s.radius_samples},
                     {"best", s.best},
                     {"confidence", s.confidence},
                     {"seed", s.seed}};
  for (const SetOption& option : kSetOptions)
    std::visit(
        [&](auto member) {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(s.*member)>, study::Distribution>)
            out[option.name] = describe(s.*member);
          else
            out[option.name] = s.*member;
        },
        option.value);
  if (std::isfinite(s.force_limit)) out["force_limit"] = s.force_limit;
  return out.dump();
}

}  // namespace garra::grasp
