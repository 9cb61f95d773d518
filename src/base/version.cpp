#include "garra/core/version.hpp"

namespace garra {

namespace {

/// "0.2" of "0.2.1"; the whole text if there is no second dot.
std::string_view major_and_minor(std::string_view version) {
  const auto dot = version.find('.');
  return dot == std::string_view::npos ? version : version.substr(0, version.find('.', dot + 1));
}

}  // namespace

const char* version() { return GARRA_VERSION; }

bool same_results(std::string_view a, std::string_view b) { return major_and_minor(a) == major_and_minor(b); }

std::string results_version() { return std::string(major_and_minor(version())); }

}  // namespace garra
