// Inverse kinematics of one row (platform/batch/rows.hpp runs it); nvcc compiles it, too.
#pragma once

#include "garra/core/square_root.hpp"
#include "garra/systems/platform/angles.hpp"
#include "garra/systems/platform/limits.hpp"
#include "garra/systems/platform/status.hpp"

namespace garra::platform {

struct LengthsOp {
  template <class S>
  struct In {
    Place<S> place;
  };
  template <class S>
  struct Out {
    Vec<S, 6> lengths;
  };
  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    const Mat3<S> A = rotation_of_any(in.place.p);
    Out<S> out;
    for_each_index<kLegs>([&](auto i) {
      const S square = leg_square(m.leg[i], in.place.r, A);
      // Two of six go to the divider, which already has one division: then it and the multipliers
      // end together.
      out.lengths[i] = i % 3 == 0 ? sqrt(square) : sqrt_by_fma(square);
    });
    return out;
  }
};

struct RatesOp {
  template <class S>
  struct In {
    Place<S> place;
    Twist6<S> velocity, acceleration;
  };
  template <class S>
  struct Out {
    Vec<S, 6> rates, accelerations;
  };
  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    const Mat3<S> A = rotation_matrix(normalized(in.place.p));
    Out<S> out;
    for (int i = 0; i < kLegs; ++i) {
      const LegVector<S> l = leg_vector(m.leg[i], in.place.r, A);
      const Vec3<S> v = joint_velocity(l, in.velocity);
      const S rate = dot(l.z, v);
      out.rates[i] = rate;
      out.accelerations[i] =
          fma(l.inverse, dot(v, v) - rate * rate, dot(l.z, joint_acceleration(l, in.velocity, in.acceleration)));
    }
    return out;
  }
};

/// LengthsOp and RatesOp in one, for rows that stay on the GPU.
struct KinematicsOp {
  template <class S>
  using In = RatesOp::In<S>;
  template <class S>
  struct Answer {
    Vec<S, 6> lengths;
    RatesOp::Out<S> rates;
  };
  template <class S>
  struct Out {
    Answer<S> answer;
    S status;
  };
  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    Out<S> out{{LengthsOp{}(m, LengthsOp::In<S>{in.place}).lengths, RatesOp{}(m, in)}, S(0)};
    const auto valid = usable(in.place) && all_finite<S>(in.velocity) == S(1) && all_finite<S>(in.acceleration) == S(1);
    out.status = select(valid, to_number<S>(PoseStatus::kConverged), to_number<S>(PoseStatus::kInvalidInput));
    blank_unless<S>(valid, out.answer);
    return out;
  }
};

/// Less frequently requested outputs, all at once.
struct DetailOp {
  double characteristic_length;
  template <class S>
  struct In {
    Place<S> place;
    Limits<S> limits;
  };
  template <class S>
  struct Out {
    Vec3<S> leg_vector[kLegs];
    Quaternion<S> leg_quaternion[kLegs];
    Vec3<S> leg_euler313[kLegs];
    UniversalTurns<S> universal_angles[kLegs];
    Conditioning<S> conditioning;
    LimitMargins<S> margins;
  };
  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    const Place<S> place{in.place.r, normalized(in.place.p)};
    Out<S> out;
    limit_margins_into(in.limits, m, place, out.margins);
    const Legs<S> legs = legs_at(m, place);
    for (int i = 0; i < kLegs; ++i) {
      const Vec3<S> k = cast<S>(m.leg[i].axis);
      const LegFrame<S> f = leg_frame(k, legs.leg[i].z);
      out.leg_vector[i] = legs.leg[i].d;
      out.leg_quaternion[i] = with_positive_scalar(to_quaternion(f.x, f.y, f.z));
      out.leg_euler313[i] = euler313(f.x, f.y, f.z);
      out.universal_angles[i] = universal_turns(k, in.limits.universal_axis[i], f);
    }
    conditioning_into(length_jacobian(legs), S(characteristic_length), out.conditioning);
    return out;
  }
};

/// LimitBits of a row, as a number. NaN is below no limit; the status of such a row reports it.
template <class S>
GARRA_HD S limit_mask(const Limits<S>& limits, const Vec<S, 6>& lengths, const LimitMargins<S>& margins) {
  S mask(0);
  for (int i = 0; i < kLegs; ++i) {
    const auto add = [&](LimitBit kind, const MaskOf<S>& passed) {
      mask = mask + select(passed, S(static_cast<double>(std::uint32_t{kind} << i)), S(0));
    };
    add(kTooShort, lengths[i] < limits.length_min[i]);
    add(kTooLong, lengths[i] > limits.length_max[i]);
    add(kUniversalCone, margins.universal[i] < S(0));
    add(kSphericalCone, margins.spherical[i] < S(0));
    add(kCollision, limits.clearance > S(0) && margins.apart[i] < S(0));
  }
  return mask;
}

/// DetailOp and the values derived from it, for rows that stay on the GPU; they share the limits.
struct PoseDetailOp {
  double characteristic_length;
  Limits<double> limits;
  template <class S>
  using In = LengthsOp::In<S>;
  template <class S>
  struct Answer {
    DetailOp::Out<S> detail;
    S condition;
  };
  template <class S>
  struct Out {
    Answer<S> answer;
    S mask, status;
  };
  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    const Limits<S> own = cast_limits<S>(limits);
    Out<S> out{{DetailOp{characteristic_length}(m, DetailOp::In<S>{in.place, own}), S(0)}, S(0), S(0)};
    DetailOp::Out<S>& detail = out.answer.detail;
    out.answer.condition = detail.conditioning.sigma_max / detail.conditioning.sigma_min;
    const auto valid = usable(in.place);
    out.mask = select(valid, limit_mask(own, LengthsOp{}(m, in).lengths, detail.margins), S(0));
    out.status = select(valid, to_number<S>(PoseStatus::kConverged), to_number<S>(PoseStatus::kInvalidInput));
    // Legs without thickness cannot collide: any distance is accepted.
    if (!(limits.clearance > 0)) detail.margins.clearance = S(std::numeric_limits<double>::infinity());
    blank_unless<S>(valid, out.answer);
    return out;
  }
};

}  // namespace garra::platform
