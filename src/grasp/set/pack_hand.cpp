// Computes the hand of a grasp from a set's arrays: J M^-1 J^T, the drift of its torques, and their contact forces.
#include "grasp/set/pack_hand.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "garra/batch/interrupt.hpp"
#include "garra/core/error.hpp"
#include "grasp/set/input.hpp"

namespace garra::grasp {

namespace {

using Numbers = std::vector<double>;
constexpr std::int64_t kMaxHandJoints = 1024;  ///< nq: a factorization is cubic in it
/// A square matrix, row-major.
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

/// Factors a = L L^T from the lower triangle. False if a is not positive definite: a pivot is rounding noise of its
/// row. Entries left of a row's first nonzero are 0 in L, too, and are skipped: a joint that a grasp does not use has
/// only its diagonal.
bool cholesky(const Square& a, Numbers& l) {
  const std::int64_t n = a.size;
  const auto at = [n](std::int64_t r, std::int64_t c) { return static_cast<std::size_t>(r * n + c); };
  l.assign(static_cast<std::size_t>(n * n), 0);
  std::vector<std::int64_t> begin(static_cast<std::size_t>(n));
  for (std::int64_t r = 0; r < n; ++r) {
    if (r % 64 == 63) check_interrupt();
    std::int64_t& own = begin[static_cast<std::size_t>(r)];
    while (own < r && a(r, own) == 0) ++own;
    for (std::int64_t c = own; c <= r; ++c) {
      double sum = a(r, c);
      for (std::int64_t k = std::max(own, begin[static_cast<std::size_t>(c)]); k < c; ++k)
        sum -= l[at(r, k)] * l[at(c, k)];
      if (c < r)
        l[at(r, c)] = sum / l[at(c, c)];
      else if (sum > 1e-14 * std::abs(a(r, r)))
        l[at(r, r)] = std::sqrt(sum);
      else
        return false;
    }
  }
  return true;
}

/// Computes L^-1 x, in place.
void solve_lower(const Numbers& l, std::span<double> x) {
  const std::size_t n = x.size();
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t k = 0; k < r; ++k) x[r] -= l[r * n + k] * x[k];
    x[r] /= l[r * n + r];
  }
}

double dot_product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// Rows of the set's arrays for one grasp.
struct HandRows {
  HandRows(const GraspSet& set, std::int64_t g)
      : first(set.first[static_cast<std::size_t>(g)]),
        contacts(set.first[static_cast<std::size_t>(g) + 1] - first),
        joints(set.joints()),
        force(rows(set.force, first, contacts, 3)),
        torsion(rows(set.torsion, first, contacts, 1)),
        drift(rows(set.drift, first, contacts, 3)),
        mobility(rows(set.mobility, first, contacts, each(set, set.mobility))),
        angular_mobility(rows(set.angular_mobility, first, contacts, each(set, set.angular_mobility))),
        jacobian(rows(set.jacobian, first, contacts, 3 * joints)),
        angular_jacobian(rows(set.angular_jacobian, first, contacts, 3 * joints)),
        torque(rows(set.torque, g, 1, joints)),
        bias(rows(set.bias, g, 1, joints)),
        torque_limit(rows(set.torque_limit, g, 1, joints)),
        mass_matrix{joints, rows(set.mass_matrix, g, 1, joints * joints)} {}

  /// Count of a contact's mobility numbers: one for all directions, or a matrix.
  static std::int64_t each(const GraspSet& set, const Numbers& all) {
    return std::ssize(all) == set.first.back() ? 1 : 9;
  }
  /// Mobility of contact j; `all`: mobility or angular_mobility.
  [[nodiscard]] Mat3<double> contact_mobility(std::span<const double> all, std::int64_t j) const {
    const auto k = static_cast<std::size_t>(j);
    if (std::ssize(all) == contacts) return all[k] * Mat3<double>::identity();
    Mat3<double> out;
    std::copy_n(all.begin() + 9 * j, 9, out.m);
    return out;
  }

  std::int64_t first, contacts, joints;
  std::span<const double> force, torsion, drift, mobility, angular_mobility, jacobian, angular_jacobian, torque, bias,
      torque_limit;
  Square mass_matrix;
};

[[noreturn]] void refuse(const std::string& what, const std::string& remedy) {
  throw Error(ExitCode::kInvalidFile, what, remedy);
}

/// Checks that forces along t or o have a given direction t.
void check_tangents(const GraspSet& set) {
  if (!set.tangent.empty()) return;
  for (std::size_t row = 0; row < set.force.size() / 3; ++row)
    if (set.force[3 * row + 1] != 0 || set.force[3 * row + 2] != 0)
      refuse("force: row " + std::to_string(row) + " has a tangential part, but there is no tangent",
             "Give tangent [m,3], the direction t of each contact, or normal forces only.");
}

/// Torsion radii of a grasp's contacts; empty for points. The numbers of a soft contact (kAxes) are its motion and its
/// rotation times the radius.
template <int D, int N>
Numbers torsion_radii(const SetGrasp<N>& grasp) {
  return D == 3 ? Numbers() : Numbers(grasp.torsion_radius, grasp.torsion_radius + grasp.contacts);
}

/// Response J M^-1 of a hand to joint torques: acceleration of the contact points, for soft ones also r times the
/// angular one.
class JointResponse {
 public:
  JointResponse(const HandRows& hand, const Numbers& radii)
      : hand_(hand), rows_((radii.empty() ? 3 : 6) * hand.contacts) {
    (void)cholesky(hand.mass_matrix, factor_);  // hand_is_sound() has asked
    const std::int64_t n = hand.joints;
    for (std::int64_t j = 0; j < hand.contacts; ++j) {
      const auto its = [&](std::span<const double> all) {
        return all.subspan(static_cast<std::size_t>(3 * j * n), static_cast<std::size_t>(3 * n));
      };
      std::ranges::copy(its(hand.jacobian), std::back_inserter(columns_));
      if (radii.empty()) continue;
      for (const double x : its(hand.angular_jacobian)) columns_.push_back(radii[static_cast<std::size_t>(j)] * x);
    }
    motion_ = columns_;
    for (std::int64_t r = 0; r < rows_; ++r)
      solve_lower(factor_, std::span(columns_).subspan(static_cast<std::size_t>(r * n), static_cast<std::size_t>(n)));
  }
  [[nodiscard]] double mobility(std::int64_t r, std::int64_t c) const { return dot_product(column(r), column(c)); }
  [[nodiscard]] std::int64_t joints() const { return hand_.joints; }
  /// C of the mobility C C^T, row by row: a number for each joint.
  [[nodiscard]] std::span<const double> root(std::int64_t r) const { return column(r); }
  /// J M^-1 torque.
  [[nodiscard]] Numbers of(Numbers torque) const {
    solve_lower(factor_, torque);
    Numbers out;
    for (std::int64_t r = 0; r < rows_; ++r) out.push_back(dot_product(column(r), torque));
    return out;
  }
  /// Torque that contact forces, as wide as the rows, require of one joint.
  template <int M>
  [[nodiscard]] double torque(std::int64_t joint, const Vec<double, M>& force) const {
    double sum = 0;
    for (std::int64_t r = 0; r < rows_; ++r)
      sum = std::fma(motion_[static_cast<std::size_t>(r * hand_.joints + joint)], force[static_cast<int>(r)], sum);
    return sum;
  }
  /// Response to a unit torque of one joint.
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
  std::int64_t rows_;
  Numbers motion_, factor_, columns_;  ///< J; L of M = L L^T, and L^-1 J^T by its columns
};

/// Directions whose mobility is below this share of the largest count as the structure's.
constexpr double kStiff = 1e-10;

/// Whether the matrix is diagonal up to rounding.
template <int D>
bool is_diagonal(const Mat<double, D, D>& a) {
  double off = 0, on = 0;
  for (int r = 0; r < extent<D>(); ++r)
    for (int c = 0; c <= r; ++c) (r == c ? on : off) += a(r, c) * a(r, c);
  return off <= 1e-34 * on;
}

/// Computes B^+ and the projector onto the null space of B.
template <int D>
void split(const Mat<double, D, D>& B, Mat<double, D, D>& inverse, Mat<double, D, D>& structure, bool& structured) {
  Mat<double, D, D> a = B, v = Mat<double, D, D>::identity();
  constexpr int kSweeps = 12;  // convergence is quadratic
  // Only large matrices stop early: with equal eigenvalues, rounding rotates their vectors in every sweep.
  for (int sweep = 0; sweep < kSweeps && (extent<D>() <= 3 * kMaxContacts || !is_diagonal(a)); ++sweep)
    for (int p = 0; p < extent<D>(); ++p)
      for (int q = p + 1; q < extent<D>(); ++q)
        if (a(p, q) != 0) factor::rotate(a, v, p, q);
  double largest = 0;
  for (int k = 0; k < extent<D>(); ++k) largest = std::max(largest, a(k, k));
  inverse = structure = Mat<double, D, D>::zero();
  structured = false;
  for (int k = 0; k < extent<D>(); ++k) {
    const bool moves = a(k, k) > kStiff * largest;
    structured = structured || !moves;
    for (int r = 0; r < extent<D>(); ++r)
      for (int c = 0; c < extent<D>(); ++c)
        (moves ? inverse : structure)(r, c) += v(r, k) * v(c, k) / (moves ? a(k, k) : 1);
  }
}

/// Eigenvalues of the symmetric n x n matrix a, on its diagonal, and eigenvectors, columns of v: cyclic Jacobi
/// rotations.
void diagonalize(Numbers& a, Numbers& v, std::size_t n) {
  v.assign(n * n, 0);
  for (std::size_t k = 0; k < n; ++k) v[k * n + k] = 1;
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0, on = 0;
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c <= r; ++c) (r == c ? on : off) += a[r * n + c] * a[r * n + c];
    if (off <= 1e-34 * on) return;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const double y = a[p * n + q];
        if (y == 0) continue;
        const double half = (a[q * n + q] - a[p * n + p]) / (2 * y);
        const double t = (half >= 0 ? 1 : -1) / (std::abs(half) + std::sqrt(half * half + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        const auto turn = [c, s](double& x, double& z) {
          const double old = x;
          x = c * old - s * z;
          z = s * old + c * z;
        };
        for (std::size_t k = 0; k < n; ++k) turn(a[k * n + p], a[k * n + q]);
        for (std::size_t k = 0; k < n; ++k) turn(a[p * n + k], a[q * n + k]);
        for (std::size_t k = 0; k < n; ++k) turn(v[k * n + p], v[k * n + q]);
      }
  }
}

/// The same for B = C C^T of fewer joints than rows, from C's rows: B^+ = C V L^-2 V^T C^T and the projector 1 - C V
/// L^-1 V^T C^T with C^T C = V L V^T. An empty row moves by itself, with the mobility `beyond`.
template <int D>
void split_root(std::vector<Numbers> C, std::size_t n, double beyond, Mat<double, D, D>& inverse,
                Mat<double, D, D>& structure, bool& structured) {
  Numbers gram(n * n, 0), v;
  for (const Numbers& row : C)
    for (std::size_t i = 0; i < row.size(); ++i)
      for (std::size_t k = 0; k < n; ++k) gram[i * n + k] += row[i] * row[k];
  diagonalize(gram, v, n);
  double largest = 0;
  for (std::size_t k = 0; k < n; ++k) largest = std::max(largest, gram[k * n + k]);
  std::vector<Numbers> unit(C.size());  // columns C v / sqrt(eigenvalue) of the directions that move, by rows
  Numbers values;
  for (std::size_t k = 0; k < n; ++k) {
    const double value = gram[k * n + k];
    if (!(value > kStiff * largest)) continue;
    values.push_back(value);
    for (std::size_t r = 0; r < C.size(); ++r) {
      double sum = 0;
      for (std::size_t i = 0; i < C[r].size(); ++i) sum += C[r][i] * v[i * n + k];
      unit[r].push_back(sum / std::sqrt(value));
    }
  }
  inverse = structure = Mat<double, D, D>::zero();
  std::size_t alone = 0;
  for (int r = 0; r < extent<D>(); ++r) {
    const Numbers& own = unit[static_cast<std::size_t>(r)];
    if (C[static_cast<std::size_t>(r)].empty()) {
      inverse(r, r) = 1 / beyond;
      ++alone;
      continue;
    }
    structure(r, r) = 1;
    for (int c = 0; c < extent<D>(); ++c)
      for (std::size_t k = 0; k < own.size(); ++k) {
        const double product = own[k] * unit[static_cast<std::size_t>(c)][k];
        inverse(r, c) += product / values[k];
        structure(r, c) -= product;
      }
  }
  structured = values.size() + alone < C.size();
}

/// Force in object axes.
template <int N, int D>
Vec<double, kAxes<D> * N> commanded(const HandRows& rows, const SetGrasp<N>& grasp) {
  auto f = Vec<double, kAxes<D> * N>::zero();
  if (rows.force.empty()) return f;
  for (int j = 0; j < grasp.contacts; ++j) {
    const SurfacePoint& at = grasp.contact[j];
    const double* c = rows.force.data() + 3 * j;
    for (int i = 0; i < 3; ++i) f[kAxes<D> * j + i] = c[0] * at.n[i] + c[1] * at.t[i] + c[2] * at.o[i];
    if constexpr (D > 3)
      if (!rows.torsion.empty() && grasp.torsion_radius[j] > 0)
        for (int i = 0; i < 3; ++i)
          f[kAxes<D> * j + 3 + i] = rows.torsion[static_cast<std::size_t>(j)] / grasp.torsion_radius[j] * at.n[i];
  }
  return f;
}

/// Inertia over mass; without inertia, that of a body with the grasp's length as radius of gyration.
Mat3<double> squared_gyration(const GraspSet& set, std::int64_t g, double length) {
  if (set.inertia.empty()) return (length * length) * Mat3<double>::identity();
  Mat3<double> out;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) {
      const double* I = set.inertia.data() + 9 * g;
      out(r, c) = 0.5 * (I[3 * r + c] + I[3 * c + r]) / set.mass[static_cast<std::size_t>(g)];
    }
  return out;
}

/// `response`: null if the hand is not whole.
template <int N, int D>
void set_drifts(const HandRows& rows, const JointResponse* response, SetHand<N, D>& out) {
  out.own_drift = Vec<double, kAxes<D> * N>::zero();
  // A commanded force acts directly, for any mobility, and the hand's own weight is compensated.
  out.command_drift = -(out.mobility * out.command_force);
  if (response == nullptr || rows.torque.empty()) return;
  const auto fill = [&](std::span<const double> torque, double sign, Vec<double, kAxes<D> * N>& drift) {
    const Numbers of_torque = response->of({torque.begin(), torque.end()});
    for (std::size_t r = 0; r < of_torque.size(); ++r) drift[static_cast<int>(r)] = sign * of_torque[r];
  };
  fill(rows.torque, -1, out.command_drift);
  if (!rows.bias.empty()) fill(rows.bias, 1, out.own_drift);
}

/// Number of joints with a torque limit.
int count_limits(const HandRows& rows) {
  return static_cast<int>(
      std::count_if(rows.torque_limit.begin(), rows.torque_limit.end(), [](double x) { return std::isfinite(x); }));
}

/// Inputs for a hand's limited joints. `rest_mobility` is B^+.
template <int N, int D>
struct JointParts {
  const HandRows& rows;
  const SetGrasp<N>& grasp;
  const JointResponse& response;
  const Vec<double, kAxes<D> * N>& force;
  const Mat<double, kAxes<D> * N, kAxes<D> * N>& rest_mobility;
};

template <int N, int D>
LimitedJoint<N, D> limited_joint(const JointParts<N, D>& of, std::int64_t i) {
  constexpr int M = kAxes<D>;
  const HandRows& rows = of.rows;
  auto out = LimitedJoint<N, D>::zero();
  const auto k = static_cast<std::size_t>(i);
  out.limit = rows.torque_limit.empty() ? std::numeric_limits<double>::infinity() : rows.torque_limit[k];
  if (!rows.bias.empty()) out.bias = rows.bias[k];
  const Numbers drift = of.response.of_joint(i);
  for (std::size_t r = 0; r < drift.size(); ++r) out.drift[static_cast<int>(r)] = drift[r];
  for (int j = 0; j < rows.contacts; ++j)
    for (int r = 0; r < 3; ++r) {
      const auto at = static_cast<std::size_t>((3 * j + r) * rows.joints + i);
      out.gain[M * j + r] = rows.jacobian[at];
      if constexpr (D > 3) out.gain[M * j + 3 + r] = of.grasp.length * rows.angular_jacobian[at];
    }
  out.press = of.rest_mobility * out.drift;
  // A commanded force is bias + J^T force, of which the set has only the force.
  out.own = rows.torque.empty() ? out.bias : 0;
  out.command = rows.torque.empty() ? of.response.torque(i, of.force) : rows.torque[k];
  return out;
}

/// `count` joints: all, or those of the grasp with a limit, padded with unlimited ones.
template <int N, int D>
std::vector<LimitedJoint<N, D>> list_limited_joints(const JointParts<N, D>& of, bool all, int count) {
  std::vector<LimitedJoint<N, D>> out;
  for (std::int64_t i = 0; i < of.rows.joints; ++i)
    if (all || std::isfinite(of.rows.torque_limit[static_cast<std::size_t>(i)])) out.push_back(limited_joint(of, i));
  auto none = LimitedJoint<N, D>::zero();
  none.limit = std::numeric_limits<double>::infinity();
  out.resize(static_cast<std::size_t>(count), none);
  return out;
}

template <int N, int D>
Mat<double, kAxes<D> * N, kAxes<D> * N> contact_mobility(const HandRows& rows, const Numbers& radii,
                                                         const JointResponse* response) {
  constexpr int M = kAxes<D>;
  auto B = Mat<double, M * N, M * N>::zero();
  if (response != nullptr) {
    for (int r = 0; r < M * rows.contacts; ++r)
      for (int c = 0; c <= r; ++c) B(r, c) = B(c, r) = response->mobility(r, c);
    return B;
  }
  const auto put = [&B](int at, const Mat3<double>& A, double factor) {
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) B(at + r, at + c) = factor * (0.5 * (A(r, c) + A(c, r)));
  };
  for (int j = 0; j < rows.contacts; ++j) {
    put(M * j, rows.contact_mobility(rows.mobility, j), 1);
    if constexpr (D > 3) {
      const double r = radii[static_cast<std::size_t>(j)];
      put(M * j + 3, rows.contact_mobility(rows.angular_mobility, j), r * r);
    }
  }
  return B;
}

/// Computes B^+ and the structure's directions, restricted to directions in which contacts bear forces. `beyond`:
/// mobility of padding contacts.
template <int N, int D>
void split_hand(const SetGrasp<N>& grasp, const JointResponse* response, double beyond, SetHand<N, D>& hand,
                Mat<double, kAxes<D> * N, kAxes<D> * N>& inverse) {
  const bool few = response != nullptr && response->joints() < D * grasp.contacts;
  if constexpr (D == 3) {
    if (!few) return split(hand.mobility, inverse, hand.structure, hand.structured);
    std::vector<Numbers> C(static_cast<std::size_t>(extent<3 * N>()));
    for (int r = 0; r < 3 * grasp.contacts; ++r) {
      const auto row = response->root(r);
      C[static_cast<std::size_t>(r)].assign(row.begin(), row.end());
    }
    split_root(std::move(C), static_cast<std::size_t>(response->joints()), beyond, inverse, hand.structure,
               hand.structured);
  } else {
    constexpr int M = kAxes<D>;
    auto F = Mat<double, M * N, D * N>::zero();
    for (int j = 0; j < extent<N>(); ++j) {
      const SurfacePoint& at = grasp.contact[j];
      ContactPlace<double> place{};
      for (int r = 0; r < 3; ++r) {
        place.E(r, 0) = at.n[r];
        place.E(r, 1) = at.t[r];
        place.E(r, 2) = at.o[r];
      }
      const Mat<double, M, D> frame = contact_frame<D>(place);
      for (int r = 0; r < M; ++r)
        for (int c = 0; c < D; ++c) F(M * j + r, D * j + c) = frame(r, c);
    }
    Mat<double, D * N, D * N> inverse_B, structure;
    // A point among soft contacts bears no moment, as if it could rotate freely.
    if (few) {
      std::vector<Numbers> C(static_cast<std::size_t>(extent<D * N>()));
      for (int j = 0; j < grasp.contacts; ++j)
        for (int c = 0; c < (grasp.torsion_radius[j] > 0 ? D : 3); ++c) {
          Numbers& row = C[static_cast<std::size_t>(D * j + c)];
          row.assign(static_cast<std::size_t>(response->joints()), 0);
          for (int r = 0; r < M; ++r)
            for (std::size_t k = 0; k < row.size(); ++k)
              row[k] += F(M * j + r, D * j + c) * response->root(M * j + r)[k];
        }
      split_root(std::move(C), static_cast<std::size_t>(response->joints()), beyond, inverse_B, structure,
                 hand.structured);
    } else {
      Mat<double, D * N, D* N> B = transpose_times(F, hand.mobility * F);
      for (int j = 0; j < extent<N>(); ++j)
        if (!(grasp.torsion_radius[j] > 0)) B(D * j + 3, D * j + 3) = beyond;
      split(B, inverse_B, structure, hand.structured);
    }
    const Mat<double, D * N, M* N> back = transpose(F);
    inverse = F * (inverse_B * back);
    hand.structure = F * (structure * back);
  }
}

}  // namespace

Hand choose_hand(const GraspSet& set, Hand wanted) {
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
             "docs/theory/grasp-sets.md lists the arrays of each hand.");
  };
  if (wanted == Hand::kIdeal) return wanted;
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
  const bool whole = wanted == Hand::kWhole;
  if (!set.torsion_radius.empty() && (whole ? set.angular_jacobian : set.angular_mobility).empty())
    refuse("the set has torsion_radius, and does not say how its hand, which is " +
               std::string(names_of(wanted)[static_cast<std::size_t>(wanted)]) + ", turns at its contacts",
           std::string("Give ") + (whole ? "angular_jacobian [m,3,nq]" : "angular_mobility [m,3,3] or [m]") +
               ", leave out torsion_radius, or ask what any forces could do: set.hand = \"ideal\".");
  if (has_pads(set))
    refuse("force limits of pads: the hand has a command",
           "Leave out pad, or the force limit: its command limits forces.");
  check_tangents(set);
  return wanted;
}

void check_joints(const GraspSet& set) {
  const std::int64_t g = set.count(), nq = set.joints();
  if (nq > kMaxHandJoints)
    refuse("jacobian has " + std::to_string(nq) + " joints",
           "At most " + std::to_string(kMaxHandJoints) +
               " are taken: leave out joints that no grasp uses, or divide the set.");
  for (std::int64_t k = 0; !set.torque_limit.empty() && k < g; ++k)
    if (const auto limits = count_limits(HandRows(set, k)); limits > kMaxTorqueLimits)
      refuse("torque_limit: " + std::to_string(limits) + " joints of grasp " + std::to_string(k) + " have one",
             "At most " + std::to_string(kMaxTorqueLimits) + " can; infinity is no limit.");
}

bool hand_is_finite(const GraspSet& set, std::int64_t g) {
  const HandRows rows(set, g);
  for (const auto part : {rows.force, rows.torsion, rows.drift, rows.mobility, rows.angular_mobility, rows.jacobian,
                          rows.angular_jacobian, rows.torque, rows.bias, rows.mass_matrix.m})
    if (!std::all_of(part.begin(), part.end(), [](double x) { return std::isfinite(x); })) return false;
  return std::none_of(rows.torque_limit.begin(), rows.torque_limit.end(), [](double x) { return std::isnan(x); });
}

bool hand_is_sound(const GraspSet& set, Hand hand, std::int64_t g) {
  const HandRows rows(set, g);
  Numbers factor;
  if (hand == Hand::kWhole)
    return is_symmetric(rows.mass_matrix) && cholesky(rows.mass_matrix, factor) &&
           std::all_of(rows.torque_limit.begin(), rows.torque_limit.end(), [](double x) { return x > 0; });
  const auto sound = [&](std::span<const double> mobilities, std::int64_t j) {
    if (mobilities.empty()) return true;
    const Mat3<double> M = rows.contact_mobility(mobilities, j);
    const Square square{3, std::span<const double>(M.m, 9)};
    return is_symmetric(square) && cholesky(square, factor);
  };
  for (std::int64_t j = 0; hand == Hand::kCompliant && j < rows.contacts; ++j)
    if (!sound(rows.mobility, j) || !sound(rows.angular_mobility, j)) return false;
  return true;
}

HandReader::HandReader(const GraspSet& set, Hand hand, bool torque_errors)
    : set_(set), hand_(hand), torque_errors_(torque_errors && hand == Hand::kWhole) {
  if (torque_errors_ && set.joints() > kMaxTorqueLimits)
    refuse(
        "the hand has " + std::to_string(set.joints()) + " joints, and their torques are off by command.torque_error",
        "At most " + std::to_string(kMaxTorqueLimits) + " can be.");
  if (hand != Hand::kWhole || set.torque_limit.empty()) return;
  for (std::int64_t g = 0; g < set.count(); ++g) limits_ = std::max(limits_, count_limits(HandRows(set, g)));
}

template <int N, int D>
void HandReader::pack(std::int64_t g, const SetGrasp<N>& grasp, PackedHands<N, D>& to) const {
  constexpr int M = kAxes<D>;
  const HandRows rows(set_, g);
  const Numbers radii = torsion_radii<D>(grasp);
  std::optional<JointResponse> whole;
  if (hand_ == Hand::kWhole) whole.emplace(rows, radii);
  const JointResponse* const response = whole ? &*whole : nullptr;
  SetHand<N, D>& out = to.hands.emplace_back();
  out.mobility = contact_mobility<N, D>(rows, radii, response);
  // Padding contacts have a common mobility, so that they do not count as structure.
  const double beyond = out.mobility(0, 0) > 0 ? out.mobility(0, 0) : 1;
  for (int r = M * grasp.contacts; r < M * extent<N>(); ++r) out.mobility(r, r) = beyond;
  const Vec<double, M* N> force = out.command_force = commanded<N, D>(rows, grasp);
  set_drifts(rows, response, out);
  Mat<double, M * N, M * N> inverse;
  split_hand(grasp, response, beyond, out, inverse);
  out.own_force = -(inverse * out.own_drift);
  out.command_force = -(inverse * out.command_drift);
  // After the forces: torques do not cause this motion.
  for (int r = 0; r < std::ssize(rows.drift); ++r)
    out.own_drift[M * (r / 3) + r % 3] += rows.drift[static_cast<std::size_t>(r)];
  out.gyration2 = squared_gyration(set_, g, grasp.length);
  out.inverse_gyration2 = inverse_spd(out.gyration2).inverse;
  for (int r = 0; r < 3; ++r) out.hold.probe[r] = grasp.mass * grasp.gravity[r];
  out.hold.length = kRadiusLengths * grasp.length;
  for (int j = 0; j < extent<N>(); ++j) out.hold.limited = out.hold.limited || std::isfinite(grasp.limit[j]);
  to.each = torque_errors_ ? static_cast<int>(rows.joints) : limits_;
  to.limit = limits_ > 0;
  if (to.each == 0) return;
  out.hold.limited = out.hold.limited || to.limit;
  const auto joints = list_limited_joints<N, D>({rows, grasp, *response, force, inverse}, torque_errors_, to.each);
  to.joints.insert(to.joints.end(), joints.begin(), joints.end());
}
template void HandReader::pack(std::int64_t, const SetGrasp<kAnyContacts>&, PackedHands<kAnyContacts, 3>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<kAnyContacts>&, PackedHands<kAnyContacts, 4>&) const;
// For kernels.
template void HandReader::pack(std::int64_t, const SetGrasp<1>&, PackedHands<1, 3>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<2>&, PackedHands<2, 3>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<3>&, PackedHands<3, 3>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<4>&, PackedHands<4, 3>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<5>&, PackedHands<5, 3>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<6>&, PackedHands<6, 3>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<7>&, PackedHands<7, 3>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<8>&, PackedHands<8, 3>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<16>&, PackedHands<16, 3>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<2>&, PackedHands<2, 4>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<4>&, PackedHands<4, 4>&) const;
template void HandReader::pack(std::int64_t, const SetGrasp<8>&, PackedHands<8, 4>&) const;

}  // namespace garra::grasp
