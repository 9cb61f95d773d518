// What is said of a sample of a group before the contact solver and after it (docs/theory/grasp-groups.md, "Held").
// Host and device.
#pragma once

#include "grasp/group/balance.hpp"
#include "grasp/group/model.hpp"
#include "grasp/sample/check.hpp"

namespace garra::grasp {

inline constexpr int kMost = kMaxGroupContacts;

/// Radius of gyration of an object: makes its moments comparable to forces [m].
GARRA_HD double gyration_radius(const Body<double>& body) {
  const double trace = body.inertia(0, 0) + body.inertia(1, 1) + body.inertia(2, 2);
  return sqrt(trace / (3 * body.mass));
}

/// W c + w of one object: force, and moment about the center of mass.
struct NetWrench {
  Vec3<double> force, moment;
};
GARRA_HD NetWrench net_wrench(const GroupSampleView& s, const double* c, std::size_t k) {
  NetWrench out;
  for (int i = 0; i < 3; ++i) {
    double force = 0, moment = 0;
    const int row = 6 * static_cast<int>(k) + i;
    for (int r = 0; r < s.W.cols; ++r) force += s.W(row, r) * c[r];
    for (int r = 0; r < s.W.cols; ++r) moment += s.W(row + 3, r) * c[r];
    out.force[i] = force + s.load[k][i];
    out.moment[i] = moment + s.load[k][i + 3];
  }
  return out;
}
/// Net wrench on object k under contact forces, as an acceleration: that of the center of mass, or of the turn times
/// the radius of gyration.
GARRA_HD double acceleration(const GroupSampleView& s, const double* c, std::size_t k) {
  const NetWrench net = net_wrench(s, c, k);
  const double turn = gyration_radius(s.body[k]) * norm(s.body[k].inverse_inertia * net.moment);
  return max(norm(net.force) / s.body[k].mass, turn);
}
/// The largest of all objects.
GARRA_HD double largest_acceleration(const GroupSampleView& s, const double* c) {
  double most = acceleration(s, c, 0);
  for (std::size_t k = 1; k < s.body.size(); ++k) most = max(most, acceleration(s, c, k));
  return most;
}

/// Forces `c` that let no contact move, without those that its law excludes: solves A c = -b in the other rows by
/// L D L^T. False if a pivot is rounding noise. `room`: as many numbers as A has.
GARRA_HD bool stick_forces(const GroupParts<Shown>& m, const GroupSampleView& s, double* room, double* c) {
  int row[4 * kMost], n = 0;
  for (int r = 0; r < m.rows(); ++r) {
    c[r] = 0;
    if (m.bears(r)) row[n++] = r;
  }
  const auto L = [&](int i, int j) -> double& { return room[i * n + j]; };
  const auto x = [&](int i) -> double& { return c[row[i]]; };
  for (int j = 0; j < n; ++j) {
    double pivot = s.A(row[j], row[j]);
    for (int k = 0; k < j; ++k) pivot -= L(j, k) * L(j, k) * L(k, k);
    if (!(pivot > 1e-11 * s.A(row[j], row[j]))) return false;
    L(j, j) = pivot;
    for (int i = j + 1; i < n; ++i) {
      double sum = s.A(row[i], row[j]);
      for (int k = 0; k < j; ++k) sum -= L(i, k) * L(j, k) * L(k, k);
      L(i, j) = sum / pivot;
    }
  }
  for (int i = 0; i < n; ++i) {
    double sum = -s.b(row[i]);
    for (int k = 0; k < i; ++k) sum -= L(i, k) * x(k);
    x(i) = sum;
  }
  for (int i = n - 1; i >= 0; --i) {
    double sum = x(i) / L(i, i);
    for (int k = i + 1; k < n; ++k) sum -= L(k, i) * x(k);
    x(i) = sum;
  }
  return true;
}

/// What decides whether forces balance a sample, in `memory`. Bits of `left_out`: contacts that take no part.
GARRA_HD BalanceData balance_data(const GroupParts<Shown>& m, const GroupSampleView& s, std::uint32_t left_out,
                                  double* memory) {
  const int n = static_cast<int>(m.contacts.size()), D = m.numbers, rows = m.rows();
  const BalanceData p = BalanceData::at(memory, s.W.rows, rows, n);
  for (int c = 0; c < rows; ++c) {
    const bool counts = c % D == 0 || s.mu[static_cast<std::size_t>(c / D)] > 0;
    for (int r = 0; r < p.W.rows; ++r)
      p.W(r, c) = !counts     ? 0
                  : r % 6 < 3 ? s.W(r, c)
                              : s.W(r, c) / gyration_radius(s.body[static_cast<std::size_t>(r / 6)]);
  }
  for (int r = 0; r < rows; ++r) {
    const auto at = static_cast<std::size_t>(r);
    p.b_man[r] = s.b_man[at];
    p.b_obj[r] = s.b_obj[at];
    for (int c = 0; c < rows; ++c) {
      p.A_man(r, c) = s.A_man(r, c);
      p.A_obj(r, c) = s.A_obj(r, c);
    }
  }
  double size = 0;
  for (std::size_t k = 0; k < s.body.size(); ++k) {
    double rest = 0, weight = 0;
    for (int i = 0; i < 6; ++i) {
      const double value = i < 3 ? s.load[k][i] : s.load[k][i] / gyration_radius(s.body[k]);
      const double own = i < 3 ? s.body[k].mass * m.gravity[i] : 0;
      p.load[6 * k + static_cast<std::size_t>(i)] = value;
      weight += own * own;
      rest += (value - own) * (value - own);
    }
    size += sqrt(weight) + sqrt(rest);
  }
  *p.size = size;
  for (int j = 0; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const GroupContact& c = m.contacts[at];
    const Vec3<double> told = transpose_times(s.place[at].E, s.told[at]);
    for (int k = 0; k < 3; ++k) p.f[D * j + k] = told[k];
    if (D > 3) p.f[D * j + 3] = c.torsion_radius > 0 ? dot(c.twist, column(s.place[at].E, 0)) / c.torsion_radius : 0;
    p.mu[j] = s.mu[at];
    p.limit[j] = c.force_limit;
    p.out[j] = left_out >> j & 1;
    p.finger[j] = c.partner.kind == Partner::Kind::kFinger;
  }
  return p;
}

/// Numbers that group_metrics() and settle_group() need.
template <int D>
[[nodiscard]] constexpr int outcome_room(int of_objects, int rows) {
  return BalanceData::fields(of_objects, rows, rows / D) + balance_room<D>(of_objects, rows);
}

template <int D>
GARRA_HD_CALL GroupBalance balance_of_sample(const GroupParts<Shown>& m, const GroupSampleView& s,
                                             std::uint32_t left_out, double* room) {
  const int n = static_cast<int>(m.contacts.size());
  return balance_group<D>(balance_data(m, s, left_out, room), n, room + BalanceData::fields(s.W.rows, m.rows(), n));
}

/// Metrics of a sample before the solver.
template <int D>
GARRA_HD Metrics<double, kMost> group_metrics(const GroupParts<Shown>& m, const GroupSampleView& s, double* room) {
  const double nan = __builtin_nan("");
  Metrics<double, kMost> out;
  out.reached = s.reaches() ? 1 : 0;
  out.margin = out.critical = out.load_factor = out.resisted_force_radius = out.min_grip_force = nan;
  out.least_singular_value = out.resisted = out.imbalance = nan;
  out.first = m.slides ? -1 : 0;
  const int n = static_cast<int>(m.contacts.size());
  for (int j = 0; j < n; ++j) out.tangent_t[j] = out.tangent_o[j] = nan;
  if (!s.reaches()) return out;
  // Where contacts slide, none sticks.
  const double* stick = room + m.rows() * m.rows();
  if (!m.slides && stick_forces(m, s, room, room + m.rows() * m.rows())) {
    out.margin = kInfinity;
    out.critical = -kInfinity;
    for (int j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(j);
      Vec<double, D> c;
      for (int k = 0; k < D; ++k) c[k] = stick[D * j + k];
      const bool slippery = m.contacts[at].law == ContactLaw::kFrictionless;
      // Without friction a contact that presses has all of its margin.
      const double margin = slippery && c[0] > 0 ? 1 : friction_margin(c, s.mu[at]);
      if (margin < out.margin) out.first = j;
      out.margin = min(out.margin, margin);
      out.critical = max(out.critical, required_friction(c));
      const double limit = s.mu[at] * c[0];
      out.tangent_t[j] = limit > 0 ? c[1] / limit : kInfinity;
      out.tangent_o[j] = limit > 0 ? c[2] / limit : kInfinity;
    }
  }
  const GroupBalance balance = balance_of_sample<D>(m, s, 0, room);
  out.resisted = balance.resisted;
  out.imbalance = balance.imbalance;
  return out;
}

/// Settles the outcome of a sample with the contact problem `problem`, in its tile.
template <int D>
GARRA_HD void settle_group(const GroupParts<Shown>& m, const HeldRule& held, const GroupSampleView& s,
                           const double* problem, double* room, SampleResult<double, kMost, D>& v) {
  if (v.outcome != kPending) return;
  const int n = static_cast<int>(m.contacts.size());
  double limits[kMost];
  for (int j = 0; j < n; ++j) limits[j] = m.contacts[static_cast<std::size_t>(j)].force_limit;
  const std::uint32_t left_out = opened(v, held);
  look_again({problem, v.c.m, v.a.m, limits, held.acceleration, n, n, left_out}, room, held, v);
  if (v.outcome != kPending) return;
  const GroupBalance balance = balance_of_sample<D>(m, s, left_out, room);
  v.resisted = balance.resisted;
  v.imbalance = balance.imbalance;
  settle_pending(held, v);
}

}  // namespace garra::grasp
