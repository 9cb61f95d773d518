// States of chains that stay on the GPU: the bits of the scalar executor, in any strides, on the caller's stream and in
// the caller's memory.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "answers.hpp"
#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"
#include "on_every_executor.hpp"

#ifdef GARRA_TESTS_CALL_CUDA
#include "device_array.hpp"

namespace garra::chain {
namespace {

using test::Layout;
using test::OnGpu;

/// Every third joint slides where `mixed`; the last one has neither mass nor rotor where `massless`.
Robot robot_of(int joints, bool mixed, bool massless = false) {
  std::vector<DhJoint> rows;
  for (int i = 0; i < joints; ++i) {
    rows.push_back({0.3 * std::sin(i + 1), 0.2 * std::cos(i), 1.4 * std::sin(3 * i + 1), 0.1 * i, {}});
    LinkData& link = rows.back().link;
    link.joint.prismatic = mixed && i % 3 == 1;
    if (massless && i + 1 == joints) continue;
    link.body = {1.5, {{0.1, 0.2 * std::sin(i), -0.1}}, {{0.5, 0, 0, 0, 0.6, 0, 0, 0, 0.7}}};
    link.armature = 0.02;
    link.damping = 0.1;
  }
  return from_dh({.name = "of the test", .gravity = {{1, -2, -9}}}, rows);
}

States states_of(int joints, std::int64_t count) {
  States s;
  s.count = count;
  for (int i = 0; i < count * joints; ++i) {
    s.q.push_back(3 * std::sin(1.7 * i));
    s.qd.push_back(2 * std::cos(2.3 * i));
    s.qdd.push_back(5 * std::sin(0.3 * i));
    s.tau.push_back(20 * std::cos(0.9 * i));
  }
  for (int i = 0; i < 6 * count; ++i) s.wrench.push_back(10 * std::sin(1.1 * i));
  return s;
}

/// States on the GPU, and room for the outputs that are wanted.
struct Batch {
  Batch(const States& s, int joints, const Outputs& wanted, Layout layout)
      : joints(joints),
        q(s.q, s.count, joints, layout),
        qd(s.qd, s.count, joints, layout),
        qdd(s.qdd, s.count, joints, layout),
        tau(s.tau, s.count, joints, layout),
        wrench(s.wrench, s.count, 6, layout),
        status(s.count, 1, layout),
        states{s.count, q, qd, qdd, tau, wrench} {
    to.status = status;
    for (int i = 0; i < kOutputCount; ++i) {
      const auto output = static_cast<Output>(i);
      if (!wanted.has(output)) continue;
      room[i] = std::make_unique<OnGpu<double>>(s.count, size_of(output, joints), layout);
      to[output] = *room[i];
    }
  }
  [[nodiscard]] Results results() const {
    Results out;
    out.joints = joints;
    out.count = states.count;
    for (int i = 0; i < kOutputCount; ++i)
      if (room[i] != nullptr) out[static_cast<Output>(i)] = room[i]->rows();
    out.status = status.rows();
    return out;
  }

  int joints;
  OnGpu<double> q, qd, qdd, tau, wrench;
  OnGpu<Status> status;
  std::unique_ptr<OnGpu<double>> room[kOutputCount];
  DeviceStates states;
  DeviceResults to;
};

Results evaluate_there(const Robot& robot, const Batch& batch, const EvalOptions& options = {}) {
  const test::Place place(workspace_bytes(robot, batch.states, {options, {}}, batch.to));
  evaluate(robot, batch.states, {options, place.call()}, batch.to);
  place.wait();
  return batch.results();
}

void expect_same(const Results& reference, const Results& found) {
  EXPECT_EQ(test::answer_of(reference).difference(test::answer_of(found), true), "");
}

TEST(DeviceArrays, OfChainsHaveTheScalarBits) {
  const EvalOptions options{JacobianForm::kAngularFirst, true, {{0.1, -0.2, 0.3}}};
  for (const int joints : {1, 3, 6, 7, 8, 9, 16})
    for (const bool mixed : {false, true}) {
      SCOPED_TRACE(testing::Message() << joints << " joints" << (mixed ? ", some slide" : ""));
      const Robot robot = robot_of(joints, mixed);
      States s = states_of(joints, 67);
      s.q[static_cast<std::size_t>(5 * joints)] = std::numeric_limits<double>::infinity();
      s.wrench[6 * 40] = std::nan("");
      const Results reference = evaluate(robot, s, Outputs::all(), options, test::kReference);
      ASSERT_EQ(reference.status[40], Status::kInvalidInput);
      for (const Layout layout : {Layout::kRows, Layout::kFields, Layout::kWithGaps})
        expect_same(reference, evaluate_there(robot, Batch(s, joints, Outputs::all(), layout), options));
    }
}

TEST(DeviceArrays, OfChainsWithASingularMassMatrixSaySo) {
  const Robot robot = robot_of(6, false, true);
  const States s = states_of(6, 33);
  const Results reference = evaluate(robot, s, Output::kForwardDynamics, {}, test::kReference);
  ASSERT_EQ(reference.status[0], Status::kNoSolution);
  expect_same(reference, evaluate_there(robot, Batch(s, 6, Output::kForwardDynamics, Layout::kRows)));
}

TEST(DeviceArrays, OfChainsThatAreNotNeededMayBeNullOrBad) {
  const Robot robot = robot_of(6, false);
  States s = states_of(6, 33);
  s.qdd[7] = std::nan("");
  Batch batch(s, 6, Output::kMassMatrix, Layout::kRows);
  const Results reference = evaluate(robot, s, Output::kMassMatrix, {}, test::kReference);
  expect_same(reference, evaluate_there(robot, batch));
  batch.states = {s.count, batch.q};
  expect_same(reference, evaluate_there(robot, batch));
  batch.to[Output::kBias] = batch.qd;
  EXPECT_THROW(evaluate(robot, batch.states, {}, batch.to), Error) << "qd is missing";
}

TEST(DeviceArrays, OfChainsNeedTheirWorkspaceAndNothingElse) {
  const Robot robot = robot_of(16, true);
  const States s = states_of(16, 33);
  const Batch batch(s, 16, Output::kForwardDynamics, Layout::kRows);
  const std::size_t bytes = workspace_bytes(robot, batch.states, {}, batch.to);
  EXPECT_THROW(evaluate(robot, batch.states, {{}, test::Place(bytes - 1).call()}, batch.to), Error);
  const test::Place place(bytes);
#ifdef GARRA_CUDA_SIMULATED
  simulated_gpu::fail(simulated_gpu::Failure::kAllocation, 1);
#endif
  evaluate(robot, batch.states, {{}, place.call()}, batch.to);
#ifdef GARRA_CUDA_SIMULATED
  simulated_gpu::recover();  // forgets what was queued, too
  evaluate(robot, batch.states, {{}, place.call()}, batch.to);
  for (const double x : batch.results().qdd) EXPECT_TRUE(std::isnan(x)) << "ran in the default stream";
#endif
  place.wait();
  expect_same(evaluate(robot, s, Output::kForwardDynamics, {}, test::kReference), batch.results());
}

TEST(DeviceArrays, OfNoStatesNeedNothing) {
  const Robot robot = robot_of(6, false);
  EXPECT_EQ(workspace_bytes(robot, {}, {}, {}), 0u);
  evaluate(robot, DeviceStates(), DevicePlace(), DeviceResults());
}

}  // namespace
}  // namespace garra::chain
#else
namespace garra {
TEST(DeviceArrays, OfChainsHaveTheScalarBits) { GTEST_SKIP() << "built without CUDA"; }
}  // namespace garra
#endif
