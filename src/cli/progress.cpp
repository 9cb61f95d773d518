#include "cli/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace garra::cli {

namespace {

/// https://no-color.org: set and not empty.
bool color_wanted() {
  const char* no_color = std::getenv("NO_COLOR");
  return no_color == nullptr || *no_color == '\0';
}

/// A terminal that understands "back to the start of the line and clear it".
bool has_bar_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && (term == nullptr || std::strcmp(term, "dumb") != 0);
}

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Width on the screen of UTF-8 text [characters].
int display_width(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string draw_bar(double share, int width) {
  const int full = static_cast<int>(share * width);
  std::string bar;
  for (int k = 0; k < width; ++k) bar += k < full ? "━" : "─";
  return bar;
}

}  // namespace

std::string short_number(double x) {
  const char* suffix = "";
  if (x >= 1e9) {
    x /= 1e9;
    suffix = " G";
  } else if (x >= 1e6) {
    x /= 1e6;
    suffix = " M";
  } else if (x >= 1e4) {
    x /= 1e3;
    suffix = " k";
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.3g%s", x, suffix);
  return text;
}

std::string short_time(double seconds) {
  char text[32];
  if (seconds < 120)
    std::snprintf(text, sizeof text, "%.0f s", seconds);
  else if (seconds < 7200)
    std::snprintf(text, sizeof text, "%.0f min", seconds / 60);
  else
    std::snprintf(text, sizeof text, "%.1f h", seconds / 3600);
  return text;
}

std::string short_estimate(const Standing& s) {
  if (std::isnan(s.probability)) return std::string("P(") + s.event + ") unknown";
  char text[96];
  std::snprintf(text, sizeof text, "P(%s) = %.4f ± %.4f", s.event, s.probability, (s.high - s.low) / 2);
  return text;
}

Progress::Progress(const std::string& mode, std::int64_t total) : total_(total), color_(color_wanted()) {
  if (mode == "json") mode_ = Mode::kJson;
  if (mode == "auto" && has_bar_terminal()) mode_ = Mode::kBar;
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::show(const Standing& standing) {
  const double now = seconds();
  // Ten times a second at most; the first and the last are always shown.
  if (mode_ == Mode::kNone || (standing.done < total_ && last_ >= 0 && now - last_ < 0.1)) return;
  last_ = now;
  // Samples read back from chunks take negligible time: the rate counts computed ones.
  const double rate = now > 0 ? static_cast<double>(standing.fresh) / now : 0;
  const double left = rate > 0 ? static_cast<double>(total_ - standing.done) / rate : 0;
  mode_ == Mode::kJson ? show_json(standing, rate, left) : show_bar(standing, rate, left);
  std::fflush(stderr);
}

void Progress::show_json(const Standing& s, double rate, double left) const {
  char estimate[64] = "null";
  if (!std::isnan(s.probability)) std::snprintf(estimate, sizeof estimate, "%.9g", s.probability);
  std::fprintf(stderr,
               "{\"samples\": %lld, \"of\": %lld, \"per_second\": %.0f, \"seconds_left\": %.1f, "
               "\"%s\": %s, \"low\": %.9g, \"high\": %.9g}\n",
               static_cast<long long>(s.done), static_cast<long long>(total_), rate, left, s.event, estimate, s.low,
               s.high);
}

/// One line, never longer than the terminal is wide: a wrapped line cannot be cleared again.
void Progress::show_bar(const Standing& s, double rate, double left) const {
  const double share = total_ > 0 ? static_cast<double>(s.done) / static_cast<double>(total_) : 1;
  char percent[16];
  std::snprintf(percent, sizeof percent, " %3.0f %%", 100 * share);
  // Some terminals wrap when the last column is written.
  const int columns = terminal_columns() - 1;
  std::string text = percent;
  for (const std::string& part : {short_estimate(s), short_time(left) + " left", short_number(rate) + " samples/s"})
    if (display_width(text) + 2 + display_width(part) <= columns) text += "  " + part;
  const int width = std::clamp(columns - display_width(text), 0, 28);
  std::fprintf(stderr, "\r\033[K%s%s%s%s", color_ ? "\033[36m" : "", draw_bar(share, width).c_str(),
               color_ ? "\033[0m" : "", text.c_str());
}

void Progress::show_step(std::int64_t done, const std::string& doing) {
  if (mode_ == Mode::kNone) return;
  last_ = seconds();
  if (mode_ == Mode::kJson) {
    std::fprintf(stderr, "{\"steps\": %lld, \"of\": %lld, \"doing\": \"%s\"}\n", static_cast<long long>(done),
                 static_cast<long long>(total_), doing.c_str());
  } else {
    const int columns = terminal_columns() - 1, width = std::clamp(columns - display_width(doing) - 2, 0, 28);
    const double share = total_ > 0 ? static_cast<double>(done) / static_cast<double>(total_) : 1;
    std::fprintf(stderr, "\r\033[K%s%s%s  %.*s", color_ ? "\033[36m" : "", draw_bar(share, width).c_str(),
                 color_ ? "\033[0m" : "", std::max(columns - width - 2, 0), doing.c_str());
  }
  std::fflush(stderr);
}

void Progress::clear() {
  if (mode_ == Mode::kBar && last_ >= 0) std::fprintf(stderr, "\r\033[K");
}

}  // namespace garra::cli
