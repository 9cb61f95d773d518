// The hand of a grasp out of a set's arrays: J M^-1 J^T, the drift that its torques leave, what they press with.
#include "grasp/set/pack_hand.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "garra/core/error.hpp"

namespace garra::grasp {

namespace {

using Numbers = std::vector<double>;
/// Row-major, square.
struct Square {
  std::int64_t size;
  std::span<const double> m;

  double operator()(std::int64_t r, std::int64_t c) const { return m[static_cast<std::size_t>(r * size + c)]; }
};

std::span<const double> rows(const Numbers& all, std::int64_t first, std::int64_t count, std::int64_t width) {
  if (all.empty()) return {};
  return std::span(all).subspan(static_cast<std::size_t>(first * width), static_cast<std::size_t>(count * width));
}

bool is_symmetric(const Square& a) {
  double largest = 0, apart = 0;
  for (std::int64_t r = 0; r < a.size; ++r)
    for (std::int64_t c = 0; c < a.size; ++c) {
      largest = std::max(largest, std::abs(a(r, c)));
      apart = std::max(apart, std::abs(a(r, c) - a(c, r)));
    }
  return apart <= 1e-6 * largest;
}

/// a = L L^T; reads the lower triangle. False where a is not positive definite: a pivot is rounding noise of its row.
bool cholesky(const Square& a, Numbers& l) {
  const std::int64_t n = a.size;
  const auto at = [n](std::int64_t r, std::int64_t c) { return static_cast<std::size_t>(r * n + c); };
  l.assign(static_cast<std::size_t>(n * n), 0);
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t c = 0; c <= r; ++c) {
      double sum = a(r, c);
      for (std::int64_t k = 0; k < c; ++k) sum -= l[at(r, k)] * l[at(c, k)];
      if (c < r)
        l[at(r, c)] = sum / l[at(c, c)];
      else if (sum > 1e-14 * std::abs(a(r, r)))
        l[at(r, r)] = std::sqrt(sum);
      else
        return false;
    }
  return true;
}

/// L^-1 x, in place.
void solve_lower(const Numbers& l, std::span<double> x) {
  const std::size_t n = x.size();
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t k = 0; k < r; ++k) x[r] -= l[r * n + k] * x[k];
    x[r] /= l[r * n + r];
  }
}

double product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// What the set has of one grasp.
struct HandRows {
  HandRows(const Set& set, std::int64_t g)
      : first(set.first[static_cast<std::size_t>(g)]),
        contacts(set.first[static_cast<std::size_t>(g) + 1] - first),
        joints(set.joints()),
        force(rows(set.force, first, contacts, 3)),
        mobility(rows(set.mobility, first, contacts, each_mobility(set))),
        jacobian(rows(set.jacobian, first, contacts, 3 * joints)),
        torque(rows(set.torque, g, 1, joints)),
        bias(rows(set.bias, g, 1, joints)),
        torque_limit(rows(set.torque_limit, g, 1, joints)),
        mass_matrix{joints, rows(set.mass_matrix, g, 1, joints * joints)} {}

  static std::int64_t each_mobility(const Set& set) { return std::ssize(set.mobility) == set.first.back() ? 1 : 9; }
  /// Of contact j; from one number as from nine.
  [[nodiscard]] Mat3<double> mobility_of(std::int64_t j) const {
    const auto k = static_cast<std::size_t>(j);
    if (std::ssize(mobility) == contacts) return mobility[k] * Mat3<double>::identity();
    Mat3<double> out;
    std::copy_n(mobility.begin() + 9 * j, 9, out.m);
    return out;
  }

  std::int64_t first, contacts, joints;
  std::span<const double> force, mobility, jacobian, torque, bias, torque_limit;
  Square mass_matrix;
};

[[noreturn]] void refuse(const std::string& what, const std::string& remedy) {
  throw Error(ExitCode::kInvalidFile, what, remedy);
}

void check_size(const char* name, const Numbers& numbers, std::int64_t wanted, const std::string& shape) {
  if (numbers.empty() || std::ssize(numbers) == wanted) return;
  refuse(std::string(name) + " has " + std::to_string(numbers.size()) + " numbers, not " + std::to_string(wanted),
         "Its shape is " + shape + ".");
}

/// A force along t or o without a direction t would be one along any.
void check_tangents(const Set& set) {
  if (!set.tangent.empty()) return;
  for (std::size_t row = 0; row < set.force.size() / 3; ++row)
    if (set.force[3 * row + 1] != 0 || set.force[3 * row + 2] != 0)
      refuse("force: row " + std::to_string(row) + " has a tangential part, but there is no tangent",
             "Give tangent [m,3], the direction t of each contact, or normal forces only.");
}

/// What J M^-1 makes of a torque: the acceleration of the contact points.
class JointResponse {
 public:
  explicit JointResponse(const HandRows& hand) : hand_(hand) {
    (void)cholesky(hand.mass_matrix, factor_);  // hand_is_sound() has asked
    const std::int64_t n = hand.joints;
    columns_.assign(hand.jacobian.begin(), hand.jacobian.end());
    for (std::int64_t r = 0; r < 3 * hand.contacts; ++r)
      solve_lower(factor_, std::span(columns_).subspan(static_cast<std::size_t>(r * n), static_cast<std::size_t>(n)));
  }
  [[nodiscard]] double mobility(std::int64_t r, std::int64_t c) const { return product(column(r), column(c)); }
  /// J M^-1 torque.
  [[nodiscard]] Numbers of(Numbers torque) const {
    solve_lower(factor_, torque);
    Numbers out;
    for (std::int64_t r = 0; r < 3 * hand_.contacts; ++r) out.push_back(product(column(r), torque));
    return out;
  }
  /// The same of a unit torque of one joint.
  [[nodiscard]] Numbers of_joint(std::int64_t joint) const {
    Numbers torque(static_cast<std::size_t>(hand_.joints));
    torque[static_cast<std::size_t>(joint)] = 1;
    return of(std::move(torque));
  }

 private:
  [[nodiscard]] std::span<const double> column(std::int64_t r) const {
    return std::span(columns_).subspan(static_cast<std::size_t>(r * hand_.joints),
                                       static_cast<std::size_t>(hand_.joints));
  }
  const HandRows& hand_;
  Numbers factor_, columns_;  ///< L of M = L L^T, and L^-1 J^T by its columns
};

/// Directions in which a mobility is below this share of its largest are the structure's.
constexpr double kStiff = 1e-10;

/// But for what no rotation changes.
template <int D>
bool is_diagonal(const Mat<double, D, D>& a) {
  double off = 0, on = 0;
  for (int r = 0; r < D; ++r)
    for (int c = 0; c <= r; ++c) (r == c ? on : off) += a(r, c) * a(r, c);
  return off <= 1e-34 * on;
}

/// B^+ and the projector onto the directions that it takes to zero.
template <int D>
void split(const Mat<double, D, D>& B, Mat<double, D, D>& inverse, Mat<double, D, D>& structure, bool& structured) {
  Mat<double, D, D> a = B, v = Mat<double, D, D>::identity();
  constexpr int kSweeps = 12;  // convergence is quadratic
  // Only large matrices stop early: where eigenvalues are equal, rounding turns their vectors in every sweep.
  for (int sweep = 0; sweep < kSweeps && (D <= 3 * kMaxContacts || !is_diagonal(a)); ++sweep)
    for (int p = 0; p < D; ++p)
      for (int q = p + 1; q < D; ++q)
        if (a(p, q) != 0) factor::rotate(a, v, p, q);
  double largest = 0;
  for (int k = 0; k < D; ++k) largest = std::max(largest, a(k, k));
  inverse = structure = Mat<double, D, D>::zero();
  structured = false;
  for (int k = 0; k < D; ++k) {
    const bool moves = a(k, k) > kStiff * largest;
    structured = structured || !moves;
    for (int r = 0; r < D; ++r)
      for (int c = 0; c < D; ++c) (moves ? inverse : structure)(r, c) += v(r, k) * v(c, k) / (moves ? a(k, k) : 1);
  }
}

template <int N>
Vec<double, 3 * N> commanded(const HandRows& rows, const SetGrasp<N>& grasp) {
  Vec<double, 3 * N> f = Vec<double, 3 * N>::zero();
  if (rows.force.empty()) return f;
  for (int j = 0; j < grasp.contacts; ++j) {
    const SurfacePoint& at = grasp.contact[j];
    const double* c = rows.force.data() + 3 * j;
    for (int i = 0; i < 3; ++i) f[3 * j + i] = c[0] * at.n[i] + c[1] * at.t[i] + c[2] * at.o[i];
  }
  return f;
}

/// Inertia over mass; of a set without inertia that of a body with the grasp's length as radius of gyration.
Mat3<double> gyration2_of(const Set& set, std::int64_t g, double length) {
  if (set.inertia.empty()) return (length * length) * Mat3<double>::identity();
  Mat3<double> out;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) {
      const double* I = set.inertia.data() + 9 * g;
      out(r, c) = 0.5 * (I[3 * r + c] + I[3 * c + r]) / set.mass[static_cast<std::size_t>(g)];
    }
  return out;
}

/// `response`: null where the hand is not whole.
template <int N>
void set_drifts(const HandRows& rows, const JointResponse* response, SetHand<N>& out) {
  out.own_drift = Vec<double, 3 * N>::zero();
  // A commanded force is what it presses with, whatever it moves, and the hand's own weight is compensated.
  out.command_drift = -(out.mobility * out.command_force);
  if (response == nullptr || rows.torque.empty()) return;
  const auto fill = [&](std::span<const double> torque, double sign, Vec<double, 3 * N>& drift) {
    const Numbers of_torque = response->of({torque.begin(), torque.end()});
    for (std::size_t r = 0; r < of_torque.size(); ++r) drift[static_cast<int>(r)] = sign * of_torque[r];
  };
  fill(rows.torque, -1, out.command_drift);
  if (!rows.bias.empty()) fill(rows.bias, 1, out.own_drift);
}

/// Joints with a torque limit.
int limits_of(const HandRows& rows) {
  return static_cast<int>(
      std::count_if(rows.torque_limit.begin(), rows.torque_limit.end(), [](double x) { return std::isfinite(x); }));
}

/// Joint i, beside the hand. `rest_mobility`: B^+.
template <int N>
LimitedJoint<N> limited_joint(const HandRows& rows, std::int64_t i, const JointResponse& response,
                              const Vec<double, 3 * N>& force, const Mat<double, 3 * N, 3 * N>& rest_mobility) {
  LimitedJoint<N> out{};
  const auto k = static_cast<std::size_t>(i);
  out.limit = rows.torque_limit.empty() ? std::numeric_limits<double>::infinity() : rows.torque_limit[k];
  if (!rows.bias.empty()) out.bias = rows.bias[k];
  const Numbers drift = response.of_joint(i);
  for (int r = 0; r < 3 * rows.contacts; ++r) {
    out.gain[r] = rows.jacobian[static_cast<std::size_t>(r * rows.joints + i)];
    out.drift[r] = drift[static_cast<std::size_t>(r)];
  }
  out.press = rest_mobility * out.drift;
  // A commanded force is bias + J^T force, of which the set knows the force only.
  out.own = rows.torque.empty() ? out.bias : 0;
  out.command = rows.torque.empty() ? dot(out.gain, force) : rows.torque[k];
  return out;
}

/// `count` of them: all, or those of the grasp that have a limit, and some without that fill up.
template <int N>
std::vector<LimitedJoint<N>> limited_joints_of(const HandRows& rows, bool all, int count, const JointResponse& response,
                                               const Vec<double, 3 * N>& force,
                                               const Mat<double, 3 * N, 3 * N>& rest_mobility) {
  std::vector<LimitedJoint<N>> out;
  for (std::int64_t i = 0; i < rows.joints; ++i)
    if (all || std::isfinite(rows.torque_limit[static_cast<std::size_t>(i)]))
      out.push_back(limited_joint<N>(rows, i, response, force, rest_mobility));
  LimitedJoint<N> none{};
  none.limit = std::numeric_limits<double>::infinity();
  out.resize(static_cast<std::size_t>(count), none);
  return out;
}

template <int N>
Mat<double, 3 * N, 3 * N> mobility_of(const HandRows& rows, const JointResponse* response) {
  constexpr int D = 3 * N;
  auto B = Mat<double, D, D>::zero();
  if (response != nullptr) {
    for (int r = 0; r < 3 * rows.contacts; ++r)
      for (int c = 0; c <= r; ++c) B(r, c) = B(c, r) = response->mobility(r, c);
    return B;
  }
  for (int j = 0; j < rows.contacts; ++j) {
    const Mat3<double> M = rows.mobility_of(j);
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) B(3 * j + r, 3 * j + c) = 0.5 * (M(r, c) + M(c, r));
  }
  return B;
}

}  // namespace

Hand hand_of(const Set& set, Hand wanted) {
  if (wanted == Hand::kAuto) {
    if (!set.jacobian.empty() && !set.mobility.empty())
      refuse("the set has mobility and jacobian, of a compliant and of a whole hand",
             "Say which hand is meant: set.hand = \"compliant\" or \"whole\".");
    wanted = !set.jacobian.empty() ? Hand::kWhole : !set.mobility.empty() ? Hand::kCompliant : Hand::kIdeal;
  }
  const auto need = [&](const char* name, const Numbers& numbers) {
    if (numbers.empty() && set.first.back() > 0)
      refuse(std::string(name) + " is missing, which a hand that is " +
                 names_of(wanted)[static_cast<std::size_t>(wanted)] + " has",
             "docs/grasp-sets.md lists the arrays of each hand.");
  };
  if (wanted == Hand::kIdeal) return wanted;
  if (!set.torsion_radius.empty())
    refuse("the set has torsion_radius, which is of ideal hands only, and its hand is " +
               std::string(names_of(wanted)[static_cast<std::size_t>(wanted)]),
           "Leave out torsion_radius, or ask what any forces could do: set.hand = \"ideal\".");
  need("mass", set.mass);
  if (wanted == Hand::kCompliant) {
    need("mobility", set.mobility);
    need("force", set.force);
  } else {
    need("jacobian", set.jacobian);
    need("mass_matrix", set.mass_matrix);
    if (set.torque.empty()) need("torque (or force)", set.force);
    if (!set.torque.empty() && !set.force.empty())
      refuse("the set has torque and force: a whole hand follows one command",
             "Leave out force, or torque, which is then bias + J^T force.");
  }
  check_tangents(set);
  return wanted;
}

void check_hand_sizes(const Set& set) {
  const std::int64_t m = set.first.back(), g = set.count(), nq = set.joints();
  check_size("force", set.force, 3 * m, "[m,3]");
  if (std::ssize(set.mobility) != m) check_size("mobility", set.mobility, 9 * m, "[m,3,3], or [m]");
  check_size("jacobian", set.jacobian, 3 * m * std::max<std::int64_t>(nq, 1), "[3 m,nq]");
  if (m == 0) return;
  check_size("mass_matrix", set.mass_matrix, g * nq * nq, "[g,nq,nq], with nq of jacobian's");
  check_size("torque", set.torque, g * nq, "[g,nq], with nq of jacobian's");
  check_size("bias", set.bias, g * nq, "[g,nq], with nq of jacobian's");
  check_size("torque_limit", set.torque_limit, g * nq, "[g,nq], with nq of jacobian's");
  for (std::int64_t k = 0; !set.torque_limit.empty() && k < g; ++k)
    if (const auto limits = limits_of(HandRows(set, k)); limits > kMostTorqueLimits)
      refuse("torque_limit: " + std::to_string(limits) + " joints of grasp " + std::to_string(k) + " have one",
             "At most " + std::to_string(kMostTorqueLimits) + " can; infinity is no limit.");
}

bool hand_is_finite(const Set& set, std::int64_t g) {
  const HandRows rows(set, g);
  for (const auto part : {rows.force, rows.mobility, rows.jacobian, rows.torque, rows.bias, rows.mass_matrix.m})
    if (!std::all_of(part.begin(), part.end(), [](double x) { return std::isfinite(x); })) return false;
  return std::none_of(rows.torque_limit.begin(), rows.torque_limit.end(), [](double x) { return std::isnan(x); });
}

bool hand_is_sound(const Set& set, Hand hand, std::int64_t g) {
  const HandRows rows(set, g);
  Numbers factor;
  if (hand == Hand::kWhole)
    return is_symmetric(rows.mass_matrix) && cholesky(rows.mass_matrix, factor) &&
           std::all_of(rows.torque_limit.begin(), rows.torque_limit.end(), [](double x) { return x > 0; });
  for (std::int64_t j = 0; hand == Hand::kCompliant && j < rows.contacts; ++j) {
    const Mat3<double> M = rows.mobility_of(j);
    const Square square{3, std::span<const double>(M.m, 9)};
    if (!is_symmetric(square) || !cholesky(square, factor)) return false;
  }
  return true;
}

HandReader::HandReader(const Set& set, Hand hand, bool torque_errors)
    : set_(set), hand_(hand), torque_errors_(torque_errors && hand == Hand::kWhole) {
  if (torque_errors_ && set.joints() > kMostTorqueLimits)
    refuse(
        "the hand has " + std::to_string(set.joints()) + " joints, and their torques are off by command.torque_error",
        "At most " + std::to_string(kMostTorqueLimits) + " can be.");
  if (hand != Hand::kWhole || set.torque_limit.empty()) return;
  for (std::int64_t g = 0; g < set.count(); ++g) limits_ = std::max(limits_, limits_of(HandRows(set, g)));
}

template <int N>
void HandReader::pack(std::int64_t g, const SetGrasp<N>& grasp, PackedHands<N>& to) const {
  const HandRows rows(set_, g);
  std::optional<JointResponse> whole;
  if (hand_ == Hand::kWhole) whole.emplace(rows);
  const JointResponse* const response = whole ? &*whole : nullptr;
  SetHand<N>& out = to.hands.emplace_back();
  out.mobility = mobility_of<N>(rows, response);
  // Contacts beyond those of the grasp move like others, so that they are no structure.
  const double beyond = out.mobility(0, 0) > 0 ? out.mobility(0, 0) : 1;
  for (int r = 3 * grasp.contacts; r < 3 * N; ++r) out.mobility(r, r) = beyond;
  const Vec<double, 3 * N> force = out.command_force = commanded(rows, grasp);
  set_drifts(rows, response, out);
  Mat<double, 3 * N, 3 * N> inverse;
  split(out.mobility, inverse, out.structure, out.structured);
  out.own_force = -(inverse * out.own_drift);
  out.command_force = -(inverse * out.command_drift);
  out.gyration2 = gyration2_of(set_, g, grasp.length);
  out.inverse_gyration2 = inverse_spd(out.gyration2).inverse;
  for (int r = 0; r < 3; ++r) out.hold.probe[r] = grasp.mass * grasp.gravity[r];
  out.hold.length = kRadiusLengths * grasp.length;
  for (int j = 0; j < N; ++j) out.hold.limited = out.hold.limited || std::isfinite(grasp.limit[j]);
  to.each = torque_errors_ ? static_cast<int>(rows.joints) : limits_;
  to.limit = limits_ > 0;
  if (to.each == 0) return;
  out.hold.limited = out.hold.limited || to.limit;
  const auto joints = limited_joints_of<N>(rows, torque_errors_, to.each, *response, force, inverse);
  to.joints.insert(to.joints.end(), joints.begin(), joints.end());
}
template void HandReader::pack(std::int64_t, const SetGrasp<1>&, PackedHands<1>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<2>&, PackedHands<2>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<3>&, PackedHands<3>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<4>&, PackedHands<4>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<5>&, PackedHands<5>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<6>&, PackedHands<6>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<7>&, PackedHands<7>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<8>&, PackedHands<8>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<16>&, PackedHands<16>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<32>&, PackedHands<32>&) const;

}  // namespace garra::grasp
