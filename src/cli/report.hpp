// The HTML report of a run, made by the Python package garra.report.
#pragma once

#include <string>

namespace garra::cli {

/// Whether RUN/report.html was made. What Python prints about a failure goes to stderr, unless `quiet`.
[[nodiscard]] bool make_report(const std::string& run, bool quiet);

}  // namespace garra::cli
