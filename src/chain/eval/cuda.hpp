// What the host hands to kernels/chain/eval.cu (garra/batch/on_device.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "chain/eval/batch.hpp"

namespace garra::chain {

/// One chain and what is asked of it: the outputs that have an array in `host`, whose arrays are those of an EvalBuffer
/// of device_padded() joints.
struct DeviceChain {
  const Robot& robot;
  const EvalOptions& options;
  const std::vector<Column>& columns;  ///< empty: the numbers are the same for every state
  const EvalTiles& host;               ///< null outputs are not wanted
  std::int64_t count;                  ///< of states
};

/// To how many joints a chain is padded on the GPU; `varying`: each state has numbers of its own. Never across
/// kMaxComposite, so that the algorithm, and with it every bit, is the host's.
[[nodiscard]] inline int device_padded(const Robot& robot, bool varying) {
  const bool exact = robot.joints == 6 || robot.joints == 7;
  if (!varying && exact && all_revolute(source_of<SharedModel<kMaxJoints, Joints::kMixed>>(robot).model))
    return robot.joints;
  return robot.joints <= kMaxComposite ? kMaxComposite : kMaxJoints;
}

}  // namespace garra::chain
