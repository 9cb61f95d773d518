#include "peers/simbody.hpp"

#include <SimTKmath.h>
#include <Simbody.h>

namespace garra::bench::simbody_peer {

using namespace SimTK;

namespace {

constexpr int kLegs = 6;

SimTK::Vec3 to_simbody(const Numbers3& v) { return {v[0], v[1], v[2]}; }

SimTK::Rotation rotation(const Numbers4& p) { return SimTK::Rotation(Quaternion(SimTK::Vec4(p[0], p[1], p[2], p[3]))); }

SimTK::Vec3 leg_vector(const Leg& leg, const Place& at) {
  return to_simbody(at.r) + rotation(at.p) * to_simbody(leg.anchor) - to_simbody(leg.base);
}

/// A link about its own center of mass, in the joint's axes: its x is minus the leg frame's y, its y the leg frame's x.
MassProperties link(double mass, double com, const Numbers3& inertia) {
  const SimTK::Vec3 at(0, 0, com);
  return {mass, at, Inertia(inertia[1], inertia[0], inertia[2]).shiftFromMassCenter(-at, mass)};
}

}  // namespace

bool available() { return true; }

struct Machine::Parts {
  MultibodySystem system;
  SimbodyMatterSubsystem matter{system};
  GeneralForceSubsystem forces{system};
  Model model;
  SimTK::Rotation frame[kLegs];  ///< of the universal joints: x the fixed axis, z near the leg at home
  MobilizedBody::Universal tube[kLegs];
  MobilizedBody::Slider rod[kLegs];
  MobilizedBody::Free body;
  State state;

  void place(const Place& at) {
    body.setQToFitTransform(state, Transform(rotation(at.p), to_simbody(at.r)));
    for (int i = 0; i < kLegs; ++i) {
      const SimTK::Vec3 d = leg_vector(model.leg[i], at), z = ~frame[i] * d / d.norm();
      tube[i].setOneQ(state, 0, std::atan2(-z[1], z[2]));
      tube[i].setOneQ(state, 1, std::asin(z[0]));
      rod[i].setOneQ(state, 0, d.norm());
    }
  }
  void push(const Numbers6& force) {
    for (int i = 0; i < kLegs; ++i) applied[i].setForce(state, force[i]);
  }
  [[nodiscard]] Place result() const {
    const Transform& X = body.getBodyTransform(state);
    const Quaternion q = X.R().convertRotationToQuaternion();
    return {{{X.p()[0], X.p()[1], X.p()[2]}}, {{q[0], q[1], q[2], q[3]}}};
  }
  std::vector<Force::MobilityConstantForce> applied;
};

Machine::Machine(const Model& model, const Place& home) : parts_(std::make_unique<Parts>()) {
  Parts& p = *parts_;
  p.model = model;
  Force::UniformGravity(p.forces, p.matter, to_simbody(model.gravity));
  const Body::Rigid top(MassProperties(model.mass, SimTK::Vec3(0),
                                       Inertia(model.inertia[0], model.inertia[1], model.inertia[2], model.inertia[3],
                                               model.inertia[4], model.inertia[5])));
  p.body = MobilizedBody::Free(p.matter.Ground(), Transform(), top, Transform());
  for (int i = 0; i < kLegs; ++i) {
    const Leg& leg = model.leg[i];
    const SimTK::Vec3 k = to_simbody(leg.axis), along = leg_vector(leg, home);
    p.frame[i] = SimTK::Rotation(UnitVec3(k), XAxis, along, ZAxis);
    const Body::Rigid tube(link(leg.lower.mass, leg.lower.com, leg.lower.inertia));
    const Body::Rigid rod(link(leg.upper.mass, -leg.upper.com, leg.upper.inertia));
    p.tube[i] =
        MobilizedBody::Universal(p.matter.Ground(), Transform(p.frame[i], to_simbody(leg.base)), tube, Transform());
    const SimTK::Rotation slide(UnitVec3(0, 0, 1), XAxis, SimTK::Vec3(0, 1, 0), YAxis);  // a slider moves along its x
    p.rod[i] = MobilizedBody::Slider(p.tube[i], Transform(slide), rod, Transform(slide));
    Constraint::Ball(p.rod[i], SimTK::Vec3(0), p.body, to_simbody(leg.anchor));
    p.applied.emplace_back(p.forces, p.rod[i], 0, 0.0);
  }
  p.state = p.system.realizeTopology();
  p.system.realizeModel(p.state);
}
Machine::~Machine() = default;

Place Machine::forward_kinematics(const Numbers6& lengths, const Place& guess, double tolerance) {
  Parts& p = *parts_;
  p.place(guess);
  for (int i = 0; i < kLegs; ++i) p.rod[i].lockAt(p.state, lengths[i]);
  p.system.realize(p.state, Stage::Time);
  p.system.prescribe(p.state);
  p.system.projectQ(p.state, tolerance);
  p.system.realize(p.state, Stage::Position);
  const Place place = p.result();
  for (auto& rod : p.rod) rod.unlock(p.state);
  return place;
}

Numbers6 Machine::acceleration(const Place& place, const Numbers6& force) {
  Parts& p = *parts_;
  p.place(place);
  p.state.updU() = 0;
  p.push(force);
  p.system.realize(p.state, Stage::Acceleration);
  const SpatialVec& a = p.body.getBodyAcceleration(p.state);
  return {{a[1][0], a[1][1], a[1][2], a[0][0], a[0][1], a[0][2]}};
}

Place Machine::trajectory(const Place& place, const Numbers6& force, double until, double accuracy) {
  Parts& p = *parts_;
  p.place(place);
  p.state.updU() = 0;
  p.state.setTime(0);
  p.push(force);
  RungeKuttaMersonIntegrator integrator(p.system);
  integrator.setAccuracy(accuracy);
  TimeStepper stepper(p.system, integrator);
  stepper.initialize(p.state);
  stepper.stepTo(until);
  p.state = stepper.getState();
  p.system.realize(p.state, Stage::Position);
  return p.result();
}

}  // namespace garra::bench::simbody_peer
