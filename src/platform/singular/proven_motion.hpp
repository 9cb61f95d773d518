// How far a straight motion of a platform is proven to keep its limits and to pass no singular pose
// (docs/theory/platform.md, "Paths").
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "garra/math/rotation_vector.hpp"
#include "garra/platform_study.hpp"
#include "garra/systems/platform/limits.hpp"

namespace garra::platform {

/// C moves on a line, the platform turns about one fixed axis.
struct StraightMotion {
  Place<double> from;
  Vec3<double> shift, turn;  ///< [m], [rad], base axes

  StraightMotion(const Place<double>& a, const Place<double>& b)
      : from(a), shift(b.r - a.r), turn(turn_between(a.p, b.p)) {}

  [[nodiscard]] Place<double> at(double share) const {
    return {axpy(share, shift, from.r), normalized(product(quaternion_of_turn(share * turn), from.p))};
  }
  /// L: the length of a turn of one radian.
  [[nodiscard]] double length(double L) const { return std::hypot(norm(shift), L * norm(turn)); }
};

/// What a path must keep, with the bounds that prove it between two poses.
class Keeper {
 public:
  Keeper(const Platform& platform, const PathSearch& search, double length)
      : model_(make_model(platform)), limits_(make_limits(platform)), search_(search), length_(length) {}

  /// Share of the motion beyond `share` over which everything is kept; not positive: something is broken there.
  [[nodiscard]] double safe_step(const StraightMotion& motion, double share) {
    const Place<double> place = motion.at(share);
    const Legs<double> legs = legs_at(model_, place);
    // A joint moves at most at this rate over the whole motion: |turn x lever| is constant.
    double speed[kLegs], angular[kLegs], fastest = 0, step = std::numeric_limits<double>::infinity(), rate = 0;
    for (int i = 0; i < kLegs; ++i) {
      const LegVector<double>& leg = legs.leg[i];
      const double across = norm(cross(motion.turn, leg.lever)), lever = norm(leg.lever) / length_;
      speed[i] = norm(motion.shift) + across;
      fastest = std::max(fastest, speed[i]);
      // asin(x) <= kChord x up to x = 1/2: the leg's direction turns by at most asin(way of the joint / length).
      angular[i] = kChord * speed[i] * leg.inverse;
      step = std::min(step, 0.5 * leg.length / speed[i]);
      const double turning = across / length_ + lever * angular[i];
      rate += angular[i] * angular[i] + turning * turning;
    }
    // A singular value changes by at most the Frobenius norm of the change of its matrix (Weyl).
    sigma_ = sigma_min(length_jacobian(legs), length_);
    step = std::min(step, (sigma_ - search_.near_singular) / std::sqrt(rate));
    if (search_.limits) step = std::min(step, safe_by_limits(motion, place, speed, angular, fastest));
    return kShare * step;
  }

  /// Share of the motion that is proven; 1: all of it.
  [[nodiscard]] double advance(const StraightMotion& motion) {
    const double least = kLeastStep * length_ / std::max(motion.length(length_), 1e-300);
    double share = 0, before = 0;
    for (int k = 0; k < kMostSteps; ++k) {
      ++visits_;
      const double step = safe_step(motion, share);
      if (!(step > 0)) break;
      least_sigma_ = std::min(least_sigma_, sigma_);
      if (share + step >= 1) return 1;
      if (step < least && step < before) break;  // a border is near, and comes nearer
      share += step;
      before = step;
    }
    return share;
  }

  /// Least scaled sigma_min, and number of poses, of every advance() since forget().
  [[nodiscard]] double least_sigma() const { return least_sigma_; }
  [[nodiscard]] std::int64_t visits() const { return visits_; }
  void forget() {
    least_sigma_ = std::numeric_limits<double>::infinity();
    visits_ = 0;
  }

  /// Everything at one pose.
  [[nodiscard]] bool keeps_limits(const Place<double>& place) const {
    const LimitMargins<double> m = limit_margins(limits_, model_, place);
    for (int i = 0; i < kLegs; ++i) {
      if (m.stroke[i] < -kSlack || (limits_.universal_cos[i] > -1 && m.universal[i] < -kSlack)) return false;
      if (limits_.spherical_cos[i] > -1 && m.spherical[i] < -kSlack) return false;
      if (limits_.clearance > 0 && m.apart[i] < -kSlack) return false;
    }
    return true;
  }
  [[nodiscard]] const Model<double>& model() const { return model_; }

 private:
  [[nodiscard]] double safe_by_limits(const StraightMotion& motion, const Place<double>& place, const double* speed,
                                      const double* angular, double fastest) const {
    const LimitMargins<double> m = limit_margins(limits_, model_, place);
    double step = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kLegs; ++i) {
      step = std::min(step, (m.stroke[i] + kSlack) / speed[i]);
      if (limits_.universal_cos[i] > -1) step = std::min(step, (m.universal[i] + kSlack) / angular[i]);
      if (limits_.spherical_cos[i] > -1)
        step = std::min(step, (m.spherical[i] + kSlack) / (angular[i] + norm(motion.turn)));
      if (limits_.clearance > 0) step = std::min(step, (m.apart[i] + kSlack) / (speed[i] + fastest));
    }
    return step;
  }

  static constexpr double kChord = M_PI / 3;
  static constexpr double kShare = 0.99;      ///< of a bound: rounding is far below the rest
  static constexpr double kSlack = 1e-9;      ///< limits may be broken by this [m, rad]: an end may be at one
  static constexpr double kLeastStep = 1e-3;  ///< in characteristic lengths
  static constexpr int kMostSteps = 1000;

  Model<double> model_;
  Limits<double> limits_;
  PathSearch search_;
  double length_;
  double sigma_ = 0;  ///< of the last safe_step()
  double least_sigma_ = std::numeric_limits<double>::infinity();
  std::int64_t visits_ = 0;
};

}  // namespace garra::platform
