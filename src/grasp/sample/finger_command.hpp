// What a scenario's fingers are commanded (docs/theory/grasp-model.md, section 5). Host only.
#pragma once

#include "garra/grasp.hpp"

namespace garra::grasp {

/// Whether contact j (from 0) takes its part in balancing the load: squeezed, not told a force or torques.
[[nodiscard]] bool balances(const Scenario& s, std::size_t j);
/// Whether any contact does.
[[nodiscard]] bool any_balances(const Scenario& s);
/// Throws Error (kInvalidFile) for command_problem().
void require_sound_command(const Scenario& s);
/// Of each finger and joint [N m or N], whether time.drive or the fingers give them; empty: none, of one finger or of
/// all.
[[nodiscard]] std::vector<std::vector<double>> torque_limits(const Scenario& s);
/// Largest nominal normal force that a contact is told [N]; what histograms of forces have room for.
[[nodiscard]] double largest_push(const Scenario& s);

}  // namespace garra::grasp
