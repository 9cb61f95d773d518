#include "peers/kdl.hpp"

#include <kdl/chain.hpp>
#include <kdl/chaindynparam.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>
#include <kdl/chainjnttojacsolver.hpp>

namespace garra::bench::kdl {

namespace {

KDL::Vector vector(const Vec3<double>& v) { return {v[0], v[1], v[2]}; }

KDL::Segment segment(const chain::Link& l) {
  const auto& I = l.inertia;
  const KDL::RotationalInertia about_com(I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2));
  return KDL::Segment("link", KDL::Joint(KDL::Joint::RotZ, 1, l.offset, l.armature),
                      KDL::Frame::DH(l.a, l.alpha, l.d, 0), KDL::RigidBodyInertia(l.mass, vector(l.com), about_com));
}

KDL::Chain chain_of(const chain::Chain& chain) {
  KDL::Chain out;
  for (int i = 0; i < chain.joints; ++i) out.addSegment(segment(chain.link[i]));
  const auto& R = chain.tool.R.m;
  const KDL::Rotation rotation(R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]);
  const KDL::Frame tool(rotation, vector(chain.tool.p));
  out.addSegment(KDL::Segment("tool", KDL::Joint(KDL::Joint::Fixed), tool));
  return out;
}

}  // namespace

/// The solvers with the arrays that they read and write: nothing is allocated while they are timed.
struct Arm::Solvers {
  Solvers(const chain::Chain& numbers, const KDL::Vector& gravity)
      : joints(static_cast<unsigned>(numbers.joints)), chain(chain_of(numbers)), to_jacobian(chain),
        to_inertia(chain, gravity), to_torque(chain, gravity), q(joints), qd(joints), qdd(joints), torque(joints),
        jacobian(joints), inertia(joints), no_forces(chain.getNrOfSegments(), KDL::Wrench::Zero()) {}

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

Arm::Arm(const chain::Chain& chain, const Vec3<double>& gravity)
    : solvers_(std::make_unique<Solvers>(chain, vector(gravity))) {}
Arm::~Arm() = default;

void Arm::jacobian(const double* q, double* out) {
  Solvers& s = *solvers_;
  s.set(s.q, q);
  s.to_jacobian.JntToJac(s.q, s.jacobian);
  for (unsigned r = 0; r < 6; ++r)
    for (unsigned c = 0; c < s.joints; ++c) out[r * s.joints + c] = s.jacobian(r, c);
}

void Arm::inertia_and_gravity(const double* q, double* inertia, double* torque) {
  Solvers& s = *solvers_;
  s.set(s.q, q);
  s.to_inertia.JntToMass(s.q, s.inertia);
  s.to_inertia.JntToGravity(s.q, s.torque);
  for (unsigned r = 0; r < s.joints; ++r) {
    for (unsigned c = 0; c < s.joints; ++c) inertia[r * s.joints + c] = s.inertia(r, c);
    torque[r] = s.torque(r);
  }
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
