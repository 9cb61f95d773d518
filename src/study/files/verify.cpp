#include "study/files/verify.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "garra/core/error.hpp"
#include "study/files/run_chunks.hpp"
#include "study/files/run_record.hpp"

namespace garra::io {

namespace {

bool same_bytes(const std::string& a, const std::string& b) {
  std::ifstream x(a, std::ios::binary), y(b, std::ios::binary);
  std::vector<char> of_x(1 << 16), of_y(1 << 16);
  while (x && y) {
    x.read(of_x.data(), static_cast<std::streamsize>(of_x.size()));
    y.read(of_y.data(), static_cast<std::streamsize>(of_y.size()));
    if (x.gcount() != y.gcount() || !std::equal(of_x.begin(), of_x.begin() + x.gcount(), of_y.begin())) return false;
  }
  return x.eof() && y.eof();
}

/// A verification in progress.
struct Verifier {
  const RunFolder& folder;
  const study::Study& study;
  const VerifyOptions& options;
  Verification found = {};

  void fault(const std::string& text) { found.faults.push_back(text); }

  /// Reads the chunks of a complete run, or the present ones of an unfinished run.
  study::RunResult read_chunks() {
    // Read only: stored() never computes, and damaged chunks are reported as faults, not as warnings.
    RunChunks chunks(folder, {});
    study::RunResult result = study::stored(study, chunks);
    found.chunks = result.chunks;
    found.samples = result.total.count;
    if (is_fault(chunks.last())) fault("chunk " + std::to_string(result.chunks) + " " + describe_state(chunks.last()));
    return result;
  }

  void compare_results(const study::RunResult& result) {
    for (const std::string& name : changed_files(folder))
      fault(name + (name == "manifest.json" ? " does not say which files the run has ended with"
                                            : " is missing, or is not the file that the run has written"));
    const std::string summary = folder.read_text("summary.json");
    const Claim claim = parse_claim(summary);
    // A chunk lost at the very end leaves no gap; only the summary shows that it existed.
    if (claim.samples > result.total.count) {
      if (found.faults.empty()) fault("chunk " + std::to_string(result.chunks) + " is missing");
      return;  // without all chunks there is nothing to compare with
    }
    if (study.summary(result.total, claim.ending) != summary) fault("summary.json is not that of the chunks");
    if (!folder.has("results.h5")) return;
    const std::string again = options.scratch + "/results.h5";
    // Written again and compared byte by byte: the writer gives the same bytes for the same rows.
    write_results(again, folder, study, result);
    if (!same_bytes(again, folder.file("results.h5"))) fault("results.h5 is not that of the chunks");
  }

  [[noreturn]] void stop() const {
    throw Error(ExitCode::kStoppedResumable,
                "stopped by a signal after " + std::to_string(found.computed) + " chunks computed again");
  }

  void compute_again(std::int64_t index) {
    const auto chunk = study::compute_chunk(study, index, options.devices, options.is_cancelled);
    if (!chunk) stop();
    if (!folder.is_chunk(index, *chunk))
      fault("chunk " + std::to_string(index) + " is not what the scenario gives (samples " +
            std::to_string(chunk->first) + " to " + std::to_string(chunk->first + chunk->count - 1) + ")");
    ++found.computed;
  }

  void compute_share() {
    if (options.share <= 0 || found.chunks == 0) return;
    const auto wanted = static_cast<std::int64_t>(std::ceil(options.share * static_cast<double>(found.chunks)));
    for (std::int64_t k = 0; k < wanted; ++k) {
      if (options.is_cancelled && options.is_cancelled()) stop();
      if (options.on_progress) options.on_progress(k, wanted);
      // Evenly over the run, because damage tends to be local.
      compute_again(k * found.chunks / wanted);
    }
  }
};

}  // namespace

Verification verify(RunFolder& folder, const study::Study& study, const VerifyOptions& options) {
  require_same_program(folder);
  require_unchanged(folder);
  expect_study(folder, study);
  Verifier verifier{folder, study, options};
  const study::RunResult result = verifier.read_chunks();
  verifier.found.finished = folder.has("summary.json");
  if (verifier.found.finished) verifier.compare_results(result);
  verifier.compute_share();
  return std::move(verifier.found);
}

}  // namespace garra::io
