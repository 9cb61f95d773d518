// What the host hands to kernels/chain/eval.cu (garra/batch/on_device.hpp).
#pragma once

#include <vector>

#include "chain/eval/evaluate_kernel.hpp"
#include "garra/batch/resident.hpp"
#include "garra/batch/rows.hpp"

namespace garra::chain {

/// One chain and its states. Columns: every StateInput, then one for each parameter, null where no wanted output needs
/// it; then, of every Output and of the status, null where it is not wanted.
template <class Rows>
struct ChainRows {
  const Robot& robot;
  const EvalOptions& options;
  std::vector<Column> columns;  ///< empty: the numbers are the same for every state
  Rows rows;
};
using HostChain = ChainRows<batch::Rows>;
using DeviceChain = ChainRows<batch::ResidentRows>;

/// To how many joints a chain is padded on the GPU; `varying`: each state has numbers of its own. Never across
/// kMaxComposite, so that the algorithm, and with it every bit, is the host's.
[[nodiscard]] inline int device_padded(const Robot& robot, bool varying) {
  const bool exact = robot.joints == 6 || robot.joints == 7;
  if (!varying && exact && fits_revolute(make_source<SharedModel<kMaxJoints, Joints::kMixed>>(robot).model))
    return robot.joints;
  return robot.joints <= kMaxComposite ? kMaxComposite : kMaxJoints;
}

}  // namespace garra::chain
