#include "peers/kdl.hpp"

#include <kdl/chain.hpp>
#include <kdl/chaindynparam.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>
#include <kdl/chainjnttojacsolver.hpp>

namespace garra::bench::kdl {

namespace {

const KDL::Vector kGravity(0, 0, -9.81);

KDL::Vector vector(const Vec3<double>& v) { return {v[0], v[1], v[2]}; }

KDL::Segment segment(const chain::DhJoint& j) {
  const chain::Body& body = j.link.body;
  const auto& I = body.inertia;
  const KDL::RotationalInertia about_com(I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2));
  return KDL::Segment("link", KDL::Joint(KDL::Joint::RotZ, 1, j.theta, j.link.armature),
                      KDL::Frame::DH(j.a, j.alpha, j.d, 0),
                      KDL::RigidBodyInertia(body.mass, vector(body.com), about_com));
}

KDL::Chain finger_chain(const std::vector<chain::DhJoint>& joints, const Pose<double>& tool) {
  KDL::Chain out;
  for (const chain::DhJoint& joint : joints) out.addSegment(segment(joint));
  const auto& R = tool.R.m;
  const KDL::Rotation rotation(R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]);
  out.addSegment(KDL::Segment("tool", KDL::Joint(KDL::Joint::Fixed), KDL::Frame(rotation, vector(tool.p))));
  return out;
}

}  // namespace

/// The solvers with the arrays that they read and write: nothing is allocated while they are timed.
struct Arm::Solvers {
  Solvers(const std::vector<chain::DhJoint>& rows, const Pose<double>& tool)
      : joints(static_cast<unsigned>(rows.size())),
        chain(finger_chain(rows, tool)),
        to_jacobian(chain),
        to_inertia(chain, kGravity),
        to_torque(chain, kGravity),
        q(joints),
        qd(joints),
        qdd(joints),
        torque(joints),
        jacobian(joints),
        inertia(joints),
        no_forces(chain.getNrOfSegments(), KDL::Wrench::Zero()) {}

  void set(KDL::JntArray& to, const double* from) const {
    for (unsigned i = 0; i < joints; ++i) to(i) = from[i];
  }

  unsigned joints;
  KDL::Chain chain;
  KDL::ChainJntToJacSolver to_jacobian;
  KDL::ChainDynParam to_inertia;
  KDL::ChainIdSolver_RNE to_torque;
  KDL::JntArray q, qd, qdd, torque;
  KDL::Jacobian jacobian;
  KDL::JntSpaceInertiaMatrix inertia;
  KDL::Wrenches no_forces;
};

bool available() { return true; }

Arm::Arm(const std::vector<chain::DhJoint>& joints, const Pose<double>& tool)
    : solvers_(std::make_unique<Solvers>(joints, tool)) {}
Arm::~Arm() = default;

void Arm::jacobian(const double* q, double* out) {
  Solvers& s = *solvers_;
  s.set(s.q, q);
  s.to_jacobian.JntToJac(s.q, s.jacobian);
  for (unsigned r = 0; r < 6; ++r)
    for (unsigned c = 0; c < s.joints; ++c) out[r * s.joints + c] = s.jacobian(r, c);
}

void Arm::inertia(const double* q, double* out) {
  Solvers& s = *solvers_;
  s.set(s.q, q);
  s.to_inertia.JntToMass(s.q, s.inertia);
  for (unsigned r = 0; r < s.joints; ++r)
    for (unsigned c = 0; c < s.joints; ++c) out[r * s.joints + c] = s.inertia(r, c);
}

void Arm::gravity(const double* q, double* torque) {
  Solvers& s = *solvers_;
  s.set(s.q, q);
  s.to_inertia.JntToGravity(s.q, s.torque);
  for (unsigned i = 0; i < s.joints; ++i) torque[i] = s.torque(i);
}

void Arm::inverse_dynamics(const double* q, const double* qd, const double* qdd, double* torque) {
  Solvers& s = *solvers_;
  s.set(s.q, q);
  s.set(s.qd, qd);
  s.set(s.qdd, qdd);
  s.to_torque.CartToJnt(s.q, s.qd, s.qdd, s.no_forces, s.torque);
  for (unsigned i = 0; i < s.joints; ++i) torque[i] = s.torque(i);
}

}  // namespace garra::bench::kdl
