// job = "platform_climb" in the program, and climb.h5: the nominal cycle.
#include "base/files/hdf5.hpp"
#include "cli/samples/system_job.hpp"
#include "climb/scenario.hpp"

namespace garra::cli {
namespace {

class ClimbJob final : public SystemJob {
 public:
  using Scenario = climb::Scenario;
  explicit ClimbJob(const climb::Scenario& s)
      : SystemJob(climb::make_study(s), io::resolved_toml(s), {s.model_file}), scenario_(s) {}

  void write_files(const io::RunFolder& folder, const study::Total& /*total*/) const override {
    const climb::Series s = climb::nominal(scenario_);
    const auto n = static_cast<std::uint64_t>(s.time.size());
    io::Hdf5Writer file;
    file.write("time", {n}, s.time);
    file.write("lower", {n}, s.lower);
    file.write("upper", {n}, s.upper);
    file.write("force", {n, 6}, s.force);
    file.write("wrench", {n, 6}, s.wrench);
    file.write("friction_margin", {n}, s.friction_margin);
    file.write("sigma_min", {n}, s.sigma_min);
    std::vector<double> base, anchor;
    for (const platform::Leg& leg : scenario_.platform.leg) {
      base.insert(base.end(), leg.base.m, leg.base.m + 3);
      anchor.insert(anchor.end(), leg.anchor.m, leg.anchor.m + 3);
    }
    file.write("base_anchors", {6, 3}, base);
    file.write("platform_anchors", {6, 3}, anchor);
    file.attribute("/", "title", scenario_.title);
    file.attribute("/", "trunk_radius", scenario_.ring.trunk_radius.nominal());
    file.commit(folder.file("climb.h5"));
  }
  [[nodiscard]] bool has_files(const io::RunFolder& folder) const override { return folder.has("climb.h5"); }

 private:
  climb::Scenario scenario_;
};

constexpr JobKind kKind = {
    .name = "platform_climb",
    .event = "climbed",
    .quantity = "p_climbed",
    .unsolved_remedy = "The contact solver has no forces for these rings: look at the distributions of [ring].",
    .no_sample = "there are no samples",
    .read = read_study_job<ClimbJob, io::read_climb>,
};
const KnownJob kKnown(kKind);

}  // namespace
}  // namespace garra::cli
