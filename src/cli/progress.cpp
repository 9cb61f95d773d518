#include "cli/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "garra/core/error.hpp"

namespace garra::cli {

std::string short_number(double x) {
  const char* suffix = "";
  if (x >= 1e9) { x /= 1e9; suffix = " G"; }
  else if (x >= 1e6) { x /= 1e6; suffix = " M"; }
  else if (x >= 1e4) { x /= 1e3; suffix = " k"; }
  char text[32];
  std::snprintf(text, sizeof text, "%.3g%s", x, suffix);
  return text;
}

Progress::Progress(const std::string& mode, std::int64_t total) : total_(total) {
  if (mode != "auto" && mode != "json" && mode != "none")
    throw Error(ExitCode::kUsage, "--progress " + mode + ": unknown", "use auto, json or none");
  if (mode == "json") mode_ = Mode::kJson;
  if (mode == "auto" && isatty(STDERR_FILENO) != 0) mode_ = Mode::kBar;
  color_ = std::getenv("NO_COLOR") == nullptr;
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::show(std::int64_t done, std::int64_t fresh, const std::string& note) {
  const double now = seconds();
  if (mode_ == Mode::kNone || (done < total_ && now - last_ < 0.1)) return;
  last_ = now;
  const double rate = now > 0 ? static_cast<double>(fresh) / now : 0;
  const double left = rate > 0 ? static_cast<double>(total_ - done) / rate : 0;
  const double share = total_ > 0 ? static_cast<double>(done) / static_cast<double>(total_) : 1;
  if (mode_ == Mode::kJson) {
    std::fprintf(stderr, "{\"samples\": %lld, \"of\": %lld, \"per_second\": %.0f, \"seconds_left\": %.1f}\n",
                 static_cast<long long>(done), static_cast<long long>(total_), rate, left);
    return;
  }
  constexpr int width = 28;
  const int full = static_cast<int>(share * width);
  std::string bar;
  for (int k = 0; k < width; ++k) bar += k < full ? "━" : "─";
  std::fprintf(stderr, "\r\033[K%s%s%s %3.0f %%  %s samples/s  %.0f s left  %s", color_ ? "\033[36m" : "", bar.c_str(),
               color_ ? "\033[0m" : "", 100 * share, short_number(rate).c_str(), left, note.c_str());
  std::fflush(stderr);
}

void Progress::clear() {
  if (mode_ == Mode::kBar && last_ >= 0) std::fprintf(stderr, "\r\033[K");
}

}  // namespace garra::cli
