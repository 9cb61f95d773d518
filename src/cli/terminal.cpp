#include "cli/terminal.hpp"

#include <csignal>

namespace garra::cli {

namespace {

// The only state that a signal handler may touch.
volatile std::sig_atomic_t stop_signal = 0;
void on_signal(int signal) { stop_signal = signal; }

}  // namespace

void stop_on_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool is_stopped() { return stop_signal != 0; }

std::string printable(const std::string& text) {
  std::string shown;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto c = static_cast<unsigned char>(text[k]);
    const auto next = static_cast<unsigned char>(k + 1 < text.size() ? text[k + 1] : 0);
    const bool c1 = c == 0xc2 && next >= 0x80 && next < 0xa0;
    const bool steers = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f || c1;
    shown += steers ? '?' : text[k];
    if (c1) ++k;
  }
  return shown;
}

}  // namespace garra::cli
