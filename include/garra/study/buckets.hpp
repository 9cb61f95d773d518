// Counts of a number's values by size, for its quantiles: whole numbers, which add up in any order
// to the bit, with a fine resolution at every magnitude (docs/theory/monte-carlo.md, "Quantiles").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "garra/core/hd.hpp"
#include "garra/core/scalar.hpp"

namespace garra::study {

/// The buckets of a number, in the order of the numbers: 128 equal ones in each octave of its
/// magnitude from 2^-40 to 2^40 (9.1e-13 to 1.1e12), on both sides. One bucket holds all smaller
/// values, zero included; one on either side holds all larger values, infinity included. A bucket
/// is at most 1/128 as wide as the values in it are large.
struct BucketGrid {
  static constexpr int kParts = 128, kOctaves = 80, kLowestPower = -40;
  /// A page of buckets: an octave, or one of the three others.
  static constexpr int kPages = 2 * kOctaves + 3, kPlaces = kPages * kParts;
  static constexpr int kBelow = 0, kZero = (kOctaves + 1) * kParts, kFirst = kZero + kParts,
                       kAbove = kFirst + kOctaves * kParts;

  /// Bucket of a number that is not NaN: the first bits of a double are its octave and the part of
  /// the octave.
  [[nodiscard]] static GARRA_HD int place(double x) {
    constexpr std::int64_t first = std::int64_t{1023 + kLowestPower} * kParts;
    const auto bits = static_cast<std::uint64_t>(to_bits(x)) & ~(std::uint64_t{1} << 63);
    const std::int64_t size = static_cast<std::int64_t>(bits >> 45) - first;
    if (size < 0) return kZero;
    if (size >= std::int64_t{kOctaves} * kParts) return x > 0 ? kAbove : kBelow;
    return x > 0 ? kFirst + static_cast<int>(size) : kZero - 1 - static_cast<int>(size);
  }
  /// The lower end of a bucket; infinite for kBelow, 0 for kZero.
  [[nodiscard]] static double low(int place);
  /// The upper end of a bucket; 0 for kZero, infinite for kAbove.
  [[nodiscard]] static double high(int place);
};

/// Counts of the buckets of several numbers. Only pages in use take memory: 1 kB an octave.
class Buckets {
 public:
  /// NaN is not counted.
  void add(int number, double x) {
    if (x == x) add_at(number, BucketGrid::place(x), 1);
  }
  void add_at(int number, int place, std::int64_t n) {
    const auto at =
        static_cast<std::size_t>(number) * BucketGrid::kPages + static_cast<std::size_t>(place / BucketGrid::kParts);
    if (at >= page_.size() || page_[at] == 0) open(at);
    counts_[static_cast<std::size_t>(page_[at] - 1) * BucketGrid::kParts +
            static_cast<std::size_t>(place % BucketGrid::kParts)] += n;
  }
  void add(const Buckets& other);

  /// How many numbers there are, up to the last one with a count.
  [[nodiscard]] int numbers() const { return static_cast<int>(page_.size()) / BucketGrid::kPages; }
  [[nodiscard]] std::int64_t at(int number, int place) const;
  /// The value below which a share p of the number's values lies, by linear interpolation in its
  /// bucket; the relative error is at most 1/128. NaN beyond the octaves, or without values.
  [[nodiscard]] double quantile(int number, double p) const;

  /// The nonzero counts of a number, in order, each preceded by the number of zeros before it:
  /// equal for equal counts.
  [[nodiscard]] std::vector<std::int64_t> runs(int number) const;
  /// Adds the result of runs(); false if `runs` is malformed.
  [[nodiscard]] bool add_runs(int number, const std::vector<std::int64_t>& runs);

  friend bool operator==(const Buckets& a, const Buckets& b);

 private:
  void open(std::size_t page);

  std::vector<std::int32_t> page_;    ///< [number][page]: index of its counts, from 1; 0: page unused
  std::vector<std::int64_t> counts_;  ///< [page in use][part]
};

}  // namespace garra::study
