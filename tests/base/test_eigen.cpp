// garra/eigen.hpp: what it shows and hands over is what Eigen's own algebra makes of the same numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "garra/core/factor.hpp"
#include "garra/eigen.hpp"
#include "garra/io/robot.hpp"
#include "garra/platform_kinematics.hpp"
#include "places.hpp"
#include "platform_reference.hpp"

namespace garra {
namespace {

constexpr double kRounding = 1e-14;  // of a few products of numbers of order 1

/// Entries in no order that a transposition would keep.
Eigen::MatrixXd numbered(Eigen::Index rows, Eigen::Index cols) {
  Eigen::MatrixXd m(rows, cols);
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < cols; ++j)
      m(i, j) = std::sin(1.3 * static_cast<double>(i) + 7.1 * static_cast<double>(j));
  return m;
}

TEST(EigenView, ReadsAndWritesAMatInPlace) {
  Mat<double, 2, 3> m{{1, 2, 3, 4, 5, 6}};
  auto v = eigen::view(m);
  EXPECT_EQ(v(0, 2), 3);
  EXPECT_EQ(v(1, 0), 4);
  v(1, 2) = -7;
  EXPECT_EQ(m(1, 2), -7);
  v.row(0) *= 2;
  EXPECT_EQ(m(0, 1), 4);
  EXPECT_EQ(static_cast<const void*>(v.data()), static_cast<const void*>(&m));
  Vec<double, 4> column{{1, 2, 3, 4}};
  EXPECT_EQ(eigen::view(column).norm(), std::sqrt(30));
  const Mat<double, 1, 3> line{{1, 2, 3}};
  EXPECT_EQ(eigen::view(line)(0, 2), 3);
}

TEST(EigenView, ProductsAndFactorizationsAreThoseOfMat) {
  const Eigen::Matrix<double, 4, 3> a = numbered(4, 3);
  const Eigen::Matrix<double, 3, 4, Eigen::RowMajor> b = numbered(3, 4).array() + 0.3;
  EXPECT_LE((eigen::view(static_cast<const Mat<double, 4, 4>&>(eigen::mat(a) * eigen::mat(b))) - a * b).norm(),
            kRounding);
  const Eigen::Matrix3d spd = a.transpose() * a + Eigen::Matrix3d::Identity();
  const Eigen::Vector3d right(1, -2, 0.5);
  const Vec<double, 3> x = solve(factor_ldlt(eigen::mat(spd)), eigen::mat(right));
  EXPECT_LE((eigen::view(x) - spd.ldlt().solve(right)).norm(), 10 * kRounding);
}

TEST(EigenPose, TurnsAndMovesAsEigenDoes) {
  const Eigen::AngleAxisd turn(1.1, Eigen::Vector3d(1, -2, 0.5).normalized());
  const Eigen::Isometry3d t = Eigen::Translation3d(0.3, -0.2, 0.9) * turn, u = Eigen::Translation3d(-1, 0, 2) * turn;
  const Pose<double> x = eigen::pose(t), y = eigen::pose(u);
  EXPECT_LE((eigen::view(x.R) - turn.toRotationMatrix()).norm(), kRounding);
  EXPECT_LE((eigen::isometry(x * inverse(y)).matrix() - (t * u.inverse()).matrix()).norm(), kRounding);
  const Vec3<double> p{{0.1, 0.2, 0.3}};
  EXPECT_LE((eigen::view(static_cast<const Vec3<double>&>(x.R * p + x.p)) - t * Eigen::Vector3d(0.1, 0.2, 0.3)).norm(),
            kRounding);
}

TEST(EigenQuaternion, HasItsScalarWhereEachOfThemWantsIt) {
  const Eigen::AngleAxisd turn(0.7, Eigen::Vector3d(2, 1, -1).normalized());
  const Quaternion<double> p = eigen::quaternion(Eigen::Quaterniond(turn));
  EXPECT_NEAR(p[0], std::cos(0.35), kRounding);
  const Mat3<double> R = rotation_matrix(p);
  EXPECT_LE((eigen::view(R) - turn.toRotationMatrix()).norm(), kRounding);
  EXPECT_LE(eigen::quaternion(p).angularDistance(Eigen::Quaterniond(turn)), 1e-7);
}

/// Fingers of some compliance about a body: A symmetric and positive definite.
Eigen::MatrixXd contact_matrix(int i) {
  const Eigen::MatrixXd w = numbered(6, 9).array() * (1 + 0.1 * i);
  return w.transpose() * w + 0.3 * Eigen::MatrixXd::Identity(9, 9);
}

TEST(EigenContacts, SolvedForcesSatisfyTheEquationInEigensOwnAlgebra) {
  contact::Problems p;
  for (int i = 0; i < 5; ++i)
    eigen::append(p, contact_matrix(i), numbered(9, 1) - Eigen::VectorXd::Constant(9, 2),
                  Eigen::Vector3d(0.3, 0.5, 0.7));
  ASSERT_EQ(p.contacts, 3);
  ASSERT_EQ(p.count, 5);
  const contact::Solutions s = contact::solve(p, {.tolerance = 1e-12});
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(s.status[static_cast<std::size_t>(i)], Status::kConverged);
    const auto problem = eigen::problem(p, i);
    const auto found = eigen::solution(s, i);
    EXPECT_EQ(problem.A, contact_matrix(i));
    EXPECT_EQ(problem.mu, Eigen::Vector3d(0.3, 0.5, 0.7));
    EXPECT_LE((problem.A * found.c + problem.b - found.a).norm(), 1e-9);
    EXPECT_GT(found.c.norm(), 0.1);
    for (int j = 0; j < 3; ++j) {
      EXPECT_LE(found.c.segment<2>(3 * j + 1).norm(), problem.mu[j] * found.c[3 * j] + 1e-9);
      EXPECT_GE(found.a[3 * j], -1e-9);
    }
  }
}

TEST(EigenContacts, OfABatchAndOfAnyOrderAreTheSame) {
  contact::Problems one_by_one;
  eigen::Rows A(18, 9), b(2, 9), mu(2, 3);
  for (int i = 0; i < 2; ++i) {
    A.middleRows(9 * i, 9) = contact_matrix(i) + numbered(9, 9);  // unsymmetric
    b.row(i) = numbered(9, 2).col(i);
    mu.row(i) << 0.1, 0.2 + i, 0.3;
    const Eigen::MatrixXd column_major = A.middleRows(9 * i, 9);
    eigen::append(one_by_one, column_major, b.row(i).transpose(), mu.row(i).transpose());
  }
  const contact::Problems together = eigen::problems(A, b, mu);
  EXPECT_EQ(together.A, one_by_one.A);
  EXPECT_EQ(together.A[9 * 2 + 5], A(2, 5));
  EXPECT_EQ(together.b, one_by_one.b);
  EXPECT_EQ(together.mu, one_by_one.mu);
  EXPECT_EQ(together.count, 2);
}

TEST(EigenContacts, ThatSlideFillInThoseThatDoNot) {
  contact::Problems p;
  const Eigen::VectorXd b = Eigen::VectorXd::Constant(6, -1);
  const Eigen::Vector2d mu(0.5, 0.5);
  eigen::append(p, Eigen::MatrixXd::Identity(6, 6), b, mu);
  EXPECT_TRUE(p.mode.empty());
  Eigen::Matrix2d slip;
  slip << 0, 0, 0.1, -0.2;
  eigen::append(p, Eigen::MatrixXd::Identity(6, 6), b, mu, slip);
  eigen::append(p, Eigen::MatrixXd::Identity(6, 6), b, mu);
  EXPECT_EQ(p.mode, (std::vector<std::uint8_t>{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(p.slip_velocity, (std::vector<double>{0, 0, 0, 0, 0, 0, 0.1, -0.2, 0, 0, 0, 0}));
}

TEST(EigenContacts, OfAnotherShapeAreRefusedWithBothShapes) {
  contact::Problems p;
  try {
    eigen::append(p, Eigen::MatrixXd::Identity(9, 8), Eigen::VectorXd::Zero(9), Eigen::Vector3d::Zero());
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kUsage);
    EXPECT_NE(std::string(e.what()).find("A is [9, 8], not [9, 9]"), std::string::npos) << e.what();
  }
  EXPECT_EQ(p.count, 0);
  EXPECT_TRUE(p.A.empty());
  EXPECT_THROW((void)eigen::solution({}, 0), Error);
  EXPECT_THROW((void)eigen::problem(p, -1), Error);
  EXPECT_THROW((void)eigen::states(numbered(4, 6), numbered(4, 5)), Error);
  EXPECT_THROW((void)eigen::poses(numbered(2, 3), numbered(2, 3)), Error);
}

TEST(EigenChain, MatricesOfAStateObeyTheLawsThatEigenChecks) {
  const chain::Robot robot = io::read_robot(test::source_folder() + "/data/robots/puma560.toml");
  const Eigen::MatrixXd q = numbered(7, 6), qd = 0.5 * numbered(7, 6), qdd = numbered(6, 7).transpose();
  using chain::Output;
  const chain::Results r = chain::evaluate(
      robot, eigen::states(q, qd, qdd),
      {Output::kPose, Output::kLinkPoses, Output::kJacobian, Output::kMassMatrix, Output::kBias, Output::kGravity,
       Output::kDamping, Output::kInverseDynamics, Output::kKineticEnergy, Output::kToolVelocity});
  for (int i = 0; i < 7; ++i) {
    const auto H = eigen::matrix(r, Output::kMassMatrix, i), T = eigen::matrix(r, Output::kPose, i),
               J = eigen::matrix(r, Output::kJacobian, i);
    const Eigen::VectorXd v = qd.row(i).transpose(), a = qdd.row(i).transpose();
    EXPECT_LE((H - H.transpose()).norm(), kRounding * H.norm());
    EXPECT_EQ(Eigen::LLT<Eigen::MatrixXd>(H).info(), Eigen::Success);
    EXPECT_NEAR(eigen::matrix(r, Output::kKineticEnergy, i)(0, 0), 0.5 * v.dot(H * v), 1e-12);
    EXPECT_LE((J * v - eigen::matrix(r, Output::kToolVelocity, i)).norm(), 1e-13);
    const Eigen::VectorXd tau = H * a + eigen::matrix(r, Output::kBias, i) + eigen::matrix(r, Output::kGravity, i) +
                                eigen::matrix(r, Output::kDamping, i);
    EXPECT_LE((tau - eigen::matrix(r, Output::kInverseDynamics, i)).norm(), 1e-12 * tau.norm());
    EXPECT_LE((T.topLeftCorner(3, 3) * T.topLeftCorner(3, 3).transpose() - Eigen::Matrix3d::Identity()).norm(), 1e-13);
    const auto links = eigen::matrix(r, Output::kLinkPoses, i);
    ASSERT_EQ(links.rows(), 24);
    EXPECT_EQ(links.bottomRows(1), Eigen::RowVector4d(0, 0, 0, 1));
  }
  EXPECT_THROW((void)eigen::matrix(r, Output::kCoriolisMatrix, 0), Error);  // not asked for
  EXPECT_THROW((void)eigen::matrix(r, Output::kPose, 7), Error);
  EXPECT_EQ(eigen::rows(r.gravity, 6).rows(), 7);
}

TEST(EigenPlatform, LegsOfAPoseAreAsLongAsEigenSays) {
  const platform::Platform p = test::reference_platform("trepa_like");
  std::vector<Eigen::Isometry3d> transforms;
  for (int i = 0; i < 9; ++i)
    transforms.push_back(Eigen::Translation3d(0.02 * i, -0.01 * i, p.home[2] + 0.01) *
                         Eigen::AngleAxisd(0.03 * i, Eigen::Vector3d(1, i, -2).normalized()));
  const platform::Poses poses = eigen::poses(transforms);
  const platform::InverseKinematics found = platform::inverse_kinematics({p}, poses, {});
  const auto lengths = eigen::rows(found.lengths, 6);
  for (int i = 0; i < 9; ++i) {
    EXPECT_LE((eigen::isometry(poses, i).matrix() - transforms[static_cast<std::size_t>(i)].matrix()).norm(),
              kRounding);
    for (int leg = 0; leg < 6; ++leg) {
      const platform::Leg& l = p.leg[static_cast<std::size_t>(leg)];
      const Eigen::Vector3d anchor = transforms[static_cast<std::size_t>(i)] * eigen::view(l.anchor);
      EXPECT_NEAR(lengths(i, leg), (anchor - eigen::view(l.base)).norm(), kRounding);
    }
  }
}

}  // namespace
}  // namespace garra
