// A progress line on stderr, only on a terminal: rate, share, time left and the current estimate.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace garra::cli {

/// State of a run: its progress and estimate.
struct Standing {
  std::int64_t done = 0;   ///< samples so far
  std::int64_t fresh = 0;  ///< of these computed now, not read back
  double probability = 0, low = 0, high = 1;
  const char* event = "held";  ///< event of the probability
};

/// Progress display on stderr.
class Progress {
 public:
  /// `mode`: auto (a bar on a terminal), json (one object per line, anywhere), none.
  Progress(const std::string& mode, std::int64_t total);
  void show(const Standing& standing);
  /// The same for a task of `total` steps of unequal length, without an estimate: `done` steps, and the present one.
  void show_step(std::int64_t done, const std::string& doing);
  void clear();
  [[nodiscard]] double seconds() const;

 private:
  void show_bar(const Standing& standing, double rate, double left) const;
  void show_json(const Standing& standing, double rate, double left) const;

  enum class Mode { kNone, kBar, kJson } mode_ = Mode::kNone;
  std::int64_t total_;  ///< samples, or steps
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double last_ = -1;  ///< when something was shown [s since the start]; -1: never
  bool color_ = false;
};

/// "1.23 M", "45.6 k"
[[nodiscard]] std::string short_number(double x);

/// "40 s", "3 min", "2.5 h"
[[nodiscard]] std::string short_time(double seconds);

/// "P(held) = 0.9015 ± 0.0042"
[[nodiscard]] std::string short_estimate(const Standing& standing);

}  // namespace garra::cli
