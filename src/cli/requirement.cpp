#include "cli/requirement.hpp"

#include "base/files/suggest.hpp"
#include "cli/flags.hpp"
#include "cli/jobs.hpp"
#include "garra/core/error.hpp"

namespace garra::cli {

namespace {

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

}  // namespace

Requirement parse_requirement(const std::string& text, const JobKind& kind) {
  const std::string quantity = kind.quantity;
  const std::string problem = "--require " + io::quoted(text) + ": ";
  const std::string remedy = "Write --require '" + quantity + ">=0.99' or '" + quantity + "<=0.01'.";
  const std::string plain = without_blanks(text);
  const std::size_t at = plain.find_first_of("<>=");
  const std::string name = plain.substr(0, at);
  if (!has_quantity(kind, name)) {
    const std::string what = is_quantity(name) ? "this job has no " + name : "unknown quantity " + io::quoted(name);
    throw Error(ExitCode::kUsage, problem + what, remedy);
  }
  const std::string sign = at == std::string::npos ? "" : plain.substr(at, 2);
  if (sign != ">=" && sign != "<=") throw Error(ExitCode::kUsage, problem + "expected >= or <=", remedy);
  const double bound = number_or_refuse(plain.substr(at + 2), problem + "no number after " + sign, remedy);
  if (bound < 0 || bound > 1) throw Error(ExitCode::kUsage, problem + "a probability is 0 to 1", remedy);
  return {text, name, sign == ">=", bound};
}

}  // namespace garra::cli
