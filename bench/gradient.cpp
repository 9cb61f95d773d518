// Derivatives of contact forces (docs/theory/contact-solver.md, "Derivatives"): garra on one core, scalar and lanes,
// beside the same equations by Eigen's LU, one problem after another; and solve and derivative, what a step of learning
// takes. Counters, per problem: ns; flops, operations counted, a fused multiply-add being two; error, the largest
// difference of dL/db from Eigen's over the larger of it and 1.
#include <benchmark/benchmark.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "contact/gradient/op.hpp"
#include "contact/problems/classes.hpp"
#include "counting.hpp"
#include "garra/contact_gradient.hpp"

namespace garra::bench {
namespace {

constexpr std::int64_t kCount = 1024;  // in the cache

struct Case {
  contact::Problems problems;
  contact::Solutions solutions;
  std::vector<std::uint8_t> regime;
  std::vector<double> cotangent;

  explicit Case(int contacts) : problems(random_grasps({contacts, kCount, 0})), solutions(contact::solve(problems)) {
    for (const contact::ContactState state : solutions.state) regime.push_back(static_cast<std::uint8_t>(state));
    for (std::size_t i = 0; i < problems.b.size(); ++i) cotangent.push_back(static_cast<double>(i % 7) - 3);
  }
  [[nodiscard]] contact::Solved solved() const {
    return {problems.contacts, kCount, problems.A, problems.mu, solutions.c, solutions.a, regime, cotangent};
  }
};

/// dL/db of every problem: the linear system of each by Eigen.
template <int N>
std::vector<double> by_eigen(const Case& given) {
  constexpr int n = 3 * N;
  using Matrix = Eigen::Matrix<double, n, n, Eigen::RowMajor>;
  using Vector = Eigen::Matrix<double, n, 1>;
  using Rows = Eigen::Matrix<double, 3, n, Eigen::RowMajor>;
  std::vector<double> out(given.problems.b.size());
  for (std::size_t p = 0; p < static_cast<std::size_t>(kCount); ++p) {
    const Eigen::Map<const Matrix> A(given.problems.A.data() + p * n * n);
    Matrix K;
    Eigen::Matrix3d P[N];
    for (int j = 0; j < N; ++j) {
      const std::size_t at = p * N + static_cast<std::size_t>(j);
      const Eigen::Map<const Eigen::Vector3d> c(given.solutions.c.data() + 3 * at),
          a(given.solutions.a.data() + 3 * at);
      const double mu = given.problems.mu[at];
      Eigen::Matrix3d Q = Eigen::Matrix3d::Zero(), of_a = Eigen::Matrix3d::Identity();
      if (given.regime[at] == 1) {
        const Eigen::Vector2d u = a.tail<2>().normalized();
        Q.bottomRightCorner<2, 2>().setIdentity();
        Q.bottomLeftCorner<2, 1>() = mu * u;
        of_a.bottomRightCorner<2, 2>() =
            mu * c[0] / a.tail<2>().norm() * (Eigen::Matrix2d::Identity() - u * u.transpose());
      } else if (given.regime[at] == 2) {
        Q.setIdentity();
        of_a.setZero();
      }
      P[j] = of_a;
      Rows rows = of_a * A.template middleRows<3>(3 * j);
      rows.template middleCols<3>(3 * j) += Q;
      K.template middleRows<3>(3 * j) = rows;
    }
    const Vector y = K.transpose().partialPivLu().solve(Eigen::Map<const Vector>(given.cotangent.data() + p * n));
    Eigen::Map<Vector> b(out.data() + p * n);
    for (int j = 0; j < N; ++j) b.template segment<3>(3 * j) = -P[j].transpose() * y.template segment<3>(3 * j);
  }
  return out;
}

/// Where the derivative exists.
double difference(const contact::Gradients& ours, const std::vector<double>& theirs) {
  const std::size_t n = theirs.size() / ours.margin.size();
  double largest = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i)
    if (ours.margin[i / n] > 1e-6)
      largest = std::max(largest, std::abs(ours.b[i] - theirs[i]) / std::max(1.0, std::abs(theirs[i])));
  return largest;
}

template <int N>
double flops(const Case& given) {
  using Op = contact::GradientOp<N>;
  operations = {};
  constexpr std::int64_t most = 100;
  for (std::int64_t p = 0; p < most; ++p) {
    typename Op::template In<Counted> in;
    std::copy_n(given.problems.A.data() + p * 9 * N * N, 9 * N * N, in.A.m);
    std::copy_n(given.problems.mu.data() + p * N, N, in.mu.m);
    std::copy_n(given.solutions.c.data() + p * 3 * N, 3 * N, in.c.m);
    std::copy_n(given.solutions.a.data() + p * 3 * N, 3 * N, in.a.m);
    std::copy_n(given.cotangent.data() + p * 3 * N, 3 * N, in.cotangent.m);
    std::copy_n(given.regime.data() + p * N, N, in.regime.m);
    benchmark::DoNotOptimize(Op{}(in));
  }
  return operations.flops() / static_cast<double>(most);
}

void per_problem(benchmark::State& state) {
  state.counters["each"] = benchmark::Counter(
      static_cast<double>(kCount), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <int N>
void register_size() {
  static const Case given(N);
  const std::string name = "gradient/random_n" + std::to_string(N) + "/";
  for (const auto& [who, executor] : {std::pair{"scalar", Executor::kScalar}, {"lanes", Executor::kLanes}}) {
    const Device device{executor, 1};
    benchmark::RegisterBenchmark((name + who).c_str(), [device](benchmark::State& state) {
      for (auto _ : state) benchmark::DoNotOptimize(contact::gradients(given.solved(), device));
      per_problem(state);
      state.counters["flops"] = flops<N>(given);
      state.counters["error"] = difference(contact::gradients(given.solved(), device), by_eigen<N>(given));
    });
  }
  benchmark::RegisterBenchmark((name + "with_solve").c_str(), [](benchmark::State& state) {
    const Device device{Executor::kLanes, 1};
    contact::Options options;
    options.wanted.merit = false;
    for (auto _ : state) {
      benchmark::DoNotOptimize(contact::solve(given.problems, options, device));
      benchmark::DoNotOptimize(contact::gradients(given.solved(), device));
    }
    per_problem(state);
  });
  benchmark::RegisterBenchmark((name + "eigen").c_str(), [](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(by_eigen<N>(given));
    per_problem(state);
  });
}

}  // namespace
}  // namespace garra::bench

int main(int argc, char** argv) {
  garra::bench::register_size<3>();
  garra::bench::register_size<5>();
  garra::bench::register_size<8>();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
