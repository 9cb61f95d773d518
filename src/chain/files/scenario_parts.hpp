// The parts of a scenario with job = "chain".
#pragma once

#include <string>
#include <vector>

#include "base/scenario/fields.hpp"
#include "chain/files/robot_table.hpp"
#include "garra/chain_study.hpp"

namespace garra::io {

inline constexpr JointDimension kJointSpeed{kAngularVelocity, kVelocity};         ///< [rad/s] or [m/s]
inline constexpr JointDimension kJointTorque{kTorque, kForce};                    ///< [N m] or [N]
inline constexpr JointDimension kJointDamping{kTurningDamping, kSlidingDamping};  ///< [N m s/rad] or [N s/m]
inline constexpr JointDimension kPlain{kRatio, kRatio};  ///< the same without unit for all joints

/// [start], [vary], [torque], [simulation], [settle] of one design.
void design_fields(Fields& f, const chain::Robot& robot, chain::Design& design);
/// Whether it is one of these.
[[nodiscard]] bool is_table_of_designs(const std::string& name);

/// What a key's plain numbers mean, for a design with this torque; "" where that is not known.
[[nodiscard]] std::string unit_of_key(const std::string& key, const chain::Scenario& scenario);

/// What the amplitude, kp and kd of a torque input are measured in.
[[nodiscard]] JointDimension amplitude_dimension(chain::TorqueKind kind);
[[nodiscard]] JointDimension kp_dimension(chain::TorqueKind kind);
[[nodiscard]] JointDimension kd_dimension(chain::TorqueKind kind);
/// The amplitude is a factor of the torque, not the torque itself.
[[nodiscard]] bool is_factor(chain::TorqueKind kind);
/// pd and computed: the torque depends on the state.
[[nodiscard]] bool is_feedback(chain::TorqueKind kind);

/// A swept key with the values it takes.
struct SweptKey {
  chain::Sweep sweep;
  Place place;              ///< in the file, for errors
  std::vector<Node> nodes;  ///< what each value looks like in a file
};
/// [sweep]
void sweep_fields(Fields& f, std::vector<SweptKey>& keys);
/// Product of the numbers of values; stops counting above 2^32.
[[nodiscard]] std::size_t design_count(const std::vector<SweptKey>& keys);
/// Which value of key `k` design `d` has: the last key runs fastest.
[[nodiscard]] std::size_t value_index(const std::vector<SweptKey>& keys, std::size_t k, std::size_t d);

}  // namespace garra::io
