// garra_siconos: Siconos on a problem file, in a process of its own because it may abort. `garra contact bench` starts
// it.
//
//   garra_siconos                                     prints the names of its methods, one per line
//   garra_siconos METHOD PROBLEMS.h5 TOL FIRST        one line per problem from FIRST on, as soon as it is solved:
//                                                     index info iterations seconds c[0] ... c[3k-1]
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "garra/io/problem_file.hpp"
#include "peers/siconos.hpp"

namespace {

using namespace garra::bench;

constexpr int kRepetitions = 3;  // as `garra contact bench` repeats garra's own methods

void print(std::int64_t index, const siconos::Answer& answer) {
  std::printf("%lld %d %d %.9g", static_cast<long long>(index), answer.info, answer.iterations, answer.seconds);
  for (const double c : answer.c) std::printf(" %.17g", c);
  std::printf("\n");
  std::fflush(stdout);  // what was solved is kept if the next problem ends this process
}

bool run(const std::string& name, char** argv) {
  siconos::Control control;
  control.tolerance = std::strtod(argv[3], nullptr);
  control.first = std::strtoll(argv[4], nullptr, 10);
  control.repetitions = kRepetitions;
  const auto solve = [&](siconos::Method method) {
    siconos::solve_each(garra::io::read_problems(argv[2]), method, control, print);
    return true;
  };
  for (const siconos::Method method : siconos::kMethods)
    if (siconos::to_string(method) == name) return solve(method);
  return siconos::to_string(siconos::Method::lemke) == name && solve(siconos::Method::lemke);
}

void print_methods() {
  for (const siconos::Method method : siconos::kMethods)
    std::printf("%s\n", std::string(siconos::to_string(method)).c_str());
  std::printf("%s\n", std::string(siconos::to_string(siconos::Method::lemke)).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return print_methods(), 0;
  if (argc != 5) return std::fprintf(stderr, "usage: garra_siconos [METHOD PROBLEMS.h5 TOL FIRST]\n"), 2;
  try {
    return run(argv[1], argv) ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "garra_siconos: %s\n", error.what());
    return 3;
  }
}
