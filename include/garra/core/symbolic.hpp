// A scalar that records its arithmetic: a body of garra run on symbolic::Symbol leaves a graph of
// its operations (symbolic_graph.hpp, which says what folding assumes). Straight-line code can be
// written from the graph (docs/howto/chain-generated.md). Host only.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "garra/core/error.hpp"
#include "garra/core/scalar.hpp"
#include "garra/core/symbolic_graph.hpp"

namespace garra::symbolic {

/// The result of a comparison of symbols: a known value or a node. Only `any` and `all` of a known
/// condition convert to bool: code that branches on an unknown value cannot be written as
/// straight-line code.
class Condition {
 public:
  Condition(bool known) : known_(known) {}
  Condition(Graph* graph, Ref ref) : graph_(graph), ref_(ref) {
    if (const auto value = graph->constant_value(ref)) *this = Condition(*value != 0);
  }
  friend Condition operator&&(const Condition& a, const Condition& b) {
    if (!a.graph_) return a.known_ ? b : a;
    if (!b.graph_) return b.known_ ? a : b;
    return {a.graph_, a.graph_->both(a.ref_, b.ref_)};
  }
  friend Condition operator||(const Condition& a, const Condition& b) {
    if (!a.graph_) return a.known_ ? a : b;
    if (!b.graph_) return b.known_ ? b : a;
    return {a.graph_, a.graph_->either(a.ref_, b.ref_)};
  }
  friend Condition operator!(const Condition& a) {
    return a.graph_ ? Condition(a.graph_, a.graph_->negated(a.ref_)) : Condition(!a.known_);
  }
  friend Condition select_mask(const Condition& m, const Condition& a, const Condition& b) {
    return (m && a) || (!m && b);
  }
  /// Throw Error(kInternal) where the answer depends on an input.
  friend bool any(const Condition& a) { return a.known(); }
  friend bool all(const Condition& a) { return a.known(); }

 private:
  friend Symbol select(const Condition& m, const Symbol& a, const Symbol& b);
  [[nodiscard]] bool known() const {
    if (graph_) throw Error(ExitCode::kInternal, "a recorded body branches on a value");
    return known_;
  }
  Graph* graph_ = nullptr;
  Ref ref_ = {};
  bool known_ = false;
};

/// A known number, or a node of a graph. Its functions are not inlined: a body of thousands of
/// operations then compiles ten times as fast.
class Symbol {
 public:
  Symbol() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Symbol(T value) : value_(static_cast<double>(value)) {}
  Symbol(Graph* graph, Ref ref) : graph_(graph), ref_(ref) {
    if (const auto value = graph->constant_value(ref)) *this = Symbol(*value);
  }

  /// The node in the graph; a known number becomes a node.
  [[nodiscard]] Ref in(Graph& graph) const { return graph_ ? ref_ : graph.constant(value_); }
  [[nodiscard]] bool is_known() const { return graph_ == nullptr; }
  [[nodiscard]] double known_value() const { return value_; }
  [[nodiscard]] Ref node() const { return ref_; }  ///< of a number that is not known

  [[gnu::noinline]] friend Symbol operator+(const Symbol& a, const Symbol& b) {
    Graph* g = find_graph(a, b);
    return g ? Symbol(g, g->add(a.in(*g), b.in(*g))) : Symbol(a.value_ + b.value_);
  }
  friend Symbol operator-(const Symbol& a) { return a.graph_ ? Symbol(a.graph_, -a.ref_) : Symbol(-a.value_); }
  friend Symbol operator-(const Symbol& a, const Symbol& b) { return a + -b; }
  [[gnu::noinline]] friend Symbol operator*(const Symbol& a, const Symbol& b) {
    Graph* g = find_graph(a, b);
    return g ? Symbol(g, g->multiply(a.in(*g), b.in(*g))) : Symbol(a.value_ * b.value_);
  }
  [[gnu::noinline]] friend Symbol operator/(const Symbol& a, const Symbol& b) {
    Graph* g = find_graph(a, b);
    return g ? Symbol(g, g->divide(a.in(*g), b.in(*g))) : Symbol(a.value_ / b.value_);
  }
  Symbol& operator+=(const Symbol& b) { return *this = *this + b; }
  Symbol& operator-=(const Symbol& b) { return *this = *this - b; }
  Symbol& operator*=(const Symbol& b) { return *this = *this * b; }
  Symbol& operator/=(const Symbol& b) { return *this = *this / b; }
  [[gnu::noinline]] friend Symbol fma(const Symbol& a, const Symbol& b, const Symbol& c) {
    Graph* g = find_graph(a, b);
    if (!g) return Symbol(a.value_ * b.value_) + c;
    return {g, g->fused(a.in(*g), b.in(*g), c.in(*g))};
  }
  [[gnu::noinline]] friend Symbol sqrt(const Symbol& a) {
    return a.graph_ ? Symbol(a.graph_, a.graph_->sqrt(a.ref_)) : Symbol(std::sqrt(a.value_));
  }
  [[gnu::noinline]] friend Symbol abs(const Symbol& a) {
    return a.graph_ ? Symbol(a.graph_, a.graph_->abs(a.ref_)) : Symbol(std::abs(a.value_));
  }
  [[gnu::noinline]] friend Symbol select(const Condition& m, const Symbol& a, const Symbol& b) {
    if (!m.graph_) return m.known_ ? a : b;
    return {m.graph_, m.graph_->select(m.ref_, a.in(*m.graph_), b.in(*m.graph_))};
  }
  friend Symbol min(const Symbol& a, const Symbol& b) { return select(b < a, b, a); }
  friend Symbol max(const Symbol& a, const Symbol& b) { return select(a < b, b, a); }

  friend Condition operator<(const Symbol& a, const Symbol& b) { return compare(Op::kLess, a, b); }
  friend Condition operator<=(const Symbol& a, const Symbol& b) { return compare(Op::kLessEqual, a, b); }
  friend Condition operator>(const Symbol& a, const Symbol& b) { return compare(Op::kLess, b, a); }
  friend Condition operator>=(const Symbol& a, const Symbol& b) { return compare(Op::kLessEqual, b, a); }
  friend Condition operator==(const Symbol& a, const Symbol& b) { return compare(Op::kEqual, a, b); }
  friend Condition operator!=(const Symbol& a, const Symbol& b) { return !compare(Op::kEqual, a, b); }

 private:
  static Graph* find_graph(const Symbol& a, const Symbol& b) { return a.graph_ ? a.graph_ : b.graph_; }
  [[gnu::noinline]] static Condition compare(Op op, const Symbol& a, const Symbol& b) {
    Graph* g = find_graph(a, b);
    if (g) return {g, g->compare(op, a.in(*g), b.in(*g))};
    return op == Op::kLess ? a.value_ < b.value_ : op == Op::kEqual ? a.value_ == b.value_ : a.value_ <= b.value_;
  }
  Graph* graph_ = nullptr;
  Ref ref_ = {};
  double value_ = 0;
};

inline Symbol Graph::input(const std::string& name) {
  names_.push_back(name);
  return {this, {make(Op::kInput, {}, static_cast<double>(names_.size() - 1))}};
}

inline void Graph::set_unit(const Symbol& c, const Symbol& s) {
  partner_[c.node().id] = s.node().id;
  partner_[s.node().id] = c.node().id;
}

}  // namespace garra::symbolic

template <>
struct garra::ScalarTraits<garra::symbolic::Symbol> {
  using Real = double;
  using Mask = symbolic::Condition;
  using Bits = std::uint64_t;
  static constexpr int kWidth = 1;
  static symbolic::Symbol lane_numbers() { return 0; }
};
