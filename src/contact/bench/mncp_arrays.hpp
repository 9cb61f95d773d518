// The families of the MNCP test set (garra/solvers/mncp_problems.hpp) on plain arrays, for Python.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "garra/mncp.hpp"

namespace garra::mncp {

/// Names of Merit and of Minimizer.
inline constexpr const char* kMerits[] = {"papers", "products", "fischer-burmeister"};
inline constexpr const char* kMinimizers[] = {"box-quacan", "spg", "projected-lm"};

/// Problems of one shape, numbered as solvers::MncpTestSet lists them.
struct Family {
  const char* name;
  int complementary, free;  ///< p, m: n = p + m unknowns
  int numbers;              ///< numbers in a problem: the members of its Data, one after another

  [[nodiscard]] int unknowns() const { return complementary + free; }
};
[[nodiscard]] std::vector<Family> families();

/// A problem of the set with its known solutions; if solutions are not isolated, some of them.
struct Case {
  std::string name;
  int family;
  std::vector<double> numbers, start;
  std::vector<std::vector<double>> solutions;
};
[[nodiscard]] std::vector<Case> cases();

/// Problems of one family.
struct Arrays {
  int family = 0;
  std::int64_t count = 0;
  std::span<const double> numbers;  ///< [count][numbers]
  std::span<const double> start;    ///< [count][n]
};

/// Solves the problems with the chosen merit function and minimizer, on doubles: all pairs for all families in lanes
/// would be too much code. Throws Error if there is no such family, sizes do not match, or the device is a GPU.
[[nodiscard]] Solutions solve_arrays(const Arrays& in, const Choice& choice, const Options& options,
                                     const Device& device);

}  // namespace garra::mncp
