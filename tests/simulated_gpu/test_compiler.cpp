// The optimizer of nvcc, with the flags of garra's kernels, keeps local arrays apart that are in use at once. A
// compiler or a set of flags that does not fails here, whatever nvcc's exit status was (docs/howto/gpu.md).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "machine.hpp"

namespace simulated_gpu {
namespace {

constexpr int kNumbers = 64;  ///< of a thread

std::string to_text(const std::string& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in.good()) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What reuse_local_memory.cu writes for x; all sums are exact.
double expected(bool first, double x, int k) {
  const int large = k % 40, small = k % 32;
  return first ? x * (large % 32) : (x + 1) * (large % 32) + x * large + (x + 1) * small;
}

/// How many numbers of the block are wrong.
int wrong_numbers(const std::string& ptx, bool first) {
  Machine m(ptx);
  const auto before = static_cast<std::size_t>(kLanes) * Machine::kBlock;  // threads of the blocks before this one
  const std::size_t all = before + kLanes;
  const std::uint64_t in = m.memory().allocate(all * sizeof(double));
  const std::uint64_t out = m.memory().allocate(all * kNumbers * sizeof(double));
  double* x = m.host<double>(in, all);
  for (std::size_t i = 0; i < all; ++i) x[i] = 1 + static_cast<double>(i) / 8;
  m.run({in, out});
  const double* found = m.host<double>(out, all * kNumbers);
  int wrong = 0;
  for (std::size_t i = before; i < all; ++i)
    for (int k = 0; k < kNumbers; ++k)
      wrong += !(found[i * kNumbers + static_cast<std::size_t>(k)] == expected(first, x[i], k));
  return wrong;
}

TEST(Compiler, KeepsLocalArraysApartThatAreInUseAtOnce) {
  std::istringstream architectures(GARRA_COMPILED_FOR);
  int compiled = 0;
  for (std::string architecture; architectures >> architecture;)
    for (const char* which : {"second", "first"}) {
      SCOPED_TRACE(std::string(which) + " kernel, compute_" + architecture);
      const std::string name = GARRA_COMPILED_IN "/" + std::string(which) + "-" + architecture;
      EXPECT_EQ(to_text(name + ".log").find("Unknown command line argument"), std::string::npos)
          << to_text(name + ".log");
      EXPECT_EQ(wrong_numbers(to_text(name + ".ptx"), std::string(which) == "first"), 0);
      ++compiled;
    }
  EXPECT_GE(compiled, 2);
}

}  // namespace
}  // namespace simulated_gpu
