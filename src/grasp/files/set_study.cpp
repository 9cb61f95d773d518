// Reads the uncertainties of a grasp set, and its file, from TOML.
#include <filesystem>
#include <limits>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/files/number.hpp"
#include "base/files/text_file.hpp"
#include "base/files/units.hpp"
#include "base/scenario/field_reader.hpp"
#include "base/scenario/field_writer.hpp"
#include "base/scenario/jobs.hpp"
#include "base/scenario/parts.hpp"
#include "garra/contact.hpp"
#include "garra/io/grasp_set.hpp"

namespace garra::io {

namespace {

using grasp::SetOption;
using grasp::SetScenario;
using grasp::SetStudy;
using study::Distribution;

/// A value or distribution under one key, or a factor on the set's values under another.
struct ValueOrFactor {
  std::string name;
  Wanted wanted;
  std::string doc;
  Distribution& into;
  bool& is_factor;
};

void value_or_factor(Fields& f, const ValueOrFactor& v) {
  const std::string factor = v.name + "_factor";
  const bool value = f.has(v.name, !v.is_factor);
  f.check(!value || !f.reading() || !f.has(factor, v.is_factor), factor, "both " + v.name + " and " + factor,
          "Keep one of them.");
  if (value) {
    if (f.reading()) v.is_factor = false;
    f.key(v.name, distribution(v.into, v.wanted), {.doc = "in place of the set's " + v.doc, .otherwise = "the set's"});
  }
  if (!value || (!f.reading() && !f.writing()))
    f.key(factor, distribution(v.into, {kRatio, Bounds::not_negative()}), {.doc = "a factor on the set's " + v.doc});
}

Wanted wanted(const SetOption& option) {
  Wanted wanted{};
  static_cast<void>(parse_any_quantity(std::string("1 ") + option.unit, wanted.dimension));
  if (option.bound == SetOption::Bound::kNotNegative) wanted.bounds = Bounds::not_negative();
  if (option.bound == SetOption::Bound::kPositive) wanted.bounds = Bounds::positive();
  wanted.cone = wanted.dimension == kAngle;
  return wanted;
}

/// The options of a table, from grasp::kSetOptions.
void option_fields(Fields& f, std::string_view table, SetStudy& s) {
  for (const SetOption& option : grasp::kSetOptions) {
    if (table != option.table) continue;
    const auto value = [&](auto member) {
      using T = std::remove_cvref_t<decltype(s.*member)>;
      if constexpr (std::is_same_v<T, bool>)
        return boolean(s.*member);
      else if constexpr (std::is_same_v<T, std::string>)
        return choice(s.*member, {"bounded", "full"});
      else if constexpr (std::is_same_v<T, double>)
        return quantity(s.*member, wanted(option));
      else
        return distribution(s.*member, wanted(option));
    };
    f.key(option.key, std::visit(value, option.value), {.doc = option.doc});
  }
}

void object_fields(Fields& f, SetStudy& s) {
  value_or_factor(f, {"mass", {kMass, Bounds::not_negative()}, "mass", s.mass, s.mass_is_factor});
  option_fields(f, "object", s);
}

void contact_fields(Fields& f, SetStudy& s) {
  value_or_factor(f, {"friction",
                      {kRatio, Bounds::not_negative()},
                      "coefficients, common to all contacts",
                      s.friction,
                      s.friction_is_factor});
  option_fields(f, "contacts", s);
  f.key("force_limit", quantity(s.force_limit, {kForce, Bounds::positive()}, std::numeric_limits<double>::infinity()),
        {.doc = "of the normal force of every contact, where the set has none"});
}

/// Lists of a force and a moment.
AnyValue wrenches(SetStudy& s) {
  const auto read = [&s](const Node& node, const std::string& key) {
    const auto refuse = [&](const Node& at, const std::string& where, const std::string& wanted) {
      fail(at.place, where, wanted, "Write wrenches = [[fx, fy, fz, mx, my, mz], ...], in N and N m.");
    };
    s.wrenches.clear();
    if (node.kind != Node::Kind::kArray || node.items.empty() || node.items.size() > grasp::kMaxWrenches)
      refuse(node, key, "must be a list of 1 to " + std::to_string(grasp::kMaxWrenches) + " wrenches");
    for (std::size_t k = 0; k < node.items.size(); ++k) {
      const Node& row = node.items[k];
      if (row.kind != Node::Kind::kArray || row.items.size() != 6) refuse(row, item(key, k), "must hold six numbers");
      auto& wrench = s.wrenches.emplace_back();
      for (std::size_t i = 0; i < 6; ++i)
        wrench[i] = read_quantity(row.items[i], item(item(key, k), i), i < 3 ? kForce : kTorque);
    }
  };
  const auto text = [&s] {
    std::string out;
    for (const auto& wrench : s.wrenches) {
      std::string row;
      for (const double x : wrench) row += (row.empty() ? "" : ", ") + shortest(x);
      out += (out.empty() ? "[" : ", [") + row + "]";
    }
    return out.empty() ? out : "[" + out + "]";
  };
  return custom({read, text, "`[[fx, fy, fz, mx, my, mz], ...]`, at most 32",
                 R"({"type": "array", "minItems": 1, "maxItems": 32, "items": {"type": "array", "minItems": 6,
                     "maxItems": 6, "items": {"type": ["number", "string"]}}})"});
}

void load_fields(Fields& f, SetStudy& s) {
  option_fields(f, "load", s);
  f.key("wrenches", wrenches(s),
        {.doc = "one of them acts besides, any as likely as the others (object axes, about the center of mass)",
         .otherwise = "none"});
}

void set_fields(Fields& f, SetScenario& s) {
  f.key("file", string(s.file, true),
        {.doc = "the set (HDF5 or NPZ), relative to this file; needed to run it, not by `garra grasp rank SET.h5`",
         .otherwise = "none"});
  f.key(
      "checksum", string(s.checksum, true),
      {.doc = "`\"crc32:...\"` of the set's file: another one is refused. A run folder keeps it", .otherwise = "any"});
  f.key("hand", choice(s.study.hand), {.doc = "what presses on the object; auto: what the set has arrays of"});
  option_fields(f, "set", s.study);
}

void sampling_fields(Fields& f, SetScenario& s) {
  const auto chunk = [&] {
    return custom({[&](const Node& node, const std::string& key) { s.plan.chunk = read_count(node, key, kMaxSamples); },
                   [&] { return s.plan.chunk > 0 ? std::to_string(s.plan.chunk) : ""; }, "1 to 10^12",
                   R"({"type": "integer", "minimum": 1})"});
  };
  const auto radii = [&] {
    std::int64_t& n = s.study.radius_samples;
    return custom({[&](const Node& node, const std::string& key) {
                     const bool none = node.kind == Node::Kind::kInteger && node.integer == 0;
                     n = none ? 0 : read_count(node, key, kMaxSamples);
                   },
                   [&] { return n >= 0 ? std::to_string(n) : ""; }, "0 to 10^12",
                   R"({"type": "integer", "minimum": 0})"});
  };
  samples_field(f, s.study.samples, {.doc = "of each grasp"});
  f.key("friction_samples", count(s.study.friction_samples, {.low = 0, .high = kMaxSamples}),
        {.doc = "of them asked for the friction they need; each costs as much as about twenty samples"});
  f.key("radius_samples", radii(),
        {.doc = "of them asked for the resisted force radius, of an ideal hand whose forces are limited; each costs as "
                "much as "
                "about a thousand samples",
         .otherwise = "a twentieth of `friction_samples`"});
  f.key("best", count(s.study.best, {.low = 0, .high = kMaxSamples}),
        {.doc = "only so many best are wanted (0: all): `garra grasp rank --best`, not in a run"});
  f.key("confidence", quantity(s.study.confidence, {kRatio, {.low = 0.5, .high = 1, .above_low = true}}),
        {.doc = "that none of the true best is given up"});
  f.key("chunk", chunk(), {.doc = "grasps of one file of a run", .otherwise = "a few seconds of work"});
  max_unsolved_field(f, s.plan, "of a run: ");
  time_limit_field(f, s.plan);
}

/// Methods by name, and pairs of a merit function and a minimizer.
std::vector<std::string> methods() {
  std::vector<std::string> names = contact::friction_methods();
  std::erase(names, "merit");
  for (std::string& pair : contact::pair_names()) names.push_back(std::move(pair));
  return names;
}

void set_scenario_fields(Fields& f, SetScenario& s) {
  header_fields(f, "grasp_set", s.title, &s.study.seed);
  f.table("set", {.doc = "which grasps"}, [&] { set_fields(f, s); });
  f.table("object", {.doc = "what is held"}, [&] { object_fields(f, s.study); });
  f.table("contacts", {.doc = "where it is touched"}, [&] { contact_fields(f, s.study); });
  f.table("load", {.doc = "what acts on it besides"}, [&] { load_fields(f, s.study); });
  f.table("command", {.doc = "of a hand that is not ideal"}, [&] { option_fields(f, "command", s.study); });
  f.table("held", {.doc = "what held means"}, [&] { option_fields(f, "held", s.study); });
  f.table("solver", {.doc = "of contact problems, which a hand that is not ideal has"}, [&] {
    f.key("method", choice(s.study.method, methods()), {.doc = "of the contact problem; soft contacts take `auto`"});
    option_fields(f, "solver", s.study);
  });
  f.table("sampling", {.doc = "how many samples"}, [&] { sampling_fields(f, s); });
}

SetScenario build_set_scenario(const Node& document) {
  SetScenario s;
  s.plan.chunk = 0;
  return read_job_scenario(document, "grasp_set", "study of a set of grasps", s, set_scenario_fields);
}

/// Resolves the set's path: as the scenario says, or beside it if a run folder and its set were moved together.
std::string found_file(const std::string& scenario, const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(scenario).parent_path(), named = folder / file, beside = folder / named.filename();
  std::error_code ignored;
  const fs::path found = !fs::exists(named, ignored) && fs::exists(beside, ignored) ? beside : named;
  return fs::absolute(found, ignored).lexically_normal().string();
}

}  // namespace

SetStudy read_set_study(const std::string& path, const std::vector<std::string>& overrides) {
  return read_set_study_text(path.empty() ? std::string(kCertainSet) : read_text(path), path, overrides);
}

SetStudy read_set_study_text(const std::string& text, const std::string& name,
                             const std::vector<std::string>& overrides) {
  return build_set_scenario(parse_toml(text, name, overrides)).study;
}

SetScenario read_set_scenario(const ScenarioDocument& document) {
  SetScenario s = build_set_scenario(document.root());
  if (s.file.empty())
    throw Error(
        ExitCode::kInvalidFile, document.name() + ": set.file is missing",
        "Write [set] with file = \"grasps.h5\", or rank a set by `garra grasp rank SET.h5 " + document.name() + "`.");
  s.file = found_file(document.name(), s.file);
  return s;
}

std::string resolved_toml(const SetScenario& s) { return written(s, set_scenario_fields); }

void describe_grasp_set(Fields& f) {
  SetScenario s;
  s.plan.chunk = 0;
  set_scenario_fields(f, s);
}

}  // namespace garra::io
