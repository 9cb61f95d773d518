// Calls into each part of the installed library that brings libraries of its own: OpenMP, TOML, HDF5, and CUDA where
// it was built in.
#include <cmath>
#include <cstdio>
#include <garra/contact.hpp>
#include <garra/core/error.hpp>
#include <garra/grasp.hpp>
#include <garra/io/problem_file.hpp>
#include <garra/io/scenario.hpp>

int main() {
  const garra::Device device = garra::parse_device("auto");
  std::printf("%s\n", garra::describe(device).c_str());

  // A unit mass on the floor: the contact carries its weight.
  const garra::contact::Problems problem{
      .contacts = 1, .count = 1, .A = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .b = {-9.81, 0, 0}, .mu = {0.5}};
  const auto solution = garra::contact::solve(problem, {}, device);
  if (!(std::abs(solution.c[0] - 9.81) < 1e-6)) return std::printf("wrong contact force\n"), 1;

  try {
    (void)garra::io::read_problems("no-such-file.h5");
    return std::printf("a missing file was read\n"), 1;
  } catch (const garra::Error&) {
  }

  const auto scenario = garra::io::parse_scenario(
      "schema = 1\njob = \"grasp\"\n[hand]\nmodel = \"three_puma\"\n"
      "[object]\nshape = \"sphere\"\nradius = \"100 mm\"\nmass = \"1 kg\"\nposition = [0, 0, \"300 mm\"]\n"
      "[contacts]\nangle = \"60 deg\"\nfriction = 0.4\n[load]\nsqueeze = \"15 N\"\n",
      "built in");
  return scenario.contacts.size() == 3 ? 0 : 1;
}
