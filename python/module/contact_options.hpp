// Options of contact solves, from Python arguments.
#pragma once

#include <string>

#include "garra/contact.hpp"

namespace garra::python {

/// `method` may be a pair, as in "papers/spg".
inline contact::Options contact_options(const std::string& method, const std::string& precision, double tolerance,
                                        int max_iterations, const std::string& effort = "bounded") {
  contact::Options options;
  contact::set_method(options, method);
  options.precision = contact::parse_precision(precision);
  options.tolerance = tolerance;
  options.max_iterations = max_iterations;
  options.full_effort = contact::parse_effort(effort);
  options.wanted.merit = false;  // no array of Python's has it
  return options;
}

}  // namespace garra::python
