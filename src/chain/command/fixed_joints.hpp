// --fix JOINT=VALUE of commands for six joints.
#pragma once

#include <string>

#include "garra/chain.hpp"

namespace garra::cli {

/// The chain without the joint, by number or name. @throws Error kUsage for another text.
[[nodiscard]] chain::Robot with_fixed_joint(const chain::Robot& robot, const std::string& text);

}  // namespace garra::cli
