// [hand], [contacts] and [[contact]] of a grasp scenario.
#pragma once

#include <string>

#include "base/scenario/fields.hpp"
#include "garra/core/names.hpp"
#include "garra/grasp.hpp"

namespace garra::io {

/// The papers' hand, or separate fingers.
enum class HandModel { kThreePuma, kFingers };
[[nodiscard]] constexpr auto names_of(HandModel) { return names("three_puma", "fingers"); }

/// Contents of the tables that a scenario does not store in that form.
struct Hand {
  HandModel model = HandModel::kFingers;
  bool object_known = true;    ///< its shape and dimensions
  bool known = true;           ///< the model
  double base_distance = 0.6;  ///< three_puma
  double sigma = M_PI / 3;     ///< three_puma: nominal azimuth of the first contacts
  grasp::Contact common = {};  ///< values of [contacts] for all contacts; each [[contact]] may override them
  bool has_friction = false;   ///< [contacts] gives it
  bool has_contacts = false;   ///< there are [[contact]] tables
  std::size_t contacts = 0;    ///< how many
};

/// Reads [hand], after the object. `file` is the scenario's, beside which robot files of fingers lie.
void hand_fields(Fields& f, const std::string& file, Hand& hand, grasp::Scenario& scenario);
/// Reads [contacts] and [[contact]], after the hand.
void contacts_fields(Fields& f, Hand& hand, grasp::Scenario& scenario);

}  // namespace garra::io
