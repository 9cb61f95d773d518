// Recorded arithmetic against the same arithmetic done: random bodies whose numbers are integers, so that every way to
// sum them up is exact, and the folds one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "garra/core/symbolic.hpp"

namespace garra::symbolic {
namespace {

/// What the graph's nodes are worth.
std::vector<double> values(const Graph& graph, const std::vector<double>& inputs) {
  std::vector<double> v;
  const auto at = [&](Ref a) {
    return a.negative ? -v[static_cast<std::size_t>(a.id)] : v[static_cast<std::size_t>(a.id)];
  };
  for (int id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    const auto in = [&](std::size_t k) { return at(n.in[k]); };
    const auto value = [&]() -> double {
      switch (n.op) {
        case Op::kConstant:
          return n.value;
        case Op::kInput:
          return inputs[static_cast<std::size_t>(n.value)];
        case Op::kAdd:
          return in(0) + in(1);
        case Op::kSubtract:
          return in(0) - in(1);
        case Op::kMultiply:
          return in(0) * in(1);
        case Op::kFma:
          return std::fma(in(0), in(1), in(2));
        case Op::kFnma:
          return std::fma(-in(0), in(1), in(2));
        case Op::kDivide:
          return in(0) / in(1);
        case Op::kSqrt:
          return std::sqrt(in(0));
        case Op::kAbs:
          return std::abs(in(0));
        case Op::kSelect:
          return in(0) != 0 ? in(1) : in(2);
        case Op::kLess:
          return in(0) < in(1);
        case Op::kLessEqual:
          return in(0) <= in(1);
        case Op::kEqual:
          return in(0) == in(1);
        case Op::kAnd:
          return in(0) != 0 && in(1) != 0;
        case Op::kOr:
          return in(0) != 0 || in(1) != 0;
        case Op::kNot:
          return in(0) == 0;
      }
      return std::numeric_limits<double>::quiet_NaN();
    };
    v.push_back(value());
  }
  return v;
}
double value(const Graph& graph, const Symbol& s, const std::vector<double>& inputs) {
  if (s.is_known()) return s.known_value();
  const double v = values(graph, inputs)[static_cast<std::size_t>(s.node().id)];
  return s.node().negative ? -v : v;
}

const std::vector<Rules>& all_rules() {
  static const std::vector<Rules> rules = [] {
    std::vector<Rules> all;
    for (const auto merge : {Rules::Merge::kNone, Rules::Merge::kOne, Rules::Merge::kAll})
      for (const bool factor : {false, true})
        for (const bool outward : {false, true}) all.push_back({merge, factor, outward});
    return all;
  }();
  return rules;
}

// Random bodies.

constexpr int kInputs = 4, kSteps = 24;

/// The same steps for any S, from a seed. `largest` is the largest number met.
template <class S>
std::vector<S> random_body(unsigned seed, const std::vector<S>& inputs) {
  std::mt19937 gen(seed);
  const auto draw = [&](int n) { return static_cast<int>(gen() % static_cast<unsigned>(n)); };
  std::vector<S> pool = inputs;
  for (const double k : {0.0, 1.0, -1.0, 2.0, -3.0}) pool.push_back(S(k));
  for (int step = 0; step < kSteps; ++step) {
    const auto any_of_pool = [&] { return pool[static_cast<std::size_t>(draw(static_cast<int>(pool.size())))]; };
    const S a = any_of_pool(), b = any_of_pool(), c = any_of_pool();
    switch (draw(10)) {
      case 0:
        pool.push_back(a + b);
        break;
      case 1:
        pool.push_back(a - b);
        break;
      case 2:
        pool.push_back(a * b);
        break;
      case 3:
        pool.push_back(-a);
        break;
      case 4:
        pool.push_back(abs(a));
        break;
      case 5:
        pool.push_back(select(a < b && c <= b, c, a));
        break;
      case 6:
        pool.push_back(select(!(a == b) || b > c, min(a, b), max(b, c)));
        break;
      case 7:
        pool.push_back(fnma(a, b, c));
        break;
      default:
        pool.push_back(fma(a, b, c));
        break;
    }
  }
  return {pool.end() - 8, pool.end()};
}

TEST(Symbolic, RandomBodiesKeepTheirValueUnderEveryRule) {
  constexpr double kExact = 0x1p40;  // integers up to here: nothing is rounded, in whatever order it is summed
  int compared = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 gen(seed + 100000);
    std::vector<double> x;
    for (int i = 0; i < kInputs; ++i) x.push_back(static_cast<double>(gen() % 7) - 3);
    const std::vector<double> truth = random_body(seed, x);
    for (const Rules& rules : all_rules()) {
      Graph graph(rules);
      std::vector<Symbol> inputs;
      for (int i = 0; i < kInputs; ++i) inputs.push_back(graph.input("x"));
      const std::vector<Symbol> recorded = random_body(seed, inputs);
      const std::vector<double> all = values(graph, x);
      double size = 0;
      for (const double v : all) size = std::max(size, std::abs(v));
      if (size > kExact) continue;
      for (std::size_t k = 0; k < truth.size(); ++k) {
        ASSERT_EQ(value(graph, recorded[k], x), truth[k]) << "seed " << seed << " result " << k;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 200000);
}

// Folds.

struct Recorder {
  Graph graph;
  Symbol x = graph.input("x"), y = graph.input("y"), z = graph.input("z");
};
bool is_same(const Symbol& a, const Symbol& b) { return !a.is_known() && !b.is_known() && a.node() == b.node(); }
bool is_number(const Symbol& a, double value) { return a.is_known() && a.known_value() == value; }

TEST(Symbolic, NeutralNumbersLeaveNoOperation) {
  Recorder r;
  const int before = r.graph.size();
  EXPECT_TRUE(is_number(Symbol(0) * r.x, 0));
  EXPECT_TRUE(is_same(Symbol(1) * r.x, r.x));
  EXPECT_TRUE(is_same(Symbol(-1) * r.x, -r.x));
  EXPECT_TRUE(is_same(r.x + Symbol(0), r.x));
  EXPECT_TRUE(is_same(fma(r.x, Symbol(0), r.y), r.y));
  EXPECT_TRUE(is_same(fma(Symbol(0), r.x, r.y), r.y));
  EXPECT_TRUE(is_number(r.x - r.x, 0));
  EXPECT_TRUE(is_number(Symbol(0) / r.x, 0));
  EXPECT_TRUE(is_same(r.x / Symbol(1), r.x));
  EXPECT_TRUE(is_same(-(-r.x), r.x));
  EXPECT_TRUE(is_number(fma(Symbol(2), Symbol(3), Symbol(4)), 10));
  EXPECT_TRUE(is_number(sqrt(Symbol(9)), 3));
  for (int id = before; id < r.graph.size(); ++id) EXPECT_EQ(r.graph.node(id).op, Op::kConstant);
}

TEST(Symbolic, WhatIsEqualIsRecordedOnce) {
  Recorder r;
  EXPECT_TRUE(is_same(r.x + r.y, r.y + r.x));
  EXPECT_TRUE(is_same(r.x * r.y, r.y * r.x));
  EXPECT_TRUE(is_same(r.x - r.y, -(r.y - r.x)));
  EXPECT_TRUE(is_same((-r.x) * r.y, -(r.x * r.y)));
  EXPECT_TRUE(is_same(fma(-r.x, r.y, r.z), fma(r.x, -r.y, r.z)));
  EXPECT_TRUE(is_same(fma(-r.x, r.y, -r.z), -fma(r.y, r.x, r.z)));
  EXPECT_TRUE(is_same(fnma(r.x, r.y, r.z), -fma(r.x, r.y, -r.z)));
  EXPECT_TRUE(is_same(fma(r.x, r.y, r.z * r.x), fma(r.z, r.x, r.x * r.y)));
  EXPECT_TRUE(is_same(abs(-r.x), abs(r.x)));
  EXPECT_TRUE(is_same(abs(abs(r.x)), abs(r.x)));
  EXPECT_TRUE(is_same((-r.x) / r.y, -(r.x / r.y)));
  EXPECT_TRUE(is_same(select(r.x < r.y, r.z, r.z), r.z));
}

TEST(Symbolic, ConstantFactorsAndTermsMeet) {
  Recorder r;
  EXPECT_TRUE(is_same(Symbol(2) * (Symbol(3) * r.x), Symbol(6) * r.x));
  EXPECT_TRUE(is_same(fma(Symbol(2), r.x, Symbol(3) * r.x), Symbol(5) * r.x));
  EXPECT_TRUE(is_same(fma(Symbol(2), r.x, fma(r.y, r.z, Symbol(-2) * r.x)), r.y * r.z));
  EXPECT_TRUE(is_same((r.x + Symbol(2)) - Symbol(2), r.x));
  EXPECT_TRUE(is_same(((r.x + r.y) + Symbol(2)) - (r.y + Symbol(2)), r.x));
  EXPECT_TRUE(is_same(r.x / Symbol(4), Symbol(0.25) * r.x));
  EXPECT_TRUE(is_same(fma(r.x, r.y, r.z) - r.z, r.x * r.y));
}

TEST(Symbolic, SquaresOfASineAndACosineAreOne) {
  Recorder r;
  EXPECT_FALSE((fma(r.x, r.x, r.y * r.y)).is_known());
  r.graph.set_unit(r.x, r.y);
  EXPECT_TRUE(is_number(fma(r.x, r.x, r.y * r.y), 1));
  EXPECT_TRUE(is_number(fnma(r.y, r.y, -(r.x * r.x)), -1));
  EXPECT_FALSE(fma(r.x, r.x, r.z * r.z).is_known());
  EXPECT_FALSE(fnma(r.x, r.x, r.y * r.y).is_known());
}

TEST(Symbolic, KnownComparisonsChooseAndUnknownOnesCannotBranch) {
  Recorder r;
  EXPECT_TRUE(is_same(select(Symbol(1) < Symbol(2), r.x, r.y), r.x));
  EXPECT_TRUE(all(Symbol(1) <= Symbol(1)));
  EXPECT_FALSE(any(r.x < r.x));
  EXPECT_TRUE(any(r.x == r.x));  // finite numbers only
  EXPECT_THROW((void)any(r.x < r.y), Error);
  EXPECT_THROW((void)all(!(r.x == r.y)), Error);
}

/// Said in symbolic.hpp: what is multiplied with a known zero is not looked at.
TEST(Symbolic, FoldingTakesInputsAsFinite) {
  Recorder r;
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(value(r.graph, fma(Symbol(0), r.x, r.y), {kNaN, 2, 0}), 2);
  EXPECT_EQ(value(r.graph, r.x - r.x, {std::numeric_limits<double>::infinity(), 0, 0}), 0);
  EXPECT_TRUE(std::isnan(value(r.graph, fma(r.x, r.y, r.z), {kNaN, 2, 0})));
}

}  // namespace
}  // namespace garra::symbolic
