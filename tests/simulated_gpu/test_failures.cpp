// A GPU that fails at any one call: the answer is an error that says so and the exit code of a missing device, nothing
// stays allocated, and the next solve is as good as ever. And one with little memory, whose blocks run in any order.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "contact/problems/classes.hpp"
#include "garra/chain_eval.hpp"
#include "garra/contact.hpp"
#include "garra/core/error.hpp"
#include "garra/grasp.hpp"
#include "garra/io/robot.hpp"
#include "garra/io/scenario.hpp"
#include "garra/lcp.hpp"
#include "garra/wrench_balance.hpp"
#include "places.hpp"
#include "simulated_gpu/control.hpp"

namespace garra {
namespace {

constexpr Device kGpu{Executor::kCuda, 0, 0};
constexpr Device kReference{Executor::kScalar, 1, 0};

/// An operation, and the bytes of its answer.
struct Operation {
  const char* name;
  std::function<std::string(const Device&)> run;
  bool is_study;
};

std::string bytes(const std::vector<double>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

std::string forces(const Device& device) {
  const auto problems = bench::random_grasps({3, 3000, 0});
  return bytes(contact::solve(problems, {}, device).c);
}

std::string accelerations(const Device& device) {
  const chain::Robot robot = io::read_robot(test::source_folder() + "/data/robots/puma560.toml");
  chain::States states;
  states.count = 3000;
  for (std::vector<double>* values : {&states.q, &states.qd, &states.tau})
    for (int i = 0; i < 3000 * 6; ++i) values->push_back(0.001 * i);
  constexpr auto kWanted = chain::Output::kForwardDynamics;
  return bytes(chain::evaluate(robot, states, kWanted, {}, device)[kWanted]);
}

lcp::Problems small_lcps(std::int64_t count) {
  lcp::Problems p{1, count, {}, {}};
  for (int i = 0; i < count; ++i) {
    p.M.push_back(1 + 0.001 * i);
    p.q.push_back(std::sin(i));
  }
  return p;
}

/// As many as go in more shares than are on the way at once, the last one smaller.
std::string complementarity(const Device& device) {
  const auto found = lcp::solve(small_lcps(17'001), {}, device);
  return bytes(found.z) + bytes(found.w) + bytes(found.residual);
}

std::string summary(const Device& device) {
  const auto scenario =
      io::read_scenario(test::source_folder() + "/data/scenarios/three_puma_sphere.toml", {"sampling.samples=3000"});
  return grasp::robustness(scenario, device).summary_json;
}

class FailingGpu : public testing::TestWithParam<Operation> {
 protected:
  ~FailingGpu() override {
    simulated_gpu::recover();
    simulated_gpu::shuffle_blocks(0);
    simulated_gpu::set_memory(memory_);
  }
  const std::size_t memory_ = simulated_gpu::memory();
};

TEST_P(FailingGpu, IsReportedLeavesNothingBehindAndIsForgotten) {
  const auto& operation = GetParam().run;
  const std::string expected = operation(kReference);
  for (const auto what : {simulated_gpu::Failure::kAllocation, simulated_gpu::Failure::kCopy,
                          simulated_gpu::Failure::kLaunch, simulated_gpu::Failure::kKernel}) {
    int n = 0;
    for (bool reached = true; reached;) {
      SCOPED_TRACE(testing::Message() << "failure " << static_cast<int>(what) << ", call " << n + 1);
      simulated_gpu::fail(what, ++n);
      bool failed = false;
      std::string found;
      try {
        found = operation(kGpu);
      } catch (const Error& error) {
        failed = true;
        EXPECT_EQ(error.code(), ExitCode::kNoDevice);
        EXPECT_NE(std::string(error.what()).find("CUDA: "), std::string::npos);
        EXPECT_NE(std::string(error.what()).find('\n'), std::string::npos) << "no remedy";
      }
      EXPECT_EQ(simulated_gpu::bytes_in_use(), 0u);
      reached = !simulated_gpu::is_planned(what);
      // A study does with less at once what it had no memory for.
      const bool mended = GetParam().is_study && what == simulated_gpu::Failure::kAllocation;
      EXPECT_EQ(failed, reached && !mended) << "a failure that nobody noticed, or none";
      EXPECT_TRUE(failed || found == expected);
      simulated_gpu::recover();
    }
    EXPECT_GT(n, 1) << "nothing of this kind is ever called";
    EXPECT_TRUE(operation(kGpu) == expected);
  }
}

TEST_P(FailingGpu, WithLittleMemoryWorksInPiecesAndSaysWhenItIsTooLittle) {
  const auto& operation = GetParam().run;
  const std::string expected = operation(kReference);
  const auto kernels_of = [&](bool& fitted) {
    const std::int64_t before = simulated_gpu::kernels_run();
    try {
      EXPECT_TRUE(operation(kGpu) == expected);
    } catch (const Error& error) {
      fitted = false;
      EXPECT_EQ(error.code(), ExitCode::kNoDevice);
      EXPECT_NE(std::string(error.what()).find("not enough free memory on simulated GPU"), std::string::npos);
    }
    return simulated_gpu::kernels_run() - before;
  };
  bool fits = true;
  const std::int64_t at_once = kernels_of(fits);
  std::int64_t most = 0;
  for (std::size_t memory = std::size_t{64} << 20; fits; memory = memory / 4 * 3) {
    simulated_gpu::set_memory(memory);
    const std::int64_t kernels = kernels_of(fits);
    if (fits) most = std::max(most, kernels);
  }
  // Not twice as many: what a study's last kernels do is done once, whatever its pieces.
  EXPECT_GE(most, at_once + at_once / 2) << "never in pieces";
}

TEST_P(FailingGpu, AnswersTheSameInWhateverOrderItsBlocksRun) {
  const auto& operation = GetParam().run;
  const std::string expected = operation(kReference);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    simulated_gpu::shuffle_blocks(seed);
    EXPECT_TRUE(operation(kGpu) == expected);
  }
}

// Each larger than what the calls before have left, and in shares enough that every stage has its own.
TEST(PinnedMemory, ThatTheHostHasNotIsReportedAndForgotten) {
  std::int64_t rows = 10'000;
  for (const int n : {1, 2, 3}) {
    SCOPED_TRACE(n);
    for (bool failed = false; !failed; rows *= 2) {
      ASSERT_LT(rows, 1'000'000) << "never called";
      const lcp::Problems problems = small_lcps(rows);
      simulated_gpu::fail(simulated_gpu::Failure::kPinned, n);
      try {
        static_cast<void>(lcp::solve(problems, {}, kGpu));
      } catch (const Error& error) {
        failed = true;
        EXPECT_EQ(error.code(), ExitCode::kNoDevice);
        EXPECT_NE(std::string(error.what()).find("pinned memory"), std::string::npos) << error.what();
      }
      EXPECT_EQ(failed, !simulated_gpu::is_planned(simulated_gpu::Failure::kPinned));
      EXPECT_EQ(simulated_gpu::bytes_in_use(), 0u);
      simulated_gpu::recover();
      EXPECT_TRUE(lcp::solve(problems, {}, kGpu).z == lcp::solve(problems, {}, kReference).z);
    }
  }
}

// Wrench balances of eight contacts: a thread's stack is several times its numbers.
TEST(StacksOfAKernel, TakeTheirPartOfTheMemory) {
  constexpr std::int64_t kCount = 40;
  std::vector<double> W, w, mu(8 * kCount, 0.5);
  for (int i = 0; i < 144 * kCount; ++i) W.push_back(std::sin(1.3 * i));
  for (int i = 0; i < 6 * kCount; ++i) w.push_back(std::cos(0.7 * i));
  const contact::Wrenches wrenches{8, kCount, W, w, mu};
  const auto expected = contact::balance(wrenches, kReference).decision;
  const std::size_t before = simulated_gpu::memory();
  EXPECT_EQ(contact::balance(wrenches, kGpu).decision, expected);
  std::string said;
  for (std::size_t memory = std::size_t{64} << 20; said.empty(); memory /= 2) {
    simulated_gpu::set_memory(memory);
    try {
      EXPECT_EQ(contact::balance(wrenches, kGpu).decision, expected);
    } catch (const Error& error) {
      said = error.what();
    }
  }
  simulated_gpu::set_memory(before);
  EXPECT_NE(said.find("for what a batch takes whatever its size"), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(Of, FailingGpu,
                         testing::Values(Operation{"contacts", forces, false},
                                         Operation{"lcps", complementarity, false},
                                         Operation{"chains", accelerations, false}, Operation{"grasps", summary, true}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace garra
