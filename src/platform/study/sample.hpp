// One sample of a platform study: its uncertain inputs, the resulting machine, and its outcome
// along the path (docs/reference/platform-study.md). For scalars, lanes and GPU threads.
#pragma once

#include "garra/batch/tiles.hpp"
#include "garra/core/philox.hpp"
#include "garra/platform_study.hpp"
#include "garra/systems/platform/control.hpp"
#include "garra/systems/platform/force_law.hpp"
#include "garra/systems/platform/limits.hpp"

namespace garra::platform {

/// Each uncertain number has its own random number, independent of other inputs: samples of the
/// same number share random numbers between designs.
enum StudySlot : int {
  kSlotPayloadMass = 0,
  kSlotPayloadCom,
  kSlotMassFactor = kSlotPayloadCom + 3,
  kSlotCoulomb,
  kSlotViscous,
  kSlotForce,  ///< size, cosine of the polar angle, azimuth
  kSlotMoment = kSlotForce + 3,
  kSlotTilt = kSlotMoment + 3,  ///< angle, direction
  kSlotLean = kSlotTilt + 2,    ///< map: angle, direction, turn
  kSlotBase = kSlotLean + 3,    ///< [leg][3]
  kSlotAnchor = kSlotBase + 3 * kLegs,
  kStudySlots = kSlotAnchor + 3 * kLegs
};
static_assert(kSlotBase % 2 == 0 && kStudySlots % 2 == 0, "slots come in pairs");

template <class S>
using Drawn = Vec<S, kStudySlots>;

/// Data shared by all samples of a study.
struct StudyRules {
  study::Distribution slot[kStudySlots];
  std::uint64_t seed;
  Model<double> model;
  Limits<double> limits;
  Place<double> home;
  Vec3<double> gravity_across[2];  ///< of gravity's size, perpendicular to it and to each other
  double payload_radius;           ///< of gyration [m]
  double coulomb_speed;            ///< that smooths Coulomb friction [m/s]
  double force;                    ///< allowed; 0: any
  double near_singular, characteristic_length;
  double position_error, angle_error;  ///< allowed in a simulation [m], [rad]; 0: any
  int instants;
  bool kinematic;  ///< the platform has no masses: forces are 0
};

/// A drawn machine. C is the common center of mass with the payload.
template <class S>
struct StudyMachine {
  Model<S> model;
  Limits<S> limits;
  Vec3<S> shift;      ///< from the platform's own frame to C, platform axes
  Wrench6<S> wrench;  ///< disturbance at the origin of the platform's own frame, base axes
  S coulomb, viscous;
};

/// Quantities at one instant.
template <class S>
struct StudyInstant {
  Vec<S, 6> length, rate, force;  ///< force of the actuators, friction included
  LimitMargins<S> margins;
  S sigma;  ///< scaled smallest singular value
};

/// Results of a sample. Legs are numbered from 1; 0 is none.
template <class S>
struct StudyMeasured {
  // Priority and place of failures: docs/reference/platform-study.md, "A sample".
  S outcome;       ///< as Outcome
  S instant, leg;  ///< where it failed first
  S peak_force;    ///< largest |force| [N]
  S peak_instant, peak_leg;
  S stroke, universal, spherical, clearance, sigma;  ///< smallest ones
  S position_error, angle_error;                     ///< largest ones of a simulation [m], [rad]; else 0
  S rms_error, saturated;                            ///< of the position [m]; share of saturated leg forces
};

template <class S>
GARRA_HD Drawn<S> draw_inputs(const StudyRules& rules, const SampleIndex<S>& index) {
  Drawn<S> x;
  for (int k = 0; k < kStudySlots; k += 2) {
    // A number that is not drawn takes its median, which is the value of a constant.
    S u[2] = {S(0.5), S(0.5)};
    // Pairs of constants use no random numbers. The pair of a slot is fixed: draws of other slots
    // do not depend on it.
    const bool drawn = !(rules.slot[k].kind == study::Distribution::Kind::kConstant &&
                         rules.slot[k + 1].kind == study::Distribution::Kind::kConstant);
    if (drawn) uniform_pair<S>(rules.seed, index, static_cast<std::uint32_t>(k / 2), u[0], u[1]);
    x[k] = study::quantile(rules.slot[k], u[0]);
    x[k + 1] = study::quantile(rules.slot[k + 1], u[1]);
  }
  return x;
}

/// Vector of a given size and direction.
template <class S>
GARRA_HD Vec3<S> spherical_vector(const S& size, const S& cosine, const S& azimuth) {
  // 1 - cosine^2 may be negative by rounding at the poles.
  const S across = size * sqrt(max(S(0), fnma(cosine, cosine, S(1))));
  const auto way = sincos(azimuth);
  return vec3<S>(across * way.cos, across * way.sin, size * cosine);
}

/// The platform with a ball-like payload: mass, center of mass and inertia of both together.
template <class S>
GARRA_HD Vec3<S> add_payload(const StudyRules& rules, const Drawn<S>& x, Model<S>& m) {
  // Without masses there is no common center: C is the origin of the platform's frame.
  if (rules.kinematic) return Vec3<S>::zero();
  // About the common center of mass: one reduced mass covers the parallel axes of both bodies.
  const S mass = x[kSlotPayloadMass], both = m.mass + mass, share = mass / both, reduced = m.mass * share;
  const Vec3<S> c = vec3<S>(x[kSlotPayloadCom], x[kSlotPayloadCom + 1], x[kSlotPayloadCom + 2]);
  const S own = mass * S(rules.payload_radius * rules.payload_radius);
  m.xx += fma(reduced, fma(c[1], c[1], c[2] * c[2]), own);
  m.yy += fma(reduced, fma(c[0], c[0], c[2] * c[2]), own);
  m.zz += fma(reduced, fma(c[0], c[0], c[1] * c[1]), own);
  m.xy = fnma(reduced, c[0] * c[1], m.xy);
  m.xz = fnma(reduced, c[0] * c[2], m.xz);
  m.yz = fnma(reduced, c[1] * c[2], m.yz);
  m.mass = both;
  return share * c;
}

template <class S>
GARRA_HD Vec3<S> tilted_gravity(const StudyRules& rules, const Drawn<S>& x) {
  // A rotation of gravity about a perpendicular axis: its magnitude is unchanged.
  const auto lean = sincos(x[kSlotTilt]), way = sincos(x[kSlotTilt + 1]);
  const Vec3<S> across = axpy(way.cos, cast<S>(rules.gravity_across[0]), way.sin * cast<S>(rules.gravity_across[1]));
  return axpy(lean.cos, cast<S>(rules.model.gravity), lean.sin * across);
}

/// Cones of the joints lie about the legs' directions in the home pose of this machine.
template <class S>
GARRA_HD Limits<S> study_limits(const StudyRules& rules, const Model<S>& m, const Vec3<S>& shift) {
  Limits<S> limits = cast_limits<S>(rules.limits);
  const Mat3<S> A = rotation_matrix(Quaternion<S>(cast<S>(rules.home.p)));
  const Vec3<S> r = cast<S>(rules.home.r) + A * shift;
  for (int i = 0; i < kLegs; ++i) {
    const Vec3<S> z = leg_vector<S>(m.leg[i], r, A).z;
    limits.universal_axis[i] = z;
    limits.spherical_axis[i] = transpose_times(A, z);
  }
  return limits;
}

template <class S>
GARRA_HD StudyMachine<S> study_machine(const StudyRules& rules, const Drawn<S>& x) {
  StudyMachine<S> s;
  s.model = cast_model<S>(rules.model);
  s.shift = add_payload(rules, x, s.model);
  s.model.gravity = tilted_gravity(rules, x);
  const S factor = x[kSlotMassFactor];
  for (int i = 0; i < kLegs; ++i) {
    LegForm<S>& leg = s.model.leg[i];
    const int b = kSlotBase + 3 * i, a = kSlotAnchor + 3 * i;
    leg.base += vec3<S>(x[b], x[b + 1], x[b + 2]);
    // Anchors are given from the platform's own frame; C has moved by `shift` against it.
    leg.anchor += vec3<S>(x[a], x[a + 1], x[a + 2]) - s.shift;
    // As for another density: masses and inertias are scaled, centers of mass stay.
    leg.lower_mass = factor * leg.lower_mass;
    leg.upper_mass = factor * leg.upper_mass;
    leg.lower_inertia = factor * leg.lower_inertia;
    leg.upper_inertia = factor * leg.upper_inertia;
  }
  s.limits = study_limits(rules, s.model, s.shift);
  s.wrench = {spherical_vector(x[kSlotForce], x[kSlotForce + 1], x[kSlotForce + 2]),
              spherical_vector(x[kSlotMoment], x[kSlotMoment + 1], x[kSlotMoment + 2])};
  s.coulomb = x[kSlotCoulomb];
  s.viscous = x[kSlotViscous];
  return s;
}

template <class S>
GARRA_HD_CALL StudyInstant<S> study_instant(const StudyRules& rules, const StudyMachine<S>& s,
                                            const PathPoint<S>& own) {
  const Vec3<S> arm = rotation_matrix(own.place.p) * s.shift;
  const PathPoint<S> at = moved_to_center(own, arm);
  const Effort<S> e = effort(s.model, at.place, at.velocity, at.acceleration);
  StudyInstant<S> out;
  // The disturbance acts at the platform's own origin: its moment about C follows from the arm.
  out.force = actuator_forces(e, Wrench6<S>{s.wrench.force, s.wrench.moment - cross(arm, s.wrench.force)});
  for (int i = 0; i < kLegs; ++i) {
    out.length[i] = e.leg[i].at.length;
    out.rate[i] = e.leg[i].velocity[2];
    // The actuator force is the force on the leg plus friction (systems/platform/force_law.hpp).
    out.force[i] += actuator_friction<S>(out.rate[i], s.viscous, s.coulomb, S(rules.coulomb_speed));
  }
  out.margins = limit_margins(s.limits, s.model, at.place);
  out.sigma = sigma_min(transpose(e.directions), S(rules.characteristic_length));
  return out;
}

/// Smallest of six numbers and its index, from 1.
template <class S>
struct WorstLeg {
  S value, leg;
};
template <class S>
GARRA_HD WorstLeg<S> smallest(const Vec<S, 6>& x) {
  WorstLeg<S> worst{x[0], S(1)};
  for (int i = 1; i < kLegs; ++i) {
    const auto less = x[i] < worst.value;
    worst.value = select(less, x[i], worst.value);
    worst.leg = select(less, S(i + 1), worst.leg);
  }
  return worst;
}

template <class S>
GARRA_HD StudyMeasured<S> nothing_measured() {
  const S far(1e300), none(0);
  // 1e300 and not infinity: NaN of inf - inf must mean bad input only.
  return {none, S(-1), none, none, none, none, far, far, far, far, far, none, none, none, none};
}

/// Updates the results of a sample by an instant.
template <class S>
GARRA_HD void measure_instant(const StudyRules& rules, const StudyInstant<S>& at, int instant, StudyMeasured<S>& m) {
  // Minus |force|: the largest force is then the smallest number, and one search serves all.
  Vec<S, 6> spare;  // minus |force|
  S sum = at.sigma + at.margins.clearance;
  for (int i = 0; i < kLegs; ++i) {
    spare[i] = -abs(at.force[i]);
    sum += (spare[i] + at.margins.stroke[i]) + (at.margins.universal[i] + at.margins.spherical[i]);
  }
  const WorstLeg<S> stroke = smallest(at.margins.stroke), universal = smallest(at.margins.universal),
                    spherical = smallest(at.margins.spherical), force = smallest(spare);
  const auto wider = universal.value < spherical.value;
  // Both joints of a leg count as one outcome: the joint nearer to its limit names the leg.
  const WorstLeg<S> cone{select(wider, universal.value, spherical.value), select(wider, universal.leg, spherical.leg)};
  S outcome(0), leg(0);
  const auto fail = [&](const auto& mask, Outcome what, const S& which) {
    outcome = select(mask, S(static_cast<int>(what)), outcome);
    leg = select(mask, which, leg);
  };
  // The last assignment counts: from the least to the most important.
  if (rules.position_error > 0) fail(m.position_error > S(rules.position_error), Outcome::kTracking, S(0));
  if (rules.angle_error > 0) fail(m.angle_error > S(rules.angle_error), Outcome::kTracking, S(0));
  if (rules.force > 0) fail(force.value < S(-rules.force), Outcome::kForce, force.leg);
  fail(at.sigma < S(rules.near_singular), Outcome::kSingular, S(0));
  if (rules.limits.clearance > 0) fail(at.margins.clearance < S(0), Outcome::kCollision, S(0));
  fail(cone.value < S(0), Outcome::kCone, cone.leg);
  fail(stroke.value < S(0), Outcome::kStroke, stroke.leg);
  // sum - sum is 0 where all numbers are finite: any NaN or infinity among them decides.
  const S off = sum - sum;
  outcome = select(off == S(0), outcome, S(static_cast<int>(Outcome::kInvalid)));
  leg = select(off == S(0), leg, S(0));

  // Only the first failing instant is the outcome; peaks and margins cover the whole path.
  const auto first = select(m.outcome == S(0), outcome, S(0)) > S(0);
  m.outcome = select(first, outcome, m.outcome);
  m.instant = select(first, S(instant), m.instant);
  m.leg = select(first, leg, m.leg);
  // NaN compares false: an invalid instant leaves the peaks as they are.
  const auto higher = force.value < -m.peak_force;
  m.peak_force = select(higher, -force.value, m.peak_force);
  m.peak_instant = select(higher, S(instant), m.peak_instant);
  m.peak_leg = select(higher, force.leg, m.peak_leg);
  m.stroke = min(m.stroke, stroke.value);
  m.universal = min(m.universal, universal.value);
  m.spherical = min(m.spherical, spherical.value);
  m.clearance = min(m.clearance, at.margins.clearance);
  m.sigma = min(m.sigma, at.sigma);
}

/// Samples first, first + 1, ... Each results in a tile of `measured`; forces [instants,6] of each in a tile of
/// `forces` where asked for.
struct StudyKernel {
  const StudyRules* rules;
  const PathPoint<double>* points;  ///< [instants] of the path; null: `places`
  const double* places;             ///< map: tiles of Place, where each sample stands still
  std::uint64_t first;
  double* measured;
  double* forces;  ///< or null

  template <class S>
  GARRA_HD PathPoint<S> point(int k, std::int64_t i) const {
    const Vec3<S> zero = Vec3<S>::zero();
    if (points == nullptr) return {batch::load<S, Place<S>>(places, i), {zero, zero}, {zero, zero}};
    const PathPoint<double>& p = points[k];
    return {{cast<S>(p.place.r), cast<S>(p.place.p)},
            {cast<S>(p.velocity.v), cast<S>(p.velocity.w)},
            {cast<S>(p.acceleration.v), cast<S>(p.acceleration.w)}};
  }

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto index = SampleIndex<S>::consecutive(first + static_cast<std::uint64_t>(i));
    const StudyMachine<S> machine = study_machine(*rules, draw_inputs<S>(*rules, index));
    StudyMeasured<S> m = nothing_measured<S>();
    for (int k = 0; k < rules->instants; ++k) {
      const StudyInstant<S> at = study_instant(*rules, machine, point<S>(k, i));
      measure_instant(*rules, at, k, m);
      if (forces == nullptr) continue;
      const std::int64_t tile = i / batch::kTile * rules->instants + k;
      batch::store<S, Vec<S, 6>>(forces + tile * kLegs * batch::kTile, i % batch::kTile, at.force);
    }
    batch::store<S, StudyMeasured<S>>(measured, i, m);
  }
};

}  // namespace garra::platform
