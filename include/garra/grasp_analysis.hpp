// One instant of a grasp, the papers' problem: given positions, velocities and joint torques, which contacts roll,
// slide or are open, which forces act, how everything accelerates, and which contacts stick, slip or break.
// docs/theory/grasp-time.md.
#pragma once

#include <cstdint>
#include <vector>

#include "garra/core/status.hpp"
#include "garra/grasp.hpp"

namespace garra::grasp {

/// What a contact does before the forces are known. It slides where its tangential velocity exceeds kSlideSpeed.
enum class ContactMode : int { kRolling = 0, kSliding = 1, kOpen = 2 };
inline constexpr double kSlideSpeed = 1e-6;  ///< [m/s]
inline constexpr double kOpenGap = 1e-5;    ///< open: gap > this [m], beyond what the drift correction of [time] leaves
inline constexpr double kOpenSpeed = 1e-3;  ///< open, too: the contact separates faster than this [m/s]

/// `count` instants. Arrays are row-major with one row per instant; palm axes. What is empty comes from the scenario.
struct GraspStates {
  std::int64_t count = 1;
  std::vector<double> position;    ///< [n,3] of the center of mass [m]; empty: nominal
  std::vector<double> quaternion;  ///< [n,4] (w, x, y, z), object to palm axes, of any length > 0; empty: nominal
  std::vector<double> velocity;    ///< [n,3] [m/s]; empty: the scenario's
  std::vector<double> spin;        ///< [n,3] [rad/s]; empty: the scenario's
  /// Of each finger [n, joints]; no finger at all: q as inverse kinematics puts the fingertips on the object, qd zero
  /// (where q comes from inverse kinematics: such that the contacts roll), tau of the grasp command
  /// (docs/theory/grasp-model.md).
  std::vector<std::vector<double>> q, qd, tau;
  std::vector<double>
      wrench;  ///< [n,6] on the object beside its weight [N; N m about the center of mass]; empty: the scenario's
  std::vector<double> friction;  ///< [n, contacts]; empty: nominal
};

/// One row per instant; per contact in the order (n, t, o), n the inward normal of the object. Where status is not
/// kConverged, forces, accelerations and torques' effects are NaN; what the state alone tells (gap, velocity) stays.
struct Analysis {
  int contacts = 0;
  std::vector<Status> status;
  std::vector<double> residual,
      iterations;                ///< of the contact problem: certificate (docs/theory/contact-solver.md), Newton steps
  std::vector<int> mode_before;  ///< [n, contacts] ContactMode; -1: not known
  std::vector<int> mode_after;   ///< [n, contacts] ContactState; -1: not known
  std::vector<double> gap;       ///< [n, contacts] [m], > 0 apart
  std::vector<double> normal;    ///< [n, contacts, 3] palm axes
  std::vector<double> relative_velocity;  ///< [n, contacts, 3] object's surface less fingertip [m/s]
  std::vector<double> force;              ///< [n, contacts, 3] on the object [N]
  std::vector<double>
      relative_acceleration;  ///< [n, contacts, 3] rate of change of the former [m/s^2]; normal: of the gap's rate
  std::vector<double> acceleration;  ///< [n,6] of the object: center of mass [m/s^2], angular [rad/s^2], palm axes
  std::vector<std::vector<double>> q, qd, qdd, tau;  ///< of each finger [n, joints]: as used, and its acceleration
};

/// Analyses instants of the grasp of `scenario`: hand, object, contacts, gravity and command at their nominal values;
/// [time] is not read. The contact law is the papers' (docs/theory/contact-solver.md (1)): contacts that slide have c_T
/// = -mu c_n v_T / |v_T|, others Coulomb's law in accelerations; an approaching contact (v_n < 0) is taken as closed,
/// its impact is not resolved. Throws Error: kInvalidFile where arrays do not fit (named with both shapes), the nominal
/// grasp is impossible, or a contact has two different curvatures; kNoDevice. Instants that fail have a Status.
[[nodiscard]] Analysis analyse(const Scenario& scenario, const GraspStates& states = {}, const Device& device = {});

}  // namespace garra::grasp
