// Stands in for simbody.cpp where Simbody is not installed.
#include "peers/simbody.hpp"

namespace garra::bench::simbody_peer {

bool available() { return false; }

struct Machine::Parts {};
Machine::Machine(const Model&, const Place&) {}
Machine::~Machine() = default;
Place Machine::forward_kinematics(const Numbers6&, const Place&, double) { return {}; }
Numbers6 Machine::acceleration(const Place&, const Numbers6&) { return {}; }
Place Machine::trajectory(const Place&, const Numbers6&, double, double) { return {}; }

}  // namespace garra::bench::simbody_peer
