// What the outputs are called, how large they are and what they read: one table.
#include <array>
#include <string>

#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"

namespace garra::chain {

namespace {

enum class Shape { kOne, kJoints, kSix, kPose, kLinkPoses, kJacobian, kComJacobians, kSquare };

struct Entry {
  Output output;
  const char* name;
  Shape shape;
  std::vector<double> Results::*array;
  Needs needs;
};
constexpr Needs kNothing{};
constexpr Needs kVelocity{.qd = true};
constexpr Entry kOutputs[kOutputCount] = {
    {Output::kPose, "pose", Shape::kPose, &Results::pose, kNothing},
    {Output::kLinkPoses, "link_poses", Shape::kLinkPoses, &Results::link_poses, kNothing},
    {Output::kJacobian, "jacobian", Shape::kJacobian, &Results::jacobian, kNothing},
    {Output::kComJacobians, "com_jacobians", Shape::kComJacobians, &Results::com_jacobians, kNothing},
    {Output::kMassMatrix, "mass_matrix", Shape::kSquare, &Results::mass_matrix, kNothing},
    {Output::kCoriolisMatrix, "coriolis_matrix", Shape::kSquare, &Results::coriolis_matrix, kVelocity},
    {Output::kBias, "bias", Shape::kJoints, &Results::bias, kVelocity},
    {Output::kGravity, "gravity", Shape::kJoints, &Results::gravity, kNothing},
    {Output::kDamping, "damping", Shape::kJoints, &Results::damping, kVelocity},
    {Output::kInverseDynamics, "tau", Shape::kJoints, &Results::tau, {.qd = true, .qdd = true}},
    {Output::kForwardDynamics, "qdd", Shape::kJoints, &Results::qdd, {.qd = true, .tau = true}},
    {Output::kManipulability, "manipulability", Shape::kOne, &Results::manipulability, kNothing},
    {Output::kSmallestSingularValue, "smallest_singular_value", Shape::kOne, &Results::smallest_singular_value,
     kNothing},
    {Output::kKineticEnergy, "kinetic_energy", Shape::kOne, &Results::kinetic_energy, kVelocity},
    {Output::kPotentialEnergy, "potential_energy", Shape::kOne, &Results::potential_energy, kNothing},
    {Output::kToolVelocity, "tool_velocity", Shape::kSix, &Results::tool_velocity, kVelocity},
    {Output::kJointForce, "joint_force", Shape::kJoints, &Results::joint_force, {.wrench = true}},
};
constexpr const char* kQuantities[kQuantityCount] = {"a",     "d",     "alpha",    "theta",   "mass", "com_x",
                                                     "com_y", "com_z", "armature", "damping", "size"};

// Entries are found by number, so the order is a matter of correctness.
constexpr bool in_order() {
  for (int i = 0; i < kOutputCount; ++i)
    if (static_cast<int>(kOutputs[i].output) != i) return false;
  return true;
}
static_assert(in_order());

const Entry& entry(Output output) { return kOutputs[static_cast<std::size_t>(output)]; }

}  // namespace

const char* to_string(Output output) { return entry(output).name; }

Output parse_output(const std::string& name) {
  std::string names;
  for (const Entry& e : kOutputs) {
    if (name == e.name) return e.output;
    names.append(names.empty() ? "" : ", ").append(e.name);
  }
  throw Error(ExitCode::kUsage, "no output is called \"" + name + "\"", "there are " + names);
}

const char* to_string(Quantity quantity) { return kQuantities[static_cast<std::size_t>(quantity)]; }

Quantity parse_quantity(const std::string& name) {
  std::string names;
  for (int i = 0; i < kQuantityCount; ++i) {
    if (name == kQuantities[i]) return static_cast<Quantity>(i);
    names.append(names.empty() ? "" : ", ").append(kQuantities[i]);
  }
  throw Error(ExitCode::kUsage, "no quantity of a link is called \"" + name + "\"", "there are " + names);
}

std::vector<int> output_shape(Output output, int joints, int links) {
  switch (entry(output).shape) {
    case Shape::kOne:
      return {};
    case Shape::kJoints:
      return {joints};
    case Shape::kSix:
      return {6};
    case Shape::kPose:
      return {4, 4};
    case Shape::kLinkPoses:
      return {links, 4, 4};
    case Shape::kJacobian:
      return {6, joints};
    case Shape::kComJacobians:
      return {links, 6, joints};
    case Shape::kSquare:
      return {joints, joints};
  }
  return {};
}

int output_size(Output output, int joints, int links) {
  int size = 1;
  for (const int n : output_shape(output, joints, links)) size *= n;
  return size;
}

Needs needs(Output output) { return entry(output).needs; }

Outputs Outputs::all() {
  Outputs set;
  for (const Entry& e : kOutputs) set.add(e.output);
  return set;
}

std::vector<double>& Results::operator[](Output output) { return this->*entry(output).array; }
const std::vector<double>& Results::operator[](Output output) const { return this->*entry(output).array; }

}  // namespace garra::chain
