#include "garra/study/exact_sum.hpp"

#include <bit>
#include <cmath>

namespace garra::study {

namespace {

enum NotFinite : int { kNan = 1, kInfinite = 2, kMinusInfinite = 4 };

}  // namespace

void ExactSum::add(double x) {
  if (!std::isfinite(x)) {
    not_finite_ |= std::isnan(x) ? kNan : x > 0 ? kInfinite : kMinusInfinite;
    return;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto exponent = static_cast<int>(bits >> 52 & 0x7ff);
  // A subnormal number has the exponent of the smallest normal ones, but no leading one.
  const std::uint64_t mantissa = (bits & 0xfffffffffffff) | (exponent > 0 ? std::uint64_t{1} << 52 : 0);
  const int place = exponent > 0 ? exponent - 1 : 0;
  auto shifted = static_cast<unsigned __int128>(mantissa) << (place % kBits);
  const std::int64_t sign = std::signbit(x) ? -1 : 1;
  for (int k = place / kBits; shifted != 0; ++k, shifted >>= kBits)
    word_[static_cast<std::size_t>(k)] += sign * static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted) & kMask);
  if (++pending_ == kMaxPending) carry();
}

void ExactSum::add(const ExactSum& other) {
  ExactSum carried = other;
  carried.carry();
  carry();
  for (std::size_t k = 0; k < kWords; ++k) word_[k] += carried.word_[k];
  not_finite_ |= other.not_finite_;
  carry();
}

/// Normalizes: afterwards each word but the last is in [0, 2^32), so that a sum has one form.
void ExactSum::carry() {
  for (std::size_t k = 0; k + 1 < kWords; ++k) {
    word_[k + 1] += word_[k] >> kBits;  // rounds down, also below zero
    word_[k] &= kMask;
  }
  pending_ = 0;
}

double ExactSum::value() const {
  const bool up = (not_finite_ & kInfinite) != 0, down = (not_finite_ & kMinusInfinite) != 0;
  if ((not_finite_ & kNan) != 0 || (up && down)) return std::numeric_limits<double>::quiet_NaN();
  if (up || down) return up ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  ExactSum sum = *this;
  sum.carry();
  const bool negative = sum.word_.back() < 0;
  if (negative) {
    for (std::int64_t& w : sum.word_) w = -w;
    sum.carry();
  }
  int top = kWords - 1;
  while (top >= 0 && sum.word_[static_cast<std::size_t>(top)] == 0) --top;
  if (top < 0) return 0;
  // Takes the first 64 bits from the leading one on, and whether any bits follow.
  const auto word = [&](int k) {
    return k < 0 ? std::uint64_t{0} : static_cast<std::uint64_t>(sum.word_[static_cast<std::size_t>(k)]);
  };
  const int leading = std::countl_zero(word(top));
  // The last word may have more than 32 bits.
  const unsigned __int128 window = static_cast<unsigned __int128>(word(top)) << 64 |
                                   static_cast<unsigned __int128>(word(top - 1)) << 32 | word(top - 2);
  auto first = static_cast<std::uint64_t>(window >> (64 - leading));
  bool rest = (window & ((static_cast<unsigned __int128>(1) << (64 - leading)) - 1)) != 0;
  for (int k = top - 3; k >= 0 && !rest; --k) rest = word(k) != 0;
  // Keeps 53 bits. A sum below the smallest normal number has at most 52, so none is lost there.
  const std::uint64_t lost = first & 0x7ff, half = 0x400;
  first >>= 11;
  const bool round_up = lost > half || (lost == half && (rest || (first & 1) != 0));
  const double magnitude =
      std::ldexp(static_cast<double>(first + (round_up ? 1 : 0)), kBits * top - 1074 + (64 - leading) - 53);
  return negative ? -magnitude : magnitude;
}

std::vector<std::int64_t> ExactSum::words() const {
  ExactSum sum = *this;
  sum.carry();
  std::size_t first = 0, end = kWords;
  while (first < kWords && sum.word_[first] == 0) ++first;
  if (first == kWords) return {not_finite_, 0};
  while (sum.word_[end - 1] == 0) --end;
  // The leading ones of a small negative sum represent its sign; the last shown word takes it over.
  while (end > first + 1 && sum.word_[end - 1] == (end == kWords ? -1 : kMask) && sum.word_.back() < 0) --end;
  std::vector<std::int64_t> list = {not_finite_, static_cast<std::int64_t>(first)};
  list.insert(list.end(), sum.word_.begin() + static_cast<std::ptrdiff_t>(first),
              sum.word_.begin() + static_cast<std::ptrdiff_t>(end));
  if (sum.word_.back() < 0 && end < kWords) list.back() -= kMask + 1;
  return list;
}

std::optional<ExactSum> ExactSum::of(const std::vector<std::int64_t>& words) {
  if (words.size() < 2 || words[0] < 0 || words[0] > 7 || words[1] < 0 ||
      words.size() - 2 > static_cast<std::size_t>(kWords) ||
      words[1] > kWords - static_cast<std::int64_t>(words.size() - 2))
    return std::nullopt;
  ExactSum sum;
  sum.not_finite_ = static_cast<int>(words[0]);
  for (std::size_t k = 2; k < words.size(); ++k) {
    // Larger words could overflow in additions.
    if (words[k] < -(kMask + 1) * 4096 || words[k] > kMask * 4096) return std::nullopt;
    sum.word_[static_cast<std::size_t>(words[1]) + k - 2] = words[k];
  }
  // A sum has one form: any other was not written by garra.
  return sum.words() == words ? std::optional(sum) : std::nullopt;
}

}  // namespace garra::study
