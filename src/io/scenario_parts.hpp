// The parts of a scenario file. Each reads its tables from the document.
#pragma once

#include <cstdint>
#include <string>

#include "garra/grasp.hpp"
#include "io/toml_reader.hpp"

namespace garra::io {

/// `schema` and `job`; returns the job.
[[nodiscard]] std::string read_header(TableReader& root);
/// `schema`, and that the job is this one; `what` is what a scenario of it is called.
void require_job(TableReader& root, const std::string& job, const std::string& what);
/// Both may be missing.
void read_title_and_seed(TableReader& root, std::string& title, study::Plan& plan);
/// A whole number from 1 to `most`.
[[nodiscard]] std::int64_t read_count(const Node& node, const std::string& key, std::int64_t most);
inline constexpr std::int64_t kMostSamples = 1'000'000'000'000;
/// `samples`, `chunk`, `stop`, `time_limit` of [sampling].
void read_sampling(TableReader& table, study::Plan& plan);
/// [output]
void read_output(const Node& node, study::Plan& plan);

/// [object]
[[nodiscard]] grasp::Object read_object(TableReader& root);
/// [hand], [contacts], [[contact]]; the scenario's object must have been read. `file` is the scenario's own, beside which
/// robot files of fingers are.
void read_hand(TableReader& root, const std::string& file, grasp::Scenario& scenario);
/// [load], [motion], [solver], [sampling], [output]; the scenario's object must have been read.
void read_study(TableReader& root, grasp::Scenario& scenario);

}  // namespace garra::io
