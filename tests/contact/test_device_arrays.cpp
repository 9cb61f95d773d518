// Problems and solutions that stay on the GPU: the bits of the scalar executor, in any strides, on the caller's stream
// and in the caller's memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "answers.hpp"
#include "contact/problems/classes.hpp"
#include "garra/contact_device.hpp"
#include "garra/core/error.hpp"

#ifdef GARRA_TESTS_CALL_CUDA
#include "device_array.hpp"
#include "merit_methods.hpp"

namespace garra {
namespace {

using contact::Method;
using contact::Problems;
using test::Layout;
using test::OnGpu;

/// Unit slip directions as contact::solve takes them from velocities; (0, 0) where a contact may roll.
std::vector<double> directions_of(const Problems& p) {
  std::vector<double> out(static_cast<std::size_t>(2 * p.count * p.contacts), 0.0);
  for (std::size_t j = 0; j < p.mode.size(); ++j)
    if (p.mode[j] != 0)
      for (std::size_t i = 0; i < 2; ++i)
        out[2 * j + i] = p.slip_velocity[2 * j + i] / std::hypot(p.slip_velocity[2 * j], p.slip_velocity[2 * j + 1]);
  return out;
}

/// Problems on the GPU, and room for all that is known of their solutions.
struct Batch {
  Batch(const Problems& p, Layout layout)
      : k(p.contacts),
        n(p.count),
        A(p.A, n, 9 * k * k, layout),
        b(p.b, n, 3 * k, layout),
        mu(p.mu, n, k, layout),
        slips(directions_of(p), n, 2 * k, layout),
        c(n, 3 * k, layout),
        a(n, 3 * k, layout),
        residual(n, 1, layout),
        raw(n, 1, layout),
        minimum(n, 1, layout),
        gradient(n, 1, layout),
        merit(n, 1, layout),
        margin(n, 1, layout),
        critical(n, 1, layout),
        iterations(n, 1, layout),
        evaluations(n, 1, layout),
        inner(n, 1, layout),
        products(n, 1, layout),
        stage(n, 1, layout),
        stalls(n, 1, layout),
        status(n, 1, layout),
        state(n, k, layout) {
    problems = {k, n, A, b, mu, {}};
    if (!p.slip_velocity.empty()) problems.slip_direction = slips;
    to = {c,     a,        residual, raw,    minimum, gradient, status,   iterations, evaluations,
          inner, products, stage,    stalls, merit,   margin,   critical, state};
  }
  [[nodiscard]] contact::Solutions solutions() const {
    return {k,
            n,
            c.rows(),
            a.rows(),
            residual.rows(),
            raw.rows(),
            merit.rows(),
            minimum.rows(),
            gradient.rows(),
            iterations.rows(),
            evaluations.rows(),
            inner.rows(),
            products.rows(),
            stage.rows(),
            stalls.rows(),
            status.rows(),
            {},
            state.rows(),
            margin.rows(),
            critical.rows()};
  }

  int k;
  std::int64_t n;
  OnGpu<double> A, b, mu, slips, c, a, residual, raw, minimum, gradient, merit, margin, critical;
  OnGpu<std::int32_t> iterations, evaluations, inner, products, stage, stalls;
  OnGpu<Status> status;
  OnGpu<contact::ContactState> state;
  contact::DeviceProblems problems;
  contact::DeviceSolutions to;
};

void expect_same(const contact::Solutions& reference, const contact::Solutions& found) {
  EXPECT_EQ(test::make_answer(reference).difference(test::make_answer(found), true), "");
}

contact::Solutions solve_there(const Problems& p, const contact::Options& options, Layout layout) {
  const Batch batch(p, layout);
  const test::Place place(contact::workspace_bytes(batch.problems, options, batch.to));
  contact::solve(batch.problems, options, batch.to, place.call());
  place.wait();
  return batch.solutions();
}

class DeviceArraysByMethod : public testing::TestWithParam<int> {};

TEST_P(DeviceArraysByMethod, HaveTheScalarBits) {
  contact::Options options;
  options.method = static_cast<Method>(GetParam());
  const bool merit = test::minimizes_merit(options.method);
  // Nine contacts are solved as twelve of which three touch nothing.
  for (int contacts = 1; contacts <= (merit ? 2 : 9); ++contacts) {
    SCOPED_TRACE(contacts);
    const int count = merit || contacts > contact::kMaxOwnSize ? 9 : 67;
    const Problems p = contacts == 1 ? bench::random_grasps({1, 33, 0})
                                     : bench::sliding_grasps(bench::Sliding::some, {contacts, count});
    const contact::Solutions reference = contact::solve(p, options, test::kReference);
    for (const Layout layout : {Layout::kRows, Layout::kFields, Layout::kWithGaps})
      expect_same(reference, solve_there(p, options, layout));
  }
}
INSTANTIATE_TEST_SUITE_P(Methods, DeviceArraysByMethod, testing::Range(0, contact::kMethodCount - 1),
                         [](const auto& info) {
                           return std::string(contact::to_string(static_cast<Method>(info.param))).substr(0, 3) +
                                  std::to_string(info.param);
                         });

TEST(DeviceArrays, OfAnySizeHaveTheScalarBits) {
  for (const std::int64_t n : {1, 31, 32, 33, 255}) {
    SCOPED_TRACE(n);
    const Problems p = bench::random_grasps({3, n, 0});
    expect_same(contact::solve(p, {}, test::kReference), solve_there(p, {}, Layout::kRows));
  }
}

TEST(DeviceArrays, InMixedPrecisionHaveTheScalarBits) {
  const contact::Options mixed{.precision = contact::Precision::kMixed};
  for (const int contacts : {1, 3, 8}) {
    const Problems p = bench::random_grasps({contacts, 67, 0});
    expect_same(contact::solve(p, mixed, test::kReference), solve_there(p, mixed, Layout::kWithGaps));
  }
}

TEST(DeviceArrays, WithNanInOneProblemTouchNoOther) {
  Problems p = bench::random_grasps({3, 40, 0});
  p.b[9 * 17 + 4] = std::nan("");
  const contact::Solutions found = solve_there(p, {}, Layout::kRows);
  expect_same(contact::solve(p, {}, test::kReference), found);
  EXPECT_EQ(found.status[17], Status::kInvalidInput);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &found.c[9 * 17], sizeof bits);
  EXPECT_EQ(bits, 0x7ff8000000000000u) << "one pattern for every NaN";
}

TEST(DeviceArrays, OfOneRowStandForAllProblems) {
  Problems p = bench::random_grasps({3, 40, 0});
  for (std::size_t i = 0; i < p.mu.size(); ++i) p.mu[i] = p.mu[i % 3];
  Batch batch(p, Layout::kRows);
  batch.problems.mu.row = 0;
  const test::Place place(contact::workspace_bytes(batch.problems, {}, batch.to));
  contact::solve(batch.problems, {}, batch.to, place.call());
  place.wait();
  expect_same(contact::solve(p, {}, test::kReference), batch.solutions());
}

TEST(DeviceArrays, ThatAreNotWantedStayAsTheyAre) {
  const Problems p = bench::random_grasps({3, 40, 0});
  const Batch batch(p, Layout::kRows);
  const contact::DeviceSolutions forces{.c = batch.c, .status = batch.status};
  const test::Place place(contact::workspace_bytes(batch.problems, {}, forces));
  // Of so few problems the room for what follows a solver may be larger than decisions.
  const contact::Options sweeps{.method = contact::Method::kNsgs};
  EXPECT_LE(contact::workspace_bytes(batch.problems, sweeps, forces),
            contact::workspace_bytes(batch.problems, sweeps, batch.to))
      << "no verdicts";
  contact::solve(batch.problems, {}, forces, place.call());
  place.wait();
  EXPECT_EQ(batch.c.rows(), contact::solve(p, {}, test::kReference).c);
  for (const double x : batch.a.rows()) EXPECT_TRUE(std::isnan(x));
  for (const std::int32_t x : batch.iterations.rows()) EXPECT_EQ(x, -1);
}

TEST(DeviceArrays, AreChecked) {
  for (const int contacts : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16}) {
    SCOPED_TRACE(contacts);
    const Problems p =
        contacts == 1 ? bench::random_grasps({1, 67, 0}) : bench::sliding_grasps(bench::Sliding::some, {contacts, 67});
    std::vector<double> forces = contact::solve(p, {}, test::kReference).c;
    for (std::size_t i = 0; i < forces.size(); i += static_cast<std::size_t>(9 * contacts)) forces[i] += 0.1;
    const Batch batch(p, Layout::kWithGaps);
    const OnGpu<double> c(forces, p.count, 3 * contacts, Layout::kFields);
    const test::Place place(contact::check_workspace_bytes(batch.problems, batch.to));
    contact::check_solution(batch.problems, c, 1e-8, batch.to, place.call());
    place.wait();
    const contact::Solutions found = batch.solutions();
    expect_same(contact::check_solution(p, forces, 1e-8), found);
    EXPECT_GT(std::ranges::count(found.status, Status::kStalled), 10) << "every third problem was spoiled";
    EXPECT_GT(std::ranges::count(found.status, Status::kConverged), 30);
  }
}

TEST(DeviceArrays, NeedTheirWorkspaceAndNothingElse) {
  const Problems p = bench::random_grasps({3, 100, 0});
  const Batch batch(p, Layout::kRows);
  const std::size_t bytes = contact::workspace_bytes(batch.problems, {}, batch.to);
  EXPECT_THROW(contact::solve(batch.problems, {}, batch.to, test::Place(bytes - 1).call()), Error);
  const test::Place place(bytes);
#ifdef GARRA_CUDA_SIMULATED
  simulated_gpu::fail(simulated_gpu::Failure::kAllocation, 1);
#endif
  contact::solve(batch.problems, {}, batch.to, place.call());
#ifdef GARRA_CUDA_SIMULATED
  simulated_gpu::recover();
#endif
  contact::solve(batch.problems, {}, batch.to, place.call());
  place.wait();
  expect_same(contact::solve(p, {}, test::kReference), batch.solutions());
}

#ifdef GARRA_CUDA_SIMULATED
TEST(DeviceArrays, AreWorkedOnInTheCallersStreamAlone) {
  const Problems p = bench::random_grasps({3, 40, 0});
  const Batch batch(p, Layout::kRows);
  const test::Place place(contact::workspace_bytes(batch.problems, {}, batch.to));
  const std::int64_t before = simulated_gpu::kernels_run();
  contact::solve(batch.problems, {}, batch.to, place.call());
  EXPECT_EQ(simulated_gpu::kernels_run(), before) << "it only queues";
  for (const double x : batch.residual.rows()) EXPECT_TRUE(std::isnan(x)) << "ran in the default stream";
  place.wait();
  EXPECT_GT(simulated_gpu::kernels_run(), before);
  EXPECT_EQ(batch.residual.rows(), contact::solve(p, {}, test::kReference).residual);
}
#endif

TEST(DeviceArrays, RefuseWhatNoKernelTakes) {
  const Batch batch(bench::random_grasps({3, 1, 0}), Layout::kRows);
  const auto solve = [&](const contact::Options& options) { contact::solve(batch.problems, options, batch.to, {}); };
  EXPECT_THROW(solve({.method = Method::kLemke}), Error);
  EXPECT_THROW(solve({.count_solutions = true}), Error);
  EXPECT_THROW(solve({}), Error) << "no workspace";
  contact::DeviceProblems none = batch.problems;
  none.b.data = nullptr;
  EXPECT_THROW(contact::solve(none, {}, batch.to, {}), Error);
  none.count = 0;
  EXPECT_EQ(contact::workspace_bytes(none, {}, batch.to), 0u);
  contact::solve(none, {}, batch.to, {});
}

TEST(DeviceArrays, OfLcpsHaveTheScalarBits) {
  for (const int size : {1, 3, 8}) {
    SCOPED_TRACE(size);
    constexpr int kCount = 67;
    lcp::Problems p{size, kCount, {}, {}};
    for (int i = 0; i < kCount * size * size; ++i)
      p.M.push_back(std::sin(1.7 * i) + (i % (size * size) % (size + 1) == 0 ? size : 0));
    for (int i = 0; i < kCount * size; ++i) p.q.push_back(std::cos(2.3 * i));
    p.q[static_cast<std::size_t>(5 * size)] = std::nan("");
    for (const Layout layout : {Layout::kRows, Layout::kFields, Layout::kWithGaps}) {
      const OnGpu<double> M(p.M, kCount, size * size, layout), q(p.q, kCount, size, layout), z(kCount, size, layout),
          w(kCount, size, layout), residual(kCount, 1, layout);
      const OnGpu<std::int32_t> pivots(kCount, 1, layout);
      const OnGpu<Status> status(kCount, 1, layout);
      const lcp::DeviceProblems problems{size, kCount, M, q};
      const lcp::DeviceSolutions to{z, w, residual, pivots, status};
      const test::Place place(lcp::workspace_bytes(problems, {}, to));
      lcp::solve(problems, {}, to, place.call());
      place.wait();
      const lcp::Solutions found{size, kCount, z.rows(), w.rows(), residual.rows(), pivots.rows(), status.rows()};
      const lcp::Solutions reference = lcp::solve(p, {}, test::kReference);
      EXPECT_EQ(test::make_answer(reference).difference(test::make_answer(found), true), "");
    }
  }
}

}  // namespace
}  // namespace garra
#else
namespace garra {
TEST(DeviceArrays, OfContactsHaveTheScalarBits) { GTEST_SKIP() << "built without CUDA"; }
}  // namespace garra
#endif
