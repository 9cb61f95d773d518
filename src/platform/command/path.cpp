// `garra platform path`: a path between two poses that passes no singular pose.
#include <algorithm>
#include <memory>

#include "cli/answer_parts.hpp"
#include "cli/flags.hpp"
#include "garra/platform_study.hpp"
#include "platform/command/shared.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PathArguments {
  PlatformArguments common;
  std::string to;
  platform::PathSearch search;
  bool ignore_limits = false;
  int poses = 101;
};

const char* reason(platform::Reach reach) {
  switch (reach) {
    case platform::Reach::kReachable:
      return "proven over its whole length, up to rounding";
    case platform::Reach::kNotFound:
      return "no path found; this proves nothing; --tries searches longer";
    case platform::Reach::kSeparate:
      return "det J has opposite signs: every path between both poses passes a singular pose, whatever the limits";
    case platform::Reach::kOutOfLimits:
      return "an end breaks a limit, so that every path does; --ignore-limits searches without limits";
    case platform::Reach::kEndIsNearSingular:
      break;
  }
  return "the smallest singular value of an end is not above --near-singular";
}

std::string waypoint_table(const platform::Poses& pose, const platform::InverseKinematics& at) {
  std::string out =
      "\npose        x         y         z    roll   pitch     yaw  sigma min  to stroke end\n"
      "          [m]       [m]       [m]   [deg]   [deg]   [deg]                      [m]\n";
  for (std::size_t i = 0; i < at.status.size(); ++i) {
    const double *x = pose.position.data() + 3 * i, *margin = at.stroke_margin.data() + 6 * i;
    const Vec3<double> rpy = to_degrees(pose.quaternion.data() + 4 * i);
    out += format("%3d  %8.5f  %8.5f  %8.5f %7.2f %7.2f %7.2f  %9.4g  %13.6f\n", static_cast<int>(i),
                  without_noise(x[0]), without_noise(x[1]), without_noise(x[2]), rpy[0], rpy[1], rpy[2],
                  at.sigma_min[i], *std::min_element(margin, margin + platform::kLegs));
  }
  return out;
}

Json path_json(const platform::PlannedPath& path, const platform::InverseKinematics& at) {
  Json out = {{"reach", name_of(path.reach)}, {"proof_steps", path.proof_steps}, {"tries", path.tries}};
  out["characteristic_length"] = path.characteristic_length;
  if (path.reach != platform::Reach::kReachable) return out;
  out["length"] = path.length;
  out["sigma_min"] = path.sigma_min;
  out["position"] = path.pose.position;
  out["quaternion"] = path.pose.quaternion;
  out["lengths"] = at.lengths;
  return out;
}

std::string path_lines(const platform::PlannedPath& path, double near_singular) {
  const std::size_t motions = path.pose.position.size() / 3 - 1;
  return summary_line("motions", format("%d straight, %.6g m in all; turns count %.4g m a radian",
                                        static_cast<int>(motions), path.length, path.characteristic_length)) +
         summary_line("conditioning", format("smallest singular value above %.4g, %.4g at worst in the %lld poses of "
                                             "the proof",
                                             near_singular, path.sigma_min, static_cast<long long>(path.proof_steps)));
}

void run_path(const PathArguments& a) {
  const PlatformRun run = begin_platform(a.common, {.pose = true});
  const double *r = run.rows.pose.position.data(), *p = run.rows.pose.quaternion.data();
  platform::PathSearch search = a.search;
  search.limits = !a.ignore_limits;
  platform::PlannedPath path;
  PlatformSummary s;
  s.command = "path";
  s.seconds = timed(a.common, [&] {
    path = platform::find_path(run.platform, {{{r[0], r[1], r[2]}}, {{p[0], p[1], p[2], p[3]}}},
                               parse_place("--to", a.to), search);
  });
  const bool found = path.reach == platform::Reach::kReachable;
  s.samples = 1;
  s.solved = found ? 1 : 0;
  s.by_status = {{name_of(path.reach), 1}};
  s.lines = summary_line("proof", reason(path.reach));
  platform::InverseOptions details;
  details.limits = details.conditioning = true;
  details.characteristic_length = path.characteristic_length;
  const auto look = [&](const platform::Poses& pose) {
    return platform::inverse_kinematics({run.platform}, pose, {}, details, run.device);
  };
  const platform::InverseKinematics at = look(path.pose);
  s.more["result"] = path_json(path, at);
  if (found) s.lines += path_lines(path, search.near_singular) + waypoint_table(path.pose, at);
  if (!a.common.output.empty() && found) {
    const platform::Poses along = platform::poses_along(path, a.poses);
    io::write_platform_results(a.common.output, along, look(along), make_attributes(run));
  }
  finish_platform(a.common, run, s);
}

}  // namespace

void add_platform_path_command(Command platform) {
  Command command = platform.add_subcommand("path", "A path between two poses that passes no singular pose");
  const auto a = std::make_shared<PathArguments>();
  add_platform_model_options(command, a->common);
  add_tool(command, a->common);
  command.add_option("--to", a->to, "last pose, as --at, the first one").required().type_name("\"X Y Z, R P Y\"");
  command.add_option("--near-singular", a->search.near_singular, "the smallest singular value stays above this",
                     positive_number());
  add_length_scale(command, a->search.characteristic_length);
  command.add_flag("--ignore-limits", a->ignore_limits, "of strokes, cones and distances of legs");
  command.add_option("--tries", a->search.tries, "random poses of the search", above_zero());
  command.add_option("--seed", a->search.seed, "of these poses").transform(seed()).capture_default_str();
  command.add_option("--poses", a->poses, "along the path in the result file, besides its own", above_zero());
  command.footer(
      "Examples:\n"
      "  garra platform path trepa_like --to \"0.1 0 1.3, 0 10deg 0\"\n"
      "  garra platform path trepa_like --at \"0 0 1.2, 0 0 20deg\" --to \"0 0.1 1.3, 0 0 -60deg\" -o path.h5");
  command.callback([a] { run_path(*a); });
}

}  // namespace garra::cli
