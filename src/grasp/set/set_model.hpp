// Samples of candidate grasps: computes, from uniform numbers, the wrench that forces in friction cones have to
// balance. SI units; moments divided by the grasp's length. Host and device; docs/theory/grasp-sets.md.
#pragma once

#include <utility>

#include "contact/balance/op.hpp"
#include "garra/batch/tiles.hpp"
#include "garra/core/philox.hpp"
#include "garra/grasp_set.hpp"
#include "garra/systems/grasp/contact.hpp"
#include "garra/systems/grasp/random_vector.hpp"

namespace garra::grasp {

/// Scalar inputs of a sample. Every input has its own random numbers, drawn or not, so that two studies share those of
/// their common inputs. A ball takes three: size, cosine of the polar angle, azimuth.
enum SetSlot : int {
  kSetFriction,
  kSetMass,
  kComSize,
  kSetForceSize = kComSize + 3,
  kSetTorqueSize = kSetForceSize + 3,
  kGravityCosine = kSetTorqueSize + 3,
  kGravityAzimuth,
  kSetCommand,  ///< factor on the commanded forces or torques
  kFirstSlots,  ///< random blocks of contacts follow; those of later slots come behind all others
  kDisplacementSize = kFirstSlots,
  kSetSlots = kDisplacementSize + 4  ///< even
};
/// Scalar inputs of each contact.
enum SetContactSlot : int {
  kOwnFriction,
  kSetSlideT,
  kSetSlideO,
  kSetTilt,
  kSetTiltDirection,
  kSetGripForceError,  ///< added to the commanded normal force [N]
  kSetContactSlots
};
/// Row of a table of draws: an option of SetStudy, its slot, and its name in a replay.
struct SetDraw {
  int slot;
  const char* name;
  study::Distribution SetStudy::*drawn;
  double SetStudy::*radius = nullptr;  ///< of a ball, instead
};
inline constexpr SetDraw kSetDraws[] = {
    {kSetFriction, "friction", &SetStudy::friction},
    {kSetMass, "mass", &SetStudy::mass},
    {kComSize, "com offset", nullptr, &SetStudy::com_radius},
    {kDisplacementSize, "displacement", nullptr, &SetStudy::displacement_radius},
    {kSetForceSize, "force", nullptr, &SetStudy::force_radius},
    {kSetTorqueSize, "torque", nullptr, &SetStudy::torque_radius},
    {kSetCommand, "command factor", &SetStudy::command},
};
inline constexpr SetDraw kSetContactDraws[] = {
    {kOwnFriction, "friction factor", &SetStudy::per_contact_friction_factor},
    {kSetSlideT, "slide t", &SetStudy::slide_t},
    {kSetSlideO, "slide o", &SetStudy::slide_o},
    {kSetTilt, "tilt", &SetStudy::tilt},
    {kSetGripForceError, "grip force error", &SetStudy::grip_force_error},
};
static_assert(kSetSlots % 2 == 0 && kSetContactSlots % 2 == 0, "a random block has two numbers");

/// Random blocks beyond those of all contacts: for the choice of the wrench, then for each joint.
inline constexpr int kWrenchBlock = (kFirstSlots + kMaxSetContacts * kSetContactSlots) / 2,
                     kJointBlock = kWrenchBlock + 1, kLaterBlock = kJointBlock + 1024;

/// Model shared by all grasps. Trivially copyable.
struct SetModel {
  study::Distribution draw[kSetSlots];
  study::Distribution contact_draw[kSetContactSlots];
  study::Distribution torque_error;  ///< of each joint
  double wrench[kMaxWrenches][6];
  int wrenches;
  bool friction_is_factor, mass_is_factor, random_gravity_direction;
  std::uint64_t seed;
};

/// Whether an error is present: drawn, or a constant that is not 0.
[[nodiscard]] inline bool is_off(const study::Distribution& error) {
  return !error.is_constant() || error.nominal() != 0;
}

/// Calls use(N) for numbers of contacts with kernels.
template <class Use>
void for_set_sizes(const Use& use) {
  [&]<int... N>(std::integer_sequence<int, N...>) { (use(std::integral_constant<int, N>{}), ...); }
  (std::integer_sequence<int, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, kMaxSetContacts>{});
}
/// The same for soft contacts.
template <class Use>
void for_soft_sizes(const Use& use) {
  [&]<int... N>(std::integer_sequence<int, N...>) { (use(std::integral_constant<int, N>{}), ...); }
  (std::integer_sequence<int, 2, 3, 4, 5, 8, 16, kMaxSetContacts>{});
}
/// The smallest of some sizes that holds k contacts; 0 if there is none.
template <class ForSizes>
[[nodiscard]] int smallest_size(std::int64_t k, const ForSizes& for_sizes) {
  int size = 0;
  for_sizes([&](auto n) {
    if (size == 0 && k <= n) size = n;
  });
  return size;
}

/// A grasp in the form that its samples use. Surplus contacts are copies: contact j of N is contact j % contacts, with
/// a share of its force limit. The copies together can exert the same forces.
template <int N>
struct SetGrasp {
  int contacts;
  Vec3<double> com, gravity;
  Vec<double, 6> wrench;
  double mass, length;  ///< moments are divided by `length`
  double rest;          ///< rest_factor
  SurfacePoint contact[kCapacity<N>];
  double friction[kCapacity<N>], limit[kCapacity<N>], torsion_radius[kCapacity<N>];
};

/// sqrt(5 / 2): the radius of a sphere with the object's radius of gyration, in lengths of SetGrasp. A resisted force
/// radius has moments over it ((20) of docs/theory/grasp-model.md).
inline constexpr double kRadiusLengths = 1.5811388300841898;

/// Values of Count inputs whose first random block is `block`.
template <int Count, class S>
GARRA_HD_CALL Vec<S, Count> draw_values(const study::Distribution* draw, std::uint64_t seed,
                                        const SampleIndex<S>& index, int block) {
  Vec<S, Count> x;
  for (int k = 0; k < Count; k += 2) {
    S u[2] = {S(0.5), S(0.5)};
    if (!draw[k].is_constant() || !draw[k + 1].is_constant())
      uniform_pair<S>(seed, index,
                      static_cast<std::uint32_t>(k < kFirstSlots ? block + k / 2 : kLaterBlock + (k - kFirstSlots) / 2),
                      u[0], u[1]);
    for (int h = 0; h < 2; ++h) x[k + h] = study::quantile(draw[k + h], u[h]);
  }
  return x;
}

/// One contact of a sample, as drawn.
template <class S>
struct DrawnContact {
  ContactPlace<S> place;
  S friction;          ///< factor
  S grip_force_error;  ///< [N]
};

/// Contact of a sample whose first random block is `block`. The displacement moves it along its surface.
template <class S>
GARRA_HD_CALL DrawnContact<S> drawn_contact(const SetModel& model, const SurfacePoint& at, const Vec3<S>& displacement,
                                            const SampleIndex<S>& index, int block) {
  const auto x = draw_values<kSetContactSlots>(model.contact_draw, model.seed, index, block);
  const S t = x[kSetSlideT] + dot(displacement, cast<S>(at.t)), o = x[kSetSlideO] + dot(displacement, cast<S>(at.o));
  const ContactDeviation<S> deviation{t, o, x[kSetTilt], x[kSetTiltDirection], S(1)};
  return {place_on_surface(at, deviation), x[kOwnFriction], x[kSetGripForceError]};
}

/// One sample of a grasp: loads on the object, and places of its contacts.
template <class S, int N>
struct SetSample {
  S mass;
  Vec3<S> gravity, com;
  Vec<S, 6> rest;  ///< external wrench and disturbance, moments over the grasp's length [N]
  ContactPlace<S> place[kCapacity<N>];
  Vec<S, N> friction;
  S command;                   ///< factor on what is commanded
  Vec<S, N> grip_force_error;  ///< [N]
};

/// Builds the wrench problems of a set's samples, `samples` per grasp, beginning with sample `first`. D: 3, or 4 for
/// soft contacts. H: contacts in the arrays of the grasps, N or kAnyContacts.
template <int N, int D = 3, int H = N>
struct CandidateKernel {
  template <class S>
  using Problem = typename contact::BalanceOp<N, D>::template In<S>;

  SetModel model;
  const SetGrasp<H>* grasps;
  std::int64_t samples;  ///< whole tiles
  std::int64_t first;
  double* problems;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto index = SampleIndex<S>::consecutive(static_cast<std::uint64_t>(first + i % samples));
    const SetGrasp<H>& g = grasps[i / samples];
    batch::store<S>(problems, i, make_problem(g, sample(g, index)));
  }

  template <class S>
  GARRA_HD SetSample<S, N> sample(const SetGrasp<H>& g, const SampleIndex<S>& index) const {
    const auto x = draw_values<kSetSlots>(model.draw, model.seed, index, 0);
    SetSample<S, N> out;
    out.com = cast<S>(g.com) + ball_vector(x[kComSize], x[kComSize + 1], x[kComSize + 2]);
    out.command = x[kSetCommand];
    set_load(g, x, out);
    if (model.wrenches > 0) add_wrench(index, S(1 / g.length), out);
    const Vec3<S> displacement = ball_vector(x[kDisplacementSize], x[kDisplacementSize + 1], x[kDisplacementSize + 2]);
    for (int j = 0; j < extent<N>(); ++j) {
      const int block = (kFirstSlots + j % g.contacts * kSetContactSlots) / 2;
      const DrawnContact<S> own = drawn_contact(model, g.contact[j], displacement, index, block);
      out.place[j] = own.place;
      const S nominal = model.friction_is_factor ? S(g.friction[j]) * x[kSetFriction] : x[kSetFriction];
      out.friction[j] = nominal * own.friction;
      out.grip_force_error[j] = own.grip_force_error;
    }
    return out;
  }

  /// The wrench that forces in the cones have to balance.
  template <class S>
  GARRA_HD Problem<S> make_problem(const SetGrasp<H>& g, const SetSample<S, N>& sample) const {
    Problem<S> p;
    p.w = sample.rest;
    for (int r = 0; r < 3; ++r) p.w[r] = fma(sample.mass, sample.gravity[r], sample.rest[r]);
    for (int j = 0; j < extent<N>(); ++j) {
      set_columns(sample.place[j], sample.com, S(1 / g.length), j, p);
      if constexpr (D > 3) set_torsion(sample.place[j], S(g.torsion_radius[j] / g.length), j, p);
      p.mu[j] = sample.friction[j];
      p.limit[j] = S(g.limit[j]);
    }
    return p;
  }

 private:
  /// Sets weight, external wrench and disturbance.
  template <class S>
  GARRA_HD void set_load(const SetGrasp<H>& g, const Vec<S, kSetSlots>& x, SetSample<S, N>& out) const {
    out.mass = model.mass_is_factor ? S(g.mass) * x[kSetMass] : x[kSetMass];
    out.gravity = cast<S>(g.gravity);
    if (model.random_gravity_direction)
      out.gravity = ball_vector(S(norm(g.gravity)), x[kGravityCosine], x[kGravityAzimuth]);
    const Vec3<S> force = ball_vector(x[kSetForceSize], x[kSetForceSize + 1], x[kSetForceSize + 2]);
    const Vec3<S> torque = ball_vector(x[kSetTorqueSize], x[kSetTorqueSize + 1], x[kSetTorqueSize + 2]);
    for (int r = 0; r < 3; ++r) {
      out.rest[r] = S(g.wrench[r]) + force[r];
      out.rest[r + 3] = (S(g.wrench[r + 3]) + torque[r]) * S(1 / g.length);
    }
  }
  /// Adds one of the given wrenches.
  template <class S>
  GARRA_HD_CALL void add_wrench(const SampleIndex<S>& index, const S& per_length, SetSample<S, N>& out) const {
    S u, unused;
    uniform_pair<S>(model.seed, index, kWrenchBlock, u, unused);
    const S which = S(model.wrenches) * u;
    Vec<S, 6> chosen;
    for (int r = 0; r < 6; ++r) chosen[r] = S(model.wrench[0][r]);
    for (int k = 1; k < model.wrenches; ++k)
      for (int r = 0; r < 6; ++r) chosen[r] = select(which >= S(k), S(model.wrench[k][r]), chosen[r]);
    for (int r = 0; r < 3; ++r) {
      out.rest[r] += chosen[r];
      out.rest[r + 3] = fma(chosen[r + 3], per_length, out.rest[r + 3]);
    }
  }
  /// Sets the wrench columns of contact j's force.
  template <class S>
  GARRA_HD static void set_columns(const ContactPlace<S>& place, const Vec3<S>& com, const S& per_length, int j,
                                   Problem<S>& p) {
    for (int c = 0; c < 3; ++c) {
      const Vec3<S> e = vec3<S>(place.E(0, c), place.E(1, c), place.E(2, c));
      const Vec3<S> moment = cross(place.p - com, e);
      for (int r = 0; r < 3; ++r) {
        p.W(r, D * j + c) = e[r];
        p.W(r + 3, D * j + c) = moment[r] * per_length;
      }
    }
  }
  /// Sets the wrench column of the moment about contact j's normal, over the torsion radius of its surface.
  template <class S>
  GARRA_HD static void set_torsion(const ContactPlace<S>& place, const S& radius_per_length, int j, Problem<S>& p) {
    for (int r = 0; r < 3; ++r) {
      p.W(r, D * j + 3) = S(0);
      p.W(r + 3, D * j + 3) = place.E(r, 0) * radius_per_length;
    }
  }
};

/// Bracket of a sample's required friction. More friction never hurts.
template <class S>
struct FrictionBracket {
  S low, high;  ///< coefficients; infinity: not even kMaxFriction does
  S tried;
};
/// Most steps. The first tries kMaxFriction; even if the others only halve, an interval of 2e-5 is left.
inline constexpr int kBracketSteps = 20;
/// Width at which the search ends: this plus 1e-4 of the coefficient, but at most the last.
inline constexpr double kBracketWidth = 1e-5, kMaxBracketWidth = 2e-4;

/// One step of the search for the required friction. Takes the answer to the last trial (none before the first step),
/// and sets the friction of problem i to the next trial. Undecided counts as not held, so that the reported friction
/// suffices.
template <int N, int D = 3>
struct NarrowFrictionKernel {
  template <class S>
  using Problem = typename contact::BalanceOp<N, D>::template In<S>;
  template <class S>
  using Answer = typename contact::BalanceOp<N, D>::template Out<S>;

  double *problems, *brackets;
  const double* answers;  ///< null: before the first step

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    auto p = batch::load<S, Problem<S>>(problems, i);
    FrictionBracket<S> b{S(0), S(std::numeric_limits<double>::infinity()), S(kMaxFriction)};
    if (answers != nullptr)
      b = narrowed(batch::load<S, FrictionBracket<S>>(brackets, i), p, batch::load<S, Answer<S>>(answers, i));
    for (int j = 0; j < extent<N>(); ++j) p.mu[j] = b.tried;
    // Decided: a problem without a wrench costs next to nothing.
    for (int r = 0; r < 6; ++r) p.w[r] = select(is_open(b), p.w[r], S(0));
    batch::store<S>(brackets, i, b);
    batch::store<S>(problems, i, p);
  }

 private:
  template <class S>
  GARRA_HD static MaskOf<S> is_open(const FrictionBracket<S>& b) {
    return b.high - b.low > min(fma(S(1e-4), b.low, S(kBracketWidth)), S(kMaxBracketWidth)) && b.low < S(kMaxFriction);
  }
  template <class S>
  GARRA_HD static FrictionBracket<S> narrowed(FrictionBracket<S> b, const Problem<S>& p, const Answer<S>& a) {
    const auto open = is_open(b);
    const auto held = open && a.decision == S(1);
    // Forces that also hold with less, or a proof that also excludes more.
    b.high = select(held, min(b.tried, used(a)), b.high);
    b.low = select(open && !held, select(a.decision == S(0), separated(p, a, b.tried), b.tried), b.low);
    b.low = min(b.low, b.high);
    b.tried = S(0.5) * (b.low + min(b.high, S(kMaxFriction)));
    return b;
  }
  /// The friction that the answer's forces need.
  template <class S>
  GARRA_HD static S used(const Answer<S>& a) {
    S most = S(0);
    for (int j = 0; j < extent<N>(); ++j) {
      const Vec<S, D> c = solvers::balance::get_part<D>(a.force, j);
      const auto presses = c[0] > S(0);
      most = max(most, select(presses, tangential_length(c) / select(presses, c[0], S(1)), S(0)));
    }
    return most;
  }
  /// Largest friction, from mu on, at which the answer's wrench separates the wrench from all
  /// contact forces: value (2) of solvers/wrench_balance.hpp stays positive.
  template <class S>
  GARRA_HD static S separated(const Problem<S>& p, const Answer<S>& a, const S& mu) {
    const Vec<S, D* N> z = transpose_times(p.W, a.wrench);
    const S size = norm(p.w), along = dot(a.wrench, p.w);
    S low = mu, high = S(kMaxFriction);
    for (int step = 0; step < 24; ++step) {
      const S middle = S(0.5) * (low + high);
      S value = along;
      for (int j = 0; j < extent<N>(); ++j) {
        const S across = tangential_length(solvers::balance::get_part<D>(z, j));
        value += min(p.limit[j], S(solvers::kMaxForce) * size) * min(fma(-middle, across, z[D * j]), S(0));
      }
      const auto still = value > S(solvers::kBalanceTolerance) * size;
      low = select(still, middle, low);
      high = select(still, high, middle);
    }
    return low;
  }
};

}  // namespace garra::grasp
