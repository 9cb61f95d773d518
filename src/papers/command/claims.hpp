// `garra screws --claims`: computed answers for the paper's examples beside the printed ones.
#pragma once

#include <string>

namespace garra::cli {

/// Prints the claims; `format` is human or json. Throws Error(kInputOutput) if the screws of the examples cannot be
/// found.
void print_claims(const std::string& format);

}  // namespace garra::cli
