// Screws: from a robot, moved, scaled; and what their dimensions are in general.
#include <algorithm>
#include <cmath>

#include "garra/core/philox.hpp"
#include "garra/math/screw_algebra.hpp"
#include "garra/systems/chain/kernels_kinematics.hpp"
#include "singularity/exact/parts.hpp"

namespace garra::singularity {

namespace {

// Fixed: the generic rank of an arm must be the same in every call.
constexpr std::uint64_t kSeed = 1;
constexpr std::uint64_t kTrials = 5;  ///< configurations; a random one is singular with probability 0

/// Axes of the revolute and helical joints; points are those nearest to the origin, coordinates about it.
std::vector<ScrewAxis<double>> screw_axes(const ScrewSet& set, const Vec3<double>& origin) {
  std::vector<ScrewAxis<double>> axes;
  for (const Screw<double>& s : set.screw)
    // Slides have a direction and no place.
    if (norm(s.w) > 0) axes.push_back(screw_axis(about(origin, s)));
  return axes;
}

/// Least squares: sum (1 - d d') x = sum p. Where all axes are parallel it is the solution nearest to the origin.
Vec3<double> nearest_point(const std::vector<ScrewAxis<double>>& axes) {
  Eigen::Matrix3d A = Eigen::Matrix3d::Zero();
  Eigen::Vector3d b = Eigen::Vector3d::Zero();
  for (const ScrewAxis<double>& line : axes) {
    const Eigen::Vector3d direction(line.direction.m), point(line.point.m);
    b += point;  // perpendicular to the direction already
    A += Eigen::Matrix3d::Identity() - direction * direction.transpose();
  }
  const Eigen::VectorXd x = least_solution(A, b, 1e-10);
  return {{x[0], x[1], x[2]}};
}

/// Whether a joint slides along the axis of the one before and follows it: both are one helical joint, whose screw is
/// theirs together. Other coupled joints are no chain of single screws.
bool is_helical(const chain::Robot& robot, const chain::Coupling& c, const ScrewSet& set) {
  const auto joint = static_cast<std::size_t>(c.joint), leader = static_cast<std::size_t>(c.leader);
  return joint == leader + 1 && robot.joint[joint].prismatic && !robot.joint[leader].prismatic &&
         norm(cross(set.screw[joint].v, set.screw[leader].w)) < 1e-12;
}

/// The screws of the coordinates.
void merge_helical(const chain::Robot& robot, ScrewSet& set) {
  // From the tip, so that the numbers of the others stay.
  for (auto c = robot.coupled.rbegin(); c != robot.coupled.rend(); ++c) {
    if (c->leader == c->joint) continue;  // one screw already
    if (!is_helical(robot, *c, set)) return chain::require_uncoupled(robot, "singularities");
    const auto joint = set.screw.begin() + c->joint;
    *(joint - 1) = *(joint - 1) + c->ratio * *joint;
    set.screw.erase(joint);
  }
}

/// Values of all joints: q of the coordinates.
std::vector<double> values_of_all(const chain::Robot& robot, const std::vector<double>& q) {
  const std::vector<int> own = chain::coordinates(robot);
  if (q.size() != own.size()) {
    throw Error(ExitCode::kUsage, std::to_string(q.size()) + " joint values for the " + std::to_string(own.size()) +
                                      " joints of \"" + robot.name + "\"");
  }
  std::vector<double> all(static_cast<std::size_t>(robot.joints), 0.0);
  for (std::size_t k = 0; k < own.size(); ++k) all[static_cast<std::size_t>(own[k])] = q[k];
  for (const chain::Coupling& c : robot.coupled)
    if (c.leader != c.joint)
      all[static_cast<std::size_t>(c.joint)] = c.ratio * all[static_cast<std::size_t>(c.leader)] + c.offset;
  return all;
}

}  // namespace

namespace {

/// Screws of all joints, and the last frame.
struct Walked {
  ScrewSet set;
  chain::kernel::Axes<double> end;
};

Walked walk(const chain::Robot& robot, const std::vector<double>& coordinates) {
  const std::vector<double> q = values_of_all(robot, coordinates);
  ScrewSet set;
  const Mat3<double>& R = robot.base.R;
  std::vector<double> pitch(q.size(), 0.0);  // of joints that merge_helical() has made
  for (const chain::Coupling& c : robot.coupled)
    if (c.leader == c.joint) pitch[static_cast<std::size_t>(c.joint)] = c.ratio;
  chain::kernel::Axes<double> frame = {column(R, 0), column(R, 1), column(R, 2), robot.base.p};
  for (std::size_t i = 0; i < q.size(); ++i) {
    if (!std::isfinite(q[i]))
      throw Error(ExitCode::kUsage, "the value of joint " + std::to_string(i) + " is not finite");
    const bool prismatic = robot.joint[i].prismatic;
    const chain::JointForm<double>& form = robot.form[i];
    chain::kernel::advance_tilt(form, frame);
    frame.p = axpy(form.d + (prismatic ? q[i] : pitch[i] * q[i]), frame.z, frame.p);
    const SinCos<double> turn = sincos(form.theta + (prismatic ? 0 : q[i]));
    chain::kernel::advance_turn(turn.cos, turn.sin, frame);
    set.screw.push_back(prismatic ? slide_along(frame.z) : turn_about<double>({frame.z, frame.p, pitch[i]}));
  }
  return {set, frame};
}

}  // namespace

ScrewSet make_screws(const chain::Robot& robot, const std::vector<double>& coordinates) {
  ScrewSet set = walk(robot, coordinates).set;
  merge_helical(robot, set);
  return set;
}

Vec3<double> tool_point(const chain::Robot& robot, const std::vector<double>& coordinates) {
  return (chain::kernel::to_pose(walk(robot, coordinates).end) * robot.tool).p;
}

Screws moved(const Screws& screws, const std::vector<double>& dq) {
  Screws out = screws;
  // From the tip inwards, so that every screw turns with the joint's own axis of before.
  for (std::size_t j = screws.size(); j-- > 0;) {
    if (dq[j] == 0) continue;
    const Pose<double> motion = exp(dq[j] * screws[j]);
    for (std::size_t k = j + 1; k < screws.size(); ++k) out[k] = adjoint(motion, out[k]);
  }
  return out;
}

Screws moved(const Screws& screws, int joint, double amount) {
  std::vector<double> dq(screws.size(), 0.0);
  dq[static_cast<std::size_t>(joint)] = amount;
  return moved(screws, dq);
}

ScrewSet displaced(const ScrewSet& set, const std::vector<double>& dq) {
  if (dq.size() != set.screw.size())
    throw Error(ExitCode::kUsage, "the displacement has another number of joints than the screws");
  return {moved(set.screw, dq)};
}

Scaling natural_scaling(const ScrewSet& set) {
  Scaling out;
  std::vector<ScrewAxis<double>> axes = screw_axes(set, out.origin);
  if (axes.empty()) return out;
  // Twice: the second time about a point close by, which takes the digits back that a distant base has cost.
  double extent = 0;
  for (int pass = 0; pass < 2; ++pass) {
    out.origin += nearest_point(axes);
    axes = screw_axes(set, out.origin);
    extent = std::max(extent, norm(out.origin));
  }
  double squares = 0;
  for (const ScrewAxis<double>& line : axes) squares += dot(line.point, line.point);
  const double length = std::sqrt(squares / static_cast<double>(axes.size()));
  // A wrist: all axes meet, up to rounding, and no length is to be had from them.
  if (length > 1e-12 * extent && length > 0) out.length = length;
  return out;
}

Screws scaled_screws(const Screws& screws, const Scaling& scaling) {
  Screws out;
  for (const Screw<double>& s : screws) {
    // A slide's vector has no lever about the origin and would shrink by a length that it has not.
    const bool prismatic = norm(s.w) == 0;
    out.push_back({s.w, prismatic ? s.v : (1 / scaling.length) * about(scaling.origin, s).v});
  }
  return out;
}

Matrix jacobian(const Screws& screws, int first, int last) {
  Matrix out(6, last - first + 1);
  for (int k = first; k <= last; ++k) {
    const Screw<double>& s = screws[static_cast<std::size_t>(k)];
    for (int i = 0; i < 3; ++i) {
      out(i, k - first) = s.w[i];
      out(i + 3, k - first) = s.v[i];
    }
  }
  return out;
}

Matrix jacobian(const Screws& screws) { return jacobian(screws, 0, static_cast<int>(screws.size()) - 1); }

std::vector<double> singular_values(const ScrewSet& set, const Scaling& scaling) {
  return singular_values(jacobian(scaled_screws(set.screw, scaling)));
}

std::vector<Wrench<double>> world_wrenches(const Matrix& basis, const Scaling& scaling) {
  std::vector<Wrench<double>> out;
  for (int k = 0; k < basis.cols(); ++k) {
    const Vec3<double> moment = {{basis(0, k), basis(1, k), basis(2, k)}};
    const Vec3<double> force = {{basis(3, k), basis(4, k), basis(5, k)}};
    out.push_back(about(-scaling.origin, Wrench<double>{force, scaling.length * moment}));
  }
  return out;
}

namespace {

/// The chain's screws at the random configuration of this number.
Screws at_random(const Screws& start, std::uint64_t trial) {
  std::vector<double> dq(start.size());
  for (std::size_t j = 0; j < dq.size(); ++j) {
    double u = 0, unused = 0;
    uniform_pair<double>(kSeed, SampleIndex<double>::consecutive(trial), static_cast<std::uint32_t>(j), u, unused);
    // A turn either way; a slide by up to twice the unit of length.
    dq[j] = (2 * u - 1) * (norm(start[j].w) == 0 ? 2 : M_PI);
  }
  return moved(start, dq);
}

/// Takes the dimension of joints a to b over, where it may be larger than what was found: it is six at most, and the
/// number of joints.
void raise(const Screws& screws, int a, int b, double tolerance, int& dim) {
  if (dim < std::min(6, b - a + 1)) dim = std::max(dim, numerical_rank(jacobian(screws, a, b), tolerance));
}

}  // namespace

GenericDims generic_dims(const ScrewSet& set, double tolerance) {
  const Screws start = scaled_screws(set.screw, natural_scaling(set));
  const int n = static_cast<int>(start.size());
  GenericDims out{n, std::vector<int>(static_cast<std::size_t>(n * n), 0)};
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    const Screws screws = at_random(start, trial);
    for (int a = 0; a < n; ++a)
      for (int b = a; b < n; ++b) raise(screws, a, b, tolerance, out.dim[static_cast<std::size_t>(a * n + b)]);
  }
  return out;
}

int generic_rank(const ScrewSet& set, double tolerance) {
  const Screws start = scaled_screws(set.screw, natural_scaling(set));
  const int n = static_cast<int>(start.size());
  int rank = 0;
  for (std::uint64_t trial = 0; trial < kTrials && n > 0; ++trial)
    raise(at_random(start, trial), 0, n - 1, tolerance, rank);
  return rank;
}

}  // namespace garra::singularity
