// All solutions of inverse kinematics, and derivatives of the dynamics: time of a batch on one core.
//
//   all_solutions/<arm>[, no proofs]/<poses>   ns per pose, joint limits off; `solutions` per pose and `complete`, the
//                                              share of poses
//   derivatives/<robot>/<lanes or scalar>      ns per state: dtau/dq, dtau/dqd and the mass matrix, from cache
#include <benchmark/benchmark.h>

#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "garra/batch/for_each.hpp"
#include "garra/batch/rows.hpp"
#include "garra/chain_eval.hpp"
#include "garra/chain_generate.hpp"
#include "garra/systems/chain/derivatives.hpp"

namespace garra::bench {
namespace {

using namespace garra::chain;
using benchmark::Counter;

constexpr double kHalf = M_PI / 2, kDegree = M_PI / 180;
constexpr std::int64_t kStates = 128;

struct Row {
  double a, alpha, d;
};
Robot arm(const std::string& name, const std::vector<Row>& rows) {
  std::vector<DhJoint> joints;
  for (const Row& r : rows) joints.push_back({r.a, r.d, r.alpha, 0, {}});
  return from_dh({.name = name}, joints);
}

void report(benchmark::State& state, double items) {
  state.counters["each"] =
      Counter(items * static_cast<double>(state.iterations()), Counter::kIsRate | Counter::kInvert);
}

void add_all_solutions(const Robot& robot, std::int64_t poses, bool proofs) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> angle(-M_PI, M_PI);
  std::vector<double> q(static_cast<std::size_t>(6 * poses));
  for (double& x : q) x = angle(random);
  const std::vector<double> pose = evaluate(robot, StateView(poses, q), Output::kPose).pose;
  const std::string title = "all_solutions/" + robot.name + (proofs ? "/" : ", no proofs/") + std::to_string(poses);
  benchmark::RegisterBenchmark(title.c_str(), [=](benchmark::State& state) {
    const AllSolutions solver(robot);
    AllSolutionsResult found;
    for (auto _ : state) found = solver.solve(pose, {.limits = false, .proofs = proofs}, {Executor::kLanes, 1, 0});
    report(state, static_cast<double>(poses));
    state.counters["solutions"] = static_cast<double>(found.residual.size()) / static_cast<double>(poses);
    state.counters["complete"] =
        std::accumulate(found.complete.begin(), found.complete.end(), 0.0) / static_cast<double>(poses);
  });
}

void add_derivatives(const Robot& robot) {
  using Op = InverseDynamicsDerivativesOp<6>;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> u(-2, 2);
  auto in = std::make_shared<batch::Tiles<Op::In<double>>>(kStates);
  auto out = std::make_shared<batch::Tiles<Op::Out<double>>>(kStates);
  for (std::int64_t n = 0; n < kStates; ++n) {
    Op::In<double> s;
    for (int i = 0; i < 6; ++i) s.q[i] = u(random), s.qd[i] = u(random), s.qdd[i] = u(random);
    in->set(n, s);
  }
  const Op op{make_model<6>(robot)};
  for (const bool lanes : {true, false})
    benchmark::RegisterBenchmark(lanes ? "derivatives/puma560/lanes" : "derivatives/puma560/scalar",
                                 [=](benchmark::State& state) {
                                   const batch::RowsKernel<Op> body{op, in->data(), out->data()};
                                   for (auto _ : state) {
                                     if (lanes)
                                       batch::for_each_lanes(kStates, body);
                                     else
                                       batch::for_each_scalar(kStates, body);
                                     benchmark::ClobberMemory();
                                   }
                                   report(state, kStates);
                                 });
}

}  // namespace
}  // namespace garra::bench

int main(int argc, char** argv) {
  using namespace garra::bench;
  benchmark::Initialize(&argc, argv);
  const Robot puma = garra::chain::from_dh({.name = "PUMA 560"}, garra::chain::puma560());
  const Robot ur10e = arm("UR10e", {{0, kHalf, 0.1807},
                                    {-0.6127, 0, 0},
                                    {-0.57155, 0, 0},
                                    {0, kHalf, 0.17415},
                                    {0, -kHalf, 0.11985},
                                    {0, 0, 0.11655}});
  const Robot sixteen =
      arm("Manseur-Doty",
          {{0.3, kHalf, 0}, {1, kDegree, 0}, {0, kHalf, 0.2}, {1.5, kDegree, 0}, {0, kHalf, 0}, {0, kDegree, 0}});
  const Robot general =
      arm("general",
          {{0.3, 0.7, 0.2}, {0.4, -1.1, 0.1}, {0.2, 1.9, -0.3}, {-0.1, 0.4, 0.5}, {0.3, -0.9, 0.1}, {0.1, 1.2, 0.2}});
  const Robot jaco2 = arm("JACO2", {{0, kHalf, 0.2755},
                                    {0.41, M_PI, 0},
                                    {0, kHalf, -0.0098},
                                    {0, M_PI / 3, -0.24974},
                                    {0, M_PI / 3, -0.085},
                                    {0, M_PI, -0.2029}});
  const Robot irb2400 =
      arm("IRB 2400",
          {{0.1, -kHalf, 0.615}, {0.705, 0, 0}, {0.135, -kHalf, 0}, {0, kHalf, 0.755}, {0, -kHalf, 0}, {0, 0, 0.085}});
  for (const Robot& robot : {puma, irb2400, ur10e, sixteen, general, jaco2})
    for (const bool proofs : {true, false})
      for (const int poses : {1, 256, 4096}) add_all_solutions(robot, poses, proofs);
  add_derivatives(puma);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
