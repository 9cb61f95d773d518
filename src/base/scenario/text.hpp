// Values of a scenario written back as TOML.
#pragma once

#include <string>

#include "base/files/units.hpp"
#include "garra/core/mat.hpp"
#include "garra/study/distribution.hpp"

namespace garra::io {

/// In SI units; an angle in degrees if that takes fewer digits for the same number.
[[nodiscard]] std::string text(double value, const Dimension& dimension);
[[nodiscard]] std::string text(const study::Distribution& d, const Dimension& dimension);
/// "[a, b, ...]"
template <class Values>
[[nodiscard]] std::string list(const Values& values, int count, const Dimension& dimension) {
  std::string out = "[";
  for (int i = 0; i < count; ++i) out += (i == 0 ? "" : ", ") + text(values[i], dimension);
  return out + "]";
}
[[nodiscard]] inline std::string text(const Vec3<double>& v, const Dimension& dimension) {
  return list(v, 3, dimension);
}
[[nodiscard]] inline std::string text(const study::Distribution (&d)[3], const Dimension& dimension) {
  return list(d, 3, dimension);
}
[[nodiscard]] std::string text(bool value);
/// In double quotes.
[[nodiscard]] std::string text(const std::string& value);

/// Writer of lines "key = value  # unit" in tables, or all in one line, { key = value, ... }.
class Writer {
 public:
  explicit Writer(bool in_one_line = false) : in_one_line_(in_one_line) {}
  void table(const std::string& name) { out_ += (out_.empty() ? "[" : "\n[") + name + "]\n"; }
  void line(const std::string& key, const std::string& value, const std::string& comment = {}) {
    if (in_one_line_)
      out_ += (out_.empty() ? "{ " : ", ") + key + " = " + value;
    else
      out_ += key + " = " + value + (comment.empty() ? "" : "  # " + comment) + "\n";
  }
  template <class Value>
  void quantity(const std::string& key, const Value& value, const Dimension& dimension) {
    line(key, text(value, dimension), si_unit(dimension));
  }
  [[nodiscard]] std::string take() { return in_one_line_ && !out_.empty() ? out_ + " }" : std::move(out_); }

 private:
  bool in_one_line_;
  std::string out_;
};

}  // namespace garra::io
