// Tasks of the program that the Python package performs: reports, and work on a dask cluster.
#pragma once

#include <string>
#include <vector>

namespace garra::cli {

/// Exit code of the Python that makes RUN/report.html: 0 made, 3, 5 and 70 as in garra, others: Python or a package is
/// missing. Its messages go to stderr, unless `quiet`.
[[nodiscard]] int make_report(const std::string& run, bool quiet);

/// Whether a page about one configuration was made: `item` is a JSON file like an entry of configurations.json.
[[nodiscard]] bool make_singularity_page(const std::string& item, const std::string& page, bool quiet);

/// The same for the ranking of a grasp set: RANKING.h5, and the set that it names.
[[nodiscard]] bool make_ranking_page(const std::string& ranking, const std::string& page, bool quiet);

/// Runs a module of the Python package, which prints its answer: on these files, with `words` as further arguments, and
/// with -o `output` unless that is "". Throws Error with the module's exit code; `task` says what was not done.
void run_module(const std::string& module, const std::string& task, const std::vector<std::string>& files,
                const std::string& output, const std::vector<std::string>& words);

/// Whether FOLDER/bench.html of a benchmark was made.
[[nodiscard]] bool make_bench_report(const std::string& folder, bool quiet);

/// Whether the workers of a dask.distributed scheduler ("local": some on this machine) have computed all chunks of the
/// run.
[[nodiscard]] bool work_by_dask(const std::string& run, const std::string& address, bool quiet);

}  // namespace garra::cli
