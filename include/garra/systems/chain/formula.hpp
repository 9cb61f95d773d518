// Formulas of time and state as steps of a stack machine, which every executor runs (docs/theory/chain-simulation.md,
// "Torques"). Compiled on the host by compile_formula() (garra/chain_simulate.hpp).
#pragma once

#include "garra/core/elementary.hpp"
#include "garra/core/mat.hpp"

namespace garra::chain {

/// Step of a formula: an operation on the top of the stack, and its number.
enum class FormulaOp : int {
  kNumber,  ///< pushes the number
  kTime,    ///< pushes t [s]
  kQ,       ///< pushes q of joint `number`
  kQd,      ///< pushes qd of joint `number`
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kPower,  ///< to the power `number`, an integer from 0 to 8
  kMin,
  kMax,
  kNegate,
  kSin,
  kCos,
  kExp,
  kSqrt,
  kAbs,
  kStep,  ///< 1 where the top is >= 0, else 0
  kEnd,   ///< ends the formula of a joint
};
inline constexpr int kFormulaDepth = 16;

/// Values of the formulas of all joints at a time and state. `code` holds pairs (op, number); the formula of each joint
/// ends with kEnd.
template <class S, int J>
GARRA_HD_CALL void evaluate_formulas(const double* code, const S& t, const Vec<S, J>& q, const Vec<S, J>& qd,
                                     Vec<S, J>& out) {
  S stack[kFormulaDepth];
  for_each_index<J>([&](int i) { out[i] = S(0); });
  if (code == nullptr) return;
  int top = -1;
  for (int joint = 0; joint < extent<J>(); code += 2) {
    const auto op = static_cast<FormulaOp>(static_cast<int>(code[0]));
    const int index = op == FormulaOp::kQ || op == FormulaOp::kQd ? static_cast<int>(code[1]) : 0;
    // Two operands: the result takes the lower one's place.
    if (op >= FormulaOp::kAdd && op <= FormulaOp::kMax && op != FormulaOp::kPower) --top;
    switch (op) {
      case FormulaOp::kNumber:
        stack[++top] = S(code[1]);
        break;
      case FormulaOp::kTime:
        stack[++top] = t;
        break;
      case FormulaOp::kQ:
        stack[++top] = q[index];
        break;
      case FormulaOp::kQd:
        stack[++top] = qd[index];
        break;
      case FormulaOp::kAdd:
        stack[top] = stack[top] + stack[top + 1];
        break;
      case FormulaOp::kSubtract:
        stack[top] = stack[top] - stack[top + 1];
        break;
      case FormulaOp::kMultiply:
        stack[top] = stack[top] * stack[top + 1];
        break;
      case FormulaOp::kDivide:
        stack[top] = stack[top] / stack[top + 1];
        break;
      case FormulaOp::kPower: {
        const S base = stack[top];
        stack[top] = S(1);
        for (int k = 0; k < static_cast<int>(code[1]); ++k) stack[top] = stack[top] * base;
        break;
      }
      case FormulaOp::kMin:
        stack[top] = min(stack[top], stack[top + 1]);
        break;
      case FormulaOp::kMax:
        stack[top] = max(stack[top], stack[top + 1]);
        break;
      case FormulaOp::kNegate:
        stack[top] = -stack[top];
        break;
      case FormulaOp::kSin:
        stack[top] = sin(stack[top]);
        break;
      case FormulaOp::kCos:
        stack[top] = cos(stack[top]);
        break;
      case FormulaOp::kExp:
        stack[top] = exp(stack[top]);
        break;
      case FormulaOp::kSqrt:
        stack[top] = sqrt(stack[top]);
        break;
      case FormulaOp::kAbs:
        stack[top] = abs(stack[top]);
        break;
      case FormulaOp::kStep:
        stack[top] = select(stack[top] >= S(0), S(1), S(0));
        break;
      case FormulaOp::kEnd:
        out[joint++] = stack[top--];
        // Padding joints have no formula.
        if (code[1] > 0) return;
        break;
    }
  }
}

}  // namespace garra::chain
