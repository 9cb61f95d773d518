// With q = P x + c of the coordinates x: qd = P xd, so that J P, P' M P, P' C P and P' tau are what a chain of these
// coordinates has (docs/theory/chain.md, "Coupled joints"). P is constant, so C keeps dM/dt - 2 C skew.
#include "chain/eval/coupled.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chain/eval/evaluate_kernel.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/core/factor.hpp"
#include "garra/systems/chain/followers.hpp"

namespace garra::chain {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kFewStates = 256;  ///< one thread computes them

std::size_t at(std::int64_t row, int width) { return static_cast<std::size_t>(row) * static_cast<std::size_t>(width); }

using Row = Vec<double, kMaxJoints>;
using Square = Mat<double, kMaxJoints, kMaxJoints>;

/// P and c, of rows of numbers for coordinates and for joints.
struct Coordinates {
  explicit Coordinates(const Robot& robot)
      : joints(robot.joints),
        own(coordinates(robot)),
        count(static_cast<int>(own.size())),
        followers(find_followers(robot)) {}

  /// P x, or P x + c, of every row.
  [[nodiscard]] std::vector<double> expanded(std::span<const double> x, bool with_offset) const {
    std::vector<double> out;
    out.reserve(x.size() / own.size() * static_cast<std::size_t>(joints));
    for (std::size_t first = 0; first < x.size(); first += own.size()) {
      Row row = Row::zero();
      for (std::size_t k = 0; k < own.size(); ++k) row[own[k]] = x[first + k];
      with_offset ? follow(followers, row) : follow_rates(followers, row);
      out.insert(out.end(), row.m, row.m + joints);
    }
    return out;
  }
  /// A P of `rows` rows of one number for each joint.
  void reduce_columns(const double* A, int rows, double* out) const {
    for (int r = 0; r < rows; ++r) {
      Row row = Row::zero();
      std::copy_n(A + r * joints, joints, row.m);
      lead_torques(followers, row);
      for (const int k : own) *out++ = row[k];
    }
  }
  /// P' A P, in the first rows and columns.
  [[nodiscard]] Square reduced(const double* A) const {
    Square whole = Square::zero(), out = Square::zero();
    for (int i = 0; i < joints; ++i)
      for (int j = 0; j < joints; ++j) whole(i, j) = A[i * joints + j];
    lead_inertia(followers, whole);
    for (int r = 0; r < count; ++r)
      for (int c = 0; c < count; ++c)
        out(r, c) = whole(own[static_cast<std::size_t>(r)], own[static_cast<std::size_t>(c)]);
    return out;
  }

  int joints;
  std::vector<int> own;  ///< joints that are coordinates
  int count;
  Followers followers;
};

/// What the whole chain has to say for the outputs that are wanted.
Outputs of_all_joints(const Outputs& wanted) {
  Outputs out;
  for (int i = 0; i < kOutputCount; ++i) {
    const auto output = static_cast<Output>(i);
    if (!wanted.has(output)) continue;
    switch (output) {
      case Output::kForwardDynamics:
        for (const Output part : {Output::kMassMatrix, Output::kBias, Output::kGravity, Output::kDamping})
          out.add(part);
        break;
      case Output::kManipulability:
      case Output::kSmallestSingularValue:
        break;  // of a Jacobian of their own
      default:
        out.add(output);
    }
  }
  return out;
}

/// M y = b of the first `n` unknowns, for each n numbers of b. False where M is not positive definite to rounding.
bool solve_definite(const Square& M, int n, std::span<double> b) {
  Square padded = M;
  for (int k = n; k < kMaxJoints; ++k) padded(k, k) = 1;
  const auto factors = factor_ldlt(padded, n);
  // What rounding leaves of a diagonal entry is no pivot.
  for (int k = 0; k < n; ++k)
    if (!(factors.d[k] > 1e-13 * M(k, k))) return false;
  for (double* one = b.data(); one != b.data() + b.size(); one += n) {
    Row y = Row::zero();
    std::copy_n(one, n, y.m);
    y = solve(factors, y);
    std::copy_n(y.m, n, one);
  }
  return true;
}

/// The outputs of all joints into those of the coordinates, row by row.
class Reduction {
 public:
  Reduction(const Coordinates& coordinates, const Results& whole, Results& out)
      : p_(coordinates), whole_(whole), out_(out) {}

  void copy(Output output, std::int64_t row) const {
    const int width = output_size(output, p_.joints);
    std::copy_n(&whole_[output][at(row, width)], width, &out_[output][at(row, width)]);
  }
  void columns(Output output, int rows, std::int64_t row) const {
    p_.reduce_columns(&whole_[output][at(row, rows * p_.joints)], rows, &out_[output][at(row, rows * p_.count)]);
  }
  void square(Output output, std::int64_t row) const {
    const Square reduced = p_.reduced(&whole_[output][at(row, p_.joints * p_.joints)]);
    double* to = &out_[output][at(row, p_.count * p_.count)];
    for (int r = 0; r < p_.count; ++r) to = std::copy_n(&reduced(r, 0), p_.count, to);
  }
  /// qdd of P' M P qdd = tau - P' (C qd + b qd + g).
  void accelerate(std::span<const double> tau, std::int64_t row) const {
    const auto n = static_cast<std::size_t>(p_.count);
    std::vector<double> part(n);
    const std::span<double> b(&out_.qdd[at(row, p_.count)], n);
    std::copy_n(&tau[at(row, p_.count)], n, b.begin());
    for (const Output output : {Output::kBias, Output::kGravity, Output::kDamping}) {
      p_.reduce_columns(&whole_[output][at(row, p_.joints)], 1, part.data());
      for (std::size_t k = 0; k < n; ++k) b[k] -= part[k];
    }
    const bool solved = solve_definite(p_.reduced(&whole_.mass_matrix[at(row, p_.joints * p_.joints)]), p_.count, b);
    if (!solved) std::fill(b.begin(), b.end(), kNaN);
    Status& status = out_.status[static_cast<std::size_t>(row)];
    if (!solved && status == Status::kConverged) status = Status::kNoSolution;
  }
  /// Of the coordinates' Jacobian of the tool point.
  void singular_values(const Results& jacobians, const Outputs& wanted, std::int64_t row) const {
    std::vector<double> reduced(at(6, p_.count));
    p_.reduce_columns(&jacobians.jacobian[at(row, 6 * p_.joints)], 6, reduced.data());
    Mat<double, 6, kMaxJoints> jac = Mat<double, 6, kMaxJoints>::zero();
    for (int r = 0; r < 6; ++r)
      for (int k = 0; k < p_.count; ++k) jac(r, k) = reduced[at(r, p_.count) + static_cast<std::size_t>(k)];
    with_real_columns<1>(jac, p_.count, [&](const auto& real) {
      if (wanted.has(Output::kManipulability))
        out_.manipulability[static_cast<std::size_t>(row)] = manipulability(real);
      if (wanted.has(Output::kSmallestSingularValue))
        out_.smallest_singular_value[static_cast<std::size_t>(row)] = smallest_singular_value(real);
    });
  }
  void invalidate(const Outputs& wanted, std::int64_t row) const {
    out_.status[static_cast<std::size_t>(row)] = Status::kInvalidInput;
    for (int i = 0; i < kOutputCount; ++i) {
      const auto output = static_cast<Output>(i);
      const int width = output_size(output, p_.count, p_.joints);
      if (wanted.has(output)) std::fill_n(&out_[output][at(row, width)], width, kNaN);
    }
  }

 private:
  const Coordinates& p_;
  const Results& whole_;
  Results& out_;
};

/// What a reduction reads besides the outputs of all joints.
struct Given {
  const StateView& states;
  const Outputs& wanted;
  const Results& jacobians;
};

void reduce_row(const Reduction& reduction, const Given& given, int links, std::int64_t row) {
  const auto& [states, wanted, jacobians] = given;
  for (int i = 0; i < kOutputCount; ++i) {
    const auto output = static_cast<Output>(i);
    if (!wanted.has(output)) continue;
    switch (output) {
      case Output::kJacobian:
        reduction.columns(output, 6, row);
        break;
      case Output::kComJacobians:
        reduction.columns(output, 6 * links, row);
        break;
      case Output::kMassMatrix:
      case Output::kCoriolisMatrix:
        reduction.square(output, row);
        break;
      case Output::kBias:
      case Output::kGravity:
      case Output::kDamping:
      case Output::kInverseDynamics:
      case Output::kJointForce:
        reduction.columns(output, 1, row);
        break;
      case Output::kForwardDynamics:
        reduction.accelerate(states.tau, row);
        break;
      case Output::kManipulability:
      case Output::kSmallestSingularValue:
        reduction.singular_values(jacobians, wanted, row);
        break;
      default:
        reduction.copy(output, row);
    }
  }
}

}  // namespace

void evaluate_coupled(const Robot& robot, const StateView& states, const Outputs& wanted, const EvalPlace& place,
                      Results& out) {
  const Coordinates p(robot);
  Robot free = robot;
  free.coupled.clear();
  const std::vector<double> q = p.expanded(states.q, true), qd = p.expanded(states.qd, false),
                            qdd = p.expanded(states.qdd, false);
  const StateView all(states.count, q, qd, qdd, {}, states.wrench, states.parameters);
  Results whole, jacobians;
  evaluate(free, all, of_all_joints(wanted), place, whole);
  if (wanted.has(Output::kManipulability) || wanted.has(Output::kSmallestSingularValue)) {
    EvalPlace plain = place;
    plain.options = {.point = place.options.point};
    evaluate(free, all, Output::kJacobian, plain, jacobians);
    for (std::size_t i = 0; i < whole.status.size(); ++i)
      if (whole.status[i] == Status::kConverged) whole.status[i] = jacobians.status[i];
  }
  out.joints = p.count;
  out.links = p.joints;
  out.count = states.count;
  out.status = whole.status;
  for (int i = 0; i < kOutputCount; ++i) {
    const auto output = static_cast<Output>(i);
    out[output].assign(wanted.has(output) ? at(states.count, output_size(output, p.count, p.joints)) : 0, 0.0);
  }
  const Reduction reduction(p, whole, out);
  const bool needs_tau = wanted.has(Output::kForwardDynamics);
  // Starting threads costs more than some states.
  const bool alone = place.device.executor == Executor::kScalar || states.count < kFewStates;
  batch::parallel_for(alone ? 1 : solve_threads(place.device), states.count, [&](std::int64_t row) {
    bool valid = out.status[static_cast<std::size_t>(row)] == Status::kConverged;
    for (int k = 0; k < p.count && needs_tau; ++k)
      valid = valid && std::isfinite(states.tau[at(row, p.count) + static_cast<std::size_t>(k)]);
    if (valid)
      reduce_row(reduction, {states, wanted, jacobians}, p.joints, row);
    else
      reduction.invalidate(wanted, row);
  });
}

std::vector<double> values_of_joints(const Robot& robot, std::span<const double> x, bool with_offset) {
  return Coordinates(robot).expanded(x, with_offset);
}

void reduce_matrices(const Robot& robot, std::vector<double>& matrices) {
  const Coordinates p(robot);
  double* to = matrices.data();  // behind what is read
  for (std::size_t first = 0; first < matrices.size(); first += at(p.joints, p.joints)) {
    const Square reduced = p.reduced(matrices.data() + first);
    for (int r = 0; r < p.count; ++r) to = std::copy_n(&reduced(r, 0), p.count, to);
  }
  matrices.resize(static_cast<std::size_t>(to - matrices.data()));
}

bool solve_mass_matrix(const double* M, int n, std::span<double> b) {
  Square square = Square::zero();
  for (int i = 0; i < n; ++i) std::copy_n(M + i * n, n, &square(i, 0));
  return solve_definite(square, n, b);
}

}  // namespace garra::chain
