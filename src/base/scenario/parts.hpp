// The common parts of a scenario file. Each function reads its tables from the document.
#pragma once

#include <cstdint>
#include <string>

#include "base/scenario/field_reader.hpp"
#include "base/scenario/field_values.hpp"
#include "base/scenario/fields.hpp"
#include "garra/study/study.hpp"

namespace garra::io {

/// Checks that `schema` is a supported version.
void check_schema(TableReader& root);
/// Reads `schema` and `job`; returns the job.
[[nodiscard]] std::string read_header(TableReader& root);
/// Checks `schema` and that the job is `job`; `what` names such a scenario in messages.
void require_job(TableReader& root, const std::string& job, const std::string& what);
/// A scenario of the job by its list of fields(f, scenario), from `scenario` with its defaults.
template <class Scenario, class List>
[[nodiscard]] Scenario read_job_scenario(const Node& document, const std::string& job, const std::string& what,
                                         Scenario scenario, const List& fields) {
  TableReader root(document, "");
  require_job(root, job, what);
  FieldReader f(document);
  fields(f, scenario);
  f.finish();
  return scenario;
}
/// A whole number from 1 to `most`.
[[nodiscard]] std::int64_t read_count(const Node& node, const std::string& key, std::int64_t most);
inline constexpr std::int64_t kMaxSamples = 1'000'000'000'000;

// Fields that jobs share, and the first field of all TOML files.

/// `schema`, which check_schema() has read.
void schema_field(Fields& f);

/// `schema`, `job`, `title`, and `seed` if the job draws numbers.
void header_fields(Fields& f, const char* job, std::string& title, std::uint64_t* seed);
/// Fields of [sampling], one by one, for jobs have them in their own order.
void samples_field(Fields& f, std::int64_t& samples, const Words& words);
/// Most blocks in a chunk of a run that has many samples: a GPU computes 2^20 samples in little more time than a file
/// takes.
inline constexpr std::int64_t kMaxBlocks = 4096;
void larger_chunks(study::Plan& plan, std::int64_t most_blocks);
void chunk_field(Fields& f, study::Plan& plan, const Words& words);
/// `doc` begins the description.
void max_unsolved_field(Fields& f, study::Plan& plan, const std::string& doc = "");
void stop_field(Fields& f, study::Plan& plan);
void time_limit_field(Fields& f, study::Plan& plan);
/// [output] of jobs that keep samples one by one.
void output_fields(Fields& f, study::Plan& plan);

}  // namespace garra::io
