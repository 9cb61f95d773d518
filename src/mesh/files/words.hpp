// Reads lines and words of mesh files without copies, because the files are large.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "garra/core/error.hpp"

namespace garra::io {

/// Reader of a text file, line by line and word by word.
class WordReader {
 public:
  /// Whether a line that ends with a backslash continues in the next one.
  enum class Lines { kEnd, kGoOn };
  WordReader(const std::string& path, std::string_view text, Lines lines = Lines::kEnd)
      : path_(path), left_(text), go_on_(lines == Lines::kGoOn) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (left_.substr(0, kByteOrderMark.size()) == kByteOrderMark) left_.remove_prefix(kByteOrderMark.size());
  }

  /// Goes to the next line; false if there is none.
  [[nodiscard]] bool next_line() {
    if (left_.empty()) return false;
    const std::size_t end = left_.find('\n');
    line_ = left_.substr(0, end);
    left_.remove_prefix(end == std::string_view::npos ? left_.size() : end + 1);
    ++number_;
    if (!go_on_) return true;
    while (!line_.empty() && is_blank(line_.back())) line_.remove_suffix(1);
    goes_on_ = !line_.empty() && line_.back() == '\\';
    if (goes_on_) line_.remove_suffix(1);
    return true;
  }
  /// Skips the rest of the line, and its continuation lines.
  void skip() {
    while (goes_on_ && next_line()) continue;
  }
  /// The next word of the line; empty if there is none.
  [[nodiscard]] std::string_view word() {
    std::size_t begin = 0;
    while (begin < line_.size() && is_blank(line_[begin])) ++begin;
    if (begin == line_.size() && goes_on_) {
      goes_on_ = false;
      if (next_line()) return word();
    }
    std::size_t end = begin;
    while (end < line_.size() && !is_blank(line_[end])) ++end;
    const std::string_view out = line_.substr(begin, end - begin);
    line_.remove_prefix(end);
    return out;
  }
  /// Reads a finite number.
  [[nodiscard]] double number(const char* what) {
    std::string_view w = word();
    if (!w.empty() && w[0] == '+') w.remove_prefix(1);
    double x = 0;
    const auto [end, error] = std::from_chars(w.data(), w.data() + w.size(), x);
    // A number too small for a double is read as zero.
    const std::size_t exponent = w.find_first_of("eE");
    if (error == std::errc::result_out_of_range && exponent != w.npos && w.substr(exponent + 1, 1) == "-") return 0;
    if (error != std::errc() || end != w.data() + w.size() || !(x - x == 0))
      refuse(std::string(what) + ": \"" + shown(w) + "\" is no finite number");
    return x;
  }
  [[noreturn]] void refuse(const std::string& problem, const std::string& remedy = {}) const {
    throw Error(ExitCode::kInvalidFile, path_ + ":" + std::to_string(number_) + ": " + problem, remedy);
  }
  /// An untrusted word, made safe for a message.
  [[nodiscard]] static std::string shown(std::string_view word) {
    constexpr std::size_t kMax = 40;
    return std::string(word.substr(0, kMax)) + (word.size() > kMax ? "..." : "");
  }
  [[nodiscard]] std::int64_t line() const { return number_; }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

  const std::string& path_;
  std::string_view left_, line_;
  bool go_on_;
  bool goes_on_ = false;  ///< the line that is being read
  std::int64_t number_ = 0;
};

}  // namespace garra::io
