// A chain known at compile time (a generated header, docs/howto/chain-generated.md) beside the same chain read at run
// time: PUMA 560, lanes on one core, the same configurations, which stay in the cache.
//
//   chain/<operation>/<who>   who: generated, run_time
//
// Every operation starts from joint variables: sines and cosines are included. Before the clock starts, both answers
// are compared. Counters: ns per configuration, per_s of them, and flops: operations of the scalar code, sines and
// cosines included, a fused multiply-add being two; generated code has them counted after folding.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <random>
#include <string>

#include "counting.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/tiles.hpp"
#include "garra/io/robot.hpp"
#include "garra/systems/chain/kernels.hpp"
#include "places.hpp"
#include "puma560.hpp"  // generated

namespace garra::bench {
namespace {

using namespace garra::chain;

constexpr int kJoints = 6;
constexpr std::int64_t kItems = 64;
constexpr Joints kKind = Joints::kRevolute;
constexpr double kAgreement = 1e-11;  // of both ways, relative to the largest entry

template <class S>
struct State {
  Vec<S, kJoints> q, qd, u;  ///< u: acceleration or torque
};
using Plain = Model<double, kJoints>;

/// A Jacobian and one number more, as both ways give them.
template <class S>
struct Measured {
  Mat<S, 6, kJoints> jacobian;
  S manipulability;
};
/// Diagonal and below, row by row: all there is of a symmetric matrix.
template <class S>
GARRA_HD auto lower(const Mat<S, kJoints, kJoints>& a) {
  Vec<S, kJoints*(kJoints + 1) / 2> out;
  for_each_index<kJoints>([&](auto i) {
    for_each_index<kJoints>([&](auto j) {
      if (j <= i) out[i * (i + 1) / 2 + j] = a(i, j);
    });
  });
  return out;
}

/// An operation both ways, from a state.
template <class RunTime, class Generated>
struct Pair {
  RunTime run_time;
  Generated generated;
};

constexpr Pair kSinCos = {[](const auto& m, const auto& s) { return angles<kKind>(m, s.q); },
                          [](const auto&, const auto& s) { return puma560::angles(s.q); }};
constexpr Pair kJacobian = {
    [](const auto& m, const auto& s) { return jacobian<kKind>(m, frames<kKind>(m, angles<kKind>(m, s.q))); },
    [](const auto&, const auto& s) { return puma560::jacobian(s.q); }};
constexpr Pair kManipulability = {
    [](const auto& m, const auto& s) { return manipulability<kKind>(m, angles<kKind>(m, s.q)); },
    [](const auto&, const auto& s) { return puma560::manipulability(s.q); }};
constexpr Pair kBoth = {[](const auto& m, const auto& s) {
                          const auto x = angles<kKind>(m, s.q);
                          const auto jac = jacobian<kKind>(m, frames<kKind>(m, x));
                          return Measured<std::decay_t<decltype(jac[0])>>{jac, manipulability<kKind>(m, x)};
                        },
                        [](const auto&, const auto& s) { return puma560::jacobian_manipulability(s.q); }};
constexpr Pair kInverseDynamics = {
    [](const auto& m, const auto& s) { return inverse_dynamics<kKind>(m, angles<kKind>(m, s.q), s.qd, s.u); },
    [](const auto&, const auto& s) { return puma560::inverse_dynamics(s.q, s.qd, s.u); }};
constexpr Pair kBias = {[](const auto& m, const auto& s) { return bias_torque<kKind>(m, angles<kKind>(m, s.q), s.qd); },
                        [](const auto&, const auto& s) { return puma560::bias_torque(s.q, s.qd); }};
constexpr Pair kGravity = {[](const auto& m, const auto& s) { return gravity_torque<kKind>(m, angles<kKind>(m, s.q)); },
                           [](const auto&, const auto& s) { return puma560::gravity_torque(s.q); }};
constexpr Pair kInertia = {
    [](const auto& m, const auto& s) { return lower(inertia_matrix<kKind>(m, angles<kKind>(m, s.q))); },
    [](const auto&, const auto& s) { return lower(puma560::inertia_matrix(s.q)); }};
constexpr Pair kForwardDynamics = {
    [](const auto& m, const auto& s) { return forward_dynamics<kKind>(m, angles<kKind>(m, s.q), s.qd, s.u); },
    [](const auto&, const auto& s) { return puma560::forward_dynamics(s.q, s.qd, s.u); }};

template <class Op>
struct Body {
  const Plain* model;
  Op op;
  const double* states;
  double* out;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    batch::store<S>(out, i, op(*model, batch::load<S, State<S>>(states, i)));
  }
};

struct Bench {
  Bench() : model(make_model<kJoints>(io::read_robot(test::source_folder() + "/data/robots/puma560.toml"))) {
    std::mt19937_64 gen(560);
    std::uniform_real_distribution<double> angle(-M_PI, M_PI), rate(-2, 2);
    for (std::int64_t i = 0; i < kItems; ++i) {
      State<double> s;
      for (int j = 0; j < kJoints; ++j) {
        s.q[j] = angle(gen);
        s.qd[j] = rate(gen);
        s.u[j] = rate(gen);
      }
      plain.push_back(s);
      states.set(i, s);
    }
  }

  template <class Op>
  double flops(const Op& op) const {
    State<Counted> s;
    for (int j = 0; j < kJoints; ++j) s.q[j] = s.qd[j] = s.u[j] = Counted(0.1 * j + 0.3);
    operations = {};
    const auto result = op(model, s);
    benchmark::DoNotOptimize(&result);
    return operations.flops();
  }

  template <class Op>
  void add(const std::string& name, const Op& op) {
    const Body<Op> body{&model, op, states.data(), out.data()};
    const double count = flops(op);
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      for (auto _ : state) {
        batch::for_each_lanes(kItems, body);
        benchmark::ClobberMemory();
      }
      const double done = static_cast<double>(state.iterations()) * static_cast<double>(kItems);
      using benchmark::Counter;
      state.counters["each"] = Counter(done, Counter::kIsRate | Counter::kInvert);
      state.counters["per_s"] = Counter(done, Counter::kIsRate);
      state.counters["flops"] = count;
    });
  }

  /// Throws the whole program out where both ways differ.
  template <class RunTime, class Generated>
  void pair(const std::string& name, const Pair<RunTime, Generated>& p) {
    for (const State<double>& s : plain) {
      const auto a = p.run_time(model, s);
      const auto b = p.generated(model, s);
      static_assert(sizeof a == sizeof b);
      const auto *u = reinterpret_cast<const double*>(&a), *v = reinterpret_cast<const double*>(&b);
      double size = 0, error = 0;
      for (std::size_t k = 0; k < sizeof a / sizeof *u; ++k) {
        size = std::max(size, std::abs(u[k]));
        error = std::max(error, std::abs(u[k] - v[k]));
      }
      if (!(error <= kAgreement * size)) {
        std::cerr << name << ": the two differ by " << error << " of " << size << "\n";
        std::exit(1);
      }
    }
    add("chain/" + name + "/run_time", p.run_time);
    add("chain/" + name + "/generated", p.generated);
  }

  Plain model;
  std::vector<State<double>> plain;
  batch::Tiles<State<double>> states{kItems};
  batch::Tiles<Measured<double>> out{kItems};
};

}  // namespace
}  // namespace garra::bench

int main(int argc, char** argv) {
  using namespace garra::bench;
  benchmark::Initialize(&argc, argv);
  Bench b;
  b.pair("jacobian", kJacobian);
  b.pair("manipulability", kManipulability);
  b.pair("jacobian_manipulability", kBoth);
  b.pair("inverse_dynamics", kInverseDynamics);
  b.pair("bias", kBias);
  b.pair("gravity", kGravity);
  b.pair("inertia", kInertia);
  b.pair("forward_dynamics", kForwardDynamics);
  b.add("chain/sincos/run_time", kSinCos.run_time);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
