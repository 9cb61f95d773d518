// Chains whose neighboring axes are nearly parallel: every output, at every angle from 1e-16 to 1 rad, against general
// transforms and Newton-Euler equations in world axes, written here a second time.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <Eigen/SVD>
#include <cmath>
#include <functional>
#include <random>

#include "garra/chain_eval.hpp"
#include "garra/io/robot.hpp"

namespace garra::chain {
namespace {

/// Some dozen roundings of numbers of order one; accelerations: times the condition of the mass matrix, below 100.
constexpr double kRounding = 1e-12, kAcceleration = 1e-11;
constexpr int kJoints = 6, kStates = 5;

using Array = std::vector<double>;
using Point = Eigen::Vector3d;

Point vector(const Vec3<double>& v) { return {v[0], v[1], v[2]}; }
Vec3<double> vector(const Point& v) { return {{v[0], v[1], v[2]}}; }
Eigen::Isometry3d pose(const Pose<double>& x) {
  Eigen::Isometry3d out = Eigen::Isometry3d::Identity();
  out.linear() = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(x.R.m);
  out.translation() = vector(x.p);
  return out;
}
Pose<double> pose(const Eigen::Isometry3d& x) {
  Pose<double> out;
  Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(out.R.m) = x.linear();
  out.p = vector(Point(x.translation()));
  return out;
}
Eigen::Isometry3d turned(const Point& axis, double angle) {
  return Eigen::Isometry3d(Eigen::AngleAxisd(angle, axis.normalized()));
}
Eigen::Isometry3d shifted(double x, double y, double z) { return Eigen::Isometry3d(Eigen::Translation3d(x, y, z)); }

struct Chain {
  RobotData data;
  std::vector<GeneralJoint> joints;
};

/// One state of a chain in world axes.
struct Direct {
  std::vector<Eigen::Isometry3d> link;
  std::vector<Point> z, at;  ///< axis of each joint, and a point of it
  Eigen::Isometry3d tool = Eigen::Isometry3d::Identity();
  const Chain& chain;

  Direct(const Chain& c, const double* q) : chain(c) {
    Eigen::Isometry3d X = pose(c.data.base);
    for (std::size_t i = 0; i < c.joints.size(); ++i) {
      const GeneralJoint& j = c.joints[i];
      const Point axis = vector(j.axis).normalized();
      X = X * pose(j.placement);
      z.push_back(X.linear() * axis);
      at.push_back(X.translation());
      const Point way = q[i] * axis;
      X = X * (slides(i) ? shifted(way[0], way[1], way[2]) : turned(axis, q[i])) * pose(j.after);
      link.push_back(X);
    }
    tool = X * pose(c.data.tool);
  }
  [[nodiscard]] bool slides(std::size_t i) const { return chain.joints[i].link.joint.prismatic; }
  [[nodiscard]] Point center(std::size_t i) const { return link[i] * vector(chain.joints[i].link.body.com); }
  [[nodiscard]] Eigen::Matrix3d inertia(std::size_t i) const {
    const Eigen::Matrix3d R = link[i].linear();
    return R * Eigen::Map<const Eigen::Matrix3d>(chain.joints[i].link.body.inertia.m) * R.transpose();
  }
  /// Linear rows first.
  [[nodiscard]] Eigen::MatrixXd jacobian(const Point& p, std::size_t last) const {
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(6, static_cast<Eigen::Index>(link.size()));
    for (std::size_t i = 0; i <= last; ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      J.block<3, 1>(0, k) = slides(i) ? z[i] : z[i].cross(p - at[i]);
      if (!slides(i)) J.block<3, 1>(3, k) = z[i];
    }
    return J;
  }
  [[nodiscard]] Eigen::MatrixXd mass_matrix() const {
    const auto n = static_cast<Eigen::Index>(link.size());
    Eigen::MatrixXd H = Eigen::MatrixXd::Zero(n, n);
    for (std::size_t i = 0; i < link.size(); ++i) {
      const Eigen::MatrixXd J = jacobian(center(i), i);
      H += chain.joints[i].link.body.mass * J.topRows(3).transpose() * J.topRows(3);
      H += J.bottomRows(3).transpose() * inertia(i) * J.bottomRows(3);
      H(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i)) += chain.joints[i].link.armature;
    }
    return H;
  }
  /// Newton-Euler without rotors and friction.
  [[nodiscard]] Eigen::VectorXd torque(const double* qd, const double* qdd, const Point& gravity) const {
    Point w = Point::Zero(), wd = w, a = -gravity, from = at[0];
    Eigen::VectorXd tau = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(link.size()));
    for (std::size_t i = 0; i < link.size(); ++i) {
      const Point r = at[i] - from;
      a += wd.cross(r) + w.cross(w.cross(r));
      if (slides(i)) {
        a += 2 * qd[i] * w.cross(z[i]) + qdd[i] * z[i];
      } else {
        wd += qdd[i] * z[i] + qd[i] * w.cross(z[i]);
        w += qd[i] * z[i];
      }
      from = at[i];
      const Point c = center(i) - from;
      const Point force = chain.joints[i].link.body.mass * (a + wd.cross(c) + w.cross(w.cross(c)));
      const Point moment = inertia(i) * wd + w.cross(inertia(i) * w);
      for (std::size_t k = 0; k <= i; ++k)
        tau[static_cast<Eigen::Index>(k)] +=
            slides(k) ? z[k].dot(force) : z[k].dot(moment + (center(i) - at[k]).cross(force));
    }
    return tau;
  }
};

double& append(Array& to, double x) { return to.emplace_back(x); }
template <class Matrix>
void append(Array& to, const Eigen::MatrixBase<Matrix>& m) {
  for (Eigen::Index r = 0; r < m.rows(); ++r)
    for (Eigen::Index c = 0; c < m.cols(); ++c) append(to, m(r, c));
}

/// Every output of evaluate() but the entries of C, of which C qd is compared.
Results direct_results(const Chain& chain, const States& s) {
  Results out;
  const std::size_t n = chain.joints.size();
  const Array zero(n, 0.0);
  const Point gravity = vector(chain.data.gravity);
  for (int i = 0; i < s.count; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * n;
    const double *qd = &s.qd[at], *qdd = &s.qdd[at];
    const Direct d(chain, &s.q[at]);
    const auto N = static_cast<Eigen::Index>(n);
    const Eigen::VectorXd rates = Eigen::Map<const Eigen::VectorXd>(qd, N),
                          tau_in = Eigen::Map<const Eigen::VectorXd>(&s.tau[at], N);
    Eigen::VectorXd damping = rates, armature = rates;
    for (std::size_t k = 0; k < n; ++k) {
      damping[static_cast<Eigen::Index>(k)] *= chain.joints[k].link.damping;
      armature[static_cast<Eigen::Index>(k)] = chain.joints[k].link.armature * qdd[k];
    }
    const Eigen::MatrixXd H = d.mass_matrix(), J = d.jacobian(d.tool.translation(), n - 1);
    const Eigen::VectorXd g = d.torque(zero.data(), zero.data(), gravity),
                          bias = d.torque(qd, zero.data(), Point::Zero());
    append(out.pose, d.tool.matrix());
    double potential = 0;
    for (std::size_t k = 0; k < n; ++k) {
      append(out.link_poses, d.link[k].matrix());
      append(out.com_jacobians, d.jacobian(d.center(k), k));
      potential -= chain.joints[k].link.body.mass * gravity.dot(d.center(k));
    }
    append(out.jacobian, J);
    append(out.mass_matrix, H);
    append(out.bias, bias);
    append(out.gravity, g);
    append(out.damping, damping);
    append(out.tau, d.torque(qd, qdd, gravity) + armature + damping);
    append(out.qdd, H.ldlt().solve(tau_in - bias - damping - g));
    const Eigen::VectorXd sigma = Eigen::JacobiSVD<Eigen::MatrixXd>(J).singularValues();
    append(out.manipulability, sigma.prod());
    append(out.smallest_singular_value, sigma[sigma.size() - 1]);
    append(out.kinetic_energy, 0.5 * rates.dot(H * rates));
    append(out.potential_energy, potential);
    append(out.tool_velocity, J * rates);
    append(out.joint_force,
           J.transpose() * Eigen::Map<const Eigen::VectorXd>(&s.wrench[6 * static_cast<std::size_t>(i)], 6));
  }
  return out;
}

void expect_same(const Results& have, const Results& want, const std::string& what) {
  for (int k = 0; k < kOutputCount; ++k) {
    const auto output = static_cast<Output>(k);
    if (output == Output::kCoriolisMatrix) continue;
    const Array &a = have[output], &b = want[output];
    ASSERT_EQ(a.size(), b.size()) << what << to_string(output);
    double size = 1, off = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      size = std::max(size, std::abs(b[i]));
      off = std::max(off, std::isnan(a[i]) ? 1e300 : std::abs(a[i] - b[i]));
    }
    EXPECT_LT(off / size, output == Output::kForwardDynamics ? kAcceleration : kRounding) << what << to_string(output);
  }
}

class NearlyParallel : public testing::Test {
 protected:
  double any(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  Point point(double size) { return {any(-size, size), any(-size, size), any(-size, size)}; }

  LinkData link(bool prismatic = false) {
    LinkData out;
    out.joint.prismatic = prismatic;
    out.body.mass = any(1, 2);
    out.body.com = vector(point(0.2));
    const Eigen::Matrix3d R = turned(point(1), any(-3, 3)).linear();
    const Eigen::Matrix3d I = R * Eigen::Vector3d(0.05, 0.06, 0.07).asDiagonal() * R.transpose();
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) out.body.inertia(r, c) = I(std::min(r, c), std::max(r, c));
    out.armature = 0.2;
    out.damping = any(0, 0.3);
    return out;
  }
  RobotData data() {
    return {.name = "leaning",
            .source = "",
            .base = pose(shifted(0.1, -0.2, 0.3) * turned({1, 2, 3}, 0.4)),
            .tool = pose(shifted(0.1, 0.05, 0.2) * turned({3, 1, 2}, 0.5))};
  }
  States states(int joints) {
    States s;
    s.count = kStates;
    const auto draw = [&](int count, double size) {
      Array a;
      for (int i = 0; i < count; ++i) append(a, any(-size, size));
      return a;
    };
    s.q = draw(kStates * joints, 3);
    s.qd = draw(kStates * joints, 1);
    s.qdd = draw(kStates * joints, 2);
    s.tau = draw(kStates * joints, 5);
    s.wrench = draw(kStates * 6, 3);
    return s;
  }

  /// Axis 2 leans by `lean` from axis 1, 3 from 2 the other way round, 5 from 4, 6 from 5; 4 stands across.
  Chain any_chain(double lean, bool prismatic) {
    Chain c{data(), {}};
    const double angles[kJoints] = {0.3, lean, M_PI - lean, 1.2, -lean, lean};
    for (int i = 0; i < kJoints; ++i) {
      const Point across = Point(any(-1, 1), any(-1, 1), 0).normalized();
      GeneralJoint j{.placement = pose(Eigen::Isometry3d(Eigen::Translation3d(point(0.4)))),
                     .link = link(prismatic && i == 3)};
      j.axis = vector(Point(std::cos(angles[i]) * Point::UnitZ() + std::sin(angles[i]) * across));
      // The next axis leans from this one: link frames have z along their axis, up to a turn.
      j.after = pose(turned(Point::UnitZ().cross(across), angles[i]) * turned(Point::UnitZ(), any(-3, 3)));
      c.joints.push_back(j);
    }
    return c;
  }

  /// Shared numbers on lanes and one by one, and each state with its own (all factors 1).
  void check(const Robot& robot, const Chain& chain, const std::string& what) {
    States s = states(robot.joints);
    const Results want = direct_results(chain, s);
    expect_same(evaluate(robot, s, Outputs::all(), {}, {Executor::kScalar, 1, 0}), want, what + ", scalar: ");
    expect_same(evaluate(robot, s, Outputs::all(), {}, {Executor::kLanes, 1, 0}), want, what + ", lanes: ");
    s.parameters = {{1, Quantity::kMass, Change::kScale, Array(kStates, 1.0)}};
    expect_same(evaluate(robot, s, Outputs::all(), {}, {Executor::kLanes, 1, 0}), want, what + ", own numbers: ");
  }

  std::mt19937_64 random_{9};
};

void for_leans(const std::function<void(double, const std::string&)>& use) {
  for (int k = -32; k <= 0; ++k) {
    const double lean = std::pow(10.0, 0.5 * k);
    char text[40];
    std::snprintf(text, sizeof text, "lean %.0e", lean);
    use(lean, text);
  }
  use(0, "lean 0");
}

TEST_F(NearlyParallel, GeneralJointsKeepTheirDigits) {
  for_leans([&](double lean, const std::string& what) {
    for (const bool prismatic : {false, true}) {
      const Chain c = any_chain(lean, prismatic);
      const Robot robot = from_joints(c.data, c.joints);
      EXPECT_TRUE(robot.notes.empty());
      check(robot, c, what + (prismatic ? ", with a slide" : ""));
    }
  });
}

TEST_F(NearlyParallel, KernelFormIsReadAgainToTheBit) {
  const Chain c = any_chain(1e-6, false);
  const Robot robot = from_joints(c.data, c.joints);
  EXPECT_NE(robot.form[1].b, 0);
  const Robot again = io::parse_robot_toml(io::robot_toml(robot), "again.toml");
  for (std::size_t i = 0; i < robot.form.size(); ++i) {
    EXPECT_EQ(again.form[i].b, robot.form[i].b);
    EXPECT_EQ(again.form[i].d, robot.form[i].d);
    EXPECT_EQ(again.form[i].xx, robot.form[i].xx);
  }
}

/// A link that is turned over by pi with eight digits, as files have it: 5.4e-8 rad from parallel.
TEST_F(NearlyParallel, LinksTurnedOverInAUrdfKeepTheirDigits) {
  const std::string text = R"(<robot name="flipped">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0.15 0"/><mass value="1.2"/>
    <inertia ixx="0.009" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.009"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0 -0.12 0"/><mass value="0.8"/>
    <inertia ixx="0.004" ixy="0" ixz="0" iyy="0.0008" iyz="0" izz="0.004"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
    <origin rpy="0 1.5707963267948966 0"/><axis xyz="0 0 1"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0.3 0.05" rpy="3.1415926 0 0"/><axis xyz="0 0 1"/></joint></robot>)";
  Chain c{{}, {}};
  LinkData upper, lower;
  upper.body = {1.2, {{0, 0.15, 0}}, {{0.009, 0, 0, 0, 0.001, 0, 0, 0, 0.009}}};
  lower.body = {0.8, {{0, -0.12, 0}}, {{0.004, 0, 0, 0, 0.0008, 0, 0, 0, 0.004}}};
  c.joints.push_back({.placement = pose(turned(Point::UnitY(), M_PI / 2)), .link = upper});
  c.joints.push_back({.placement = pose(shifted(0, 0.3, 0.05) * turned(Point::UnitX(), 3.1415926)), .link = lower});
  const Robot robot = io::parse_urdf(text, "flipped.urdf");
  EXPECT_TRUE(robot.notes.empty());
  check(robot, c, "flipped");
  // The first entry of the mass matrix from another program.
  const Results at = evaluate(robot, StateView(1, Array{0.3, 0.7}), Output::kMassMatrix);
  EXPECT_NEAR(at.mass_matrix[0], 0.16757490998758645, 1e-14);
}

TEST_F(NearlyParallel, ScrewsKeepTheirDigits) {
  for_leans([&](double lean, const std::string& what) {
    Chain c = any_chain(lean, true);
    const Array zero(kJoints, 0.0);
    Chain in_base = c;
    in_base.data.base = Pose<double>::identity();
    const Direct home(in_base, zero.data());
    std::vector<ScrewJoint> screws;
    for (std::size_t i = 0; i < kJoints; ++i) {
      const bool slides = home.slides(i);
      screws.push_back({.direction = slides ? Vec3<double>::zero() : vector(home.z[i]),
                        .moment = vector(slides ? home.z[i] : Point(home.at[i].cross(home.z[i]))),
                        .frame = pose(home.link[i]),
                        .link = c.joints[i].link});
    }
    RobotData whole = c.data;
    whole.tool = pose(home.tool);
    check(from_screws(whole, screws), c, what);
  });
}

TEST_F(NearlyParallel, GrymaCodesKeepTheirDigits) {
  for_leans([&](double lean, const std::string& what) {
    Chain c{data(), {}};
    std::vector<GrymaJoint> rows;
    const double polar[kJoints] = {0.2, 0.2 + lean, 0.2 - lean, 1.4, 1.4 + lean, 1.4 - lean};
    for (int i = 0; i < kJoints; ++i) {
      const double azimuth = i < 3 ? 0.7 : -0.4;
      const Point d = point(0.4);
      const LinkData body = link();
      rows.push_back({8, vector(d), azimuth, polar[i], body});
      c.joints.push_back({.placement = pose(Eigen::Isometry3d(Eigen::Translation3d(d))),
                          .axis = {{std::cos(azimuth) * std::sin(polar[i]), std::sin(azimuth) * std::sin(polar[i]),
                                    std::cos(polar[i])}},
                          .link = body});
    }
    check(from_gryma(c.data, rows), c, what);
  });
}

/// A calibrated arm in standard form: d2 and d3 lead to the common normal of two axes that lean by 7e-4 rad, and back.
TEST_F(NearlyParallel, DhRowsOfCalibratedArmsKeepTheirDigits) {
  constexpr double kFar = 431.7;  // [m]; its own rounding is 5e-14 m
  const double a[kJoints] = {0, -0.61, -0.57, 0, 0, 0.1}, d[kJoints] = {0.18, kFar, 0.17 - kFar, 0.12, 0.1, 0};
  const double alpha[kJoints] = {1.5701, 7e-4, 0, 1.5713, -1.5709, 0.2};
  Chain c{data(), {}};
  std::vector<DhJoint> rows;
  for (int i = 0; i < kJoints; ++i) {
    rows.push_back({a[i], d[i], alpha[i], any(-3, 3), link()});
    rows.back().link.body.com = {{0.1, 0.1, i == 1 ? -kFar : 0.1}};
    const DhJoint& r = rows.back();
    c.joints.push_back({.placement = pose(turned(Point::UnitZ(), r.theta) * shifted(0, 0, r.d)),
                        .after = pose(shifted(r.a, 0, 0) * turned(Point::UnitX(), r.alpha)),
                        .link = r.link});
  }
  const Robot robot = from_dh(c.data, rows);
  for (const JointForm<double>& form : robot.form) EXPECT_LT(std::abs(form.d), 2);
  check(robot, c, "calibrated");
}

TEST_F(NearlyParallel, DhRowsKeepTheirDigits) {
  for_leans([&](double lean, const std::string& what) {
    for (const bool modified : {false, true}) {
      Chain c{data(), {}};
      std::vector<DhJoint> rows;
      const double alpha[kJoints] = {lean, M_PI - lean, 1.2, -lean, lean, 0.4};
      for (int i = 0; i < kJoints; ++i) {
        rows.push_back({any(-0.4, 0.4), any(-0.4, 0.4), alpha[i], any(-3, 3), link(i == 2)});
        const DhJoint& r = rows.back();
        const Eigen::Isometry3d x = shifted(r.a, 0, 0) * turned(Point::UnitX(), r.alpha),
                                z = turned(Point::UnitZ(), r.theta) * shifted(0, 0, r.d);
        c.joints.push_back({.placement = pose(modified ? x * z : z),
                            .after = modified ? Pose<double>::identity() : pose(x),
                            .link = r.link});
      }
      check(modified ? from_modified_dh(c.data, rows) : from_dh(c.data, rows), c,
            what + (modified ? ", modified" : ""));
    }
  });
}

}  // namespace
}  // namespace garra::chain
