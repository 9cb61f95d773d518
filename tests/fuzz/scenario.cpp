// Scenarios of every job.
#include "garra/io/scenario.hpp"

#include "fuzz.hpp"
#include "garra/io/chain_scenario.hpp"
#include "garra/io/grasp_set.hpp"
#include "garra/io/platform_experiment_scenario.hpp"
#include "garra/io/platform_scenario.hpp"
#include "garra/io/singularity_scenario.hpp"

namespace {

using namespace garra;

std::string print(const std::string& text) {
  const auto document = io::ScenarioDocument::parse(text, "data/scenarios/fuzz.toml");
  if (document.job() == "grasp") return io::resolved_toml(io::read_scenario(document));
  if (document.job() == "grasp_set") return io::resolved_toml(io::read_set_scenario(document));
  if (document.job() == "chain") return io::resolved_toml(io::read_chain_scenario(document));
  if (document.job() == "singularity") return io::resolved_toml(io::read_singularity_scenario(document));
  if (document.job() == "platform") return io::resolved_toml(io::read_platform_scenario(document));
  return io::resolved_toml(io::read_platform_experiment(document));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::round_trip(fuzz::to_text(data, size), print);
  return 0;
}
