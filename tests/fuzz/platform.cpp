// Platforms.
#include "fuzz.hpp"
#include "garra/io/platform_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace garra;
  fuzz::round_trip(fuzz::to_text(data, size),
                   [](const std::string& text) { return io::platform_toml(io::parse_platform(text, "fuzz.toml")); });
  return 0;
}
