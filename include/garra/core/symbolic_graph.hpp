// The graph behind symbolic.hpp: nodes, folding, and the sharing of equal nodes. Host only.
//
// Folding uses rules that a compiler may not assume. It takes numbers as finite and both zeros as
// one: 0 x = 0, x - x = 0, x + 0 = x. It may move a rounding: k1 (k2 x) = (k1 k2) x, k1 x + k2 x =
// (k1 + k2) x. If inputs are NaN or infinite the graph may give numbers instead of NaN.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace garra::symbolic {

enum class Op : std::uint8_t {
  kConstant,
  kInput,
  kAdd,
  kSubtract,
  kMultiply,
  kFma,   ///< a b + c
  kFnma,  ///< c - a b
  kDivide,
  kSqrt,
  kAbs,
  kSelect,  ///< of condition, then, else
  kLess,
  kLessEqual,
  kEqual,
  kAnd,
  kOr,
  kNot
};

/// A node of the graph, or its negative. Signs move outward: operands of kAdd...kDivide have none.
struct Ref {
  int id = -1;
  bool negative = false;
  friend Ref operator-(Ref a) { return {a.id, !a.negative}; }
  friend bool operator==(Ref a, Ref b) = default;
};

struct Node {
  Op op = Op::kConstant;
  std::array<Ref, 3> in = {};
  double value = 0;  ///< of kConstant, >= 0; of kInput its number
};

/// Folding rules that move roundings: they save operations in some bodies and cost them in others.
struct Rules {
  /// k1 x + ... + k2 x = (k1 + k2) x + ...: kOne if a single term is added, kAll if every term of
  /// an added sum meets one of its kind.
  enum class Merge { kNone, kOne, kAll } merge = Merge::kAll;
  bool factor = true;   ///< p u + p v = p (u + v)
  bool outward = true;  ///< x (k y) = k (x y)
};

class Symbol;

/// The graph: nodes in order of creation, operands before their users. Equal nodes are one node.
class Graph {
 public:
  explicit Graph(Rules rules = {}) : rules_(rules) {}
  Graph(const Graph&) = delete;  // symbols point to it
  Graph& operator=(const Graph&) = delete;

  [[nodiscard]] Symbol input(const std::string& name);
  /// Lets the graph use c^2 + s^2 = 1 of two inputs.
  void set_unit(const Symbol& c, const Symbol& s);

  [[nodiscard]] const Node& node(int id) const { return nodes_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] int size() const { return static_cast<int>(nodes_.size()); }
  [[nodiscard]] const std::string& name(const Node& n) const { return names_[static_cast<std::size_t>(n.value)]; }

  [[nodiscard]] Ref constant(double value) { return {make(Op::kConstant, {}, std::abs(value)), value < 0}; }
  [[nodiscard]] std::optional<double> constant_value(Ref a) const {
    const Node& n = node(a.id);
    if (n.op != Op::kConstant) return std::nullopt;
    return a.negative ? -n.value : n.value;
  }

  Ref add(Ref a, Ref b) {
    const auto x = constant_value(a), y = constant_value(b);
    if (x && y) return constant(*x + *y);
    if (x && *x == 0) return b;
    if (y && *y == 0) return a;
    if (a == -b) return constant(0);
    if (const auto sum = merged(a, b)) return *sum;
    if (rules_.factor) {
      if (const auto product = factored(collect_product(a), collect_product(b))) return *product;
    }
    return plain_add(a, b);
  }

  Ref multiply(Ref a, Ref b) {
    const auto x = constant_value(a), y = constant_value(b);
    if (x && y) return constant(*x * *y);
    if (y) return multiply(b, a);
    const bool negative = a.negative != b.negative;
    if (x) {
      if (*x == 0) return constant(0);
      if (std::abs(*x) == 1) return {b.id, negative};
      const Term t = to_term({b.id, false});
      if (t.factor != 1) return multiply(constant((negative ? -1 : 1) * std::abs(*x) * t.factor), {t.of, false});
    } else if (rules_.outward) {
      const Term s = to_term(a), t = to_term(b);
      if (std::abs(s.factor * t.factor) != 1)
        return multiply(constant(s.factor * t.factor), multiply({s.of, false}, {t.of, false}));
    }
    return {make(Op::kMultiply, sorted(a.id, b.id)), negative};
  }

  /// a b + c
  Ref fused(Ref a, Ref b, Ref c) {
    const auto x = constant_value(a), y = constant_value(b), z = constant_value(c);
    if (y && !x) return fused(b, a, c);
    if ((x && (y || *x == 0 || std::abs(*x) == 1)) || (z && *z == 0)) return add(multiply(a, b), c);
    const Term s = to_term(a), t = to_term(b);
    if (x) {
      if (std::abs(t.factor) != 1) return fused(constant(*x * t.factor), {t.of, false}, c);
      if (rules_.merge != Rules::Merge::kNone)
        if (const auto sum = absorb(c, {*x * t.factor, t.of}, kReach)) return *sum;
    } else if (rules_.outward && std::abs(s.factor * t.factor) != 1) {
      return fused(constant(s.factor * t.factor), multiply({s.of, false}, {t.of, false}), c);
    }
    if (a.id == b.id) {
      const Ref square = multiply(a, b);
      if (square.negative == c.negative && are_unit(square.id, c.id)) return constant(c.negative ? -1 : 1);
    }
    if (rules_.factor) {
      if (const auto product = factored(times(collect_product(a), collect_product(b)), collect_product(c)))
        return *product;
    }
    return plain_fused(a, b, c);
  }

  Ref divide(Ref a, Ref b) {
    const auto x = constant_value(a), y = constant_value(b);
    if (x && *x == 0) return constant(0);
    if (y) return multiply(a, constant(1 / *y));
    return {make(Op::kDivide, {Ref{a.id}, Ref{b.id}, Ref{}}), a.negative != b.negative};
  }
  Ref sqrt(Ref a) {
    if (const auto x = constant_value(a)) return constant(std::sqrt(*x));
    return {make(Op::kSqrt, {a, Ref{}, Ref{}})};
  }
  Ref abs(Ref a) {
    const Op op = node(a.id).op;
    if (op == Op::kConstant || op == Op::kAbs || op == Op::kSqrt) return {a.id};
    return {make(Op::kAbs, {Ref{a.id}, Ref{}, Ref{}})};
  }
  Ref select(Ref condition, Ref a, Ref b) {
    if (const auto known = constant_value(condition)) return *known != 0 ? a : b;
    if (a == b) return a;
    return {make(Op::kSelect, {condition, a, b})};
  }
  /// kLess, kLessEqual, kEqual of numbers: 1 or 0 where known.
  Ref compare(Op op, Ref a, Ref b) {
    const auto x = constant_value(a), y = constant_value(b);
    if (x && y) return constant(op == Op::kLess ? *x < *y : op == Op::kEqual ? *x == *y : *x <= *y);
    if (a == b) return constant(op != Op::kLess);
    return {make(op, {a, b, Ref{}})};
  }
  Ref both(Ref a, Ref b) {
    if (const auto x = constant_value(a)) return *x != 0 ? b : a;
    if (const auto y = constant_value(b)) return *y != 0 ? a : b;
    return a == b ? a : Ref{make(Op::kAnd, sorted(a.id, b.id))};
  }
  Ref either(Ref a, Ref b) {
    if (const auto x = constant_value(a)) return *x != 0 ? a : b;
    if (const auto y = constant_value(b)) return *y != 0 ? b : a;
    return a == b ? a : Ref{make(Op::kOr, sorted(a.id, b.id))};
  }
  Ref negated(Ref a) {
    if (const auto x = constant_value(a)) return constant(*x == 0);
    return node(a.id).op == Op::kNot ? node(a.id).in[0] : Ref{make(Op::kNot, {a, Ref{}, Ref{}})};
  }

 private:
  /// Depth of nested sums searched for a term of the same kind; factors of a product compared.
  static constexpr int kReach = 6, kFactors = 4;

  /// A factor times a node that is no constant.
  struct Term {
    double factor;
    int of;
  };
  /// A factor k times the product of nodes that are no constants.
  struct Product {
    double k = 1;
    std::vector<int> of;
  };
  struct Key {
    Op op;
    std::array<Ref, 3> in;
    std::uint64_t bits;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const {
      std::uint64_t h = k.bits + static_cast<std::uint64_t>(k.op);
      for (const Ref r : k.in) {
        const auto word = static_cast<std::uint64_t>(static_cast<std::uint32_t>(2 * r.id + (r.negative ? 1 : 0)));
        h = (h ^ (h >> 29)) * 0x9e3779b97f4a7c15u + word;
      }
      return static_cast<std::size_t>(h ^ (h >> 32));
    }
  };

  int make(Op op, const std::array<Ref, 3>& in, double value = 0) {
    const auto [place, is_new] = ids_.try_emplace(Key{op, in, std::bit_cast<std::uint64_t>(value)}, size());
    if (is_new) nodes_.push_back({op, in, value});
    return place->second;
  }
  static std::array<Ref, 3> sorted(int a, int b) { return {Ref{a < b ? a : b}, Ref{a < b ? b : a}, Ref{}}; }

  Ref plain_add(Ref a, Ref b) {
    if (a.negative == b.negative) return {make(Op::kAdd, sorted(a.id, b.id)), a.negative};
    const bool swap = b.id < a.id;  // a - b and b - a are one node
    return {make(Op::kSubtract, sorted(a.id, b.id)), swap ? b.negative : a.negative};
  }
  Ref plain_fused(Ref a, Ref b, Ref c) {
    if (node(c.id).op == Op::kMultiply) {  // a b + c d and c d + a b are one node
      const Ref p = {node(c.id).in[0].id, c.negative}, q = node(c.id).in[1];
      const std::array<Ref, 3> in = sorted(a.id, b.id);
      if (std::pair(in[0].id, in[1].id) < std::pair(p.id, q.id)) {
        c = {make(Op::kMultiply, in), a.negative != b.negative};
        a = p;
        b = q;
      }
    }
    const bool opposite = (a.negative != b.negative) != c.negative;
    std::array<Ref, 3> in = sorted(a.id, b.id);
    in[2] = {c.id};
    return {make(opposite ? Op::kFnma : Op::kFma, in), c.negative};
  }

  Term to_term(Ref a) const {
    const double sign = a.negative ? -1 : 1;
    const Node& n = node(a.id);
    if (n.op == Op::kMultiply) {
      if (const auto k = constant_value(n.in[0])) return {sign * *k, n.in[1].id};
      if (const auto k = constant_value(n.in[1])) return {sign * *k, n.in[0].id};
    }
    return {sign, a.id};
  }
  Ref scaled(Term t) { return multiply(constant(t.factor), {t.of}); }

  /// Collects the terms of a sum, as far as kReach allows; false if there are more.
  bool collect_terms(Ref sum, std::vector<Term>& terms) {
    const Node n = node(sum.id);
    const auto signed_ref = [&](Ref a, bool flip) { return Ref{a.id, sum.negative != flip}; };
    if (terms.size() > kReach) return false;
    if (n.op == Op::kAdd || n.op == Op::kSubtract)
      return collect_terms(signed_ref(n.in[0], false), terms) &&
             collect_terms(signed_ref(n.in[1], n.op == Op::kSubtract), terms);
    if (n.op == Op::kFma || n.op == Op::kFnma) {
      terms.push_back(to_term(multiply(signed_ref(n.in[0], n.op == Op::kFnma), n.in[1])));
      return collect_terms(signed_ref(n.in[2], false), terms);
    }
    terms.push_back(to_term(sum));
    return true;
  }

  std::optional<Ref> merged(Ref a, Ref b) {
    if (rules_.merge == Rules::Merge::kNone) return std::nullopt;
    const bool all = rules_.merge == Rules::Merge::kAll;
    if (const auto sum = all ? absorb_all(b, a) : absorb(b, to_term(a), kReach)) return sum;
    return all ? absorb_all(a, b) : absorb(a, to_term(b), kReach);
  }

  /// sum + other, if every term of the other meets one of its kind.
  std::optional<Ref> absorb_all(Ref sum, Ref other) {
    std::vector<Term> terms;
    if (!collect_terms(other, terms)) return std::nullopt;
    for (const Term& t : terms) {
      const auto next = absorb(sum, t, kReach);
      if (!next) return std::nullopt;
      sum = *next;
    }
    return sum;
  }

  /// sum + t without a further operation, if the sum has a term of the same node.
  std::optional<Ref> absorb(Ref sum, Term t, int reach) {
    const Node n = node(sum.id);
    const auto total = constant_value(sum), more = constant_value({t.of});
    if (total && more) return constant(*total + t.factor * *more);
    const Term own = to_term(sum);
    if (own.of == t.of) return scaled({own.factor + t.factor, t.of});
    if (are_unit(own.of, t.of)) return add(scaled({own.factor - t.factor, own.of}), constant(t.factor));
    if (reach == 0) return std::nullopt;
    const auto signed_ref = [&](Ref a, bool flip) { return Ref{a.id, sum.negative != flip}; };
    if (n.op == Op::kAdd || n.op == Op::kSubtract) {
      const Ref a = signed_ref(n.in[0], false), b = signed_ref(n.in[1], n.op == Op::kSubtract);
      if (const auto rest = absorb(a, t, reach - 1)) return add(*rest, b);
      if (const auto rest = absorb(b, t, reach - 1)) return add(a, *rest);
    } else if (n.op == Op::kFma || n.op == Op::kFnma) {
      const Ref a = signed_ref(n.in[0], n.op == Op::kFnma), c = signed_ref(n.in[2], false);
      const Term product = to_term(multiply(a, n.in[1]));
      if (product.of == t.of) return add(scaled({product.factor + t.factor, t.of}), c);
      if (const auto rest = absorb(c, t, reach - 1)) return fused(a, n.in[1], *rest);
    }
    return std::nullopt;
  }

  /// Whether both are squares whose sum is 1.
  bool are_unit(int a, int b) const {
    const Node &x = node(a), &y = node(b);
    if (x.op != Op::kMultiply || y.op != Op::kMultiply || x.in[0] != x.in[1] || y.in[0] != y.in[1]) return false;
    const auto found = partner_.find(x.in[0].id);
    return found != partner_.end() && found->second == y.in[0].id;
  }

  Product collect_product(Ref a) const {
    Product p;
    if (a.negative) p.k = -1;
    collect({a.id}, p);
    return p;
  }
  void collect(Ref a, Product& p) const {
    const Node& n = node(a.id);
    if (n.op == Op::kConstant) {
      p.k *= n.value;
    } else if (n.op == Op::kMultiply && p.of.size() < kFactors) {
      collect(n.in[0], p);
      collect(n.in[1], p);
    } else {
      p.of.push_back(a.id);
    }
  }
  static Product times(Product a, const Product& b) {
    a.k *= b.k;
    a.of.insert(a.of.end(), b.of.begin(), b.of.end());
    return a;
  }
  Ref value(const Product& p) {
    Ref out = constant(1);
    for (const int f : p.of) out = multiply(out, {f});
    return multiply(constant(p.k), out);
  }

  /// a + b as a product, if both have a factor in common and little beside it.
  std::optional<Ref> factored(Product a, Product b) {
    Product common;
    for (std::size_t i = 0; i < a.of.size();) {
      std::size_t j = 0;
      while (j < b.of.size() && b.of[j] != a.of[i]) ++j;
      if (j == b.of.size()) {
        ++i;
        continue;
      }
      common.of.push_back(a.of[i]);
      a.of.erase(a.of.begin() + static_cast<std::ptrdiff_t>(i));
      b.of.erase(b.of.begin() + static_cast<std::ptrdiff_t>(j));
    }
    if (std::abs(a.k) == std::abs(b.k) && std::abs(a.k) != 1) {
      common.k = std::abs(a.k);
      a.k /= common.k;
      b.k /= common.k;
    }
    if ((common.of.empty() && common.k == 1) || a.of.size() > 2 || b.of.size() > 2) return std::nullopt;
    const Ref outer = value(common);
    if (a.of.size() < 2) return multiply(outer, add(value(a), value(b)));
    const Ref last = {a.of.back()};
    a.of.pop_back();
    return multiply(outer, fused(value(a), last, value(b)));
  }

  Rules rules_;
  std::vector<Node> nodes_;
  std::vector<std::string> names_;
  std::unordered_map<Key, int, Hash> ids_;
  std::unordered_map<int, int> partner_;  ///< of set_unit
};

}  // namespace garra::symbolic
