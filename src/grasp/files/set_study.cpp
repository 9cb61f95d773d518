// What is uncertain about a grasp set: TOML.
#include <optional>

#include "base/files/text_file.hpp"
#include "base/scenario/field_reader.hpp"
#include "base/scenario/parts.hpp"
#include "garra/io/grasp_set.hpp"

namespace garra::io {

namespace {

using grasp::SetStudy;
using study::Distribution;

/// A value or distribution under one key, or a factor on what the set has under another.
void value_or_factor(Fields& f, const std::string& name, const Wanted& wanted, Distribution& into, bool& is_factor) {
  const std::string factor = name + "_factor";
  const bool value = f.has(name, !is_factor);
  f.check(!value || !f.has(factor, is_factor), factor, "both " + name + " and " + factor, "Keep one of them.");
  if (value) {
    is_factor = false;
    f.key(name, distribution(into, wanted));
  } else {
    f.key(factor, distribution(into, {kRatio, Bounds::not_negative()}));
  }
}

void fields(Fields& f, SetStudy& s) {
  std::string title;
  header_fields(f, "grasp_set", title, &s.seed);
  f.table("object", {}, [&] {
    value_or_factor(f, "mass", {kMass, Bounds::not_negative()}, s.mass, s.mass_is_factor);
    f.key("com_ball", quantity(s.com_ball, {kLength, Bounds::not_negative()}));
  });
  f.table("contacts", {}, [&] {
    value_or_factor(f, "friction", {kRatio, Bounds::not_negative()}, s.friction, s.friction_is_factor);
    f.key("own_friction_factor", distribution(s.contact_friction, {kRatio, Bounds::not_negative()}));
    f.key("slide_t", distribution(s.slide_t, {kLength}));
    f.key("slide_o", distribution(s.slide_o, {kLength}));
    f.key("tilt", distribution(s.tilt, {kAngle, Bounds::any(), true}));
  });
  f.table("load", {}, [&] {
    f.key("force_ball", quantity(s.force_ball, {kForce, Bounds::not_negative()}));
    f.key("torque_ball", quantity(s.torque_ball, {kTorque, Bounds::not_negative()}));
    f.key("any_gravity", boolean(s.any_gravity));
  });
  f.table("set", {}, [&] { f.key("hand", choice(s.hand)); });
  f.table("command", {}, [&] {
    f.key("factor", distribution(s.command, {kRatio}));
    f.key("squeeze_error", distribution(s.squeeze_error, {kForce}));
  });
  f.table("held", {}, [&] { f.key("imbalance", quantity(s.held_imbalance, {kRatio, Bounds::positive()})); });
  f.table("solver", {}, [&] { f.key("check_uniqueness", boolean(s.check_uniqueness)); });
  f.table("sampling", {}, [&] {
    samples_field(f, s.samples, {});
    f.key("best", count(s.best, {.low = 0, .high = kMostSamples}));
    f.key("confidence", quantity(s.confidence, {kRatio, {.low = 0.5, .high = 1, .above_low = true}}));
    f.key("friction_samples", count(s.friction_samples, {.low = 0, .high = kMostSamples}));
  });
}

}  // namespace

SetStudy read_set_study(const std::string& path, const std::vector<std::string>& overrides) {
  return read_set_study_text(path.empty() ? std::string(kCertainSet) : read_text(path), path, overrides);
}

grasp::SetStudy read_set_study_text(const std::string& text, const std::string& name,
                                    const std::vector<std::string>& overrides) {
  const Node document = parse_toml(text, name, overrides);
  TableReader root(document, "");
  check_schema(root);
  (void)read_choice(root.require("job", "Write job = \"grasp_set\"."), "job", {"grasp_set"});
  SetStudy study;
  FieldReader f(document);
  fields(f, study);
  f.finish();
  return study;
}

}  // namespace garra::io
