// chain::joint_rates and analytic_jacobian: Jacobians by evaluate(), then one operation on rows.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "garra/batch/rows_run.hpp"
#include "garra/chain_simulate.hpp"
#include "garra/core/error.hpp"

namespace garra::chain {

namespace {

using Array = std::vector<double>;

void require(bool holds, const std::string& problem, const char* remedy) {
  if (!holds) throw Error(ExitCode::kUsage, "joint rates: " + problem, remedy);
}

void check_options(const RateOptions& o) {
  require(o.length > 0 && std::isfinite(o.length), "the length is not a number > 0",
          "give the length at which 1 rad/s counts as much as the velocity it causes [m]");
  require(o.near >= 0 && o.near < 1, "near is not in [0, 1)", "0 turns the damping off");
  require(o.damping >= 0 && std::isfinite(o.damping), "the damping is not a number >= 0", "0 turns it off");
  for (const double w : o.weight)
    require(w > 0 && std::isfinite(w), "a weight is not a number > 0", "a large weight holds a joint back");
}

/// Rows of `from` numbers as rows of `to` numbers: zeros behind them, or without what is behind.
Array resized_rows(const Array& rows, int from, int to) {
  if (from == to) return rows;
  const std::size_t count = rows.size() / static_cast<std::size_t>(from);
  Array out(count * static_cast<std::size_t>(to), 0.0);
  for (std::size_t i = 0; i < count; ++i)
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(i) * from, std::min(from, to),
                out.begin() + static_cast<std::ptrdiff_t>(i) * to);
  return out;
}

/// use(N) with the number of columns that there is code for.
template <class Use>
void with_columns(int joints, const Use& use) {
  if (joints <= 6) return use(std::integral_constant<int, 6>{});
  if (joints == 7) return use(std::integral_constant<int, 7>{});
  use(std::integral_constant<int, kMaxJoints>{});
}

StateView make_view(const Robot& robot, std::span<const double> q) {
  const std::size_t joints = coordinates(robot).size();
  if (q.size() % joints != 0)
    throw Error(ExitCode::kInvalidFile,
                "q has " + std::to_string(q.size()) + " numbers, not [n,j] of j = " + std::to_string(joints));
  return {static_cast<std::int64_t>(q.size() / joints), q};
}

/// First of the linear rows.
int linear_row(JacobianForm form) {
  return form == JacobianForm::kAngularFirst || form == JacobianForm::kScrews ? 3 : 0;
}

/// NaN in all of a state whose q or twist is not finite.
void invalidate(std::span<const double> twist, JointRates& out) {
  const auto joints = static_cast<std::size_t>(out.joints);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < out.status.size(); ++i) {
    const auto row = twist.subspan(6 * i, 6);
    if (!std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); }))
      out.status[i] = Status::kInvalidInput;
    if (out.status[i] == Status::kConverged) continue;
    std::fill_n(&out.qd[joints * i], joints, kNaN);
    std::fill_n(&out.residual[6 * i], 6, kNaN);
    out.damping[i] = kNaN;
  }
}

}  // namespace

JointRates joint_rates(const Robot& robot, std::span<const double> q, std::span<const double> twist,
                       const RatePlace& place) {
  check_options(place.rates);
  const StateView states = make_view(robot, q);
  const auto n = static_cast<std::size_t>(states.count);
  if (twist.size() != 6 * n)
    throw Error(ExitCode::kInvalidFile,
                "twist has " + std::to_string(twist.size()) + " numbers, not [n,6] of n = " + std::to_string(n));
  Results found = evaluate(robot, states, Output::kJacobian, place.jacobian, place.device);
  JointRates out;
  out.joints = found.joints;
  out.status = std::move(found.status);
  out.damping.resize(n);
  out.residual.resize(6 * n);
  if (n == 0) return out;
  with_columns(out.joints, [&](auto columns) {
    using batch::in_column, batch::out_column;
    const Array jac = resized_rows(found.jacobian, out.joints, columns);
    Array qd(n * columns);
    batch::run_rows(JointRatesOp<columns>{place.rates, linear_row(place.jacobian.form), out.joints},
                    {states.count,
                     {in_column(jac, 6 * columns), in_column(twist, 6)},
                     {out_column(qd, columns), out_column(out.residual, 6), out_column(out.damping)},
                     place.device});
    out.qd = resized_rows(qd, columns, out.joints);
  });
  invalidate(twist, out);
  return out;
}

std::vector<double> analytic_jacobian(const Robot& robot, std::span<const double> q, EulerAngles sequence,
                                      const EvalPlace& place) {
  const StateView states = make_view(robot, q);
  Results found =
      evaluate(robot, states, {Output::kJacobian, Output::kPose}, {.point = place.options.point}, place.device);
  Array out;
  if (states.count == 0) return out;
  with_columns(found.joints, [&](auto columns) {
    using batch::in_column, batch::out_column;
    Array jac = resized_rows(found.jacobian, found.joints, columns), rates(jac.size());
    batch::run_rows(EulerRatesOp<columns>{sequence}, {states.count,
                                                      {in_column(jac, 6 * columns), in_column(found.pose, 16)},
                                                      {out_column(rates, 6 * columns)},
                                                      place.device});
    out = resized_rows(rates, columns, found.joints);
  });
  return out;
}

}  // namespace garra::chain
