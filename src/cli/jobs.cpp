#include "cli/jobs.hpp"

#include <algorithm>

#include "base/scenario/field_schema.hpp"
#include "garra/core/error.hpp"

namespace garra::cli {

namespace {

/// List of jobs, filled before main() by the jobs' own files, in arbitrary order.
std::vector<const JobKind*>& known() {
  // In a function: created at the first use, for any order of initialization.
  static std::vector<const JobKind*> all;
  return all;
}

const JobKind* find(const std::string& name) {
  const auto found =
      std::find_if(known().begin(), known().end(), [&](const JobKind* kind) { return name == kind->name; });
  return found == known().end() ? nullptr : *found;
}

/// In the order of the registry.
std::vector<const JobKind*> all_kinds() {
  std::vector<const JobKind*> all;
  for (const std::string& name : io::job_names())
    if (const JobKind* kind = find(name)) all.push_back(kind);
  return all;
}

}  // namespace

KnownJob::KnownJob(const JobKind& kind) { known().push_back(&kind); }

io::ScenarioDocument read_scenario_document(const io::RunFolder& folder) {
  auto document = io::ScenarioDocument::read(folder.scenario());
  document.set(folder.overrides());
  return document;
}

const JobKind& job_kind(const io::ScenarioDocument& document) {
  if (const JobKind* kind = find(document.job())) return *kind;
  std::string names;
  for (const JobKind* kind : all_kinds())
    names.append(names.empty() ? "job = \"" : " and job = \"").append(kind->name).append("\"");
  throw Error(ExitCode::kInvalidFile, document.name() + ": job = \"" + document.job() + "\" is not available yet",
              "this version runs " + names);
}

std::string all_quantities() {
  std::string all;
  for (const JobKind* each : all_kinds()) {
    const JobKind& kind = *each;
    const std::string whose = *kind.of_whom == '\0' ? "" : std::string(",") + kind.of_whom;
    all.append(all.empty() ? "" : "; ").append(kind.name).append(": ").append(kind.quantity).append(whose);
    if (*kind.more_quantities != '\0') all.append(" ").append(kind.more_quantities);
  }
  return all;
}

bool has_quantity(const JobKind& kind, const std::string& name) {
  const std::string more = " " + std::string(kind.more_quantities) + " ";
  return name == kind.quantity || (!name.empty() && more.find(" " + name + " ") != std::string::npos);
}

bool is_quantity(const std::string& name) {
  const auto has = [&](const JobKind* kind) { return has_quantity(*kind, name); };
  return std::any_of(known().begin(), known().end(), has);
}

}  // namespace garra::cli
