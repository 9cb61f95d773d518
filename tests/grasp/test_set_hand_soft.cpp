// Soft contacts of hands with a command: closed forms, the equations of motion, and every executor.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "contact/problems/classes.hpp"
#include "garra/core/error.hpp"
#include "garra/grasp_set.hpp"
#include "on_every_executor.hpp"
#include "uncertain_set.hpp"

namespace garra::grasp {
namespace {

using study::Distribution;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kRadius = 0.006, kGripForce = 20, kMass = 0.4, kWeight = kMass * 9.81;

void add(std::vector<double>& to, const Vec3<double>& v) { to.insert(to.end(), v.m, v.m + 3); }

/// Two soft contacts that face each other along x, 60 mm apart, on a bar whose center of mass is `off` beside their
/// line. Each is told to press, to bear half of the weight, and half of its moment about the line.
GraspSet pinch(double off) {
  GraspSet s;
  s.first = {0, 2};
  s.point = {-0.03, 0, 0, 0.03, 0, 0};
  s.normal = {1, 0, 0, -1, 0, 0};
  s.tangent = {0, 0, 1, 0, 0, 1};
  s.torsion_radius = {kRadius, kRadius};
  s.friction = {0.5, 0.5};
  s.mass = {kMass};
  s.com = {0, off, 0};
  s.inertia = {4e-4, 0, 0, 0, 3e-4, 0, 0, 0, 5e-4};
  s.force = {kGripForce, kWeight / 2, 0, kGripForce, kWeight / 2, 0};
  s.torsion = {kWeight * off / 2, -kWeight * off / 2};
  return s;
}
/// Friction that such a contact needs: (3) of docs/theory/grasp-sets.md.
double friction_of(double off) { return std::hypot(kWeight / 2, kWeight * off / 2 / kRadius) / kGripForce; }

GraspSet compliant_pinch(double off) {
  GraspSet s = pinch(off);
  s.mobility = {0.8, 1.3};
  s.angular_mobility = {500, 900};
  return s;
}

/// The same by joints: each fingertip stands on six of its own, three that move it and three that turn it.
GraspSet whole_pinch(double off) {
  GraspSet s = pinch(off);
  for (int j = 0; j < 2; ++j)
    for (int r = 0; r < 3; ++r)
      for (int i = 0; i < 12; ++i) {
        s.jacobian.push_back(i == 6 * j + r);
        s.angular_jacobian.push_back(i == 6 * j + 3 + r);
      }
  for (int i = 0; i < 12; ++i)
    for (int k = 0; k < 12; ++k) s.mass_matrix.push_back(i != k ? 0 : i % 6 < 3 ? (i < 6 ? 1.2 : 0.8) : 2e-3);
  return s;
}

TEST(SoftHand, APinchNeedsTheFrictionOfTheEllipse) {
  for (const double off : {0.0, 0.005, 0.02, -0.04})
    for (const GraspSet& s : {compliant_pinch(off), whole_pinch(off)}) {
      SetStudy study;
      study.samples = 4000;
      study.friction = Distribution::uniform(0.05, 1.05);
      study.friction_is_factor = false;
      study.held_acceleration = 1e-6;  // the formula's border is that of sticking
      const Ranking r = rank(s, study);
      ASSERT_EQ(r.status[0], GraspStatus::kRanked);
      EXPECT_EQ(r.unsolved[0], 0);
      const double needed = friction_of(off);
      EXPECT_NEAR(r.required_friction[0][1], needed, 1e-9);
      EXPECT_NEAR(r.p_held[0], std::clamp(1.05 - needed, 0.0, 1.0), 4 * std::sqrt(0.25 / 4000)) << off;
    }
  // Points bear no moment about their line.
  GraspSet points = compliant_pinch(0.02);
  points.torsion_radius = points.torsion = {};
  EXPECT_EQ(rank(points, {}).p_resisted[0], 0);
  EXPECT_EQ(rank(points, {}).p_held[0], 0);
}

TEST(SoftHand, AMomentThatIsNotCommandedIsNotCarried) {
  GraspSet s = compliant_pinch(0.02);
  s.torsion = {};
  const Ranking r = rank(s, {});
  EXPECT_EQ(r.p_resisted[0], 1);
  EXPECT_EQ(r.outcomes[0][static_cast<std::size_t>(Outcome::kCommandInsufficient)], r.samples[0]);
}

TEST(SoftHand, AMotorThatTurnsAFingertipLimitsTheMomentThatItBears) {
  constexpr double kLimit = 0.03;
  for (const double share : {0.999, 1.001, -0.999, -1.001}) {
    const double off = share * kLimit / kWeight;
    GraspSet s = whole_pinch(off);
    s.friction = {1, 1};
    s.torsion_radius[1] = 0;  // the other one is a point, so that this one bears all of it
    s.torsion = {kWeight * off, 0};
    s.torque_limit.assign(12, kInfinite);
    s.torque_limit[3] = kLimit;
    EXPECT_LT(std::abs(kWeight * off) / kRadius, kGripForce);
    const Ranking r = rank(s, {});
    EXPECT_EQ(r.unsolved[0], 0);
    EXPECT_EQ(r.p_resisted[0], std::abs(share) < 1 ? 1 : 0) << share;
    EXPECT_EQ(r.p_held[0], std::abs(share) < 1 ? 1 : 0) << share;
  }
}

/// k contacts on a sphere, on a hand whose joints move and turn all of them; `points` of them bear no moment.
void add_random_hand(bench::Random& random, int k, int joints, int points, GraspSet& s) {
  for (int j = 0; j < k; ++j) {
    const Vec3<double> any = random.normal3(), n = (1 / norm(any)) * any, side = cross(n, random.normal3());
    add(s.point, -0.05 * n);
    add(s.normal, n);
    add(s.tangent, (1 / norm(side)) * side);
    s.friction.push_back(random.uniform(0.2, 1));
    s.torsion_radius.push_back(j < points ? 0 : random.uniform(0.002, 0.01));
    for (int r = 0; r < 3 * joints; ++r) {
      s.jacobian.push_back(0.1 * random.uniform(-1, 1));
      s.angular_jacobian.push_back(random.uniform(-1, 1));
    }
  }
  s.first.push_back(std::ssize(s.friction));
  s.mass.push_back(random.uniform(0.1, 1));
  const double grip_force = random.uniform(-2, 5);  // some let go
  for (int r = 0; r < joints; ++r) {
    for (int c = 0; c < joints; ++c) s.mass_matrix.push_back(r == c ? 2e-3 : 3e-4);
    double press = 0;
    for (std::int64_t row = s.first.back() - k; row < s.first.back(); ++row)
      for (int i = 0; i < 3; ++i)
        press += s.jacobian[static_cast<std::size_t>((3 * row + i) * joints + r)] *
                 s.normal[static_cast<std::size_t>(3 * row + i)];
    s.torque.push_back(grip_force * press + 0.1 * random.uniform(-1, 1));
    s.bias.push_back(0.02 * random.uniform(-1, 1));
  }
}

/// What a hand and its object do under contact forces, by Newton's and Euler's equations alone.
struct Motion {
  Eigen::VectorXd joints;
  Eigen::Vector3d object, turning;
};
Eigen::Vector3d three(const std::vector<double>& all, std::int64_t row) {
  return {all[static_cast<std::size_t>(3 * row)], all[static_cast<std::size_t>(3 * row + 1)],
          all[static_cast<std::size_t>(3 * row + 2)]};
}
class Mechanics {
 public:
  Mechanics(const GraspSet& s, std::int64_t g) : s_(s), g_(g), first_(s.first[static_cast<std::size_t>(g)]) {
    const auto nq = s.joints();
    mass_ = Eigen::Map<const Matrix>(s.mass_matrix.data() + g * nq * nq, nq, nq);
    torque_ = Eigen::Map<const Eigen::VectorXd>(s.torque.data() + g * nq, nq) -
              Eigen::Map<const Eigen::VectorXd>(s.bias.data() + g * nq, nq);
    // A set without inertia: the contacts' mean distance is the radius of gyration.
    double squares = 0;
    for (std::int64_t j = 0; j < contacts(); ++j) squares += three(s.point, first_ + j).squaredNorm();
    inertia_ = s.mass[static_cast<std::size_t>(g)] * squares / static_cast<double>(contacts());
  }
  [[nodiscard]] std::int64_t contacts() const { return s_.first[static_cast<std::size_t>(g_) + 1] - first_; }
  [[nodiscard]] std::int64_t row(std::int64_t j) const { return first_ + j; }

  [[nodiscard]] Motion under(const SetReplay& r) const {
    const double mass = s_.mass[static_cast<std::size_t>(g_)];
    Eigen::VectorXd torque = torque_;
    Eigen::Vector3d force(0, 0, -9.81 * mass), moment(0, 0, 0);
    for (std::int64_t j = 0; j < contacts(); ++j) {
      const Eigen::Matrix3d E = axes(j);
      const Eigen::Vector3d f = E * three(r.force, j),
                            m = r.torsion.empty() ? Eigen::Vector3d(0, 0, 0)
                                                  : Eigen::Vector3d(r.torsion[static_cast<std::size_t>(j)] * E.col(0));
      force += f;
      moment += three(s_.point, row(j)).cross(f) + m;
      torque -= jacobian(s_.jacobian, j).transpose() * f + jacobian(s_.angular_jacobian, j).transpose() * m;
    }
    return {mass_.ldlt().solve(torque), force / mass, moment / inertia_};
  }
  /// Relative acceleration of contact j (n, t, o), object minus hand, and of the turning about n.
  [[nodiscard]] Eigen::Vector4d apart(const Motion& x, std::int64_t j) const {
    const Eigen::Matrix3d E = axes(j);
    const Eigen::Vector3d point =
                              x.object + x.turning.cross(three(s_.point, row(j))) - jacobian(s_.jacobian, j) * x.joints,
                          turning = x.turning - jacobian(s_.angular_jacobian, j) * x.joints;
    Eigen::Vector4d out;
    out << E.transpose() * point, E.col(0).dot(turning);
    return out;
  }

 private:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  [[nodiscard]] Eigen::Matrix3d axes(std::int64_t j) const {
    Eigen::Matrix3d E;
    E << three(s_.normal, row(j)), three(s_.tangent, row(j)), three(s_.normal, row(j)).cross(three(s_.tangent, row(j)));
    return E;
  }
  [[nodiscard]] Matrix jacobian(const std::vector<double>& all, std::int64_t j) const {
    return Eigen::Map<const Matrix>(all.data() + 3 * row(j) * s_.joints(), 3, s_.joints());
  }
  const GraspSet& s_;
  std::int64_t g_, first_;
  Eigen::MatrixXd mass_;
  Eigen::VectorXd torque_;
  double inertia_;
};

TEST(SoftHand, ForcesObeyTheLawOfFrictionInFourDimensions) {
  std::map<int, int> seen;
  int twisting = 0;
  for (const int k : {1, 2, 3, 4, 6, 9}) {
    SCOPED_TRACE(k);
    GraspSet s;
    s.first = {0};
    bench::Random random(static_cast<std::uint64_t>(k));
    const int grasps = k > 4 ? 6 : 40;
    for (int g = 0; g < grasps; ++g) add_random_hand(random, k, 4 * k, k > 1 && g % 3 == 0 ? 1 : 0, s);
    int unsolved = 0;
    for (int g = 0; g < grasps; ++g) {
      const SetReplay r = replay(s, {}, g, 0);
      if (std::isnan(r.force[0])) {
        ++unsolved;
        continue;
      }
      const Mechanics mechanics(s, g);
      const Motion x = mechanics.under(r);
      for (std::int64_t j = 0; j < k; ++j) {
        const auto at = static_cast<std::size_t>(mechanics.row(j));
        const double mu = s.friction[at], radius = s.torsion_radius[at];
        Eigen::Vector4d c, a = mechanics.apart(x, j);
        c << three(r.force, j), radius > 0 ? r.torsion[static_cast<std::size_t>(j)] / radius : 0;
        a[3] *= radius;
        if (radius == 0) {
          EXPECT_EQ(r.torsion[static_cast<std::size_t>(j)], 0);
        }
        const double ct = c.tail<3>().norm(), slip = a.tail<3>().norm(), size = 1e-5 * (10 + a.norm());
        EXPECT_GE(c[0], -1e-6);
        EXPECT_GE(a[0], -size);
        EXPECT_LE(std::abs(c[0] * a[0]), size * (1 + c[0]));
        EXPECT_LE(ct, mu * c[0] + 1e-6 * (1 + c[0]));
        const int state = r.state[static_cast<std::size_t>(j)];
        ++seen[state];
        if (state == static_cast<int>(ContactState::kSlip) && c[0] > 1e-3) {
          EXPECT_LE((c.tail<3>() * slip + mu * c[0] * a.tail<3>()).norm(), size * (1 + c[0]) * 10) << g << ' ' << j;
          twisting += std::abs(a[3]) > 0.1 * slip;
        }
        if (state == static_cast<int>(ContactState::kStick)) {
          EXPECT_LE(slip, size);
        }
      }
    }
    EXPECT_LE(unsolved, grasps / 10);
  }
  for (const int state : {0, 1, 2}) EXPECT_GT(seen[state], 10) << state;
  EXPECT_GT(twisting, 20);
}

TEST(SoftHand, EveryExecutorGivesTheSameBits) {
  for (const auto& [k, weak] : {std::pair{1, false}, {2, true}, {4, true}, {7, true}, {8, true}, {9, true}}) {
    SCOPED_TRACE(k);
    const bool has_kernel = k == 2 || k == 4 || k == 8;  // that pads nothing
    GraspSet s;
    s.first = {0};
    bench::Random random(static_cast<std::uint64_t>(k));
    for (int g = 0; g < 3; ++g) add_random_hand(random, k, 2 * k + 2, k > 1 ? g % 2 : 0, s);
    if (weak)
      for (const double torque : s.torque) s.torque_limit.push_back(0.9 * std::abs(torque) + 0.02);
    std::int64_t held = 0;
    test::expect_same_on(has_kernel ? test::other_executors() : test::other_host_executors(), [&](const Device& d) {
      SetStudy study = test::uncertain();
      study.command = Distribution::uniform(0.8, 1.2);
      study.grip_force_error = Distribution::uniform(-1, 1);
      study.torque_error = Distribution::normal(0, 0.02);
      study.held_imbalance = 1;
      study.samples = study.friction_samples = k > 8 ? 30 : test::gpu_here() ? 20 : 200;
      const Ranking r = rank(s, study, d);
      std::vector<double> numbers;
      for (const auto& three : r.margin) numbers.insert(numbers.end(), three.begin(), three.end());
      std::vector<std::int64_t> outcomes;
      for (const auto& n : r.outcomes) outcomes.insert(outcomes.end(), n.begin(), n.end());
      for (const std::int64_t n : r.held) held += n;
      return test::Answer()
          .add("held", r.held)
          .add("outcomes", outcomes)
          .add("margin", numbers)
          .add("resisted_force_radius", r.resisted_force_radius)
          .add("p_no_slip", r.p_no_slip)
          .add("limiting_contact", r.limiting_contact);
    });
  }
}

TEST(SoftHand, GraspsOfPointsKeepTheirBitsAmongSoftOnes) {
  GraspSet s;
  s.first = {0};
  bench::Random random(3);
  for (int g = 0; g < 6; ++g) add_random_hand(random, 3, 9, g % 2 == 0 ? 3 : 0, s);
  GraspSet points = s;
  points.torsion_radius = {};
  SetStudy study;
  study.friction = Distribution::uniform(0.5, 1.5);
  study.samples = 200;
  const Ranking a = rank(s, study), b = rank(points, study);
  for (std::size_t g = 0; g < 6; g += 2) {
    EXPECT_EQ(a.outcomes[g], b.outcomes[g]);
    EXPECT_EQ(a.required_friction[g], b.required_friction[g]);
  }
  double softer = 0, harder = 0;
  for (std::size_t g = 1; g < 6; g += 2) {
    softer += a.p_no_slip[g];
    harder += b.p_no_slip[g];
  }
  EXPECT_LT(softer, harder) << "what turns slips, too";
}

TEST(SoftHand, WithoutHowItTurnsItIsRefused) {
  const auto refusal = [](const GraspSet& s) -> std::string {
    try {
      (void)rank(s, {});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  GraspSet s = compliant_pinch(0.01);
  s.angular_mobility = {};
  EXPECT_NE(refusal(s).find("angular_mobility"), std::string::npos) << refusal(s);
  s = whole_pinch(0.01);
  s.angular_jacobian = {};
  EXPECT_NE(refusal(s).find("angular_jacobian"), std::string::npos) << refusal(s);
  s.angular_jacobian = {1, 2, 3};
  EXPECT_NE(refusal(s).find("angular_jacobian"), std::string::npos) << refusal(s);
  s = compliant_pinch(0.01);
  s.torsion.pop_back();
  EXPECT_NE(refusal(s).find("torsion"), std::string::npos) << refusal(s);
  s = compliant_pinch(0.01);
  s.angular_mobility = {500, -1};
  EXPECT_EQ(rank(s, {}).status[0], GraspStatus::kBadHand);
  s.angular_mobility = {500, double{NAN}};
  EXPECT_EQ(rank(s, {}).status[0], GraspStatus::kNotFinite);
}

}  // namespace
}  // namespace garra::grasp
