// A progress line on stderr: rate, share, time left and the current estimate. Only on a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace garra::cli {

class Progress {
 public:
  /// `mode`: auto (a bar on a terminal), json (one object per line, anywhere), none.
  Progress(const std::string& mode, std::int64_t total);
  /// `done` samples so far, `fresh` of them computed now (not read back); `note` is the current estimate.
  void show(std::int64_t done, std::int64_t fresh, const std::string& note);
  void clear();
  [[nodiscard]] double seconds() const;

 private:
  enum class Mode { kNone, kBar, kJson } mode_ = Mode::kNone;
  std::int64_t total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double last_ = -1;
  bool color_ = false;
};

/// "1.23 M", "45.6 k"
[[nodiscard]] std::string short_number(double x);

}  // namespace garra::cli
