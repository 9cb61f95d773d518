// Names of enumerators. Beside an enum whose values count up from 0 stand, once, its names in
// files, summaries and messages:
//
//   enum class Law { kQuintic, kUniform };
//   [[nodiscard]] constexpr auto names_of(Law) { return names("quintic", "uniform"); }
//
// The function is found by its argument.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace garra {

template <class... Text>
[[nodiscard]] constexpr std::array<const char*, sizeof...(Text)> names(Text... text) {
  return {text...};
}

/// The name of an enumerator.
template <class Enum>
[[nodiscard]] constexpr const char* name_of(Enum value) {
  return names_of(value)[static_cast<std::size_t>(value)];
}

/// The enumerator of that name; empty if there is none.
template <class Enum>
[[nodiscard]] constexpr std::optional<Enum> value_named(std::string_view name) {
  const auto all = names_of(Enum{});
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace garra
