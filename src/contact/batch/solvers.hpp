// The solvers behind contact::Method: which minimizer works on which merit function.
#pragma once

#include "contact/batch/body.hpp"
#include "garra/contact.hpp"
#include "garra/solve/box_quacan.hpp"
#include "garra/solve/friction_admm.hpp"
#include "garra/solve/friction_extragradient.hpp"
#include "garra/solve/friction_merit.hpp"
#include "garra/solve/friction_mixed.hpp"
#include "garra/solve/friction_newton.hpp"
#include "garra/solve/friction_nsgs.hpp"
#include "garra/solve/projected_lm.hpp"
#include "garra/solve/spectral_projected_gradient.hpp"

namespace garra::contact {

/// Contacts that a merit function is compiled for: 8 variables each, and compile time grows with them.
inline constexpr int kMaxMeritContacts = 4;

using BoxQuacanMethod = solvers::FrictionMerit<solvers::BoxQuacan, solvers::PapersMerit>;
using SpgMethod = solvers::FrictionMerit<solvers::SpectralProjectedGradient, solvers::PapersMerit>;
using ProjectedLmMethod = solvers::FrictionMerit<solvers::ProjectedLm, solvers::ComponentwiseMerit>;
using FischerBurmeisterMethod = solvers::FrictionMerit<solvers::ProjectedLm, solvers::FischerBurmeisterMerit>;

template <class Minimizer, class Merit>
inline constexpr bool kOnlyFew<solvers::FrictionMerit<Minimizer, Merit>> = true;

/// Sizes that a solver is compiled for.
template <class Solver>
inline constexpr int kMostContacts = kMaxContacts;
template <>
inline constexpr int kMostContacts<solvers::FrictionMixed> = kMaxOwnSize;
template <class Minimizer, class Merit>
inline constexpr int kMostContacts<solvers::FrictionMerit<Minimizer, Merit>> = kMaxMeritContacts;

}  // namespace garra::contact
