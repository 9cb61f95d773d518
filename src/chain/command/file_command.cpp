#include "chain/command/file_command.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "garra/chain_generate.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The chain without the joint, by number or name.
chain::Robot with_fixed_joint(const chain::Robot& robot, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  int joint = -1;
  for (int i = 0; i < robot.joints; ++i)
    if (name == std::to_string(i) || name == robot.joint[static_cast<std::size_t>(i)].name) joint = i;
  if (equals == std::string::npos || joint < 0)
    throw Error(ExitCode::kUsage, "--fix " + text + ": not JOINT=VALUE with a joint of the robot",
                "Joints have the names and numbers of `garra check`; values are in rad or m.");
  return chain::lock_joint(
      robot, joint,
      number_or_refuse(text.substr(equals + 1), "--fix " + text + ": not a finite number", "Give rad or m."));
}

}  // namespace

void add_file_options(Command command, FileArguments& a, const std::string& input) {
  add_model_options(command, a.model);
  command.add_option("input", a.input, input).required().type_name("IN.h5");
  command.add_option("-o,--output", a.output, "result file").type_name("OUT.h5");
}

void add_fix_option(Command command, FileArguments& a) {
  command.add_option("--fix", a.fixed, "fixed joint, as of an arm of seven: name or number = value [rad or m]")
      .type_name("JOINT=VALUE");
}

chain::Robot read_fixed_model(const FileArguments& a) {
  chain::Robot robot = read_model(a.model);
  for (const std::string& text : a.fixed) robot = with_fixed_joint(robot, text);
  return robot;
}

Json output_json(const std::string& output) { return output.empty() ? Json(nullptr) : Json(output); }

void print_summary(const Json& summary, const std::string& format, int width) {
  if (format == "json")
    std::printf("%s\n", summary.dump(2).c_str());
  else
    for (const auto& [key, value] : summary.items())
      std::printf("%-*s %s\n", width, key.c_str(),
                  (value.is_string() ? value.get<std::string>() : value.dump()).c_str());
  std::fflush(stdout);
}

void write_origin(io::Hdf5Writer& file, const std::string& model, const std::vector<Status>& status) {
  file.write("status", {status.size()}, io::enum_numbers<std::int32_t>(status));
  file.attribute("status", "names", io::enum_names<Status>(kStatusCount));
  file.attribute("/", "model", model);
  file.attribute("/", "version", version());
}

}  // namespace garra::cli
