// Maps of singularities: which arms have kernels, and the interface.
#include <algorithm>

#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"
#include "garra/core/factor.hpp"
#include "garra/singularity.hpp"
#include "singularity/map/layout.hpp"
#include "singularity/map/map_outcomes.hpp"
#include "singularity/map/prepare.hpp"

namespace garra::singularity {

namespace {

void check_rows(const MapArm& arm, const std::vector<double>& q) {
  const auto joints = static_cast<std::size_t>(arm.joints());
  if (joints > 0 && q.size() % joints == 0) return;
  throw Error(ExitCode::kUsage,
              "q has " + std::to_string(q.size()) + " numbers, not [n," + std::to_string(joints) + "]",
              "Give one value for each joint of each configuration.");
}

[[noreturn]] void no_kernel(const chain::Robot& robot, int generic_rank) {
  throw Error(
      ExitCode::kUsage,
      "the robot \"" + robot.name + "\" has " + std::to_string(robot.joints) + " joints of rank " +
          std::to_string(generic_rank) + ": there is no batch kernel for singularities of such arms",
      "There are for up to 6 joints of rank 3 to 6, and for up to 16 of rank 6; arms of lower rank look the same "
      "at every configuration. Use garra singularity --at \"...\" for single configurations of any arm.");
}

}  // namespace

const char* to_string(MapOutcome outcome) { return study::name_at(kOutcomeWords, static_cast<int>(outcome)); }

RefineOptions refine_options(const MeasureOptions& options) {
  RefineOptions out;
  out.tolerance = options.tolerance;
  out.near = options.near;
  return out;
}

int compute_generic_rank(const chain::Robot& robot) {
  // At the zero configuration: generic_rank() is what holds at almost every configuration, not what holds here.
  return generic_rank(make_screws(robot, std::vector<double>(chain::coordinates(robot).size(), 0.0)));
}

int compute_point_rank(const chain::Robot& robot, const std::vector<bool>& moves) {
  const std::size_t n = moves.size();
  std::vector<double> q;  // no special configuration
  for (std::size_t j = 0; j < n; ++j) q.push_back(0.4 + 0.3 * static_cast<double>(j));
  const std::vector<double> jac = chain::evaluate(robot, chain::StateView(1, q), chain::Output::kJacobian).jacobian;
  Mat3<double> sum = Mat3<double>::zero();
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      for (std::size_t j = 0; j < n; ++j)
        if (moves[j]) sum(r, c) += jac[static_cast<std::size_t>(r) * n + j] * jac[static_cast<std::size_t>(c) * n + j];
  const auto along = symmetric_eigen(sum).values;  // ascending
  return static_cast<int>(std::count_if(along.m, along.m + 3, [&](double x) { return x > 1e-12 * along[2]; }));
}

std::unique_ptr<MapArm> make_map_arm(const chain::Robot& given, const MeasureOptions& options) {
  const chain::Robot robot = merge_helical(given);
  check_options(robot, options);
  const int rank = compute_generic_rank(robot);
  if (robot.joints <= 6) {
    switch (rank) {
      case 3:
      case 4:
      case 5:
        return make_map_arm_of<6, kAnyRank>(robot, options);
      case 6:
        return make_map_arm_of<6, 6>(robot, options);
      default:
        no_kernel(robot, rank);
    }
  }
  if (rank != 6 || robot.joints > kMapJoints) no_kernel(robot, rank);
  // Seven joints have an instance of their own; others above six are padded to 16.
  return robot.joints == 7 ? make_map_arm_of<7, 6>(robot, options) : make_map_arm_of<16, 6>(robot, options);
}

Measures measure(const chain::Robot& robot, const std::vector<double>& q, const MeasureOptions& options,
                 const Device& device) {
  const auto arm = make_map_arm(robot, options);
  check_rows(*arm, q);
  Measures out;
  arm->measure(q, options.precision, device, out);
  return out;
}

NearSingularities nearest_singularities(const chain::Robot& robot, const std::vector<double>& q,
                                        const MeasureOptions& options, const Device& device) {
  const auto arm = make_map_arm(robot, options);
  check_rows(*arm, q);
  NearSingularities out;
  arm->nearest(q, refine_options(options), device, out);
  return out;
}

MapEngine::MapEngine(const MapScenario& scenario) : prepared_(prepare_map(scenario).release()) {}
MapEngine::~MapEngine() { delete prepared_; }

const MapLayout& MapEngine::layout() const { return prepared_->plan.layout; }

study::Tally MapEngine::run(std::int64_t first, std::int64_t count, const Device& device) const {
  return prepared_->arm->run(prepared_->plan, first, count, device);
}

std::vector<double> MapEngine::configuration(std::int64_t sample) const {
  return prepared_->arm->configuration(prepared_->plan.sampler, sample);
}

chain::InverseKinematics MapEngine::search(const chain::Robot& robot, std::int64_t sample) const {
  const Sampler& s = prepared_->plan.sampler;
  const Pose<double> to = map_kernel::task_target<double>(s, sample);
  const std::vector<double> pose = {to.R(0, 0), to.R(0, 1), to.R(0, 2), to.p[0],    to.R(1, 0), to.R(1, 1),
                                    to.R(1, 2), to.p[1],    to.R(2, 0), to.R(2, 1), to.R(2, 2), to.p[2],
                                    0,          0,          0,          1};
  chain::Robot within = robot;
  for (int j = 0; j < robot.joints; ++j) {
    chain::Joint& joint = within.joint[static_cast<std::size_t>(j)];
    joint.lower = s.low[j];
    joint.upper = s.low[j] + s.span[j];
  }
  return chain::inverse_kinematics(
      within, pose, {},
      {.tolerance = s.reach.tolerance, .steps = s.reach.steps, .seed = s.seed, .position_only = s.reach.position_only});
}

}  // namespace garra::singularity
