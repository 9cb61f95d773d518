// Reading PTX as text: words, constants, declarations, statements.
#pragma once

#include "code.hpp"

namespace simulated_gpu {

[[nodiscard]] std::string_view trim(std::string_view text);
/// At `separator` outside of brackets, each part trimmed; none for empty text.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
[[nodiscard]] std::int64_t whole(std::string_view text);
/// The bits of "12", "-3", "0x1f", "0d3FF0000000000000", "0f3F800000".
[[nodiscard]] Word constant(std::string_view text);

/// "f64", "s32", "b8", "pred".
struct Type {
  char letter = 'b';
  int bits = 64;

  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(bits) / 8; }
  [[nodiscard]] bool is_signed() const { return letter == 's'; }
  [[nodiscard]] bool is_float() const { return letter == 'f'; }
  [[nodiscard]] Word width() const { return bits == 64 ? ~Word{0} : (Word{1} << bits) - 1; }
};
[[nodiscard]] Type type_of(std::string_view text);

/// ".align 8 .b8 name[24]", ".f64 name"; what stands before the type is passed over.
struct Declaration {
  Type type;
  std::string_view name;
  std::size_t align = 1, count = 1;

  [[nodiscard]] std::size_t bytes() const { return count * type.bytes(); }
};
[[nodiscard]] Declaration declaration(std::string_view text);

/// A label (`name` only), "{" or "}" of an inner scope, or an instruction or directive with its operands.
struct Statement {
  bool is_label = false;
  std::string_view guard;  ///< "%p1", or empty
  bool unless = false;
  std::string_view name;  ///< "add.rn.f64", ".reg"
  std::vector<std::string_view> operands;
};
/// The statements of a body.
[[nodiscard]] std::vector<Statement> statements(std::string_view body);

}  // namespace simulated_gpu
