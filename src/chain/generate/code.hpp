// A recorded graph as straight-line C++: what is needed, in an order, with as few changes of sign as possible.
#pragma once

#include <string>
#include <vector>

#include "garra/core/symbolic.hpp"

namespace garra::chain {

/// A line of the result: `place` = value.
struct Target {
  std::string place;
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

class Code {
 public:
  Code(const symbolic::Graph& graph, const std::vector<Target>& targets);

  [[nodiscard]] OperationCount count() const;
  /// Statements, each on a line of its own that begins with `indent`; the scalar is called S.
  [[nodiscard]] std::string text(const std::string& indent) const;
  [[nodiscard]] const std::vector<std::string>& inputs() const { return inputs_; }  ///< names of those that are read

 private:
  struct Output {
    std::string place;
    symbolic::Ref value;
  };
  using Node = symbolic::Node;
  using Ref = symbolic::Ref;

  [[nodiscard]] const Node& node(Ref a) const { return nodes_[static_cast<std::size_t>(a.id)]; }
  void copy(const symbolic::Graph& graph);
  [[nodiscard]] std::vector<int> uses() const;
  void contract();
  void order();
  void choose_signs();
  [[nodiscard]] int sign_changes(int id) const;
  [[nodiscard]] bool stored_negative(int id) const { return flipped_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::string name(int id) const;
  [[nodiscard]] std::string operand(Ref a) const;
  [[nodiscard]] std::string expression(int id) const;
  [[nodiscard]] std::string sum(Ref a, Ref b) const;
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
