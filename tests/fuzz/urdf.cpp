// Robots in URDF.
#include "fuzz.hpp"
#include "garra/io/robot.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace garra;
  std::string written;
  if (fuzz::accepted([&] { written = io::robot_toml(io::parse_urdf(fuzz::to_text(data, size), "fuzz.urdf")); }) &&
      !fuzz::accepted([&] { (void)io::parse_robot_toml(written, "fuzz.toml"); }))
    fuzz::finding("what we have written is refused:\n" + written);
  return 0;
}
