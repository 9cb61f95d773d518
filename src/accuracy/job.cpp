// job = "accuracy" in the program.
#include "accuracy/scenario.hpp"
#include "cli/samples/system_job.hpp"

namespace garra::cli {
namespace {

std::unique_ptr<Job> read_job(const io::ScenarioDocument& document) {
  const accuracy::Scenario s = io::read_accuracy(document);
  return std::make_unique<SystemJob>(accuracy::make_study(s), io::resolved_toml(s),
                                     std::vector<std::string>{s.model_file});
}

constexpr JobKind kKind = {
    .name = "accuracy",
    .event = "within",
    .quantity = "p_within",
    .unsolved_remedy = "These errors are not finite: look at the distributions of [tolerance].",
    .no_sample = "there are no samples",
    .read = read_job,
};
const KnownJob kKnown(kKind);

}  // namespace
}  // namespace garra::cli
