// Philox4x32-10, the counter-based generator: random numbers as a pure function of (seed, index,
// draw).
//
// J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2,
// 3", SC11, 2011, section 3.3 and table 2. There is no state: sample i has the same bits on every
// executor, thread count and chunk size. The counter holds (index low, index high, draw, 0), the
// key is the seed.
#pragma once

#include "garra/core/scalar.hpp"

namespace garra {

/// One of the four words of a block, per lane of S: 32 bits in an integer of the width of S. The
/// bits above bit 31 are undefined until low_word() has been applied.
template <class S>
using PhiloxWord = BitsOf<S>;

/// Number of the sample that each lane of S works on.
template <class S>
struct SampleIndex {
  PhiloxWord<S> low, high;

  /// Lane l gets first + l.
  static GARRA_HD SampleIndex consecutive(std::uint64_t first) {
    using Word = RealOf<PhiloxWord<S>>;
    const PhiloxWord<S> lane = ScalarTraits<PhiloxWord<S>>::lane_numbers();
    if constexpr (sizeof(Word) == 8) {
      const PhiloxWord<S> index = PhiloxWord<S>(Word(first)) + lane;
      return {index, index >> 32};
    } else {
      const PhiloxWord<S> first_low = PhiloxWord<S>(static_cast<Word>(first));
      const PhiloxWord<S> first_high = PhiloxWord<S>(static_cast<Word>(first >> 32));
      const PhiloxWord<S> low = first_low + lane;
      return {low, select(low < first_low, first_high + PhiloxWord<S>(Word(1)), first_high)};
    }
  }

  /// Lane l gets indices[l]; reads kWidth<S> numbers.
  static GARRA_HD SampleIndex gather(const std::uint64_t* indices) {
    using Word = RealOf<PhiloxWord<S>>;
    if constexpr (kWidth<S> == 1) {
      return {static_cast<Word>(indices[0]), static_cast<Word>(indices[0] >> 32)};
    } else {
      SampleIndex index;
      for (int l = 0; l < kWidth<S>; ++l) {
        index.low.set(l, static_cast<Word>(indices[l]));
        index.high.set(l, static_cast<Word>(indices[l] >> 32));
      }
      return index;
    }
  }
};

/// The two halves of the seed.
struct PhiloxKey {
  std::uint32_t low, high;

  static GARRA_HD PhiloxKey from_seed(std::uint64_t seed) {
    return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  }
};

/// A counter, or the four random words made of it.
template <class S>
struct PhiloxBlock {
  PhiloxWord<S> word[4];
};

/// The word's 32 bits with zeros above.
template <class Word>
GARRA_HD Word low_word(const Word& w) {
  return w & Word(RealOf<Word>(0xffffffffu));
}

/// One round: two 32 x 32 bit products, exchanged. Salmon et al., figure 2 c.
template <class S>
GARRA_HD PhiloxBlock<S> philox_round(const PhiloxBlock<S>& x, const PhiloxKey& key) {
  using Word = PhiloxWord<S>;
  using W = RealOf<Word>;
  const Word m0 = Word(W(0xD2511F53u)), m1 = Word(W(0xCD9E8D57u));
  const Word k0 = Word(W(key.low)), k1 = Word(W(key.high));
  if constexpr (sizeof(W) == 8) {
    const Word p0 = product_of_low_halves(x.word[0], m0);
    const Word p1 = product_of_low_halves(x.word[2], m1);
    return {{(p1 >> 32) ^ x.word[1] ^ k0, p1, (p0 >> 32) ^ x.word[3] ^ k1, p0}};
  } else {
    return {{high_product(x.word[2], m1) ^ x.word[1] ^ k0, x.word[2] * m1, high_product(x.word[0], m0) ^ x.word[3] ^ k1,
             x.word[0] * m0}};
  }
}

/// The ten rounds. Words of the result are clean: nothing above bit 31.
template <class S>
[[nodiscard]] GARRA_HD PhiloxBlock<S> philox(PhiloxBlock<S> x, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    x = philox_round(x, key);
    key.low += 0x9E3779B9u;
    key.high += 0xBB67AE85u;
  }
  for (int k = 0; k < 4; ++k) x.word[k] = low_word(x.word[k]);
  return x;
}

/// Block number `draw` of a sample. Different draws of one sample are independent, as are different
/// samples.
template <class S>
[[nodiscard]] GARRA_HD PhiloxBlock<S> random_block(std::uint64_t seed, const SampleIndex<S>& index,
                                                   std::uint32_t draw) {
  using Word = PhiloxWord<S>;
  using W = RealOf<Word>;
  const PhiloxBlock<S> counter{{index.low, index.high, Word(W(draw)), Word(W(0))}};
  return philox<S>(counter, PhiloxKey::from_seed(seed));
}

/// (k + 1/2) 2^-52 with the 52 random bits k on top of (high, low); float: (k + 1/2) 2^-23 with the
/// top 23 bits of `high`, so that float samples are coarser versions of double samples. Always
/// inside the open interval (0, 1).
template <class S>
[[nodiscard]] GARRA_HD S open_uniform(const PhiloxWord<S>& high, const PhiloxWord<S>& low) {
  using Word = PhiloxWord<S>;
  if constexpr (sizeof(RealOf<S>) == 8) {
    const Word k = (high << 20) | (low >> 12);
    const S one_to_two = from_bits<S>(k | Word(std::uint64_t{0x3ff0000000000000u}));
    return one_to_two - S(1.0 - 0x1p-53);
  } else {
    const S one_to_two = from_bits<S>((high >> 9) | Word(std::uint32_t{0x3f800000u}));
    return one_to_two - S(1.0f - 0x1p-24f);
  }
}

/// Two independent uniform numbers in the open interval (0, 1), from a sample's block `draw`.
template <class S>
GARRA_HD void uniform_pair(std::uint64_t seed, const SampleIndex<S>& index, std::uint32_t draw, S& u0, S& u1) {
  const PhiloxBlock<S> block = random_block<S>(seed, index, draw);
  u0 = open_uniform<S>(block.word[0], block.word[1]);
  u1 = open_uniform<S>(block.word[2], block.word[3]);
}

}  // namespace garra
