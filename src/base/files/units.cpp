#include "base/files/units.hpp"

#include <charconv>
#include <cmath>
#include <vector>

#include "base/files/suggest.hpp"

namespace garra::io {

namespace {

/// A unit: value in SI = number * up / down. Two numbers, because 1/1000 is no double but dividing by 1000 rounds
/// correctly.
struct Unit {
  const char* name;
  double up, down;
  Dimension dimension;
};

constexpr Unit kUnits[] = {
    {"m", 1, 1, kLength},          {"mm", 1, 1e3, kLength},
    {"cm", 1, 1e2, kLength},       {"km", 1e3, 1, kLength},
    {"um", 1, 1e6, kLength},       {"kg", 1, 1, kMass},
    {"g", 1, 1e3, kMass},          {"t", 1e3, 1, kMass},
    {"N", 1, 1, kForce},           {"kN", 1e3, 1, kForce},
    {"mN", 1, 1e3, kForce},        {"Nm", 1, 1, kTorque},
    {"rad", 1, 1, kAngle},         {"mrad", 1, 1e3, kAngle},
    {"deg", M_PI, 180, kAngle},    {"s", 1, 1, kTime},
    {"ms", 1, 1e3, kTime},         {"min", 60, 1, kTime},
    {"h", 3600, 1, kTime},         {"Hz", 1, 1, kFrequency},
    {"1", 1, 1, kRatio},           {"%", 1, 100, kRatio},
    {"in", 254, 1e4, kLength},     {"ft", 3048, 1e4, kLength},
    {"turn", 2 * M_PI, 1, kAngle}, {"turns", 2 * M_PI, 1, kAngle},
};

struct Named {
  Dimension dimension;
  const char* name;
  const char* units;
};

constexpr Named kNamed[] = {
    {kRatio, "a plain number", ""},
    {kLength, "a length", "m, mm, cm, km, in, ft"},
    {kMass, "a mass", "kg, g"},
    {kAngle, "an angle", "rad, deg, turn"},
    {kTime, "a time", "s, ms, min"},
    {kForce, "a force", "N, kN, mN"},
    {kTorque, "a torque", "N*m, N*mm, mN*m"},
    {kVelocity, "a velocity", "m/s, mm/s"},
    {kAcceleration, "an acceleration", "m/s^2"},
    {kAngularVelocity, "an angular velocity", "rad/s, deg/s"},
    {kInertia, "a moment of inertia", "kg*m^2"},
    {kCurvature, "a curvature", "1/m, 1/mm"},
    {kFrequency, "a frequency", "Hz"},
    {kImpulse, "an impulse", "N*s"},
    {kTurningImpulse, "an angular impulse", "N*m*s"},
    {kTurningDamping, "a damping", "N*m*s/rad"},
    {kSlidingDamping, "a damping", "N*s/m"},
    {kTurningStiffness, "a stiffness", "N*m/rad"},
    {kSlidingStiffness, "a stiffness", "N/m"},
};

const Named* named(const Dimension& dimension) {
  for (const Named& n : kNamed)
    if (n.dimension == dimension) return &n;
  return nullptr;
}

bool is_space(char c) { return c == ' ' || c == '\t'; }

std::string_view trim(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

/// Multiplies by one factor "unit" or "unit^n" of a unit expression; false if it is none.
bool multiply_by(std::string_view factor, int sign, Unit& product) {
  int power = 1;
  const std::size_t caret = factor.find('^');
  if (caret != std::string_view::npos) {
    const std::string_view digits = trim(factor.substr(caret + 1));
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), power);
    // A limit of 9 keeps the exponents of a dimension far from overflow.
    if (error != std::errc{} || end != digits.data() + digits.size() || power < 1 || power > 9) {
      return false;
    }
    factor = factor.substr(0, caret);
  }
  for (const Unit& unit : kUnits) {
    if (trim(factor) != unit.name) continue;
    for (int k = 0; k < power; ++k) {
      product.up *= sign > 0 ? unit.up : unit.down;
      product.down *= sign > 0 ? unit.down : unit.up;
    }
    const int n = sign * power;
    Dimension& d = product.dimension;
    d = {d.m + n * unit.dimension.m, d.kg + n * unit.dimension.kg, d.s + n * unit.dimension.s,
         d.rad + n * unit.dimension.rad};
    return true;
  }
  return false;
}

/// Multiplies the factors of "N*m", "N m", "rad/s", "kg*m^2" together; returns the factor that is
/// unknown, else "".
std::string parse_unit(std::string_view text, Unit& product) {
  // Bounds the echo of an invalid unit in a message.
  constexpr std::size_t kLongestUnit = 40;
  if (text.size() > kLongestUnit) return std::string(text.substr(0, kLongestUnit));
  int sign = 1;
  while (true) {
    text = trim(text);
    const std::size_t end = text.find_first_of("*/ \t");
    const std::string_view factor = text.substr(0, end);
    if (!multiply_by(factor, sign, product)) return factor.empty() ? "*/" : std::string(factor);
    if (end == std::string_view::npos) return {};
    text = trim(text.substr(end));
    sign = text.front() == '/' ? -1 : 1;
    if (text.front() == '*' || text.front() == '/') text = text.substr(1);
  }
}

std::string example(const Dimension& wanted) {
  const std::string unit = si_unit(wanted);
  return unit.empty() ? "Write a number, such as 0.5."
                      : "Write a number with a unit, such as \"0.5 " + unit + "\", or a plain number in " + unit + ".";
}

/// Error that proposes the units that fit `wanted`; all units if none fits or it is null.
Quantity unknown_unit(const std::string& unit, const Dimension* wanted) {
  std::vector<std::string> fitting, names;
  for (const Unit& u : kUnits) {
    names.emplace_back(u.name);
    if (wanted != nullptr && u.dimension == *wanted) fitting.emplace_back(u.name);
  }
  if (!fitting.empty()) names = fitting;
  return {.value = 0,
          .problem = "unknown unit " + quoted(unit),
          .remedy = suggest(unit, names, "Known units, joined by * and /")};
}

}  // namespace

std::string si_unit(const Dimension& dimension) {
  // Derived units by name: "kg*m/s/s" would be correct but unusual.
  if (dimension == kForce) return "N";
  if (dimension == kTorque) return "N*m";
  if (dimension == kImpulse) return "N*s";
  if (dimension == kTurningImpulse) return "N*m*s";
  if (dimension == kTurningDamping) return "N*m*s/rad";
  if (dimension == kSlidingDamping) return "N*s/m";
  if (dimension == kTurningStiffness) return "N*m/rad";
  if (dimension == kSlidingStiffness) return "N/m";
  std::string top, bottom;
  const auto add = [&](const char* name, int power) {
    std::string& side = power > 0 ? top : bottom;
    if (power == 0) return;
    if (!side.empty()) side += power > 0 ? "*" : "/";
    side += name;
    if (std::abs(power) > 1) side.append("^").append(std::to_string(std::abs(power)));
  };
  add("kg", dimension.kg);
  add("m", dimension.m);
  add("rad", dimension.rad);
  add("s", dimension.s);
  if (bottom.empty()) return top;
  return (top.empty() ? "1" : top) + "/" + bottom;
}

std::string describe(const Dimension& dimension) {
  const Named* known = named(dimension);
  if (known == nullptr) return "a quantity in " + si_unit(dimension);
  const std::string units = known->units;
  return units.empty() ? known->name : std::string(known->name) + " (" + units + ")";
}

Quantity parse_any_quantity(std::string_view text, Dimension& found) {
  const std::string_view whole = trim(text);
  const std::size_t end = whole.find_first_of(" \t");
  Unit unit{"", 1, 1, kRatio};
  if (end != std::string_view::npos) {
    const std::string unknown = parse_unit(trim(whole.substr(end)), unit);
    if (!unknown.empty()) return unknown_unit(unknown, nullptr);
  }
  found = unit.dimension;
  return parse_quantity(text, found);
}

Quantity parse_quantity(std::string_view text, const Dimension& wanted) {
  std::string_view rest = trim(text);
  // from_chars takes no plus sign.
  if (rest.starts_with('+')) rest.remove_prefix(1);
  Quantity q;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), q.value);
  if (error != std::errc{} || !std::isfinite(q.value)) {
    return {
        .value = 0, .problem = "expected " + describe(wanted) + ", found " + quoted(text), .remedy = example(wanted)};
  }
  rest = trim(rest.substr(static_cast<std::size_t>(end - rest.data())));
  Unit unit{"", 1, 1, kRatio};
  if (rest.empty()) {
    // A string must have a unit, because its author may not mean SI. Plain numbers are SI.
    if (wanted == kRatio) return q;
    return {.value = 0, .problem = "the unit is missing in " + quoted(text), .remedy = example(wanted)};
  }
  const std::string unknown = parse_unit(rest, unit);
  if (!unknown.empty()) return unknown_unit(unknown, &wanted);
  if (unit.dimension != wanted) {
    return {.value = 0,
            .problem = "expected " + describe(wanted) + ", found " + describe(unit.dimension) + ": " + quoted(text),
            .remedy = example(wanted)};
  }
  q.value = q.value * unit.up / unit.down;
  // A finite number may overflow by its unit.
  if (!std::isfinite(q.value)) q.problem = "the number is too large";
  return q;
}

}  // namespace garra::io
