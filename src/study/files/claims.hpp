// Claims of workers on the chunks of a run folder that several processes share.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace garra::io {

/// The files RUN/claims/N. A claim is advisory, never a lock: a chunk is the same for every worker, so a lost or
/// ignored claim only costs a second computation. The shared file system only needs exclusive creation of files.
class Claims {
 public:
  /// `worker`: as worker_name() gives it.
  Claims(std::string run, std::string worker) : folder_(std::move(run) + "/claims"), worker_(std::move(worker)) {}
  /// Releases the remaining claims.
  ~Claims();
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  using NextMissing = std::function<std::optional<std::int64_t>()>;  ///< a further chunk that is missing, each once
  using IsThere = std::function<bool(std::int64_t)>;
  /// Claims one of the missing chunks, tried in their order: the first that is unclaimed, or whose claim is overdue or
  /// of a dead process. Else duplicates the oldest claimed one, because waiting would help nobody. Nothing if no chunk
  /// is missing, or all have been stored meanwhile.
  [[nodiscard]] std::optional<std::int64_t> take(const NextMissing& next_missing, const IsThere& is_there);
  /// Releases a chunk that was stored or given up.
  void drop(std::int64_t chunk);

  /// A worker's claim on a chunk.
  struct Claim {
    std::int64_t chunk;
    std::string worker;
    std::optional<double> seconds;  ///< age of the claim; nothing if its date lies in the future
  };
  /// All claims, oldest first.
  [[nodiscard]] static std::vector<Claim> all(const std::string& run);
  /// Removes all claims of a complete run.
  static void remove_all(const std::string& run);

 private:
  [[nodiscard]] std::string file(std::int64_t chunk) const;
  [[nodiscard]] bool make(std::int64_t chunk);
  void take_over(std::int64_t chunk);
  [[nodiscard]] double age(std::int64_t chunk);  ///< [s], at least 0

  struct Sighting {
    std::time_t date;                          ///< of the claim, by another host's clock
    std::chrono::steady_clock::time_point at;  ///< by ours
  };
  std::string folder_, worker_;
  std::set<std::int64_t> mine_;
  std::map<std::int64_t, Sighting> seen_;  ///< claims of others, when they had their date first
  std::chrono::steady_clock::time_point since_ = {};
  double slowest_ = 0;  ///< [s] that one of our chunks has taken
};

/// Name of this process: host-process-random.
[[nodiscard]] const std::string& worker_name();

/// The host of that name; the name itself if it is not of this form.
[[nodiscard]] std::string machine_name(const std::string& name);

/// "process 12 on host a"; "an unknown process" for a name of another form.
[[nodiscard]] std::string describe_worker(const std::string& name);
/// Whether the named worker is known to have died: a process of this host that no longer exists.
[[nodiscard]] bool is_of_dead(const std::string& name);

}  // namespace garra::io
