// Stands in for kdl.cpp where Orocos KDL is not installed.
#include "peers/kdl.hpp"

namespace garra::bench::kdl {

bool available() { return false; }

struct Arm::Solvers {};
Arm::Arm(const chain::Chain&, const Vec3<double>&) {}
Arm::~Arm() = default;
void Arm::jacobian(const double*, double*) {}
void Arm::inertia_and_gravity(const double*, double*, double*) {}
void Arm::inverse_dynamics(const double*, const double*, const double*, double*) {}

}  // namespace garra::bench::kdl
