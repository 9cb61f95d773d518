// `garra platform climb`: the probability that a platform climbs a trunk (python/garra/platform/climb.py).
#include <memory>

#include "cli/flags.hpp"
#include "cli/report.hpp"
#include "platform/command/shared.hpp"

namespace garra::cli {
namespace {

struct ClimbArguments {
  std::string file, output, format = "human";
  std::int64_t samples = 0;
};

}  // namespace

void add_platform_climb_command(Command platform) {
  Command command = platform.add_subcommand("climb", "P(climb succeeds) of a platform that holds a trunk by two rings");
  const auto a = std::make_shared<ClimbArguments>();
  command.add_option("file", a->file, "platform, rings, gait, uncertain inputs: as data/climbs/trunk.toml")
      .required()
      .type_name("CLIMB.toml");
  command.add_option("-o,--output", a->output, "animation of the climb").type_name("CLIMB.svg");
  command.add_option("--samples", a->samples, "instead of the file's").check(above_zero());
  command.add_option("--format", a->format, "human or json").check(one_of({"human", "json"})).capture_default_str();
  command.footer("Example:\n  garra platform climb data/climbs/trunk.toml -o climb.svg");
  command.callback([a] {
    std::vector<std::string> words = {"--format", a->format};
    if (a->samples > 0) words.insert(words.end(), {"--samples", std::to_string(a->samples)});
    run_module("garra.platform.climb", "the climb was not computed", {a->file}, a->output, words);
  });
}

}  // namespace garra::cli
