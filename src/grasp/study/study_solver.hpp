// The solver of a scenario's contact problems.
#pragma once

#include "contact/batch/auto_solver.hpp"
#include "contact/batch/method.hpp"
#include "garra/grasp.hpp"

namespace garra::grasp {

inline contact::Options contact_options(const Scenario& s) {
  contact::Options options;
  contact::set_method(options, s.method);
  options.tolerance = s.tolerance;
  options.full_effort = s.effort == "full";
  // The default is the limit of `auto` with bounded effort; other methods, and full effort, have limits of their own.
  const bool bounded = options.method == contact::Method::kAuto && !options.full_effort;
  if (bounded || s.max_iterations != Scenario{}.max_iterations) options.max_iterations = s.max_iterations;
  return options;
}

/// Why a GPU is not taken for the scenario's samples unless it is asked for; "" if it is.
inline std::string gpu_refusal(const Scenario& s) {
  if (is_group(s)) return "a group of objects, several contacts on a finger or soft contacts: not measured on a GPU";
  const int most = contact::most_on_device(contact_options(s).method);
  if (static_cast<int>(s.contacts.size()) <= most) return "";
  return "solver.method = \"" + s.method + "\" has kernels for up to " + std::to_string(most) + " contacts";
}

}  // namespace garra::grasp
