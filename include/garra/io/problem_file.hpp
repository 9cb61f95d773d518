// Contact problems and their solutions as HDF5 files. SI units; n problems of k contacts.
//
// Problem file: A [n,3k,3k], b [n,3k], mu [n,k]; with sliding contacts also mode [n,k] (1 slides, 0 may roll) and
// slip_velocity [n,k,2] (t, o in m/s, read if mode is 1). Contact-major order (n, t, o per contact), row-major; any
// float or integer width is read, float64 is written.
// Solution file: c, a [n,3k]; s, lambda [n,k]; residual, contact_residual, merit, iterations, status [n]. If
// the method has them: minimum, projected_gradient, evaluations, inner, products, stage, stalls [n]. If checked:
// solutions [n]; state [n,k], friction_margin, required_friction [n] (docs/reference/contact-files.md). The attribute
// `names` of `status` lists the names of its numbers; the file's attributes say how the solutions were made.
#pragma once

#include <string>

#include "garra/contact.hpp"

namespace garra::io {

/// Reads a problem file, or a local file of FCLIB (one problem). Values that are NaN or infinite are no error
/// here: such a problem ends as Status::kInvalidInput. A `mode` that is 0 everywhere reads as none. Throws Error,
/// naming file and dataset: kInvalidFile for wrong content (missing dataset, wrong shape or type, more than
/// contact::kMaxContacts contacts, a sliding contact whose velocity is missing or zero), kInputOutput for a missing or
/// damaged file.
[[nodiscard]] contact::Problems read_problems(const std::string& path);

/// Writes a problem file: whole or not at all; `mode` and `slip_velocity` only if they are not empty.
/// Throws Error(kInputOutput).
void write_problems(const std::string& path, const contact::Problems& problems);

/// Provenance of the solutions in a file, stored as its attributes.
struct SolutionAttributes {
  std::string method;
  double tolerance = 0;  ///< converged: residual <= tolerance
  std::string device;
  std::string version;
};

/// Writes a solution file: whole or not at all. Adds, per contact, s = mu^2 c_n^2 - c_t^2 - c_o^2 [N^2] (0 on the cone,
/// so up to rounding at every sliding contact) and lambda = |a_T| [m/s^2]. Leaves out quantities that the method lacks:
/// counters that are all -1, `minimum` and `projected_gradient` that are all NaN, `solutions` and decisions that are
/// empty. Throws Error(kInputOutput).
void write_solutions(const std::string& path, const contact::Problems& problems, const contact::Solutions& solutions,
                     const SolutionAttributes& attributes);

/// Reads a file of write_solutions(); s and lambda follow from the rest and are left out. Quantities absent from the
/// file come back as -1 or NaN, `solutions` as empty.
[[nodiscard]] contact::Solutions read_solutions(const std::string& path);

}  // namespace garra::io
