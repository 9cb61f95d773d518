// `garra verify`: checks that a run folder holds the results of its scenario.
#include "study/files/verify.hpp"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files/suggest.hpp"
#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "cli/jobs.hpp"
#include "cli/progress.hpp"
#include "cli/temporary_folder.hpp"
#include "cli/terminal.hpp"
#include "garra/batch/devices.hpp"
#include "garra/core/error.hpp"

namespace garra::cli {

namespace {

struct VerifyArguments {
  std::string run, device = "auto", format = "human";
  double share = 0.01;
  int threads = 0;
};

void print_verification(const io::Verification& v, const VerifyArguments& a) {
  if (a.format == "json") {
    const nlohmann::ordered_json j = {{"run", a.run},
                                      {"finished", v.finished},
                                      {"chunks", v.chunks},
                                      {"samples", v.samples},
                                      {"chunks_computed", v.computed},
                                      {"faults", v.faults},
                                      {"verified", v.faults.empty()}};
    std::printf("%s\n", j.dump(1).c_str());
    return;
  }
  std::printf("%s: %s, the first %lld chunks with %lld samples are sound; %lld of them computed again\n",
              printable(a.run).c_str(), v.finished ? "finished" : "unfinished", static_cast<long long>(v.chunks),
              static_cast<long long>(v.samples), static_cast<long long>(v.computed));
  for (const std::string& fault : v.faults) std::printf("  %s\n", printable(fault).c_str());
  if (v.faults.empty())
    std::printf("verified: %s the same bytes\n", v.finished ? "files, summary, results and chunks are" : "chunks are");
}

void verify(const VerifyArguments& a) {
  auto folder = io::RunFolder::open(a.run);
  const auto document = read_scenario_document(folder);
  const auto job = job_kind(document).read(document);
  const TemporaryFolder scratch;
  std::optional<Progress> progress;  // once it is known how many chunks are to be computed
  stop_on_signals();
  const io::Verification v = io::verify(
      folder, job->study(),
      {.share = a.share,
       .devices = parse_devices(a.device, a.threads),
       .scratch = scratch.path(),
       .on_progress =
           [&](std::int64_t done, std::int64_t all) {
             if (!progress) progress.emplace(a.format == "json" ? "none" : "auto", all);
             progress->show_step(done, "computing chunk " + std::to_string(done + 1) + " of " + std::to_string(all));
           },
       .is_cancelled = is_stopped});
  if (progress) progress->clear();
  print_verification(v, a);
  if (v.faults.empty()) return;
  throw Error(ExitCode::kRequirementFailed, a.run + ": does not hold what its scenario gives",
              "`garra resume " + io::shell_word(a.run) +
                  "` computes again what is missing or damaged; what is forged or was computed "
                  "wrongly is found in a new run only: garra run " +
                  folder.scenario());
}

}  // namespace

void add_verify_command(Command app) {
  auto a = std::make_shared<VerifyArguments>();
  Command c = app.add_subcommand("verify", "Whether a run folder holds what its scenario gives, byte for byte");
  c.add_option("RUN", a->run, "run folder").required();
  c.add_option("--fraction", a->share, "share of the chunks to compute again, at least one; 0: none", share());
  c.add_option("--device", a->device, "auto, cpu, scalar, cuda or cuda:i; several GPUs: cuda:0,1 or cuda:all")
      .capture_default_str();
  add_threads(c, a->threads, "CPU threads, 0 = all");
  c.add_option("--format", a->format, "human or json", one_of({"human", "json"}));
  c.footer(
      "Examples:\n  garra verify run-three_puma_sphere\n  garra verify from-a-stranger --fraction 1   # everything "
      "again");
  c.callback([a] { verify(*a); });
}

}  // namespace garra::cli
