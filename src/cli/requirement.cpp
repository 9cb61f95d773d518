#include "cli/requirement.hpp"

#include "cli/flags.hpp"
#include "garra/core/error.hpp"
#include "io/suggest.hpp"

namespace garra::cli {

namespace {

const char* const kRemedy = "Write --require 'p_held>=0.99' or 'p_held<=0.01'.";

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

}  // namespace

Requirement parse_requirement(const std::string& text) {
  const std::string problem = "--require " + io::quoted(text) + ": ";
  const std::string plain = without_blanks(text);
  const std::size_t at = plain.find_first_of("<>=");
  const std::string name = plain.substr(0, at);
  if (name != "p_held") throw Error(ExitCode::kUsage, problem + "unknown quantity " + io::quoted(name), kRemedy);
  const std::string sign = at == std::string::npos ? "" : plain.substr(at, 2);
  if (sign != ">=" && sign != "<=") throw Error(ExitCode::kUsage, problem + "expected >= or <=", kRemedy);
  const double bound = number_or_refuse(plain.substr(at + 2), problem + "no number after " + sign, kRemedy);
  if (bound < 0 || bound > 1) throw Error(ExitCode::kUsage, problem + "a probability is 0 to 1", kRemedy);
  return {text, sign == ">=", bound};
}

}  // namespace garra::cli
