// Commands of a scenario's fingers (docs/theory/grasp-model.md, section 5). Host only.
#pragma once

#include "garra/grasp.hpp"

namespace garra::grasp {

/// Whether contact j (from 0) helps to balance the load: squeezed, without a given force or torques.
[[nodiscard]] bool balances(const Scenario& s, std::size_t j);
/// Whether any contact does.
[[nodiscard]] bool any_balances(const Scenario& s);
/// Throws Error (kInvalidFile) for command_problem().
void require_sound_command(const Scenario& s);
/// Limits of each finger and joint [N m or N], from simulation.drive or the fingers. Empty lists mean no limits, for
/// one finger or for all.
[[nodiscard]] std::vector<std::vector<double>> torque_limits(const Scenario& s);
/// Largest commanded nominal normal force of a contact [N], the scale of force histograms.
[[nodiscard]] double largest_push(const Scenario& s);

}  // namespace garra::grasp
