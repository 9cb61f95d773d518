// How often a number had which size, for its quantiles: whole numbers, so that they add up in any order without
// changing a bit, and fine enough wherever the values lie (docs/theory/monte-carlo.md, "Quantiles").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "garra/core/hd.hpp"
#include "garra/core/scalar.hpp"

namespace garra::study {

/// The buckets of a number: 128 equal ones in each octave of its size from 2^-40 to 2^40 (9.1e-13 to 1.1e12), on both
/// sides; one for all that is smaller, zero included, and one for all that is larger on either side, infinity included.
/// So a bucket is at most 1/128 as wide as what lies in it is large. They lie in the order of the numbers.
struct BucketGrid {
  static constexpr int kParts = 128, kOctaves = 80, kLowestPower = -40;
  /// A page: an octave, or one of the three others.
  static constexpr int kPages = 2 * kOctaves + 3, kPlaces = kPages * kParts;
  static constexpr int kBelow = 0, kZero = (kOctaves + 1) * kParts, kFirst = kZero + kParts,
                       kAbove = kFirst + kOctaves * kParts;

  /// Of a number that is not NaN. The first bits of a double are its octave and the part of that.
  [[nodiscard]] static GARRA_HD int place(double x) {
    constexpr std::int64_t first = std::int64_t{1023 + kLowestPower} * kParts;
    const auto bits = static_cast<std::uint64_t>(to_bits(x)) & ~(std::uint64_t{1} << 63);
    const std::int64_t size = static_cast<std::int64_t>(bits >> 45) - first;
    if (size < 0) return kZero;
    if (size >= std::int64_t{kOctaves} * kParts) return x > 0 ? kAbove : kBelow;
    return x > 0 ? kFirst + static_cast<int>(size) : kZero - 1 - static_cast<int>(size);
  }
  /// The lower end of a bucket; infinite of kBelow, 0 of kZero.
  [[nodiscard]] static double low(int place);
  /// The upper end; 0 of kZero, infinite of kAbove.
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

  /// As many as there are up to the last one with a count.
  [[nodiscard]] int numbers() const { return static_cast<int>(page_.size()) / BucketGrid::kPages; }
  [[nodiscard]] std::int64_t at(int number, int place) const;
  /// The value below which a share p of the number's values lies: in the bucket where that is, by linear
  /// interpolation, so it is off by at most 1/128 of itself. NaN where that is beyond the octaves, or without values.
  [[nodiscard]] double quantile(int number, double p) const;

  /// The counts of a number that are not zero, in order, before each how many zeros there are: the same for the same
  /// counts.
  [[nodiscard]] std::vector<std::int64_t> runs(int number) const;
  /// Adds what runs() has given; false where it cannot have.
  [[nodiscard]] bool add_runs(int number, const std::vector<std::int64_t>& runs);

  friend bool operator==(const Buckets& a, const Buckets& b);

 private:
  void open(std::size_t page);

  std::vector<std::int32_t> page_;    ///< [number][page]: from 1, where its counts are; 0: it has none
  std::vector<std::int64_t> counts_;  ///< [page in use][part]
};

}  // namespace garra::study
