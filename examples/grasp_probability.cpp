// How likely does the grasp of a scenario file hold? With a [simulation] table: until its end.
//
// usage: grasp_probability SCENARIO.toml [key=value...]
#include <cstdio>

#include "garra/grasp.hpp"
#include "garra/io/scenario.hpp"

int main(int count, char** arguments) {
  if (count < 2) return std::printf("usage: grasp_probability SCENARIO.toml [key=value...]\n"), 2;
  const auto scenario = garra::io::read_scenario(arguments[1], {arguments + 2, arguments + count});
  const auto answer = garra::grasp::robustness(scenario, garra::parse_device("auto"));
  std::printf("P(held) = %.4f [%.4f, %.4f] from %lld samples\n", answer.probability, answer.interval.low,
              answer.interval.high, static_cast<long long>(answer.samples));
}
