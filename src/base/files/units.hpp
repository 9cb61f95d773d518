// Quantities with units in strings: "50 mm", "0.05 N*m", "30 deg/s", "2e-6 kg*m^2".
#pragma once

#include <string>
#include <string_view>

namespace garra::io {

/// Exponents of the base units. The radian counts as one, so that an angle is not accepted as a ratio.
struct Dimension {
  int m = 0, kg = 0, s = 0, rad = 0;
  bool operator==(const Dimension&) const = default;
};

inline constexpr Dimension kRatio{};
inline constexpr Dimension kLength{.m = 1};
inline constexpr Dimension kMass{.kg = 1};
inline constexpr Dimension kAngle{.rad = 1};
inline constexpr Dimension kTime{.s = 1};
inline constexpr Dimension kForce{.m = 1, .kg = 1, .s = -2};
inline constexpr Dimension kTorque{.m = 2, .kg = 1, .s = -2};
inline constexpr Dimension kVelocity{.m = 1, .s = -1};
inline constexpr Dimension kAcceleration{.m = 1, .s = -2};
inline constexpr Dimension kAngularVelocity{.s = -1, .rad = 1};
inline constexpr Dimension kInertia{.m = 2, .kg = 1};
inline constexpr Dimension kCurvature{.m = -1};
inline constexpr Dimension kFrequency{.s = -1};
inline constexpr Dimension kImpulse{.m = 1, .kg = 1, .s = -1};
inline constexpr Dimension kTurningImpulse{.m = 2, .kg = 1, .s = -1};
inline constexpr Dimension kTurningDamping{.m = 2, .kg = 1, .s = -1, .rad = -1};
inline constexpr Dimension kSlidingDamping{.kg = 1, .s = -1};
inline constexpr Dimension kTurningStiffness{.m = 2, .kg = 1, .s = -2, .rad = -1};
inline constexpr Dimension kSlidingStiffness{.kg = 1, .s = -2};

/// Name and units for messages: "a length (m, mm, cm, km)".
[[nodiscard]] std::string describe(const Dimension& dimension);
/// The SI unit, as in "kg*m^2"; "" for a ratio.
[[nodiscard]] std::string si_unit(const Dimension& dimension);

/// A quantity in SI units, or the error in its text and the remedy.
struct Quantity {
  double value = 0;
  std::string problem;  ///< empty: the value holds
  std::string remedy;
};

/// Reads "number unit". The unit is a product and quotient of known units with optional powers. A number alone is
/// accepted for a ratio; "%" is 0.01. NaN and infinity are rejected.
[[nodiscard]] Quantity parse_quantity(std::string_view text, const Dimension& wanted);

/// The same with any unit, whose dimension goes to `found`.
[[nodiscard]] Quantity parse_any_quantity(std::string_view text, Dimension& found);

}  // namespace garra::io
