// The solver of a scenario's contact problems.
#pragma once

#include "contact/batch/method.hpp"
#include "garra/core/error.hpp"
#include "garra/grasp.hpp"

namespace garra::grasp {

inline contact::Options contact_options(const Scenario& s) {
  contact::Options options;
  contact::set_method(options, s.method);
  options.tolerance = s.tolerance;
  options.full_effort = s.effort == "full";
  // The default is the limit of `auto`; other methods have limits of their own.
  if (options.method == contact::Method::kAuto || s.max_iterations != Scenario{}.max_iterations)
    options.max_iterations = s.max_iterations;
  return options;
}

/// Why a GPU cannot take the scenario's samples; "" if it can.
inline std::string gpu_refusal(const Scenario& s) {
  return s.method == "auto" ? "" : "solver.method = \"" + s.method + "\" has no kernels in studies";
}

/// Throws Error(kNoDevice) with that reason.
inline void refuse_gpu(const Scenario& s) {
  if (const std::string why = gpu_refusal(s); !why.empty()) throw Error(ExitCode::kNoDevice, why, "use --device cpu");
}

}  // namespace garra::grasp
