// `garra status`: prints the progress of a run, and its workers.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files/suggest.hpp"
#include "cli/commands.hpp"
#include "cli/jobs.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "study/files/claims.hpp"
#include "study/files/run_chunks.hpp"
#include "study/files/run_record.hpp"
#include "study/files/worker_record.hpp"

namespace garra::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Status {
  io::RunFolder folder;
  const JobKind& kind;
  std::int64_t samples;  ///< asked for
  bool finished;
  study::RunResult so_far;  ///< up to the first gap
  study::Estimate estimate;
  io::RunFolder::Chunk gap;    ///< reason for the gap
  std::int64_t chunks, there;  ///< of the whole run, and of them stored, behind gaps too
  std::vector<io::Claims::Claim> claims;
  std::vector<io::WorkerState> workers;

  [[nodiscard]] bool is_whole() const {
    return so_far.total.count >= samples ||
           (finished && so_far.total.count == io::parse_claim(folder.read_text("summary.json")).samples);
  }
};

Status read_status(const std::string& run) {
  auto folder = io::RunFolder::open(run);
  io::require_unchanged(folder);
  const auto document = read_scenario_document(folder);
  const JobKind& kind = job_kind(document);
  const auto job = kind.read(document);
  const study::Study& study = job->study();
  io::expect_study_of_any_version(folder, study);
  io::RunChunks chunks(folder, {});
  study::RunResult so_far = study::stored(study, chunks);
  const study::Estimate estimate = study.estimate(so_far.total);
  const bool finished = folder.has("summary.json");
  const std::int64_t there = folder.chunks_present();
  auto claims = io::Claims::all(run);
  auto workers = io::read_workers(folder);
  return {std::move(folder),
          kind,
          study.plan().samples,
          finished,
          std::move(so_far),
          estimate,
          chunks.last(),
          study::count_chunks(study.plan()),
          there,
          std::move(claims),
          std::move(workers)};
}

/// Rate [samples/s] of the workers that are still at work, as far as this host can tell.
double total_rate(const Status& s) {
  double rate = 0;
  for (const io::WorkerState& w : s.workers)
    if (!w.ended && !io::is_of_dead(w.name)) rate += w.rate();
  return rate;
}

void print_status_json(const Status& s) {
  Json j = {{"run", s.folder.path()}, {"finished", s.finished}, {"samples", s.so_far.total.count},
            {"of", s.samples},        {"chunks", s.there},      {"of_chunks", s.chunks}};
  if (s.so_far.total.count > 0)
    j[s.kind.quantity] = {
        {"probability", s.estimate.probability}, {"low", s.estimate.interval.low}, {"high", s.estimate.interval.high}};
  j["workers"] = Json::array();
  for (const io::WorkerState& w : s.workers)
    j["workers"].push_back({{"name", w.name},
                            {"device", w.device},
                            {"samples", w.samples},
                            {"seconds", w.seconds},
                            {"checked", w.checked.size()},
                            {"ended", w.ended}});
  j["claims"] = Json::array();
  for (const auto& c : s.claims)
    j["claims"].push_back(
        {{"chunk", c.chunk}, {"worker", c.worker}, {"seconds", c.seconds ? Json(*c.seconds) : Json(nullptr)}});
  std::printf("%s\n", j.dump(1, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_workers(const Status& s) {
  for (const io::WorkerState& w : s.workers) {
    std::printf("  %s: %lld samples, %s/s on %s", io::describe_worker(w.name).c_str(),
                static_cast<long long>(w.samples), short_number(w.rate()).c_str(), printable(w.device).c_str());
    if (!w.checked.empty()) std::printf(", %zu chunks of others confirmed", w.checked.size());
    std::printf("%s\n", w.ended ? "; ended" : io::is_of_dead(w.name) ? "; died" : "");
  }
  for (const auto& c : s.claims)
    std::printf("  chunk %lld: %s, %s%s\n", static_cast<long long>(c.chunk), io::describe_worker(c.worker).c_str(),
                c.seconds ? ("for " + short_time(*c.seconds)).c_str() : "dated in the future: two clocks differ",
                io::is_of_dead(c.worker) ? "; died" : "");
}

void print_status(const Status& s) {
  const std::string run = printable(s.folder.path());
  std::printf("%s: %s, %lld of %lld samples", run.c_str(), s.finished ? "finished" : "unfinished",
              static_cast<long long>(s.so_far.total.count), static_cast<long long>(s.samples));
  if (s.so_far.total.count > 0)
    std::printf(", P(%s)%s = %.4f [%.4f, %.4f]", s.kind.event, s.kind.of_whom, s.estimate.probability,
                s.estimate.interval.low, s.estimate.interval.high);
  std::printf("\n");
  if (!s.finished && s.there > s.so_far.chunks)
    std::printf("%lld of %lld chunks are there, not all of them in a row\n", static_cast<long long>(s.there),
                static_cast<long long>(s.chunks));
  print_workers(s);
  const double rate = total_rate(s);
  if (!s.finished && rate > 0) {
    const double share = static_cast<double>(s.there) / static_cast<double>(s.chunks);
    std::printf("%s samples/s in all, %s left\n", short_number(rate).c_str(),
                short_time((1 - share) * static_cast<double>(s.samples) / rate).c_str());
  }
  const bool whole = s.is_whole();
  if (!whole && (s.finished || s.gap != io::RunFolder::Chunk::kMissing))
    std::printf("chunk %lld %s\n", static_cast<long long>(s.so_far.chunks), io::describe_state(s.gap));
  if (!s.finished || !whole) std::printf("continue with: garra resume %s\n", io::shell_word(run).c_str());
}

}  // namespace

void add_status_command(Command app) {
  struct Arguments {
    std::string run, format = "human";
  };
  auto a = std::make_shared<Arguments>();
  Command c = app.add_subcommand("status", "How far a run is, with its current interval, and who works on it");
  c.add_option("RUN", a->run, "run folder").required();
  c.add_option("--format", a->format, "human or json", one_of({"human", "json"}));
  c.footer("Examples:\n  garra status run-three_puma_sphere\n  watch garra status grasp");
  c.callback([a] {
    const Status s = read_status(a->run);
    a->format == "json" ? print_status_json(s) : print_status(s);
  });
}

}  // namespace garra::cli
