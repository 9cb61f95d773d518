// Tiles, refilling and devices.
#include <gtest/gtest.h>

#include <vector>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "garra/batch/device.hpp"
#include "garra/batch/refill.hpp"
#include "garra/batch/tiles.hpp"
#include "garra/core/error.hpp"

namespace garra {
namespace {

template <class S>
struct Pair {
  S a, b;
};

TEST(Tiles, KeepEveryProblemAtEverySize) {
  for (const std::int64_t n : {1, 7, 8, 9, 31, 32, 33, 1003}) {
    batch::Tiles<Pair<double>> tiles(n);
    for (std::int64_t i = 0; i < n; ++i) tiles.set(i, {double(i), -double(i)});
    tiles.pad();
    for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(tiles.get(i).b, -double(i));
    for (std::int64_t i = n; i % batch::kTile != 0; ++i) EXPECT_EQ(tiles.get(i).a, double(n - 1));
    const auto lanes = batch::load<Lanes<double>, Pair<Lanes<double>>>(tiles.data(), 0);
    for (int l = 0; l < kWidth<Lanes<double>> && l < n; ++l) EXPECT_EQ(lanes.a[l], double(l));
  }
}

/// Counts down from a number that differs from problem to problem.
struct Countdown {
  Lanes<double> left, steps, running;
};

TEST(Refilling, FinishesEveryProblemOnceWithItsOwnNumberOfSteps) {
  using S = Lanes<double>;
  for (const std::int64_t n : {0, 1, 7, 8, 9, 100, 1003}) {
    const auto steps_of = [](std::int64_t i) { return static_cast<double>((i * 37) % 11); };
    std::vector<int> finished(static_cast<std::size_t>(n));
    batch::solve_refilling<double>(
        n,
        [&](std::int64_t first) {
          Countdown c{S(0), S(0), S(0)};
          for (int l = 0; l < S::kSize; ++l) c.left.set(l, steps_of(first + l));
          c.running = select(c.left > S(0), S(1), S(0));
          return c;
        },
        [](Countdown& c) {
          const auto on = c.running > S(0);
          c.left -= select(on, S(1), S(0));
          c.steps += select(on, S(1), S(0));
          c.running = select(c.left > S(0), c.running, S(0));
        },
        [](const Countdown& c) { return c.running > S(0); },
        [&](std::int64_t i, const Countdown& c, int lane) {
          ++finished[static_cast<std::size_t>(i)];
          EXPECT_EQ(c.steps[lane], steps_of(i)) << i;
        });
    for (const int f : finished) EXPECT_EQ(f, 1);
  }
}

TEST(Device, NamesAreUnderstoodOrRefusedWithARemedy) {
  EXPECT_EQ(parse_device("scalar").executor, Executor::kScalar);
  EXPECT_EQ(parse_device("cpu", 3).threads, 3);
  for (const char* name : {"gpu", "cuda:", "cuda:x", "", "cuda:99999"}) {
    try {
      (void)parse_device(name);
      FAIL() << name;
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == ExitCode::kUsage || e.code() == ExitCode::kNoDevice) << name;
      EXPECT_NE(std::string(e.what()).find('\n'), std::string::npos) << "no remedy for " << name;
    }
  }
}

TEST(Device, AnswersHowMuchFitsInWholeBlocks) {
  const Device cpu = parse_device("cpu");
  const std::int64_t n = how_many_fit(cpu, 1000);
  EXPECT_GT(n, 0);
  EXPECT_EQ(n % 1024, 0);
  EXPECT_LE(static_cast<std::uint64_t>(n) * 1000, free_memory(cpu) / 2 + 1024 * 1000);
  EXPECT_THROW((void)how_many_fit(cpu, std::uint64_t{1} << 50), Error);
}

TEST(Devices, AutoGivesArraysOfTheHostToAGpuWhereTheProcessorTakesLongerThanItToBegin) {
  const auto by_auto = [](double core_seconds) { return parse_device_for_arrays("auto", 2, core_seconds).executor; };
  EXPECT_EQ(by_auto(core_seconds::kCopying), Executor::kLanes);
  EXPECT_EQ(by_auto(1.99 * kGpuStart), Executor::kLanes);
  EXPECT_EQ(by_auto(2.01 * kGpuStart), parse_device("auto").executor);
  EXPECT_EQ(parse_device_for_arrays("scalar", 2, 100).executor, Executor::kScalar);
  EXPECT_THROW(static_cast<void>(parse_device_for_arrays("gpu", 2, 0)), Error);
  // A million problems of three contacts, a thousand of 32.
  EXPECT_DOUBLE_EQ(core_seconds::contacts(1'000'000, 3), 0.8);
  EXPECT_NEAR(core_seconds::contacts(1'000, 32), 1.0, 0.05);
}

}  // namespace
}  // namespace garra
