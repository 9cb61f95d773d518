// Kernels of a chain whose numbers are read at run time, scalar and lanes on one core, beside Pinocchio and Orocos KDL
// on the same chain (PUMA 560, six revolute joints) and the same configurations, which stay in the cache.
//
//   chain/<operation>/<who>   who: lanes, scalar (garra), pinocchio, kdl
//
// Every operation starts from joint variables: sines and cosines are included. Before the clock starts, the peers'
// answers are compared with garra's. Counters: ns per configuration, per_s of them, flops (operations of the scalar
// code, a fused multiply-add being two) and, in lanes, peak: the share of the multiply-add limit of this core
// (bench/peak.cpp).
#include "garra/chain.hpp"

#include <benchmark/benchmark.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "counting.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/tiles.hpp"
#include "garra/systems/chain/kernels.hpp"
#include "garra/systems/chain/rates.hpp"
#include "measured_peak.hpp"
#include "peers/kdl.hpp"
#include "peers/pinocchio.hpp"

namespace garra::bench {
namespace {

using namespace garra::chain;

constexpr int kJoints = 6;
constexpr std::int64_t kItems = 128;
constexpr Joints kKind = Joints::kRevolute;
constexpr double kAgreement = 1e-9;  // of a peer, relative to the largest entry

template <class S>
struct State {
  Vec<S, kJoints> q, qd, u;  ///< u: acceleration or torque
};

/// Diagonal and below, row by row: all there is of a symmetric matrix.
template <class S>
using Lower = Vec<S, kJoints*(kJoints + 1) / 2>;
template <class S>
GARRA_HD Lower<S> lower(const Mat<S, kJoints, kJoints>& a) {
  Lower<S> out;
  for_each_index<kJoints>([&](auto i) {
    for_each_index<kJoints>([&](auto j) {
      if (j <= i) out[i * (i + 1) / 2 + j] = a(i, j);
    });
  });
  return out;
}

// Operations: from the model m, the sines and cosines x and the state s.

constexpr auto kSinCos = [](const auto&, const auto& x, const auto&) {
  auto sum = x.cos[0] + x.sin[0];
  for_each_index<kJoints - 1>([&](auto i) { sum += x.cos[i + 1] + x.sin[i + 1]; });
  return sum;
};
constexpr auto kJacobian = [](const auto& m, const auto& x, const auto&) {
  return jacobian<kKind>(m, frames<kKind>(m, x));
};
constexpr auto kJacobianManipulability = [](const auto& m, const auto& x, const auto&) {
  return manipulability(jacobian<kKind>(m, frames<kKind>(m, x)));
};
constexpr auto kManipulability = [](const auto& m, const auto& x, const auto&) { return manipulability<kKind>(m, x); };
constexpr auto kSmallestSingularValue = [](const auto& m, const auto& x, const auto&) {
  return smallest_singular_value(jacobian<kKind>(m, frames<kKind>(m, x)));
};
constexpr auto kJointRates = []<class S>(const auto& m, const Angles<S, kJoints>& x, const State<S>& s) {
  return JointRatesOp<kJoints>{{}, 0, kJoints}
      .template operator()<S>({jacobian<kKind>(m, frames<kKind>(m, x)), s.u})
      .qd;
};
constexpr auto kInverseDynamics = [](const auto& m, const auto& x, const auto& s) {
  return inverse_dynamics<kKind>(m, x, s.qd, s.u);
};
constexpr auto kBias = [](const auto& m, const auto& x, const auto& s) { return bias_torque<kKind>(m, x, s.qd); };
constexpr auto kGravity = [](const auto& m, const auto& x, const auto&) { return gravity_torque<kKind>(m, x); };
constexpr auto kInertia = [](const auto& m, const auto& x, const auto&) { return lower(inertia_matrix<kKind>(m, x)); };
constexpr auto kForwardDynamics = [](const auto& m, const auto& x, const auto& s) {
  return forward_dynamics_composite<kKind>(m, x, s.qd, s.u);
};
constexpr auto kArticulatedBodies = [](const auto& m, const auto& x, const auto& s) {
  return forward_dynamics_articulated<kKind>(m, x, s.qd, s.u);
};
constexpr auto kCoriolis = [](const auto& m, const auto& x, const auto& s) {
  return coriolis_matrix<kKind>(m, frames<kKind>(m, x), s.qd);
};

template <class Op>
struct Body {
  const Model<double, kJoints>* model;
  const double* states;
  double* out;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto s = batch::load<S, State<S>>(states, i);
    batch::store<S>(out, i, Op{}(*model, angles<kKind>(*model, s.q), s));
  }
};

void report(benchmark::State& state, double flops, double peak) {
  const double done = static_cast<double>(state.iterations()) * static_cast<double>(kItems);
  using benchmark::Counter;
  state.counters["each"] = Counter(done, Counter::kIsRate | Counter::kInvert);
  state.counters["per_s"] = Counter(done, Counter::kIsRate);
  if (flops > 0) state.counters["flops"] = flops;
  if (peak > 0) state.counters["peak"] = Counter(done * flops / peak, Counter::kIsRate);
}

void add(const std::string& name, const std::function<void()>& pass, double flops = 0, double peak = 0) {
  benchmark::RegisterBenchmark(("chain/" + name).c_str(), [=](benchmark::State& state) {
    for (auto _ : state) {
      pass();
      benchmark::ClobberMemory();
    }
    report(state, flops, peak);
  });
}

/// The chain in every library's words, and the configurations.
struct Bench {
  Bench(const std::vector<DhJoint>& joints, const Pose<double>& tool)
      : model(make_model<kJoints>(robot_of(joints, tool))),
        pinocchio(peer_chain(model)),
        kdl(joints, tool),
        states(kItems),
        out(kItems),
        peak(peak_flops()) {
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

  static Robot robot_of(const std::vector<DhJoint>& joints, const Pose<double>& tool) {
    RobotData data;
    data.name = "PUMA 560";
    data.tool = tool;
    return from_dh(data, joints);
  }
  static pinocchio_peer::Chain peer_chain(const Model<double, kJoints>& m) {
    return {{m.joint, m.joint + kJoints}, m.base, m.tool, m.gravity};
  }

  template <class Op>
  static double flops(const Model<double, kJoints>& m) {
    State<Counted> s;
    for (int j = 0; j < kJoints; ++j) s.q[j] = s.qd[j] = s.u[j] = Counted(0.1 * j + 0.3);
    operations = {};
    const auto result = Op{}(m, angles<kKind>(m, s.q), s);
    benchmark::DoNotOptimize(&result);
    return operations.flops();
  }

  template <class Op>
  void garra(const std::string& name, Op) {
    const Body<Op> body{&model, states.data(), out.data()};
    const double count = flops<Op>(model);
    add(
        name + "/lanes", [body] { batch::for_each_lanes(kItems, body); }, count, peak);
    add(
        name + "/scalar", [body] { batch::for_each_scalar(kItems, body); }, count);
  }

  /// One call of a peer: configuration in, numbers out.
  using Call = std::function<void(const State<double>&, double*)>;

  void peer(const std::string& name, const Call& call) {
    add(name, [this, call] {
      double numbers[kJoints * kJoints];
      for (const auto& s : plain) {
        call(s, numbers);
        benchmark::DoNotOptimize(numbers);
      }
    });
  }

  /// True where the peer gives what garra gives, to kAgreement; `ours` and the peer's numbers in the same order.
  template <class Op>
  [[nodiscard]] bool agrees(const std::string& name, Op, const Call& call) const {
    for (const auto& s : plain) {
      const auto ours = Op{}(model, angles<kKind>(model, s.q), s);
      const auto* a = reinterpret_cast<const double*>(&ours);
      double b[kJoints * kJoints] = {}, size = 0, error = 0;
      call(s, b);
      for (std::size_t k = 0; k < sizeof ours / sizeof(double); ++k) {
        size = std::max(size, std::abs(a[k]));
        error = std::max(error, std::abs(a[k] - b[k]));
      }
      if (error <= kAgreement * size) continue;
      std::cerr << name << " differs by " << error << " of " << size << "\n";
      return false;
    }
    return true;
  }

  Model<double, kJoints> model;
  pinocchio_peer::Arm pinocchio;
  kdl::Arm kdl;
  std::vector<State<double>> plain;
  batch::Tiles<State<double>> states;
  batch::Tiles<Mat<double, kJoints, kJoints>> out;
  double peak;
};

/// Lower triangle out of a symmetric matrix of which the upper triangle is filled.
void keep_lower(double* a) {
  double packed[kJoints * kJoints];
  int k = 0;
  for (int i = 0; i < kJoints; ++i)
    for (int j = 0; j <= i; ++j) packed[k++] = a[j * kJoints + i];
  std::copy_n(packed, k, a);
}

bool add_pinocchio(Bench& b) {
  if (!pinocchio_peer::available()) {
    std::cerr << "built without Pinocchio\n";
    return true;
  }
  auto* p = &b.pinocchio;
  const Bench::Call jac = [p](const auto& s, double* o) { p->jacobian(s.q.m, o); };
  const Bench::Call w = [p](const auto& s, double* o) { *o = p->manipulability(s.q.m); };
  const Bench::Call rnea = [p](const auto& s, double* o) { p->rnea(s.q.m, s.qd.m, s.u.m, o); };
  const Bench::Call bias = [p](const auto& s, double* o) { p->bias(s.q.m, s.qd.m, o); };
  const Bench::Call gravity = [p](const auto& s, double* o) { p->gravity(s.q.m, o); };
  const Bench::Call crba = [p](const auto& s, double* o) { p->crba(s.q.m, o); };
  const Bench::Call crba_lower = [p](const auto& s, double* o) { p->crba(s.q.m, o), keep_lower(o); };
  const Bench::Call aba = [p](const auto& s, double* o) { p->aba(s.q.m, s.qd.m, s.u.m, o); };
  const Bench::Call coriolis = [p](const auto& s, double* o) { p->coriolis(s.q.m, s.qd.m, o); };
  const bool same =
      b.agrees("Pinocchio's Jacobian", kJacobian, jac) && b.agrees("Pinocchio's rnea", kInverseDynamics, rnea) &&
      b.agrees("Pinocchio's nonLinearEffects", kBias, bias) && b.agrees("Pinocchio's gravity", kGravity, gravity) &&
      b.agrees("Pinocchio's crba", kInertia, crba_lower) && b.agrees("Pinocchio's aba", kForwardDynamics, aba);
  b.peer("jacobian/pinocchio", jac);
  b.peer("jacobian_manipulability/pinocchio", w);
  b.peer("inverse_dynamics/pinocchio", rnea);
  b.peer("bias/pinocchio", bias);
  b.peer("gravity/pinocchio", gravity);
  b.peer("inertia/pinocchio", crba);
  b.peer("forward_dynamics/pinocchio", aba);
  b.peer("coriolis/pinocchio", coriolis);
  return same;
}

bool add_kdl(Bench& b) {
  if (!kdl::available()) {
    std::cerr << "built without Orocos KDL\n";
    return true;
  }
  auto* p = &b.kdl;
  const Bench::Call jac = [p](const auto& s, double* o) { p->jacobian(s.q.m, o); };
  const Bench::Call rnea = [p](const auto& s, double* o) { p->inverse_dynamics(s.q.m, s.qd.m, s.u.m, o); };
  const Bench::Call gravity = [p](const auto& s, double* o) { p->gravity(s.q.m, o); };
  const Bench::Call inertia = [p](const auto& s, double* o) { p->inertia(s.q.m, o); };
  const Bench::Call inertia_lower = [p](const auto& s, double* o) { p->inertia(s.q.m, o), keep_lower(o); };
  const bool same = b.agrees("KDL's Jacobian", kJacobian, jac) && b.agrees("KDL's gravity", kGravity, gravity) &&
                    b.agrees("KDL's inertia", kInertia, inertia_lower);
  b.peer("jacobian/kdl", jac);
  b.peer("gravity/kdl", gravity);
  b.peer("inertia/kdl", inertia);
  b.peer("inverse_dynamics/kdl", rnea);
  return same;
}

}  // namespace
}  // namespace garra::bench

int main(int argc, char** argv) {
  using namespace garra::bench;
  benchmark::Initialize(&argc, argv);
  Bench b(garra::chain::puma560(false), {garra::Mat3<double>::identity(), {{0, 0, 0.1}}});
  b.garra("sincos", kSinCos);
  b.garra("jacobian", kJacobian);
  b.garra("jacobian_manipulability", kJacobianManipulability);
  b.garra("manipulability", kManipulability);
  b.garra("smallest_singular_value", kSmallestSingularValue);
  b.garra("joint_rates", kJointRates);
  b.garra("inverse_dynamics", kInverseDynamics);
  b.garra("bias", kBias);
  b.garra("gravity", kGravity);
  b.garra("inertia", kInertia);
  b.garra("forward_dynamics", kForwardDynamics);
  b.garra("articulated_bodies", kArticulatedBodies);
  b.garra("coriolis", kCoriolis);
  if (!add_pinocchio(b) || !add_kdl(b)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
