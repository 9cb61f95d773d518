// Parser of the NumPy array header, a Python dictionary of three entries. It accepts only the form that NumPy writes.
#pragma once

#include <string>
#include <string_view>

#include "base/files/arrays/npz.hpp"

namespace garra::io {

/// Error in a header, with its remedy.
struct NpyProblem {
  std::string problem, remedy;  ///< "" if there is none
};

/// {'descr': '<f8', 'fortran_order': False, 'shape': (500, 3), } into kind, bytes, shape and count.
[[nodiscard]] NpyProblem parse_npy_header(std::string_view text, NpyHeader& header);

}  // namespace garra::io
