// Error: misuse, a bad file, a missing device. Thrown at the interface only, never inside a solve.
#pragma once

#include <stdexcept>
#include <string>

namespace garra {

/// Exit codes of the program `garra`; each Error carries the one that fits it.
enum class ExitCode : int {
  kDone = 0,
  kRequirementFailed = 1,
  kUsage = 2,
  kInvalidFile = 3,
  kTooManyUnsolved = 4,
  kInputOutput = 5,
  kNoDevice = 6,
  kInternal = 70,
  kStoppedResumable = 75,
};

/// An error and its remedy. `what()` holds both, the remedy on its own line.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& problem, const std::string& remedy = {})
      : std::runtime_error(remedy.empty() ? problem : problem + "\n  " + remedy), code_(code) {}
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace garra
