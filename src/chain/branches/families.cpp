// Continuous families of solutions: an arm that can move without its tool keeps one representative of each family.
#include "chain/branches/families.hpp"

#include <algorithm>
#include <cmath>

#include "garra/chain_eval.hpp"
#include "garra/core/factor.hpp"

namespace garra::chain {

namespace {

using branches::kLoop;
using Joints6 = Vec<double, kLoop>;

constexpr double kSingular = 1e-6;  ///< |J v| of a motion v that leaves the tool in place, at most
constexpr double kTrial = 0.05;     ///< step that shows whether solutions go on [rad or m]
constexpr double kStep = 0.2;       ///< of a walk along a family, at most
constexpr int kSteps = 64;
constexpr int kRound = 200;  ///< steps of half the length once around a family, at most
constexpr double kArrived = 1e-5;

/// The self motion of an arm at a pose of the tool.
class SelfMotion {
 public:
  SelfMotion(const AllSolutions::Prepared& p, std::span<const double> pose) : p_(p), pose_(pose) {
    op_.any_turn = false;
  }

  /// Whether solutions go on from q.
  [[nodiscard]] bool goes_on(const Joints6& q) const {
    Joints6 there = q;
    return direction(q, there) && polish(axpy(kTrial, there, q), there) && norm(there - q) > 0.5 * kTrial;
  }

  /// Where a walk from q comes next to `aim`, whole turns aside.
  [[nodiscard]] Joints6 walk(Joints6 q, const Joints6& aim) const {
    Joints6 along;
    for (int step = 0; step < kSteps && direction(q, along); ++step) {
      const double way = dot(along, gap(q, aim));
      if (std::abs(way) < 0.01 * kArrived || !polish(axpy(std::clamp(way, -kStep, kStep), along, q), q)) break;
    }
    return q;
  }
  /// Whether the curve of solutions through `from` passes `aim`.
  [[nodiscard]] bool joins(const Joints6& from, const Joints6& aim) const {
    for (const double side : {1.0, -1.0}) {
      Joints6 q = from, along, last = Joints6::zero();
      for (int step = 0; step < kRound && direction(q, along); ++step) {
        if (norm(gap(q, aim)) < kStep && norm(gap(walk(q, aim), aim)) < kArrived) return true;
        if (step > 0 ? dot(along, last) < 0 : side < 0) along = -along;
        last = along;
        if (!polish(axpy(0.5 * kStep, along, q), q) || (step > 4 && norm(gap(q, from)) < 0.4 * kStep)) break;
      }
    }
    return false;
  }

 private:
  [[nodiscard]] Joints6 gap(const Joints6& q, const Joints6& aim) const {
    Joints6 out = aim - q;
    for (int i = 0; i < kLoop; ++i)
      if (!p_.moves[static_cast<std::size_t>(i)].prismatic) out[i] = std::remainder(out[i], 2 * M_PI);
    return out;
  }

  /// The unit vector v with least |J v|, by inverse iteration; false if that is not small.
  bool direction(const Joints6& q, Joints6& v) const {
    const std::vector<double> at(q.m, q.m + kLoop);
    const std::vector<double> jac = evaluate(p_.robot, StateView(1, at), Output::kJacobian).jacobian;
    Mat<double, 6, kLoop> J;
    std::copy_n(jac.begin(), 36, J.m);
    Mat<double, kLoop, kLoop> square = transpose_times(J, J);
    for (int i = 0; i < kLoop; ++i) square(i, i) += 1e-10;
    const auto factors = factor_ldlt(square);
    v = {{0.3, 0.5, 0.7, 0.4, 0.6, 0.8}};
    for (int k = 0; k < 4; ++k) {
      v = garra::solve(factors, v);
      v = (1 / norm(v)) * v;
    }
    return norm(J * v) <= kSingular;
  }
  /// The solution next to a start.
  bool polish(const Joints6& start, Joints6& q) const {
    Solution one{};
    one.q = start;
    run_hold(op_, pose_, {Executor::kScalar, 1, 0}, {&one, 1});
    q = one.q;
    return one.residual <= op_.rule.tolerance;
  }

  const AllSolutions::Prepared& p_;
  std::span<const double> pose_;
  branches::HoldOp op_{p_.op.model, p_.op.rule, p_.op.way[0].unit, false};
};

}  // namespace

void keep_families(const AllSolutions::Prepared& p, std::span<const double> pose, const double* q0,
                   std::vector<TurnedSolution>& all) {
  const SelfMotion motion(p, pose);
  std::vector<TurnedSolution> kept;
  for (TurnedSolution& one : all) {
    if (one.unique == 0 && motion.goes_on(one.q)) {
      const bool known = std::any_of(kept.begin(), kept.end(), [&](const TurnedSolution& other) {
        return other.family && motion.joins(other.q, one.q);
      });
      if (known) continue;
      one.family = true;
    }
    kept.push_back(one);
  }
  for (TurnedSolution& one : kept)
    if (one.family && q0 != nullptr) {
      Joints6 seed;
      std::copy_n(q0, kLoop, seed.m);
      one.q = motion.walk(one.q, seed);
    }
  all = std::move(kept);
}

}  // namespace garra::chain
