// `garra doctor`: reports the capabilities of this machine and build, with a two-second self-test.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

#include "base/cuda_device.hpp"
#include "base/instruction_set.hpp"
#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "garra/batch/devices.hpp"
#include "garra/contact.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"

namespace garra::cli {

namespace {

/// One-contact problems with known answers: half stick, half slip.
contact::Problems closed_form_problems(std::int64_t n) {
  contact::Problems p{1, n, {}, {}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    // Friction of 0.1 to 0.9: both answers are far from the boundary between stick and slip.
    const double f = 0.1 + 0.8 * static_cast<double>(i % 1000) / 1000;
    // Diagonal: the normal impulse is 1 for any tangential one, so that the answer is known in closed form.
    p.A.insert(p.A.end(), {2, 0, 0, 0, 1, 0, 0, 0, 1});
    p.b.insert(p.b.end(), {-2, i % 2 == 0 ? 0.5 * f : 2 * f, 0});
    p.mu.push_back(f);
  }
  return p;
}

bool self_test(const Device& device) {
  const auto p = closed_form_problems(200'000);
  const auto start = std::chrono::steady_clock::now();
  const auto s = contact::solve(p, {}, device);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < p.count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double want = i % 2 == 0 ? -p.b[3 * k + 1] : -p.mu[k];  // stick: -b_t / a_t; slip: -mu c_n with c_n = 1
    wrong += !(std::abs(s.c[3 * k] - 1) < 1e-6 && std::abs(s.c[3 * k + 1] - want) < 1e-6);
  }
  std::printf("  %-60s %s, %s one-contact problems/s\n", describe(device).c_str(), wrong == 0 ? "ok" : "WRONG ANSWERS",
              short_number(static_cast<double>(p.count) / seconds).c_str());
  return wrong == 0;
}

/// Loads every kernel on every GPU: a driver that must translate them does so now, and caches the result.
void warm() {
  for (const Device& gpu : parse_devices("cuda:all")) {
    const auto start = std::chrono::steady_clock::now();
    if (const std::string note = first_launch_note(gpu); !note.empty()) std::printf("%s\n", note.c_str());
    std::fflush(stdout);
    const int kernels = cuda_runtime.load_all(gpu.index);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%d kernels are ready on %s, after %.1f s\n", kernels, describe(gpu).c_str(), seconds);
  }
}

bool self_test_of_gpus() {
  bool ok = true;
  try {
    for (const Device& gpu : parse_devices("cuda:all")) ok = self_test(gpu) && ok;
  } catch (const Error& error) {
    std::printf("  cuda: %s\n", error.what());
  }
  return ok;
}

void doctor() {
  std::printf("garra %s, compiled by GCC %s, instruction set %s\n\nself-test\n", version(), __VERSION__,
              instruction_set());
  bool ok = self_test(parse_device("scalar"));
  ok = self_test(parse_device("cpu")) && ok;
  ok = self_test_of_gpus() && ok;
  std::printf("\n--device auto: %s\n", explain_auto().c_str());
  const Device cpu = parse_device("cpu");
  std::printf("memory: %.1f GiB free, room for %s three-contact problems at once\n",
              static_cast<double>(free_memory(cpu)) / (1 << 30),
              short_number(static_cast<double>(how_many_fit(cpu, 8 * 140))).c_str());
  if (!ok)
    throw Error(ExitCode::kInternal, "the self-test failed",
                "this build gives wrong answers on this machine: rebuild it here");
}

}  // namespace

void add_doctor_command(Command app) {
  Command c = app.add_subcommand("doctor", "Processors, lanes, GPU, memory and a two-second self-test");
  c.footer("Examples:\n  garra doctor\n  garra doctor --warm");
  const auto only_warm = std::make_shared<bool>(false);
  c.add_flag("--warm", *only_warm, "Only load all kernels of the GPU, so that no run waits for it");
  c.callback([only_warm] { *only_warm ? warm() : doctor(); });
}

}  // namespace garra::cli
