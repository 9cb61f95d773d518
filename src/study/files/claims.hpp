// Who is at work on which chunk of a run folder that several processes share.
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

/// The files RUN/claims/NNNNNN. A claim is a courtesy, never a lock: a chunk is the same whoever computes it, so that a
/// claim lost or ignored costs a computation twice and nothing else. It needs of the shared file system only that a
/// file can be made by one process alone.
class Claims {
 public:
  /// `worker`: as worker_name() gives it.
  Claims(std::string run, std::string worker) : folder_(std::move(run) + "/claims"), worker_(std::move(worker)) {}
  /// What is still claimed is given back.
  ~Claims();
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  using NextMissing = std::function<std::optional<std::int64_t>()>;  ///< a further chunk that is missing, each once
  using IsThere = std::function<bool(std::int64_t)>;
  /// One of the missing chunks, asked in their order: the first that nobody has claimed, or whose claim is of a dead
  /// process or overdue; else, since waiting would help nobody, the one claimed for longest. Nothing where there is
  /// none, or all have come meanwhile.
  [[nodiscard]] std::optional<std::int64_t> take(const NextMissing& next_missing, const IsThere& is_there);
  /// It is stored, or given up.
  void drop(std::int64_t chunk);

  struct Claim {
    std::int64_t chunk;
    std::string worker;
    std::optional<double> seconds;  ///< since it was made; nothing where its date lies in the future
  };
  /// All of them, oldest first.
  [[nodiscard]] static std::vector<Claim> all(const std::string& run);
  /// Where the run is whole there is nothing to claim.
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

/// host-process-random: of this process.
[[nodiscard]] const std::string& worker_name();

/// The host of that name; the name itself where it is none of ours.
[[nodiscard]] std::string machine_of(const std::string& name);

/// "process 12 on host a"; a name that is none of ours is "an unknown process".
[[nodiscard]] std::string describe_worker(const std::string& name);
/// Whether the worker of such a name is known to have died: a process of this host that is no more.
[[nodiscard]] bool is_of_dead(const std::string& name);

}  // namespace garra::io
