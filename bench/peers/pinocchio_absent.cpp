#include "peers/pinocchio.hpp"

namespace garra::bench::pinocchio_peer {

struct Arm::Solvers {};

bool available() { return false; }
Arm::Arm(const Chain&) {}
Arm::~Arm() = default;
void Arm::jacobian(const double*, double*) {}
double Arm::manipulability(const double*) { return 0; }
void Arm::singular_values(const double*, double, double*) {}
void Arm::rnea(const double*, const double*, const double*, double*) {}
void Arm::bias(const double*, const double*, double*) {}
void Arm::gravity(const double*, double*) {}
void Arm::crba(const double*, double*) {}
void Arm::aba(const double*, const double*, const double*, double*) {}
void Arm::coriolis(const double*, const double*, double*) {}

}  // namespace garra::bench::pinocchio_peer
