// Stands in for kdl.cpp where Orocos KDL is not installed.
#include "peers/kdl.hpp"

namespace garra::bench::kdl {

bool available() { return false; }

struct Arm::Solvers {};
Arm::Arm(const std::vector<chain::DhJoint>&, const Pose<double>&) {}
Arm::~Arm() = default;
void Arm::jacobian(const double*, double*) {}
void Arm::inertia(const double*, double*) {}
void Arm::gravity(const double*, double*) {}
void Arm::inverse_dynamics(const double*, const double*, const double*, double*) {}

}  // namespace garra::bench::kdl
