// `garra grasp touch`: reads hand poses and an object, writes the contacts of a parallel jaw.
#include "grasp/command/touch.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "base/files/arrays/array_file.hpp"
#include "cli/answer_parts.hpp"
#include "cli/flags.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/terminal.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"
#include "garra/grasp_touch.hpp"
#include "garra/io/grasp_set.hpp"
#include "garra/io/mesh_file.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TouchArguments {
  grasp::TouchOptions options;
  std::string poses, object, output, hand = "panda", format = "human";
  std::vector<std::pair<double grasp::ParallelJaw::*, double>> jaw;  ///< numbers that replace the hand's
  double scale = 0, stiffness = 0;
  int threads = 0;
  bool stored = false;
};

grasp::ParallelJaw find_jaw(const TouchArguments& a) {
  std::string known;
  for (const grasp::ParallelJaw& jaw : grasp::kJaws) {
    if (a.hand == jaw.name) {
      grasp::ParallelJaw out = jaw;
      for (const auto& [member, value] : a.jaw) out.*member = value;
      return out;
    }
    known += (known.empty() ? "" : ", ") + std::string(jaw.name);
  }
  throw Error(
      ExitCode::kUsage, "--hand " + a.hand + " is no known jaw",
      "Known: " + known +
          ". For another, change their lengths, as --opening 0.05. Hands with joints are models: .xml, .mjcf, .mjb "
          "or .urdf. Suction grippers do not press and are not taken.");
}

struct PosesFile {
  std::vector<double> pose, scale, up, outcome, group;
};

/// pose [p,4,4] and, as far as the file has them, up [3] or [p,3], scale, outcome and group [p].
PosesFile read_poses_file(const std::string& path) {
  const auto file = io::open_arrays(path, "Hand poses are an array `pose` [p,4,4] in an NPZ or HDF5 file.");
  PosesFile out;
  file->refuse_misspelled({"pose", "poses", "up", "scale", "outcome", "group"});
  const char* name = file->has("pose") ? "pose" : "poses";
  if (!file->has(name)) file->refuse("pose", "missing");
  const io::Shape shape = file->shape(name);
  if (shape.size() != 3) file->refuse(name, "has the shape " + io::to_string(shape) + ", not [p, 4, 4]");
  file->require_shape(name, {shape[0], 4, 4});
  if (file->has("up")) {
    if (file->shape("up").size() == 2) file->require_shape("up", {shape[0], 3});
    out.up = file->doubles("up");
  }
  for (const auto& [key, values] :
       {std::pair{"scale", &out.scale}, std::pair{"outcome", &out.outcome}, std::pair{"group", &out.group}})
    if (file->has(key)) {
      file->require_shape(key, {shape[0]});
      *values = file->doubles(key);
    }
  out.pose = file->doubles(name);
  return out;
}

/// The numbers of poses for each of their draws.
std::vector<double> repeat(const std::vector<double>& of_poses, std::int64_t draws) {
  std::vector<double> out;
  for (const double x : of_poses) out.insert(out.end(), static_cast<std::size_t>(draws), x);
  return out;
}

/// The jaw's numbers, for pictures.
std::string jaw_text(const grasp::ParallelJaw& jaw) {
  std::string out;
  for (const auto& number : grasp::kJawNumbers) out += (out.empty() ? "" : " ") + format("%.17g", jaw.*number.value);
  return out;
}

std::vector<double> to_numbers(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

bool has_joints(const std::string& hand) {
  const std::string ending = std::filesystem::path(hand).extension();
  return ending == ".xml" || ending == ".mjcf" || ending == ".mjb" || ending == ".urdf";
}

/// Whether the poses are those of a data set: in another file than NPZ, or in one of ACRONYM.
bool is_of_data_set(const std::string& poses) {
  const std::string ending = std::filesystem::path(poses).extension();
  if (ending == ".json" || ending == ".yaml" || ending == ".yml" || ending == ".npy") return true;
  return (ending == ".h5" || ending == ".hdf5") && io::open_arrays(poses, "")->has("grasps/transforms");
}

/// The Python package reads models of hands with joints, and data sets. Options at their defaults are its own.
void touch_by_python(const TouchArguments& a) {
  const grasp::TouchOptions usual;
  Json options = {{"mesh", a.object}, {"format", a.format}};
  std::error_code ignored;
  if (std::filesystem::exists(a.object, ignored)) options["mesh"] = std::filesystem::absolute(a.object);
  for (const auto& number : grasp::kTouchNumbers)
    if (a.options.*number.value != usual.*number.value) options[number.name] = a.options.*number.value;
  if (!has_joints(a.hand)) options["jaw"] = {{"name", a.hand}};
  for (const auto& [member, value] : a.jaw) {
    if (has_joints(a.hand) && member != &grasp::ParallelJaw::force)
      throw Error(ExitCode::kUsage, "lengths of a jaw: --hand " + a.hand + " is a model",
                  "Its lengths are in its file.");
    for (const auto& number : grasp::kJawNumbers)
      if (member == number.value) (has_joints(a.hand) ? options : options["jaw"])[number.name] = value;
  }
  if (a.scale > 0) options["scale"] = a.scale;
  if (a.stiffness > 0) options["stiffness"] = a.stiffness;
  options["draws"] = a.options.draws;
  options["soft"] = a.options.soft;
  options["close"] = !a.stored;
  options["seed"] = a.options.seed;
  options["threads"] = a.threads;
  run_module("garra.touch_model", "no grasp set was written", {a.poses, a.hand}, a.output, {options.dump()});
}

void run_touch(TouchArguments a) {
  check_output(a.object, a.output, "the object");
  check_output(a.poses, a.output, "the poses");
  if (has_joints(a.hand)) return touch_by_python(a);
  a.options.jaw = find_jaw(a);
  if (a.stiffness > 0)
    throw Error(ExitCode::kUsage, "--stiffness: --hand " + a.hand + " is a jaw", "Its grip force is --force.");
  if (is_of_data_set(a.poses)) return touch_by_python(a);
  a.options.close = !a.stored;
  const PosesFile poses = read_poses_file(a.poses);
  a.options.up = poses.up;
  a.options.scale = poses.scale;
  const io::Object object = io::read_object(a.object, a.scale);
  if (!object.warning.empty()) std::fprintf(stderr, "garra: warning: %s\n", printable(object.warning).c_str());
  const auto start = std::chrono::steady_clock::now();
  grasp::Touched t = grasp::touch(*object.surface, poses.pose, a.options, parse_device("cpu", a.threads));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto count = std::ssize(t.status);
  t.set.outcome = repeat(poses.outcome, a.options.draws);
  t.set.group = repeat(poses.group, a.options.draws);
  io::write_grasp_set(
      a.output, t.set,
      {object.surface->picture(),
       {},
       {{"object", a.object}, {"hand", a.hand}, {"jaw", jaw_text(a.options.jaw)}, {"version", version()}},
       {{"touch_status", to_numbers(t.status)},
        {"collision_depth", t.collision},
        {"object_turn", t.turn},
        {"object_shift", t.shift},
        {"jaw_width", t.width},
        {"object_scale", repeat(poses.scale, a.options.draws)},
        {"hand_pose", t.pose}}});
  const auto names = names_of(grasp::TouchStatus{});
  Json counts = Json::object();
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto n = std::count(t.status.begin(), t.status.end(), static_cast<std::uint8_t>(k));
    counts[names[k]] = n;
    if (n > 0) text += counted(words(names[k]), n, static_cast<double>(count));
  }
  if (a.format == "json") {
    const Json out = {{"poses", std::ssize(poses.pose) / 16},
                      {"draws", a.options.draws},
                      {"grasps", count},
                      {"hand", a.hand},
                      {"status", counts},
                      {"mass", t.body.mass},
                      {"seconds", seconds},
                      {"output", a.output}};
    std::fputs((out.dump(1) + "\n").c_str(), stdout);
    return;
  }
  std::fputs(
      printable(format("%lld poses, %lld grasps of %s\n\n", static_cast<long long>(std::ssize(poses.pose) / 16),
                       static_cast<long long>(count), a.hand.c_str()) +
                text + "Speed              " + short_number(static_cast<double>(count) / std::max(seconds, 1e-9)) +
                " grasps/s\nSet                " + a.output + "\nP(held) of each    garra grasp rank " + a.output +
                " -o ranking.h5\n")
          .c_str(),
      stdout);
}

/// --pad-width of pad_width
std::string flag(const char* name) {
  std::string out = std::string("--") + name;
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

}  // namespace

void add_touch_command(Command grasp) {
  Command command = grasp.add_subcommand("touch", "Contacts of a hand at given poses, for `garra grasp rank`");
  const auto a = std::make_shared<TouchArguments>();
  command
      .add_option("poses", a->poses,
                  "`pose` [p,4,4] of the hand in object axes: x closes, z out of the palm; up, scale, outcome, group")
      .required()
      .type_name("POSES.npz");
  command.add_option("--mesh", a->object, "object: .stl, .obj, or a shape as in `garra grasp propose`")
      .required()
      .type_name("OBJECT");
  command.add_option("-o,--output", a->output, "grasp set").required().type_name("SET.h5");
  command.add_option("--hand", a->hand, "panda, robotiq_2f85, robotiq_2f140, wsg50, or a MuJoCo or URDF file")
      .capture_default_str();
  for (const auto& number : grasp::kJawNumbers)
    command
        .add_numbers(
            flag(number.name),
            [a, member = number.value](const std::vector<double>& x) { a->jaw.emplace_back(member, x[0]); },
            number.text)
        .expected(1);
  for (const auto& number : grasp::kTouchNumbers)
    command.add_option(flag(number.name), a->options.*number.value, number.text).capture_default_str();
  command.add_option("--draws", a->options.draws, "grasps per pose, with pose errors of their own")
      .transform(whole_number())
      .capture_default_str();
  command.add_flag("--soft", a->options.soft, "one soft contact per pad, not four points");
  command.add_flag("--no-closing", a->stored, "contacts at the stored pose: the object does not turn");
  command.add_option("--scale", a->scale, "factor on the object's lengths, 0.001 for millimeters")
      .check(positive_number());
  command
      .add_option("--stiffness", a->stiffness, "hands with joints: torque over (squeeze - joint value) [N m/rad, N/m]")
      .check(positive_number());
  command.add_option("--seed", a->options.seed, "of the pose errors").transform(seed()).capture_default_str();
  command.add_option("--threads", a->threads, "of the processor; 0: all").capture_default_str();
  command.add_option("--format", a->format, "human or json", one_of({"human", "json"}));
  command.footer(
      "Example:\n"
      "  garra grasp touch poses.npz --hand panda --mesh mug.obj --draws 32 --position-noise 0.003 -o set.h5");
  command.callback([a] { run_touch(*a); });
}

}  // namespace garra::cli
