// Converts TOML to JSON, for programs that read the output of `garra check`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace garra::io {

/// A document written by garra's own writers, keys in its order. Angles written in degrees become numbers in SI units.
[[nodiscard]] nlohmann::ordered_json toml_as_json(const std::string& toml);

}  // namespace garra::io
