#include "systems/grasp_nominal.hpp"

#include <cmath>
#include <cstdio>

#include "garra/solve/wrench_balance.hpp"
#include "systems/grasp_instant.hpp"

namespace garra::grasp {

namespace {

constexpr double kWorthSaying = 0.1;  ///< of the nominal wrench, left unbalanced by the command

std::string direction(const Vec<double, 6>& v, int first, double size) {
  char text[64];
  const auto shown = [&](int k) { return std::round(v[first + k] / size * 1e3) / 1e3 + 0.0; };  // no -0
  std::snprintf(text, sizeof text, "(%g, %g, %g)", shown(0), shown(1), shown(2));
  return text;
}

}  // namespace

std::vector<Vec<double, 6>> unresisted_wrenches(const GraspModel& m) {
  const Inputs<double> in = nominal_inputs(m);
  const Pose<double> pose = object_pose(m, in);
  const double radius = std::sqrt((m.gyration2[0] + m.gyration2[1] + m.gyration2[2]) / 3) * in.x[kScale];
  Mat<double, 6, 6> gram = Mat<double, 6, 6>::zero();
  for (int j = 0; j < m.contacts; ++j) {
    Mat<double, 6, 3> W = wrench_matrix(contact_place(m, in, pose, j), pose.p);
    for (int r = 3; r < 6; ++r)
      for (int k = 0; k < 3; ++k) W(r, k) /= radius;
    const double mu = in.x[contact_slot(j, kFriction)];
    for (int r = 0; r < 6 && mu == 0; ++r) W(r, 1) = W(r, 2) = 0;
    gram += W * transpose(W);
  }
  const auto eigen = symmetric_eigen(gram);
  double sum = 0;
  for (int k = 0; k < 6; ++k) sum += eigen.values[k];
  std::vector<Vec<double, 6>> list;
  for (int k = 0; k < 6; ++k)
    if (eigen.values[k] <= solvers::kRankTolerance * sum) list.push_back(column(eigen.vectors, k));
  return list;
}

NominalBalance nominal_balance(const Study& study) {
  const Replay r = nominal_instant(study).replay;
  return {r.resisted, r.metric[metric("imbalance")], unresisted_wrenches(study.model())};
}

std::string describe_wrench(const Vec<double, 6>& unit) {
  const double force = std::sqrt(unit[0] * unit[0] + unit[1] * unit[1] + unit[2] * unit[2]);
  const double moment = std::sqrt(unit[3] * unit[3] + unit[4] * unit[4] + unit[5] * unit[5]);
  constexpr double kNone = 1e-6;
  if (force < kNone) return "a torque about " + direction(unit, 3, moment);
  if (moment < kNone) return "a force along " + direction(unit, 0, force);
  return "a force along " + direction(unit, 0, force) + " with a torque about " + direction(unit, 3, moment);
}

std::vector<std::string> nominal_warnings(const Study& study) {
  const NominalBalance b = nominal_balance(study);
  std::vector<std::string> list;
  char share[32];
  std::snprintf(share, sizeof share, "%.0f %%", 100 * b.imbalance);
  if (b.resisted == 0)
    list.push_back("no forces within the friction cones can balance the nominal wrench: no sample near it is held");
  else if (b.imbalance > kWorthSaying)
    list.push_back(
        "the command leaves " + std::string(share) + " of the nominal wrench unbalanced; above " +
        std::to_string(static_cast<int>(std::lround(100 * study.scenario().held_imbalance))) +
        " % (held.imbalance) a sample counts as not carried. Look at load.nominal_mass, compensation and squeeze");
  for (const auto& wrench : b.unresisted)
    list.push_back("no contact force resists " + describe_wrench(wrench) + ": the wrench radius is 0");
  return list;
}

}  // namespace garra::grasp
