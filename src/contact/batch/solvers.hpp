// The solvers behind contact::Method: a minimizer and the merit function it works on.
#pragma once

#include "contact/batch/body.hpp"
#include "garra/contact.hpp"
#include "garra/solvers/box_quacan.hpp"
#include "garra/solvers/friction_admm.hpp"
#include "garra/solvers/friction_extragradient.hpp"
#include "garra/solvers/friction_merit.hpp"
#include "garra/solvers/friction_mixed.hpp"
#include "garra/solvers/friction_newton.hpp"
#include "garra/solvers/friction_nsgs.hpp"
#include "garra/solvers/projected_lm.hpp"
#include "garra/solvers/spectral_projected_gradient.hpp"

namespace garra::contact {

using BoxQuacanMethod = solvers::FrictionMerit<solvers::BoxQuacan, solvers::PapersMerit>;
using SpgMethod = solvers::FrictionMerit<solvers::SpectralProjectedGradient, solvers::PapersMerit>;
using ProjectedLmMethod = solvers::FrictionMerit<solvers::ProjectedLm, solvers::ComponentwiseMerit>;
using FischerBurmeisterMethod = solvers::FrictionMerit<solvers::ProjectedLm, solvers::FischerBurmeisterMerit>;

/// Largest number of contacts with kernels. The assembler takes minutes for a merit function of 32 variables.
template <class Solver>
inline constexpr int kMaxOnDevice = kMaxContacts;
template <>
inline constexpr int kMaxOnDevice<solvers::FrictionMixed> = kMaxOwnSize;
template <class Minimizer, class Merit>
inline constexpr int kMaxOnDevice<solvers::FrictionMerit<Minimizer, Merit>> = 3;

}  // namespace garra::contact
