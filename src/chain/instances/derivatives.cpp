// chain::inverse_dynamics_derivatives and forward_dynamics_derivatives: operations on rows.
#include "garra/systems/chain/derivatives.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "chain/eval/coupled.hpp"
#include "chain/eval/evaluate_kernel.hpp"
#include "garra/batch/rows_run.hpp"
#include "garra/chain_simulate.hpp"
#include "garra/core/error.hpp"

namespace garra::chain {

namespace {

using Array = std::vector<double>;

/// use(N) with the number of joints that there is code for.
template <class Use>
void with_joints(int joints, const Use& use) {
  if (joints <= 6) return use(std::integral_constant<int, 6>{});
  if (joints == 7) return use(std::integral_constant<int, 7>{});
  use(std::integral_constant<int, kMaxJoints>{});
}

/// The three arrays of a state, each of `joints` numbers.
struct Inputs {
  StateView::Array q, qd, last;
  const char* name;  ///< of the last one

  void check(const Robot& robot, std::int64_t count) const {
    const auto size = static_cast<std::size_t>(count) * coordinates(robot).size();
    for (const auto& [array, what] : {std::pair{q, "q"}, {qd, "qd"}, {last, name}})
      if (array.size() != size)
        throw Error(ExitCode::kInvalidFile, std::string(what) + " has " + std::to_string(array.size()) +
                                                " numbers, not [n,j] = " + std::to_string(size));
  }
  [[nodiscard]] std::vector<batch::InColumn> columns(int joints, int padded) const {
    std::vector<batch::InColumn> out;
    for (const auto& array : {q, qd, last}) {
      out.push_back(batch::in_column(array, joints));
      out.push_back({nullptr, padded - joints});
    }
    return out;
  }
  [[nodiscard]] bool are_finite(std::size_t row, std::size_t joints) const {
    double sum = 0;
    for (const auto& array : {q, qd, last})
      for (std::size_t k = 0; k < joints; ++k) sum += 0 * array[row * joints + k];
    return sum == 0;
  }
};

/// Matrices of `padded` rows and columns without those of the padding.
void shrink(Array& matrices, std::size_t padded, std::size_t joints) {
  if (padded == joints) return;
  const std::size_t count = matrices.size() / (padded * padded);
  for (std::size_t n = 0; n < count; ++n)
    for (std::size_t i = 0; i < joints; ++i)
      std::copy_n(matrices.begin() + static_cast<std::ptrdiff_t>((n * padded + i) * padded), joints,
                  matrices.begin() + static_cast<std::ptrdiff_t>((n * joints + i) * joints));
  matrices.resize(count * joints * joints);
}

void set_status(const Inputs& in, const Array& singular, DynamicsDerivatives& out) {
  const auto joints = static_cast<std::size_t>(out.joints);
  for (std::size_t n = 0; n < out.status.size(); ++n) {
    if (!in.are_finite(n, joints))
      out.status[n] = Status::kInvalidInput;
    else if (!singular.empty() && singular[n] > 0)
      out.status[n] = Status::kNoSolution;
    if (out.status[n] == Status::kConverged) continue;
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    for (Array* matrix : {&out.by_q, &out.by_qd, &out.by_input})
      std::fill_n(matrix->begin() + static_cast<std::ptrdiff_t>(n * joints * joints), joints * joints, kNaN);
    if (!out.qdd.empty()) std::fill_n(out.qdd.begin() + static_cast<std::ptrdiff_t>(n * joints), joints, kNaN);
  }
}

template <class Run>
DynamicsDerivatives run(const Robot& robot, std::int64_t count, const Inputs& in, const Run& of_size) {
  DynamicsDerivatives out;
  out.joints = robot.joints;
  out.status.assign(static_cast<std::size_t>(count), Status::kConverged);
  Array singular;
  if (count > 0)
    with_joints(robot.joints, [&](auto J) {
      for (Array* matrix : {&out.by_q, &out.by_qd, &out.by_input})
        matrix->resize(static_cast<std::size_t>(count) * J * J);
      of_size(J, out, singular);
      for (Array* matrix : {&out.by_q, &out.by_qd, &out.by_input})
        shrink(*matrix, J, static_cast<std::size_t>(robot.joints));
    });
  set_status(in, singular, out);
  return out;
}

template <int J>
Model<double, J> padded_model(const Robot& robot) {
  return make_source<SharedModel<J, Joints::kMixed>>(robot).model;
}

}  // namespace

DynamicsDerivatives inverse_dynamics_derivatives(const Robot& robot, const StateView& states, const Device& device) {
  const Inputs in{states.q, states.qd, states.qdd, "qdd"};
  in.check(robot, states.count);
  if (!robot.coupled.empty()) return coupled_inverse_derivatives(robot, states, device);
  return run(robot, states.count, in, [&](auto J, DynamicsDerivatives& out, Array&) {
    using batch::out_column;
    batch::run_rows(InverseDynamicsDerivativesOp<J>{padded_model<J>(robot)},
                    {states.count,
                     in.columns(robot.joints, J),
                     {out_column(out.by_q, J * J), out_column(out.by_qd, J * J), out_column(out.by_input, J * J)},
                     device});
  });
}

DynamicsDerivatives forward_dynamics_derivatives(const Robot& robot, const StateView& states, const Device& device) {
  const Inputs in{states.q, states.qd, states.tau, "tau"};
  in.check(robot, states.count);
  if (!robot.coupled.empty()) return coupled_forward_derivatives(robot, states, device);
  return run(robot, states.count, in, [&](auto J, DynamicsDerivatives& out, Array& singular) {
    using batch::out_column;
    out.qdd.resize(static_cast<std::size_t>(states.count) * static_cast<std::size_t>(robot.joints));
    singular.resize(static_cast<std::size_t>(states.count));
    batch::run_rows(ForwardDynamicsDerivativesOp<J>{padded_model<J>(robot), robot.joints},
                    {states.count,
                     in.columns(robot.joints, J),
                     {out_column(out.by_q, J * J),
                      out_column(out.by_qd, J * J),
                      out_column(out.by_input, J * J),
                      out_column(out.qdd, robot.joints),
                      {nullptr, J - robot.joints},
                      out_column(singular)},
                     device});
  });
}

}  // namespace garra::chain
