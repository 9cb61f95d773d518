// `garra platform ...`: six-legged platforms.
#include "cli/commands.hpp"
#include "platform/command/shared.hpp"

namespace garra::cli {

void add_platform_commands(Command app) {
  Command platform = app.add_subcommand("platform", "Six-legged (Stewart) platforms: kinematics and dynamics");
  platform.require_subcommand();
  platform.footer(
      "Examples:\n"
      "  garra platform ik trepa_like --at \"0.1 0 1.3, 0 10deg 0\"\n"
      "  garra platform fk trepa_like lengths.h5 -o poses.h5 --certify");
  add_platform_inverse_command(platform);
  add_platform_forward_command(platform);
  add_platform_modes_command(platform);
  add_platform_path_command(platform);
  add_platform_inverse_dynamics_command(platform);
  add_platform_forward_dynamics_command(platform);
  add_platform_simulate_command(platform);
}

}  // namespace garra::cli
