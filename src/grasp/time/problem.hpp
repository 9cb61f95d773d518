// The contact problem of a step: A, b and mu from fingers, object and load. SI units. Host and device.
#pragma once

#include "garra/solvers/friction_problem.hpp"
#include "garra/systems/grasp/object_step.hpp"

namespace garra::grasp {

/// Takes a contact out of a problem: it is uncoupled, and its force is zero.
template <class S, int N, int D, class Matrix>
GARRA_HD void leave_out(solvers::FrictionProblem<S, N, D, Matrix>& p, int j, const MaskOf<S>& out) {
  for (int i = D * j; i < D * j + D; ++i) {
#if defined(__CUDA_ARCH__)
#pragma unroll(N > 4 ? 1 : D * N)
#endif
    for (int k = 0; k < extent<D * N>(); ++k) {
      // Its own block stays, so that A remains regular; with b = 0 it gets no force.
      if (k / D == j) continue;
      p.A(i, k) = select(out, S(0), p.A(i, k));
      p.A(k, i) = select(out, S(0), p.A(k, i));
    }
    p.b[i] = select(out, S(0), p.b[i]);
  }
}

/// Builds the contact problem of a step, in forces c that act over it. The relative velocity after the step divided
/// by its length is a = A c + b (explicit: the relative acceleration), with stabilization in the normal row. Writes
/// `out`, whose matrix may lie anywhere; returns the contacts that slide at the step's start (explicit).
template <class S, int N, class Matrix>
GARRA_HD solvers::SlidingContacts<S, N> step_problem(const StepRules& rules, const Body<S>& body, const Vec<S, 6>& load,
                                                     const FingerStep<S> (&fingers)[kCapacity<N>], const Vec<S, N>& mu,
                                                     solvers::FrictionProblem<S, N, 3, Matrix>& out) {
  const S rate = S(1 / rules.step);
  ContactTerms<S> contacts[kCapacity<N>];
  for (int j = 0; j < extent<N>(); ++j) {
    const FingerStep<S>& f = fingers[j];
    contacts[j] = contact_terms(f);
    // The fingertip's acceleration for assemble(); it enters a negatively (object minus finger).
    for (int k = 0; k < 3; ++k)
      contacts[j].drift[k] = rate * (rules.explicit_step ? f.before[k] - f.free[k] : -f.free[k]);
  }
  // Momentum divided by the step's length, added to the load, turns assemble()'s accelerations into velocities.
  Vec<S, 6> push = load;
  if (!rules.explicit_step) {
    const Vec3<S> spin = body.inertia * body.omega;
    for (int i = 0; i < 3; ++i) {
      push[i] = fma(rate * body.mass, body.v[i], push[i]);
      push[i + 3] = fma(rate, spin[i], push[i + 3]);
    }
  }
  // Weight is part of `load`, velocity terms follow below: no gravity, no motion.
  System<S, N, 3, Matrix> system;
  take_place(system.A, out.A);
  assemble(body, contacts, push, Vec3<double>::zero(), false, system);
  out = {system.A, system.b, mu};
  solvers::SlidingContacts<S, N> sliding;
#if defined(__CUDA_ARCH__)
#pragma unroll(N > 4 ? 1 : N)
#endif
  for (int j = 0; j < extent<N>(); ++j) {
    const FingerStep<S>& f = fingers[j];
    const Vec3<S> before = relative_velocity(body, f);
    // Normal velocity without forces at the step's end, or at its start if explicit.
    const S free = rules.explicit_step ? before[0] : S(rules.step) * system.b[3 * j];
    Vec<S, 3 * N>& b = out.b;
    S slip[2] = {S(0), S(0)};
    if (rules.explicit_step) {
      const Vec3<S> v = velocity_term(body, contacts[j]);
      for (int k = 0; k < 3; ++k) b[3 * j + k] += v[k];
      const S speed = tangential_length(before);
      const auto slides = speed > S(kSlipSpeed);
      // All lanes divide, so contacts that do not slide divide by 1.
      const S inverse = S(1) / select(slides, speed, S(1));
      for (int k = 0; k < 2; ++k) {
        slip[k] = select(slides, inverse * before[k + 1], S(0));
        const S drift = select(slides, S(0), before[k + 1]);  // a rolling contact stays at rest
        b[3 * j + 1 + k] = fma(S(rules.baumgarte) * rate, drift, b[3 * j + 1 + k]);
      }
    }
    b[3 * j] += stabilization(rules, body, f, before);
    leave_out(out, j, !within_reach(rules, f.gap, free));
    for (int k = 0; k < 2; ++k) sliding.v[2 * j + k] = slip[k];
  }
  return sliding;
}

}  // namespace garra::grasp
