// Every stage of building A and b against the reference chain (25 hands of 3 to 5 PUMA fingers, at rest and rolling).
#include <gtest/gtest.h>

#include <cmath>

#include "garra/chain.hpp"
#include "garra/core/lanes.hpp"
#include "garra/systems/grasp/assemble.hpp"
#include "grasp/sample/fingers.hpp"
#include "reference.hpp"

namespace garra {
namespace {

using nlohmann::json;

constexpr double kStage = 1e-12;  // relative to the largest entry, as the reference set asks
constexpr double kDrift = 1e-11;  // b: sums of terms ten times its size

template <int R, int C>
Mat<double, R, C> matrix(const json& j) {
  const std::vector<double> v = test::to_numbers(j);
  EXPECT_EQ(v.size(), static_cast<std::size_t>(R * C));
  Mat<double, R, C> m;
  std::copy(v.begin(), v.end(), m.m);
  return m;
}

template <int R, int C>
double relative_error(const Mat<double, R, C>& a, const Mat<double, R, C>& b) {
  double size = 1e-300, worst = 0;
  for (int k = 0; k < R * C; ++k) {
    size = std::max(size, std::abs(b[k]));
    worst = std::max(worst, std::abs(a[k] - b[k]));
  }
  return worst / size;
}

double wrapped(double angle) { return std::remainder(angle, 2 * M_PI); }

chain::Branch branch_of(const std::string& label) {
  return {label[0] == 'r' ? 1 : -1, label[1] == 'u' ? 1 : -1, label[2] == 'n' ? 1 : -1};
}

grasp::SurfacePoint sphere_point(double azimuth, double elevation, double radius) {
  const double ca = std::cos(azimuth), sa = std::sin(azimuth), ce = std::cos(elevation), se = std::sin(elevation);
  return {{{radius * ce * ca, radius * ce * sa, radius * se}},
          {{-ce * ca, -ce * sa, -se}},
          {{-se * ca, -se * sa, ce}},
          {{-sa, ca, 0}},
          1 / radius,
          1 / radius};
}

struct Hand {
  json data;
  /// Finger j with the palm as its world.
  chain::Robot finger(std::size_t j) const {
    const json& in = data["inputs"];
    chain::RobotData robot;
    robot.base = base(j);
    robot.tool.p[2] = in["tool"];
    robot.gravity = matrix<3, 1>(in["gvec"]);
    return chain::from_dh(robot, chain::puma560(in["armature"]));
  }
  Pose<double> base(std::size_t j) const {
    Pose<double> x = Pose<double>::identity();
    for (int i = 0; i < 3; ++i) x.p[i] = data["S"][static_cast<std::size_t>(i)][j];  // columns are fingers
    return x;
  }
  grasp::ContactPlace<double> place(std::size_t j) const {
    grasp::ContactPlace<double> c;
    for (int i = 0; i < 3; ++i) c.p[i] = data["p_t"][static_cast<std::size_t>(i)][j];
    c.E = matrix<3, 3>(data["E_nto"][j]);
    return c;
  }
  grasp::Body<double> body() const {
    const json& in = data["inputs"];
    grasp::Body<double> b;
    b.mass = in["m_obj"];
    const double I = 0.4 * b.mass * in["r"].get<double>() * in["r"].get<double>();
    b.inertia = I * Mat3<double>::identity();
    b.inverse_inertia = (1 / I) * Mat3<double>::identity();
    b.p_cm = matrix<3, 1>(data["p_cm"]);
    const auto v = matrix<6, 1>(in["qd_obj"]);
    b.v = vec3(v[0], v[1], v[2]);
    b.omega = vec3(v[3], v[4], v[5]);
    return b;
  }
  Vec<double, 6> per_finger(const char* key, std::size_t j) const {
    Vec<double, 6> v;
    for (std::size_t i = 0; i < 6; ++i) v[static_cast<int>(i)] = data["inputs"][key][6 * j + i];
    return v;
  }
};

std::vector<Hand> hands() {
  std::vector<Hand> out;
  for (const auto& e : test::read_reference_json("grasp/chain.json")) out.push_back({e});
  return out;
}

TEST(ContactFrame, IsTheReferenceFrameAtEveryAzimuthAndElevation) {
  for (const Hand& h : hands()) {
    const auto& azel = h.data["inputs"]["azel"];
    for (std::size_t j = 0; j < azel.size(); ++j) {
      const double r = h.data["inputs"]["r"];
      const auto s = sphere_point(azel[j][0], azel[j][1], r);
      const auto c = h.place(j);
      for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(c.E(i, 0), s.n[i], 1e-12);
        EXPECT_NEAR(c.p[i], h.data["p_cm"][static_cast<std::size_t>(i)].get<double>() + s.point[i], 1e-12);
      }
      const auto placed = grasp::place_on_surface<double>(s, {0, 0, 0, 0, 1});
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(placed.E(i, 0), s.n[i], 1e-14);
    }
  }
}

TEST(SlidePoint, StaysOnTheSphereAndKeepsItsFrameOrthogonal) {
  const auto s = sphere_point(0.4, 0.2, 0.1);
  const auto c = grasp::place_on_surface<double>(s, {0.03, -0.02, 0, 0, 1});
  EXPECT_NEAR(norm(c.p), 0.1, 1e-15);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(c.p[i], -0.1 * c.E(i, 0), 1e-15);
  const auto tilted = grasp::place_on_surface<double>(s, {0.03, -0.02, 0.1, 2.0, 1});
  EXPECT_LE(relative_error(transpose_times(tilted.E, tilted.E), Mat3<double>::identity()), 1e-14);
  EXPECT_NEAR(dot(column(tilted.E, 0), column(c.E, 0)), std::cos(0.1), 1e-14);
  EXPECT_NEAR(norm(tilted.p - c.p), 0, 1e-16);
}

TEST(SlidePoint, FollowsEachCurvatureByItselfAndTheScaleOfTheObject) {
  // Curvatures 10 and 20 1/m at the origin: a small slide moves the point by itself, and in by k x^2 / 2.
  const grasp::SurfacePoint s{{{0, 0, 0}}, {{0, 0, 1}}, {{1, 0, 0}}, {{0, 1, 0}}, 10, 20};
  const auto t = grasp::place_on_surface<double>(s, {1e-3, 0, 0, 0, 1}),
             o = grasp::place_on_surface<double>(s, {0, 1e-3, 0, 0, 1});
  EXPECT_NEAR(t.p[0], 1e-3, 1e-7);
  EXPECT_NEAR(t.p[2], 0.5 * 10 * 1e-6, 1e-9);
  EXPECT_NEAR(o.p[1], 1e-3, 1e-6);
  EXPECT_NEAR(o.p[2], 0.5 * 20 * 1e-6, 1e-8);
  const auto big = grasp::place_on_surface<double>(sphere_point(0.4, 0.2, 0.1), {0.03, -0.02, 0, 0, 2});
  EXPECT_NEAR(norm(big.p), 0.2, 1e-15);
}

TEST(PumaInverseKinematics, ReachesEveryReferenceBranchUnderItsLabel) {
  int checked = 0;
  for (const Hand& h : hands())
    for (std::size_t j = 0; j < h.data["n"].get<std::size_t>(); ++j) {
      const auto R = matrix<3, 3>(h.data["R_PC"][j]);
      const Pose<double> tip{R, h.place(j).p};
      const auto m = chain::make_model<6>(h.finger(j));
      for (const auto& branch : h.data["ik_all"][j]) {
        const auto found = chain::puma_ik(m, tip, branch_of(branch[0]));
        ASSERT_EQ(found.reached, 1.0);
        for (int i = 0; i < 6; ++i)
          EXPECT_NEAR(wrapped(found.q[i] - branch[1][static_cast<std::size_t>(i)].get<double>()), 0, 1e-9)
              << "hand " << h.data["id"] << " finger " << j << " " << branch[0] << " joint " << i;
        const auto reached = chain::frames(m, chain::angles(m, found.q)).tool;
        EXPECT_LE(norm(reached.p - tip.p), 1e-12);
        EXPECT_LE(relative_error(reached.R, tip.R), 1e-12);
        ++checked;
      }
    }
  EXPECT_GE(checked, 300);
}

TEST(PumaInverseKinematics, SaysWhenThePoseIsOutOfReach) {
  chain::RobotData data;
  data.tool.p[2] = 0.1;
  const auto m = chain::make_model<6>(chain::from_dh(data, chain::puma560()));
  Pose<double> far = Pose<double>::identity();
  far.p = vec3(2.0, 0.0, 0.3);
  Pose<double> column_of_base = Pose<double>::identity();
  column_of_base.p = vec3(0.0, 0.01, 0.5);  // closer to joint 1's axis than d3
  for (const auto& tip : {far, column_of_base}) {
    const auto s = chain::puma_ik(m, tip, {});
    EXPECT_EQ(s.reached, 0.0);
    for (int i = 0; i < 6; ++i) EXPECT_TRUE(std::isfinite(s.q[i]));
  }
}

TEST(Finger, JacobianInertiaGravityAndCoriolisAgreeWithTheReference) {
  for (const Hand& h : hands())
    for (std::size_t j = 0; j < h.data["n"].get<std::size_t>(); ++j) {
      const auto q = matrix<6, 1>(h.data["q"][j]);
      const auto finger = grasp::padded_chain<6>(h.finger(j));
      const auto kin = chain::frames(finger.model, chain::angles(finger.model, q));
      const auto jac = chain::jacobian(finger.model, kin);
      EXPECT_LE(relative_error(chain::in_axes(h.base(j).R, jac), matrix<6, 6>(h.data["J_geo"][j])), kStage);
      const auto spatial = chain::jacobian(finger.model, kin, h.base(j).p);
      EXPECT_LE(relative_error(chain::in_axes(h.base(j).R, spatial), matrix<6, 6>(h.data["J_spatial"][j])), kStage);
      const grasp::FingerState<double, 6> x{q, h.per_finger("qd_man", j), true};
      const grasp::TorqueCommand<double, 6> command{true, h.per_finger("tau", j), 1, {}};
      const auto t = grasp::finger_terms<chain::Joints::kRevolute>(finger, h.place(j), x, command);
      EXPECT_LE(relative_error(t.M, matrix<6, 6>(h.data["M_f"][j])), kStage);
      EXPECT_LE(relative_error(t.gravity, matrix<6, 1>(h.data["g_f"][j])), kStage);
      EXPECT_LE(relative_error(t.Jc, matrix<3, 6>(h.data["J"][j])), kStage);
      const auto hf = matrix<6, 1>(h.data["h_f"][j]);
      for (int i = 0; i < 6; ++i) EXPECT_NEAR(t.coriolis[i], hf[i], 1e-11);
      const auto bias = matrix<3, 1>(h.data["jdot_qd"][j]);
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(t.bias[i], bias[i], 1e-11);
    }
}

template <int J>
void check_padding(const Hand& h, std::size_t j) {
  const auto exact = grasp::padded_chain<6>(h.finger(j));
  const auto wide = grasp::padded_chain<J>(h.finger(j));
  const grasp::FingerState<double, 6> x{matrix<6, 1>(h.data["q"][j]), h.per_finger("qd_man", j), true};
  const grasp::TorqueCommand<double, 6> command{true, h.per_finger("tau", j), 1, {}};
  grasp::FingerState<double, J> wide_x{Vec<double, J>::zero(), Vec<double, J>::zero(), true};
  grasp::TorqueCommand<double, J> wide_command{true, Vec<double, J>::zero(), 1, {}};
  for (int i = 0; i < 6; ++i) {
    wide_x.q[i] = x.q[i];
    wide_x.qd[i] = x.qd[i];
    wide_command.tau[i] = command.tau[i];
  }
  const auto t = grasp::finger_terms(exact, h.place(j), x, command);
  const auto w = grasp::finger_terms(wide, h.place(j), wide_x, wide_command);
  EXPECT_LE(relative_error(w.A, t.A), 1e-13);
  EXPECT_LE(relative_error(w.drift, t.drift), 1e-13);
  EXPECT_LE(relative_error(w.bias, t.bias), 1e-13);
  EXPECT_LE(relative_error(w.velocity, t.velocity), 1e-13);
}

TEST(Finger, PaddingChangesNothing) {
  for (const Hand& h : hands()) {
    check_padding<8>(h, 0);
    check_padding<16>(h, 1);
  }
}

template <int N, class S>
void check_assembly(const Hand& h) {
  const auto body0 = h.body();
  grasp::Body<S> body{S(body0.mass),       cast<S>(body0.inertia), cast<S>(body0.inverse_inertia),
                      cast<S>(body0.p_cm), cast<S>(body0.v),       cast<S>(body0.omega)};
  const auto gravity = matrix<3, 1>(h.data["inputs"]["gvec"]);
  grasp::ContactTerms<S> contacts[N];
  for (int k = 0; k < N; ++k) {
    const auto j = static_cast<std::size_t>(k);
    const auto place = h.place(j);
    const grasp::ContactPlace<S> at{cast<S>(place.p), cast<S>(place.E)};
    const grasp::FingerState<S, 6> x{cast<S>(matrix<6, 1>(h.data["q"][j])), cast<S>(h.per_finger("qd_man", j)), true};
    const grasp::TorqueCommand<S, 6> command{true, cast<S>(h.per_finger("tau", j)), S(1), Vec3<S>::zero()};
    const auto t = grasp::finger_terms<chain::Joints::kRevolute>(grasp::padded_chain<6>(h.finger(j)), at, x, command);
    const S curvature = S(1 / h.data["inputs"]["r"].get<double>());
    contacts[k] = {at, t.A, t.drift, t.bias, t.velocity, {{curvature, curvature}}};
  }
  const auto wrench = cast<S>(matrix<6, 1>(h.data["inputs"]["wext"]));
  const auto sys = grasp::assemble<S, N>(body, contacts, wrench, gravity, true);
  const auto lane = [](const auto& m, auto& out) {
    for (int k = 0; k < static_cast<int>(sizeof(out) / sizeof(double)); ++k) {
      if constexpr (kWidth<S> == 1)
        out[k] = m[k];
      else
        out[k] = m[k][kWidth<S> - 1];
    }
  };
  Mat<double, 3 * N, 3 * N> A;
  Vec<double, 3 * N> b;
  Mat<double, 6, 3 * N> W;
  lane(sys.A, A);
  lane(sys.b, b);
  lane(sys.W, W);
  EXPECT_LE(relative_error(A, matrix<3 * N, 3 * N>(h.data["A"])), kStage) << h.data["id"];
  EXPECT_LE(relative_error(W, matrix<6, 3 * N>(h.data["W"])), kStage) << h.data["id"];
  const auto want = matrix<3 * N, 1>(h.data["b"]);
  double size = 1;
  for (int k = 0; k < 3 * N; ++k) size = std::max(size, std::abs(want[k]));
  for (int k = 0; k < 3 * N; ++k) EXPECT_NEAR(b[k], want[k], kDrift * size) << "hand " << h.data["id"] << " row " << k;
}

TEST(Assembly, AAndBAgreeWithTheReferenceInScalarAndInEveryLane) {
  for (const Hand& h : hands()) {
    switch (h.data["n"].get<int>()) {
      case 3:
        check_assembly<3, double>(h);
        check_assembly<3, Lanes<double>>(h);
        break;
      case 4:
        check_assembly<4, double>(h);
        check_assembly<4, Lanes<double>>(h);
        break;
      case 5:
        check_assembly<5, double>(h);
        check_assembly<5, Lanes<double>>(h);
        break;
      default:
        FAIL();
    }
  }
}

TEST(ParallelAxes, MassMatrixAboutThePalmNeedsItsCouplingAndGivesTheSameA) {
  for (const Hand& h : hands()) {
    const auto body = h.body();
    const auto palm = Vec3<double>::zero();
    EXPECT_LE(relative_error(grasp::mass_matrix(body, body.p_cm), matrix<6, 6>(h.data["M_obj"])), kStage);
    const auto M = grasp::mass_matrix(body, palm);
    EXPECT_LE(relative_error(M, matrix<6, 6>(h.data["M_obj_P"])), kStage);
    // One contact's own block of A_obj, about either point.
    const auto W = grasp::wrench_matrix(h.place(0), palm);
    const auto about_palm = transpose_times(W, solve(factor_ldlt(M), W));
    const auto Wc = grasp::wrench_matrix(h.place(0), body.p_cm);
    EXPECT_LE(relative_error(about_palm, transpose_times(Wc, grasp::inverse_mass_times(body, Wc))), 1e-10);
  }
}

}  // namespace
}  // namespace garra
