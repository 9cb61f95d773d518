// Inverse and forward dynamics as operations on rows (rows.hpp). For files that nvcc compiles, too.
#pragma once

#include "garra/math/extreme_singular_values.hpp"
#include "garra/systems/platform/conditioning.hpp"
#include "garra/systems/platform/reactions.hpp"
#include "garra/systems/platform/status.hpp"
#include "platform/batch/rows.hpp"

namespace garra::platform {

/// Pose with a unit quaternion: p and its positive multiples are the same rotation.
template <class S>
GARRA_HD Place<S> normalized_place(const Place<S>& given) {
  return {given.r, normalized(given.p)};
}

/// Singular values of the scaled length Jacobian.
template <class S>
struct SigmaRange {
  S smallest, largest;
};

template <class S>
GARRA_HD SigmaRange<S> sigma_range(const Mat<S, 6, 6>& jacobian, const S& L) {
  const auto sigma = extreme_singular_values(in_lengths(jacobian, L));
  return {sigma.smallest, sigma.largest};
}

/// Mask of rows with finite input and a nonzero quaternion.
template <class S, class In>
GARRA_HD MaskOf<S> is_valid(const In& in, const Place<S>& place) {
  return dot(place.p, place.p) > S(0) && all_finite<S>(in) == S(1);
}

/// kNearSingular if valid input has no answer: a leg parallel to its axis, a singular solve.
/// SIMD lanes cannot branch: the outputs of these rows, and of invalid ones, become NaN.
template <class S, class Answer>
GARRA_HD S checked_status(const MaskOf<S>& valid, const MaskOf<S>& near_singular, Answer& answer) {
  const auto answered = valid && all_finite<S>(answer) == S(1);
  blank_unless<S>(answered, answer);
  return select(
      valid,
      select(answered && !near_singular, to_number<S>(PoseStatus::kConverged), to_number<S>(PoseStatus::kNearSingular)),
      to_number<S>(PoseStatus::kInvalidInput));
}

inline constexpr double kNearSingularLimit = 1e-4;  ///< near singular: scaled sigma_min <= this
inline constexpr double kNoForces = 1e12;           ///< conditioning beyond which forces are rounding, and become NaN

/// Status of forces: a singular pose does not determine them, and they become NaN; status and
/// condition are kept.
template <class S, class Answer>
GARRA_HD S checked_forces(const MaskOf<S>& valid, const SigmaRange<S>& sigma, Answer& answer) {
  const S condition = sigma.largest / sigma.smallest;
  answer.condition = condition;
  const S status = checked_status<S>(valid, sigma.smallest <= S(kNearSingularLimit), answer);
  blank_unless<S>(!(condition > S(kNoForces)), answer);
  answer.condition = select(valid, condition, S(__builtin_nan("")));
  return status;
}

struct InverseDynamicsOp {
  double characteristic_length;  ///< that makes radians lengths in the singular values [m]

  template <class S>
  struct In {
    Place<S> place;
    Twist6<S> twist, acceleration;
    Wrench6<S> wrench;
  };
  template <class S>
  struct Answer {
    Vec<S, 6> force;                             ///< of the actuators [N]
    Vec3<S> spherical[kLegs], universal[kLegs];  ///< on the legs, in base axes [N]
    Vec<S, 6> moment;                            ///< at the universal joints [N m]
    S power_balance, condition;
  };
  template <class S>
  struct Out {
    Answer<S> answer;
    S status;
  };

  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    const Effort<S> e = effort(m, normalized_place(in.place), in.twist, in.acceleration);
    Answer<S> out;
    out.force = actuator_forces(e, in.wrench);
    // docs/theory/platform-dynamics.md, "Power balance": the energy's rate is summed body by body and not taken from
    // (5), which makes an ill-conditioned solve visible.
    out.power_balance = dot(in.wrench.force, in.twist.v) + dot(in.wrench.moment, in.twist.w) - e.power;
    for_each_index<kLegs>([&](auto i) {
      const LegReactions<S> r = leg_reactions(e.leg[i], e.needs[i], out.force[i]);
      out.spherical[i] = r.spherical;
      out.universal[i] = r.universal;
      out.moment[i] = r.moment;
      out.power_balance = fma(out.force[i], e.leg[i].velocity[2], out.power_balance);
    });
    // The columns that (5) is solved with are the rows of the length Jacobian: no second evaluation of the legs.
    const SigmaRange<S> sigma = sigma_range(transpose(e.directions), S(characteristic_length));
    const S status = checked_forces<S>(is_valid(in, in.place), sigma, out);
    return {out, status};
  }
};

struct ForwardDynamicsOp {
  template <class S>
  struct In {
    Place<S> place;
    Twist6<S> twist;
    Vec<S, 6> force;  ///< of the actuators [N]
    Wrench6<S> wrench;
  };
  template <class S>
  struct Answer {
    Vec<S, 6> acceleration;  ///< (v, w) rates in base axes [m/s^2, rad/s^2]
    Energy<S> energy;
  };
  template <class S>
  struct Out {
    Answer<S> answer;
    S status;
  };

  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    const Place<S> place = normalized_place(in.place);
    Answer<S> out{platform::acceleration(m, place, in.twist, in.force, in.wrench), energy(m, place, in.twist)};
    // The mass matrix, which this divides by, is regular in singular poses, too (docs/theory/platform-dynamics.md,
    // (5)).
    const S status = checked_status<S>(is_valid(in, in.place), MaskOf<S>(S(1) < S(0)), out);
    return {out, status};
  }
};

}  // namespace garra::platform
