// chain::joint_rates and analytic_jacobian: Jacobians by evaluate(), then one operation on rows.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "garra/batch/resident.hpp"
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

/// The Jacobian of n states in device memory [n,6,j] as columns of an operation with room for more joints.
std::vector<batch::DeviceColumn> padded_rows(double* jacobian, int joints, int columns) {
  std::vector<batch::DeviceColumn> out;
  for (int r = 0; r < 6; ++r) {
    out.push_back(batch::device_column(DeviceArray<double>{jacobian + r * joints, std::int64_t{6} * joints}, joints));
    if (columns > joints) out.push_back({nullptr, columns - joints});
  }
  return out;
}

/// Sets `needed` and runs nothing, where it is not null.
void run_there(const Robot& robot, const DeviceTwists& in, const RatePlace& place, const DeviceRates& to,
               DeviceCall call, std::size_t* needed) {
  check_options(place.rates);
  require_uncoupled(robot, "states on a GPU");
  const int joints = robot.joints;
  constexpr std::size_t kLine = 256;  // the alignment of workspaces
  const std::size_t bytes =
      (static_cast<std::size_t>(in.count * 6 * joints) * sizeof(double) + kLine - 1) / kLine * kLine;
  if (needed == nullptr && in.count > 0 && call.bytes < bytes)
    throw Error(ExitCode::kUsage, "the workspace is too small", "Ask workspace_bytes() for the same arrays.");
  auto* const jacobian = static_cast<double*>(call.workspace);
  // Behind the Jacobians, for one call after the other.
  if (needed == nullptr) {
    call.workspace = static_cast<std::byte*>(call.workspace) + bytes;
    call.bytes -= std::min(call.bytes, bytes);
  }
  DeviceResults results;
  double stand_in = 0;  // bytes do not depend on the place
  results[Output::kJacobian] = {needed == nullptr ? jacobian : &stand_in};
  const DeviceStates states{in.count, in.q};
  const DevicePlace where{place.jacobian, call};
  std::size_t of_states = 0, of_rates = 0;
  if (needed == nullptr)
    evaluate(robot, states, where, results);
  else
    of_states = workspace_bytes(robot, states, where, results);
  with_columns(joints, [&](auto columns) {
    batch::ResidentRows rows{
        in.count, padded_rows(jacobian, joints, columns), {}, call, needed == nullptr ? nullptr : &of_rates};
    rows.in.push_back(batch::device_column(in.twist, 6));
    rows.out.push_back(batch::device_column(to.qd, joints));
    if (columns > joints) rows.out.push_back({nullptr, columns - joints});
    rows.out.push_back(batch::device_column(to.residual, 6));
    rows.out.push_back(batch::device_column(to.damping, 1));
    rows.out.push_back(batch::device_column(to.status, 1));
    if (in.count > 0)
      batch::run_resident(JointRatesOp<columns>{place.rates, linear_row(place.jacobian.form), joints}, rows);
  });
  if (needed != nullptr) *needed = bytes + std::max(of_states, of_rates);
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
  out.status.resize(n);
  out.damping.resize(n);
  out.residual.resize(6 * n);
  if (n == 0) return out;
  with_columns(out.joints, [&](auto columns) {
    using batch::in_column, batch::out_column;
    const Array jac = resized_rows(found.jacobian, out.joints, columns);
    Array qd(n * columns);
    batch::run_rows(
        JointRatesOp<columns>{place.rates, linear_row(place.jacobian.form), out.joints},
        {states.count,
         {in_column(jac, 6 * columns), in_column(twist, 6)},
         {out_column(qd, columns), out_column(out.residual, 6), out_column(out.damping), out_column(out.status)},
         place.device});
    out.qd = resized_rows(qd, columns, out.joints);
  });
  return out;
}

void joint_rates(const Robot& robot, const DeviceTwists& in, const RatePlace& place, const DeviceRates& to,
                 const DeviceCall& call) {
  run_there(robot, in, place, to, call, nullptr);
}

std::size_t workspace_bytes(const Robot& robot, const DeviceTwists& in, const RatePlace& place, const DeviceRates& to,
                            int device) {
  std::size_t bytes = 0;
  run_there(robot, in, place, to, {.device = device}, &bytes);
  return bytes;
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
