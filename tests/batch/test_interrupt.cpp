// Calls that somebody ends before their time.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "garra/batch/interrupt.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/contact.hpp"
#include "garra/core/lanes.hpp"

namespace garra {
namespace {

using std::chrono::milliseconds;

struct Stop {};

/// Blocks of a millisecond, far more than a test waits for.
std::int64_t run_blocks(int threads) {
  std::atomic<std::int64_t> done{0};
  batch::for_blocks(threads, {20'000, 1}, [&](std::int64_t, std::int64_t) {
    std::this_thread::sleep_for(milliseconds(1));
    ++done;
  });
  return done;
}

TEST(Interrupt, NobodyIsAskedWithoutAScope) {
  check_interrupt();
  batch::for_blocks(2, {1000, 1}, [](std::int64_t, std::int64_t) {});
}

TEST(Interrupt, EndsALoopOfAnyNumberOfThreadsWithWhatTheScopeThrows) {
  for (const int threads : {1, 2, 5}) {
    int asked = 0;
    const auto owner = std::this_thread::get_id();
    const InterruptScope scope(
        [&] {
          EXPECT_EQ(std::this_thread::get_id(), owner) << "Python's handlers run in its main thread only";
          if (++asked == 3) throw Stop();
        },
        milliseconds(5));
    EXPECT_THROW(run_blocks(threads), Stop) << threads;
    EXPECT_EQ(asked, 3);
  }
}

TEST(Interrupt, IsAskedInLoopsWithinLoopsOfATeam) {
  const InterruptScope scope([] { throw Stop(); }, milliseconds(20));
  // The team's other threads are in an inner loop, where they see that the call has ended.
  EXPECT_THROW(batch::for_blocks(3, {3, 1}, [](std::int64_t, std::int64_t) { run_blocks(1); }), Stop);
}

TEST(Interrupt, AsksOncePerPeriodAndGoesOnWhereNothingIsThrown) {
  int asked = 0;
  const InterruptScope scope([&] { ++asked; }, milliseconds(20));
  const auto start = std::chrono::steady_clock::now();
  batch::for_blocks(1, {100, 1}, [](std::int64_t, std::int64_t) { std::this_thread::sleep_for(milliseconds(1)); });
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(asked, 1);
  EXPECT_LE(asked, took / milliseconds(20));
}

TEST(Interrupt, AScopeWithinAnotherAsksBoth) {
  const InterruptScope outer([] { throw Stop(); }, milliseconds(5));
  int asked = 0;
  {
    const InterruptScope inner([&] { ++asked; }, milliseconds(5));
    EXPECT_THROW(run_blocks(2), Stop);
    EXPECT_EQ(asked, 0);
  }
  EXPECT_THROW(run_blocks(2), Stop);
}

TEST(Interrupt, AScopeWithinATeamSeesThatTheTeamHasEnded) {
  const InterruptScope outer([] { throw Stop(); }, milliseconds(20));
  const auto in_team = [](std::int64_t, std::int64_t) {
    {
      const InterruptScope inner([] {}, milliseconds(1));
      run_blocks(1);
    }
    run_blocks(1);
  };
  EXPECT_THROW(batch::for_blocks(3, {3, 1}, in_team), Stop);
}

TEST(Interrupt, ALoopOverStepsAsksEverySoOften) {
  const InterruptScope scope([] { throw Stop(); }, milliseconds(0));
  const EverySoOften between;
  for (int step = 1; step < 64; ++step) between();
  EXPECT_THROW(between(), Stop);
}

/// One problem alone that would take hours: no block is between its steps.
TEST(Interrupt, EndsWithinASingleProblem) {
  if (!kLanesPay) GTEST_SKIP() << "the loop over doubles asks between problems";
  const std::vector<double> A = {2, 0.5, 0, 0.5, 1, 0.25, 0, 0.25, 1}, b = {-1, 0.75, 0.5}, mu = {0.5};
  const contact::ProblemView problem{1, 1, A, b, mu, {}, {}};
  contact::Options options;
  options.method = contact::Method::kNsgs;
  options.tolerance = 1e-300;
  options.max_iterations = 2'000'000'000;
  const InterruptScope scope([] { throw Stop(); }, milliseconds(20));
  EXPECT_THROW(static_cast<void>(contact::solve(problem, options, Device{})), Stop);
}

}  // namespace
}  // namespace garra
