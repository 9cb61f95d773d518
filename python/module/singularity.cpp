// Singular configurations of a chain by screw theory: one exactly, many by their distance.
#include "garra/singularity.hpp"

#include <nlohmann/json.hpp>

#include "garra/io/joint_values.hpp"
#include "garra/singularity_map.hpp"
#include "on_gpu.hpp"
#include "singularity/command/singularity_answer.hpp"

namespace garra::python {

namespace {

using singularity::Analysis;
using singularity::AnalyzeOptions;

AnalyzeOptions make_analysis_options(double tolerance, double step) {
  AnalyzeOptions options;
  options.tolerance = tolerance;
  options.step = step;
  return options;
}

/// As `garra singularity --format json` prints it.
std::string analyze_robot(const chain::Robot& robot, const std::vector<double>& q, double tolerance, double step) {
  const Computing computing;
  const AnalyzeOptions options = make_analysis_options(tolerance, step);
  const Analysis analysis = singularity::analyze(robot, q, options);
  nlohmann::ordered_json out = cli::singularity_json(analysis, &options);
  cli::add_vicinity(analysis, singularity::vicinity(robot, q), out);
  cli::add_tool_speed(robot, singularity::tool_speed(robot, q), out);
  out["far_outside_limits"] = io::far_outside_limits(robot, q);
  return out.dump();
}

/// Rows of `screws`: direction, moment about the world's origin.
std::string analyze_screws(const Numbers& screws, double tolerance, double step) {
  const Computing computing;
  singularity::ScrewSet set;
  for (std::size_t i = 0; i < screws.shape(0); ++i) {
    const double* s = screws.data() + 6 * i;
    set.screw.push_back({{{s[0], s[1], s[2]}}, {{s[3], s[4], s[5]}}});
  }
  const AnalyzeOptions options = make_analysis_options(tolerance, step);
  return cli::singularity_json(singularity::analyze(set, options), &options).dump();
}

using singularity::MapScaling;
using singularity::MeasureOptions;

/// length: 0 is the natural one.
MeasureOptions measure_options(const std::string& center, double length, double tolerance) {
  MeasureOptions options;
  options.scaling.center = center == "tool" ? MapScaling::Center::kTool : MapScaling::Center::kNatural;
  if (length > 0) options.scaling.length = length;
  options.tolerance = tolerance;
  return options;
}

nb::dict measure(const chain::Robot& robot, const Numbers& q, const std::string& center, double length,
                 const std::string& device, int threads) {
  const std::size_t n = q.shape(0);
  auto out = compute([&] {
    const MeasureOptions options = measure_options(center, length, MeasureOptions{}.tolerance);
    return singularity::measure(robot, copied(q), options,
                                make_device(device, threads, core_seconds::measures(static_cast<std::int64_t>(n))));
  });
  nb::dict arrays;
  arrays["sigma_min"] = taken(std::move(out.sigma_min), {n});
  arrays["inverse_condition"] = taken(std::move(out.inverse_condition), {n});
  arrays["manipulability"] = taken(std::move(out.manipulability), {n});
  arrays["tool"] = taken(std::move(out.tool), {n, 3});
  return arrays;
}

/// Queues the measures of configurations on a GPU: `given` has q, `out` an array for each of Measures.
void measure_on_gpu(const chain::Robot& robot, const nb::dict& given, const nb::dict& out, const std::string& center,
                    double length, std::uintptr_t stream, const nb::callable& allocate) {
  const auto q = nb::cast<OnGpu<const double>>(given["q"]);
  const singularity::DeviceConfigurations at{static_cast<std::int64_t>(q.shape(0)), make_view<const double>(q)};
  singularity::DeviceMeasures to;
  take<double>(out, "sigma_min", to.sigma_min);
  take<double>(out, "inverse_condition", to.inverse_condition);
  take<double>(out, "manipulability", to.manipulability);
  take<double>(out, "tool", to.tool);
  const MeasureOptions options = measure_options(center, length, MeasureOptions{}.tolerance);
  run_gpu_call(
      {q.device_id(), stream, allocate},
      [&](const DeviceCall& call) { return singularity::workspace_bytes(robot, at, options, to, call.device); },
      [&](const DeviceCall& call) { singularity::measure(robot, at, options, to, call); });
}

nb::dict nearest(const chain::Robot& robot, const Numbers& q, const std::string& center, double length,
                 double tolerance, const std::string& device, int threads) {
  const std::size_t n = q.shape(0), j = q.shape(1);
  auto out = compute([&] {
    const MeasureOptions options = measure_options(center, length, tolerance);
    return singularity::nearest_singularities(
        robot, copied(q), options, make_device(device, threads, core_seconds::nearest(static_cast<std::int64_t>(n))));
  });
  nb::dict arrays;
  arrays["converged"] = taken_as<std::uint8_t>(std::move(out.search_status), {n});
  arrays["q"] = taken(std::move(out.singular_q), {n, j});
  arrays["distance"] = taken(std::move(out.distance), {n});
  arrays["lost"] = taken(std::move(out.lost), {n});
  arrays["dependent_joints"] = taken(std::move(out.dependent_joints), {n});
  arrays["escape_joint"] = taken(std::move(out.escape_joint), {n});
  arrays["escape_order"] = taken(std::move(out.escape_order), {n});
  arrays["wrench"] = taken(std::move(out.wrench), {n, 6});
  return arrays;
}

}  // namespace

void add_singularity(nb::module_& m) {
  m.def("singularity_analyze", analyze_robot);
  m.def("singularity_analyze_screws", analyze_screws);
  m.def("singularity_measure", measure);
  m.def("singularity_measure_on_gpu", measure_on_gpu);
  m.def("singularity_nearest", nearest);
}

}  // namespace garra::python
