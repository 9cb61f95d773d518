// A million inertia matrices of a robot, from its URDF or TOML file, in one call: how much the inertia that the first
// joint feels depends on the pose.
//
// usage: example_chain_inertia ROBOT [COUNT]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "garra/chain_eval.hpp"
#include "garra/io/robot.hpp"

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: %s ROBOT [COUNT]\n", argv[0]), 2;
  const garra::chain::Robot robot = garra::io::read_robot(argv[1]);
  const std::int64_t count = argc > 2 ? std::atoll(argv[2]) : 1'000'000;
  const auto joints = static_cast<std::size_t>(robot.joints);

  garra::chain::States states{.count = count, .q = {}};
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> angle(-3, 3);
  states.q.resize(static_cast<std::size_t>(count) * joints);
  std::generate(states.q.begin(), states.q.end(), [&] { return angle(random); });

  const auto start = std::chrono::steady_clock::now();
  const auto results = garra::chain::evaluate(robot, states, garra::chain::Output::kMassMatrix);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;

  double least = 1e300, most = 0;
  for (std::size_t at = 0; at < results.mass_matrix.size(); at += joints * joints) {
    least = std::min(least, results.mass_matrix[at]);
    most = std::max(most, results.mass_matrix[at]);
  }
  std::printf("%s: %lld inertia matrices in %.2f s; H(1,1) from %.3g to %.3g kg m^2\n", robot.name.c_str(),
              static_cast<long long>(count), took.count(), least, most);
  return least > 0 ? 0 : 1;
}
