// What a solution says about its contacts, against closed forms on both sides of every threshold.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "answers.hpp"
#include "contact/problems/classes.hpp"
#include "garra/contact.hpp"
#include "same_bits.hpp"

namespace garra {
namespace {

using contact::ContactState;
using contact::Problems;
using contact::Solutions;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr Device kDevices[] = {{Executor::kScalar, 1, 0}, {Executor::kLanes, 1, 0}};

/// Contacts that do not influence one another: A is the unit matrix, so a contact that sticks carries c = -b.
Problems uncoupled(const std::vector<double>& b, const std::vector<double>& mu) {
  const auto k = static_cast<int>(mu.size());
  Problems p{.contacts = k, .count = 1, .A = std::vector<double>(b.size() * b.size(), 0.0), .b = b, .mu = mu};
  for (std::size_t i = 0; i < b.size(); ++i) p.A[i * b.size() + i] = 1;
  return p;
}

struct Expected {
  std::vector<ContactState> state;
  double margin, critical;
};

void expect_decision(const Problems& p, const Expected& expected) {
  for (const Device& device : kDevices) {
    const Solutions s = contact::solve(p, {.tolerance = 1e-12}, device);
    ASSERT_EQ(s.status[0], Status::kConverged);
    EXPECT_EQ(s.state, expected.state);
    EXPECT_NEAR(s.friction_margin[0], expected.margin, 1e-11);
    if (std::isinf(expected.critical))
      EXPECT_EQ(s.required_friction[0], expected.critical);
    else
      EXPECT_NEAR(s.required_friction[0], expected.critical, 1e-11);
  }
}

// b = (-1, t, 0): pressed with 1 N, pushed sideways with t. Sticks while t <= mu; slips with a_T = t - mu. eps = 1e-6
// max |b|.
TEST(ContactDiagnosticsCase, APressedContactSticksUpToItsFriction) {
  expect_decision(uncoupled({-1, 0.3, 0}, {0.5}), {{ContactState::kStick}, 1 - 0.3 / 0.5, 0.3});
  expect_decision(uncoupled({-1, 0, 0.499}, {0.5}), {{ContactState::kStick}, 0.002, 0.499});
  expect_decision(uncoupled({-1, 0.4, 0.3}, {0.5}), {{ContactState::kStick}, 0, 0.5});
  expect_decision(uncoupled({-1, 0.5 + 0.9e-6, 0}, {0.5}), {{ContactState::kStick}, 0, 0.5});
  expect_decision(uncoupled({-1, 0.5 + 1.1e-6, 0}, {0.5}), {{ContactState::kSlip}, 0, 0.5});
  expect_decision(uncoupled({-1, 0.6, 0.8}, {0.5}), {{ContactState::kSlip}, 0, 0.5});
}

// b = (n, t, 0) with n >= 0: no force, a = b. The largest |b| is 2, so eps = 2e-6.
TEST(ContactDiagnosticsCase, AContactThatSeparatesFasterThanTheThresholdIsOpen) {
  expect_decision(uncoupled({1.9e-6, 2, 0}, {0.5}), {{ContactState::kSlip}, 0, kInf});
  expect_decision(uncoupled({2.1e-6, 2, 0}, {0.5}), {{ContactState::kOpen}, 0, kInf});
  expect_decision(uncoupled({3, 0, 0}, {0.5}), {{ContactState::kOpen}, 0, kInf});
}

TEST(ContactDiagnosticsCase, TheWorstContactCounts) {
  using enum ContactState;
  // Margins 0.4 and 0.7 of coefficients 0.3 and 0.24: smallest and largest are of different contacts where mu differs.
  expect_decision(uncoupled({-1, 0.3, 0, -2, 0, 0.48}, {0.5, 0.8}), {{kStick, kStick}, 0.4, 0.3});
  expect_decision(uncoupled({-1, 0.3, 0, -2, 0, 0.8}, {0.5, 0.8}), {{kStick, kStick}, 0.4, 0.4});
  expect_decision(uncoupled({-1, 0.3, 0, -2, 0, 3}, {0.5, 0.8}), {{kStick, kSlip}, 0, 0.8});
  expect_decision(uncoupled({-1, 0.3, 0, 2, 0, 3}, {0.5, 0.8}), {{kStick, kOpen}, 0, kInf});
}

// The second contact slides along t already: c_t = -mu c_n, so its normal acceleration is A_nn c_n + b_n.
TEST(ContactDiagnosticsCase, AContactThatSlidesIsNeverSaidToStick) {
  Problems p = uncoupled({-1, 0.3, 0, -2, 0.2, 0}, {0.5, 0.1});
  p.mode = {0, 1};
  p.slip_velocity = {0, 0, 0.4, 0};
  expect_decision(p, {{ContactState::kStick, ContactState::kSlip}, 0, 0.3});
  p.b[3] = 2;
  expect_decision(p, {{ContactState::kStick, ContactState::kOpen}, 0, kInf});
}

TEST(ContactDiagnosticsCase, AnUnsolvedProblemHasNone) {
  for (const Device& device : kDevices) {
    const Solutions s = contact::solve(uncoupled({-1, kInf, 0}, {0.5}), {}, device);
    EXPECT_EQ(s.status[0], Status::kInvalidInput);
    EXPECT_EQ(s.state, std::vector<ContactState>{ContactState::kUnknown});
    EXPECT_TRUE(std::isnan(s.friction_margin[0]));
    EXPECT_TRUE(std::isnan(s.required_friction[0]));
  }
}

TEST(ContactDiagnosticsCase, ForcesFromElsewhereHaveTheSame) {
  const Problems p = bench::random_grasps({3, 40});
  const Solutions solved = contact::solve(p), checked = contact::check_solution(p, solved.c);
  EXPECT_EQ(checked.state, solved.state);
  // A contact that opens has the required friction of no force, exactly; of the others the certificate takes a step.
  for (std::size_t k = 0; k < 40; ++k) {
    EXPECT_NEAR(checked.friction_margin[k], solved.friction_margin[k], 1e-6) << k;
    if (!std::isinf(solved.required_friction[k])) {
      EXPECT_NEAR(checked.required_friction[k], solved.required_friction[k], 1e-6) << k;
    }
  }
}

// Packing by tiles: every size around a tile and a block, on both executors, is the problems solved one by one.
TEST(ContactRows, ABatchIsItsProblemsOneByOne) {
  for (const int contacts : {1, 2, 3, 5, 8}) {
    const Problems all = bench::sliding_grasps(bench::Sliding::some, {std::max(2, contacts), 300});
    for (const std::int64_t count : {1, 7, 8, 9, 31, 32, 33, 255, 256, 257, 300}) {
      const auto part = [&](const auto& values) {
        const auto each = static_cast<std::ptrdiff_t>(values.size()) / 300;
        return std::remove_cvref_t<decltype(values)>(values.begin(), values.begin() + each * count);
      };
      const Problems p{all.contacts,           count, part(all.A), part(all.b), part(all.mu), part(all.mode),
                       part(all.slip_velocity)};
      const Solutions lanes = contact::solve(p, {}, kDevices[1]);
      test::expect_same_on_every_executor([&](const Device& d) { return test::make_answer(contact::solve(p, {}, d)); });
      const Solutions checked = contact::check_solution(p, lanes.c);  // problem by problem, without tiles
      for (std::size_t k = 0; k < checked.status.size(); ++k)
        EXPECT_EQ(checked.status[k] == Status::kConverged, lanes.status[k] == Status::kConverged) << k;
      EXPECT_EQ(checked.state, lanes.state);
      for (std::size_t i = 0; i < checked.c.size(); ++i)
        EXPECT_TRUE(std::abs(checked.c[i] - lanes.c[i]) <= 1e-5 || std::isnan(lanes.c[i])) << i;
    }
  }
}

TEST(ContactRows, MemoryThatIsUsedAgainHoldsNothingOfBefore) {
  Solutions out;
  const Problems large = bench::random_grasps({4, 100}), small = bench::random_grasps({3, 10});
  contact::solve(large, {}, kDevices[1], out);
  contact::solve(small, {}, kDevices[1], out);
  const Solutions fresh = contact::solve(small, {}, kDevices[1]);
  EXPECT_EQ(out.c, fresh.c);
  EXPECT_EQ(out.a, fresh.a);
  EXPECT_EQ(out.status, fresh.status);
  EXPECT_EQ(out.stage, fresh.stage);
  EXPECT_EQ(out.state, fresh.state);
  contact::solve(small, {.wanted = {.c = true, .a = false, .merit = false, .diagnostics = false}}, kDevices[1], out);
  EXPECT_EQ(out.c, fresh.c);
  EXPECT_TRUE(out.a.empty() && out.merit.empty() && out.state.empty() && out.friction_margin.empty());
  EXPECT_EQ(out.residual, fresh.residual);
}

}  // namespace
}  // namespace garra
