// `garra papers claims`: computed answers for the paper's examples beside the printed ones.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace garra::cli {

/// Prints the claims; `format` is human or json. Throws Error(kInputOutput) if the screws of the examples cannot be
/// found.
void print_claims(const std::string& format);

/// The claims of example 1, 2 or 3, each with its `status`. Throws as print_claims().
[[nodiscard]] nlohmann::ordered_json examined_claims(int example);

}  // namespace garra::cli
