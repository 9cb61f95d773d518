#include "base/scenario/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/files/number.hpp"

namespace garra::io {

namespace {

using study::Distribution;
using Kind = Distribution::Kind;

std::string kind_name(Kind kind) {
  switch (kind) {
    case Kind::kUniform:
      return "uniform";
    case Kind::kNormal:
      return "normal";
    case Kind::kLognormal:
      return "lognormal";
    case Kind::kConeAngle:
      return "cone_uniform";
    case Kind::kConstant:
    case Kind::kBallRadius:
      break;
  }
  return "";
}

/// The limit below which the untruncated distribution has this probability, in few digits if these suffice.
double limit_at(const Distribution& whole, double probability) {
  const double exact = quantile(whole, probability);
  for (int digits = 2; digits < 17; ++digits) {
    const double few = rounded(exact, digits);
    if (whole.probability_below(few) == probability) return few;
  }
  return exact;
}

std::string limits(const Distribution& d, const Dimension& dimension) {
  Distribution whole = d;
  whole.low = 0;
  whole.high = 1;
  std::string out;
  if (d.low > 0) out += ", min = " + text(limit_at(whole, d.low), dimension);
  if (d.high < 1) out += ", max = " + text(limit_at(whole, d.high), dimension);
  return out;
}

}  // namespace

std::string text(double value, const Dimension& dimension) {
  const std::string plain = shortest(value);
  if (dimension.rad != 1) return plain;
  const std::string degrees =
      shortest(std::round(value * 180 / M_PI * 1e9) / 1e9) + (dimension.s != 0 ? " deg/s" : " deg");
  const bool same = parse_quantity(degrees, dimension).value == value;
  return same && value != 0 ? "\"" + degrees + "\"" : plain;
}

std::string text(const Distribution& d, const Dimension& dimension) {
  if (d.is_constant()) return text(d.a, dimension);
  if (d.kind == Kind::kConeAngle) return "{ cone_uniform = " + text(d.a, dimension) + " }";
  const Dimension& second = d.kind == Kind::kLognormal ? kRatio : dimension;
  return "{ " + kind_name(d.kind) + " = [" + text(d.a, dimension) + ", " + text(d.b, second) + "]" +
         limits(d, dimension) + " }";
}

std::string text(bool value) { return value ? "true" : "false"; }

std::string text(const std::string& value) {
  std::string out = "\"";
  // More dots than that are rejected (toml_parse.cpp), so they are escaped.
  constexpr int kManyDots = 16;
  const bool hides_dots = std::count(value.begin(), value.end(), '.') > kManyDots;
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= ' ' && c != 0x7f && !(c == '.' && hides_dots)) {
      out += c;
    } else {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escape;
    }
  }
  return out + "\"";
}

}  // namespace garra::io
