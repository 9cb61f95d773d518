#include "cli/samples/system_job.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files/suggest.hpp"
#include "cli/answer_parts.hpp"
#include "garra/core/error.hpp"

namespace garra::cli {

using Json = nlohmann::ordered_json;

namespace {

Json value_to_json(const study::RowColumn& column, double x) {
  if (column.type == study::RowColumn::Type::kReal) return number_to_json(x);
  if (!column.names.empty()) return column.names[static_cast<std::size_t>(x)];
  return static_cast<std::int64_t>(x);
}

/// A number, a list, or a table if its numbers have names.
Json values_to_json(const study::RowColumn& column, const std::vector<double>& row) {
  const bool named = column.type == study::RowColumn::Type::kReal && column.names.size() == column.width;
  if (column.width == 1 && !named) return value_to_json(column, row[column.first]);
  Json values = named ? Json::object() : Json::array();
  for (std::size_t k = 0; k < column.width; ++k) {
    const Json value = value_to_json(column, row[column.first + k]);
    if (named)
      values[column.names[k]] = value;
    else
      values.push_back(value);
  }
  return values;
}

Json to_json(const std::vector<study::RowColumn>& columns, const std::vector<double>& row) {
  Json j = Json::object();
  for (const study::RowColumn& column : columns)
    j[column.name == "index" ? "sample" : column.name] = values_to_json(column, row);
  return j;
}

void print_lines(const Json& j) {
  for (const auto& [name, value] : j.items())
    if (value.is_object())
      print_lines(value);
    else
      std::printf("%-20s %s\n", name.c_str(),
                  value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
}

std::string outcomes(const Json& s) {
  std::string out = "\nOutcomes\n";
  for (const auto& [name, count] : s["outcomes"].items()) out += counted(words(name), count, s["samples"]);
  return out;
}

}  // namespace

void print_row(const std::vector<study::RowColumn>& columns, const std::vector<double>& row,
               const std::string& format) {
  const Json j = to_json(columns, row);
  if (format == "json")
    std::printf("%s\n", j.dump(1).c_str());
  else
    print_lines(j);
}

std::string SystemJob::answer(const Json& s, const Json& manifest, const std::string& run) const {
  const std::string event = s["event"]["name"];
  return heading(s, "Study of " + words(s["job"].get<std::string>())) + estimate_line(event, s["event"]) +
         samples_line(s) + outcomes(s) + influences_on(event, s) + quantiles(s) + "\n" + speed_line(manifest) +
         "A sample           garra replay " + io::shell_word(run) + " --sample 0\n";
}

std::int64_t SystemJob::sample_to_replay(const Json& summary) const { return summary["samples"] == 0 ? -1 : 0; }

void SystemJob::replay(const ReplayArguments& a, std::int64_t sample) const {
  if (!a.problem.empty() || !a.output.empty())
    throw Error(ExitCode::kUsage, "a sample of this job has no file of its own",
                "results.h5 in the run folder holds samples one by one: [output] keep says which.");
  print_row(study_->columns(), study_->row(sample), a.format);
}

}  // namespace garra::cli
