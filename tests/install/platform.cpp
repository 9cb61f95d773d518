// Platforms and nothing else of the library: what its archives need of each other is on the link line. The argument is
// an installed platform file.
#include <cmath>
#include <cstdio>
#include <garra/io/platform_file.hpp>
#include <garra/platform_dynamics.hpp>

int main(int, char** argv) {
  namespace platform = garra::platform;
  const platform::Platform model = garra::io::read_platform(argv[1]);
  const auto home = platform::home_place(model);
  const platform::Poses pose{{home.r[0], home.r[1], home.r[2] + 0.01}, {1, 0, 0, 0}};
  const auto lengths = platform::inverse_kinematics({model}, pose, {}).lengths;
  const platform::Poses guess{{home.r[0], home.r[1], home.r[2]}, {1, 0, 0, 0}};
  const auto found = platform::forward_kinematics_full({model}, lengths, guess).pose.position;
  return std::abs(found[2] - pose.position[2]) < 1e-9 ? 0 : (std::printf("wrong pose\n"), 1);
}
