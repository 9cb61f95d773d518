// The simulated GPU runs PTX as the manual of PTX says: each instruction against numbers worked out by hand or by the
// host's arithmetic, and threads that go different ways, call functions and touch memory that is not theirs.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "machine.hpp"

namespace simulated_gpu {
namespace {

/// What thread i has in %rd9 after `body`: %rd1 is the pointer in the first parameter, %rd2 the second parameter,
/// %r1 the thread.
std::vector<Word> results(const std::string& body, Word second = 0, const std::string& before = "", int threads = 32) {
  Machine m(before + R"(
.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)
.maxntid 64, 1, 1
{
  .local .align 16 .b8 depot[64];
  .reg .pred %p<9>;
  .reg .b16 %rs<9>;
  .reg .b32 %r<19>;
  .reg .f32 %f<9>;
  .reg .f64 %fd<19>;
  .reg .b64 %rd<19>;
  .reg .b64 %SP;
  ld.param.u64 %rd1, [k_param_0];
  ld.param.u64 %rd2, [k_param_1];
  mov.u32 %r1, %tid.x;
)" + body + R"(
  mul.wide.u32 %rd3, %r1, 8;
  add.s64 %rd4, %rd1, %rd3;
  st.global.u64 [%rd4], %rd9;
  ret;
}
)");
  const auto size = static_cast<std::size_t>(threads);
  const std::uint64_t out = m.memory().allocate(size * 8);
  m.run({out, second}, threads);
  const Word* words = m.host<Word>(out, size);
  return {words, words + size};
}

Word result(const std::string& body, Word second = 0) { return results(body, second)[5]; }

std::string hex(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "0d%016llX", static_cast<unsigned long long>(std::bit_cast<Word>(x)));
  return text;
}
/// `instruction` of doubles as it stands, its result as a double.
double real(const std::string& instruction, const std::vector<double>& operands) {
  std::string text = instruction + " %fd9";
  for (double x : operands) text += ", " + hex(x);
  return std::bit_cast<double>(result(text + "; mov.b64 %rd9, %fd9;"));
}
/// `instruction` of 32-bit words.
std::uint32_t whole(const std::string& instruction, const std::vector<std::string>& operands) {
  std::string text = instruction + " %r9";
  for (const std::string& x : operands) text += ", " + x;
  return static_cast<std::uint32_t>(result(text + "; cvt.u64.u32 %rd9, %r9;"));
}
/// `instruction` of 64-bit words.
Word wide(const std::string& instruction, const std::vector<std::string>& operands) {
  std::string text = instruction + " %rd9";
  for (const std::string& x : operands) text += ", " + x;
  return result(text + ";");
}
bool holds(const std::string& relation, double a, double b) {
  return result("setp." + relation + ".f64 %p1, " + hex(a) + ", " + hex(b) + "; selp.u64 %rd9, 1, 0, %p1;") == 1;
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

TEST(Instruction, OfDoublesRoundsOnceAndToNearest) {
  EXPECT_EQ(real("add.rn.f64", {0.1, 0.2}), 0.1 + 0.2);
  EXPECT_EQ(real("sub.rn.f64", {0.1, 0.3}), 0.1 - 0.3);
  EXPECT_EQ(real("mul.rn.f64", {0.1, 0.3}), 0.1 * 0.3);
  EXPECT_EQ(real("div.rn.f64", {1, 49}), 1.0 / 49);
  EXPECT_EQ(real("rcp.rn.f64", {49}), 1.0 / 49);
  EXPECT_EQ(real("sqrt.rn.f64", {2}), std::sqrt(2.0));
  const double a = 1 + std::ldexp(1, -30), exact = std::ldexp(1, -60);  // a * a = 1 + 2^-29 + 2^-60
  EXPECT_EQ(real("fma.rn.f64", {a, a, -(1 + std::ldexp(1, -29))}), exact);
  EXPECT_EQ(real("mul.rn.f64", {std::ldexp(1, -600), std::ldexp(1, -470)}), std::ldexp(1, -1070)) << "subnormal";
}

TEST(Instruction, MinimumAndMaximumPassOverNanAndKnowTheSignOfZero) {
  EXPECT_EQ(real("min.f64", {kNaN, 3}), 3);
  EXPECT_EQ(real("max.f64", {3, kNaN}), 3);
  EXPECT_TRUE(std::isnan(real("min.f64", {kNaN, kNaN})));
  EXPECT_TRUE(std::signbit(real("min.f64", {0.0, -0.0})));
  EXPECT_FALSE(std::signbit(real("max.f64", {-0.0, 0.0})));
  EXPECT_EQ(real("max.f64", {-2, -7}), -2);
  EXPECT_EQ(real("copysign.f64", {-1, 5}), -5) << "the sign of the first operand";
}

TEST(Instruction, ComparisonsWithoutAnOrderAreTrueForNanOnesWithAnOrderFalse) {
  for (const char* ordered : {"lt", "le", "gt", "ge", "eq", "ne"}) EXPECT_FALSE(holds(ordered, kNaN, 1)) << ordered;
  for (const char* any : {"ltu", "leu", "gtu", "geu", "equ", "neu"}) EXPECT_TRUE(holds(any, 1, kNaN)) << any;
  EXPECT_TRUE(holds("lt", 1, 2) && holds("ltu", 1, 2) && !holds("gtu", 1, 2) && holds("neu", 1, 2));
  EXPECT_TRUE(holds("num", 1, 2) && holds("nan", 1, kNaN) && !holds("nan", 1, 2));
  EXPECT_EQ(result("setp.gt.s32 %p1, 3, 2; setp.lt.and.s32 %p2, -1, 1, %p1; selp.u64 %rd9, 7, 8, %p2;"), 7u);
  EXPECT_EQ(result("setp.lt.u32 %p2, -1, 1; selp.u64 %rd9, 7, 8, %p2;"), 8u) << "without a sign";
  EXPECT_EQ(result("setp.gt.s32 %p1, 3, 2; not.pred %p2, %p1; or.pred %p3, %p1, %p2; and.pred %p4, %p1, %p2;"
                   "selp.u64 %rd8, 4, 0, %p3; selp.u64 %rd7, 1, 2, %p4; add.s64 %rd9, %rd8, %rd7;"),
            6u);
}

TEST(Instruction, OfWholeNumbersKeepsItsWidth) {
  EXPECT_EQ(whole("add.s32", {"-1", "1"}), 0u);
  EXPECT_EQ(whole("sub.s32", {"3", "5"}), static_cast<std::uint32_t>(-2));
  EXPECT_EQ(whole("mul.lo.s32", {"65537", "65537"}), 131073u);
  EXPECT_EQ(whole("mul.hi.u32", {"65536", "65536"}), 1u);
  EXPECT_EQ(whole("mul.hi.s32", {"-1", "1"}), ~0u);
  EXPECT_EQ(wide("mul.wide.s32", {"-3", "5"}), static_cast<Word>(-15));
  EXPECT_EQ(wide("mul.wide.u32", {"0xFFFFFFFF", "2"}), 0x1fffffffeull);
  EXPECT_EQ(wide("mul.hi.u64", {"0xFFFFFFFFFFFFFFFF", "16"}), 15u);
  EXPECT_EQ(whole("mad.lo.s32", {"-3", "5", "20"}), 5u);
  EXPECT_EQ(wide("mad.wide.u32", {"3", "5", "0x100000000"}), 0x10000000full) << "the sum has twice the bits";
  EXPECT_EQ(wide("mad.wide.s32", {"-3", "5", "-1"}), static_cast<Word>(-16));
  EXPECT_EQ(whole("div.s32", {"-7", "2"}), static_cast<std::uint32_t>(-3));
  EXPECT_EQ(whole("rem.s32", {"-7", "2"}), static_cast<std::uint32_t>(-1));
  EXPECT_EQ(wide("div.u64", {"17", "5"}), 3u);
  EXPECT_EQ(whole("min.s32", {"-7", "2"}), static_cast<std::uint32_t>(-7));
  EXPECT_EQ(whole("min.u32", {"-7", "2"}), 2u);
  EXPECT_EQ(whole("neg.s32", {"7"}), static_cast<std::uint32_t>(-7));
  EXPECT_EQ(whole("abs.s32", {"-7"}), 7u);
}

/// What thread k has of its neighbors' numbers; 100 more where there was such a neighbor.
std::vector<Word> shuffled(const std::string& how) {
  return results("shfl.sync." + how +
                 ", -1; cvt.u64.u32 %rd8, %r2; selp.u64 %rd7, 100, 0, %p1; add.s64 %rd9, %rd8, %rd7;");
}

TEST(Instruction, ShufflesTakeNumbersOfOtherThreadsOfTheirSegment) {
  const std::vector<Word> down = shuffled("down.b32 %r2|%p1, %r1, 4, 31"), up = shuffled("up.b32 %r2|%p1, %r1, 3, 0"),
                          across = shuffled("bfly.b32 %r2|%p1, %r1, 1, 31"),
                          down_eight = shuffled("down.b32 %r2|%p1, %r1, 4, 0x181f"),  // segments of eight
      fifth = shuffled("idx.b32 %r2|%p1, %r1, 5, 0x181f");
  for (Word k = 0; k < 32; ++k) {
    EXPECT_EQ(down[k], k < 28 ? k + 104 : k);
    EXPECT_EQ(up[k], k >= 3 ? k + 97 : k);
    EXPECT_EQ(across[k], (k ^ 1) + 100);
    EXPECT_EQ(down_eight[k], k % 8 < 4 ? k + 104 : k);
    EXPECT_EQ(fifth[k], k / 8 * 8 + 105);
  }
}

TEST(Instruction, VotesCountTheThreadsOfTheirMask) {
  const std::string few = "setp.lt.u32 %p1, %r1, 5; ";
  EXPECT_EQ(result(few + "vote.sync.ballot.b32 %r2, %p1, -1; cvt.u64.u32 %rd9, %r2;"), 31u);
  EXPECT_EQ(result(few + "vote.sync.any.pred %p2, %p1, -1; selp.u64 %rd9, 1, 0, %p2;"), 1u);
  EXPECT_EQ(result(few + "vote.sync.all.pred %p2, %p1, -1; selp.u64 %rd9, 1, 0, %p2;"), 0u);
  EXPECT_EQ(result("setp.lt.u32 %p1, %r1, 32; vote.sync.all.pred %p2, %p1, -1; selp.u64 %rd9, 1, 0, %p2;"), 1u);
}

TEST(Instruction, KnowsTheThreadsBeforeAndBehind) {
  const auto mask = [](const std::string& name) {
    return result("mov.u32 %r2, %lanemask_" + name + "; cvt.u64.u32 %rd9, %r2;");  // of thread 5
  };
  EXPECT_EQ(mask("eq"), 32u);
  EXPECT_EQ(mask("lt"), 31u);
  EXPECT_EQ(mask("le"), 63u);
  EXPECT_EQ(mask("gt"), 0xffffffc0u);
  EXPECT_EQ(mask("ge"), 0xffffffe0u);
}

TEST(Instruction, OfBits) {
  EXPECT_EQ(whole("shl.b32", {"1", "31"}), 0x80000000u);
  EXPECT_EQ(whole("shl.b32", {"1", "32"}), 0u) << "by the whole width";
  EXPECT_EQ(whole("shr.u32", {"0x80000000", "40"}), 0u);
  EXPECT_EQ(whole("shr.s32", {"-8", "1"}), static_cast<std::uint32_t>(-4));
  EXPECT_EQ(whole("shr.s32", {"-8", "99"}), ~0u);
  EXPECT_EQ(whole("not.b32", {"0"}), ~0u);
  EXPECT_EQ(wide("xor.b64", {"12", "10"}), 6u);
  EXPECT_EQ(whole("popc.b32", {"0xF0F"}), 8u);
  EXPECT_EQ(whole("clz.b32", {"1"}), 31u);
  EXPECT_EQ(whole("brev.b32", {"1"}), 0x80000000u);
  EXPECT_EQ(whole("bfe.u32", {"0xABCD", "4", "8"}), 0xbcu);
  EXPECT_EQ(wide("bfi.b64", {"0xAB", "0x1111111111111111", "4", "8"}), 0x1111111111111ab1u);
  EXPECT_EQ(whole("lop3.b32", {"0xF0", "0xCC", "0xAA", "150"}), 0xf0u ^ 0xccu ^ 0xaau);
  EXPECT_EQ(whole("prmt.b32", {"0x33221100", "0x77665544", "0x7531"}), 0x77553311u);
  EXPECT_EQ(whole("shf.l.wrap.b32", {"0x80000000", "1", "33"}), 3u);
  EXPECT_EQ(whole("shf.r.clamp.b32", {"5", "9", "77"}), 9u);
}

TEST(Instruction, ConversionsRoundSaturateAndKeepSigns) {
  const auto from = [](const std::string& text) { return result(text); };
  EXPECT_EQ(from("cvt.rzi.s32.f64 %r9, " + hex(-2.9) + "; cvt.s64.s32 %rd9, %r9;"), static_cast<Word>(-2));
  EXPECT_EQ(from("cvt.rni.s32.f64 %r9, " + hex(2.5) + "; cvt.s64.s32 %rd9, %r9;"), 2u);
  EXPECT_EQ(from("cvt.rzi.s32.f64 %r9, " + hex(1e30) + "; cvt.s64.s32 %rd9, %r9;"), 2147483647u);
  EXPECT_EQ(from("cvt.rzi.u32.f64 %r9, " + hex(-1) + "; cvt.u64.u32 %rd9, %r9;"), 0u);
  EXPECT_EQ(from("cvt.rzi.s32.f64 %r9, " + hex(kNaN) + "; cvt.s64.s32 %rd9, %r9;"), 0u);
  EXPECT_EQ(real("cvt.rmi.f64.f64", {-2.5}), -3);
  EXPECT_EQ(real("cvt.rpi.f64.f64", {-2.5}), -2);
  EXPECT_EQ(real("cvt.rni.f64.f64", {3.5}), 4);
  EXPECT_EQ(from("cvt.rn.f64.s32 %fd9, -3; mov.b64 %rd9, %fd9;"), std::bit_cast<Word>(-3.0));
  EXPECT_EQ(from("cvt.rn.f64.u64 %fd9, 0xFFFFFFFFFFFFFFFF; mov.b64 %rd9, %fd9;"), std::bit_cast<Word>(0x1p64));
  EXPECT_EQ(from("cvt.rn.f32.f64 %f1, " + hex(0.1) + "; cvt.f64.f32 %fd9, %f1; mov.b64 %rd9, %fd9;"),
            std::bit_cast<Word>(static_cast<double>(0.1f)));
  EXPECT_EQ(from("cvt.u64.u8 %rd9, 511;"), 255u);
  EXPECT_EQ(from("cvt.s64.s8 %rd9, 255;"), static_cast<Word>(-1));
  EXPECT_EQ(from("cvt.s32.s16 %r9, -5; cvt.u64.u32 %rd9, %r9;"), 0xfffffffbu);
  EXPECT_EQ(from("mov.b64 %rd8, 0x1122334455667788; mov.b64 {%r8, %r9}, %rd8; mov.b64 %rd9, {%r9, %r8};"),
            0x5566778811223344u);
}

TEST(Threads, KnowTheirPlace) {
  const std::vector<Word> out = results(
      "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %nctaid.x; mad.lo.s32 %r5, %r2, %r3, %r1;"
      "mad.lo.s32 %r6, %r4, 1000, %r5; cvt.u64.u32 %rd9, %r6;");
  for (Word i = 0; i < 32; ++i) EXPECT_EQ(out[i], 3000 + 2 * 32 + i);
}

// Thread i goes i times round, and takes one of two ways each time: 3 for an even count, 100 for an odd one.
TEST(Threads, ThatGoDifferentWaysMeetAgain) {
  const std::vector<Word> out = results(R"(
  mov.u64 %rd9, 0;
  mov.u32 %r2, 0;
$again:
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra $done;
  and.b32 %r3, %r2, 1;
  setp.eq.s32 %p2, %r3, 0;
  @!%p2 bra $odd;
  add.s64 %rd9, %rd9, 3;
  bra.uni $next;
$odd:
  add.s64 %rd9, %rd9, 100;
$next:
  add.s32 %r2, %r2, 1;
  bra $again;
$done:
  @%p2 add.s64 %rd9, %rd9, 1000000;
)");
  for (Word i = 0; i < 32; ++i) {
    const Word odd = i / 2, even = i - odd, last_even = i > 0 && (i - 1) % 2 == 0;
    if (i == 0) continue;  // its predicate was never set
    EXPECT_EQ(out[i], 3 * even + 100 * odd + 1000000 * last_even) << i;
  }
}

TEST(Threads, JumpByATable) {
  const std::vector<Word> out = results(R"(
  and.b32 %r2, %r1, 3;
$table: .branchtargets $a, $b, $c, $a;
  brx.idx %r2, $table;
$a:
  mov.u64 %rd9, 10;
  bra $end;
$b:
  mov.u64 %rd9, 20;
  bra $end;
$c:
  mov.u64 %rd9, 30;
$end:
)");
  const Word expected[4] = {10, 20, 30, 10};
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], expected[i % 4]);
}

// The function adds its second argument to the number that the first points to, and returns twice the old one.
TEST(Threads, CallFunctionsWithPointersToTheirOwnMemory) {
  const std::string function = R"(
.func (.param .b64 r0) bump(.param .b64 bump_0, .param .b32 bump_1)
{
  .reg .b64 %rd<9>;
  .reg .b32 %r<9>;
  ld.param.u64 %rd1, [bump_0];
  ld.param.u32 %r1, [bump_1];
  ld.u64 %rd2, [%rd1];
  cvt.u64.u32 %rd3, %r1;
  add.s64 %rd4, %rd2, %rd3;
  st.u64 [%rd1], %rd4;
  shl.b64 %rd5, %rd2, 1;
  st.param.b64 [r0], %rd5;
  ret;
}
)";
  const std::vector<Word> out = results(R"(
  mov.u64 %rd5, depot;
  cvta.local.u64 %SP, %rd5;
  cvt.u64.u32 %rd6, %r1;
  st.local.u64 [%rd5+16], %rd6;
  add.u64 %rd7, %SP, 16;
  setp.gt.u32 %p1, %r1, 20;
  mov.u64 %rd9, 0;
  @%p1 bra $end;
  {
  .param .b64 param0;
  st.param.b64 [param0], %rd7;
  .param .b32 param1;
  st.param.b32 [param1], 100;
  .param .b64 retval0;
  call.uni (retval0), bump, (param0, param1);
  ld.param.b64 %rd8, [retval0];
  }
  ld.local.u64 %rd6, [%rd5+16];
  mad.lo.s64 %rd9, %rd8, 1000, %rd6;
$end:
)",
                                        0, function);
  for (Word i = 0; i < 32; ++i) EXPECT_EQ(out[i], i > 20 ? 0 : 2 * i * 1000 + i + 100) << i;
}

TEST(Threads, IndexTheirOwnMemoryEachWithItsOwnIndex) {
  const std::vector<Word> out = results(R"(
  mov.u64 %rd5, depot;
  st.local.v2.u32 [%rd5], {1, 2};
  st.local.v2.u32 [%rd5+8], {3, 4};
  and.b32 %r2, %r1, 3;
  mul.wide.u32 %rd6, %r2, 4;
  add.s64 %rd7, %rd5, %rd6;
  st.local.u32 [%rd7], %r1;
  ld.local.u64 %rd9, [%rd5+8];
)");
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t low = i % 4 == 2 ? i : 3, high = i % 4 == 3 ? i : 4;
    EXPECT_EQ(out[i], (std::uint64_t{high} << 32) | low) << i;
  }
}

TEST(Threads, CountTogether) {
  Machine m(R"(
.entry k(.param .u64 k_param_0)
{
  .reg .b64 %rd<9>;
  .reg .b32 %r<9>;
  ld.param.u64 %rd1, [k_param_0];
  mov.u32 %r1, %tid.x;
  atom.global.add.u32 %r2, [%rd1], %r1;
  red.global.max.u32 [%rd1+4], %r1;
  ret;
}
)");
  const std::uint64_t at = m.memory().allocate(8);
  auto* words = m.host<std::uint32_t>(at, 2);
  words[0] = words[1] = 0;
  m.run({at});
  EXPECT_EQ(words[0], 31u * 32 / 2);
  EXPECT_EQ(words[1], 31u);
}

TEST(Threads, OfAPartOfAWarpLeaveTheMemoryOfTheOthersAlone) {
  Machine m(R"(
.global .align 8 .f64 table[3] = {0d3FF0000000000000, 0d4000000000000000, 0d4008000000000000};
.entry k(.param .u64 k_param_0)
{
  .reg .b64 %rd<9>;
  .reg .b32 %r<9>;
  .reg .f64 %fd<3>;
  ld.param.u64 %rd1, [k_param_0];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 8;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f64 %fd1, [table+16];
  st.global.f64 [%rd3], %fd1;
  ret;
}
)");
  const std::uint64_t at = m.memory().allocate(32 * 8);
  m.run({at}, 7);
  const double* out = m.host<double>(at, 32);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i] == 3, i < 7);
  EXPECT_EQ(m.counts.done[static_cast<std::size_t>(Class::kGlobal)], 2u * 7);
  EXPECT_EQ(m.counts.issued[static_cast<std::size_t>(Class::kGlobal)], 2u);
}

// Whoever reads past a block, at an odd address, or what was given back dies, and says where.
TEST(Memory, OfOthersIsRefused) {
  const std::string kernel = R"(
.entry k(.param .u64 k_param_0)
{
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [k_param_0];
  ld.global.u64 %rd2, [%rd1];
  ret;
}
)";
  Machine m(kernel);
  const std::uint64_t at = m.memory().allocate(24);
  EXPECT_NO_THROW(m.run({at + 16}));
  EXPECT_THROW(m.run({at + 24}), Fault) << "one too many";
  EXPECT_THROW(m.run({at + 4}), Fault) << "not a multiple of 8";
  EXPECT_THROW(m.run({0}), Fault);
  EXPECT_TRUE(m.memory().release(at));
  EXPECT_THROW(m.run({at}), Fault) << "given back";
  EXPECT_FALSE(m.memory().release(at));
  EXPECT_NE(m.memory().allocate(24), at) << "an address that was used is not used again";
}

TEST(Memory, IsFilledWithNanAndLimited) {
  Memory memory(100);
  EXPECT_EQ(memory.allocate(101), 0u);
  const std::uint64_t at = memory.allocate(80);
  EXPECT_TRUE(std::isnan(*reinterpret_cast<double*>(memory.host(at, 8))));
  EXPECT_EQ(memory.host(at + 73, 8), nullptr);
  EXPECT_EQ(memory.allocate(21), 0u);
  EXPECT_TRUE(memory.release(at));
  EXPECT_NE(memory.allocate(100), 0u);
}

void expect_fault(Machine& machine, const std::string& said) {
  try {
    machine.run({});
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_NE(std::string(fault.what()).find(said), std::string::npos) << fault.what();
  }
}

TEST(Text, ThatItDoesNotKnowIsNamed) {
  Machine m(".entry k()\n{\n  .reg .b64 %rd<9>;\n  frobnicate.u64 %rd1, %rd2;\n  ret;\n}\n");
  expect_fault(m, "frobnicate.u64");
}

// Wrong code of nvcc was found by this.
TEST(Text, ThatReadsWhatNothingSetsIsRefused) {
  Machine m(".entry k()\n{\n  .reg .f64 %fd<9>;\n  add.rn.f64 %fd1, %fd1, %fd2;\n  ret;\n}\n");
  expect_fault(m, "add.rn.f64 %fd1, %fd1, %fd2 reads a register that nothing sets");
}

// Memory that threads share: each thread writes its own place of eight bytes and reads its neighbor's, in a team
// of 16.
constexpr const char* kShare = R"(
  .shared .align 8 .b8 all[256];
  mov.u32 %r2, all;
  shl.b32 %r3, %r1, 3;
  add.s32 %r4, %r2, %r3;
  xor.b32 %r5, %r1, 1;
  shl.b32 %r6, %r5, 3;
  add.s32 %r7, %r2, %r6;
  and.b32 %r8, %r1, 16;
  mov.u32 %r9, 65535;
  shl.b32 %r10, %r9, %r8;
  mul.wide.u32 %rd5, %r1, 10;
)";

TEST(SharedMemory, IsSeenByOthersBehindABarrier) {
  const auto out = results(std::string(kShare) + R"(
  st.shared.u64 [%r4], %rd5;
  bar.warp.sync %r10;
  ld.shared.u64 %rd9, [%r7];
)");
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(out[i], 10 * (i ^ 1));
}

TEST(SharedMemory, ABarrierWaitsForThoseWhoGoAnotherWay) {
  const auto out = results(std::string(kShare) + R"(
  and.b32 %r11, %r1, 1;
  setp.eq.s32 %p1, %r11, 0;
  @%p1 bra EVEN;
  add.s64 %rd5, %rd5, 1;
MEET:
  st.shared.u64 [%r4], %rd5;
  bar.warp.sync %r10;
  ld.shared.u64 %rd9, [%r7];
  bra.uni END;
EVEN:
  add.s64 %rd5, %rd5, 2;
  bra.uni MEET;
END:
)");
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(out[i], 10 * (i ^ 1) + (i % 2 == 0 ? 1 : 2)) << i;
}

TEST(SharedMemory, RefusesWhatIsReadWithoutABarrier) {
  EXPECT_THROW(results(std::string(kShare) + "st.shared.u64 [%r4], %rd5;\n ld.shared.u64 %rd9, [%r7];\n"), Fault);
}

TEST(SharedMemory, RefusesWhatIsOverwrittenWithoutABarrier) {
  EXPECT_THROW(results(std::string(kShare) + R"(
  st.shared.u64 [%r4], %rd5;
  bar.warp.sync %r10;
  ld.shared.u64 %rd9, [%r7];
  st.shared.u64 [%r4], %rd9;
)"),
               Fault);
}

TEST(SharedMemory, RefusesABarrierThatNotAllOfItsThreadsReach) {
  EXPECT_THROW(results(std::string(kShare) + R"(
  setp.eq.s32 %p1, %r1, 3;
  @%p1 bra PAST;
  bar.warp.sync %r10;
PAST:
  mov.u64 %rd9, %rd5;
)"),
               Fault);
}

TEST(SharedMemory, RefusesAnAddressOutside) {
  EXPECT_THROW(results(std::string(kShare) + "st.shared.u64 [%r4+8], %rd5;\n mov.u64 %rd9, %rd5;\n"), Fault);
}

// A block of two warps: thread 3 clears a place, all add to it, and all read it; between them `first` and `second`.
std::vector<Word> counted(const std::string& first, const std::string& second) {
  return results(R"(
  .shared .align 8 .b8 all[256];
  mov.u32 %r2, all;
  mov.u32 %r3, 0;
  setp.ne.s32 %p1, %r1, 3;
  @%p1 bra CLEARED;
  st.shared.u32 [%r2+8], %r3;
CLEARED:
)" + first + "atom.shared.add.u32 %r4, [%r2+8], %r1;\n" +
                     second + "ld.shared.u32 %r5, [%r2+8];\n cvt.u64.u32 %rd9, %r5;\n",
                 0, "", 64);
}
constexpr const char* kMeet = "bar.sync 0;\n";

TEST(SharedMemory, OfABlockIsAddedToByAllOfItsWarps) {
  EXPECT_EQ(counted(kMeet, kMeet), std::vector<Word>(64, 63 * 64 / 2));
}

TEST(SharedMemory, OfABlockIsRefusedWithoutItsBarrier) {
  EXPECT_THROW(counted(kMeet, ""), Fault);
  EXPECT_THROW(counted("", kMeet), Fault);
}

// Each turn of the loop needs %rd8, for the last time in the order of the text where %rd6 is about to be set.
TEST(SharedMemory, ABarrierInALoopLeavesWhatTheNextTurnNeeds) {
  const auto out = results(R"(
  mov.u64 %rd5, 0;
  mov.u64 %rd8, 2;
  mov.u32 %r2, 0;
AGAIN:
  add.s32 %r2, %r2, 1;
  bar.sync 0;
  add.s64 %rd5, %rd5, %rd8;
  mul.lo.s64 %rd6, %rd5, 10;
  mul.lo.s64 %rd7, %rd6, 10;
  st.global.u64 [%rd1], %rd7;
  setp.lt.u32 %p1, %r2, 3;
  @%p1 bra AGAIN;
  mov.u64 %rd9, %rd5;
)");
  EXPECT_EQ(out[5], 6u);
}

TEST(SharedMemory, RefusesABarrierThatOneWarpDoesNotReach) {
  EXPECT_THROW(
      results("setp.gt.s32 %p1, %r1, 31;\n @%p1 bra PAST;\n bar.sync 0;\nPAST:\n mov.u64 %rd9, 1;\n", 0, "", 64),
      Fault);
}

}  // namespace
}  // namespace simulated_gpu
