#include "base/files/arrays/npy.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace garra::io {

namespace {

constexpr const char* kAgain = "Write it again by numpy.savez.";
constexpr std::size_t kMaxAxes = 32;

/// Tokenizer of the header's dictionary.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}
  /// Consumes `word` if it comes next; returns whether it did.
  [[nodiscard]] bool take(std::string_view word) {
    skip_blanks();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  /// Consumes a quoted text that contains no quotes.
  [[nodiscard]] bool quoted(std::string& out) {
    skip_blanks();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return false;
    const std::size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) return false;
    out = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return true;
  }
  [[nodiscard]] bool number(std::uint64_t& out) {
    skip_blanks();
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), out);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return true;
  }
  [[nodiscard]] bool at_end() {
    skip_blanks();
    return text_.empty();
  }

 private:
  void skip_blanks() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
  }
  std::string_view text_;
};

/// "(500, 3)", "(7,)", "()".
bool take_shape(Words& words, Shape& shape) {
  if (!words.take("(")) return false;
  while (!words.take(")")) {
    std::uint64_t n = 0;
    if (shape.size() == kMaxAxes || !words.number(n)) return false;
    shape.push_back(n);
    if (words.take(",")) continue;
    return shape.size() > 1 && words.take(")");
  }
  return true;
}

struct Dictionary {
  std::string type;
  bool structured = false, by_columns = false;
  Shape shape;
};

/// Reads each of the three entries once, in any order.
bool take_dictionary(std::string_view text, Dictionary& d) {
  Words words(text);
  if (!words.take("{")) return false;
  int seen = 0;
  while (!words.take("}")) {
    std::string key;
    if (!words.quoted(key) || !words.take(":")) return false;
    const int which = key == "descr" ? 1 : key == "fortran_order" ? 2 : key == "shape" ? 4 : 0;
    if (which == 0 || (seen & which) != 0) return false;
    seen |= which;
    if (which == 1) {
      d.structured = words.take("[");
      if (d.structured) return true;
      if (!words.quoted(d.type)) return false;
    } else if (which == 2) {
      d.by_columns = words.take("True");
      if (!d.by_columns && !words.take("False")) return false;
    } else if (!take_shape(words, d.shape)) {
      return false;
    }
    if (words.take(",")) continue;
    if (!words.take("}")) return false;
    break;
  }
  return seen == 7 && words.at_end();
}

const char* plural_of_kind(char kind) {
  switch (kind) {
    case 'U':
    case 'S':
    case 'a':
      return "strings";
    case 'c':
      return "complex numbers";
    case 'O':
      return "Python objects (a pickle, which is never read)";
    case 'f':
    case 'i':
    case 'u':
      return "numbers of another width";
    default:
      return "values that are no numbers";
  }
}

/// '<f8' and the like; HDF5 takes the same kinds.
NpyProblem take_type(const std::string& type, NpyHeader& header) {
  const char order = type.size() > 1 ? type[0] : '\0', kind = type.size() > 1 ? type[1] : '\0';
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(type.data() + (type.empty() ? 0 : std::min<std::size_t>(2, type.size())),
                                            type.data() + type.size(), bytes);
  const bool whole = error == std::errc() && end == type.data() + type.size();
  const bool power = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  const bool known =
      whole && power && ((kind == 'f' && bytes >= 4) || kind == 'i' || kind == 'u' || (kind == 'b' && bytes == 1));
  if (!known)
    return {"expected numbers (float64), found " + std::string(plural_of_kind(kind)),
            "Write it with .astype('<f8'), or '<i8' for whole numbers."};
  if (order != '<' && !(order == '|' && bytes == 1))
    return {"its numbers have their bytes in another order (" + type.substr(0, 8) + ")",
            "Write it with .astype('<" + std::string(1, kind) + std::to_string(bytes) + "')."};
  header.kind = kind;
  header.bytes = bytes;
  return {};
}

}  // namespace

NpyProblem parse_npy_header(std::string_view text, NpyHeader& header) {
  Dictionary d;
  if (!take_dictionary(text, d)) return {"its header is none of NumPy's", kAgain};
  if (d.structured) return {"expected numbers (float64), found records of several fields", "Write one array a field."};
  if (NpyProblem wrong = take_type(d.type, header); !wrong.problem.empty()) return wrong;
  if (d.by_columns) return {"is stored by columns (fortran_order)", "Write it with numpy.ascontiguousarray(...)."};
  header.shape = d.shape;
  header.count = 1;
  const bool empty = std::find(d.shape.begin(), d.shape.end(), 0U) != d.shape.end();
  for (const std::uint64_t n : d.shape) {
    if (!empty && header.count > std::numeric_limits<std::uint64_t>::max() / header.bytes / n)
      return {"claims the shape " + to_string(d.shape) + ", more numbers than any file has", kAgain};
    header.count *= n;
  }
  if (empty) header.count = 0;
  return {};
}

}  // namespace garra::io
