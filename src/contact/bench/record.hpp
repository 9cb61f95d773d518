// Records of `garra contact bench`, as plain data between its parts. docs/notes/solver-benchmark.md defines each
// number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "garra/contact.hpp"

namespace garra::cli {

/// How a solver ended on a problem: a garra::Status, or an ending of external solvers only.
enum class Ending : int {
  kConverged = 0,          ///< the certificate holds; 0 to 5 are garra::Status
  kGaveUp = kStatusCount,  ///< a peer says that it has not solved the problem, and it has not
  kFalseClaim,             ///< a peer says that it has, and the certificate says no
  kCrashed,                ///< its process died
  kTimedOut,               ///< it was stopped within this problem
};
inline constexpr int kEndingCount = kStatusCount + 4;
/// Names as in bench.json.
[[nodiscard]] const char* to_string(Ending ending);

/// Outcome of one solver on one problem.
struct Outcome {
  Ending ending = Ending::kConverged;
  double residual = 0;          ///< relative change of the load, by our certificate; NaN without a force
  double seconds = 0;           ///< one cold solve
  std::int32_t iterations = 0;  ///< outer ones, as the solver counts them
};

/// Throughput of a batch on one device.
struct Throughput {
  std::string device;
  double per_second = 0;       ///< problems solved or not
  int threads = 0;             ///< processor threads that worked; 0 on a GPU
  double per_core_second = 0;  ///< problems by processor time of one thread, however busy the machine was; 0 on a GPU
};

/// Results of one solver on one set. The first `outcomes.size()` problems of the set were tried.
struct SolverRecord {
  std::string name;
  std::string not_run = {};  ///< why it was not tried; empty if it was
  std::vector<Outcome> outcomes = {};
  std::vector<Throughput> throughput = {};
  bool same_answers = true;  ///< the batch in lanes gave the bits of the single solves
};

/// A file that cannot be read, or that holds problems that no solver here takes.
struct Refused {
  std::string file, reason;
  std::int64_t problems = 1;
};

/// A set of problems with the results of all solvers.
struct SetRecord {
  std::string name, description;
  contact::Problems problems = {};  ///< in the order in which they are tried
  std::vector<Refused> refused = {};
  std::vector<SolverRecord> solvers = {};
};

/// Options of the measurement.
struct MeasureOptions {
  double tolerance = 1e-8;  ///< solved: FrictionSolution::residual <= tolerance
  double time_limit = 1;    ///< [s] for the single solves of one solver on one set
  Device device;            ///< of the throughput, beside the processor's
};

inline constexpr int kRepetitions = 3;    ///< of a quick single solve; the smallest time counts
inline constexpr double kQuick = 3e-3;    ///< [s] with one problem, after which it is not repeated
inline constexpr double kTrusted = 0.99;  ///< share of problems that a solver to trust solves

/// Problems [first, first + count) as a batch of their own.
[[nodiscard]] contact::Problems slice(const contact::Problems& all, std::int64_t first, std::int64_t count);

/// Totals over the tried problems.
struct Totals {
  std::int64_t tried = 0, solved = 0;
  double mean = 0, median = 0, p999 = 0;  ///< [s]
  double iterations = 0;                  ///< median
  std::int32_t most_iterations = 0;       ///< of one problem
  [[nodiscard]] double share() const {
    return tried > 0 ? static_cast<double>(solved) / static_cast<double>(tried) : 0;
  }
};
/// Totals over the outcomes of one solver on one set.
[[nodiscard]] Totals totals(const SolverRecord& record);

}  // namespace garra::cli
