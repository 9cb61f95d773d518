// Values and distributions in TOML: a quantity, or a table such as { normal = [mean, sd], min =
// ..., max = ... }.
#pragma once

#include <limits>
#include <string>

#include "base/files/toml_reader.hpp"
#include "garra/study/distribution.hpp"

namespace garra::io {

/// Limits that any draw must satisfy: low <= value <= high, low < value if `above_low`.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;

  [[nodiscard]] static Bounds any() { return {}; }
  [[nodiscard]] static Bounds not_negative() { return {.low = 0}; }
  [[nodiscard]] static Bounds positive() { return {.low = 0, .above_low = true}; }
};

/// Requirements on a key's value: dimension, bounds, allowed forms.
struct Wanted {
  Dimension dimension;
  Bounds bounds = Bounds::any();
  bool cone = false;  ///< { cone_uniform = angle } is allowed
};

/// "above 0 kg and at most 3 kg"; "" without bounds.
[[nodiscard]] std::string in_words(const Wanted& wanted);

/// Throws if a draw could violate the bounds: a normal distribution needs a `min` if one of the 2^52 uniform numbers
/// reaches below.
[[nodiscard]] study::Distribution read_distribution(const Node& node, const std::string& key, const Wanted& wanted);

/// A value that must lie within bounds.
[[nodiscard]] double read_bounded(const Node& node, const std::string& key, const Wanted& wanted);

/// The distribution of factor * X.
[[nodiscard]] study::Distribution scaled(study::Distribution d, double factor);
/// Whether `shifted` can express X + offset.
[[nodiscard]] bool can_shift(const study::Distribution& d);
[[nodiscard]] study::Distribution shifted(study::Distribution d, double offset);

}  // namespace garra::io
