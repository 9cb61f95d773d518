// `garra contact merit`: evaluates a merit function at the forces of a file.
#include "contact/command/merit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files/hdf5.hpp"
#include "cli/flags.hpp"
#include "garra/contact_gradient.hpp"
#include "garra/core/error.hpp"
#include "garra/io/problem_file.hpp"

namespace garra::cli {
namespace {

struct MeritArguments {
  std::string input, forces, output;
  std::string merit = name_of(contact::Merit::kPapers);
  std::string device = "cpu", format = "human";
  int threads = 0;
};

/// Forces or variables of the problems: dataset `c` of another file; zero forces without one.
std::vector<double> read_points(const MeritArguments& a, const contact::Problems& problems) {
  const auto n = static_cast<std::uint64_t>(problems.count);
  const int k = problems.contacts, variables = contact::merit_variables(contact::parse_merit(a.merit), k);
  if (a.forces.empty()) return std::vector<double>(n * 3 * static_cast<std::uint64_t>(k), 0.0);
  const io::Hdf5Reader file(a.forces, "It holds forces c [n,3k], as `garra contact solve -o` writes them.");
  const io::Shape shape = file.shape("c");
  const auto width = shape.size() == 2 ? static_cast<int>(shape[1]) : 0;
  if (shape.size() != 2 || shape[0] != n || (width != 3 * k && width != variables))
    file.refuse("c", "expected [" + std::to_string(n) + "," + std::to_string(3 * k) + "], or " +
                         std::to_string(variables) + " variables in place of the forces, found " +
                         io::to_string(shape));
  return file.doubles("c");
}

void write_values(const std::string& path, const std::string& merit, const contact::MeritValues& values) {
  const auto n = static_cast<std::uint64_t>(values.count), v = static_cast<std::uint64_t>(values.variables);
  io::Hdf5Writer file;
  file.write("value", {n}, values.value);
  file.write("projected_gradient", {n}, values.projected_gradient);
  file.write("x", {n, v}, values.x);
  file.write("gradient", {n, v}, values.gradient);
  file.attribute("/", "merit", merit);
  file.commit(path);
}

/// Least, median and greatest of the finite numbers; zeros where there are none.
std::vector<double> three_numbers(std::vector<double> numbers) {
  std::erase_if(numbers, [](double x) { return !std::isfinite(x); });
  if (numbers.empty()) return {0, 0, 0};
  std::ranges::sort(numbers);
  return {numbers.front(), numbers[numbers.size() / 2], numbers.back()};
}

void evaluate_file(const MeritArguments& a) {
  const contact::Problems problems = io::read_problems(a.input);
  const contact::MeritValues values = contact::merit(problems, read_points(a, problems), contact::parse_merit(a.merit),
                                                     parse_device(a.device, a.threads));
  if (!a.output.empty()) write_values(a.output, a.merit, values);
  const std::vector<double> f = three_numbers(values.value), g = three_numbers(values.projected_gradient);
  if (a.format == "json") {
    const auto three = [](const std::vector<double>& x) {
      return nlohmann::ordered_json{{"least", x[0]}, {"median", x[1]}, {"greatest", x[2]}};
    };
    const nlohmann::ordered_json out = {{"merit", a.merit},
                                        {"problems", values.count},
                                        {"contacts", problems.contacts},
                                        {"variables", values.variables},
                                        {"value", three(f)},
                                        {"projected_gradient", three(g)},
                                        {"output", a.output}};
    std::printf("%s\n", out.dump(1).c_str());
    return;
  }
  std::printf("%-20s %lld of %d contacts\n", "problems", static_cast<long long>(values.count), problems.contacts);
  std::printf("%-20s %s, %d variables\n", "merit function", a.merit.c_str(), values.variables);
  std::printf("%-20s least %.3g, median %.3g, greatest %.3g\n", "value", f[0], f[1], f[2]);
  std::printf("%-20s least %.3g, median %.3g, greatest %.3g\n", "projected gradient", g[0], g[1], g[2]);
  std::printf("%-20s %s\n", "output", a.output.empty() ? "not written (-o FILE keeps it)" : a.output.c_str());
}

}  // namespace

void add_contact_merit_command(Command contact) {
  Command merit = contact.add_subcommand("merit", "Evaluate a merit function: value, gradient, projected gradient");
  const auto a = std::make_shared<MeritArguments>();
  const auto names = names_of(contact::Merit{});
  merit.add_option("input", a->input, "problem file (HDF5: A, b, mu)").required().type_name("IN.h5");
  merit.add_option("--forces", a->forces, "file with forces c [n,3k]; default: zero forces").type_name("FILE.h5");
  merit.add_option("--merit", a->merit, "papers, products, fischer-burmeister or second-order-cone",
                   one_of({names.begin(), names.end()}));
  merit.add_option("-o,--output", a->output, "file for value, gradient, projected_gradient and x").type_name("OUT.h5");
  merit.add_option("--device", a->device, "cpu, scalar, cuda or cuda:1").capture_default_str();
  merit.add_option("--threads", a->threads, "processor threads, 0 for all")
      .transform(thread_count())
      .capture_default_str();
  merit.add_option("--format", a->format, "human or json", one_of({"human", "json"}));
  merit.footer(
      "Examples:\n"
      "  garra contact merit data/reference/contact/random_n3.h5\n"
      "  garra contact merit problems.h5 --forces solutions.h5 --merit fischer-burmeister -o values.h5");
  merit.callback([a] { evaluate_file(*a); });
}

}  // namespace garra::cli
