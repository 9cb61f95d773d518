// TOML as JSON, for programs that read what `garra check` has understood.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace garra::io {

/// The document that one of our writers has made, keys in its order. Angles, which they write in degrees where that is
/// shorter, become numbers in SI units like all others.
[[nodiscard]] nlohmann::ordered_json toml_as_json(const std::string& toml);

}  // namespace garra::io
