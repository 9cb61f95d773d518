// `garra screws --claims`: the examples of the paper beside what the paper says of them.
#pragma once

#include <string>

namespace garra::cli {

/// Prints the claims; `format` is human or json. Throws Error(kInputOutput) where the screws of the examples are not
/// to be found.
void print_claims(const std::string& format);

}  // namespace garra::cli
