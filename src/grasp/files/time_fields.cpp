// Reads [simulation] of a grasp scenario. docs/theory/grasp-time.md.
#include "grasp/files/time_fields.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/files/csv_rows.hpp"
#include "base/files/number.hpp"
#include "base/scenario/field_values.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;
using grasp::InTime;
using grasp::TimeLoad;
using Kind = TimeLoad::Kind;

constexpr double kMaxSteps = 1e7;
constexpr double kWholeStep = 1e-6;  ///< of a step: what may be missing to a whole number of them
constexpr std::int64_t kFewestInstants = 2, kMaxInstants = 1001;
constexpr std::size_t kMaxLevels = 32;
constexpr std::size_t kMaxLoads = 64;

const Wanted kPositiveTime{kTime, Bounds::positive()};
const Wanted kNotNegativeTime{kTime, Bounds::not_negative()};

bool is_zero(const Vec3<double>& v) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

/// Checks that `duration` is a whole number of steps.
void step_fields(Fields& f, InTime& time) {
  f.key("duration", quantity(time.duration, kPositiveTime),
        {.doc = "how long", .required = "Say how long the object must be held: duration = \"1 s\"."});
  f.key("step", quantity(time.step, kPositiveTime), {.doc = "`duration` is a whole number of steps, at most 10⁷"});
  const std::string found = shortest(time.step) + " s";
  // At least one, because `duration` below a step asks for one step.
  const double steps = time.duration / time.step, whole = std::max(1.0, std::round(steps));
  // The error names the key that is present.
  const char* key = f.has("step", true) ? "step" : "duration";
  f.check(whole <= kMaxSteps, key, found + " makes more than " + shortest(kMaxSteps) + " steps", "Give a longer step.");
  f.check(whole > kMaxSteps || std::abs(steps - whole) <= kWholeStep, key,
          found + " does not divide simulation.duration = " + shortest(time.duration) + " s",
          "Write step = " + shortest(time.duration / whole) + ", which makes " + shortest(whole) + " steps.");
}

/// Friction levels in increasing order.
AnyValue levels(std::vector<double>& friction) {
  const auto read = [&friction](const Node& node, const std::string& key) {
    const std::vector<Node>& items = read_array(node, key, 0);
    if (items.empty() || items.size() > kMaxLevels)
      fail(node.place, key,
           "expected 1 to " + std::to_string(kMaxLevels) + " levels, found " + std::to_string(items.size()),
           "Write friction = [0.2, 0.3, 0.4], or leave it out for the friction of [contacts].");
    for (std::size_t k = 0; k < items.size(); ++k) {
      const double level = read_bounded(items[k], item(key, k), {kRatio, Bounds::not_negative()});
      if (k > 0 && level <= friction.back())
        fail(items[k].place, item(key, k), "is not above the level before it", "Write the levels in growing order.");
      friction.push_back(level);
    }
  };
  const auto write = [&friction] {
    return friction.empty() ? std::string() : list(friction, static_cast<int>(friction.size()), kRatio);
  };
  return custom(
      {read, write, "1 to 32 growing levels, at least 0", R"({"type": "array", "minItems": 1, "maxItems": 32})"});
}

AnyValue instants_value(InTime& time) {
  const auto read = [&time](const Node& node, const std::string& key) {
    const std::int64_t n = read_integer(node, key);
    const auto most =
        // At most the number of step ends, time 0 included.
        static_cast<std::int64_t>(std::round(std::min<double>(time.duration / time.step + 1, kMaxInstants)));
    if (n < kFewestInstants || n > most)
      fail(
          node.place, key,
          "must be " + std::to_string(kFewestInstants) + " to " + std::to_string(most) + ", found " + std::to_string(n),
          "At most " + std::to_string(kMaxInstants) + ", and one more than there are steps.");
    time.instants = static_cast<int>(n);
  };
  return custom({read, [&time] { return std::to_string(time.instants); }, "2 to 1001",
                 R"({"type": "integer", "minimum": 2, "maximum": 1001})"});
}

/// `from` and `to` of a load that acts between them.
void interval_fields(Fields& f, const InTime& time, bool ends, TimeLoad& load) {
  f.key("from", quantity(load.from, kNotNegativeTime), {.doc = "when it begins"});
  f.check(!f.good() || load.from < time.duration, "from", "the load begins when all is over",
          "simulation.duration is " + shortest(time.duration) + " s.");
  f.key("to", quantity(load.to, kNotNegativeTime),
        {.doc = "when it is done",
         .required = ends ? "Say when it is done: to = \"0.5 s\"." : "",
         .otherwise = "required; of a shake `duration`"});
  // A ramp may be a jump; an impulse without duration would have an infinite force, a tilt an infinite speed.
  const bool at_once = load.kind == Kind::kRamp && load.to == load.from;
  f.check(load.to > load.from || at_once, "to", "is not after from = " + shortest(load.from) + " s",
          "Give the end of the load in seconds from the start.");
}

void force_fields(Fields& f, const Dimension& force, const Dimension& torque, const std::string& doc, TimeLoad& load) {
  f.key("force", vector(load.force, {force}), {.doc = doc, .otherwise = "`0`; one of the two"});
  f.key("torque", vector(load.torque, {torque}),
        {.doc = "about the center of mass", .otherwise = "`0`; one of the two"});
  f.check(!is_zero(load.force) || !is_zero(load.torque), "force", "missing, and no torque either",
          "Write force = [0, 0, \"-5 " + si_unit(force) + "\"], in palm axes.");
}

void tilt_fields(Fields& f, TimeLoad& load) {
  const auto axis = [&](const Node& node, const std::string& key) {
    load.axis = read_vector(node, key, kRatio);
    if (is_zero(load.axis)) fail(node.place, key, "the axis is zero", "Give a direction: [1, 0, 0].");
  };
  f.key("axis",
        custom({axis, [&] { return text(load.axis, kRatio); }, "[x, y, z], not zero",
                R"({"type": "array", "minItems": 3, "maxItems": 3})"}),
        {.doc = "that gravity turns about, at constant speed, and stays there",
         .required = "Say what gravity turns about: axis = [1, 0, 0]."});
  f.key("angle", quantity(load.angle, {kAngle}),
        {.doc = "how far", .required = "Say how far gravity turns: angle = \"90 deg\"."});
}

void shake_fields(Fields& f, const InTime& time, TimeLoad& load) {
  f.key("rms", vector(load.rms, {kAcceleration}),
        {.doc = "root mean square of the palm's acceleration along each axis; at most one shake",
         .required = "Give the palm's acceleration along each axis: rms = [0, 0, \"3 m/s^2\"]."});
  for (int i = 0; i < 3; ++i)
    f.check(load.rms[i] >= 0, item("rms", static_cast<std::size_t>(i)), "must not be negative",
            "It is a root mean square.");
  f.key("low", quantity(load.low, {kFrequency, Bounds::positive()}), {.doc = "of the band", .comment = "Hz"});
  f.key("high", quantity(load.high, {kFrequency, Bounds::positive()}),
        {.doc = "sixteen tones along each axis, evenly spread over the band, of equal size and random phase, other "
                "ones in each sample",
         .comment = "Hz"});
  f.check(load.high >= load.low, "high", "lies below low = " + shortest(load.low) + " Hz",
          "Give the band that is shaken.");
  // Nyquist: at least two steps to a period.
  f.check(!f.good() || 2 * load.high * time.step <= 1, "high",
          shortest(load.high) + " Hz is too fast for a step of " + shortest(time.step) + " s",
          "Give a step below " + shortest(rounded(0.5 / load.high, 3)) + " s, or a lower frequency.");
}

AnyValue accelerations(TimeLoad& load) {
  const auto read = [&load](const Node& node, const std::string& key) {
    const std::vector<Node>& items = read_array(node, key, load.times.size());
    for (std::size_t k = 0; k < items.size(); ++k)
      load.accelerations.push_back(read_vector(items[k], item(key, k), kAcceleration));
  };
  const auto write = [&load] {
    std::string rows = "[";
    for (const Vec3<double>& a : load.accelerations)
      rows += (&a == &load.accelerations.front() ? "" : ", ") + text(a, kAcceleration);
    return rows + "]";
  };
  return custom({read, write, "[x, y, z] for each time, m/s^2", R"({"type": "array", "minItems": 1})"});
}

AnyValue acceleration_file(TimeLoad& load, const std::string& scenario) {
  const auto read = [&load, scenario](const Node& node, const std::string& key) {
    load.file = existing_file(node, key, scenario);
    const CsvTable columns{4, "accelerations",
                           "Write the time and the palm's acceleration along x, y, z, in s and m/s^2."};
    for_each_row(load.file, columns, [&](const std::vector<double>& row, const Place& place) {
      add_time(row[0], place, "time", load.times);
      load.accelerations.push_back({{row[1], row[2], row[3]}});
    });
  };
  return custom({read, [] { return std::string(); }, "a file", R"({"type": "string"})"});
}

/// The palm's acceleration over time: lists, or a file of four columns.
void sampled_fields(Fields& f, const std::string& scenario, TimeLoad& load) {
  const auto of_file = [&] {
    f.key(
        "file", acceleration_file(load, scenario),
        {.doc = "the same as text: a row `time, ax, ay, az` per time, numbers in SI units; the run folder keeps a copy",
         .otherwise = "this or `times` and `accelerations`"});
  };
  const auto of_lists = [&] {
    f.key("times", growing_times(load.times, "[0, 0.1, 0.2]"),
          {.doc = "linear in between, none before the first and after the last",
           .comment = "s",
           .required = "Write times = [0, 0.1, 0.2] and accelerations, or file = \"palm.csv\"."});
    f.key("accelerations", accelerations(load),
          {.doc = "of the palm along x, y, z, the same in all samples",
           .comment = "m/s^2, of the palm along x, y, z",
           .required = "Write [x, y, z] in palm axes for each time."});
  };
  lists_or_file(f, "accelerations", of_file, of_lists);
}

Case of_kind(const TimeLoad& load, Kind kind) {
  return {load.kind == kind, "kind = \"" + std::string(name_of(kind)) + "\""};
}

void load_fields(Fields& f, const std::string& scenario, const InTime& time, TimeLoad& load) {
  f.key("kind", choice(load.kind),
        {.doc = "any number of loads add up; directions are palm axes",
         .required = "Write kind = \"ramp\", \"impulse\", \"tilt\", \"shake\" or \"sampled\"."});
  // Loads last to the end by default.
  if (f.reading()) load.to = time.duration;
  f.when(of_kind(load, Kind::kRamp), [&] {
    force_fields(f, kForce, kTorque, "on the object: nothing until `from`, growing linearly, whole from `to` on", load);
  });
  f.when(of_kind(load, Kind::kImpulse),
         [&] { force_fields(f, kImpulse, kTurningImpulse, "integral over time, as half a sine", load); });
  f.when(of_kind(load, Kind::kTilt), [&] { tilt_fields(f, load); });
  f.when(of_kind(load, Kind::kShake), [&] { shake_fields(f, time, load); });
  f.when({load.kind != Kind::kSampled, "all kinds but sampled"},
         // A shake may last to the end; other loads need an end time.
         [&] { interval_fields(f, time, f.reading() && load.kind != Kind::kShake, load); });
  f.when(of_kind(load, Kind::kSampled), [&] { sampled_fields(f, scenario, load); });
}

/// A run folder keeps copies of the files side by side.
bool has_own_name(const InTime& time, std::size_t k) {
  const std::string& file = time.loads[k].file;
  const auto differs = [&](const std::string& other) {
    return !file.empty() && !other.empty() && other != file && fs::path(other).filename() == fs::path(file).filename();
  };
  bool taken = differs(time.sample_file);
  for (std::size_t i = 0; i < k; ++i) taken = taken || differs(time.loads[i].file);
  return !taken;
}

void all_loads(Fields& f, const std::string& scenario, InTime& time) {
  f.tables("load", {.doc = "what changes with time"},
           {time.loads.size(), [&](std::size_t n) { time.loads.resize(n); },
            [&](std::size_t k) { load_fields(f, scenario, time, time.loads[k]); }});
  f.check(time.loads.size() <= kMaxLoads, "load", "more than " + std::to_string(kMaxLoads) + " loads",
          "Put some of them together.");
  bool shaken = false;
  for (std::size_t k = 0; k < time.loads.size(); ++k) {
    const bool shakes = time.loads[k].kind == Kind::kShake;
    f.check(has_own_name(time, k), item("load", k) + ".file",
            time.loads[k].file + ": another file of this scenario has the same name", "Rename one of them.");
    f.check(!shakes || !shaken, item("load", k), "a second shake", "Put both into one, with rms = [x, y, z].");
    shaken = shaken || shakes;
  }
}

}  // namespace

AnyValue growing_times(std::vector<double>& times, const std::string& example) {
  const auto read = [&times, example](const Node& node, const std::string& key) {
    const std::vector<Node>& at = read_array(node, key, 0);
    if (at.empty()) fail(node.place, key, "no times", "Write times = " + example + ".");
    for (std::size_t k = 0; k < at.size(); ++k)
      add_time(read_quantity(at[k], item(key, k), kTime), at[k].place, item(key, k), times);
  };
  return custom({read, [&times] { return list(times, static_cast<int>(times.size()), kRatio); }, "growing times, s",
                 R"({"type": "array", "minItems": 1})"});
}

void lists_or_file(Fields& f, const char* values, const std::function<void()>& of_file,
                   const std::function<void()>& of_lists) {
  const bool file = f.has("file", false);
  bool both = false;
  for (const char* key : {"times", values}) {
    const bool too = f.reading() && file && f.has(key, true);
    f.check(!too, key, "both " + std::string(key) + " and file", "Keep one of them.");
    both = both || too;
  }
  // The error is reported; which of the two to read is unknown.
  if (both) return;
  if (file) of_file();
  // Values from a file are written as lists: a resolved scenario is self-contained.
  if (!(file && f.reading())) of_lists();
}

void time_fields(Fields& f, const std::string& scenario, std::vector<grasp::Finger>& fingers, InTime& time) {
  step_fields(f, time);
  f.key("scheme", choice(time.scheme),
        {.doc = "explicit: the papers' Algorithm 1, stable for small steps only; the answer tells the share of steps "
                "beyond its bound"});
  f.key("restitution", quantity(time.restitution, {kRatio, {.low = 0, .high = 1}}),
        {.doc = "speed after an impact over speed before it; not with \"explicit\""});
  f.check(time.restitution == 0 || time.scheme != grasp::Scheme::kExplicit, "restitution",
          "the explicit scheme knows no impacts", "Leave it out, or write scheme = \"moreau-jean\".");
  f.key("drift_correction", quantity(time.baumgarte, {kRatio, {.low = 0, .high = 1}}),
        {.comment = "share of a penetration that a step takes back"});
  f.key("friction", levels(time.friction),
        {.doc = "the nominal friction of all contacts in turn; deviations drawn about the nominal stay as they are (of "
                "a common friction: its product with `each`, less the product of the medians, so that all contacts "
                "deviate together)",
         .comment = "of all contacts, in turn",
         .otherwise = "as `[contacts]` says"});
  const Wanted path{kLength, Bounds::positive()};
  f.key("slip", quantity(time.slip, path), {.doc = "path of a contact at which the grasp counts as slipped"});
  f.key("drop", quantity(time.drop, path), {.doc = "displacement of the center of mass at which it counts as dropped"});
  f.key("drop_turn", quantity(time.drop_turn, {kAngle, Bounds::positive()}),
        {.doc = "turn from where it began at which it counts as turned; counted on beyond half a turn"});
  if (f.reading())
    // The default is limited by the number of steps.
    time.instants = static_cast<int>(std::min<double>(time.instants, std::round(time.duration / time.step) + 1));
  f.key("instants", instants_value(time),
        {.doc = "from 0 to `duration`, at which samples are looked at", .comment = "looked at, both ends included"});
  f.table("drive", {.doc = "how the fingers are driven"}, [&] { drive_fields(f, scenario, fingers, time); });
  all_loads(f, scenario, time);
}

}  // namespace garra::io
