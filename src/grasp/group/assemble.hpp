// A and b of a group from its bodies, contacts and fingers (docs/theory/grasp-groups.md), for samples and for steps in
// time: on doubles or in lanes. Loops visit the blocks that are not zero.
#pragma once

#include "garra/math/screw.hpp"
#include "garra/systems/grasp/assemble.hpp"
#include "grasp/group/model.hpp"

namespace garra::grasp {

/// Length of a contact's numbers without the normal one.
template <class S>
GARRA_HD S tangential(const S* v, int numbers) {
  S sum = v[numbers - 1] * v[numbers - 1];
  for (int k = numbers - 2; k > 0; --k) sum = fma(v[k], v[k], sum);
  return sqrt(sum);
}

/// Velocity of a point of a body.
template <class S>
GARRA_HD Vec3<S> velocity_at(const Body<S>& body, const Vec3<S>& p) {
  return body.v + cross(body.omega, p - body.p_cm);
}

/// Velocity of the object relative to its partner at contact j.
template <class S, template <class> class List>
GARRA_HD Vec3<S> relative_velocity(const auto& m, const GroupInstant<S, List>& s, std::size_t j) {
  const GroupContact& c = m.contacts[j];
  const Vec3<S>& p = s.place[j].p;
  const Vec3<S> other = c.partner.kind == Partner::Kind::kObject
                            ? velocity_at(s.body[static_cast<std::size_t>(c.partner.number)], p)
                            : s.side[j].velocity;
  return velocity_at(s.body[static_cast<std::size_t>(c.object)], p) - other;
}

/// The velocity part of b at one contact: velocity_term() of one object and a point finger, for two curved bodies. The
/// contact point moves with the rate p' along the surfaces, such that both keep one normal:
///   omega_a x n - k_a (p' - v_a) = omega_b x n + k_b (p' - v_b)     (D. J. Montana, Int. J. Robotics Research 7(3),
///   1988)
template <class S, template <class> class List>
GARRA_HD Vec3<S> velocity_of_contact(const auto& m, const GroupInstant<S, List>& s, std::size_t j) {
  const GroupContact& c = m.contacts[j];
  const Body<S>& body = s.body[static_cast<std::size_t>(c.object)];
  const Mat3<S>& E = s.place[j].E;
  const Vec3<S> n = column(E, 0), zero = Vec3<S>::zero();
  const Vec3<S> v_a = velocity_at(body, s.place[j].p);
  ContactSide<S> other = s.side[j];
  Vec3<S> v_cm = zero;
  if (c.partner.kind == Partner::Kind::kObject) {
    const Body<S>& second = s.body[static_cast<std::size_t>(c.partner.number)];
    other = {velocity_at(second, s.place[j].p), second.omega, zero};
    v_cm = second.v;
  }
  const Vec3<S> sliding = relative_velocity(m, s, j);
  const double k_a[2] = {c.surface.curvature_t, c.surface.curvature_o};
  const double k_b[2] = {c.partner.curvature_t, c.partner.curvature_o};
  Vec3<S> p_rate = other.velocity, n_rate = zero;
  for (int k = 0; k < 2; ++k) {
    const Vec3<S> e = column(E, k + 1);
    const S turning = dot(e, cross(body.omega, n));
    if (c.partner.kind == Partner::Kind::kFinger) {  // a point: it is the contact point
      n_rate = axpy(turning + S(k_a[k]) * dot(e, sliding), e, n_rate);
      continue;
    }
    const double sum = k_a[k] + k_b[k];
    const S turning_b = dot(e, cross(other.omega, n)), v_b = dot(e, other.velocity);
    // Two planes have no contact point of their own: that of the first object is taken.
    const S rate = sum > 0 ? (turning - turning_b + S(k_a[k]) * dot(e, v_a) + S(k_b[k]) * v_b) / S(sum) : dot(e, v_a);
    p_rate = axpy(rate - v_b, e, p_rate);
    n_rate = axpy(turning_b + S(k_b[k]) * (rate - v_b), e, n_rate);
  }
  const Vec3<S> first = cross(body.omega, p_rate - body.v);
  const Vec3<S> second = c.partner.kind == Partner::Kind::kFinger ? other.bias : cross(other.omega, p_rate - v_cm);
  Vec3<S> out = transpose_times(E, first - second);
  out[0] += dot(n_rate, axpy(-dot(sliding, n), n, sliding));
  return out;
}

/// W of both sides of every contact.
template <class S, template <class> class List>
GARRA_HD void fill_wrenches(const auto& m, GroupInstant<S, List>& s) {
  for (std::size_t j = 0; j < m.contacts.size(); ++j) {
    const GroupContact& c = m.contacts[j];
    const int first = m.numbers * static_cast<int>(j);
    for (int side = 0; side < c.bodies; ++side) {
      const int object = c.body[side];
      const S sign = S(object == c.object ? 1 : -1);
      const auto W = wrench_matrix(s.place[j], s.body[static_cast<std::size_t>(object)].p_cm);
      for (int r = 0; r < 6; ++r)
        for (int k = 0; k < 3; ++k) s.W(6 * object + r, first + k) = sign * W(r, k);
      for (int r = 0; m.numbers > 3 && r < 3; ++r)
        s.W(6 * object + 3 + r, first + 3) = sign * S(c.torsion_radius) * s.place[j].E(r, 0);
    }
  }
}

/// Calls f(joint) for the joints of a finger.
template <class F>
GARRA_HD void for_finger_joints(const auto& m, std::size_t finger, const F& f) {
  for (int i = m.first_joint[finger]; i < m.first_joint[finger + 1]; ++i) f(static_cast<std::size_t>(i));
}

/// Relative velocities W^T V - J qd of the contacts; screw(k): (omega; v) of object k.
template <class S, template <class> class List>
GARRA_HD void find_velocities(const auto& m, const GroupInstant<S, List>& s, const auto& screw, const auto& qd,
                              auto& out) {
  for (std::size_t j = 0; j < m.contacts.size(); ++j) {
    const GroupContact& c = m.contacts[j];
    const int first = m.numbers * static_cast<int>(j);
    for (int r = first; r < first + m.numbers; ++r) {
      S sum = S(0), finger = S(0);
      for (int k = 0; k < c.bodies; ++k) {
        const Screw<S> V = screw(c.body[k]);
        for (int i = 0; i < 3; ++i) sum += s.W(6 * c.body[k] + i, r) * V.v[i];
        for (int i = 0; i < 3; ++i) sum += s.W(6 * c.body[k] + 3 + i, r) * V.w[i];
      }
      if (c.partner.kind == Partner::Kind::kFinger)
        for_finger_joints(m, static_cast<std::size_t>(c.partner.number),
                          [&](std::size_t i) { finger += s.J(r, static_cast<int>(i)) * qd[i]; });
      out[static_cast<std::size_t>(r)] = sum - finger;
    }
  }
}

/// The lower Cholesky factor of a finger's block of M_man, into `factor`.
template <class S, template <class> class List>
GARRA_HD void factor_finger(int first, int n, GroupInstant<S, List>& s) {
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      S sum = s.M_man(first + i, first + j);
      for (int k = 0; k < j; ++k) sum -= s.factor(first + i, first + k) * s.factor(first + j, first + k);
      s.factor(first + i, first + j) = i == j ? sqrt(sum) : sum / s.factor(first + j, first + j);
    }
}
/// Solves M_man x = x for a finger after factor_finger(); x(i): number of its joint i.
template <class S, template <class> class List, class Numbers>
GARRA_HD void solve_finger(int first, int n, const GroupInstant<S, List>& s, const Numbers& x) {
  for (int i = 0; i < n; ++i) {
    S sum = x(i);
    for (int k = 0; k < i; ++k) sum -= s.factor(first + i, first + k) * x(k);
    x(i) = sum / s.factor(first + i, first + i);
  }
  for (int i = n - 1; i >= 0; --i) {
    S sum = x(i);
    for (int k = i + 1; k < n; ++k) sum -= s.factor(first + k, first + i) * x(k);
    x(i) = sum / s.factor(first + i, first + i);
  }
}

/// M_obj^-1 W, and M_man^-1 (J^T | effort).
template <class S, template <class> class List>
GARRA_HD void divide_by_inertia(const auto& m, GroupInstant<S, List>& s) {
  for (std::size_t k = 0; k < m.objects.size(); ++k) {
    const int row = 6 * static_cast<int>(k);
    const Body<S>& body = s.body[k];
    const S per_mass = S(1) / body.mass;
    for (const int j : m.of_object[k])
      for (int c = m.numbers * j; c < m.numbers * (j + 1); ++c) {
        const Vec3<S> turn = body.inverse_inertia * vec3<S>(s.W(row + 3, c), s.W(row + 4, c), s.W(row + 5, c));
        for (int i = 0; i < 3; ++i) {
          s.inverse_mass_W(row + i, c) = per_mass * s.W(row + i, c);
          s.inverse_mass_W(row + 3 + i, c) = turn[i];
        }
      }
  }
  auto& x = s.inverse_mass_J;
  for (std::size_t f = 0; f < m.fingers.size(); ++f) {
    const int first = m.first_joint[f], n = m.first_joint[f + 1] - first;
    factor_finger(first, n, s);
    const auto solve_column = [&](int c) { solve_finger(first, n, s, [&](int i) -> S& { return x(first + i, c); }); };
    for (const int j : m.of_finger[f])
      for (int r = m.numbers * j; r < m.numbers * (j + 1); ++r) {
        for (int i = first; i < first + n; ++i) x(i, r) = s.J(r, i);
        solve_column(r);
      }
    for (int i = first; i < first + n; ++i) x(i, s.J.rows) = s.effort[static_cast<std::size_t>(i)];
    solve_column(s.J.rows);
  }
}

/// A and b from all matrices: (11), (12) of docs/theory/grasp-model.md.
template <class S, template <class> class List>
GARRA_HD void assemble_group(const auto& m, GroupInstant<S, List>& s) {
  divide_by_inertia(m, s);
  const int D = m.numbers;
  for (const Coupling& of : m.couplings) {
    const bool alone = of.first == of.second;
    const int first = of.finger < 0 ? 0 : m.first_joint[static_cast<std::size_t>(of.finger)];
    const int end = of.finger < 0 ? 0 : m.first_joint[static_cast<std::size_t>(of.finger) + 1];
    for (int r = D * of.first; r < D * (of.first + 1); ++r) {
      for (int c = D * of.second; c < D * (of.second + 1) && c <= r; ++c) {
        S obj = S(0), man = S(0);
        for (int k = 0; k < of.many; ++k)
          for (int i = 6 * of.object[k]; i < 6 * of.object[k] + 6; ++i) obj += s.W(i, r) * s.inverse_mass_W(i, c);
        for (int i = first; i < end; ++i) man += s.J(r, i) * s.inverse_mass_J(i, c);
        s.A_obj(r, c) = s.A_obj(c, r) = obj;
        s.A_man(r, c) = s.A_man(c, r) = man;
      }
      if (!alone) continue;
      S obj = S(0), man = S(0);
      for (int k = 0; k < of.many; ++k)
        for (int i = 0; i < 6; ++i)
          obj += s.inverse_mass_W(6 * of.object[k] + i, r) * s.load[static_cast<std::size_t>(of.object[k])][i];
      for (int i = first; i < end; ++i) man += s.J(r, i) * s.inverse_mass_J(i, s.J.rows);
      s.b_obj[static_cast<std::size_t>(r)] = obj;
      s.b_man[static_cast<std::size_t>(r)] = man;
      // A contact that bears no moment among soft ones: its diagonal entry is a placeholder.
      if (r % D == 3 && !m.bears(r)) s.A_obj(r, r) = s.A_obj(r - 3, r - 3);
    }
  }
}

}  // namespace garra::grasp
