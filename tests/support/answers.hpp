// What the public batched operations answer, array by array, for comparisons of executors.
#pragma once

#include "garra/chain_eval.hpp"
#include "garra/chain_simulate.hpp"
#include "garra/contact.hpp"
#include "garra/grasp_analysis.hpp"
#include "garra/lcp.hpp"
#include "garra/platform_dynamics.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/platform_simulate.hpp"
#include "garra/singularity_map.hpp"
#include "on_every_executor.hpp"

namespace garra::test {

[[nodiscard]] inline Answer make_answer(const contact::Solutions& s) {
  using T = contact::Solutions;
  return every_member(
      s, Member{"contacts", &T::contacts}, Member{"count", &T::count}, Member{"c", &T::c}, Member{"a", &T::a},
      Member{"residual", &T::residual}, Member{"contact_residual", &T::contact_residual}, Member{"merit", &T::merit},
      Member{"minimum", &T::minimum}, Member{"projected_gradient", &T::projected_gradient},
      Member{"iterations", &T::iterations}, Member{"evaluations", &T::evaluations}, Member{"inner", &T::inner},
      Member{"products", &T::products}, Member{"stage", &T::stage}, Member{"stalls", &T::stalls},
      Member{"status", &T::status}, Member{"solutions", &T::solutions}, Member{"state", &T::state},
      Member{"friction_margin", &T::friction_margin}, Member{"required_friction", &T::required_friction});
}

[[nodiscard]] inline Answer make_answer(const lcp::Solutions& s) {
  using T = lcp::Solutions;
  return every_member(s, Member{"size", &T::size}, Member{"count", &T::count}, Member{"z", &T::z}, Member{"w", &T::w},
                      Member{"residual", &T::residual}, Member{"pivots", &T::pivots}, Member{"status", &T::status});
}

[[nodiscard]] inline Answer make_answer(const chain::Results& r) {
  Answer out;
  for (int k = 0; k < chain::kOutputCount; ++k) {
    const auto output = static_cast<chain::Output>(k);
    out.add(chain::to_string(output), r[output]);
  }
  return out.add("status", r.status);
}

[[nodiscard]] inline Answer make_answer(const chain::Trajectories& t) {
  using T = chain::Trajectories;
  return every_member(t, Member{"joints", &T::joints}, Member{"count", &T::count}, Member{"times", &T::times},
                      Member{"q", &T::q}, Member{"qd", &T::qd}, Member{"tip", &T::tip}, Member{"kinetic", &T::kinetic},
                      Member{"potential", &T::potential}, Member{"dissipated", &T::dissipated},
                      Member{"work", &T::work}, Member{"stop_loss", &T::stop_loss}, Member{"balance", &T::balance},
                      Member{"end_time", &T::end_time}, Member{"end_q", &T::end_q}, Member{"end_qd", &T::end_qd},
                      Member{"peak_speed", &T::peak_speed}, Member{"peak_torque", &T::peak_torque},
                      Member{"settling_time", &T::settling_time}, Member{"end_dissipated", &T::end_dissipated},
                      Member{"end_work", &T::end_work}, Member{"end_stop_loss", &T::end_stop_loss},
                      Member{"end_balance", &T::end_balance}, Member{"worst_balance", &T::worst_balance},
                      Member{"steps", &T::steps}, Member{"rejected", &T::rejected}, Member{"status", &T::status});
}

[[nodiscard]] inline Answer make_answer(const grasp::Analysis& a) {
  using T = grasp::Analysis;
  return every_member(a, Member{"contacts", &T::contacts}, Member{"status", &T::status},
                      Member{"residual", &T::residual}, Member{"iterations", &T::iterations},
                      Member{"mode_before", &T::mode_before}, Member{"mode_after", &T::mode_after},
                      Member{"gap", &T::gap}, Member{"normal", &T::normal},
                      Member{"relative_velocity", &T::relative_velocity}, Member{"force", &T::force},
                      Member{"relative_acceleration", &T::relative_acceleration}, Member{"moment", &T::moment},
                      Member{"objects", &T::objects}, Member{"acceleration", &T::acceleration}, Member{"q", &T::q},
                      Member{"qd", &T::qd}, Member{"qdd", &T::qdd}, Member{"tau", &T::tau});
}

[[nodiscard]] inline Answer make_answer(const platform::InverseKinematics& k) {
  using T = platform::InverseKinematics;
  return every_member(
      k, Member{"lengths", &T::lengths}, Member{"rates", &T::rates}, Member{"accelerations", &T::accelerations},
      Member{"leg_vector", &T::leg_vector}, Member{"leg_quaternion", &T::leg_quaternion},
      Member{"leg_euler313", &T::leg_euler313}, Member{"universal_angles", &T::universal_angles},
      Member{"determinant", &T::determinant}, Member{"condition", &T::condition}, Member{"sigma_min", &T::sigma_min},
      Member{"free_motion", &T::free_motion}, Member{"mask", &T::mask}, Member{"stroke_margin", &T::stroke_margin},
      Member{"universal_margin", &T::universal_margin}, Member{"spherical_margin", &T::spherical_margin},
      Member{"clearance", &T::clearance}, Member{"status", &T::status});
}

[[nodiscard]] inline Answer make_answer(const platform::ForwardKinematics& k) {
  using T = platform::ForwardKinematics;
  return every_member(k, Member{"pose", &T::pose}, Member{"status", &T::status}, Member{"iterations", &T::iterations},
                      Member{"residual", &T::residual}, Member{"sigma_min", &T::sigma_min},
                      Member{"uniqueness", &T::uniqueness});
}

[[nodiscard]] inline Answer make_answer(const platform::AssemblyModes& m) {
  using T = platform::AssemblyModes;
  return every_member(m, Member{"first", &T::first}, Member{"pose", &T::pose}, Member{"status", &T::status},
                      Member{"residual", &T::residual}, Member{"determinant", &T::determinant},
                      Member{"sigma_min", &T::sigma_min}, Member{"uniqueness", &T::uniqueness},
                      Member{"mask", &T::mask}, Member{"found", &T::found}, Member{"starts", &T::starts},
                      Member{"missing", &T::missing});
}

[[nodiscard]] inline Answer make_answer(const platform::InverseDynamics& d) {
  using T = platform::InverseDynamics;
  return every_member(d, Member{"force", &T::force}, Member{"spherical_force", &T::spherical_force},
                      Member{"universal_force", &T::universal_force}, Member{"universal_moment", &T::universal_moment},
                      Member{"multipliers", &T::multipliers}, Member{"power_balance", &T::power_balance},
                      Member{"condition", &T::condition}, Member{"status", &T::status});
}

[[nodiscard]] inline Answer make_answer(const platform::ForwardDynamics& d) {
  using T = platform::ForwardDynamics;
  return every_member(d, Member{"acceleration", &T::acceleration}, Member{"kinetic", &T::kinetic},
                      Member{"potential", &T::potential}, Member{"status", &T::status});
}

[[nodiscard]] inline Answer make_answer(const platform::Trajectories& t) {
  using T = platform::Trajectories;
  return every_member(t, Member{"count", &T::count}, Member{"times", &T::times}, Member{"pose", &T::pose},
                      Member{"velocity", &T::velocity}, Member{"lengths", &T::lengths}, Member{"kinetic", &T::kinetic},
                      Member{"potential", &T::potential}, Member{"work", &T::work}, Member{"balance", &T::balance},
                      Member{"drift", &T::drift}, Member{"end_time", &T::end_time}, Member{"end_pose", &T::end_pose},
                      Member{"end_velocity", &T::end_velocity}, Member{"end_balance", &T::end_balance},
                      Member{"worst_balance", &T::worst_balance}, Member{"worst_drift", &T::worst_drift},
                      Member{"steps", &T::steps}, Member{"corrections", &T::corrections}, Member{"status", &T::status});
}

[[nodiscard]] inline Answer make_answer(const singularity::Measures& m) {
  using T = singularity::Measures;
  return every_member(m, Member{"sigma_min", &T::sigma_min}, Member{"inverse_condition", &T::inverse_condition},
                      Member{"manipulability", &T::manipulability}, Member{"tool", &T::tool});
}

[[nodiscard]] inline Answer make_answer(const singularity::NearSingularities& n) {
  using T = singularity::NearSingularities;
  return every_member(n, Member{"search_status", &T::search_status}, Member{"singular_q", &T::singular_q},
                      Member{"distance", &T::distance}, Member{"lost", &T::lost},
                      Member{"dependent_joints", &T::dependent_joints}, Member{"subsets", &T::subsets},
                      Member{"subset_last", &T::subset_last}, Member{"subset_joints", &T::subset_joints},
                      Member{"escape_joint", &T::escape_joint}, Member{"escape_order", &T::escape_order},
                      Member{"escape_rate", &T::escape_rate}, Member{"escape_sign", &T::escape_sign},
                      Member{"wrench", &T::wrench});
}

}  // namespace garra::test
