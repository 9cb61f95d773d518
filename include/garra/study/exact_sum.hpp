// Sums of doubles, rounded only when read: order and grouping of the numbers change no bit.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace garra::study {

/// A sum as one long fixed-point number that any double fits into (R. M. Neal, Fast exact summation using small and
/// large superaccumulators, arXiv:1505.05571, the small one). Up to 2^46 of the largest doubles.
class ExactSum {
 public:
  void add(double x);
  void add(const ExactSum& other);
  /// The double nearest to the sum, ties to even. Infinite if the sum is beyond the largest double
  /// or contains infinities of one sign; NaN if it contains a NaN or both infinities.
  [[nodiscard]] double value() const;

  /// The sum as whole numbers, equal for equal sums. The first holds flags of added values that
  /// were not finite (1: NaN, 2: inf, 4: -inf, added up), the second the place of the first nonzero
  /// word. The words up to the last nonzero one follow, 32 bits each, the last one with the sign.
  [[nodiscard]] std::vector<std::int64_t> words() const;
  /// The sum that words() was called on; empty if `words` is malformed.
  [[nodiscard]] static std::optional<ExactSum> of(const std::vector<std::int64_t>& words);

 private:
  /// Bit 0 of word 0 is the smallest double, 2^-1074; the largest one's first bit is 2098 bits above it.
  static constexpr int kWords = 67, kBits = 32;
  static constexpr std::int64_t kMask = (std::int64_t{1} << kBits) - 1;
  /// Each addition puts less than 2^32 into a word of 63 bits.
  static constexpr int kMaxPending = 1 << 30;

  void carry();

  std::array<std::int64_t, kWords> word_{};
  int pending_ = 0;
  int not_finite_ = 0;  ///< bits of words()[0]
};

}  // namespace garra::study
