// One configuration of a chain by screw theory.
#include "garra/singularity.hpp"

#include <nlohmann/json.hpp>

#include "arrays.hpp"
#include "singularity/command/answer.hpp"

namespace garra::python {

namespace {

using singularity::AnalyseOptions;
using singularity::Analysis;

AnalyseOptions options_of(double tolerance, double step) {
  AnalyseOptions options;
  options.tolerance = tolerance;
  options.step = step;
  return options;
}

/// As `garra singularity --format json` prints it.
std::string json_of(const Analysis& analysis, const AnalyseOptions& options) {
  return cli::singularity_json(analysis, &options).dump();
}

std::string analyse_robot(const chain::Robot& robot, const std::vector<double>& q, double tolerance, double step) {
  const nb::gil_scoped_release released;
  const AnalyseOptions options = options_of(tolerance, step);
  return json_of(singularity::analyse(robot, q, options), options);
}

/// Rows of `screws`: direction, moment about the world's origin.
std::string analyse_screws(const Numbers& screws, double tolerance, double step) {
  const nb::gil_scoped_release released;
  singularity::ScrewSet set;
  for (std::size_t i = 0; i < screws.shape(0); ++i) {
    const double* s = screws.data() + 6 * i;
    set.screw.push_back({{{s[0], s[1], s[2]}}, {{s[3], s[4], s[5]}}});
  }
  const AnalyseOptions options = options_of(tolerance, step);
  return json_of(singularity::analyse(set, options), options);
}

}  // namespace

void add_singularity(nb::module_& m) {
  m.def("singularity_analyse", analyse_robot);
  m.def("singularity_analyse_screws", analyse_screws);
}

}  // namespace garra::python
