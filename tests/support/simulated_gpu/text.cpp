#include "text.hpp"

#include <charconv>

namespace simulated_gpu {

namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw Fault("PTX: cannot read \"" + std::string(text.substr(0, 120)) + "\"");
}

std::uint64_t number(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc{} || end != digits.data() + digits.size()) refuse(digits);
  return value;
}

constexpr std::string_view kBlank = " \t\n\r";

/// `text` (no label, no brace) as an instruction or directive.
Statement statement(std::string_view text) {
  Statement s;
  if (text.starts_with('@')) {
    s.unless = text[1] == '!';
    const std::size_t first = s.unless ? 2 : 1, end = text.find_first_of(kBlank);
    s.guard = text.substr(first, end - first);
    text = trim(text.substr(end));
  }
  const std::size_t end = std::min(text.find_first_of(kBlank), text.size());
  s.name = text.substr(0, end);
  s.operands = split(text.substr(end), ',');
  return s;
}

}  // namespace

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != separator || depth != 0) continue;
    parts.push_back(trim(text.substr(first, i - first)));
    first = i + 1;
  }
  if (!trim(text.substr(first)).empty()) parts.push_back(trim(text.substr(first)));
  return parts;
}

std::int64_t whole(std::string_view text) { return static_cast<std::int64_t>(constant(text)); }

Word constant(std::string_view text) {
  if (text.starts_with("0d") || text.starts_with("0D") || text.starts_with("0f") || text.starts_with("0F"))
    return number(text.substr(2), 16);
  if (text.ends_with('U')) text.remove_suffix(1);
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const Word size = text.starts_with("0x") || text.starts_with("0X") ? number(text.substr(2), 16) : number(text, 10);
  return negative ? Word{0} - size : size;
}

Type type_of(std::string_view text) {
  if (text == "pred") return {'p', 64};  // all ones or zero
  if (text.size() < 2 || std::string_view("usbf").find(text[0]) == text.npos) refuse(text);
  return {text[0], static_cast<int>(number(text.substr(1), 10))};
}

Declaration declaration(std::string_view text) {
  Declaration d;
  std::vector<std::string_view> all;
  for (std::size_t first = 0; (first = text.find_first_not_of(kBlank, first)) != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlank, first), text.size());
    all.push_back(text.substr(first, end - first));
    first = end;
  }
  if (all.size() < 2) refuse(text);
  for (std::size_t k = 0; k + 1 < all.size(); ++k) {
    if (all[k] == ".align") d.align = static_cast<std::size_t>(whole(all[k + 1]));
    if (all[k].starts_with('.') && all[k].size() > 2 && all[k][2] >= '0' && all[k][2] <= '9')
      d.type = type_of(all[k].substr(1));
  }
  d.name = all.back();
  const std::size_t bracket = d.name.find('[');
  if (bracket != d.name.npos) {
    d.count = static_cast<std::size_t>(whole(d.name.substr(bracket + 1, d.name.find(']') - bracket - 1)));
    d.name = d.name.substr(0, bracket);
  }
  d.align = std::max(d.align, d.type.bytes());
  return d;
}

std::vector<Statement> statements(std::string_view body) {
  std::vector<Statement> out;
  std::size_t at = 0;
  while (true) {
    at = body.find_first_not_of(" \t\n\r;", at);
    if (at == body.npos) return out;
    if (body[at] == '{' || body[at] == '}') {
      out.push_back({false, {}, false, body.substr(at++, 1), {}});
      continue;
    }
    if (body.substr(at, 2) == "//") {
      at = std::min(body.find('\n', at), body.size());
      continue;
    }
    const std::size_t end = body.find_first_of(":;", at);
    if (end == body.npos) refuse(body.substr(at));
    const std::string_view text = trim(body.substr(at, end - at));
    if (body[end] == ':') {
      out.push_back({true, {}, false, text, {}});
    } else if (!text.starts_with(".loc ") && !text.starts_with(".pragma")) {
      out.push_back(statement(text));
    }
    at = end + 1;
  }
}

}  // namespace simulated_gpu
