// A recorded graph as straight-line C++: what is needed, in an order, with as few changes of sign as possible.
#pragma once

#include <string>
#include <vector>

#include "garra/core/symbolic.hpp"

namespace garra::chain {

/// A line of the result: `place` = value.
struct Target {
  std::string place;  ///< left side of the line
  symbolic::Symbol value;
};

/// Operations of a body. `slow` are divisions and square roots.
struct OperationCount {
  int products = 0, sums = 0, fused = 0, slow = 0,
      other = 0;  ///< other: signs, absolute values, comparisons, selections
  /// For the choice between bodies: a division occupies a vector unit as long as about eight products.
  [[nodiscard]] int cost() const { return products + sums + fused + 8 * slow + other; }
};

/// The shortest decimal number that is read back as the same value, marked as a double; finite values only.
[[nodiscard]] std::string decimal(double value);

/// A graph without what no result needs, contracted and in order.
class Code {
 public:
  Code(const symbolic::Graph& graph, const std::vector<Target>& targets);

  /// Of the statements as text() writes them.
  [[nodiscard]] OperationCount count() const;
  /// Statements, each on a line of its own that begins with `indent`; the scalar is called S.
  [[nodiscard]] std::string text(const std::string& indent) const;
  [[nodiscard]] const std::vector<std::string>& inputs() const { return inputs_; }  ///< names of those that are read

 private:
  /// A result; a known number is a node of its own.
  struct Output {
    std::string place;
    symbolic::Ref value;
  };
  using Node = symbolic::Node;
  using Ref = symbolic::Ref;

  [[nodiscard]] const Node& node(Ref a) const { return nodes_[static_cast<std::size_t>(a.id)]; }
  /// Nodes and the names of inputs.
  void copy(const symbolic::Graph& graph);
  [[nodiscard]] std::vector<int> uses() const;
  /// Products into sums.
  void contract();
  /// Numbers the statements.
  void order();
  /// Decides which statements hold the negative of their node.
  void choose_signs();
  [[nodiscard]] int sign_changes(int id) const;
  [[nodiscard]] bool stored_negative(int id) const { return flipped_[static_cast<std::size_t>(id)]; }
  /// An input's own, or that of its statement.
  [[nodiscard]] std::string name(int id) const;
  /// A reference as it is written, sign included.
  [[nodiscard]] std::string operand(Ref a) const;
  /// The right side of a node's statement.
  [[nodiscard]] std::string expression(int id) const;
  /// a + b with the signs of both, in whichever order needs fewer.
  [[nodiscard]] std::string sum(Ref a, Ref b) const;
  /// a b + c as fma or fnma.
  [[nodiscard]] std::string fused(Ref a, Ref b, Ref c) const;

  std::vector<Node> nodes_;
  std::vector<std::string> names_;  ///< of every input, used or not
  std::vector<Output> outputs_;
  std::vector<int> order_;     ///< of the statements
  std::vector<int> number_;    ///< of every node among the statements
  std::vector<bool> flipped_;  ///< the statement holds the node's negative
  std::vector<std::string> inputs_;
};

}  // namespace garra::chain
