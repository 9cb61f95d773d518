#include "base/scenario/field_schema.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/files/suggest.hpp"
#include "base/scenario/jobs.hpp"
#include "base/scenario/toml_json.hpp"

namespace garra::io {

namespace {

using Json = nlohmann::ordered_json;

Json table_schema() { return {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}}; }

/// Schema of a key without its descriptions.
Json bare(Json schema) {
  schema.erase("description");
  schema.erase("default");
  return schema;
}

/// Text escaped for a cell of a Markdown table.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  return out;
}

Json distribution_definition() {
  const Json quantity = {{"type", Json::array({"number", "string"})}};
  const Json pair = {{"type", "array"}, {"items", quantity}, {"minItems", 2}, {"maxItems", 2}};
  Json one = Json::array();
  for (const char* kind : {"normal", "lognormal", "uniform", "cone_uniform"})
    one.push_back({{"required", Json::array({kind})}});
  return {{"type", "object"},
          {"description", "a distribution; min and max cut it off and renormalize it"},
          {"properties",
           {{"normal", pair},
            {"lognormal", pair},
            {"uniform", pair},
            {"cone_uniform", quantity},
            {"min", quantity},
            {"max", quantity}}},
          {"additionalProperties", false},
          {"oneOf", one}};
}

FieldSchema described_job(const JobFields& job) {
  FieldSchema f;
  job.describe(f);
  return f;
}

const JobFields& known(const std::string& name) {
  std::vector<std::string> names;
  for (const auto list : {std::span<const JobFields>(kJobs), std::span<const JobFields>(kFiles)})
    for (const JobFields& one : list) {
      if (name == one.name) return one;
      names.emplace_back(one.name);
    }
  throw Error(ExitCode::kUsage, "there is no job or file " + io::quoted(name), suggest(name, names, "Jobs and files"));
}

bool is_job(const std::string& name) {
  return std::any_of(std::begin(kJobs), std::end(kJobs), [&](const JobFields& job) { return name == job.name; });
}

}  // namespace

FieldSchema::FieldSchema() { objects_.push_back(table_schema()); }

void FieldSchema::put(const std::string& name, Json schema, const Words& words) {
  const std::string& doc = words.doc.empty() ? words.comment : words.doc;
  if (!doc.empty()) schema["description"] = doc;
  Json& table = objects_.back();
  // A key required within a case is not required of every file.
  if (!words.required.empty() && cases_.empty()) table["required"].push_back(name);
  Json& properties = table["properties"];
  if (!properties.contains(name)) {
    properties[name] = std::move(schema);
    // Descriptions may differ between cases that accept the same values; only the values count.
  } else if (bare(properties[name]) != bare(schema)) {  // another case takes something else
    Json both = {{"anyOf", {properties[name], schema}}};
    properties[name] = std::move(both);
  }
}

void FieldSchema::row(const std::string& name, const std::string& takes, const std::string& otherwise,
                      const Words& words) {
  const std::string& doc = words.doc.empty() ? words.comment : words.doc;
  std::string meaning;
  for (const std::string& label : cases_) meaning += (meaning.empty() ? "" : ", ") + label;
  if (!meaning.empty() && !doc.empty()) meaning += ": ";
  const std::string dot = path_.empty() || name.empty() ? "" : ".";
  rows_ += "| `" + path_ + dot + name + "` | " + cell(takes) + " | " + cell(otherwise) + " | " + cell(meaning + doc) +
           " |\n";
}

void FieldSchema::key(const std::string& name, Value& value, const Words& words) {
  Json schema = value.schema();
  const std::string text = value.text();
  std::string otherwise = words.otherwise;
  if (words.required.empty() && otherwise.empty() && !text.empty()) {
    // Through the TOML reader: one form of a default serves files, tables and schema.
    schema["default"] = toml_as_json("value = " + text)["value"];
    const std::string unit = value.unit();
    otherwise = "`" + text + "`" + (unit.empty() || text == "0" || text.front() == '"' ? "" : " " + unit);
  }
  if (!words.required.empty()) otherwise = "required";
  put(name, std::move(schema), words);
  row(name, value.takes(), otherwise.empty() ? "none" : otherwise, words);
}

Json FieldSchema::described(const std::string& name, const Visit& visit) {
  const std::string above = path_;
  path_ += (path_.empty() ? "" : ".") + name;
  objects_.push_back(table_schema());
  std::vector<std::string> cases;  // inside, what is required is so wherever the table is
  cases.swap(cases_);
  visit();
  cases.swap(cases_);
  Json schema = std::move(objects_.back());
  objects_.pop_back();
  path_ = above;
  return schema;
}

void FieldSchema::table(const std::string& name, const Words& words, const Visit& visit) {
  Json schema = described(name, visit);
  if (words.several) {
    Json one = schema;
    schema["type"] = Json::array({"object", "array"});
    schema["items"] = std::move(one);
  }
  put(name, std::move(schema), words);
}

void FieldSchema::tables(const std::string& name, const Words& words, const Items& items) {
  // One item represents all.
  items.resize(1);
  put(name, {{"type", "array"}, {"items", described(name, [&] { items.visit(0); })}}, words);
}

void FieldSchema::entries(const std::string& name, const Entries& entries) {
  Json any = described(name, [&] { entries.visit(""); })["properties"][""];
  const Json doc = any["description"];
  put(name, {{"type", "object"}, {"description", doc}, {"additionalProperties", bare(any)}}, {});
}

void FieldSchema::when(const Case& of, const Visit& visit) {
  // Keys that are known only to be rejected are not advertised.
  if (of.label.empty()) return;
  cases_.push_back(of.label);
  visit();
  cases_.pop_back();
}

std::vector<std::string> job_names() {
  std::vector<std::string> all;
  for (const JobFields& job : kJobs) all.emplace_back(job.name);
  return all;
}

std::string scenario_schema(const std::string& job) {
  const bool scenario = job.empty() || is_job(job);
  Json out = {{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", scenario ? "garra scenario" : "garra " + job}};
  if (!job.empty()) {
    out.update(described_job(known(job)).schema());
  } else {
    Json names = Json::array(), cases = Json::array();
    for (const JobFields& one : kJobs) {
      names.push_back(one.name);
      cases.push_back(
          {{"if", {{"properties", {{"job", {{"const", one.name}}}}}}}, {"then", described_job(one).schema()}});
    }
    out["type"] = "object";
    out["properties"] = {{"job", {{"enum", names}}}};
    out["required"] = Json::array({"schema", "job"});
    // With `if` and `then`, not `oneOf`: editors then complete the keys of the job at hand.
    out["allOf"] = cases;
  }
  out["definitions"] = {{"distribution", distribution_definition()}};
  return out.dump(2) + "\n";
}

std::string scenario_rows(const std::string& job) {
  return "| key | takes | default | meaning |\n|---|---|---|---|\n" + described_job(known(job)).rows();
}

}  // namespace garra::io
