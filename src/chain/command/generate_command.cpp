// `garra chain generate`: a robot in, a C++ header out whose functions know the robot's numbers.
#include "chain/command/generate_command.hpp"

#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "base/files/atomic_file.hpp"
#include "cli/robot_argument.hpp"
#include "garra/chain_generate.hpp"

namespace garra::cli {
namespace {

struct GenerateArguments {
  ModelArguments model;
  std::string output;  ///< empty: standard output
  chain::GenerateOptions options;
};

/// What has to be typed to get the same text, wherever it goes.
std::string format_command(const GenerateArguments& a) {
  std::string text = "garra chain generate " + a.model.model;
  if (!a.model.options.base.empty()) text += " --base " + a.model.options.base;
  if (!a.model.options.tip.empty()) text += " --tip " + a.model.options.tip;
  for (const std::string& set : a.model.options.overrides) text += " --set " + set;
  if (!a.options.name.empty()) text += " --name " + a.options.name;
  std::string operations;
  for (const std::string& o : a.options.operations) operations += (operations.empty() ? " --operations " : ",") + o;
  return text + operations;
}

void run_generate(GenerateArguments& a) {
  // Before the work: a header that cannot be written is found at once.
  if (!a.output.empty()) io::require_writable(a.output);
  a.options.command = format_command(a);
  const std::string text = chain::generate_header(read_model(a.model), a.options);
  if (a.output.empty())
    std::fputs(text.c_str(), stdout);
  else
    // Whole or not at all: a build that is interrupted leaves no half header.
    io::write_file_atomically(a.output, std::as_bytes(std::span(text)));
}

std::string operation_names() {
  std::string text;
  for (const std::string& name : chain::generated_operations()) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

void add_chain_generate_command(Command chain) {
  Command command = chain.add_subcommand("generate", "A C++ header of straight-line code for one robot");
  const auto a = std::make_shared<GenerateArguments>();
  add_model_options(command, a->model);
  command.add_option("-o,--output", a->output, "header; not given: standard output").type_name("FILE.hpp");
  command.add_option("--name", a->options.name, "namespace; not given: the robot's name").type_name("NAME");
  command.add_option("--operations", a->options.operations, operation_names() + "; not given: all")
      .delimiter(',')
      .type_name("NAME,...");
  command.footer(
      "Examples:\n"
      "  garra chain generate puma560 -o puma560.hpp --name puma560\n"
      "  garra chain generate arm.urdf --tip flange -o arm.hpp --operations jacobian,inverse_dynamics\n"
      "CMake does it at build time: garra_generate_chain (docs/howto/chain-generated.md).");
  command.callback([a] { run_generate(*a); });
}

}  // namespace garra::cli
