// The solvers behind contact::Method: a minimizer and the merit function it works on.
#pragma once

#include <type_traits>

#include "contact/batch/body.hpp"
#include "garra/contact.hpp"
#include "garra/solvers/box_quacan.hpp"
#include "garra/solvers/friction_admm.hpp"
#include "garra/solvers/friction_extragradient.hpp"
#include "garra/solvers/friction_merit.hpp"
#include "garra/solvers/friction_mixed.hpp"
#include "garra/solvers/friction_newton.hpp"
#include "garra/solvers/friction_nsgs.hpp"
#include "garra/solvers/merit/second_order_cone.hpp"
#include "garra/solvers/merit/spg_newton.hpp"
#include "garra/solvers/projected_lm.hpp"
#include "garra/solvers/spectral_projected_gradient.hpp"

namespace garra::contact {

namespace solver_types {

template <Merit M>
struct MeritOf;
template <>
struct MeritOf<Merit::kPapers> : std::type_identity<solvers::PapersMerit> {};
template <>
struct MeritOf<Merit::kProducts> : std::type_identity<solvers::ComponentwiseMerit> {};
template <>
struct MeritOf<Merit::kFischerBurmeister> : std::type_identity<solvers::FischerBurmeisterMerit> {};
template <>
struct MeritOf<Merit::kSecondOrderCone> : std::type_identity<solvers::SecondOrderConeMerit> {};

template <Minimizer M>
struct MinimizerOf;
template <>
struct MinimizerOf<Minimizer::kBoxQuacan> : std::type_identity<solvers::BoxQuacan> {};
template <>
struct MinimizerOf<Minimizer::kSpg> : std::type_identity<solvers::SpectralProjectedGradient> {};
template <>
struct MinimizerOf<Minimizer::kSpgNewton> : std::type_identity<solvers::SpgNewton> {};
template <>
struct MinimizerOf<Minimizer::kProjectedLm> : std::type_identity<solvers::ProjectedLm> {};

}  // namespace solver_types

/// The solver of a merit function and a minimizer.
template <Merit M, Minimizer Z>
using PairMethod =
    solvers::FrictionMerit<typename solver_types::MinimizerOf<Z>::type, typename solver_types::MeritOf<M>::type>;

using BoxQuacanMethod = PairMethod<Merit::kPapers, Minimizer::kBoxQuacan>;
using SpgMethod = PairMethod<Merit::kPapers, Minimizer::kSpg>;
using ProjectedLmMethod = PairMethod<Merit::kProducts, Minimizer::kProjectedLm>;
using FischerBurmeisterMethod = PairMethod<Merit::kFischerBurmeister, Minimizer::kProjectedLm>;

// Of the pairs, the aliases and the fastest have code of their own for few contacts, the others one instance.
template <class Minimizer, class Merit>
inline constexpr int kOwnSizes<solvers::FrictionMerit<Minimizer, Merit>> = 0;
template <>
inline constexpr int kOwnSizes<BoxQuacanMethod> = 3;
template <>
inline constexpr int kOwnSizes<ProjectedLmMethod> = 3;
template <>
inline constexpr int kOwnSizes<FischerBurmeisterMethod> = 4;
template <>
inline constexpr int kOwnSizes<PairMethod<Merit::kFischerBurmeister, Minimizer::kSpgNewton>> = 4;
template <>
inline constexpr int kOwnSizes<PairMethod<Merit::kSecondOrderCone, Minimizer::kProjectedLm>> = 3;
template <>
inline constexpr int kOwnSizes<PairMethod<Merit::kSecondOrderCone, Minimizer::kSpgNewton>> = 3;

template <class Minimizer, class Merit>
inline constexpr int kMaxOnDevice<solvers::FrictionMerit<Minimizer, Merit>> = kMaxOwnSize;

}  // namespace garra::contact
