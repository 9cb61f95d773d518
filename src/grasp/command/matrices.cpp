// `garra grasp matrices`: the matrices of a scenario's contact problems.
#include "grasp/command/matrices.hpp"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/answer_parts.hpp"
#include "cli/flags.hpp"
#include "cli/robot_argument.hpp"
#include "cli/terminal.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"
#include "garra/io/scenario.hpp"
#include "grasp/files/matrices_file.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::ordered_json;

struct MatricesArguments {
  std::string scenario, output, format = "human";
  std::vector<std::string> overrides;
  std::int64_t first = -1, count = 0;  ///< no samples: the nominal grasp
  int threads = 0;
};

std::string numbers(const double* x, std::uint64_t n) {
  std::string out;
  // Numbers below 1e-12 are rounding.
  for (std::uint64_t k = 0; k < n; ++k) out += format(" %10.5g", std::abs(x[k]) < 1e-12 ? 0.0 : x[k]);
  return out + "\n";
}

/// Matrices of one sample, as people read them.
std::string matrices_text(const grasp::GraspMatrices& m) {
  std::string out;
  io::for_each_matrix(m, [&](const char* name, const std::vector<double>& x, const std::vector<std::uint64_t>& shape) {
    const std::uint64_t columns = shape.back();
    out += std::string(name) + "\n";
    for (std::size_t at = 0; at + columns <= x.size(); at += columns) out += numbers(x.data() + at, columns);
  });
  return out;
}

Json nested(const double*& x, const std::vector<std::uint64_t>& shape, std::size_t depth) {
  if (depth == shape.size()) return *x++;
  Json out = Json::array();
  for (std::uint64_t k = 0; k < shape[depth]; ++k) out.push_back(nested(x, shape, depth + 1));
  return out;
}

std::string matrices_json(const grasp::GraspMatrices& m, const MatricesArguments& a) {
  Json out = {{"command", "matrices"},  {"samples", m.count}, {"objects", m.objects},
              {"contacts", m.contacts}, {"joints", m.joints}, {"reached", m.reached}};
  if (m.count == 1)
    io::for_each_matrix(m,
                        [&](const char* name, const std::vector<double>& x, const std::vector<std::uint64_t>& shape) {
                          const double* at = x.data();
                          out[name] = nested(at, shape, 0);
                        });
  out["output"] = a.output.empty() ? Json(nullptr) : Json(a.output);
  return out.dump(2) + "\n";
}

void run_matrices(const MatricesArguments& a) {
  check_output(a.scenario, a.output, "the scenario");
  if (a.output.empty() && a.count > 1)
    throw Error(ExitCode::kUsage, "--count without -o", "Name the file: -o matrices.h5.");
  const grasp::Scenario scenario = io::read_scenario(a.scenario, a.overrides);
  print_warnings(scenario.warnings);
  std::vector<std::int64_t> samples;
  if (a.first >= 0 || a.count > 0) {
    samples.resize(static_cast<std::size_t>(std::max<std::int64_t>(a.count, 1)));
    std::iota(samples.begin(), samples.end(), std::max<std::int64_t>(a.first, 0));
  }
  const grasp::GraspMatrices m = grasp::matrices(scenario, samples, a.threads);
  if (!a.output.empty()) io::write_matrices(a.output, m, {{"scenario", scenario.title}, {"version", version()}});
  std::string text = a.format == "json" ? matrices_json(m, a)
                     : a.output.empty()
                         ? printable(matrices_text(m))
                         : printable(format("%lld samples of %d objects, %d contacts: %s\n",
                                            static_cast<long long>(m.count), m.objects, m.contacts, a.output.c_str()));
  std::fputs(text.c_str(), stdout);
}

}  // namespace

void add_matrices_command(Command grasp) {
  Command command = grasp.add_subcommand("matrices", "W, J, M, A, b of the contact problem of a scenario's samples");
  const auto a = std::make_shared<MatricesArguments>();
  command.add_option("scenario", a->scenario, "scenario file (.toml) with job = \"grasp\"")
      .required()
      .type_name("SCENARIO");
  command.add_option("-o,--output", a->output, "result file").type_name("M.h5");
  command.add_option("--sample", a->first, "number of the first sample; not given: the nominal grasp")
      .check(not_negative());
  command.add_option("-n,--count", a->count, "samples").transform(whole_number());
  add_overrides(command, a->overrides, "replace a value of the scenario, for example contacts.friction=0.3");
  add_threads(command, a->threads, "of the processor; 0: all");
  command.add_option("--format", a->format, "human or json").check(one_of({"human", "json"})).capture_default_str();
  command.footer(
      "Examples:\n"
      "  garra grasp matrices data/scenarios/papers_hand.toml\n"
      "  garra grasp matrices data/scenarios/three_puma_sphere.toml --sample 0 -n 1000 -o M.h5");
  command.callback([a] { run_matrices(*a); });
}

}  // namespace garra::cli
