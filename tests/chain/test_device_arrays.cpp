// States of chains that stay on the GPU: the bits of the scalar executor, in any strides, on the caller's stream and in
// the caller's memory.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <tuple>

#include "answers.hpp"
#include "garra/chain_eval.hpp"
#include "garra/chain_simulate.hpp"
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

States states_to_json(int joints, std::int64_t count) {
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
      room[i] = std::make_unique<OnGpu<double>>(s.count, output_size(output, joints), layout);
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
  EXPECT_EQ(test::make_answer(reference).difference(test::make_answer(found), true), "");
}

TEST(DeviceArrays, OfChainsHaveTheScalarBits) {
  const EvalOptions options{JacobianForm::kAngularFirst, true, {{0.1, -0.2, 0.3}}};
  for (const int joints : {1, 3, 6, 7, 8, 9, 16})
    for (const bool mixed : {false, true}) {
      SCOPED_TRACE(testing::Message() << joints << " joints" << (mixed ? ", some slide" : ""));
      const Robot robot = robot_of(joints, mixed);
      States s = states_to_json(joints, 67);
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
  const States s = states_to_json(6, 33);
  const Results reference = evaluate(robot, s, Output::kForwardDynamics, {}, test::kReference);
  ASSERT_EQ(reference.status[0], Status::kNoSolution);
  expect_same(reference, evaluate_there(robot, Batch(s, 6, Output::kForwardDynamics, Layout::kRows)));
}

TEST(DeviceArrays, OfChainsThatAreNotNeededMayBeNullOrBad) {
  const Robot robot = robot_of(6, false);
  States s = states_to_json(6, 33);
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
  const States s = states_to_json(16, 33);
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

/// What differs from state to state: a number of every kind that a factor and a sum can change.
std::vector<Parameter> parameters_of(int joints, std::int64_t count) {
  std::vector<Parameter> out;
  const auto add = [&](int joint, Quantity quantity, Change change, double middle, double width) {
    Parameter& p = out.emplace_back(Parameter{joint, quantity, change, {}});
    for (int i = 0; i < count; ++i) p.value.push_back(middle + width * std::sin(1.3 * i + joint));
  };
  add(0, Quantity::kMass, Change::kScale, 1, 0.2);
  add(joints - 1, Quantity::kA, Change::kAdd, 0, 0.02);
  add(joints / 2, Quantity::kSize, Change::kScale, 1, 0.05);
  add(joints - 1, Quantity::kDamping, Change::kAdd, 0.1, 0.05);
  return out;
}

/// They on the GPU.
struct OwnNumbers {
  OwnNumbers(const std::vector<Parameter>& all, std::int64_t count, Layout layout) {
    for (const Parameter& p : all)
      columns.push_back({p.joint, p.quantity, p.change, room.emplace_back(p.value, count, 1, layout)});
  }
  std::deque<OnGpu<double>> room;
  std::vector<DeviceParameter> columns;
};

TEST(DeviceArrays, OfChainsMayDifferFromStateToState) {
  for (const int joints : {3, 6, 9}) {
    SCOPED_TRACE(testing::Message() << joints << " joints");
    const Robot robot = robot_of(joints, true);
    States s = states_to_json(joints, 67);
    s.parameters = parameters_of(joints, s.count);
    s.parameters[1].value[33] = std::nan("");
    const Results reference = evaluate(robot, s, Outputs::all(), {}, test::kReference);
    ASSERT_EQ(reference.status[33], Status::kInvalidInput);
    for (const Layout layout : {Layout::kRows, Layout::kWithGaps}) {
      const OwnNumbers own(s.parameters, s.count, layout);
      Batch batch(s, joints, Outputs::all(), layout);
      batch.states.parameters = own.columns;
      expect_same(reference, evaluate_there(robot, batch));
    }
  }
}

/// Samples on the GPU, and room for their trajectories.
struct Flight {
  Flight(const Samples& s, int j, int t, Layout layout)
      : joints(j),
        q(s.q, s.count, j, layout),
        qd(s.qd, s.count, j, layout),
        damping(s.damping, s.count, j, layout),
        amplitude(s.amplitude, s.count, j, layout),
        own(s.parameters, s.count, layout),
        steps(s.count, 1, layout),
        rejected(s.count, 1, layout),
        status(s.count, 1, layout),
        samples{s.count, q, qd, damping, amplitude, own.columns} {
    const auto give = [&](DeviceArray<double>& array, std::vector<double> Trajectories::*member, int width) {
      array = room.emplace_back(s.count, width, layout);
      members.push_back(member);
    };
    using T = Trajectories;
    give(to.q, &T::q, t * j), give(to.qd, &T::qd, t * j), give(to.tip, &T::tip, t * 3);
    give(to.kinetic, &T::kinetic, t), give(to.potential, &T::potential, t), give(to.dissipated, &T::dissipated, t);
    give(to.work, &T::work, t), give(to.stop_loss, &T::stop_loss, t), give(to.balance, &T::balance, t);
    give(to.end_time, &T::end_time, 1), give(to.end_q, &T::end_q, j), give(to.end_qd, &T::end_qd, j);
    give(to.peak_speed, &T::peak_speed, j), give(to.peak_torque, &T::peak_torque, j);
    give(to.settling_time, &T::settling_time, 1), give(to.end_dissipated, &T::end_dissipated, 1);
    give(to.end_work, &T::end_work, 1), give(to.end_stop_loss, &T::end_stop_loss, 1);
    give(to.end_balance, &T::end_balance, 1), give(to.worst_balance, &T::worst_balance, 1);
    to.steps = steps, to.rejected = rejected, to.status = status;
  }
  [[nodiscard]] Trajectories trajectories(const std::vector<double>& times) const {
    Trajectories out;
    out.joints = joints, out.count = samples.count, out.times = times;
    for (std::size_t k = 0; k < room.size(); ++k) out.*members[k] = room[k].rows();
    for (const std::int32_t n : steps.rows()) out.steps.push_back(n);
    for (const std::int32_t n : rejected.rows()) out.rejected.push_back(n);
    out.status = status.rows();
    return out;
  }

  int joints;
  OnGpu<double> q, qd, damping, amplitude;
  OwnNumbers own;
  std::deque<OnGpu<double>> room;
  std::vector<std::vector<double> Trajectories::*> members;
  OnGpu<std::int32_t> steps, rejected;
  OnGpu<SimulationStatus> status;
  DeviceSamples samples;
  DeviceTrajectories to;
};

Samples make_samples(int joints, std::int64_t count) {
  const States s = states_to_json(joints, count);
  Samples out;
  out.count = count;
  out.q = s.q, out.qd = s.qd;
  for (int i = 0; i < count * joints; ++i) {
    out.damping.push_back(0.3 + 0.2 * std::sin(0.7 * i));
    out.amplitude.push_back(3 * std::cos(1.9 * i));
  }
  out.qd[static_cast<std::size_t>(2 * joints)] = std::nan("");
  return out;
}

TEST(DeviceArrays, OfSimulationsHaveTheScalarBits) {
  constexpr std::int64_t kCount = 35;
  TorqueInput sine;
  sine.kind = TorqueKind::kSine;
  sine.frequency = {3};
  for (const auto& [joints, mixed, own] :
       {std::tuple{6, false, false}, {3, true, false}, {6, false, true}, {8, true, false}})
    for (const Integrator method : {Integrator::kRk4, Integrator::kDopri5, Integrator::kImplicit2}) {
      SCOPED_TRACE(testing::Message() << joints << " joints, " << to_string(method) << (own ? ", own numbers" : ""));
      const Robot robot = robot_of(joints, mixed);
      Samples s = make_samples(joints, kCount);
      if (own) s.parameters = parameters_of(joints, kCount);
      SimulateOptions options;
      options.method = method;
      options.duration = 0.02;
      options.step = 0.005;
      options.times = {0, 0.008, 0.02};
      const Trajectories reference = simulate(robot, s, sine, options, test::kReference);
      ASSERT_EQ(reference.status[2], SimulationStatus::kInvalidInput);
      ASSERT_EQ(reference.status[0], SimulationStatus::kCompleted);
      for (const Layout layout : {Layout::kRows, Layout::kFields, Layout::kWithGaps}) {
        const Flight flight(s, joints, 3, layout);
        const test::Place place(workspace_bytes(robot, flight.samples, sine, options, flight.to));
        simulate(robot, flight.samples, sine, options, flight.to, place.call());
        place.wait();
        EXPECT_EQ(test::make_answer(reference).difference(test::make_answer(flight.trajectories(options.times)), true),
                  "");
      }
    }
}

TEST(DeviceArrays, OfSimulationsMayBeLeftOut) {
  const Robot robot = robot_of(6, false);
  const Samples s = make_samples(6, 33);
  Samples at_rest;
  at_rest.count = s.count, at_rest.q = s.q;
  SimulateOptions options;
  options.duration = 0.01;
  const Trajectories reference = simulate(robot, at_rest, {}, options, test::kReference);
  const Flight flight(s, 6, 0, Layout::kRows);
  const DeviceSamples from{s.count, flight.q};
  DeviceTrajectories to;
  to.end_q = flight.to.end_q;
  const std::size_t bytes = workspace_bytes(robot, from, {}, options, to);
  EXPECT_THROW(simulate(robot, from, {}, options, to, test::Place(bytes - 1).call()), Error);
  const test::Place place(bytes);
  simulate(robot, from, {}, options, to, place.call());
  place.wait();
  const Trajectories found = flight.trajectories({});
  EXPECT_EQ(found.end_q, reference.end_q);
  for (const double x : found.end_qd) EXPECT_TRUE(std::isnan(x)) << "not asked for";
  EXPECT_THROW(simulate(robot, {s.count, {}}, {}, options, to, place.call()), Error) << "q is missing";
}

TEST(DeviceArrays, OfTwistsHaveTheScalarRates) {
  for (const int joints : {3, 6, 7, 9}) {
    SCOPED_TRACE(testing::Message() << joints << " joints");
    const Robot robot = robot_of(joints, true);
    States s = states_to_json(joints, 67);
    s.q[static_cast<std::size_t>(5 * joints)] = std::numeric_limits<double>::infinity();
    s.wrench[6 * 40] = std::nan("");
    RatePlace place{{}, {JacobianForm::kAngularFirst, true, {{0.1, -0.2, 0.3}}}, test::kReference};
    place.rates.weight[1] = 4;
    const JointRates reference = joint_rates(robot, s.q, s.wrench, place);
    ASSERT_EQ(reference.status[40], Status::kInvalidInput);
    for (const Layout layout : {Layout::kRows, Layout::kFields, Layout::kWithGaps}) {
      const OnGpu<double> q(s.q, s.count, joints, layout), twist(s.wrench, s.count, 6, layout);
      const OnGpu<double> qd(s.count, joints, layout), damping(s.count, 1, layout), residual(s.count, 6, layout);
      const OnGpu<Status> status(s.count, 1, layout);
      const DeviceTwists in{s.count, q, twist};
      const DeviceRates to{qd, damping, residual, status};
      const std::size_t bytes = workspace_bytes(robot, in, place, to);
      EXPECT_THROW(joint_rates(robot, in, place, to, test::Place(bytes - 1).call()), Error);
      const test::Place there(bytes);
      joint_rates(robot, in, place, to, there.call());
      there.wait();
      const JointRates found{joints, qd.rows(), damping.rows(), residual.rows(), status.rows()};
      const auto answer = [](const JointRates& r) {
        return test::Answer().add("qd", r.qd).add("damping", r.damping).add("residual", r.residual).add("s", r.status);
      };
      EXPECT_EQ(answer(reference).difference(answer(found), true), "");
    }
  }
}

TEST(DeviceArrays, OfNoStatesNeedNothing) {
  const Robot robot = robot_of(6, false);
  EXPECT_EQ(workspace_bytes(robot, DeviceStates(), DevicePlace(), DeviceResults()), 0u);
  evaluate(robot, DeviceStates(), DevicePlace(), DeviceResults());
}

}  // namespace
}  // namespace garra::chain
#else
namespace garra {
TEST(DeviceArrays, OfChainsHaveTheScalarBits) { GTEST_SKIP() << "built without CUDA"; }
}  // namespace garra
#endif
