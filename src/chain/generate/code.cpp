// A graph becomes statements: contraction, order, signs, text.
#include "chain/generate/code.hpp"

#include <charconv>
#include <cmath>

#include "garra/core/error.hpp"

namespace garra::chain {

using symbolic::Op;
using symbolic::Ref;

namespace {

bool is_arithmetic(Op op) { return op >= Op::kAdd && op <= Op::kDivide; }
bool is_condition(Op op) { return op >= Op::kLess; }
bool is_leaf(Op op) { return op == Op::kConstant || op == Op::kInput; }
int operands(Op op) {
  if (is_leaf(op)) return 0;
  if (op == Op::kSqrt || op == Op::kAbs || op == Op::kNot) return 1;
  return op == Op::kFma || op == Op::kFnma || op == Op::kSelect ? 3 : 2;
}

}  // namespace

std::string decimal(double value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string out(text, end);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

Code::Code(const symbolic::Graph& graph, const std::vector<Target>& targets) {
  copy(graph);
  for (const Target& t : targets) {
    // Known results have no node; they get one, so that all outputs are alike. Signs stay in the reference.
    const auto known = static_cast<int>(nodes_.size());
    if (t.value.is_known()) nodes_.push_back({Op::kConstant, {}, std::abs(t.value.known_value())});
    outputs_.push_back({t.place, t.value.is_known() ? Ref{known, t.value.known_value() < 0} : t.value.node()});
  }
  flipped_.assign(nodes_.size(), false);
  contract();
  order();
  choose_signs();
}

void Code::copy(const symbolic::Graph& graph) {
  for (int id = 0; id < graph.size(); ++id) {
    nodes_.push_back(graph.node(id));
    if (graph.node(id).op == Op::kInput) names_.push_back(graph.name(graph.node(id)));
  }
}

/// How often every node is read by what is needed.
std::vector<int> Code::uses() const {
  std::vector<int> count(nodes_.size(), 0);
  for (const Output& o : outputs_) ++count[static_cast<std::size_t>(o.value.id)];
  // Operands come before what reads them, so one pass from the end counts every use that counts.
  for (std::size_t id = nodes_.size(); id-- > 0;)
    for (int k = 0; count[id] > 0 && k < operands(nodes_[id].op); ++k)
      ++count[static_cast<std::size_t>(nodes_[id].in[static_cast<std::size_t>(k)].id)];
  return count;
}

/// A product that is read once, by a sum, is fused with it.
void Code::contract() {
  const std::vector<int> count = uses();
  const auto is_own_product = [&](Ref a) {
    // Read once only: a product with other readers would be computed twice.
    return node(a).op == Op::kMultiply && count[static_cast<std::size_t>(a.id)] == 1;
  };
  for (Node& n : nodes_) {
    const Ref a = n.in[0], b = n.in[1];
    if (n.op == Op::kAdd && (is_own_product(a) || is_own_product(b))) {
      const Ref product = is_own_product(a) ? a : b, rest = is_own_product(a) ? b : a;
      n = {Op::kFma, {node(product).in[0], node(product).in[1], rest}};
    } else if (n.op == Op::kSubtract && is_own_product(b)) {
      n = {Op::kFnma, {node(b).in[0], node(b).in[1], a}};
    } else if (n.op == Op::kSubtract && is_own_product(a)) {
      n = {Op::kFma, {node(a).in[0], node(a).in[1], -b}};
    }
  }
}

/// The order of the recording. (Depth first from every result, and by the critical path, spill more and are no faster:
/// docs/howto/chain-generated.md.)
void Code::order() {
  const std::vector<int> count = uses();
  number_.assign(nodes_.size(), -1);
  for (std::size_t id = 0; id < nodes_.size(); ++id) {
    if (count[id] == 0) continue;
    if (nodes_[id].op == Op::kConstant && !std::isfinite(nodes_[id].value))
      throw Error(ExitCode::kInternal, "the recorded body has a number that is not finite");
    if (nodes_[id].op == Op::kInput) inputs_.push_back(name(static_cast<int>(id)));
    if (is_leaf(nodes_[id].op)) continue;
    number_[id] = static_cast<int>(order_.size());
    order_.push_back(static_cast<int>(id));
  }
}

/// Explicit changes of sign in the statement of a node, as it stands. Operands of a fused multiply-add and constants
/// change sign for nothing.
int Code::sign_changes(int id) const {
  const Node& n = nodes_[static_cast<std::size_t>(id)];
  const auto minus = [&](int k) {
    const Ref a = n.in[static_cast<std::size_t>(k)];
    return node(a).op != Op::kConstant && a.negative != stored_negative(a.id);
  };
  const auto is_known = [&](int k) { return node(n.in[static_cast<std::size_t>(k)]).op == Op::kConstant; };
  const bool flipped = stored_negative(id);
  switch (n.op) {
    case Op::kAdd:
      return minus(0) != flipped && minus(1) != flipped;
    case Op::kSubtract:
      return minus(0) != flipped && minus(1) == flipped;
    case Op::kMultiply:
    case Op::kDivide:
      return !is_known(0) && !is_known(1) && (minus(0) != minus(1)) != flipped;
    case Op::kSelect:
      return (minus(1) != flipped) + (minus(2) != flipped);
    case Op::kSqrt:
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kEqual:
      return minus(0) + (operands(n.op) > 1 && minus(1));
    default:
      return 0;
  }
}

/// Flips statements one by one for as long as that saves changes of sign.
void Code::choose_signs() {
  std::vector<std::vector<int>> readers(nodes_.size());
  for (const int id : order_)
    for (int k = 0; k < operands(node({id}).op); ++k)
      readers[static_cast<std::size_t>(node({id}).in[static_cast<std::size_t>(k)].id)].push_back(id);
  const auto around = [&](int id) {
    int changes = sign_changes(id);
    for (const int r : readers[static_cast<std::size_t>(id)]) changes += sign_changes(r);
    for (const Output& o : outputs_) changes += o.value.id == id && o.value.negative != stored_negative(id);
    return changes;
  };
  // Each flip saves at least one change of sign, so passes settle; eight bound their number.
  for (int pass = 0; pass < 8; ++pass)
    for (const int id : order_) {
      const Op op = node({id}).op;
      if (!is_arithmetic(op) && op != Op::kSelect) continue;
      const int before = around(id);
      flipped_[static_cast<std::size_t>(id)].flip();
      // Not better: back again, so that equal choices do not alternate.
      if (around(id) >= before) flipped_[static_cast<std::size_t>(id)].flip();
    }
}

OperationCount Code::count() const {
  OperationCount c;
  for (const int id : order_) {
    const Op op = node({id}).op;
    c.other += sign_changes(id);
    if (op == Op::kMultiply)
      ++c.products;
    else if (op == Op::kAdd || op == Op::kSubtract)
      ++c.sums;
    else if (op == Op::kFma || op == Op::kFnma)
      ++c.fused;
    else if (op == Op::kDivide || op == Op::kSqrt)
      ++c.slow;
    else
      ++c.other;
  }
  for (const Output& o : outputs_)
    c.other += !is_leaf(node(o.value).op) && o.value.negative != stored_negative(o.value.id);
  return c;
}

std::string Code::name(int id) const {
  const Node& n = nodes_[static_cast<std::size_t>(id)];
  if (n.op == Op::kInput) return names_[static_cast<std::size_t>(n.value)];
  return "t" + std::to_string(number_[static_cast<std::size_t>(id)]);
}

/// With its sign; constants carry theirs.
std::string Code::operand(Ref a) const {
  const Node& n = node(a);
  if (n.op == Op::kConstant) return "S(" + decimal(a.negative ? -n.value : n.value) + ")";
  return (a.negative != stored_negative(a.id) ? "-" : "") + name(a.id);
}

std::string Code::sum(Ref a, Ref b) const {
  const std::string x = operand(a), y = operand(b);
  if (y[0] == '-') return x + " - " + y.substr(1);
  if (x[0] == '-') return y + " - " + x.substr(1);
  return x + " + " + y;
}

std::string Code::fused(Ref a, Ref b, Ref c) const {
  std::string x = operand(a), y = operand(b);
  if (y[0] == '-') std::swap(x, y);
  const bool minus = x[0] == '-';
  if (minus) x.erase(0, 1);
  return (minus ? "fnma(" : "fma(") + x + ", " + y + ", " + operand(c) + ")";
}

std::string Code::expression(int id) const {
  const Node& n = nodes_[static_cast<std::size_t>(id)];
  const bool flip = stored_negative(id);
  const auto in = [&](int k, bool negate) {
    const Ref a = n.in[static_cast<std::size_t>(k)];
    return negate ? -a : a;
  };
  const auto pair = [&](const char* sign) {
    Ref a = in(0, flip), b = in(1, false);
    if (node(b).op == Op::kConstant && node(a).op != Op::kConstant) std::swap(a, b);
    if (operand(b)[0] == '-') a = -a, b = -b;  // one sign for both
    return operand(a) + sign + operand(b);
  };
  const auto two = [&](const char* sign) { return operand(in(0, false)) + sign + operand(in(1, false)); };
  switch (n.op) {
    case Op::kAdd:
      return sum(in(0, flip), in(1, flip));
    case Op::kSubtract:
      return sum(in(0, flip), in(1, !flip));
    case Op::kMultiply:
      return n.in[0] == n.in[1] ? operand(in(0, flip)) + " * " + operand(in(1, false)) : pair(" * ");
    case Op::kDivide:
      return operand(in(0, flip)) + " / " + operand(in(1, false));
    case Op::kFma:
      return fused(in(0, flip), in(1, false), in(2, flip));
    case Op::kFnma:
      return fused(in(0, !flip), in(1, false), in(2, flip));
    case Op::kSqrt:
      return "sqrt(" + operand(in(0, false)) + ")";
    case Op::kAbs:
      return "abs(" + name(n.in[0].id) + ")";
    case Op::kSelect:
      return "select(" + operand(in(0, false)) + ", " + operand(in(1, flip)) + ", " + operand(in(2, flip)) + ")";
    case Op::kLess:
      return two(" < ");
    case Op::kLessEqual:
      return two(" <= ");
    case Op::kEqual:
      return two(" == ");
    case Op::kAnd:
      return two(" && ");
    case Op::kOr:
      return two(" || ");
    case Op::kNot:
      return "!" + operand(in(0, false));
    default:
      return operand({id});
  }
}

std::string Code::text(const std::string& indent) const {
  std::string out;
  for (const int id : order_) {
    const Op op = node({id}).op;
    out += indent + (is_condition(op) ? "const auto " : "const S ") + name(id) + " = " + expression(id) + ";\n";
  }
  for (const Output& o : outputs_) out += indent + o.place + " = " + operand(o.value) + ";\n";
  return out;
}

}  // namespace garra::chain
