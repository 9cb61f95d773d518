// All of it is instantiated here from Pinocchio's templates, with the flags of this project; nothing of its library is
// called.
#include "peers/pinocchio.hpp"

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

namespace garra::bench::pinocchio_peer {

namespace {

using Input = Eigen::Map<const Eigen::VectorXd>;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrix = Eigen::Map<RowMajor>;

Eigen::Vector3d vector(const Vec3<double>& v) { return {v[0], v[1], v[2]}; }
::pinocchio::SE3 pose(const Pose<double>& x) {
  const Eigen::Matrix3d R = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(x.R.m);
  return {R, vector(x.p)};
}

/// Rx(alpha) T(a, b, d) Rz(theta)
::pinocchio::SE3 placement(const chain::JointForm<double>& j) {
  const Eigen::Matrix3d turn = Eigen::AngleAxisd(j.theta, Eigen::Vector3d::UnitZ()).toRotationMatrix();
  Eigen::Matrix3d tilt = Eigen::Matrix3d::Identity();
  tilt(1, 1) = tilt(2, 2) = j.cos_alpha;
  tilt(2, 1) = j.sin_alpha;
  tilt(1, 2) = -j.sin_alpha;
  return {tilt * turn, tilt * Eigen::Vector3d(j.a, j.b, j.d)};
}

::pinocchio::Inertia inertia(const chain::JointForm<double>& j) {
  const Eigen::Vector3d s = vector(j.first);
  const Eigen::Vector3d c = j.mass > 0 ? Eigen::Vector3d(s / j.mass) : Eigen::Vector3d(Eigen::Vector3d::Zero());
  Eigen::Matrix3d I;
  I << j.xx, j.xy, j.xz, j.xy, j.yy, j.yz, j.xz, j.yz, j.zz;
  I -= j.mass * (c.squaredNorm() * Eigen::Matrix3d::Identity() - c * c.transpose());
  return {j.mass, c, I};
}

::pinocchio::Model make_model(const Chain& chain) {
  ::pinocchio::Model model;
  ::pinocchio::JointIndex last = 0;
  for (std::size_t i = 0; i < chain.joint.size(); ++i) {
    const auto& j = chain.joint[i];
    const ::pinocchio::SE3 here = i == 0 ? pose(chain.base) * placement(j) : placement(j);
    last = model.addJoint(last, ::pinocchio::JointModelRZ(), here, "joint" + std::to_string(i));
    model.appendBodyToJoint(last, inertia(j));
    model.armature[static_cast<Eigen::Index>(i)] = j.armature;
  }
  model.addFrame(::pinocchio::Frame("tool", last, pose(chain.tool), ::pinocchio::OP_FRAME));
  model.gravity.linear() = vector(chain.gravity);
  return model;
}

}  // namespace

struct Arm::Solvers {
  explicit Solvers(const Chain& chain)
      : model(make_model(chain)),
        data(model),
        tool(model.getFrameId("tool")),
        jac(6, model.nv),
        svd(6, model.nv),
        n(model.nv) {
    jac.setZero();
  }
  void to_jacobian(const double* q) {
    ::pinocchio::computeFrameJacobian(model, data, Input(q, n), tool, ::pinocchio::LOCAL_WORLD_ALIGNED, jac);
  }
  ::pinocchio::Model model;
  ::pinocchio::Data data;
  ::pinocchio::FrameIndex tool;
  ::pinocchio::Data::Matrix6x jac;
  Eigen::JacobiSVD<::pinocchio::Data::Matrix6x> svd;
  Eigen::Index n;
};

bool available() { return true; }

Arm::Arm(const Chain& chain) : solvers_(std::make_unique<Solvers>(chain)) {}
Arm::~Arm() = default;

void Arm::jacobian(const double* q, double* out) {
  solvers_->to_jacobian(q);
  Matrix(out, 6, solvers_->n) = solvers_->jac;
}
double Arm::manipulability(const double* q) {
  solvers_->to_jacobian(q);
  const Eigen::Matrix<double, 6, 6> square = solvers_->jac * solvers_->jac.transpose();
  return std::sqrt(std::max(0.0, square.determinant()));
}
void Arm::singular_values(const double* q, double length, double* sigma) {
  Solvers& s = *solvers_;
  s.to_jacobian(q);
  s.jac.topRows<3>() /= length;
  s.svd.compute(s.jac);
  Eigen::Map<Eigen::VectorXd>(sigma, s.svd.singularValues().size()) = s.svd.singularValues();
}
void Arm::rnea(const double* q, const double* qd, const double* qdd, double* tau) {
  Solvers& s = *solvers_;
  Eigen::Map<Eigen::VectorXd>(tau, s.n) =
      ::pinocchio::rnea(s.model, s.data, Input(q, s.n), Input(qd, s.n), Input(qdd, s.n));
}
void Arm::bias(const double* q, const double* qd, double* out) {
  Solvers& s = *solvers_;
  Eigen::Map<Eigen::VectorXd>(out, s.n) = ::pinocchio::nonLinearEffects(s.model, s.data, Input(q, s.n), Input(qd, s.n));
}
void Arm::gravity(const double* q, double* out) {
  Solvers& s = *solvers_;
  Eigen::Map<Eigen::VectorXd>(out, s.n) = ::pinocchio::computeGeneralizedGravity(s.model, s.data, Input(q, s.n));
}
void Arm::crba(const double* q, double* out) {
  Solvers& s = *solvers_;
  Matrix(out, s.n, s.n) = ::pinocchio::crba(s.model, s.data, Input(q, s.n));
}
void Arm::aba(const double* q, const double* qd, const double* tau, double* qdd) {
  Solvers& s = *solvers_;
  Eigen::Map<Eigen::VectorXd>(qdd, s.n) =
      ::pinocchio::aba(s.model, s.data, Input(q, s.n), Input(qd, s.n), Input(tau, s.n));
}
void Arm::coriolis(const double* q, const double* qd, double* out) {
  Solvers& s = *solvers_;
  Matrix(out, s.n, s.n) = ::pinocchio::computeCoriolisMatrix(s.model, s.data, Input(q, s.n), Input(qd, s.n));
}

}  // namespace garra::bench::pinocchio_peer
