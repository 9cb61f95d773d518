// Fields that the jobs share: the head of the document, [sampling], [output].
#include "base/scenario/field_schema.hpp"
#include "base/scenario/parts.hpp"

namespace garra::io {

namespace {

/// Most chunks of a run without a given chunk size: more files make a folder slow to list.
constexpr std::int64_t kMaxChunks = 4000;

const Wanted kShare{kRatio, {.low = 0, .high = 1}};

std::uint64_t read_seed(const Node& node, const std::string& key) {
  const std::int64_t seed = read_integer(node, key);
  // TOML integers are signed: half of the seeds cannot be written, which is harmless.
  if (seed < 0) fail(node.place, key, "must not be negative", "Write any whole number from 0.");
  return static_cast<std::uint64_t>(seed);
}

std::int64_t read_chunk(const Node& node, const std::string& key) {
  const std::int64_t n = read_count(node, key, kMaxSamples);
  if (n % study::kBlock == 0) return n;
  // Whole blocks: sums are made per block, so that their bits do not depend on the chunk size.
  const std::int64_t next = (n / study::kBlock + 1) * study::kBlock;
  fail(node.place, key, std::to_string(n) + " is not a multiple of " + std::to_string(study::kBlock),
       "Write " + std::to_string(next) + ", or leave it out.");
}

}  // namespace

void schema_field(Fields& f) {
  const auto read_before = [](const Node&, const std::string&) {};  // check_schema() has
  f.key("schema", custom({read_before, [] { return std::string("1"); }, "1", R"({"const": 1})"}),
        {.doc = "version of the format", .required = "Write schema = 1 in the first line."});
}

void header_fields(Fields& f, const char* job, std::string& title, std::uint64_t* seed) {
  schema_field(f);
  const auto read_before = [](const Node&, const std::string&) {};  // require_job() has
  const std::string name = text(std::string(job)), schema = "{\"const\": " + name + "}";
  f.key("job", custom({read_before, [&] { return name; }, "`" + name + "`", schema}),
        {.doc = "what the file is about", .required = "Write job = " + name + "."});
  f.key("title", string(title), {.doc = "heads the answer and the report"});
  if (seed == nullptr) return;
  f.key(
      "seed",
      custom({[&](const Node& node, const std::string& key) { *seed = read_seed(node, key); },
              [&] { return std::to_string(*seed); }, "a whole number from 0", R"({"type": "integer", "minimum": 0})"}),
      {.doc = "of all random numbers"});
}

void samples_field(Fields& f, std::int64_t& samples, const Words& words) {
  f.key("samples", count(samples, {.high = kMaxSamples}), words);
}

void larger_chunks(study::Plan& plan, std::int64_t most_blocks) {
  constexpr std::int64_t kFewest = 8;
  while (plan.chunk < most_blocks * study::kBlock && plan.samples >= 2 * kFewest * plan.chunk) plan.chunk *= 2;
}

void chunk_field(Fields& f, study::Plan& plan, const Words& words) {
  // Depends on samples, not on the machine: the sample at which a half width ends a run must be machine-independent.
  if (f.reading())
    while (plan.samples / plan.chunk > kMaxChunks) plan.chunk *= 2;
  f.key("chunk",
        custom({[&](const Node& node, const std::string& key) { plan.chunk = read_chunk(node, key); },
                [&] { return std::to_string(plan.chunk); }, "a multiple of " + std::to_string(study::kBlock),
                R"({"type": "integer", "minimum": 1, "multipleOf": 1024})"}),
        words);
  // The schema text above contains this number.
  static_assert(study::kBlock == 1024);
}

void max_unsolved_field(Fields& f, study::Plan& plan, const std::string& doc) {
  f.key("max_unsolved", quantity(plan.max_unsolved, kShare),
        {.doc = doc + "exit code 4 above this share of unsolved samples",
         .comment = "share of the samples",
         .otherwise =
             "they widen the interval by at most its statistical width, and are at most max(3, samples / 1000)"});
}

void stop_field(Fields& f, study::Plan& plan) {
  const auto half_width = [&plan](Fields& g) {
    g.key("half_width", quantity(plan.stop_half_width, {kRatio, {.low = 0, .high = 0.5, .above_low = true}}, 0.0),
          {.doc = "of the interval", .required = "Write stop = { half_width = 5e-4 }."});
  };
  f.key("stop", inlined(half_width, "`{ half_width = ... }`, above 0 and at most 0.5"),
        {.doc = "ends the run once half the width of the 95 % interval is at most this"});
}

void time_limit_field(Fields& f, study::Plan& plan) {
  f.key("time_limit", quantity(plan.time_limit, {kTime, Bounds::positive()}, 0.0),
        {.doc = "ends the run after so long; it can be resumed"});
}

void output_fields(Fields& f, study::Plan& plan) {
  f.table("output", {.doc = "what is kept"}, [&] {
    f.key("keep", choice(plan.keep, {"none", "failures", "all"}), {.doc = "samples that are stored one by one"});
  });
}

void check_schema(TableReader& root) {
  const Node& schema = root.require("schema", "Write schema = 1 in the first line.");
  // First of all, because the meaning of all other keys may change with the version.
  if (read_integer(schema, "schema") != 1) {
    fail(schema.place, "schema", "unknown version " + std::to_string(read_integer(schema, "schema")),
         "This program reads schema = 1.");
  }
}

/// Rejects a robot or platform file that was given as a scenario.
void refuse_models(TableReader& root) {
  if (root.find("job") != nullptr) return;
  const bool platform = root.find("legs") != nullptr || root.find("layout") != nullptr;
  const bool robot = root.find("joint") != nullptr || root.find("joints") != nullptr ||
                     root.find("convention") != nullptr || root.find("screws") != nullptr;
  if (platform || robot)
    fail(root.place(), "", std::string("this is a ") + (platform ? "platform" : "robot") + ", not a scenario",
         platform
             ? "`garra check FILE` shows it, `garra platform` computes with it; a scenario has job = \"platform\"."
             : "`garra check FILE` shows it, `garra singularity FILE --map` makes a map of it; a scenario has a job, "
               "such as \"singularity\" or \"chain\", and names it.");
}

std::string read_header(TableReader& root) {
  refuse_models(root);
  check_schema(root);
  return read_choice(root.require("job", "Write job = \"grasp\"."), "job", job_names());
}

void require_job(TableReader& root, const std::string& job, const std::string& what) {
  const std::string found = read_header(root);
  if (found == job) return;
  fail(root.find("job")->place, "job", "\"" + found + "\" is no " + what,
       "Only job = \"" + job + "\" has a scenario of this form.");
}

std::int64_t read_count(const Node& node, const std::string& key, std::int64_t most) {
  const std::int64_t n = read_integer(node, key);
  if (n < 1 || n > most)
    fail(node.place, key, "must be 1 to " + std::to_string(most) + ", found " + std::to_string(n),
         "Write a whole number, such as 100_000.");
  return n;
}

}  // namespace garra::io
