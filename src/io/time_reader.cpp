#include "io/time_reader.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "io/csv_rows.hpp"
#include "io/distribution_reader.hpp"
#include "io/number.hpp"
#include "io/scenario_parts.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;
using grasp::InTime;
using grasp::TimeLoad;
using Kind = TimeLoad::Kind;

constexpr std::int64_t kDefaultSamples = 10'000;
constexpr double kMostSteps = 1e7;
constexpr double kWholeStep = 1e-6;  ///< of a step: what may be missing to a whole number of them
constexpr std::int64_t kFewestInstants = 2, kMostInstants = 1001;
constexpr std::size_t kMostLevels = 32;
constexpr std::size_t kMostLoads = 64;
constexpr std::int64_t kChunksOfARun = 10, kMostBlocks = 64;

const Wanted kPositiveTime{kTime, Bounds::positive()};
const Wanted kNotNegativeTime{kTime, Bounds::not_negative()};

void number(TableReader& table, const char* key, const Wanted& wanted, double& into) {
  if (const Node* node = table.find(key)) into = read_bounded(*node, table.name(key), wanted);
}

void vector(TableReader& table, const char* key, const Dimension& dimension, Vec3<double>& into) {
  if (const Node* node = table.find(key)) into = read_vector(*node, table.name(key), dimension);
}

bool is_zero(const Vec3<double>& v) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

/// `until` is a whole number of steps.
void read_steps(TableReader& table, InTime& time) {
  const Node& until = table.require("until", "Say how long the object must be held: until = \"1 s\".");
  time.until = read_bounded(until, table.name("until"), kPositiveTime);
  number(table, "step", kPositiveTime, time.step);
  const Node* step = table.find("step");
  const Place& place = (step == nullptr ? until : *step).place;
  const std::string key = table.name("step"), found = shortest(time.step) + " s";
  const double steps = time.until / time.step, whole = std::max(1.0, std::round(steps));
  if (whole > kMostSteps)
    fail(place, key, found + " makes more than " + shortest(kMostSteps) + " steps", "Give a longer step.");
  if (std::abs(steps - whole) > kWholeStep)
    fail(place, key, found + " does not divide time.until = " + shortest(time.until) + " s",
         "Write step = " + shortest(time.until / whole) + ", which makes " + shortest(whole) + " steps.");
}

void read_restitution(TableReader& table, InTime& time) {
  number(table, "restitution", {kRatio, {.low = 0, .high = 1}}, time.restitution);
  if (time.restitution > 0 && time.scheme == grasp::Scheme::kExplicit)
    fail(table.find("restitution")->place, table.name("restitution"), "the explicit scheme knows no impacts",
         "Leave it out, or write scheme = \"moreau-jean\".");
}

void read_friction(const Node& node, const std::string& key, InTime& time) {
  const std::vector<Node>& items = read_array(node, key, 0);
  if (items.empty() || items.size() > kMostLevels)
    fail(node.place, key,
         "expected 1 to " + std::to_string(kMostLevels) + " levels, found " + std::to_string(items.size()),
         "Write friction = [0.2, 0.3, 0.4], or leave it out for the friction of [contacts].");
  for (std::size_t k = 0; k < items.size(); ++k) {
    const double level = read_bounded(items[k], item(key, k), {kRatio, Bounds::not_negative()});
    if (k > 0 && level <= time.friction.back())
      fail(items[k].place, item(key, k), "is not above the level before it", "Write the levels in growing order.");
    time.friction.push_back(level);
  }
}

void read_instants(const Node& node, const std::string& key, InTime& time) {
  const std::int64_t n = read_integer(node, key);
  const auto most = static_cast<std::int64_t>(std::round(std::min<double>(time.until / time.step + 1, kMostInstants)));
  if (n < kFewestInstants || n > most)
    fail(node.place, key,
         "must be " + std::to_string(kFewestInstants) + " to " + std::to_string(most) + ", found " + std::to_string(n),
         "At most " + std::to_string(kMostInstants) + ", and one more than there are steps.");
  time.instants = static_cast<int>(n);
}

/// `from` and `to` of a load that acts in between.
void read_interval(TableReader& table, const InTime& time, bool ends, TimeLoad& load) {
  load.to = time.until;
  number(table, "from", kNotNegativeTime, load.from);
  if (load.from >= time.until)
    fail(table.find("from")->place, table.name("from"), "the load begins when all is over",
         "time.until is " + shortest(time.until) + " s.");
  const Node* to = table.find("to");
  if (to == nullptr && ends) to = &table.require("to", "Say when it is done: to = \"0.5 s\".");
  if (to == nullptr) return;
  load.to = read_bounded(*to, table.name("to"), kNotNegativeTime);
  const bool at_once = load.kind == Kind::kRamp && load.to == load.from;
  if (load.to <= load.from && !at_once)
    fail(to->place, table.name("to"), "is not after from = " + shortest(load.from) + " s",
         "Give the end of the load in seconds from the start.");
}

void read_force(TableReader& table, const Dimension& force, const Dimension& torque, TimeLoad& load) {
  vector(table, "force", force, load.force);
  vector(table, "torque", torque, load.torque);
  if (is_zero(load.force) && is_zero(load.torque))
    fail(table.place(), table.name("force"), "missing, and no torque either",
         "Write force = [0, 0, \"-5 " + si_unit(force) + "\"], in palm axes.");
}

void read_tilt(TableReader& table, TimeLoad& load) {
  const Node& axis = table.require("axis", "Say what gravity turns about: axis = [1, 0, 0].");
  load.axis = read_vector(axis, table.name("axis"), kRatio);
  if (is_zero(load.axis)) fail(axis.place, table.name("axis"), "the axis is zero", "Give a direction: [1, 0, 0].");
  const Node& angle = table.require("angle", "Say how far gravity turns: angle = \"90 deg\".");
  load.angle = read_quantity(angle, table.name("angle"), kAngle);
}

void read_shake(TableReader& table, const InTime& time, TimeLoad& load) {
  const Node& rms = table.require("rms", "Give the palm's acceleration along each axis: rms = [0, 0, \"3 m/s^2\"].");
  load.rms = read_vector(rms, table.name("rms"), kAcceleration);
  for (std::size_t i = 0; i < 3; ++i)
    if (load.rms[static_cast<int>(i)] < 0)
      fail(rms.items[i].place, item(table.name("rms"), i), "must not be negative", "It is a root mean square.");
  number(table, "low", {kFrequency, Bounds::positive()}, load.low);
  number(table, "high", {kFrequency, Bounds::positive()}, load.high);
  const Node* high = table.find("high");
  const Place& place = high == nullptr ? table.place() : high->place;
  if (load.high < load.low)
    fail(place, table.name("high"), "lies below low = " + shortest(load.low) + " Hz", "Give the band that is shaken.");
  if (2 * load.high * time.step > 1)
    fail(place, table.name("high"), shortest(load.high) + " Hz is too fast for a step of " + shortest(time.step) + " s",
         "Give a step below " + shortest(rounded(0.5 / load.high, 3)) + " s, or a lower frequency.");
}

void read_accelerations(TableReader& table, TimeLoad& load) {
  const Node& times = table.require("times", "Write times = [0, 0.1, 0.2] and accelerations, or file = \"palm.csv\".");
  const std::string key = table.name("times"), rows_key = table.name("accelerations");
  const std::vector<Node>& at = read_array(times, key, 0);
  if (at.empty()) fail(times.place, key, "no times", "Write times = [0, 0.1, 0.2].");
  for (std::size_t k = 0; k < at.size(); ++k)
    add_time(read_quantity(at[k], item(key, k), kTime), at[k].place, item(key, k), load.times);
  const Node& rows = table.require("accelerations", "Write [x, y, z] in palm axes for each time.");
  const std::vector<Node>& items = read_array(rows, rows_key, at.size());
  for (std::size_t k = 0; k < items.size(); ++k)
    load.accelerations.push_back(read_vector(items[k], item(rows_key, k), kAcceleration));
}

/// The palm's acceleration over time: lists, or a file of four columns.
void read_sampled(TableReader& table, const std::string& scenario, TimeLoad& load) {
  const Node* file = table.find("file");
  if (file == nullptr) return read_accelerations(table, load);
  for (const char* key : {"times", "accelerations"})
    if (const Node* node = table.find(key))
      fail(node->place, table.name(key), "both " + std::string(key) + " and file", "Keep one of them.");
  load.file = existing_file(*file, table.name("file"), scenario);
  const CsvTable columns{4, "accelerations",
                         "Write the time and the palm's acceleration along x, y, z, in s and m/s^2."};
  for_each_row(load.file, columns, [&](const std::vector<double>& row, const Place& place) {
    add_time(row[0], place, "time", load.times);
    load.accelerations.push_back({{row[1], row[2], row[3]}});
  });
}

TimeLoad read_time_load(const Node& node, const std::string& key, const std::string& scenario, const InTime& time) {
  TableReader table(node, key);
  const Node& kind = table.require("kind", "Write kind = \"ramp\", \"impulse\", \"tilt\", \"shake\" or \"sampled\".");
  TimeLoad load;
  load.kind = read_enum<Kind>(kind, table.name("kind"), {"ramp", "impulse", "tilt", "shake", "sampled"});
  if (load.kind == Kind::kSampled) {
    read_sampled(table, scenario, load);
    load.to = time.until;
    table.finish();
    return load;
  }
  read_interval(table, time, load.kind != Kind::kShake, load);
  switch (load.kind) {
    case Kind::kRamp:
      read_force(table, kForce, kTorque, load);
      break;
    case Kind::kImpulse:
      read_force(table, kImpulse, kTurningImpulse, load);
      break;
    case Kind::kTilt:
      read_tilt(table, load);
      break;
    case Kind::kShake:
      read_shake(table, time, load);
      break;
    case Kind::kSampled:
      break;
  }
  table.finish();
  return load;
}

/// A run folder keeps copies of the files side by side.
void require_own_name(const Place& place, const std::string& key, const std::string& file, const InTime& time) {
  if (file.empty()) return;
  const auto differs = [&](const std::string& other) {
    return !other.empty() && other != file && fs::path(other).filename() == fs::path(file).filename();
  };
  bool taken = differs(time.sample_file);
  for (const TimeLoad& load : time.loads) taken = taken || differs(load.file);
  if (taken) fail(place, key, file + ": another file of this scenario has the same name", "Rename one of them.");
}

void read_loads(const Node& node, const std::string& key, const std::string& scenario, InTime& time) {
  if (node.kind != Node::Kind::kArray)
    fail(node.place, key, "expected an array of tables, found " + describe(node), "Write [[" + key + "]] above each.");
  if (node.items.size() > kMostLoads)
    fail(node.place, key, "more than " + std::to_string(kMostLoads) + " loads", "Put some of them together.");
  bool shaken = false;
  for (std::size_t k = 0; k < node.items.size(); ++k) {
    const TimeLoad load = read_time_load(node.items[k], item(key, k), scenario, time);
    require_own_name(node.items[k].place, item(key, k) + ".file", load.file, time);
    if (load.kind == Kind::kShake && shaken)
      fail(node.items[k].place, item(key, k), "a second shake", "Put both into one, with rms = [x, y, z].");
    shaken = shaken || load.kind == Kind::kShake;
    time.loads.push_back(load);
  }
}

void read_limits_of_a_hold(TableReader& table, InTime& time) {
  const Wanted path{kLength, Bounds::positive()};
  number(table, "slip", path, time.slip);
  number(table, "drop", path, time.drop);
  number(table, "drop_turn", {kAngle, Bounds::positive()}, time.drop_turn);
}

/// What only a single instant has.
void refuse_uniqueness(TableReader& root) {
  const Node* solver = root.find("solver");
  const Node* check = solver == nullptr ? nullptr : solver->find("check_uniqueness");
  if (check != nullptr)
    fail(check->place, "solver.check_uniqueness", "is not used with [time]: no step looks for a second solution",
         "Leave it out, or leave [time] out for a study of one instant.");
}

}  // namespace

void read_time(TableReader& root, const std::string& name, grasp::Scenario& scenario) {
  const Node* node = root.find("time");
  if (node == nullptr) return;
  refuse_uniqueness(root);
  TableReader table(*node, "time");
  InTime& time = scenario.time.emplace();
  read_steps(table, time);
  if (const Node* scheme = table.find("scheme"))
    time.scheme = read_choice(*scheme, table.name("scheme"), {"moreau-jean", "explicit"}) == "explicit"
                      ? grasp::Scheme::kExplicit
                      : grasp::Scheme::kMoreauJean;
  read_restitution(table, time);
  number(table, "drift_correction", {kRatio, {.low = 0, .high = 1}}, time.baumgarte);
  if (const Node* levels = table.find("friction")) read_friction(*levels, table.name("friction"), time);
  read_limits_of_a_hold(table, time);
  if (const Node* instants = table.find("instants"))
    read_instants(*instants, table.name("instants"), time);
  else
    time.instants = static_cast<int>(std::min<double>(time.instants, std::round(time.until / time.step) + 1));
  read_drive(table.find_table("drive"), name, scenario.fingers, time);
  if (const Node* loads = table.find("load")) read_loads(*loads, table.name("load"), name, time);
  table.finish();
  scenario.plan.samples = kDefaultSamples;
}

void set_chunk_of_time(TableReader& root, study::Plan& plan) {
  if (root.find_table("sampling").find("chunk") != nullptr) return;
  const std::int64_t blocks = plan.samples / kChunksOfARun / study::kBlock;
  plan.chunk = std::clamp<std::int64_t>(blocks, 1, kMostBlocks) * study::kBlock;
}

}  // namespace garra::io
