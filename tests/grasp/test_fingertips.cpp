// Fingers whose joints follow others, and fingertips that are not the origin of their link: the grasp has the mobility
// and the torques of the chain's coordinates at the point that touches.
#include <gtest/gtest.h>

#include <cmath>

#include "folder.hpp"
#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"
#include "garra/io/robot.hpp"
#include "garra/io/scenario.hpp"
#include "grasp/study/grasp_study.hpp"

namespace garra {
namespace {

/// A finger of four joints; the last one follows the third, where `mimic` says how.
std::string finger_urdf(const std::string& mimic) {
  const std::string body =
      "<inertial><origin xyz='0.02 0.001 0.003'/><mass value='0.05'/><inertia ixx='2e-6' ixy='2e-7' ixz='1e-7' "
      "iyy='1.1e-5' iyz='-3e-7' izz='1.2e-5'/></inertial>";
  std::string urdf = "<robot name='f'><link name='l0'/>";
  const char* origin[4] = {"xyz='0 0 0'", "xyz='0.01 0 0' rpy='1.5707963267948966 0 0'", "xyz='0.05 0 0'",
                           "xyz='0.04 0 0'"};
  for (int i = 1; i <= 4; ++i) {
    const std::string n = std::to_string(i), from = std::to_string(i - 1);
    urdf += "<link name='l" + n + "'>" + body + "</link><joint name='j" + n + "' type='revolute'><parent link='l" +
            from + "'/><child link='l" + n + "'/><origin " + origin[i - 1] +
            "/><axis xyz='0 0 1'/><limit lower='-2' upper='2' effort='1' velocity='1'/>" + (i == 4 ? mimic : "") +
            "</joint>";
  }
  return urdf +
         "<link name='tip'/><joint name='jt' type='fixed'><parent link='l4'/><child link='tip'/><origin xyz='0.03 0 "
         "0'/>"
         "</joint></robot>";
}
const std::string kMimic = "<mimic joint='j3' multiplier='0.7' offset='0.1'/>";

std::string text(const Vec3<double>& v) {
  char out[96];
  std::snprintf(out, sizeof out, "[%.17g, %.17g, %.17g]", v[0], v[1], v[2]);
  return out;
}

const Vec3<double> kNormal = {{0.6, 0, 0.8}};

/// One fingertip on an object so heavy that only the finger gives way.
std::string scenario(const std::string& hand, const Vec3<double>& point, const std::string& contact = "") {
  return "schema = 1\njob = \"grasp\"\n[hand]\n" + hand +
         "[object]\nshape = \"points\"\ngyration = [1e6, 1e6, 1e6]\nmass = 1e15\nposition = [0, 0, 0]\n"
         "[contacts]\nfriction = 0.5\n[[contact]]\npoint = " +
         text(point) + "\nnormal = " + text(kNormal) + "\ntangent = [0, 1, 0]\n" + contact +
         "[load]\nsqueeze = 1\n[sampling]\nsamples = 1\n";
}

grasp::Replay replay(const std::string& file) { return grasp::Study(io::read_scenario(file)).replay(0); }

/// What an independent evaluation has of the finger in its coordinates.
struct Truth {
  std::vector<double> q;  ///< of all joints
  Pose<double> tip;
  std::vector<double> J, M, g;  ///< [3,n] in contact axes at `at`, [n,n], [n]
};

/// Of all four joints, and then by the chain rule.
Truth truth(const std::vector<double>& x, bool follows, const Vec3<double>& behind) {
  const chain::Robot robot = io::parse_urdf(finger_urdf(""), "f.urdf");
  Truth out;
  out.q = x;
  if (follows) out.q.push_back(0.7 * x[2] + 0.1);
  using enum chain::Output;
  const chain::Results at = evaluate(robot, chain::States{1, out.q}, kPose);
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) out.tip.R(r, c) = at.pose[static_cast<std::size_t>(4 * r + c)];
    out.tip.p[r] = at.pose[static_cast<std::size_t>(4 * r + 3)];
  }
  chain::EvalOptions options;
  options.point = transpose_times(out.tip.R, behind);
  const chain::Results r = evaluate(robot, chain::States{1, out.q}, {kJacobian, kMassMatrix, kGravity}, options);
  const std::size_t n = x.size();
  out.J.assign(3 * n, 0), out.M.assign(n * n, 0), out.g.assign(n, 0);
  const double E[3][3] = {{0.6, 0, 0.8}, {0, 1, 0}, {-0.8, 0, 0.6}};  // rows: n, t, o = n x t
  const auto of = [&](std::size_t i) { return std::min(i, n - 1); };
  const auto ratio = [&](std::size_t i) { return i < n ? 1 : 0.7; };
  for (std::size_t i = 0; i < 4; ++i) {
    out.g[of(i)] += ratio(i) * r.gravity[i];
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t a = 0; a < 3; ++a) out.J[k * n + of(i)] += ratio(i) * E[k][a] * r.jacobian[4 * a + i];
    for (std::size_t j = 0; j < 4; ++j) out.M[of(i) * n + of(j)] += ratio(i) * ratio(j) * r.mass_matrix[4 * i + j];
  }
  return out;
}

/// J M^-1 J' of n = 3 coordinates, by Cramer's rule.
std::vector<double> mobility(const Truth& t) {
  Mat3<double> M;
  for (int k = 0; k < 9; ++k) M[k] = t.M[static_cast<std::size_t>(k)];
  const Vec3<double> a = column(M, 0), b = column(M, 1), c = column(M, 2);
  const double det = dot(a, cross(b, c));
  std::vector<double> A(9, 0);
  const Vec3<double> rows[3] = {cross(b, c), cross(c, a), cross(a, b)};  // of the inverse, times det
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t s = 0; s < 3; ++s)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
          A[3 * r + s] += t.J[3 * r + i] * rows[i][static_cast<int>(j)] / det * t.J[3 * s + j];
  return A;
}

constexpr double kSame = 1e-9;  // of the largest entry: cond(M) and the object's 1e-15

TEST(Fingertips, OfCoupledFingersGiveWayAsTheirCoordinates) {
  const test::Folder folder;
  static_cast<void>(folder.write("f.urdf", finger_urdf(kMimic)));
  const Truth want = truth({0.1, 0.6, 0.5}, true, Vec3<double>::zero());
  const std::string hand = "urdf = \"f.urdf\"\ntips = [\"tip\"]\nq = { j1 = 0.1, j2 = 0.6, j3 = 0.5 }\n";
  const std::string force = "force = [1, 0.2, -0.1]\n";
  const std::string file = folder.write("a.toml", scenario(hand, want.tip.p, force));
  const grasp::Replay r = replay(file);
  const std::vector<double> A = mobility(want);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(r.A[i], A[i], kSame * A[0]) << i;
  // Joints are searched in the coordinates, too: three of them bring the tip to the point in one way near the start.
  // The search ends within 1e-10 m.
  const std::string off = "urdf = \"f.urdf\"\ntips = [\"tip\"]\nq = { j1 = 0.15, j2 = 0.5, j3 = 0.6 }\n";
  const grasp::Replay searched = replay(folder.write("off.toml", scenario(off, want.tip.p, force)));
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(searched.A[i], A[i], 1e-6 * A[0]) << i;
  // What holds the finger against gravity and presses, as torques of the coordinates: the same b.
  std::string tau = "tau = [";
  for (std::size_t i = 0; i < 3; ++i) {
    char one[40];
    const double pressed = 1 * want.J[i] + 0.2 * want.J[3 + i] - 0.1 * want.J[6 + i];
    std::snprintf(one, sizeof one, "%.17g, ", want.g[i] + pressed);
    tau += one;
  }
  const grasp::Replay told = replay(folder.write("b.toml", scenario(hand + tau + "0]\n", want.tip.p)));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(told.b[i], r.b[i], kSame * A[0]) << i;
  // Resolved, it is the same hand.
  const std::string resolved = io::resolved_toml(io::read_scenario(file));
  EXPECT_EQ(replay(folder.write("again.toml", resolved)).A, r.A);
  // One motor drives both.
  const auto message = [&](const std::string& bad, const std::string& more = "") {
    try {
      static_cast<void>(io::read_scenario(folder.write("bad.toml", scenario(bad, want.tip.p) + more)));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_NE(message(hand + "tau = [0, 0, 0, 1]\n").find("hand.tau: joint 3 follows joint 2"), std::string::npos)
      << message(hand + "tau = [0, 0, 0, 1]\n");
  EXPECT_NE(message("urdf = \"f.urdf\"\ntips = [\"tip\"]\nq = { j4 = 1 }\n").find("joint \"j4\" follows \"j3\""),
            std::string::npos);
  EXPECT_NE(message(hand, "[simulation]\nuntil = 0.1\n").find("a joint that follows another one (mimic)"),
            std::string::npos)
      << message(hand, "[simulation]\nuntil = 0.1\n");
}

TEST(Fingertips, TouchWithAPointOfTheirLink) {
  const test::Folder folder;
  static_cast<void>(folder.write("f.urdf", finger_urdf(kMimic)));
  const Vec3<double> tool = {{0.004, -0.007, 0.002}};
  Truth want = truth({0.1, 0.6, 0.5}, true, Vec3<double>::zero());
  const Vec3<double> behind = want.tip.R * tool, point = want.tip.p + behind;
  want = truth({0.1, 0.6, 0.5}, true, behind);
  const std::string hand = "urdf = \"f.urdf\"\ntips = [\"tip\"]\nq = { j1 = 0.1, j2 = 0.6, j3 = 0.5 }\n";
  const std::string file = folder.write("a.toml", scenario(hand + "tool = " + text(tool) + "\n", point));
  const grasp::Replay r = replay(file);
  const std::vector<double> A = mobility(want);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(r.A[i], A[i], kSame * A[0]) << i;
  const std::string resolved = io::resolved_toml(io::read_scenario(file));
  EXPECT_EQ(replay(folder.write("again.toml", resolved)).A, r.A) << resolved;
}

TEST(Fingertips, ThatAreBallsTouchWithTheirSurface) {
  const test::Folder folder;
  static_cast<void>(folder.write("f.urdf", finger_urdf(kMimic)));
  constexpr double kRadius = 0.012;
  Truth want = truth({0.1, 0.6, 0.5}, true, Vec3<double>::zero());
  // The normal points into the object: the ball's center is one radius before the surface.
  const Vec3<double> behind = kRadius * kNormal, point = want.tip.p + behind;
  want = truth({0.1, 0.6, 0.5}, true, behind);
  const std::string hand =
      "urdf = \"f.urdf\"\ntips = [\"tip\"]\nq = { j1 = 0.1, j2 = 0.6, j3 = 0.5 }\ntip_radius = \"12 mm\"\n";
  const std::string file = folder.write("a.toml", scenario(hand, point));
  const grasp::Replay r = replay(file);
  const std::vector<double> A = mobility(want);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(r.A[i], A[i], kSame * A[0]) << i;
  const std::string resolved = io::resolved_toml(io::read_scenario(file));
  EXPECT_NE(resolved.find("tip_radius = 0.012"), std::string::npos) << resolved;
  EXPECT_EQ(replay(folder.write("again.toml", resolved)).A, r.A);
  try {
    static_cast<void>(
        io::read_scenario(folder.write("bad.toml", scenario(hand, point) + "[simulation]\nuntil = 0.1\n")));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("tip_radius: [simulation] takes fingertips that are points"),
              std::string::npos)
        << error.what();
  }
}

/// A parallel jaw of a URDF, whose pads are at z = 0.1 m of the palm.
constexpr const char* kJaw = R"(<robot name="jaw"><link name="palm"/>
  <link name="left"><inertial><mass value="0.05"/><inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"/>
  </inertial></link>
  <link name="right"><inertial><mass value="0.05"/><inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"/>
  </inertial></link>
  <joint name="jl" type="prismatic"><parent link="palm"/><child link="left"/><origin xyz="0 0 0.1"/><axis xyz="-1 0 0"/>
  <limit lower="0" upper="0.04" effort="40" velocity="0.1"/></joint>
  <joint name="jr" type="prismatic"><parent link="palm"/><child link="right"/><origin xyz="0 0 0.1"/>
  <axis xyz="1 0 0"/><limit lower="0" upper="0.04" effort="40" velocity="0.1"/></joint></robot>)";

// The sliders cannot bring their origins up by 3 mm: points of the pads 3 mm above touch. Each carries half of the
// weight, 0.2 * 9.81 / 2 N, at the squeeze of 10 N.
TEST(Fingertips, OfAJawAreAnyPointsOfItsPads) {
  const test::Folder folder;
  static_cast<void>(folder.write("jaw.urdf", kJaw));
  const auto grasp_at = [&](const std::string& z) {
    return grasp::Study(io::read_scenario(folder.write(
        "jaw.toml",
        "schema = 1\njob = \"grasp\"\n[hand]\nurdf = \"jaw.urdf\"\ntips = [\"left\", \"right\"]\nq = { jl = 0.02, jr = "
        "0.02 }\n[object]\nshape = \"points\"\ngyration = [0.02, 0.02, 0.02]\nmass = 0.2\nposition = [0, 0, 0.1]\n"
        "[contacts]\nfriction = 0.6\n[load]\nsqueeze = \"10 N\"\n[sampling]\nsamples = 10\n[[contact]]\npoint = "
        "[-0.02, "
        "0, " +
            z + "]\nnormal = [1, 0, 0]\n[[contact]]\npoint = [0.02, 0, " + z + "]\nnormal = [-1, 0, 0]\n")));
  };
  for (const char* z : {"0", "1e-5", "0.003"}) {
    SCOPED_TRACE(z);
    const grasp::Study study = grasp_at(z);
    const grasp::Replay r = study.replay(0);
    EXPECT_EQ(r.outcome, grasp::Outcome::kHeld);
    for (std::size_t j = 0; j < 2; ++j) {
      EXPECT_NEAR(r.c[3 * j], 10, 1e-8);
      EXPECT_NEAR(std::hypot(r.c[3 * j + 1], r.c[3 * j + 2]), 0.2 * 9.81 / 2, 1e-8);
    }
  }
  try {  // half a meter away is no point of a pad
    static_cast<void>(grasp_at("0.5"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot reach"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace garra
