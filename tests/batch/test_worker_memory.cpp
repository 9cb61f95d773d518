// Memory that runs out in a worker thread is the caller's std::bad_alloc (exit 6 in the program), for every operation
// that shares its work between threads. Operators new of this program fail where a test says so.
#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "answers.hpp"
#include "garra/batch/rows_run.hpp"
#include "garra/io/scenario.hpp"
#include "garra/mncp.hpp"
#include "garra/platform_simulate.hpp"
#include "garra/study/engine.hpp"
#include "places.hpp"
#include "platform_reference.hpp"
#include "singularity_map_cases.hpp"

namespace {

std::atomic<bool> workers_have_none{false};

/// nullptr where the test wants none.
void* memory(std::size_t size, std::size_t alignment) {
  if (workers_have_none && omp_in_parallel() != 0) return nullptr;
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void* memory_or_throw(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) {
  void* p = memory(size == 0 ? 1 : size, alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) { return memory_or_throw(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return memory_or_throw(size); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t a) {
  return memory_or_throw(size, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t a) {
  return memory_or_throw(size, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace garra {
namespace {

constexpr std::int64_t kMany = 5000;  // more than a block of any operation
constexpr auto kSize = static_cast<std::size_t>(kMany);
const Device kTwo{Executor::kLanes, 2, 0};

/// The call fails, and the next one answers as if nothing had been.
void expect_failure_is_the_callers(const std::function<test::Answer()>& operation) {
  const test::Answer before = operation();
  workers_have_none = true;
  EXPECT_THROW(static_cast<void>(operation()), std::bad_alloc);
  workers_have_none = false;
  EXPECT_EQ(before.difference(operation(), false), "");
}

/// `count` times the same numbers.
std::vector<double> repeated(const std::vector<double>& row, std::int64_t count = kMany) {
  std::vector<double> rows;
  for (std::int64_t k = 0; k < count; ++k) rows.insert(rows.end(), row.begin(), row.end());
  return rows;
}

/// A box of 1 kg between two fingers.
contact::Problems pinch() {
  contact::Problems p{2, kMany, {}, repeated({-3, 0.5, 0.2, -3, 0.4, -0.1}), repeated({0.5, 0.5})};
  std::vector<double> A(36);
  for (std::size_t i = 0; i < 6; ++i) A[7 * i] = 1;
  p.A = repeated(A);
  return p;
}

TEST(WorkerMemory, OfContactProblems) {
  expect_failure_is_the_callers([&] { return test::make_answer(contact::solve(pinch(), {}, kTwo)); });
}

TEST(WorkerMemory, OfComplementarityProblems) {
  const lcp::Problems problems{3, kMany, repeated({2, 1, 0, 1, 2, 1, 0, 1, 2}), repeated({-1, 2, -3})};
  expect_failure_is_the_callers([&] { return test::make_answer(lcp::solve(problems, {}, kTwo)); });
  expect_failure_is_the_callers([&] {
    const lcp::Enumeration all = lcp::enumerate(problems, 2);
    return test::Answer().add("z", all.z).add("first", all.first);
  });
}

/// 0 <= u ⟂ u - a >= 0
struct Distance {
  static constexpr int kComplementary = 1, kFree = 0;
  template <class S>
  struct Data {
    S a;
  };
  template <class S, class X>
  static GARRA_HD Vec<X, 1> evaluate(const Data<S>& m, const Vec<X, 1>& x) {
    return {{x[0] - m.a}};
  }
};

TEST(WorkerMemory, OfAUsersComplementarityProblems) {
  const std::vector<Distance::Data<double>> problems(kSize, {2.0});
  expect_failure_is_the_callers([&] {
    const mncp::Solutions found = mncp::solve<Distance>(problems, {1}, {}, kTwo);
    EXPECT_NEAR(found.x[kSize - 1], 2, 1e-8);
    return test::Answer().add("x", found.x).add("outer", found.outer).add("status", found.status);
  });
  expect_failure_is_the_callers([&] {
    const mncp::Values values = mncp::evaluate<Distance>(problems, {1}, kTwo);
    return test::Answer().add("f", values.f).add("gradient", values.gradient).add("residual", values.residual);
  });
}

TEST(WorkerMemory, OfChains) {
  const chain::Robot puma = singularity::map_test::robot_file("puma560.toml");
  chain::States states;
  states.count = kMany;
  states.q = repeated({0.1, 0.2, 0.3, 0.4, 0.5, 0.6});
  chain::Outputs wanted;
  wanted.add(chain::Output::kMassMatrix);
  expect_failure_is_the_callers([&] { return test::make_answer(chain::evaluate(puma, states, wanted, {}, kTwo)); });
  chain::Samples samples;
  samples.count = 300;
  samples.q = repeated({0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, samples.count);
  chain::SimulateOptions options;
  options.duration = 0.01;
  options.times = {0.01};
  expect_failure_is_the_callers([&] { return test::make_answer(chain::simulate(puma, samples, {}, options, kTwo)); });
}

TEST(WorkerMemory, OfPlatforms) {
  const platform::Platforms platforms = {test::reference_platform("irregular")};
  const platform::Poses poses{repeated({0, 0, 1.1}), repeated({1, 0, 0, 0})};
  expect_failure_is_the_callers(
      [&] { return test::make_answer(platform::inverse_kinematics(platforms, poses, {}, {}, kTwo)); });
  const platform::Starts starts{{repeated({0, 0, 1.1}, 300), repeated({1, 0, 0, 0}, 300)}, {}, {}};
  platform::ForceInput force;
  force.force = std::vector<double>(6, 100);
  platform::SimulateOptions options;
  options.duration = 0.01;
  options.times = {0.01};
  expect_failure_is_the_callers(
      [&] { return test::make_answer(platform::simulate(platforms, starts, force, options, kTwo)); });
}

TEST(WorkerMemory, OfSingularities) {
  using namespace singularity;
  const chain::Robot puma = map_test::robot_file("puma560.toml");
  const std::vector<double> q = map_test::random_configurations(puma, kMany);
  const std::vector<double> few(q.begin(), q.begin() + 6 * 2100);
  expect_failure_is_the_callers([&] { return test::make_answer(measure(puma, q, {}, kTwo)); });
  expect_failure_is_the_callers([&] { return test::make_answer(nearest_singularities(puma, few, {}, kTwo)); });
  MapScenario map = map_test::read_scenario_document(puma);
  map.plan.samples = map.plan.chunk = kMany;
  const auto study = make_study(map);
  expect_failure_is_the_callers([&] {
    const study::Tally tally = study->run(0, kMany, kTwo);
    return test::Answer().add("counts", tally.counts).add("kept", tally.kept);
  });
}

TEST(WorkerMemory, OfGraspsAtAnInstant) {
  const auto scenario = io::read_scenario(test::source_folder() + "/data/scenarios/three_puma_sphere.toml");
  grasp::GraspStates states;
  states.count = 300;
  expect_failure_is_the_callers([&] { return test::make_answer(grasp::analyze(scenario, states, kTwo)); });
}

/// An operation of a test: all that it takes.
struct Hypotenuse {
  template <class S>
  struct In {
    S a, b;
  };
  template <class S>
  struct Out {
    S c, longer;  ///< longer: 1 where a > b
  };
  template <class S>
  GARRA_HD Out<S> operator()(const In<S>& in) const {
    return {sqrt(in.a * in.a + in.b * in.b), select(in.a > in.b, S(1), S(0))};
  }
};

TEST(WorkerMemory, OfAnOperationOfOnesOwn) {
  const std::vector<double> a(kSize, 3), b(kSize, 4);
  expect_failure_is_the_callers([&] {
    std::vector<double> c(kSize);
    batch::run_rows(Hypotenuse{},
                    {kMany, {batch::in_column(a, 1), batch::in_column(b, 1)}, {batch::out_column(c), {}}, kTwo});
    return test::Answer().add("c", c);
  });
}

}  // namespace
}  // namespace garra
