#include "base/files/suggest.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace garra::io {

namespace {

/// Longer words are no misspelling of a key; the distance costs the product of both lengths.
constexpr std::size_t kLongest = 64;

int allowed_distance(std::size_t length) { return length <= 3 ? 1 : length <= 7 ? 2 : 3; }

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<int> d((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> int& { return d[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = static_cast<int>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int change = a[i - 1] == b[j - 1] ? 0 : 1;
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return d.back();
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() > kLongest) return {};
  std::string best;
  int distance = allowed_distance(word.size()) + 1;
  for (const std::string& candidate : known) {
    const int d = edit_distance(word, candidate);
    if (d < distance) {
      distance = d;
      best = candidate;
    }
  }
  return best;
}

std::string suggest(std::string_view word, const std::vector<std::string>& known, const std::string& what_fits) {
  const std::string near = nearest_word(word, known);
  if (!near.empty()) return "Did you mean \"" + near + "\"?";
  std::string list;
  for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
  return what_fits + ": " + list + ".";
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  const bool cut = text.size() > kShown;
  if (cut) {
    std::size_t end = kShown;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // whole UTF-8 characters
    text = text.substr(0, end);
  }
  std::string out = "\"";
  for (const char c : text) out += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? '?' : c;
  return out + (cut ? "...\"" : "\"");
}

std::string shell_word(std::string_view text) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) || c > 127 || std::strchr("_-./=:,+@%", c); };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace garra::io
