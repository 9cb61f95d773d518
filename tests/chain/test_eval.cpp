// Batched kinematics and dynamics: against Pinocchio's numbers and quadruple-precision ones, by the laws that tie the
// outputs to each other for every number of joints, and for the promises of a batch: the same bits on every executor,
// bad states alone.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>

#include "answers.hpp"
#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"
#include "garra/io/robot.hpp"
#include "places.hpp"
#include "reference.hpp"

namespace garra::chain {
namespace {

using Array = std::vector<double>;

const Device kScalar{Executor::kScalar, 1, 0};
const Device kLanes{Executor::kLanes, 2, 0};

constexpr double kPoseTolerance = 1e-12;         // of poses and Jacobians
constexpr double kDynamicsTolerance = 1e-10;     // relative to the largest entry
constexpr double kAccelerationTolerance = 1e-9;  // likewise

double largest(const Array& a) {
  double m = 0;
  for (const double x : a) m = std::max(m, std::abs(x));
  return m;
}
/// Largest difference relative to the largest entry of b; infinite where sizes differ or a NaN turns up.
double difference(const Array& a, const Array& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double m = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    if (!(d <= m)) m = std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
  }
  return m / std::max(1e-300, largest(b));
}
bool same_bits(const Array& a, const Array& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

Robot built_in(const std::string& name) { return io::read_robot(test::source_folder() + "/data/robots/" + name); }

Array drawn(std::mt19937_64& random, std::int64_t count, double size) {
  std::uniform_real_distribution<double> uniform(-size, size);
  Array a(static_cast<std::size_t>(count));
  for (double& x : a) x = uniform(random);
  return a;
}

States random_states(int joints, std::int64_t count, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  const std::int64_t n = count * joints;
  States s;
  s.count = count;
  s.q = drawn(random, n, 3);
  s.qd = drawn(random, n, 2);
  s.qdd = drawn(random, n, 5);
  s.tau = drawn(random, n, 20);
  s.wrench = drawn(random, 6 * count, 10);
  return s;
}

/// A chain of any numbers; every third joint slides if asked to.
Robot random_robot(int joints, bool mixed, unsigned seed = 7) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  std::vector<DhJoint> rows;
  for (int i = 0; i < joints; ++i) {
    DhJoint row;
    row.a = 0.3 * u(random);
    row.d = 0.3 * u(random);
    row.alpha = 1.5 * u(random);
    row.theta = u(random);
    row.link.joint.prismatic = mixed && i % 3 == 1;
    row.link.body.mass = 1.5 + u(random);
    row.link.body.com = {{0.2 * u(random), 0.2 * u(random), 0.2 * u(random)}};
    row.link.body.inertia = Mat3<double>::zero();
    for (int k = 0; k < 3; ++k) row.link.body.inertia(k, k) = 0.03 + 0.01 * u(random);
    row.link.armature = 0.02;
    row.link.damping = 0.1 * (1 + u(random));
    rows.push_back(row);
  }
  RobotData data;
  data.name = "random";
  data.base.p = {{0.1, -0.2, 0.3}};
  data.base.R = {{0, -1, 0, 1, 0, 0, 0, 0, 1}};
  data.tool.p = {{0.05, 0.02, 0.1}};
  data.gravity = {{1, -2, -9}};
  return from_dh(data, rows);
}

/// y = A x for every state, A [n,rows,columns].
Array times(const Array& A, const Array& x, int rows, int columns) {
  const std::size_t r = static_cast<std::size_t>(rows), c = static_cast<std::size_t>(columns), n = x.size() / c;
  Array y(n * r, 0.0);
  for (std::size_t s = 0; s < n; ++s)
    for (std::size_t i = 0; i < r; ++i)
      for (std::size_t j = 0; j < c; ++j) y[s * r + i] += A[(s * r + i) * c + j] * x[s * c + j];
  return y;
}
Array transpose_times(const Array& A, const Array& x, int rows, int columns) {
  const std::size_t r = static_cast<std::size_t>(rows), c = static_cast<std::size_t>(columns), n = x.size() / r;
  Array y(n * c, 0.0);
  for (std::size_t s = 0; s < n; ++s)
    for (std::size_t i = 0; i < r; ++i)
      for (std::size_t j = 0; j < c; ++j) y[s * c + j] += A[(s * r + i) * c + j] * x[s * r + i];
  return y;
}
Array sum(const std::vector<Array>& all) {
  Array s = all[0];
  for (std::size_t k = 1; k < all.size(); ++k)
    for (std::size_t i = 0; i < s.size(); ++i) s[i] += all[k][i];
  return s;
}
/// dy/dq_k . direction by central differences of an output, 1e-6 apart.
Array slope(const Robot& robot, const States& at, Output output, const Array& direction) {
  const double h = 1e-6;
  States plus = at, minus = at;
  for (std::size_t i = 0; i < at.q.size(); ++i) {
    plus.q[i] += h * direction[i];
    minus.q[i] -= h * direction[i];
  }
  Array a = evaluate(robot, plus, output, {}, kScalar)[output];
  const Array b = evaluate(robot, minus, output, {}, kScalar)[output];
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = (a[i] - b[i]) / (2 * h);
  return a;
}

// --- against reference numbers

struct PinocchioCase {
  const char* robot;
  const char* reference;
};
class Pinocchio : public ::testing::TestWithParam<PinocchioCase> {
 protected:
  Array read(const std::string& name) const { return test::read_reference(GetParam().reference, name).values; }
};

TEST_P(Pinocchio, AgreesOnEveryOutputThatItHas) {
  if (!std::filesystem::exists(test::reference_path(GetParam().reference)))
    GTEST_SKIP() << GetParam().reference << " is not in data/reference";
  Robot robot = built_in(GetParam().robot);
  std::vector<double> armature;
  for (auto& j : robot.form) {
    armature.push_back(j.armature);
    j.armature = 0;
  }
  States s;
  s.q = read("q");
  s.qd = read("qd");
  s.tau = read("tau");
  s.qdd = read("qdd_in");
  s.count = static_cast<std::int64_t>(s.q.size()) / robot.joints;
  for (const Device& device : {kScalar, kLanes}) {
    Outputs wanted = Outputs::all();
    s.wrench.assign(static_cast<std::size_t>(6 * s.count), 0.0);
    const Results r = evaluate(robot, s, wanted, {}, device);
    EXPECT_LT(difference(r.pose, read("T_ee")), kPoseTolerance);
    EXPECT_LT(difference(r.jacobian, read("J_lwa")), kPoseTolerance);
    EXPECT_LT(difference(r.mass_matrix, read("M")), kDynamicsTolerance);
    EXPECT_LT(difference(r.bias, read("Cqd")), kDynamicsTolerance);
    EXPECT_LT(difference(times(r.coriolis_matrix, s.qd, robot.joints, robot.joints), read("Cqd")), kDynamicsTolerance);
    EXPECT_LT(difference(r.gravity, read("g")), kDynamicsTolerance);
    EXPECT_LT(difference(r.tau, read("tau_rnea")), kDynamicsTolerance);
    EXPECT_LT(difference(r.qdd, read("qdd_aba")), kAccelerationTolerance);
    EXPECT_LT(difference(r.manipulability, read("manip")), kDynamicsTolerance);
    const Array sv = read("sv");
    for (std::size_t i = 0; i < r.status.size(); ++i) {
      EXPECT_NEAR(r.smallest_singular_value[i], sv[6 * i + 5], kPoseTolerance);
      EXPECT_EQ(r.status[i], Status::kConverged);
    }
    EvalOptions screws;
    screws.form = JacobianForm::kScrews;  // direction first; the reference has the moment first
    const Array J = evaluate(robot, s, Output::kJacobian, screws, device).jacobian;
    Array swapped = J;
    const std::size_t half = 3 * static_cast<std::size_t>(robot.joints);
    for (std::size_t i = 0; i < J.size(); ++i) swapped[i] = J[i / half % 2 == 0 ? i + half : i - half];
    EXPECT_LT(difference(swapped, read("J_world_spatial")), kPoseTolerance);
  }
}
INSTANTIATE_TEST_SUITE_P(ChainEval, Pinocchio,
                         ::testing::Values(PinocchioCase{"puma560.toml", "chain/puma560.h5"},
                                           PinocchioCase{"iiwa14.urdf", "chain/iiwa14.h5"}));

TEST(ChainEval, RotorInertiasCountAsPinocchioSays) {
  const Robot robot = built_in("puma560.toml");
  const auto read = [](const char* name) { return test::read_reference("chain/puma560.h5", name).values; };
  States s{.count = 80, .q = read("q"), .qd = read("qd"), .tau = read("tau")};
  const Results r = evaluate(robot, s, {Output::kMassMatrix, Output::kForwardDynamics}, {}, kLanes);
  EXPECT_LT(difference(r.mass_matrix, read("M_motor")), kDynamicsTolerance);
  EXPECT_LT(difference(r.qdd, read("qdd_aba_motor")), kAccelerationTolerance);
}

// The damping differs from sample to sample: a per-state parameter.
TEST(ChainEval, TheExoskeletonAgreesWithQuadruplePrecision) {
  const std::string file = "chain/exoskeleton_static.json";
  if (!std::filesystem::exists(test::reference_path(file))) GTEST_SKIP() << file << " is not in data/reference";
  const auto samples = test::read_reference_json(file)["samples"];
  Robot robot = built_in("exoskeleton.toml");
  for (auto& j : robot.form) j.damping = 0;
  States s;
  s.count = static_cast<std::int64_t>(samples.size());
  Array b, g, qdd, Cqd;
  const auto append = [](Array& to, const nlohmann::json& from) {
    for (const auto& x : from) to.push_back(x.get<double>());
  };
  for (const auto& sample : samples) {
    append(s.q, sample["q"]);
    append(s.qd, sample["qd"]);
    append(s.tau, sample["tau"]);
    append(g, sample["g"]);
    append(Cqd, sample["Cqd"]);
    append(qdd, sample["qdd"]);
    b.push_back(sample["b"].get<double>());
  }
  for (int i = 0; i < robot.joints; ++i) s.parameters.push_back({i, Quantity::kDamping, Change::kAdd, b});
  for (const Device& device : {kScalar, kLanes}) {
    const Results r = evaluate(robot, s, {Output::kGravity, Output::kForwardDynamics, Output::kBias}, {}, device);
    EXPECT_LT(difference(r.gravity, g), kDynamicsTolerance);
    EXPECT_LT(difference(r.bias, Cqd), kDynamicsTolerance);
    EXPECT_LT(difference(r.qdd, qdd), kAccelerationTolerance);
  }
}

// --- laws, for every number of joints

struct SizeCase {
  int joints;
  bool mixed;
};
class AnySize : public ::testing::TestWithParam<SizeCase> {};

constexpr std::int64_t kStates = 21;  // two registers and a rest

TEST_P(AnySize, TheTermsAddUpToTheEquationOfMotion) {
  const auto [joints, mixed] = GetParam();
  const Robot robot = random_robot(joints, mixed);
  const States s = random_states(joints, kStates);
  const Results r = evaluate(robot, s, Outputs::all(), {}, kLanes);
  const Array inertial = times(r.mass_matrix, s.qdd, joints, joints);
  EXPECT_LT(difference(r.tau, sum({inertial, r.bias, r.damping, r.gravity})), kDynamicsTolerance);
  const Array moved = times(r.mass_matrix, r.qdd, joints, joints);
  EXPECT_LT(difference(sum({moved, r.bias, r.damping, r.gravity}), s.tau), kAccelerationTolerance);
  const Array bias = times(r.coriolis_matrix, s.qd, joints, joints);
  for (std::size_t i = 0; i < bias.size(); ++i)  // one joint alone has none
    EXPECT_NEAR(bias[i], r.bias[i], kDynamicsTolerance * largest(r.tau));
  const Array momentum = times(r.mass_matrix, s.qd, joints, joints);
  const Array twice = times(momentum, s.qd, 1, joints);
  Array kinetic = r.kinetic_energy;
  for (double& e : kinetic) e *= 2;
  EXPECT_LT(difference(kinetic, twice), kDynamicsTolerance);
}

TEST_P(AnySize, JacobiansAndGravityAreDerivatives) {
  const auto [joints, mixed] = GetParam();
  const Robot robot = random_robot(joints, mixed);
  const States s = random_states(joints, kStates);
  const Results r = evaluate(robot, s, Outputs::all(), {}, kLanes);
  const double tolerance = 1e-7;  // of the difference quotients
  EXPECT_LT(difference(times(r.jacobian, s.qd, 6, joints), r.tool_velocity), kPoseTolerance);
  EXPECT_LT(difference(transpose_times(r.jacobian, s.wrench, 6, joints), r.joint_force), kPoseTolerance);
  const Array rate = slope(robot, s, Output::kPose, s.qd);
  Array velocity(6 * kStates), expected(6 * kStates);
  for (std::size_t i = 0; i < kStates; ++i) {
    const double *v = &r.tool_velocity[6 * i], *T = &r.pose[16 * i], *dT = &rate[16 * i];
    for (std::size_t k = 0; k < 3; ++k) {
      velocity[6 * i + k] = v[k];
      expected[6 * i + k] = dT[4 * k + 3];
      // w_x = row z . row y of dR R'
      const std::size_t y = (k + 1) % 3, z = (k + 2) % 3;
      velocity[6 * i + 3 + k] = v[3 + k];
      expected[6 * i + 3 + k] = dT[4 * z] * T[4 * y] + dT[4 * z + 1] * T[4 * y + 1] + dT[4 * z + 2] * T[4 * y + 2];
    }
  }
  EXPECT_LT(difference(velocity, expected), tolerance);
  EXPECT_LT(difference(slope(robot, s, Output::kPotentialEnergy, s.qd), times(r.gravity, s.qd, 1, joints)), tolerance);
}

// H again, from the Jacobians at the centers of mass: sum of m Jv'Jv + Jw' R I R' Jw, and rotors.
TEST_P(AnySize, TheMassMatrixIsThatOfItsBodies) {
  const auto [joints, mixed] = GetParam();
  const Robot robot = random_robot(joints, mixed);
  const States s = random_states(joints, kStates);
  const Results r = evaluate(robot, s, {Output::kLinkPoses, Output::kComJacobians, Output::kMassMatrix}, {}, kLanes);
  const auto n = static_cast<std::size_t>(joints);
  Array H(kStates * n * n, 0.0);
  for (std::size_t i = 0; i < kStates; ++i)
    for (std::size_t l = 0; l < n; ++l) {
      const double *J = &r.com_jacobians[(i * n + l) * 6 * n], *T = &r.link_poses[(i * n + l) * 16];
      const Mat3<double> R = {{T[0], T[1], T[2], T[4], T[5], T[6], T[8], T[9], T[10]}};
      const Mat3<double> I = rotate_symmetric(R, robot.body[l].inertia);
      for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = 0; b < n; ++b) {
          double& h = H[(i * n + a) * n + b];
          for (std::size_t k = 0; k < 3; ++k) {
            h += robot.body[l].mass * J[k * n + a] * J[k * n + b];
            for (std::size_t m = 0; m < 3; ++m)
              h += J[(3 + k) * n + a] * I(static_cast<int>(k), static_cast<int>(m)) * J[(3 + m) * n + b];
          }
        }
        if (a == l) H[(i * n + a) * n + a] += robot.form[l].armature;
      }
    }
  EXPECT_LT(difference(r.mass_matrix, H), kDynamicsTolerance);
}

TEST_P(AnySize, EveryExecutorGivesTheSameBits) {
  const auto [joints, mixed] = GetParam();
  const Robot robot = random_robot(joints, mixed);
  for (const std::int64_t count : {0, 1, 7, 8, 9, 31, 32, 33, 1003}) {
    const States s = random_states(joints, count);
    SCOPED_TRACE(count);
    const Results scalar = evaluate(robot, s, Outputs::all(), {}, kScalar);
    for (int i = 0; i < kOutputCount; ++i) {
      const auto output = static_cast<Output>(i);
      EXPECT_EQ(scalar[output].size(), static_cast<std::size_t>(count * output_size(output, joints)));
    }
    test::expect_same_on_every_executor(
        [&](const Device& device) { return test::make_answer(evaluate(robot, s, Outputs::all(), {}, device)); });
  }
}

TEST_P(AnySize, AnOutputDoesNotDependOnWhatElseIsAskedFor) {
  const auto [joints, mixed] = GetParam();
  const Robot robot = random_robot(joints, mixed);
  const States s = random_states(joints, kStates);
  const Results all = evaluate(robot, s, Outputs::all(), {}, kLanes);
  for (int i = 0; i < kOutputCount; ++i) {
    const auto output = static_cast<Output>(i);
    const Results alone = evaluate(robot, s, output, {}, kLanes);
    EXPECT_TRUE(same_bits(alone[output], all[output])) << to_string(output);
    for (int k = 0; k < kOutputCount; ++k) EXPECT_TRUE(k == i || alone[static_cast<Output>(k)].empty());
  }
}

// Numbers that are the model's own for every state must change nothing that matters, whatever the padding.
TEST_P(AnySize, ParametersThatChangeNothingGiveTheSharedModel) {
  const auto [joints, mixed] = GetParam();
  const Robot robot = random_robot(joints, mixed);
  States s = random_states(joints, kStates);
  const Results shared = evaluate(robot, s, Outputs::all(), {}, kLanes);
  const Array ones(kStates, 1.0), zeros(kStates, 0.0);
  s.parameters = {{0, Quantity::kMass, Change::kScale, ones}, {joints - 1, Quantity::kAlpha, Change::kAdd, zeros}};
  const Results lanes = evaluate(robot, s, Outputs::all(), {}, kLanes);
  test::expect_same_on_every_executor(
      [&](const Device& device) { return test::make_answer(evaluate(robot, s, Outputs::all(), {}, device)); });
  for (int i = 0; i < kOutputCount; ++i) {
    const auto output = static_cast<Output>(i);
    EXPECT_LT(difference(lanes[output], shared[output]), kDynamicsTolerance) << to_string(output);
  }
}

INSTANTIATE_TEST_SUITE_P(ChainEval, AnySize,
                         ::testing::Values(SizeCase{1, false}, SizeCase{2, true}, SizeCase{3, false}, SizeCase{4, true},
                                           SizeCase{5, false}, SizeCase{6, false}, SizeCase{6, true},
                                           SizeCase{7, false}, SizeCase{7, true}, SizeCase{8, false}, SizeCase{9, true},
                                           SizeCase{11, false}, SizeCase{12, false}, SizeCase{13, true},
                                           SizeCase{16, false}),
                         [](const auto& info) {
                           return std::to_string(info.param.joints) + (info.param.mixed ? "Mixed" : "Revolute");
                         });

// --- parameters

// Every state's own numbers against a robot that was described with them.
// Chains whose joints all turn have loops of their own: wherever the one that slides is, it must not be missed.
TEST(ChainEval, OneSlidingJointAnywhereIsSeen) {
  std::mt19937_64 gen(9);
  std::uniform_real_distribution<double> u(-1, 1);
  for (const int joints : {1, 2, 4, 6, 7, 8})
    for (int slides = 0; slides < joints; ++slides) {
      std::vector<DhJoint> list;
      for (int i = 0; i < joints; ++i) {
        list.push_back({0.3 * u(gen), 0.3 * u(gen), 3 * u(gen), 3 * u(gen), {}});
        list.back().link.joint.prismatic = i == slides;
        list.back().link.body = {1.5, {{0.1, 0.2, -0.1}}, {{0.5, 0, 0, 0, 0.6, 0, 0, 0, 0.7}}};
      }
      const Robot robot = from_dh({.name = "one slides"}, list);
      States states;
      states.count = 2;
      for (int k = 0; k < 2 * joints; ++k) states.q.push_back(u(gen));
      // The tool moves by as much as the joint slides, along its axis: the second state is the first one slid by 0.25.
      for (int i = 0; i < joints; ++i)
        states.q[static_cast<std::size_t>(joints + i)] = states.q[static_cast<std::size_t>(i)];
      states.q[static_cast<std::size_t>(joints + slides)] += 0.25;
      const Array pose = evaluate(robot, states, Output::kPose, {}, kLanes)[Output::kPose];
      const std::size_t numbers = pose.size() / 2;
      double moved = 0;
      for (std::size_t k = 0; k < numbers; ++k) moved += std::pow(pose[numbers + k] - pose[k], 2);
      EXPECT_NEAR(std::sqrt(moved), 0.25, 1e-12) << slides << " of " << joints;
    }
}

TEST(ChainEval, AParameterIsTheSameAsAnotherRobot) {
  const Robot robot = random_robot(6, true);
  struct Case {
    Quantity quantity;
    Change change;
    double value;
  };
  for (const Case& c : {Case{Quantity::kA, Change::kAdd, 0.01}, Case{Quantity::kA, Change::kScale, 1.1},
                        Case{Quantity::kD, Change::kAdd, -0.02}, Case{Quantity::kTheta, Change::kAdd, 0.3},
                        Case{Quantity::kAlpha, Change::kAdd, -0.2}, Case{Quantity::kMass, Change::kScale, 1.3},
                        Case{Quantity::kMass, Change::kAdd, 0.4}, Case{Quantity::kComX, Change::kAdd, 0.03},
                        Case{Quantity::kComY, Change::kAdd, -0.04}, Case{Quantity::kComZ, Change::kAdd, 0.05},
                        Case{Quantity::kArmature, Change::kAdd, 0.1}, Case{Quantity::kDamping, Change::kScale, 2.5}}) {
    const std::size_t at = 2;
    Robot other = robot;
    JointForm<double>& f = other.form[at];
    const auto change = [&](double& x) { x = c.change == Change::kAdd ? x + c.value : x * c.value; };
    switch (c.quantity) {
      case Quantity::kA:
        change(f.a);
        break;
      case Quantity::kD:
        change(f.d);
        break;
      case Quantity::kTheta:
        change(f.theta);
        break;
      case Quantity::kArmature:
        change(f.armature);
        break;
      case Quantity::kDamping:
        change(f.damping);
        break;
      case Quantity::kAlpha: {
        const double alpha = std::atan2(f.sin_alpha, f.cos_alpha) + c.value;
        f.cos_alpha = std::cos(alpha);
        f.sin_alpha = std::sin(alpha);
        break;
      }
      default: {  // the body: described anew, its kernel numbers from the description by the parallel-axis theorem
        Body body = robot.body[at];
        if (c.quantity == Quantity::kMass) {
          const double before = body.mass;
          change(body.mass);
          body.inertia = (body.mass / before) * body.inertia;
        } else {
          body.com[static_cast<int>(c.quantity) - static_cast<int>(Quantity::kComX)] += c.value;
        }
        const Pose<double>& X = robot.link[at].offset;
        const Vec3<double> com = X.R * body.com + X.p;
        const Mat3<double> I = rotate_symmetric(X.R, body.inertia);
        const double square = dot(com, com);
        const auto entry = [&](int r, int k) {
          return I(r, k) + body.mass * ((r == k ? square : 0) - com[r] * com[k]);
        };
        f.mass = body.mass;
        f.first = body.mass * com;
        f.xx = entry(0, 0), f.yy = entry(1, 1), f.zz = entry(2, 2);
        f.xy = entry(0, 1), f.xz = entry(0, 2), f.yz = entry(1, 2);
      }
    }
    States s = random_states(6, kStates);
    const Results expected = evaluate(other, s, Outputs::all(), {}, kScalar);
    s.parameters = {{static_cast<int>(at), c.quantity, c.change, Array(kStates, c.value)}};
    const Results found = evaluate(robot, s, Outputs::all(), {}, kLanes);
    for (int i = 0; i < kOutputCount; ++i) {
      const auto output = static_cast<Output>(i);
      EXPECT_LT(difference(found[output], expected[output]), kDynamicsTolerance)
          << to_string(c.quantity) << ": " << to_string(output);
    }
  }
}

TEST(ChainEval, EachStateHasItsOwnParameters) {
  const Robot robot = random_robot(6, false);
  States s = random_states(6, 40);
  std::mt19937_64 random(3);
  s.parameters = {{1, Quantity::kMass, Change::kScale, drawn(random, 40, 0.5)},
                  {3, Quantity::kD, Change::kAdd, drawn(random, 40, 0.1)}};
  for (double& x : s.parameters[0].value) x += 1;
  const Results all = evaluate(robot, s, Output::kMassMatrix, {}, kLanes);
  for (const std::int64_t i : {0, 17, 39}) {
    States one{.count = 1, .q = {s.q.begin() + 6 * i, s.q.begin() + 6 * i + 6}};
    one.parameters = s.parameters;
    for (auto& p : one.parameters) p.value = {p.value[static_cast<std::size_t>(i)]};
    const Array H = evaluate(robot, one, Output::kMassMatrix, {}, kScalar).mass_matrix;
    EXPECT_TRUE(same_bits(H, {all.mass_matrix.begin() + 36 * i, all.mass_matrix.begin() + 36 * i + 36}));
  }
}

// --- options

TEST(ChainEval, BodyAxesAngularFirstAndAnotherPoint) {
  const Robot robot = random_robot(6, true);
  const States s = random_states(6, kStates);
  const Results world = evaluate(robot, s, {Output::kJacobian, Output::kPose, Output::kToolVelocity}, {}, kLanes);
  EvalOptions options;
  options.form = JacobianForm::kAngularFirst;
  options.body_axes = true;
  options.point = {{0.1, -0.05, 0.02}};
  const Results r = evaluate(robot, s, {Output::kJacobian, Output::kPose, Output::kToolVelocity}, options, kLanes);
  EXPECT_TRUE(same_bits(r.pose, world.pose)) << "the pose is that of the tool, wherever the point is";
  Array expected(r.jacobian.size());
  for (std::size_t i = 0; i < kStates; ++i) {
    const double* T = &world.pose[16 * i];
    const Mat3<double> R = {{T[0], T[1], T[2], T[4], T[5], T[6], T[8], T[9], T[10]}};
    const Vec3<double> arm = R * options.point;
    for (std::size_t k = 0; k < 6; ++k) {
      const double* J = &world.jacobian[36 * i + k];
      const Vec3<double> w = {{J[18], J[24], J[30]}}, v = Vec3<double>{{J[0], J[6], J[12]}} + cross(w, arm);
      const Vec3<double> wb = garra::transpose_times(R, w), vb = garra::transpose_times(R, v);
      for (int a = 0; a < 3; ++a) {
        expected[36 * i + 6 * static_cast<std::size_t>(a) + k] = wb[a];
        expected[36 * i + 18 + 6 * static_cast<std::size_t>(a) + k] = vb[a];
      }
    }
  }
  EXPECT_LT(difference(r.jacobian, expected), kPoseTolerance);
  Array swapped = times(expected, s.qd, 6, 6);  // tool_velocity has the linear part first
  for (std::size_t i = 0; i < kStates; ++i)
    for (std::size_t k = 0; k < 3; ++k) std::swap(swapped[6 * i + k], swapped[6 * i + 3 + k]);
  EXPECT_LT(difference(r.tool_velocity, swapped), kPoseTolerance);
}

// --- bad states

TEST(ChainEval, ABadStateTouchesNoOther) {
  const Robot robot = random_robot(6, false);
  const States good = random_states(6, 50);
  const Results expected = evaluate(robot, good, Outputs::all(), {}, kLanes);
  States s = good;
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  s.q[6 * 3] = nan;
  s.qd[6 * 11 + 2] = infinity;
  s.tau[6 * 33 + 5] = -infinity;
  s.wrench[6 * 49] = nan;
  for (const Device& device : {kScalar, kLanes}) {
    const Results r = evaluate(robot, s, Outputs::all(), {}, device);
    for (std::size_t i = 0; i < 50; ++i) {
      const bool bad = i == 3 || i == 11 || i == 33 || i == 49;
      EXPECT_EQ(r.status[i], bad ? Status::kInvalidInput : Status::kConverged) << i;
      for (int k = 0; k < kOutputCount; ++k) {
        const auto output = static_cast<Output>(k);
        const auto fields = static_cast<std::size_t>(output_size(output, 6));
        for (std::size_t f = i * fields; f < (i + 1) * fields; ++f)
          EXPECT_TRUE(bad ? std::isnan(r[output][f]) : r[output][f] == expected[output][f]) << to_string(output);
      }
    }
  }
}

TEST(ChainEval, AnArrayThatNothingReadsMayHoldAnything) {
  const Robot robot = random_robot(6, false);
  States s = random_states(6, 3);
  s.tau[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(evaluate(robot, s, Output::kMassMatrix).status[0], Status::kConverged);
}

// Without its rotor, joint 1 of a chain without mass moves nothing: H is zero there.
TEST(ChainEval, ASingularMassMatrixIsAStatus) {
  for (const int joints : {1, 6, 7, 10}) {
    Robot robot = random_robot(joints, false);
    JointForm<double>& last = robot.form.back();
    last.mass = last.armature = last.xx = last.yy = last.zz = last.xy = last.xz = last.yz = 0;
    last.first = Vec3<double>::zero();
    const States s = random_states(joints, 9);
    for (const Device& device : {kScalar, kLanes}) {
      const Results r = evaluate(robot, s, {Output::kForwardDynamics, Output::kMassMatrix}, {}, device);
      for (const Status status : r.status) EXPECT_EQ(status, Status::kNoSolution) << joints;
      for (const double x : r.qdd) EXPECT_TRUE(std::isnan(x));
      for (const double x : r.mass_matrix) EXPECT_TRUE(std::isfinite(x));
      EXPECT_EQ(evaluate(robot, s, Output::kMassMatrix, {}, device).status[0], Status::kConverged);
    }
  }
}

// --- misuse

template <class Run>
std::string message_of(const Run& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ChainEval, MisuseIsNamed) {
  const Robot robot = random_robot(6, false);
  const States s = random_states(6, 4);
  const auto error = [&](const States& states, const Outputs& wanted) {
    return message_of([&] { (void)evaluate(robot, states, wanted); });
  };
  States without = s;
  without.qd.clear();
  EXPECT_NE(error(without, Output::kBias).find("output bias needs qd"), std::string::npos);
  EXPECT_EQ(error(without, Output::kGravity), "no error");
  States small = s;
  small.q.pop_back();
  EXPECT_NE(error(small, Output::kPose).find("q has 23 numbers"), std::string::npos);
  States scaled = s;
  scaled.parameters = {{0, Quantity::kTheta, Change::kScale, Array(4, 1.0)}};
  EXPECT_NE(error(scaled, Output::kPose).find("cannot be scaled"), std::string::npos);
  scaled.parameters = {{6, Quantity::kMass, Change::kScale, Array(4, 1.0)}};
  EXPECT_NE(error(scaled, Output::kPose).find("joints 0 to 5"), std::string::npos);
  EXPECT_NE(message_of([] { (void)parse_output("mass"); }).find("mass_matrix"), std::string::npos);
  EXPECT_NE(message_of([] { (void)parse_quantity("weight"); }).find("damping"), std::string::npos);
}

}  // namespace
}  // namespace garra::chain
