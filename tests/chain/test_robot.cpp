// Descriptions against the kernel form: at random joint values, what the kernel form says of every link, the tool and
// the masses must be what the description says directly. The direct way is written here a second time, with 4x4
// matrices.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <random>

#include "garra/chain.hpp"

namespace garra::chain {
namespace {

/// Poses of chains of up to 16 joints and some meters: a few dozen roundings.
constexpr double kRounding = 1e-13;

using Matrix = std::array<std::array<double, 4>, 4>;

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t k = 0; k < 4; ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

Matrix matrix(const Pose<double>& x) {
  Matrix m{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) m[i][j] = x.R(static_cast<int>(i), static_cast<int>(j));
    m[i][3] = x.p[static_cast<int>(i)];
  }
  m[3][3] = 1;
  return m;
}

Matrix translation(double x, double y, double z) { return {{{1, 0, 0, x}, {0, 1, 0, y}, {0, 0, 1, z}, {0, 0, 0, 1}}}; }

/// Rodrigues' formula about an axis of any length.
Matrix rotation(const Vec3<double>& axis, double angle) {
  const double length = std::sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  const double k[3] = {axis[0] / length, axis[1] / length, axis[2] / length};
  const double K[3][3] = {{0, -k[2], k[1]}, {k[2], 0, -k[0]}, {-k[1], k[0], 0}};
  const double c = std::cos(angle), s = std::sin(angle);
  Matrix m = translation(0, 0, 0);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) m[i][j] = (i == j ? c : 0) + s * K[i][j] + (1 - c) * k[i] * k[j];
  return m;
}
Matrix rotation_x(double angle) { return rotation({{1, 0, 0}}, angle); }
Matrix rotation_z(double angle) { return rotation({{0, 0, 1}}, angle); }

Matrix motion(const Vec3<double>& axis, bool prismatic, double q) {
  const double length = std::sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  if (prismatic) return translation(q * axis[0] / length, q * axis[1] / length, q * axis[2] / length);
  return rotation(axis, q);
}

double distance(const Matrix& a, const Matrix& b) {
  double most = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) most = std::max(most, std::abs(a[i][j] - b[i][j]));
  return most;
}

/// World poses of the kernel frames, by (1) of model.hpp.
std::vector<Matrix> kernel_frames(const Robot& robot, const std::vector<double>& q) {
  std::vector<Matrix> out;
  Matrix world = matrix(robot.base);
  for (std::size_t i = 0; i < robot.form.size(); ++i) {
    const JointForm<double>& f = robot.form[i];
    const bool slides = robot.joint[i].prismatic;
    world = world * rotation_x(std::atan2(f.sin_alpha, f.cos_alpha)) * translation(f.a, f.b, 0) *
            rotation_z(f.theta + (slides ? 0 : q[i])) * translation(0, 0, f.d + (slides ? q[i] : 0));
    out.push_back(world);
  }
  return out;
}

/// Mass, first and second moment of a body in the world: ten numbers that dynamics is made of.
std::array<double, 10> moments(const Matrix& X, double mass, const Vec3<double>& first, const double (&second)[3][3]) {
  // Through the pseudo-inertia sum m (r; 1)(r; 1)', which moves as X P X'.
  const double half = 0.5 * (second[0][0] + second[1][1] + second[2][2]);
  Matrix P{}, Xt{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) P[i][j] = (i == j ? half : 0) - second[i][j];
    P[i][3] = P[3][i] = first[static_cast<int>(i)];
  }
  P[3][3] = mass;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) Xt[i][j] = X[j][i];
  const Matrix W = X * P * Xt;
  return {W[3][3], W[0][3], W[1][3], W[2][3], W[0][0], W[1][1], W[2][2], W[0][1], W[0][2], W[1][2]};
}

std::array<double, 10> kernel_moments(const JointForm<double>& f, const Matrix& X) {
  return moments(X, f.mass, f.first, {{f.xx, f.xy, f.xz}, {f.xy, f.yy, f.yz}, {f.xz, f.yz, f.zz}});
}

std::array<double, 10> described_moments(const Body& b, const Matrix& X) {
  const Vec3<double>& c = b.com;
  const double square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
  double second[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) second[i][j] = b.inertia(i, j) + b.mass * ((i == j ? square : 0) - c[i] * c[j]);
  return moments(X, b.mass, {{b.mass * c[0], b.mass * c[1], b.mass * c[2]}}, second);
}

/// Second moments are quadratic in positions, those of the kernel frames' origins included: rounding is relative to
/// the largest of the ten and to the square of that reach.
void expect_same_moments(const Robot& robot, const std::array<double, 10>& have, const std::array<double, 10>& want) {
  double scale = 1;
  for (const double x : want) scale = std::max(scale, std::abs(x));
  for (const JointForm<double>& f : robot.form) scale = std::max({scale, f.d * f.d, f.a * f.a});
  for (std::size_t k = 0; k < 10; ++k) EXPECT_NEAR(have[k], want[k], kRounding * scale);
}

using Links = std::function<std::vector<Matrix>(const std::vector<double>&)>;

/// `direct` gives the world poses of all links and, last, of the tool.
void expect_same_motion(const Robot& robot, const Links& direct, std::mt19937_64& random) {
  std::uniform_real_distribution<double> any(-3, 3);
  const std::size_t n = robot.form.size();
  for (int trial = 0; trial < 3; ++trial) {
    std::vector<double> q(n);
    for (double& x : q) x = trial == 0 ? 0 : any(random);
    const std::vector<Matrix> kernel = kernel_frames(robot, q), truth = direct(q);
    ASSERT_EQ(truth.size(), n + 1);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(robot.link[i].joint, static_cast<int>(i));
      const Matrix link = kernel[i] * matrix(robot.link[i].offset);
      EXPECT_LT(distance(link, truth[i]), kRounding) << "link " << i + 1 << " of " << n;
      const auto have = kernel_moments(robot.form[i], kernel[i]), want = described_moments(robot.body[i], truth[i]);
      expect_same_moments(robot, have, want);
    }
    EXPECT_LT(distance(kernel.back() * matrix(robot.tool), truth[n]), kRounding);
  }
}

class ChainRobot : public ::testing::Test {
 protected:
  double any(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  int choose(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  Vec3<double> vector(double size) { return {{any(-size, size), any(-size, size), any(-size, size)}}; }
  Pose<double> pose() {
    const Matrix m = rotation(vector(1), any(-3, 3));
    Pose<double> x;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) x.R(i, j) = m[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    x.p = vector(0.5);
    return x;
  }
  LinkData link() {
    LinkData out;
    out.body.mass = any(0.1, 3);
    out.body.com = vector(0.3);
    const double x = any(0.1, 1), y = any(0.1, 1), z = any(0.1, 1);  // principal second moments of mass
    const Mat3<double> R = pose().R;
    out.body.inertia = R * Mat3<double>{{y + z, 0, 0, 0, x + z, 0, 0, 0, x + y}} * transpose(R);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < i; ++j) out.body.inertia(i, j) = out.body.inertia(j, i);
    out.armature = any(0, 1);
    out.damping = any(0, 1);
    return out;
  }
  RobotData data() { return {.name = "test", .source = "", .base = pose(), .tool = pose()}; }

  std::mt19937_64 random_{4};
};

Links direct_of(const RobotData& data, const std::vector<GeneralJoint>& joints) {
  return [=](const std::vector<double>& q) {
    std::vector<Matrix> out;
    Matrix world = matrix(data.base);
    for (std::size_t i = 0; i < joints.size(); ++i) {
      const GeneralJoint& j = joints[i];
      world = world * matrix(j.placement) * motion(j.axis, j.link.joint.prismatic, q[i]) * matrix(j.after);
      out.push_back(world);
    }
    out.push_back(world * matrix(data.tool));
    return out;
  };
}

TEST_F(ChainRobot, AnyChainMovesAsDescribed) {
  for (int n = 1; n <= 16; ++n) {
    for (int repeat = 0; repeat < 10; ++repeat) {
      std::vector<GeneralJoint> joints;
      for (int i = 0; i < n; ++i) {
        joints.push_back({.placement = pose(), .axis = vector(2), .after = pose(), .link = link()});
        joints.back().link.joint.prismatic = choose(4) == 0;
      }
      const RobotData whole = data();
      expect_same_motion(from_joints(whole, joints), direct_of(whole, joints), random_);
    }
  }
}

/// Axes along x, y, z of parallel frames, origins on a grid: parallel, meeting, perpendicular and coincident lines.
TEST_F(ChainRobot, AxesThatMeetOrAreParallelMoveAsDescribed) {
  for (int repeat = 0; repeat < 400; ++repeat) {
    std::vector<GeneralJoint> joints;
    const int n = 2 + choose(6);
    for (int i = 0; i < n; ++i) {
      GeneralJoint joint{.link = link()};
      for (int k = 0; k < 3; ++k) joint.placement.p[k] = choose(2) == 0 ? 0 : 0.25 * (choose(5) - 2);
      joint.axis = Vec3<double>::zero();
      joint.axis[choose(3)] = choose(2) == 0 ? 1 : -1;
      joint.link.joint.prismatic = choose(3) == 0;
      joints.push_back(joint);
    }
    RobotData whole = data();
    if (choose(2) == 0) whole.base = Pose<double>::identity();
    const Robot robot = from_joints(whole, joints);
    expect_same_motion(robot, direct_of(whole, joints), random_);
    for (const JointForm<double>& f : robot.form) {
      for (const double x : {f.cos_alpha, f.sin_alpha}) EXPECT_TRUE(x == 0 || x == 1 || x == -1) << x;
    }
  }
}

/// The same with all directions turned by general rotations there and back: zeros must come out exact all the same.
TEST_F(ChainRobot, RightAnglesAndZerosOfRotatedFramesAreExact) {
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<GeneralJoint> joints;
    Pose<double> before = Pose<double>::identity();  // grid frame in the link frame before
    for (int i = 0; i < 6; ++i) {
      Pose<double> shift = Pose<double>::identity();
      for (int k = 0; k < 3; ++k) shift.p[k] = choose(2) == 0 ? 0 : 0.25 * (choose(5) - 2);
      const Pose<double> turn{pose().R, Vec3<double>::zero()};
      GeneralJoint joint{.placement = before * shift, .after = turn, .link = link()};
      joint.axis = Vec3<double>::zero();
      joint.axis[choose(3)] = 1;
      before = inverse(turn);
      joints.push_back(joint);
    }
    const RobotData whole = data();
    const Robot robot = from_joints(whole, joints);
    expect_same_motion(robot, direct_of(whole, joints), random_);
    for (const JointForm<double>& f : robot.form) {
      for (const double x : {f.cos_alpha, f.sin_alpha}) EXPECT_TRUE(x == 0 || x == 1 || x == -1) << x;
      for (const double x : {f.a, f.d}) EXPECT_TRUE(x == 0 || std::abs(x) > 0.1) << x;
    }
  }
}

TEST_F(ChainRobot, StandardAndModifiedDhMoveAsTheirFormulas) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<DhJoint> rows;
    for (int i = 0; i < 1 + repeat % 8; ++i) {
      const double alpha = choose(2) == 0 ? M_PI / 2 * choose(4) : any(-3, 3);
      rows.push_back({any(-1, 1), any(-1, 1), alpha, any(-3, 3), link()});
      rows.back().link.joint.prismatic = choose(3) == 0;
    }
    const RobotData whole = data();
    for (const bool modified : {false, true}) {
      const Links direct = [&](const std::vector<double>& q) {
        std::vector<Matrix> out;
        Matrix world = matrix(whole.base);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const DhJoint& r = rows[i];
          const bool slides = r.link.joint.prismatic;
          const Matrix z = rotation_z(r.theta + (slides ? 0 : q[i])) * translation(0, 0, r.d + (slides ? q[i] : 0));
          const Matrix x = translation(r.a, 0, 0) * rotation_x(r.alpha);
          world = world * (modified ? x * z : z * x);
          out.push_back(world);
        }
        out.push_back(world * matrix(whole.tool));
        return out;
      };
      expect_same_motion(modified ? from_modified_dh(whole, rows) : from_dh(whole, rows), direct, random_);
    }
  }
}

/// Codes in any mix, with fixed rows between, before and behind; their masses are where they were.
TEST_F(ChainRobot, GrymaCodesMoveAsTheirFormula) {
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::vector<GrymaJoint> rows;
    for (int i = 0; i < 10; ++i) rows.push_back({choose(9), vector(0.5), any(-3, 3), any(-3, 3), link()});
    rows[3].theta = 8;
    const RobotData whole = data();
    const Robot robot = from_gryma(whole, rows);
    const auto all_rows = [&](const std::vector<double>& q) {
      std::vector<Matrix> out;
      Matrix world = matrix(whole.base);
      std::size_t k = 0;
      for (const GrymaJoint& r : rows) {
        world = world * translation(r.d[0], r.d[1], r.d[2]);
        const Vec3<double> general = {
            {std::cos(r.alpha) * std::sin(r.beta), std::sin(r.alpha) * std::sin(r.beta), std::cos(r.beta)}};
        const Vec3<double> axes[9] = {{},          {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{1, 0, 0}},
                                      {{0, 1, 0}}, {{0, 0, 1}}, general,     general};
        if (r.theta > 0) world = world * motion(axes[r.theta], r.theta <= 3 || r.theta == 7, q[k++]);
        out.push_back(world);
      }
      return out;
    };
    const Links direct = [&](const std::vector<double>& q) {
      std::vector<Matrix> out;
      const std::vector<Matrix> all = all_rows(q);
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].theta > 0) out.push_back(all[i]);
      out.push_back(all.back() * matrix(whole.tool));
      return out;
    };
    expect_same_motion(robot, direct, random_);
    const std::vector<double> q(static_cast<std::size_t>(robot.joints), 0.7);
    const std::vector<Matrix> kernel = kernel_frames(robot, q), all = all_rows(q);
    std::array<double, 10> have{}, want{};
    for (std::size_t i = 0; i < robot.form.size(); ++i)
      for (std::size_t k = 0; k < 10; ++k) have[k] += kernel_moments(robot.form[i], kernel[i])[k];
    bool moves = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      moves = moves || rows[i].theta > 0;
      for (std::size_t k = 0; k < 10 && moves; ++k) want[k] += described_moments(rows[i].link.body, all[i])[k];
    }
    expect_same_moments(robot, have, want);
  }
}

/// Product of exponentials: every link by its own product of motions about lines in the base.
TEST_F(ChainRobot, ScrewsMoveAsTheirExponentials) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<ScrewJoint> screws;
    std::vector<Vec3<double>> points;
    for (int i = 0; i < 7; ++i) {
      const bool prismatic = choose(3) == 0;
      const Vec3<double> s = vector(1), p = vector(1);
      points.push_back(p);
      ScrewJoint screw{.frame = choose(2) == 0 ? Pose<double>::identity() : pose(), .link = link()};
      screw.direction = prismatic ? Vec3<double>::zero() : s;
      screw.moment =
          prismatic ? s
                    : Vec3<double>{{p[1] * s[2] - p[2] * s[1], p[2] * s[0] - p[0] * s[2], p[0] * s[1] - p[1] * s[0]}};
      screws.push_back(screw);
    }
    const RobotData whole = data();
    const Links direct = [&](const std::vector<double>& q) {
      std::vector<Matrix> out;
      Matrix product = matrix(whole.base);
      for (std::size_t i = 0; i < screws.size(); ++i) {
        const bool slides = norm(screws[i].direction) == 0;
        const Vec3<double>& p = points[i];
        product = product * (slides ? motion(screws[i].moment, true, q[i])
                                    : translation(p[0], p[1], p[2]) * motion(screws[i].direction, false, q[i]) *
                                          translation(-p[0], -p[1], -p[2]));
        out.push_back(product * matrix(screws[i].frame));
      }
      out.push_back(product * matrix(whole.tool));
      return out;
    };
    expect_same_motion(from_screws(whole, screws), direct, random_);
  }
}

std::string refusal(const std::function<void()>& build) {
  try {
    build();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kUsage);
    return e.what();
  }
  return "accepted";
}

TEST_F(ChainRobot, RefusesWhatIsNoChain) {
  const auto with = [&](const std::function<void(GeneralJoint&)>& change) {
    return refusal([&] {
      std::vector<GeneralJoint> joints(3);
      for (GeneralJoint& joint : joints) joint.link = link();
      change(joints[1]);
      static_cast<void>(from_joints({}, joints));
    });
  };
  const double nan = std::nan("");
  EXPECT_EQ(with([](GeneralJoint&) {}), "accepted");
  EXPECT_NE(with([](GeneralJoint& j) { j.axis = Vec3<double>::zero(); }).find("joint 1: the axis is zero"),
            std::string::npos);
  EXPECT_NE(with([&](GeneralJoint& j) { j.axis[0] = nan; }).find("joint 1: the axis"), std::string::npos);
  EXPECT_NE(with([](GeneralJoint& j) { j.placement.R(0, 0) = 2; }).find("joint 1: placement"), std::string::npos);
  EXPECT_NE(with([](GeneralJoint& j) { j.after.R(0, 0) = -1; }).find("joint 1: after"), std::string::npos);
  EXPECT_NE(with([](GeneralJoint& j) { j.link.body.mass = -1; }).find("joint 1: mass"), std::string::npos);
  EXPECT_NE(with([&](GeneralJoint& j) { j.link.body.com[1] = nan; }).find("joint 1: mass, com"), std::string::npos);
  EXPECT_NE(with([](GeneralJoint& j) { j.link.body.inertia(0, 0) = -1; }).find("principal moment"), std::string::npos);
  EXPECT_NE(with([](GeneralJoint& j) { j.link.body.inertia(0, 1) += 1e-3; }).find("not symmetric"), std::string::npos);
  EXPECT_NE(with([](GeneralJoint& j) { j.link.joint.lower = 1, j.link.joint.upper = 0; }).find("lower limit"),
            std::string::npos);
  EXPECT_NE(with([&](GeneralJoint& j) { j.link.joint.upper = nan; }).find("lower limit"), std::string::npos);
  EXPECT_NE(refusal([] { static_cast<void>(from_dh({}, {})); }).find("0 joints"), std::string::npos);
  EXPECT_NE(refusal([] { static_cast<void>(from_dh({}, std::vector<DhJoint>(17))); }).find("17 joints"),
            std::string::npos);
  EXPECT_NE(refusal([] { static_cast<void>(from_gryma({}, {{.theta = 9}})); }).find("Theta code 9"), std::string::npos);
  EXPECT_NE(refusal([] { static_cast<void>(from_gryma({}, {{.theta = 0}})); }).find("0 joints"), std::string::npos);
  const ScrewJoint helical{.direction = {{0, 0, 1}}, .moment = {{0, 0, 1}}};
  EXPECT_NE(refusal([&] { static_cast<void>(from_screws({}, {helical})); }).find("helical"), std::string::npos);
  EXPECT_NE(refusal([&] { static_cast<void>(from_screws({}, {ScrewJoint{}})); }).find("axis is zero"),
            std::string::npos);
}

TEST_F(ChainRobot, ModelsHaveTheirOwnNumberOfJoints) {
  std::vector<DhJoint> rows(3);
  for (DhJoint& row : rows) row = {0.1, 0.2, 0.3, 0.4, link()};
  rows[1].link.joint.prismatic = true;
  const Robot robot = from_dh({.name = "three"}, rows);
  const Model<double, 3> model = make_model<3>(robot);
  EXPECT_TRUE(model.prismatic[1] && !model.prismatic[0]);
  EXPECT_EQ(model.joint[2].a, 0.1);
  EXPECT_EQ(model.joint[0].a, 0);
  EXPECT_EQ(model.gravity[2], -9.81);
  EXPECT_EQ(model.joint[1].damping, rows[1].link.damping);
  EXPECT_NE(refusal([&] { static_cast<void>(make_model<4>(robot)); }).find("\"three\" has 3 joints, not 4"),
            std::string::npos);
}

}  // namespace
}  // namespace garra::chain
