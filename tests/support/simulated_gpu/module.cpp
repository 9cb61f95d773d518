// The outside of a file of PTX: functions with their parameters, variables with their values.
#include <algorithm>
#include <cstring>

#include "text.hpp"

namespace simulated_gpu {

namespace {

/// The parameters in `(...)` at the front of `text`, which is moved behind them.
void take_parameters(std::string_view& text, Function& into) {
  const std::size_t open = text.find('('), close = text.find(')');
  if (open == text.npos) return;
  for (std::string_view part : split(text.substr(open + 1, close - open - 1), ',')) {
    const Declaration d = declaration(part);
    const std::size_t align = std::max<std::size_t>(d.align, 8);
    into.parameter_bytes = (into.parameter_bytes + align - 1) / align * align;
    into.parameters.push_back({d.name, d.bytes(), into.parameter_bytes});
    into.parameter_bytes += d.bytes();
  }
  text.remove_prefix(close + 1);
}

/// Most threads of a block, by `.maxntid`.
int most_threads(std::string_view head) {
  const std::size_t at = head.find(".maxntid");
  if (at == head.npos) return 1024;
  const std::string_view number = trim(head.substr(at + 8));
  return static_cast<int>(whole(number.substr(0, number.find_first_of(", \t\n"))));
}

/// "name (parameters) .maxntid 64" or "(result) name (parameters)".
Function function_of(std::string_view head, bool is_kernel) {
  Function f;
  f.is_kernel = is_kernel;
  head = trim(head);
  if (head.starts_with('(')) take_parameters(head, f);
  head = trim(head);
  f.name = head.substr(0, head.find_first_of(" \t\n("));
  take_parameters(head, f);
  f.most_threads = most_threads(head);
  return f;
}

/// Past the closing brace that belongs to the brace at `open`.
std::size_t end_of_body(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i + 1;
  }
  throw Fault("PTX: a function does not end");
}

/// ".global .align 8 .f64 table[3] = {...}" without the semicolon: the address of its memory.
std::uint64_t place_variable(const Declaration& d, std::string_view values, Memory& memory) {
  const std::uint64_t address = memory.allocate(d.bytes());
  if (address == 0) throw Fault("no memory for the variable " + std::string(d.name));
  std::byte* to = memory.host(address, d.bytes());
  std::memset(to, 0, d.bytes());
  values = trim(values);
  if (values.starts_with('{')) values = values.substr(1, values.size() - 2);
  for (std::string_view value : split(values, ',')) {
    const Word word = constant(value);
    std::memcpy(to, &word, d.type.bytes());
    to += d.type.bytes();
  }
  return address;
}

/// Whether a line has this word before any parenthesis or comment.
bool says(std::string_view line, std::string_view word) {
  line = line.substr(0, std::min(line.find("//"), line.find('(')));
  const std::size_t at = line.find(word);
  return at != line.npos && (at + word.size() == line.size() || line[at + word.size()] == ' ');
}

}  // namespace

Module::Module(std::string_view text, Memory& memory) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, std::min(text.find('\n', at), text.size()) - at);
    const bool is_kernel = says(line, ".entry"), is_shared = says(line, ".shared");
    const bool is_variable = says(line, ".global") || says(line, ".const");
    if (is_kernel || says(line, ".func")) {
      const std::string_view word = is_kernel ? ".entry" : ".func";
      const std::size_t head = text.find(word, at) + word.size(), end = text.find_first_of(";{", head);
      Function f = function_of(text.substr(head, end - head), is_kernel);
      at = end + 1;
      if (text[end] == ';') continue;  // only declared
      at = end_of_body(text, end);
      f.body = text.substr(end + 1, at - end - 2);
      functions_[f.name] = f;
    } else if (is_shared) {
      const std::size_t end = text.find(';', at);
      const Declaration d = declaration(text.substr(at, end - at));
      shared_.add(d.name, d.bytes());
      at = end + 1;
    } else if (is_variable) {
      const std::size_t end = text.find(';', at), equal = text.find('=', at);
      const bool given = equal < end;
      const Declaration d = declaration(text.substr(at, (given ? equal : end) - at));
      variables_[d.name] = place_variable(d, given ? text.substr(equal + 1, end - equal - 1) : "", memory);
      at = end + 1;
    } else {
      at += line.size() + 1;
    }
  }
}

const Function* Module::function(std::string_view name) {
  const auto found = functions_.find(name);
  if (found == functions_.end()) return nullptr;
  if (!found->second.decoded) decode(found->second, *this);
  return &found->second;
}

std::uint64_t Module::variable(std::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? 0 : found->second;
}

}  // namespace simulated_gpu
