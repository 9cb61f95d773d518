// What the instructions compute. Each is the PTX manual's sentence about it, in C++; where the two languages differ
// (shifts by more than the width, conversions out of range, minima of NaN, division by zero) the manual holds.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

#include "text.hpp"
#include "warp.hpp"

namespace simulated_gpu {

namespace {

template <class T>
T get(Word word) {
  if constexpr (std::is_same_v<T, double>) return std::bit_cast<double>(word);
  if constexpr (std::is_same_v<T, float>) return std::bit_cast<float>(static_cast<std::uint32_t>(word));
  if constexpr (std::is_integral_v<T>) return static_cast<T>(word);
}

template <class T>
Word put(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return Word{0} - static_cast<Word>(value);  // a predicate
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<Word>(value);
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<std::uint32_t>(value);
  else
    return static_cast<std::make_unsigned_t<T>>(value);
}

template <class T, auto F>
void one(Warp& w, const Instruction& i) {
  const Words& a = w.read(i.a);
  w.write(i.to, [&](int k) { return put(F(get<T>(a.at[k]))); });
}
template <class T, auto F>
void two(Warp& w, const Instruction& i) {
  const Words &a = w.read(i.a), &b = w.read(i.b);
  w.write(i.to, [&](int k) { return put(F(get<T>(a.at[k]), get<T>(b.at[k]))); });
}
template <class T, auto F>
void three(Warp& w, const Instruction& i) {
  const Words &a = w.read(i.a), &b = w.read(i.b), &c = w.read(i.c);
  w.write(i.to, [&](int k) { return put(F(get<T>(a.at[k]), get<T>(b.at[k]), get<T>(c.at[k]))); });
}
/// The last operand has another type.
template <class T, class Last, auto F>
void two_and(Warp& w, const Instruction& i) {
  const Words &a = w.read(i.a), &b = w.read(i.b), &c = w.read(i.c);
  w.write(i.to, [&](int k) { return put(F(get<T>(a.at[k]), get<T>(b.at[k]), get<Last>(c.at[k]))); });
}
template <class T, class Last, auto F>
void one_and(Warp& w, const Instruction& i) {
  const Words &a = w.read(i.a), &b = w.read(i.b);
  w.write(i.to, [&](int k) { return put(F(get<T>(a.at[k]), get<Last>(b.at[k]))); });
}

using Table = std::map<std::string, Run, std::less<>>;

Run& entry(Table& table, const char* name, const char* type) { return table[std::string(name) + "." + type]; }

// Floating point: everything rounds to nearest, nothing flushes subnormal numbers.

template <class T>
T least(T a, T b) {  // the number where the other is NaN; -0 is below +0
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T greatest(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <class T>
void add_floating(Table& table, const char* type) {
  const auto at = [&](const char* name) -> Run& { return entry(table, name, type); };
  at("add.rn") = at("add") = two<T, [](T a, T b) { return a + b; }>;
  at("sub.rn") = at("sub") = two<T, [](T a, T b) { return a - b; }>;
  at("mul.rn") = at("mul") = two<T, [](T a, T b) { return a * b; }>;
  at("div.rn") = two<T, [](T a, T b) { return a / b; }>;
  at("fma.rn") = three<T, [](T a, T b, T c) { return std::fma(a, b, c); }>;
  at("sqrt.rn") = one<T, [](T a) { return std::sqrt(a); }>;
  at("rcp.rn") = one<T, [](T a) { return T(1) / a; }>;
  at("neg") = one<T, [](T a) { return -a; }>;
  at("abs") = one<T, [](T a) { return std::fabs(a); }>;
  at("min") = two<T, [](T a, T b) { return least(a, b); }>;
  at("max") = two<T, [](T a, T b) { return greatest(a, b); }>;
  at("copysign") = two<T, [](T a, T b) { return std::copysign(b, a); }>;  // the sign of the first
}

// Integers.

template <class T>
std::make_unsigned_t<T> bare(T a) {
  return static_cast<std::make_unsigned_t<T>>(a);
}
template <class T>
using Wide = std::conditional_t<
    std::is_signed_v<T>,
    std::conditional_t<sizeof(T) == 2, std::int32_t, std::conditional_t<sizeof(T) == 4, std::int64_t, __int128>>,
    std::conditional_t<sizeof(T) == 2, std::uint32_t,
                       std::conditional_t<sizeof(T) == 4, std::uint64_t, unsigned __int128>>>;

template <class T>
T upper_half(T a, T b) {
  return static_cast<T>((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T)));
}
template <class T>
T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(~T(0));
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return static_cast<T>(0 - bare(a));
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}
template <class T>
T low_product(T a, T b) {
  return static_cast<T>(std::uint64_t(bare(a)) * std::uint64_t(bare(b)));
}
template <class T>
T sum(T a, T b) {
  return static_cast<T>(std::uint64_t(bare(a)) + std::uint64_t(bare(b)));
}
template <class T>
T difference(T a, T b) {
  return static_cast<T>(std::uint64_t(bare(a)) - std::uint64_t(bare(b)));
}
template <class T>
T to_left(T a, std::uint32_t n) {
  return n >= 8 * sizeof(T) ? T(0) : static_cast<T>(std::uint64_t(bare(a)) << n);
}
template <class T>
T to_right(T a, std::uint32_t n) {
  const std::uint32_t most = 8 * sizeof(T) - 1;
  if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> std::min(n, most));
  return n > most ? T(0) : static_cast<T>(a >> std::min(n, most));
}

class Integers {
 public:
  explicit Integers(Table& table) : table_(table) {
    add<std::int16_t>("s16"), add<std::uint16_t>("u16");
    add<std::int32_t>("s32"), add<std::uint32_t>("u32");
    add<std::int64_t>("s64"), add<std::uint64_t>("u64");
    add_bits<std::uint16_t>("b16"), add_bits<std::uint32_t>("b32"), add_bits<std::uint64_t>("b64");
    add_wide<std::int16_t>("s16"), add_wide<std::uint16_t>("u16");
    add_wide<std::int32_t>("s32"), add_wide<std::uint32_t>("u32");
  }

 private:
  Run& at(const char* name, const char* type) { return entry(table_, name, type); }

  template <class T>
  void add(const char* type) {
    at("add", type) = two<T, [](T a, T b) { return sum(a, b); }>;
    at("sub", type) = two<T, [](T a, T b) { return difference(a, b); }>;
    at("mul.lo", type) = two<T, [](T a, T b) { return low_product(a, b); }>;
    at("mul.hi", type) = two<T, [](T a, T b) { return upper_half(a, b); }>;
    at("mad.lo", type) = three<T, [](T a, T b, T c) { return sum(low_product(a, b), c); }>;
    at("mad.hi", type) = three<T, [](T a, T b, T c) { return sum(upper_half(a, b), c); }>;
    at("div", type) = two<T, [](T a, T b) { return quotient(a, b); }>;
    at("rem", type) = two<T, [](T a, T b) { return remainder(a, b); }>;
    at("min", type) = two<T, [](T a, T b) { return std::min(a, b); }>;
    at("max", type) = two<T, [](T a, T b) { return std::max(a, b); }>;
    at("shr", type) = one_and<T, std::uint32_t, [](T a, std::uint32_t n) { return to_right(a, n); }>;
    at("neg", type) = one<T, [](T a) { return difference(T(0), a); }>;
    at("abs", type) = one<T, [](T a) { return a < T(0) ? difference(T(0), a) : a; }>;
    if constexpr (!std::is_signed_v<T> && sizeof(T) >= 4) {
      at("bfe", type) = &cut<T>;
    }
  }

  template <class T>
  void add_bits(const char* type) {
    at("shl", type) = one_and<T, std::uint32_t, [](T a, std::uint32_t n) { return to_left(a, n); }>;
    at("shr", type) = one_and<T, std::uint32_t, [](T a, std::uint32_t n) { return to_right(a, n); }>;
    at("not", type) = one<T, [](T a) { return static_cast<T>(~a); }>;
    if constexpr (sizeof(T) >= 4) {
      at("popc", type) = one<T, [](T a) { return static_cast<std::uint32_t>(std::popcount(a)); }>;
      at("clz", type) = one<T, [](T a) { return static_cast<std::uint32_t>(std::countl_zero(a)); }>;
      at("brev", type) = one<T, [](T a) {
        T reversed = 0;
        for (unsigned k = 0; k < 8 * sizeof(T); ++k)
          reversed |= static_cast<T>((a >> k & 1) << (8 * sizeof(T) - 1 - k));
        return reversed;
      }>;
    }
  }

  template <class T>
  void add_wide(const char* type) {
    at("mul.wide", type) = two<T, [](T a, T b) { return static_cast<Wide<T>>(Wide<T>(a) * Wide<T>(b)); }>;
    at("mad.wide", type) =
        two_and<T, Wide<T>, [](T a, T b, Wide<T> c) { return sum<Wide<T>>(Wide<T>(a) * Wide<T>(b), c); }>;
  }

  /// Bits from b on, c of them.
  template <class T>
  static void cut(Warp& w, const Instruction& i) {
    const Words &a = w.read(i.a), &b = w.read(i.b), &c = w.read(i.c);
    w.write(i.to, [&](int k) {
      const auto first = static_cast<std::uint32_t>(b.at[k] & 255u), count = static_cast<std::uint32_t>(c.at[k] & 255u);
      const T rest = to_right(get<T>(a.at[k]), first);
      return put(count >= 8 * sizeof(T) ? rest : static_cast<T>(rest & ((T(1) << count) - 1)));
    });
  }

  Table& table_;
};

std::uint32_t logic(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::int64_t table) {
  std::uint32_t out = 0;
  for (int k = 0; k < 8; ++k)
    if (table >> k & 1) out |= ((k & 4) ? a : ~a) & ((k & 2) ? b : ~b) & ((k & 1) ? c : ~c);
  return out;
}

std::uint32_t permute(std::uint32_t a, std::uint32_t b, std::uint32_t selection) {
  const std::uint64_t both = std::uint64_t(b) << 32 | a;
  std::uint32_t out = 0;
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t pick = selection >> (4 * k) & 15u;
    std::uint32_t byte = static_cast<std::uint32_t>(both >> (8 * (pick & 7u))) & 255u;
    if (pick & 8u) byte = (byte & 128u) ? 255u : 0u;  // its sign only
    out |= byte << (8 * k);
  }
  return out;
}

template <bool kLeft, bool kWrap>
std::uint32_t funnel(std::uint32_t low, std::uint32_t high, std::uint32_t n) {
  n = kWrap ? n & 31u : std::min(n, 32u);
  const std::uint64_t both = std::uint64_t(high) << 32 | low;
  return static_cast<std::uint32_t>(kLeft ? both << n >> 32 : both >> n);
}

void move(Warp& w, const Instruction& i) {
  const Words& a = w.read(i.a);
  w.write(i.to, [&](int k) { return a.at[k]; });
}
void select(Warp& w, const Instruction& i) {
  const Words &a = w.read(i.a), &b = w.read(i.b), &c = w.read(i.c);
  w.write(i.to, [&](int k) { return (a.at[k] & c.at[k]) | (b.at[k] & ~c.at[k]); });
}
void three_bits(Warp& w, const Instruction& i) {
  const Words &a = w.read(i.a), &b = w.read(i.b), &c = w.read(i.c);
  w.write(i.to, [&](int k) {
    return Word{logic(get<std::uint32_t>(a.at[k]), get<std::uint32_t>(b.at[k]), get<std::uint32_t>(c.at[k]), i.number)};
  });
}

/// The low bits of a in place of some of b.
void insert_bits(Warp& w, const Instruction& i) {
  const Words &a = w.read(i.a), &b = w.read(i.b);
  const std::int64_t first = i.number & 255, count = i.number >> 8;
  const Word all = count >= 64 ? ~Word{0} : (Word{1} << count) - 1, mask = first >= 64 ? 0 : all << first & i.width;
  w.write(i.to, [&](int k) { return (b.at[k] & ~mask) | (a.at[k] << (first & 63) & mask); });
}

Table make_table() {
  Table table;
  add_floating<double>(table, "f64");
  add_floating<float>(table, "f32");
  Integers{table};
  using U = std::uint32_t;
  for (const char* name : {"mov.b16", "mov.b32", "mov.b64", "mov.u16", "mov.u32", "mov.u64", "mov.s16", "mov.s32",
                           "mov.s64", "mov.f32", "mov.f64", "mov.pred"})
    table[name] = move;
  for (const char* name : {"selp.b16", "selp.b32", "selp.b64", "selp.u16", "selp.u32", "selp.u64", "selp.s16",
                           "selp.s32", "selp.s64", "selp.f32", "selp.f64"})
    table[name] = select;
  for (const char* name : {"and.b16", "and.b32", "and.b64", "and.pred"})
    table[name] = two<Word, [](Word a, Word b) { return a & b; }>;
  for (const char* name : {"or.b16", "or.b32", "or.b64", "or.pred"})
    table[name] = two<Word, [](Word a, Word b) { return a | b; }>;
  for (const char* name : {"xor.b16", "xor.b32", "xor.b64", "xor.pred"})
    table[name] = two<Word, [](Word a, Word b) { return a ^ b; }>;
  table["not.pred"] = one<Word, [](Word a) { return ~a; }>;
  table["lop3.b32"] = three_bits;
  table["bfi.b32"] = table["bfi.b64"] = insert_bits;
  table["prmt.b32"] = three<U, [](U a, U b, U c) { return permute(a, b, c); }>;
  table["shf.l.wrap.b32"] = three<U, [](U a, U b, U c) { return funnel<true, true>(a, b, c); }>;
  table["shf.r.wrap.b32"] = three<U, [](U a, U b, U c) { return funnel<false, true>(a, b, c); }>;
  table["shf.l.clamp.b32"] = three<U, [](U a, U b, U c) { return funnel<true, false>(a, b, c); }>;
  table["shf.r.clamp.b32"] = three<U, [](U a, U b, U c) { return funnel<false, false>(a, b, c); }>;
  return table;
}

// Conversions.

Word as_written(std::int64_t value, Word width) { return static_cast<Word>(value) & width; }

template <class From>
void whole_to_whole(Warp& w, const Instruction& i) {  // number: bits of the target's type, negative if it is signed
  const Words& a = w.read(i.a);
  const int bits = static_cast<int>(std::abs(i.number));
  w.write(i.to, [&](int k) {
    auto value = static_cast<std::uint64_t>(static_cast<std::int64_t>(get<From>(a.at[k])));
    if (bits < 64) value <<= 64 - bits;
    const std::int64_t cut = i.number < 0 ? static_cast<std::int64_t>(value) >> (64 - bits)
                                          : static_cast<std::int64_t>(value >> (64 - bits));
    return as_written(cut, i.width);
  });
}
template <class To, class From>
void convert_plain(Warp& w, const Instruction& i) {
  one<From, [](From a) { return static_cast<To>(a); }>(w, i);
}
template <class T, char kWay>
T rounded(T a) {
  if constexpr (kWay == 'n') return std::nearbyint(a);
  if constexpr (kWay == 'z') return std::trunc(a);
  if constexpr (kWay == 'm') return std::floor(a);
  if constexpr (kWay == 'p') return std::ceil(a);
}
template <class To, class From, char kWay>
To to_whole(From a) {  // to the nearest number that there is; NaN is 0
  if (a != a) return 0;
  a = rounded<From, kWay>(a);
  if (a <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (a >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(a);
}

template <class From, char kWay>
Run from_floating(std::string_view to, bool same) {
  if (same) return one<From, [](From a) { return rounded<From, kWay>(a); }>;
  if (to == "s32") return one<From, [](From a) { return to_whole<std::int32_t, From, kWay>(a); }>;
  if (to == "u32") return one<From, [](From a) { return to_whole<std::uint32_t, From, kWay>(a); }>;
  if (to == "s64") return one<From, [](From a) { return to_whole<std::int64_t, From, kWay>(a); }>;
  if (to == "u64") return one<From, [](From a) { return to_whole<std::uint64_t, From, kWay>(a); }>;
  return nullptr;
}
template <class From>
Run from_floating(std::string_view to, std::string_view from, std::string_view rounding) {
  if (rounding == "rni") return from_floating<From, 'n'>(to, to == from);
  if (rounding == "rzi") return from_floating<From, 'z'>(to, to == from);
  if (rounding == "rmi") return from_floating<From, 'm'>(to, to == from);
  if (rounding == "rpi") return from_floating<From, 'p'>(to, to == from);
  return nullptr;
}
template <class To>
Run to_floating(std::string_view from) {
  if (from == "s16") return convert_plain<To, std::int16_t>;
  if (from == "u16") return convert_plain<To, std::uint16_t>;
  if (from == "s32") return convert_plain<To, std::int32_t>;
  if (from == "u32") return convert_plain<To, std::uint32_t>;
  if (from == "s64") return convert_plain<To, std::int64_t>;
  if (from == "u64") return convert_plain<To, std::uint64_t>;
  return nullptr;
}

// Comparisons.

enum class Combined { kNo, kAnd, kOr, kXor };

template <class T, auto F, Combined kCombined>
void compare_and(Warp& w, const Instruction& i) {
  const Words &a = w.read(i.a), &b = w.read(i.b), &c = w.read(kCombined == Combined::kNo ? i.a : i.c);
  w.write(i.to, [&](int k) {
    const Word holds = put(static_cast<bool>(F(get<T>(a.at[k]), get<T>(b.at[k]))));
    if constexpr (kCombined == Combined::kAnd) return holds & c.at[k];
    if constexpr (kCombined == Combined::kOr) return holds | c.at[k];
    if constexpr (kCombined == Combined::kXor) return holds ^ c.at[k];
    return holds;
  });
}
template <class T, auto F>
Run combined_with(std::string_view how) {
  if (how.empty()) return compare_and<T, F, Combined::kNo>;
  if (how == "and") return compare_and<T, F, Combined::kAnd>;
  if (how == "or") return compare_and<T, F, Combined::kOr>;
  if (how == "xor") return compare_and<T, F, Combined::kXor>;
  return nullptr;
}
/// "lt" is false with a NaN, "ltu" true.
template <class T>
Run relation(std::string_view name, std::string_view how) {
  if (name == "eq") return combined_with<T, [](T a, T b) { return a == b; }>(how);
  if (name == "lt" || name == "lo") return combined_with<T, [](T a, T b) { return a < b; }>(how);
  if (name == "le" || name == "ls") return combined_with<T, [](T a, T b) { return a <= b; }>(how);
  if (name == "gt" || name == "hi") return combined_with<T, [](T a, T b) { return (a > b); }>(how);
  if (name == "ge" || name == "hs") return combined_with<T, [](T a, T b) { return a >= b; }>(how);
  if constexpr (std::is_floating_point_v<T>) {
    if (name == "ne") return combined_with<T, [](T a, T b) { return (a < b || a > b); }>(how);
    if (name == "equ") return combined_with<T, [](T a, T b) { return !(a < b || a > b); }>(how);
    if (name == "neu") return combined_with<T, [](T a, T b) { return !(a == b); }>(how);
    if (name == "ltu") return combined_with<T, [](T a, T b) { return !(a >= b); }>(how);
    if (name == "leu") return combined_with<T, [](T a, T b) { return !(a > b); }>(how);
    if (name == "gtu") return combined_with<T, [](T a, T b) { return !(a <= b); }>(how);
    if (name == "geu") return combined_with<T, [](T a, T b) { return !(a < b); }>(how);
    if (name == "num") return combined_with<T, [](T a, T b) { return a == a && b == b; }>(how);
    if (name == "nan") return combined_with<T, [](T a, T b) { return a != a || b != b; }>(how);
  } else {
    if (name == "ne") return combined_with<T, [](T a, T b) { return a != b; }>(how);
  }
  return nullptr;
}

// Moving parts of registers, and what a thread knows of itself.

void take_bits(Warp& w, const Instruction& i) {
  const Words& a = w.read(i.a);
  w.write(i.to, [&](int k) { return a.at[k] >> i.number & i.width; });
}
void join_bits(Warp& w, const Instruction& i) {
  const Words &a = w.read(i.a), &b = w.read(i.b);
  w.write(i.to, [&](int k) { return a.at[k] | b.at[k] << i.number; });
}
void address_in_frame(Warp& w, const Instruction& i) {
  w.write(i.to, [&](int) { return kLocal + static_cast<Word>(w.frame + i.number); });
}
template <auto F>
void count_votes(Warp& w, const Instruction& i) {
  const Words &masks = w.read(i.a), &so = w.read(i.b);
  std::uint32_t set = 0;
  for (int k = 0; k < kLanes; ++k) set |= static_cast<std::uint32_t>(so.at[k] & 1u) << k;
  w.write(i.to, [&](int k) {
    const std::uint32_t voters = w.active & static_cast<std::uint32_t>(masks.at[k]);
    return put(F(set & voters, voters));
  });
}

/// Which thread `lane` reads, and whether it is within the limits; else it reads itself.
template <char kWay>
std::pair<int, bool> source(int lane, Word how) {
  const int step = static_cast<int>(how & 31u), clamp = static_cast<int>(how >> 32 & 31u),
            segment = static_cast<int>(how >> 40 & 31u), first = lane & segment, most = first | (clamp & ~segment);
  const int from = kWay == 'u'   ? lane - step
                   : kWay == 'd' ? lane + step
                   : kWay == 'b' ? lane ^ step
                                 : first | (step & ~segment);
  const bool is_there = kWay == 'u' ? from >= most : from <= most;
  return {is_there ? from : lane, is_there};
}
template <char kWay>
void take_from_lane(Warp& w, const Instruction& i) {
  const Words value = w.read(i.b), &how = w.read(i.c);
  w.write(i.to, [&](int k) {
    const int from = source<kWay>(k, how.at[k]).first;
    return w.active >> from & 1u ? value.at[from] : i.width;  // of a thread that takes no part: no number
  });
}
template <char kWay>
void is_lane_there(Warp& w, const Instruction& i) {
  const Words& how = w.read(i.a);
  w.write(i.to, [&](int k) { return put(source<kWay>(k, how.at[k]).second); });
}
void run_others(Warp& w, const Instruction&) { w.let_others_run(); }
void end_by_trap(Warp& w, const Instruction&) {
  if (w.active != 0) throw Fault("a thread ended its kernel by a trap");
}
template <auto F>
void of_place(Warp& w, const Instruction& i) {
  w.write(i.to, [&](int k) { return Word{F(w.place, static_cast<std::uint32_t>(k))}; });
}

}  // namespace

Run operation(std::string_view name) {
  static const Table table = make_table();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

Run convert(std::string_view to, std::string_view from, std::string_view rounding) {
  const Type target = type_of(to), source = type_of(from);
  if (source.is_float() && target.is_float() && to != from) {
    if (to == "f64") return convert_plain<double, float>;
    return rounding == "rn" ? convert_plain<float, double> : nullptr;
  }
  if (from == "f64") return from_floating<double>(to, from, rounding);
  if (from == "f32") return from_floating<float>(to, from, rounding);
  if (to == "f64") return rounding == "rn" ? to_floating<double>(from) : nullptr;
  if (to == "f32") return rounding == "rn" ? to_floating<float>(from) : nullptr;
  if (from == "s8") return whole_to_whole<std::int8_t>;
  if (from == "u8") return whole_to_whole<std::uint8_t>;
  if (from == "s16") return whole_to_whole<std::int16_t>;
  if (from == "u16") return whole_to_whole<std::uint16_t>;
  if (from == "s32") return whole_to_whole<std::int32_t>;
  if (from == "u32") return whole_to_whole<std::uint32_t>;
  return whole_to_whole<std::int64_t>;
}

Run compare(std::string_view relation_name, std::string_view type, std::string_view combined) {
  if (type == "f64") return relation<double>(relation_name, combined);
  if (type == "f32") return relation<float>(relation_name, combined);
  if (type == "s16") return relation<std::int16_t>(relation_name, combined);
  if (type == "s32") return relation<std::int32_t>(relation_name, combined);
  if (type == "s64") return relation<std::int64_t>(relation_name, combined);
  return relation<Word>(relation_name, combined);  // stored zero-extended
}

Run extract() { return take_bits; }
Run combine() { return join_bits; }
Run vote(std::string_view how) {
  using U = std::uint32_t;
  if (how == "any") return count_votes<[](U yes, U) { return yes != 0; }>;
  if (how == "all") return count_votes<[](U yes, U voters) { return yes == voters; }>;
  return how == "ballot" ? count_votes<[](U yes, U) { return yes; }> : nullptr;
}
Run shuffle(std::string_view how) {
  if (how == "up") return take_from_lane<'u'>;
  if (how == "down") return take_from_lane<'d'>;
  if (how == "bfly") return take_from_lane<'b'>;
  return how == "idx" ? take_from_lane<'i'> : nullptr;
}
Run shuffles(std::string_view how) {
  if (how == "up") return is_lane_there<'u'>;
  if (how == "down") return is_lane_there<'d'>;
  return how == "bfly" ? is_lane_there<'b'> : is_lane_there<'i'>;
}
Run let_others_run() { return run_others; }
Run frame_address() { return address_in_frame; }
Run trap() { return end_by_trap; }

Run special(std::string_view name) {
  using K = std::uint32_t;
  if (name == "%tid.x") return of_place<[](const Place& p, K lane) { return p.first_thread + lane; }>;
  if (name == "%ntid.x") return of_place<[](const Place& p, K) { return p.threads; }>;
  if (name == "%ctaid.x") return of_place<[](const Place& p, K) { return p.block; }>;
  if (name == "%nctaid.x") return of_place<[](const Place& p, K) { return p.blocks; }>;
  if (name == "%lanemask_eq") return of_place<[](const Place&, K lane) { return K{1} << lane; }>;
  if (name == "%lanemask_lt") return of_place<[](const Place&, K lane) { return ~(~K{0} << lane); }>;
  if (name == "%lanemask_le") return of_place<[](const Place&, K lane) { return ~(~K{1} << lane); }>;
  if (name == "%lanemask_gt") return of_place<[](const Place&, K lane) { return ~K{1} << lane; }>;
  if (name == "%lanemask_ge") return of_place<[](const Place&, K lane) { return ~K{0} << lane; }>;
  if (name == "%laneid") return of_place<[](const Place&, K lane) { return lane; }>;
  if (name == "%tid.y" || name == "%tid.z" || name == "%ctaid.y" || name == "%ctaid.z")
    return of_place<[](const Place&, K) { return K{0}; }>;
  if (name == "%ntid.y" || name == "%ntid.z" || name == "%nctaid.y" || name == "%nctaid.z")
    return of_place<[](const Place&, K) { return K{1}; }>;
  return nullptr;
}

}  // namespace simulated_gpu
