// Converts between arrays of garra and Eigen 3.4.
// Takes: Eigen matrices of any storage order, transforms and quaternions; arrays of garra.
// Gives: arrays and structs of garra as copies; Eigen maps of garra's arrays without a copy, valid
// as long as the array.
// Units and frames: units as in the array (SI). Arrays are row-major, one problem after another;
// contact axes (n, t, o); forces before moments; garra's quaternions scalar first; items count from
// 0.
// Bad input: wrong shapes and indices throw Error(kUsage).
// Not for: GPU code, outputs per link of chains with coupled joints. Opt-in: no other header
// includes this one (CMake: find_package(Eigen3), link Eigen3::Eigen).
// Docs: docs/start/tour.md.
//
// A Map carries the row-major order in its type: assignment to an Eigen::Matrix of any order copies
// correctly.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "garra/chain_eval.hpp"
#include "garra/contact.hpp"
#include "garra/core/error.hpp"
#include "garra/math/pose.hpp"
#include "garra/math/quaternion.hpp"
#include "garra/platform.hpp"

namespace garra::eigen {

/// Storage order for R x C: row-major, but column-major for a column, as Eigen requires.
template <int R, int C>
inline constexpr int kOrder = R != 1 && C == 1 ? Eigen::ColMajor : Eigen::RowMajor;

template <int R, int C>
using Matrix = Eigen::Matrix<double, R, C, kOrder<R, C>>;
template <int R, int C>
using MatrixMap = Eigen::Map<Matrix<R, C>>;
template <int R, int C>
using ConstMatrixMap = Eigen::Map<const Matrix<R, C>>;

/// View [R, C] of a matrix in place; writes go through.
template <int R, int C>
[[nodiscard]] MatrixMap<R, C> view(Mat<double, R, C>& m) {
  static_assert(sizeof(m) == sizeof(double) * R * C && std::is_trivially_copyable_v<Mat<double, R, C>>);
  return MatrixMap<R, C>(m.m);
}
template <int R, int C>
[[nodiscard]] ConstMatrixMap<R, C> view(const Mat<double, R, C>& m) {
  return ConstMatrixMap<R, C>(m.m);
}
/// Deleted: a view of a temporary would dangle.
template <int R, int C>
void view(const Mat<double, R, C>&&) = delete;

/// Copies a fixed-size Eigen expression of any order to a Mat (one column: a Vec).
template <class Derived>
[[nodiscard]] auto mat(const Eigen::MatrixBase<Derived>& m) {
  static_assert(Derived::RowsAtCompileTime > 0 && Derived::ColsAtCompileTime > 0,
                "the size must be known when compiling");
  Mat<double, Derived::RowsAtCompileTime, Derived::ColsAtCompileTime> out;
  view(out) = m;
  return out;
}

/// T_AB of X_AB: p_A = T_AB * p_B.
[[nodiscard]] inline Eigen::Isometry3d isometry(const Pose<double>& x) {
  Eigen::Isometry3d out = Eigen::Isometry3d::Identity();
  out.linear() = view(x.R);
  out.translation() = view(x.p);
  return out;
}
/// X_AB of T_AB; takes the linear part as it is, so it must be a rotation.
[[nodiscard]] inline Pose<double> pose(const Eigen::Isometry3d& t) {
  return {mat(Eigen::Matrix3d(t.linear())), mat(Eigen::Vector3d(t.translation()))};
}

/// garra stores the scalar part first, Eigen's coefficients() last.
[[nodiscard]] inline Eigen::Quaterniond quaternion(const Quaternion<double>& p) { return {p[0], p[1], p[2], p[3]}; }
[[nodiscard]] inline Quaternion<double> quaternion(const Eigen::Quaterniond& p) {
  return {{p.w(), p.x(), p.y(), p.z()}};
}

/// One row per item, [n, width], as garra has it.
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowsMap = Eigen::Map<Rows>;
using ConstRowsMap = Eigen::Map<const Rows>;
using ConstVectorMap = Eigen::Map<const Eigen::VectorXd>;
/// Argument types: any Eigen matrix. Row-major blocks are read in place, others are copied.
using RowsRef = Eigen::Ref<const Rows, 0, Eigen::OuterStride<>>;
using VectorRef = Eigen::Ref<const Eigen::VectorXd>;

namespace detail {

[[noreturn]] inline void refuse_shape(const char* what, Eigen::Index rows, Eigen::Index cols,
                                      const std::string& expected) {
  throw Error(ExitCode::kUsage,
              std::string(what) + " is [" + std::to_string(rows) + ", " + std::to_string(cols) + "], not " + expected);
}
inline void expect_shape(const char* what, const RowsRef& m, Eigen::Index rows, Eigen::Index cols) {
  if (m.rows() != rows || m.cols() != cols)
    refuse_shape(what, m.rows(), m.cols(), "[" + std::to_string(rows) + ", " + std::to_string(cols) + "]");
}

inline void append(std::vector<double>& to, const RowsRef& m) {
  const std::size_t before = to.size();
  to.resize(before + static_cast<std::size_t>(m.size()));
  RowsMap(to.data() + before, m.rows(), m.cols()) = m;
}
[[nodiscard]] inline std::vector<double> numbers(const RowsRef& m) {
  std::vector<double> out;
  append(out, m);
  return out;
}

/// First number of item i in an array of `count` items of `each` numbers. @throws Error(kUsage) out
/// of range.
[[nodiscard]] inline const double* item(const std::vector<double>& array, std::int64_t i, std::int64_t count,
                                        std::int64_t each) {
  if (i < 0 || i >= count || static_cast<std::int64_t>(array.size()) != count * each)
    throw Error(ExitCode::kUsage,
                "item " + std::to_string(i) + " of an array of " + std::to_string(array.size()) +
                    " numbers, which should have " + std::to_string(count) + " times " + std::to_string(each),
                "ask for an output that was wanted, and count items from 0");
  return array.data() + i * each;
}

}  // namespace detail

/// View of an array as rows [n, width]. @throws Error(kUsage) if the size is no multiple of width.
[[nodiscard]] inline ConstRowsMap rows(const std::vector<double>& array, Eigen::Index width) {
  if (width <= 0 || static_cast<Eigen::Index>(array.size()) % width != 0)
    throw Error(ExitCode::kUsage, std::to_string(array.size()) + " numbers make no rows of " + std::to_string(width));
  return {array.data(), static_cast<Eigen::Index>(array.size()) / width, width};
}
[[nodiscard]] inline RowsMap rows(std::vector<double>& array, Eigen::Index width) {
  const ConstRowsMap shape = rows(std::as_const(array), width);
  return {array.data(), shape.rows(), shape.cols()};
}

/// Appends a contact problem with k contacts; the first problem of `to` sets k.
/// @param A [3k, 3k] in 1/kg.
/// @param b [3k] in m/s^2.
/// @param mu [k].
/// @param slip [k, 2] (t, o) in m/s, or empty. Contacts with a nonzero row slide at this velocity;
///         contacts with a zero row may roll.
/// @throws Error kUsage for another shape.
inline void append(contact::Problems& to, const RowsRef& A, const VectorRef& b, const VectorRef& mu,
                   const RowsRef& slip = Rows()) {
  const Eigen::Index k = mu.size();
  if (to.count == 0) to.contacts = static_cast<int>(k);
  if (k != to.contacts)
    detail::refuse_shape("mu", k, 1, "[" + std::to_string(to.contacts) + "] as the problems before");
  detail::expect_shape("A", A, 3 * k, 3 * k);
  detail::expect_shape("b", b, 3 * k, 1);
  if (slip.size() > 0) detail::expect_shape("slip", slip, k, 2);
  detail::append(to.A, A);
  detail::append(to.b, b);
  detail::append(to.mu, mu);
  ++to.count;
  if (slip.size() == 0 && to.mode.empty()) return;
  const auto contacts = static_cast<std::size_t>(to.count * k);
  to.mode.resize(contacts - static_cast<std::size_t>(k));
  to.slip_velocity.resize(2 * to.mode.size());
  for (Eigen::Index j = 0; j < k && slip.size() > 0; ++j) to.mode.push_back(slip.row(j).isZero(0) ? 0 : 1);
  if (slip.size() > 0) detail::append(to.slip_velocity, slip);
  to.mode.resize(contacts);
  to.slip_velocity.resize(2 * contacts);
}

/// Makes n contact problems.
/// @param A [n 3k, 3k] in 1/kg, one below the other.
/// @param b [n, 3k] in m/s^2.
/// @param mu [n, k].
/// @throws Error kUsage for another shape.
[[nodiscard]] inline contact::Problems problems(const RowsRef& A, const RowsRef& b, const RowsRef& mu) {
  const Eigen::Index n = mu.rows(), k = mu.cols();
  detail::expect_shape("A", A, n * 3 * k, 3 * k);
  detail::expect_shape("b", b, n, 3 * k);
  return {static_cast<int>(k), static_cast<std::int64_t>(n), detail::numbers(A), detail::numbers(b),
          detail::numbers(mu)};
}

/// View of problem i, in place.
struct ProblemView {
  ConstRowsMap A;        ///< [3k, 3k]
  ConstVectorMap b, mu;  ///< [3k], [k]
};
[[nodiscard]] inline ProblemView problem(const contact::Problems& p, std::int64_t i) {
  const int k = p.contacts;
  return {{detail::item(p.A, i, p.count, 9 * k * k), 3 * k, 3 * k},
          {detail::item(p.b, i, p.count, 3 * k), 3 * k},
          {detail::item(p.mu, i, p.count, k), k}};
}

/// View of forces [N] and accelerations [m/s^2] of problem i, [3k] each; NaN if unsolved.
struct SolutionView {
  ConstVectorMap c, a;
};
[[nodiscard]] inline SolutionView solution(const contact::Solutions& s, std::int64_t i) {
  const int rows = 3 * s.contacts;
  return {{detail::item(s.c, i, s.count, rows), rows}, {detail::item(s.a, i, s.count, rows), rows}};
}

/// States of a chain. A single state is q.transpose().
/// @param q [n, j] in rad or m. qd, qdd and tau have the same shape, wrench [n, 6]; all of these
///         may be empty.
/// @throws Error kUsage for inconsistent shapes.
[[nodiscard]] inline chain::States states(const RowsRef& q, const RowsRef& qd = Rows(), const RowsRef& qdd = Rows(),
                                          const RowsRef& tau = Rows(), const RowsRef& wrench = Rows()) {
  const auto like_q = [&](const char* what, const RowsRef& m) {
    if (m.size() > 0) detail::expect_shape(what, m, q.rows(), q.cols());
    return detail::numbers(m);
  };
  if (wrench.size() > 0) detail::expect_shape("wrench", wrench, q.rows(), 6);
  return {static_cast<std::int64_t>(q.rows()),
          detail::numbers(q),
          like_q("qd", qd),
          like_q("qdd", qdd),
          like_q("tau", tau),
          detail::numbers(wrench)};
}

/// View of an output of state i with the shape of chain_eval.hpp: a list is a column, a number is 1
/// x 1. Outputs per link are stacked (link poses [4 joints, 4]). @throws Error(kUsage) for an
/// output not computed, or i out of range.
[[nodiscard]] inline ConstRowsMap matrix(const chain::Results& results, chain::Output output, std::int64_t i) {
  const std::vector<int> shape = chain::output_shape(output, results.joints);
  const int size = chain::output_size(output, results.joints), cols = shape.size() < 2 ? 1 : shape.back();
  return {detail::item(results[output], i, results.count, size), size / cols, cols};
}

/// Poses from positions [n, 3] in m and quaternions [n, 4], scalar first, of any nonzero length.
/// @throws Error kUsage for another shape.
[[nodiscard]] inline platform::Poses poses(const RowsRef& position, const RowsRef& quaternion) {
  detail::expect_shape("position", position, position.rows(), 3);
  detail::expect_shape("quaternion", quaternion, position.rows(), 4);
  return {detail::numbers(position), detail::numbers(quaternion)};
}
/// Poses from transforms of platform coordinates to base coordinates.
[[nodiscard]] inline platform::Poses poses(const std::vector<Eigen::Isometry3d>& transforms) {
  platform::Poses out;
  for (const Eigen::Isometry3d& t : transforms) {
    const Quaternion<double> turn = quaternion(Eigen::Quaterniond(t.linear()));
    detail::append(out.position, t.translation().transpose());
    out.quaternion.insert(out.quaternion.end(), turn.m, turn.m + 4);
  }
  return out;
}
/// Transform of pose i from platform coordinates to base coordinates. @throws Error(kUsage) for i
/// out of range.
[[nodiscard]] inline Eigen::Isometry3d isometry(const platform::Poses& poses, std::int64_t i) {
  const auto count = static_cast<std::int64_t>(poses.position.size() / 3);
  const double* p = detail::item(poses.position, i, count, 3);
  const double* e = detail::item(poses.quaternion, i, count, 4);
  return Eigen::Translation3d(p[0], p[1], p[2]) * Eigen::Quaterniond(e[0], e[1], e[2], e[3]).normalized();
}

}  // namespace garra::eigen
