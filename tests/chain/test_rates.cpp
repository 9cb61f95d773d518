// Joint rates of a tool twist against Eigen's singular value decomposition, and rates of Euler angles against
// differences of the angles; the same bits on every executor.
#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <cmath>
#include <random>

#include "answers.hpp"
#include "garra/chain_simulate.hpp"
#include "garra/core/error.hpp"
#include "garra/io/robot.hpp"
#include "places.hpp"

namespace garra::chain {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::VectorXd;

constexpr int kStates = 40;
const double kSingular[] = {0, 1e-9, 0.001, 0.01};  // the wrist of a PUMA this far from its singularity [rad]

Robot built_in(const std::string& name) { return io::read_robot(test::source_folder() + "/data/robots/" + name); }

States random_states(const Robot& robot, unsigned seed = 3) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  States s;  // twists in `wrench`
  s.count = kStates;
  for (int i = 0; i < kStates * robot.joints; ++i) s.q.push_back(2 * u(random));
  for (int i = 0; i < kStates * 6; ++i) s.wrench.push_back(u(random));
  return s;
}

/// Damped, weighted least squares by the singular values of Eigen: of the scaled Jacobian T J W^-1/2.
struct Expected {
  VectorXd qd, residual;
  double lambda;
};
Expected by_svd(const Matrix& jac, const VectorXd& twist, const RatePlace& place) {
  const auto n = jac.cols();
  const JacobianForm form = place.jacobian.form;
  const bool angular_first = form == JacobianForm::kAngularFirst || form == JacobianForm::kScrews;
  VectorXd row = VectorXd::Ones(6), column(n);
  row.segment(angular_first ? 3 : 0, 3).setConstant(1 / place.rates.length);
  for (Eigen::Index i = 0; i < n; ++i) column[i] = 1 / std::sqrt(place.rates.weight[i]);
  const Matrix scaled = row.asDiagonal() * jac * column.asDiagonal();
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(scaled, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const VectorXd& sigma = svd.singularValues();
  const double top = sigma[0], least = sigma[sigma.size() - 1], edge = place.rates.near * top;
  double lambda2 = 0;
  if (least < edge) lambda2 = (1 - std::pow(least / edge, 2)) * std::pow(place.rates.damping * top, 2);
  VectorXd part = svd.matrixU().transpose() * row.asDiagonal() * twist;
  for (Eigen::Index k = 0; k < sigma.size(); ++k)
    part[k] *= sigma[k] > kRankTolerance * top ? sigma[k] / (sigma[k] * sigma[k] + lambda2) : 0;
  const VectorXd qd = column.asDiagonal() * (svd.matrixV() * part);
  return {qd, jac * qd - twist, std::sqrt(lambda2)};
}

JointRates check(const Robot& robot, const States& s, const RatePlace& place, double tolerance) {
  const JointRates r = joint_rates(robot, s.q, s.wrench, place);
  const Results jacobians = evaluate(robot, {s.count, s.q}, Output::kJacobian, place.jacobian);
  const auto n = static_cast<std::size_t>(r.joints);
  for (std::size_t i = 0; i < kStates; ++i) {
    const Eigen::Map<const Matrix> jac(&jacobians.jacobian[i * 6 * n], 6, r.joints);
    const Eigen::Map<const VectorXd> twist(&s.wrench[i * 6], 6), qd(&r.qd[i * n], r.joints),
        residual(&r.residual[i * 6], 6);
    const Expected e = by_svd(jac, twist, place);
    EXPECT_LT((qd - e.qd).norm(), tolerance * (1 + e.qd.norm())) << "state " << i;
    EXPECT_LT((residual - e.residual).norm(), tolerance * (1 + e.qd.norm())) << "state " << i;
    EXPECT_NEAR(r.damping[i], e.lambda, tolerance) << "state " << i;
    EXPECT_EQ(r.status[i], Status::kConverged);
  }
  return r;
}

// A square, a redundant and a short chain; tolerance: rounding times the condition of the states drawn.
TEST(JointRates, AreTheWeightedPseudoinverseTimesTheTwist) {
  for (const char* name : {"puma560.toml", "iiwa14.urdf", "scara.toml", "exoskeleton.toml"}) {
    const Robot robot = built_in(name);
    const States s = random_states(robot);
    SCOPED_TRACE(name);
    for (const JacobianForm form : {JacobianForm::kLinearFirst, JacobianForm::kAngularFirst, JacobianForm::kScrews}) {
      RatePlace place;
      place.jacobian.form = form;
      place.rates.near = 0;
      check(robot, s, place, 1e-9);
      place.rates.length = 0.2;
      for (int i = 0; i < robot.joints; ++i) place.rates.weight[i] = 1 + 3 * i;
      check(robot, s, place, 1e-9);
      place.jacobian.body_axes = form != JacobianForm::kScrews;
      place.jacobian.point = {{0.1, 0, 0.05}};
      check(robot, s, place, 1e-9);
    }
  }
}

TEST(JointRates, AreDampedByTheLawNearASingularity) {
  const Robot robot = built_in("puma560.toml");
  States s = random_states(robot);
  for (std::size_t i = 0; i < kStates; ++i) s.q[6 * i + 4] = kSingular[i % 4];
  RatePlace place;
  place.rates.near = place.rates.damping = 0.01;
  const JointRates r = check(robot, s, place, 1e-9);
  double largest = 0;
  for (const double rate : r.qd) largest = std::max(largest, std::abs(rate));
  EXPECT_GT(r.damping[0], 0);
  EXPECT_LT(largest, 200) << "damped rates stay small: at most |twist| / (2 lambda)";
}

TEST(JointRates, LeaveOutTheLostDirectionWhereNothingDampsThem) {
  const Robot robot = built_in("puma560.toml");
  States s = random_states(robot);
  for (std::size_t i = 0; i < kStates; ++i) s.q[6 * i + 4] = 0;
  RatePlace place;
  place.rates.near = 0;
  check(robot, s, place, 1e-9);
}

// Equation (7) of the source paper: sum of rates times screws is the velocity state (w; v of the point at the origin).
TEST(JointRates, TimesTheScrewsAreTheVelocityState) {
  const Robot robot = built_in("iiwa14.urdf");
  const States s = random_states(robot);
  RatePlace place;
  place.jacobian.form = JacobianForm::kScrews;
  place.rates.near = 0;  // no damping: the rates are exact
  const JointRates r = joint_rates(robot, s.q, s.wrench, place);
  const Results screws = evaluate(robot, {s.count, s.q}, Output::kJacobian, place.jacobian);
  for (std::size_t i = 0; i < kStates; ++i)
    for (std::size_t k = 0; k < 6; ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < 7; ++j) sum += screws.jacobian[(6 * i + k) * 7 + j] * r.qd[7 * i + j];
      EXPECT_NEAR(sum, s.wrench[6 * i + k], 1e-9);
    }
}

/// A chain of any number of joints.
Robot random_robot(int joints) {
  std::vector<DhJoint> rows;
  for (int i = 0; i < joints; ++i)
    rows.push_back({0.3 * std::sin(i + 1), 0.2 * std::cos(i), 1.4 * std::sin(3 * i + 1), 0.1 * i, {}});
  return from_dh({.name = "random"}, rows);
}

TEST(JointRates, EveryExecutorGivesTheSameBits) {
  for (const int joints : {1, 4, 6, 7, 11, 16}) {
    const Robot robot = random_robot(joints);
    const States all = random_states(robot);
    for (const std::size_t count : {0, 1, 7, 8, 9, 33}) {
      const std::vector<double> q(all.q.begin(), all.q.begin() + static_cast<std::ptrdiff_t>(count) * joints),
          twist(all.wrench.begin(), all.wrench.begin() + static_cast<std::ptrdiff_t>(count) * 6);
      SCOPED_TRACE(std::to_string(joints) + " joints, " + std::to_string(count) + " states");
      test::expect_same_on_every_executor([&](const Device& device) {
        RatePlace place;
        place.rates.near = 0.05;
        place.device = device;
        const JointRates r = joint_rates(robot, q, twist, place);
        return test::Answer()
            .add("qd", r.qd)
            .add("damping", r.damping)
            .add("residual", r.residual)
            .add("status", r.status)
            .add("zyx", analytic_jacobian(robot, q, EulerAngles::kZyx, {{}, device}))
            .add("zyz", analytic_jacobian(robot, q, EulerAngles::kZyz, {{}, device}));
      });
    }
  }
}

TEST(JointRates, ABadStateTouchesNoOther) {
  const Robot robot = built_in("iiwa14.urdf");
  const States good = random_states(robot);
  States s = good;
  s.q[7 * 3] = std::nan("");
  s.wrench[6 * 11 + 2] = std::numeric_limits<double>::infinity();
  const JointRates expected = joint_rates(robot, good.q, good.wrench), r = joint_rates(robot, s.q, s.wrench);
  for (std::size_t i = 0; i < kStates; ++i) {
    const bool bad = i == 3 || i == 11;
    EXPECT_EQ(r.status[i], bad ? Status::kInvalidInput : Status::kConverged);
    for (std::size_t j = 7 * i; j < 7 * i + 7; ++j) EXPECT_TRUE(bad ? std::isnan(r.qd[j]) : r.qd[j] == expected.qd[j]);
  }
}

Vec3<double> euler_angles(const double* T, EulerAngles sequence) {
  if (sequence == EulerAngles::kZyx)
    return {{std::atan2(T[4], T[0]), std::atan2(-T[8], std::hypot(T[0], T[4])), std::atan2(T[9], T[10])}};
  return {{std::atan2(T[6], T[2]), std::atan2(std::hypot(T[2], T[6]), T[10]), std::atan2(T[9], -T[8])}};
}

TEST(AnalyticJacobian, HoldsTheDerivativesOfTheEulerAngles) {
  const Robot robot = built_in("iiwa14.urdf");
  const States s = random_states(robot);
  constexpr double h = 1e-6;
  for (const EulerAngles sequence : {EulerAngles::kZyx, EulerAngles::kZyz}) {
    const std::vector<double> jac = analytic_jacobian(robot, s.q, sequence);
    for (std::size_t j = 0; j < 7; ++j) {
      States up = s, down = s;
      for (std::size_t i = 0; i < kStates; ++i) up.q[7 * i + j] += h, down.q[7 * i + j] -= h;
      const Results a = evaluate(robot, up, Output::kPose), b = evaluate(robot, down, Output::kPose);
      for (std::size_t i = 0; i < kStates; ++i) {
        const Vec3<double> x = euler_angles(&a.pose[16 * i], sequence), y = euler_angles(&b.pose[16 * i], sequence);
        for (std::size_t k = 0; k < 3; ++k) {
          const double turn = std::remainder(x[static_cast<int>(k)] - y[static_cast<int>(k)], 2 * M_PI) / (2 * h);
          // Differences of 1e-6 leave 1e-9 over the distance to gimbal lock.
          EXPECT_NEAR(jac[(6 * i + 3 + k) * 7 + j], turn, 1e-5 * (1 + turn * turn));
          const double way = (a.pose[16 * i + 4 * k + 3] - b.pose[16 * i + 4 * k + 3]) / (2 * h);
          EXPECT_NEAR(jac[(6 * i + k) * 7 + j], way, 1e-8);
        }
      }
    }
  }
}

TEST(AnalyticJacobian, IsNaNInGimbalLock) {
  const Robot robot = built_in("scara.toml");  // its tool stays upright: no ZYZ angles at all
  const std::vector<double> jac = analytic_jacobian(robot, random_states(robot).q, EulerAngles::kZyz);
  for (std::size_t i = 0; i < kStates; ++i)
    for (std::size_t k = 0; k < 24; ++k) EXPECT_EQ(std::isnan(jac[24 * i + k]), k >= 12);
}

TEST(JointRates, RefuseWhatMeansNothing) {
  const Robot robot = built_in("puma560.toml");
  const States s = random_states(robot);
  for (const RateOptions& rates : {RateOptions{.length = 0}, RateOptions{.near = 1}, RateOptions{.damping = -1},
                                   RateOptions{.weight = {1, 1, 0, 1, 1, 1}}})
    EXPECT_THROW((void)joint_rates(robot, s.q, s.wrench, {rates}), Error);
  EXPECT_THROW((void)joint_rates(robot, s.q, {}), Error);
  EXPECT_THROW((void)joint_rates(robot, std::vector<double>(7, 0.0), s.wrench), Error);
}

}  // namespace
}  // namespace garra::chain
