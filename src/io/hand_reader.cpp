// [hand], [contacts] and [[contact]]: fingers and where they touch.
#include <cmath>

#include "garra/math/rotation.hpp"
#include "io/command_reader.hpp"
#include "io/contact_reader.hpp"
#include "io/distribution_reader.hpp"
#include "io/finger_reader.hpp"
#include "io/scenario_parts.hpp"

namespace garra::io {

namespace {

using grasp::Contact;
using grasp::Scenario;
using grasp::Shape;
using study::Distribution;

/// What [contacts] says of all contacts; each [[contact]] may say otherwise.
struct CommonContact {
  Contact contact;
  Distribution friction = Distribution::constant(1);  ///< that contacts share
  bool has_friction = false;
  const Node* angle = nullptr;
};

CommonContact read_common_contact(TableReader& root) {
  TableReader table(root.find_table("contacts"), "contacts");
  CommonContact common;
  common.has_friction = read_contact_inputs(table, common.contact, &common.friction);
  common.angle = table.find("angle");
  table.finish();
  return common;
}

const std::vector<Node>& array_of_tables(const Node& node, const std::string& key) {
  if (node.kind == Node::Kind::kArray) return node.items;
  fail(node.place, key, "expected an array of tables, found " + describe(node),
       "Write [[" + key + "]] above each one.");
}

void require_friction(bool common, bool own, const Place& place, const std::string& key) {
  if (common || own) return;
  fail(place, key, "missing",
       "Give it for all contacts in [contacts], or in each [[contact]]: friction = 0.5.");
}

/// The papers' hand: contacts at the azimuths -sigma, +sigma and 180 deg of the object, bases below
/// them on a circle.
class ThreePuma {
 public:
  ThreePuma(TableReader& hand, TableReader& root, Scenario& scenario)
      : hand_(hand), root_(root), scenario_(scenario) {}

  void read() {
    if (scenario_.object.shape != Shape::kSphere) {
      fail(hand_.place(), hand_.name("model"), "the hand three_puma holds a sphere only",
           "Write shape = \"sphere\", or model = \"fingers\" with [[hand.finger]] tables.");
    }
    const CommonContact common = read_common_contact(root_);
    scenario_.common_friction = common.friction;
    read_sigma(common.angle);
    if (const Node* node = hand_.find("base_distance")) {
      base_distance_ =
          read_bounded(*node, hand_.name("base_distance"), {kLength, Bounds::positive()});
    }
    const grasp::Finger finger = read_puma(hand_);
    const double azimuths[3] = {-sigma_, sigma_, M_PI};
    for (int j = 0; j < 3; ++j) add(j, azimuths[j], finger, common.contact);
    read_hand_command(hand_, scenario_.fingers);
    read_own_inputs(common);
  }

 private:
  void read_sigma(const Node* angle) {
    if (angle == nullptr) return;
    const Distribution d = read_distribution(*angle, "contacts.angle",
                                             {kAngle, {.low = 0, .high = M_PI, .above_low = true}});
    if (!can_shift(d))
      fail(angle->place, "contacts.angle",
           "this distribution cannot be split into a nominal angle and a deviation",
           "Use normal or uniform.");
    sigma_ = d.nominal();
    if (!d.is_constant()) scenario_.angle = shifted(d, -sigma_);
  }

  void add(int j, double azimuth, grasp::Finger finger, Contact contact) {
    // The papers' third contact frame is turned by -90 deg against the others.
    place_on_sphere({azimuth, 0, j == 2 ? -M_PI / 2 : 0}, scenario_.object.radius, contact);
    contact.angle_sign = j - 1;
    if (j == 2) contact.angle_sign = 0;
    if (j == 1) contact.angle_sign = 1;
    double c, s;
    exact_cos_sin(azimuth, c, s);
    finger.base.p = {{base_distance_ * c, base_distance_ * s, 0}};
    scenario_.fingers.push_back(finger);
    scenario_.contacts.push_back(contact);
  }

  /// [[contact]] tables may tell the three contacts' inputs apart; where they are is the hand's
  /// matter.
  void read_own_inputs(const CommonContact& common) {
    const Node* node = root_.find("contact");
    if (node == nullptr)
      return require_friction(common.has_friction, false, hand_.place(), "contacts.friction");
    const std::vector<Node>& tables = array_of_tables(*node, "contact");
    if (tables.size() != 3)
      fail(node->place, "contact",
           "three_puma has 3 contacts, found " + std::to_string(tables.size()),
           "Write three [[contact]] tables or none.");
    for (std::size_t j = 0; j < 3; ++j) {
      TableReader table(tables[j], item("contact", j));
      const bool own = read_contact_inputs(table, scenario_.contacts[j]);
      read_contact_command(table, scenario_.contacts[j]);
      require_friction(common.has_friction, own, table.place(), table.name("friction"));
      table.finish();
    }
  }

  TableReader& hand_;
  TableReader& root_;
  Scenario& scenario_;
  double sigma_ = M_PI / 3;
  double base_distance_ = 0.6;
};

void read_contacts(TableReader& root, Scenario& scenario) {
  const CommonContact common = read_common_contact(root);
  scenario.common_friction = common.friction;
  if (common.angle != nullptr)
    scenario.angle = read_distribution(*common.angle, "contacts.angle", {kAngle});
  const Node& node = root.require("contact", "Write one [[contact]] table for each finger.");
  const std::vector<Node>& tables = array_of_tables(node, "contact");
  if (tables.size() != scenario.fingers.size()) {
    fail(node.place, "contact",
         std::to_string(tables.size()) + " contacts for " +
             std::to_string(scenario.fingers.size()) + " fingers",
         "Write one [[contact]] table for each [[hand.finger]], in the same order.");
  }
  bool moves = false;
  for (std::size_t j = 0; j < tables.size(); ++j) {
    TableReader table(tables[j], item("contact", j));
    Contact contact = common.contact;
    read_contact_place(table, scenario.object, contact);
    const bool own = read_contact_inputs(table, contact);
    read_contact_command(table, contact);
    require_friction(common.has_friction, own, table.place(), table.name("friction"));
    table.finish();
    moves = moves || contact.angle_sign != 0;
    scenario.contacts.push_back(contact);
  }
  if (common.angle != nullptr && !scenario.angle.is_constant() && !moves) {
    fail(common.angle->place, "contacts.angle", "moves no contact",
         "It belongs to model = \"three_puma\", or to contacts with point and angle_sign.");
  }
}

void read_fingers(TableReader& hand, const std::string& file, Scenario& scenario) {
  const Node& node = hand.require("finger", "Write a [[hand.finger]] table for each finger.");
  const std::vector<Node>& tables = array_of_tables(node, hand.name("finger"));
  if (tables.empty() || tables.size() > grasp::kMaxContacts) {
    fail(node.place, hand.name("finger"),
         "expected 1 to " + std::to_string(grasp::kMaxContacts) + " fingers, found " +
             std::to_string(tables.size()),
         "Write a [[hand.finger]] table for each finger.");
  }
  for (std::size_t j = 0; j < tables.size(); ++j)
    scenario.fingers.push_back(read_finger(tables[j], item(hand.name("finger"), j), file));
}

}  // namespace

void read_hand(TableReader& root, const std::string& file, Scenario& scenario) {
  TableReader hand(
      root.require("hand", "Write a [hand] table with model = \"three_puma\" or \"fingers\"."),
      "hand");
  const Node& model = hand.require(
      "model", "Write model = \"three_puma\", or \"fingers\" with [[hand.finger]] tables.");
  if (read_choice(model, hand.name("model"), {"three_puma", "fingers"}) == "three_puma") {
    ThreePuma(hand, root, scenario).read();
    hand.finish();
  } else {
    read_fingers(hand, file, scenario);
    hand.finish();
    read_contacts(root, scenario);
  }
}

}  // namespace garra::io
