// compile_formula: a recursive descent over the text, which leaves the steps of a stack machine.
#include "chain/simulate/formula.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "garra/core/error.hpp"
#include "garra/systems/chain/formula.hpp"

namespace garra::chain {

namespace {

using Op = FormulaOp;
constexpr std::pair<const char*, Op> kFunctions[] = {{"sin", Op::kSin},   {"cos", Op::kCos}, {"exp", Op::kExp},
                                                     {"sqrt", Op::kSqrt}, {"abs", Op::kAbs}, {"step", Op::kStep},
                                                     {"min", Op::kMin},   {"max", Op::kMax}};
constexpr double kMaxPower = 8;
constexpr std::size_t kMaxText = 2000;

class Compiler {
 public:
  Compiler(const std::string& text, int joints) : text_(text), joints_(joints) {}

  std::vector<double> compile() {
    // Brackets call each other: a bound on the text is one on the stack of the program.
    if (text_.size() > kMaxText) refuse("longer than " + std::to_string(kMaxText) + " characters");
    parse_sum();
    if (at_ < text_.size()) refuse("unexpected \"" + text_.substr(at_, 1) + "\"");
    return std::move(code_);
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw Error(ExitCode::kUsage, "expression \"" + text_ + "\", character " + std::to_string(at_) + ": " + problem,
                "Write numbers, pi, t, q0, qd0, ..., + - * / ^, sin, cos, exp, sqrt, abs, step, min(a, b), max(a, b).");
  }
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    skip_blanks();
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse(std::string("\"") + c + "\" is missing");
  }
  void emit(Op op, double number = 0) {
    code_.push_back(static_cast<double>(op));
    code_.push_back(number);
  }
  /// A value more on the stack.
  void push(Op op, double number = 0) {
    if (++depth_ > kFormulaDepth) refuse("too deeply nested");
    emit(op, number);
  }
  void combine(Op op) {
    --depth_;
    emit(op);
  }

  void parse_sum() {
    parse_product();
    for (;;) {
      const bool plus = accept('+');
      if (!plus && !accept('-')) return;
      parse_product();
      combine(plus ? Op::kAdd : Op::kSubtract);
    }
  }
  void parse_product() {
    parse_signed();
    for (;;) {
      const bool times = accept('*');
      if (!times && !accept('/')) return;
      parse_signed();
      combine(times ? Op::kMultiply : Op::kDivide);
    }
  }
  void parse_signed() {
    if (accept('-')) {
      parse_signed();
      emit(Op::kNegate);
    } else {
      parse_power();
    }
  }
  void parse_power() {
    parse_value();
    if (!accept('^')) return;
    const double n = parse_number();
    if (n != std::floor(n) || n > kMaxPower) refuse("a power is a whole number from 0 to 8");
    emit(Op::kPower, n);
  }
  void parse_value() {
    skip_blanks();
    if (at_ >= text_.size()) refuse("it ends too early");
    if (accept('(')) {
      parse_sum();
      expect(')');
    } else if (std::isalpha(static_cast<unsigned char>(text_[at_]))) {
      parse_name();
    } else {
      push(Op::kNumber, parse_number());
    }
    skip_blanks();
  }
  double parse_number() {
    double value = 0;
    const char* from = text_.data() + at_;
    const auto [end, error] = std::from_chars(from, text_.data() + text_.size(), value);
    if (error != std::errc() || !(value >= 0) || !std::isfinite(value)) refuse("a number is expected");
    at_ += static_cast<std::size_t>(end - from);
    return value;
  }
  void parse_name() {
    const std::size_t from = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_]))) ++at_;
    const std::string word = text_.substr(from, at_ - from);
    if (word == "t") return push(Op::kTime);
    if (word == "pi") return push(Op::kNumber, M_PI);
    for (const auto& [known, op] : kFunctions)
      if (word == known) return parse_call(op);
    const std::size_t digits = word.starts_with("qd") ? 2 : 1;
    int joint = -1;
    const char* end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data() + std::min(digits, word.size()), end, joint);
    if (word[0] != 'q' || error != std::errc() || rest != end || joint < 0 || joint >= joints_) {
      at_ = from;
      refuse("\"" + word + "\" is unknown; joints count from 0 to " + std::to_string(joints_ - 1));
    }
    push(digits == 2 ? Op::kQd : Op::kQ, joint);
  }
  void parse_call(Op op) {
    expect('(');
    parse_sum();
    if (op == Op::kMin || op == Op::kMax) {
      expect(',');
      parse_sum();
      --depth_;
    }
    expect(')');
    emit(op);
  }

  const std::string& text_;
  int joints_, depth_ = 0;
  std::size_t at_ = 0;
  std::vector<double> code_;
};

}  // namespace

std::vector<double> compile_formula(const std::string& text, int joints) { return Compiler(text, joints).compile(); }

std::vector<double> compile_torques(const TorqueInput& torque, int joints) {
  std::vector<double> all;
  for (std::size_t i = 0; torque.kind == TorqueKind::kExpression && i < static_cast<std::size_t>(joints); ++i) {
    const std::vector<double> one = compile_formula(torque.expression[torque.expression.size() == 1 ? 0 : i], joints);
    all.insert(all.end(), one.begin(), one.end());
    all.push_back(static_cast<double>(FormulaOp::kEnd));
    all.push_back(i + 1 == static_cast<std::size_t>(joints) ? 1 : 0);
  }
  return all;
}

}  // namespace garra::chain
