// Solves instants of a grasp: contact modes, forces and accelerations from positions, velocities
// and joint torques.
// Takes: a Scenario and GraspStates with rows [n, ...]; empty arrays take the scenario's values.
// Gives: Analysis: modes, gaps, forces [n, contacts, 3], accelerations, joint motion and one Status
// per instant. matrices(): W, J, M_obj, M_man, A and b of samples (Algorithm 1 of the papers).
// Units and frames: SI, palm axes; contact axes (n, t, o), n inward; forces act on the object;
// arrays are row-major; contacts count from 0.
// Bad input: wrong shapes and an impossible nominal grasp throw Error. An instant that fails has a
// Status and NaN forces and accelerations.
// Not for: impacts (an approaching contact counts as closed), trajectories or probabilities
// (grasp.hpp).
// Docs: docs/theory/grasp-time.md, docs/theory/contact-solver.md, docs/theory/grasp-matrices.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "garra/core/status.hpp"
#include "garra/grasp.hpp"

namespace garra::grasp {

/// Contact mode from the state alone, before the solve. kSliding: tangential velocity above
/// kSlideSpeed.
enum class ContactMode : int { kRolling = 0, kSliding = 1, kOpen = 2 };
inline constexpr double kSlideSpeed = 1e-6;  ///< [m/s]
/// Open: gap > this [m]. Trajectories (Scenario::time) keep closed contacts below it.
inline constexpr double kOpenGap = 1e-5;
inline constexpr double kOpenSpeed = 1e-3;  ///< also open: separation speed > this [m/s]

/// `count` instants, one row each, in palm axes. Empty arrays take the scenario's values.
struct GraspStates {
  std::int64_t count = 1;
  std::vector<double> position;    ///< [n,3] of the center of mass [m]; empty: nominal
  std::vector<double> quaternion;  ///< [n,4] (w, x, y, z), object to palm axes, of any length > 0; empty: nominal
  std::vector<double> velocity;    ///< [n,3] [m/s]; empty: the scenario's
  std::vector<double> spin;        ///< [n,3] [rad/s]; empty: the scenario's
  /// Per finger [n, joints] in rad or m, per s, N m or N. Empty q: inverse kinematics places the
  /// fingertips on the object. Empty qd: 0 if q is given, else fingertips roll with the object.
  /// Empty tau: the grasp command (docs/theory/grasp-model.md).
  std::vector<std::vector<double>> q, qd, tau;
  std::vector<double>
      wrench;  ///< [n,6] on the object beside its weight [N; N m about the center of mass]; empty: the scenario's
  std::vector<double> friction;  ///< [n, contacts]; empty: nominal
};

/// Result with one row per instant; contact vectors are (n, t, o) with the inward normal n of the
/// object. Without kConverged, forces and accelerations are NaN; gap and velocity, which need no
/// solve, hold.
struct Analysis {
  int contacts = 0;
  std::vector<Status> status;
  std::vector<double> residual,
      iterations;                ///< contact problem: certificate (docs/theory/contact-solver.md), Newton steps
  std::vector<int> mode_before;  ///< [n, contacts] ContactMode; -1: not known
  std::vector<int> mode_after;   ///< [n, contacts] ContactState; -1: not known
  std::vector<double> gap;       ///< [n, contacts] [m], > 0 apart
  std::vector<double> normal;    ///< [n, contacts, 3] palm axes
  std::vector<double> relative_velocity;  ///< [n, contacts, 3] object surface minus fingertip [m/s]
  std::vector<double> force;              ///< [n, contacts, 3] on the object [N]
  std::vector<double>
      relative_acceleration;   ///< [n, contacts, 3] rate of relative_velocity [m/s^2]; n: second derivative of the gap
  std::vector<double> moment;  ///< [n, contacts] about the normal [N m]; empty without soft contacts
  int objects = 1;             ///< of a group
  std::vector<double> acceleration;  ///< [n, 6 objects]: center of mass [m/s^2], angular [rad/s^2], palm axes
  std::vector<std::vector<double>> q, qd, qdd, tau;  ///< per finger [n, joints]: as used, and its acceleration
};

/// Analyzes instants of the grasp of `scenario` at its nominal values, without Scenario::time. The
/// contact law is docs/theory/contact-solver.md (1): sliding contacts have c_T = -mu c_n v_T /
/// |v_T|, others Coulomb's law in accelerations. An approaching contact (v_n < 0) counts as closed;
/// its impact is not resolved.
/// @param states rows [n, ...] in palm axes, SI units; empty arrays take the scenario's values.
/// @return modes, forces and accelerations, and one Status per instant.
/// @throws Error kInvalidFile for shapes, an impossible nominal grasp, a contact with two different
///         curvatures, or states of a group, of which only the nominal instant is analyzed; kNoDevice if the device
///         cannot run.
[[nodiscard]] Analysis analyze(const Scenario& scenario, const GraspStates& states = {}, const Device& device = {});

/// Matrices of `count` samples with N contacts, B objects and Q joints in all. Relative accelerations of the contacts
/// are a = A c + b, with A = W^T M_obj^-1 W + J M_man^-1 J^T. D numbers of a contact's force: 3, or 4 if a contact is
/// soft: (c_n, c_t, c_o, moment / r). A hard contact among soft ones has zeros there, and a placeholder on A's
/// diagonal.
struct GraspMatrices {
  std::int64_t count = 0;
  int objects = 0, contacts = 0, numbers = 3;  ///< numbers: D
  std::vector<int> joints;                     ///< of each finger; Q is their sum
  std::vector<std::string> names;              ///< of the objects
  std::vector<std::int64_t> sample;            ///< [n]; -1: nominal
  std::vector<double> W;                       ///< [n, 6 B, D N] forces of the contacts to wrenches of the objects
  std::vector<double> J;              ///< [n, D N, Q] velocities of the fingers' contact points, of joint rates
  std::vector<double> M_obj;          ///< [n, 6 B, 6 B] [kg, kg m^2] about the centers of mass
  std::vector<double> M_man;          ///< [n, Q, Q]; a joint that follows another one: 1 on the diagonal
  std::vector<double> A;              ///< [n, D N, D N] [1/kg]
  std::vector<double> b;              ///< [n, D N] [m/s^2]
  std::vector<double> mu;             ///< [n, N]
  std::vector<double> R_PC;           ///< [n, N, 3, 3] contact frames: columns t, o, n
  std::vector<double> p_PC;           ///< [n, N, 3] contact points
  std::vector<double> q, qd;          ///< [n, Q]
  std::vector<double> load;           ///< [n, 6 B] weight, external and gyroscopic wrench
  std::vector<double> effort;         ///< [n, Q] g + h - tau
  std::vector<std::uint8_t> reached;  ///< [n] 1 if every finger reaches its contacts
};

/// Evaluates samples of a scenario at one instant.
/// @param scenario hand, objects, contacts and loads; [simulation] is not read.
/// @param samples numbers of samples, as `garra run` counts them; empty: the nominal grasp alone.
/// @throws Error kInvalidFile for an impossible nominal grasp, a hand on an arm, or a negative number.
[[nodiscard]] GraspMatrices matrices(const Scenario& scenario, const std::vector<std::int64_t>& samples = {},
                                     int threads = 0);

}  // namespace garra::grasp
