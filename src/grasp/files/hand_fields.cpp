// [hand], [contacts] and [[contact]]: fingers and their contact points.
#include "grasp/files/hand_fields.hpp"

#include <algorithm>
#include <cmath>

#include "base/scenario/field_values.hpp"
#include "garra/math/rotation.hpp"
#include "grasp/files/command_fields.hpp"
#include "grasp/files/contact_fields.hpp"
#include "grasp/files/finger_fields.hpp"
#include "grasp/files/tree_hand_fields.hpp"

namespace garra::io {

namespace {

using grasp::Contact;
using grasp::Finger;
using grasp::Scenario;
using grasp::Shape;
using study::Distribution;

constexpr std::size_t kMaxTables = 64;  ///< more are counted, but not kept

/// The papers' hand: three fingers alike.
void three_puma_fields(Fields& f, Hand& hand, Scenario& s) {
  f.key("base_distance", quantity(hand.base_distance, {kLength, Bounds::positive()}),
        {.doc = "of the bases from the palm's center"});
  Finger one;
  puma_fields(f, one);
  std::vector<Finger> three(3, one);
  command_fields(f, three);
  if (f.reading()) s.fingers = three;
}

/// Places the three contacts, and the bases below them on a circle. Common properties are set already.
void place_three_puma(const Hand& hand, Scenario& s) {
  const double azimuths[3] = {-hand.sigma, hand.sigma, M_PI};
  for (std::size_t j = 0; j < 3; ++j) {
    Contact contact = hand.common;
    // The papers' third contact frame is turned by -90 deg relative to the others.
    place_on_sphere({azimuths[j], 0, j == 2 ? -M_PI / 2 : 0}, s.object.radius, contact);
    contact.angle_sign = j == 2 ? 0 : j == 1 ? 1 : -1;
    double c, sine;
    exact_cos_sin(azimuths[j], c, sine);
    // On a circle about the palm's center, each below its contact.
    if (j < s.fingers.size()) s.fingers[j].base.p = {{hand.base_distance * c, hand.base_distance * sine, 0}};
    s.contacts.push_back(contact);
  }
}

/// The median of three_puma's angle is nominal, the rest a deviation; for other hands all of it is a deviation.
AnyValue contact_angle(Hand& hand, Distribution& angle) {
  const auto read = [&](const Node& node, const std::string& key) {
    if (hand.model == HandModel::kFingers) {
      angle = read_distribution(node, key, {kAngle});
      return;
    }
    const Distribution d = read_distribution(node, key, {kAngle, {.low = 0, .high = M_PI, .above_low = true}});
    // Its median and a deviation of the same kind, which not every distribution allows.
    if (!can_shift(d))
      fail(node.place, key, "this distribution cannot be split into a nominal angle and a deviation",
           "Use normal or uniform.");
    hand.sigma = d.nominal();
    if (!d.is_constant()) angle = shifted(d, -hand.sigma);
  };
  return custom({read, [&] { return text(angle, kAngle); }, "D, rad", kDistributionSchema});
}

void common_fields(Fields& f, Hand& hand, Scenario& s) {
  const auto any = [&](auto has) { return std::any_of(s.contacts.begin(), s.contacts.end(), has); };
  const bool moves = any([](const Contact& c) { return c.angle_sign != 0; });
  const bool friction = any([](const Contact& c) { return c.common_friction; });
  // Resolved contacts are complete in [[contact]]; only common values remain to be written here.
  if (f.writing() && !friction && !moves) return;
  f.table("contacts", {.doc = "what all contacts have; drawn for each by itself"}, [&] {
    if (f.has("angle", moves))
      f.key("angle", contact_angle(hand, s.angle),
            {.doc = "three_puma: sigma; its median is nominal, the rest a deviation common to the contacts",
             .comment = "rad, deviation of the common contact angle",
             .otherwise = "`\"60 deg\"`"});
    if (f.writing()) {
      if (friction)
        f.key("friction", custom({{}, [&] { return "{ common = " + text(s.common_friction, kRatio) + " }"; }, ""}),
              {.comment = "one draw for all contacts"});
      return;
    }
    hand.has_friction = f.has("friction", true);
    contact_input_fields(f, hand.common, &s.common_friction);
    if (hand.model == HandModel::kThreePuma && !hand.has_contacts)
      f.check(hand.has_friction, "friction", "missing",
              "Give it for all contacts in [contacts], or in each [[contact]]: friction = 0.5.");
  });
}

/// Whether [[contact]] tables name what touches.
bool names_partners(const Scenario& s) { return grasp::is_group(s); }

void one_contact(Fields& f, const Hand& hand, Scenario& s, std::size_t j) {
  Contact& contact = s.contacts[j];
  const bool fingers = hand.model == HandModel::kFingers;
  // [contacts] first; the contact's own keys override it.
  if (f.reading() && fingers) contact = hand.common;
  if (fingers && f.has("between", names_partners(s)))
    f.key("between", between(s, j),
          {.doc = "what touches: an object, into which the normal points and on whose surface the contact is placed; "
                  "then a finger, one of its links, another object, or what stands still "
                  "([groups of objects](../theory/grasp-groups.md))",
           .otherwise = "the only object, and the finger with the number of the contact"});
  if (fingers) contact_place_fields(f, hand.object_known && f.sound(), grasp::nth_object(s, contact.object), contact);
  if (f.has("model", contact.law != grasp::ContactLaw::kHard))
    f.key("model", choice(contact.law), {.doc = "friction law: point contact with friction, none, or soft contact"});
  f.when({contact.law == grasp::ContactLaw::kSoft, "model = \"soft\""}, [&] {
    f.key("torsion_radius", quantity(contact.torsion_radius, {kLength, Bounds::positive()}),
          {.doc = "the moment about the normal that friction holds, over its force",
           .required = "Give it with a unit: torsion_radius = \"5 mm\"."});
  });
  const bool own = f.has("friction", true);
  contact_input_fields(f, contact, nullptr);
  contact_command_fields(f, contact);
  f.check(hand.has_friction || own, "friction", "missing",
          "Give it for all contacts in [contacts], or in each [[contact]]: friction = 0.5.");
}

/// Checks the number of contacts, once they are read.
void check_count(Fields& f, const Hand& hand, const Scenario& s) {
  const std::string found = std::to_string(hand.contacts);
  if (hand.model == HandModel::kThreePuma)
    return f.check(hand.contacts == 3, "contact", "three_puma has 3 contacts, found " + found,
                   "Write three [[contact]] tables or none.");
  const bool said = std::any_of(s.contacts.begin(), s.contacts.end(),
                                [](const Contact& c) { return c.partner != grasp::Partner() || c.object != 0; });
  f.check(said || hand.contacts == s.fingers.size(), "contact",
          found + " contacts for " + std::to_string(s.fingers.size()) + " fingers",
          "Write one [[contact]] table for each [[hand.finger]], in the same order, or say between what they are.");
}

}  // namespace

void hand_fields(Fields& f, const std::string& file, Hand& hand, Scenario& s) {
  const std::string remedy =
      "Write urdf = \"hand.urdf\" with tips, or model = \"three_puma\", or \"fingers\" with [[hand.finger]] tables.";
  // Written in this form if its arm is part of it: else its fingers are resolved.
  const bool tree = f.has("urdf", s.arm.has_value()), model = f.has("model", !s.arm);
  if (model || !tree)
    f.key("model", choice(hand.model),
          {.doc = "three_puma: the papers' hand", .required = remedy, .otherwise = "this or `urdf`"});
  f.check(!f.reading() || !tree || !model, "model", "both model and urdf", remedy);
  f.when({tree, "`urdf`"}, [&] { tree_hand_fields(f, file, s); });
  // A URDF specifies the whole hand: no other keys are needed.
  if ((f.reading() || f.writing()) && tree) return static_cast<void>(hand.known = f.sound());
  hand.known = f.sound();
  // The tables of a hand without a model are not known, so they are not checked.
  if (!hand.known) return f.give_up();
  const bool three = hand.model == HandModel::kThreePuma;
  f.check(!three || !hand.object_known || (s.object.shape == Shape::kSphere && s.others.empty()), "model",
          "the hand three_puma holds a sphere only",
          "Write shape = \"sphere\", or model = \"fingers\" with [[hand.finger]] tables.");
  f.when({three, "model = \"three_puma\""}, [&] { three_puma_fields(f, hand, s); });
  f.when({!three, "model = \"fingers\""}, [&] {
    f.tables("finger", {.doc = "one for each contact", .required = "Write a [[hand.finger]] table for each finger."},
             // More than 64 are an error already: no memory is spent on a file that asks for millions.
             {s.fingers.size(), [&](std::size_t n) { s.fingers.resize(std::min(n, kMaxTables)); },
              [&](std::size_t j) {
                if (j < s.fingers.size()) finger_fields(f, file, s.fingers[j]);
              }});
    f.check(
        !f.reading() || !f.has("finger", true) || (!s.fingers.empty() && s.fingers.size() <= grasp::kMaxContacts),
        "finger",
        "expected 1 to " + std::to_string(grasp::kMaxContacts) + " fingers, found " + std::to_string(s.fingers.size()),
        "Write a [[hand.finger]] table for each finger.");
  });
}

void contacts_fields(Fields& f, Hand& hand, Scenario& s) {
  if (!hand.known) {
    // Requested here, so that they are not reported as unknown keys.
    for (const char* key : {"contacts", "contact"}) static_cast<void>(f.has(key, false));
    return;
  }
  common_fields(f, hand, s);
  const bool three = hand.model == HandModel::kThreePuma;
  // The places first: [[contact]] tables of three_puma give the rest.
  if (f.reading() && three) place_three_puma(hand, s);
  hand.contacts = s.contacts.size();
  const auto resize = [&](std::size_t n) {
    hand.contacts = n;
    if (!three || !f.reading()) s.contacts.resize(std::min(n, kMaxTables));
  };
  f.tables("contact",
           {.doc = "one for each finger, in order; three_puma: none or three, without place",
            .required = f.reading() && !three ? "Write one [[contact]] table for each finger." : ""},
           {s.contacts.size(), resize, [&](std::size_t j) {
              if (j < s.contacts.size()) one_contact(f, hand, s, j);
            }});
  if (!f.reading() || !f.has("contact", true)) return;
  check_count(f, hand, s);
  const bool moves =
      std::any_of(s.contacts.begin(), s.contacts.end(), [](const Contact& c) { return c.angle_sign != 0; });
  f.check(!f.good() || s.angle.is_constant() || moves, "contacts.angle", "moves no contact",
          "It belongs to model = \"three_puma\", or to contacts with point and angle_sign.");
}

}  // namespace garra::io
