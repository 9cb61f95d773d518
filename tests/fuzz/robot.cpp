// Robots in TOML.
#include "garra/io/robot.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace garra;
  fuzz::round_trip(fuzz::to_text(data, size),
                   [](const std::string& text) { return io::robot_toml(io::parse_robot_toml(text, "fuzz.toml")); });
  return 0;
}
