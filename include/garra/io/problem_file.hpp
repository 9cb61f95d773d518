// Contact problems and their solutions as HDF5 files.
//
// Problem file: A [n,3k,3k], b [n,3k], mu [n,k]; optional mode [n,k] (0 rolling). Contact-major
// order (n, t, o per contact), row-major; any float or integer width is read, float64 is written.
// Solution file: c, a [n,3k]; s, lambda [n,k]; residual, residual_raw, merit, iterations, status
// [n]; the attribute `names` of `status` lists the names of its numbers; the file's attributes say
// how the solutions were made.
#pragma once

#include <string>

#include "garra/contact.hpp"

namespace garra::io {

/// Reads a problem file, or a local file of FCLIB (one problem). Values that are NaN or infinite
/// are no error here: such a problem ends as Status::kInvalidInput. Throws Error, naming file and
/// dataset: kInvalidFile for wrong content (missing dataset, wrong shape or type, more than
/// contact::kMaxContacts contacts, sliding contacts, which are not supported yet), kInputOutput for
/// a missing or damaged file.
[[nodiscard]] contact::Problems read_problems(const std::string& path);

/// Writes a problem file: whole or not at all. Throws Error(kInputOutput).
void write_problems(const std::string& path, const contact::Problems& problems);

/// How the solutions of a file were made.
struct SolutionAttributes {
  std::string method;
  double tolerance = 0;  ///< converged: residual <= tolerance
  std::string device;
  std::string version;
};

/// Writes a solution file: whole or not at all. Adds, per contact, s = mu^2 c_n^2 - c_t^2 - c_o^2
/// [N^2] (0 on the cone) and lambda = |a_T| [m/s^2]. Throws Error(kInputOutput).
void write_solutions(const std::string& path, const contact::Problems& problems,
                     const contact::Solutions& solutions, const SolutionAttributes& attributes);

/// Reads what write_solutions has written; s and lambda follow from the rest and are left out.
[[nodiscard]] contact::Solutions read_solutions(const std::string& path);

}  // namespace garra::io
