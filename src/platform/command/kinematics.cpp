// `garra platform ik`, `fk` and `modes`.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "cli/answer_parts.hpp"
#include "cli/flags.hpp"
#include "garra/platform_dynamics.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/platform_study.hpp"
#include "platform/command/shared.hpp"
#include "platform/files/parts.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::ordered_json;
using platform::PoseStatus;

std::string pose_lines(const platform::Poses& pose, std::size_t row) {
  const double* p = pose.quaternion.data() + 4 * row;
  const Vec3<double> rpy = to_degrees(p);
  return summary_line("position", number_row(pose.position.data() + 3 * row, 3, " %.9g") + " m") +
         summary_line("quaternion", number_row(p, 4, " %.9g")) +
         summary_line("turned", format(" roll %.6g, pitch %.6g, yaw %.6g deg", rpy[0], rpy[1], rpy[2]));
}

// --- ik

struct InverseArguments {
  PlatformArguments common;
  platform::InverseOptions options;
  std::vector<std::string> leg_stiffness;  ///< one for all legs, or six
};

std::string leg_table(const platform::InverseKinematics& r) {
  std::string out = "\nleg      length  to stroke end  universal cone  spherical cone\n";
  out += "            [m]            [m]      left [deg]      left [deg]\n";
  for (std::size_t i = 0; i < 6; ++i)
    out += format("%3d  %10.6f     %10.6f      %10.3f      %10.3f\n", static_cast<int>(i), r.lengths[i],
                  r.stroke_margin[i], r.universal_margin[i] / kDegree, r.spherical_margin[i] / kDegree);
  return out + "\n" + summary_line("limits", violations(r.mask[0])) +
         // Infinite where the legs have no thickness.
         (std::isfinite(r.clearance[0]) ? summary_line("clearance", format("%.4g m between legs", r.clearance[0]))
                                        : "") +
         summary_line("conditioning", format("%.4g, smallest singular value %.4g", r.condition[0], r.sigma_min[0]));
}

/// How many samples break a limit, and the worst conditioning.
void check_inverse(const platform::InverseKinematics& r, PlatformSummary& s) {
  if (!r.mask.empty()) {
    std::int64_t broken = 0;
    for (std::size_t i = 0; i < r.mask.size(); ++i) broken += r.mask[i] != 0;
    s.more["limits_broken"] = broken;
    s.lines += summary_line("limits", broken == 0 ? "kept by all" : "broken by " + std::to_string(broken));
  }
  if (!r.sigma_min.empty()) {
    double least = std::numeric_limits<double>::infinity();
    // fmin passes NaN over: rows without an answer have their status.
    for (const double x : r.sigma_min) least = std::fmin(least, x);
    s.more["sigma_min"] = number_to_json(least);
    s.lines += summary_line("conditioning", format("smallest singular value %.4g at worst", least));
  }
}

/// "0.25", or "none" where no singular pose was met.
std::string way_text(double way, double unit) {
  return std::isfinite(way) ? format(" %9.4g", way / unit) : "      none";
}

std::string singular_lines(const platform::NearestSingularPose& s) {
  std::string out = "\n";
  if (!s.found) {
    out += summary_line("singular pose", format("none found within %.4g m", s.reach));
  } else if (s.distance == 0) {
    return out + summary_line("singular pose", "here");
  } else {
    Vec3<double> turn = (1 / kDegree) * s.turn;
    out += summary_line("singular pose", format("%.6g m away; turns count %.4g m a radian", s.distance, s.length)) +
           summary_line("  by a shift of", number_row(s.shift.m, 3, " %.6g") + " m") +
           summary_line("  and a turn of", number_row(turn.m, 3, " %.6g") + " deg (rotation vector)") +
           summary_line("  limits there", violations(s.mask));
  }
  out += "  along or about one axis to the first singular pose\n";
  out += "                   x         y         z   about x   about y   about z\n";
  out += "                 [m]       [m]       [m]     [deg]     [deg]     [deg]\n";
  for (const std::size_t side : {0u, 1u}) {
    out += side == 0 ? "  forward " : "  backward";
    for (std::size_t k = 0; k < 6; ++k) out += way_text(s.along_axes[k][side], k < 3 ? 1 : kDegree);
    out += "\n";
  }
  return out;
}

Json make_json(const platform::NearestSingularPose& s) {
  Json ways = Json::array(), pose = nullptr;
  for (const auto& way : s.along_axes) ways.push_back({number_to_json(way[0]), number_to_json(way[1])});
  if (s.found)
    pose = {{"distance", s.distance},
            {"shift", std::vector<double>(s.shift.m, s.shift.m + 3)},
            {"turn", std::vector<double>(s.turn.m, s.turn.m + 3)},
            {"position", std::vector<double>(s.place.r.m, s.place.r.m + 3)},
            {"quaternion", std::vector<double>(s.place.p.m, s.place.p.m + 4)},
            {"limit_mask", s.mask}};
  return {{"pose", pose}, {"along_axes", ways}, {"characteristic_length", s.length}, {"reach", s.reach}};
}

/// Of each leg; empty if none is given.
std::vector<double> read_leg_stiffness(const std::vector<std::string>& words) {
  std::vector<double> out;
  for (const std::string& word : one_per_quantity(words))
    out.push_back(flag_quantity(word, io::kSlidingStiffness, "--leg-stiffness " + word + ": not a stiffness").value);
  if (out.size() == 1) out.assign(platform::kLegs, out[0]);
  if (!out.empty() && out.size() != platform::kLegs)
    throw Error(ExitCode::kUsage, "--leg-stiffness has " + std::to_string(out.size()) + " numbers, not 1 or 6",
                "Give one for all legs, or six.");
  return out;
}

std::string stiffness_lines(const Mat<double, 6, 6>& K) {
  std::string out = "\nstiffness of the platform with elastic legs, (force; moment) per (shift; turn)\n";
  out += "  [N/m, N; N, N m], base axes about C\n";
  double largest = 0;
  for (const double x : K.m) largest = std::max(largest, std::abs(x));
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) out += format(" %12.5g", std::abs(K(i, j)) < 1e-12 * largest ? 0 : K(i, j));
    out += "\n";
  }
  return out;
}

/// What one pose has besides its lengths: the next singular pose, and the stiffness.
void add_single(const PlatformRun& run, const InverseArguments& a, PlatformSummary& s) {
  const double* r = run.rows.pose.position.data();
  const double* p = run.rows.pose.quaternion.data();
  const platform::Place<double> place{{{r[0], r[1], r[2]}}, {{p[0], p[1], p[2], p[3]}}};
  const auto near = platform::nearest_singular_pose(run.platform, place, a.options.characteristic_length);
  s.more["nearest_singular"] = make_json(near);
  s.lines += singular_lines(near);
  const std::vector<double> k = read_leg_stiffness(a.leg_stiffness);
  if (k.empty()) return;
  std::array<double, platform::kLegs> legs;
  std::copy(k.begin(), k.end(), legs.begin());
  const Mat<double, 6, 6> K = platform::stiffness(run.platform, place, legs);
  Json rows = Json::array();
  for (int i = 0; i < 6; ++i) rows.push_back(std::vector<double>(K.m + 6 * i, K.m + 6 * (i + 1)));
  s.more["stiffness"] = rows;
  s.lines += stiffness_lines(K);
}

void run_inverse(const InverseArguments& a) {
  if (!a.leg_stiffness.empty() && !a.common.input.empty())
    throw Error(ExitCode::kUsage, "both a file of samples and --leg-stiffness", "Give --at for one pose.");
  const PlatformRun run = begin_platform(a.common, {.pose = true});
  platform::InverseOptions options = a.options;
  // One pose: all outputs are shown. A file: the requested outputs are written.
  if (run.single) options.limits = options.conditioning = true;
  PlatformSummary s;
  const auto r = compute_rows(a.common, "ik", s, [&] {
    return platform::inverse_kinematics(run.rows.platforms, run.rows.pose, {run.rows.velocity, run.rows.acceleration},
                                        options, run.device);
  });
  if (run.single) {
    s.more["result"] = arrays_json(r);
    s.lines = pose_lines(run.rows.pose, 0) + leg_table(r);
    add_single(run, a, s);
  } else {
    check_inverse(r, s);
  }
  if (!a.common.output.empty()) io::write_platform_results(a.common.output, r, make_attributes(run));
  finish_platform(a.common, run, s);
}

// --- fk

struct ForwardArguments {
  PlatformArguments common;
  platform::ForwardOptions options;
  std::string form = "minimal";
};

/// The guess is the file's poses, or home for all.
platform::Poses make_initial_guess(const PlatformRun& run) {
  if (!run.rows.pose.position.empty()) return run.rows.pose;
  const platform::Place<double> home = platform::home_place(run.platform);
  return {{home.r.m, home.r.m + 3}, {home.p.m, home.p.m + 4}};
}

void check_forward(const platform::ForwardKinematics& r, PlatformSummary& s) {
  double worst = 0, missed = 0, sum = 0;
  int most = 0;
  for (std::size_t i = 0; i < r.status.size(); ++i) {
    if (!is_solved(r.status[i])) {
      missed = std::fmax(missed, r.residual[i]);  // NaN of an invalid row does not count
      continue;
    }
    worst = std::max(worst, r.residual[i]);
    most = std::max(most, r.iterations[i]);
    sum += r.iterations[i];
  }
  const double mean = s.solved > 0 ? sum / static_cast<double>(s.solved) : 0;
  s.more["worst_residual"] = worst;
  s.more["mean_iterations"] = mean;
  s.more["most_iterations"] = most;
  s.more["unsolved_residual"] = missed;
  if (s.solved > 0)
    s.lines += summary_line("residual", format("%.3g m at worst", worst)) +
               summary_line("iterations", format("%.3g on average, at most %d", mean, most));
  if (missed > 0) s.lines += summary_line("unsolved", format("lengths missed by %.3g m at worst", missed));
}

/// Notes on one pose: the limits that it violates, and a remedy if it misses the lengths.
std::string pose_notes(const PlatformRun& run, const platform::ForwardKinematics& r) {
  if (r.status[0] == PoseStatus::kStalled || r.status[0] == PoseStatus::kIterationLimit)
    return summary_line("pose", "has other lengths; `garra platform modes` searches from everywhere");
  if (r.status[0] == PoseStatus::kInvalidInput) return "";
  platform::InverseOptions limits;
  limits.limits = true;
  const std::uint32_t mask = platform::inverse_kinematics(run.rows.platforms, r.pose, {}, limits).mask[0];
  return summary_line("limits", violations(mask));
}

void run_forward(const ForwardArguments& a) {
  const PlatformRun run = begin_platform(a.common, {.lengths = true});
  const platform::Poses guess = make_initial_guess(run);
  platform::ForwardOptions options = a.options;
  // For one sample the assembly mode is proven: the cost is small.
  if (run.single && a.form == "minimal") options.certify = options.certify_mode = true;
  PlatformSummary s;
  const auto r = compute_rows(a.common, "fk", s, [&] {
    const auto& rows = run.rows;
    return a.form == "full"
               ? platform::forward_kinematics_full(rows.platforms, rows.lengths, guess, options, run.device)
               : platform::forward_kinematics(rows.platforms, rows.lengths, guess, options, run.device);
  });
  check_forward(r, s);
  if (run.single) {
    Json result = {{"position", r.pose.position},
                   {"quaternion", r.pose.quaternion},
                   {"iterations", r.iterations[0]},
                   {"residual", r.residual[0]},
                   {"sigma_min", r.sigma_min.empty() ? Json(nullptr) : Json(r.sigma_min[0])}};
    if (!r.uniqueness.empty()) result["uniqueness"] = r.uniqueness[0];
    s.more["result"] = result;
    s.lines = pose_lines(r.pose, 0) + pose_notes(run, r) + s.lines;
    if (!r.uniqueness.empty() && r.uniqueness[0] > 0)
      s.lines +=
          summary_line("unique", format("within %.4g m (turns times the characteristic length)", r.uniqueness[0]));
  }
  if (!a.common.output.empty())
    io::write_platform_results(a.common.output, r, make_attributes(run, {{"form", a.form}}));
  finish_platform(a.common, run, s);
}

void add_forward_options(Command command, platform::ForwardOptions& options) {
  command.add_option("--tolerance", options.tolerance, "converged: every |length - given| <= this [m]",
                     positive_number());
  command.add_option("--max-iterations", options.max_iterations, "per sample", above_zero());
  command.add_option("--near-singular", options.near_singular, "near singular: smallest singular value <= this",
                     positive_number());
  add_length_scale(command, options.characteristic_length);
}

// --- modes

struct ModesArguments {
  PlatformArguments common;
  platform::ModeOptions options;
  platform::PathSearch search;
  bool ignore_limits = false;
  bool reach = false;
};

std::string mode_table(const platform::AssemblyModes& r, const std::vector<platform::Reach>& reach) {
  std::string out =
      "\nmode        x         y         z    roll   pitch     yaw  det J  sigma min  starts  limits  from home\n";
  out += "          [m]       [m]       [m]   [deg]   [deg]   [deg]\n";
  for (std::size_t i = 0; i < r.status.size(); ++i) {
    const double* x = r.pose.position.data() + 3 * i;
    const Vec3<double> rpy = to_degrees(r.pose.quaternion.data() + 4 * i);
    out += format("%3d  %8.5f  %8.5f  %8.5f %7.2f %7.2f %7.2f  %s  %9.4g  %6lld  %-6s  %s\n", static_cast<int>(i),
                  without_noise(x[0]), without_noise(x[1]), without_noise(x[2]), rpy[0], rpy[1], rpy[2],
                  r.determinant[i] < 0 ? "  -  " : "  +  ", r.sigma_min[i], static_cast<long long>(r.found[i]),
                  r.mask[i] == 0 ? "kept" : "broken", words(name_of(reach[i])).c_str());
  }
  return out + "\n";
}

Json make_json(const platform::AssemblyModes& r, const std::vector<platform::Reach>& reach) {
  Json modes = Json::array();
  for (std::size_t i = 0; i < r.status.size(); ++i) {
    const double* x = r.pose.position.data() + 3 * i;
    const double* p = r.pose.quaternion.data() + 4 * i;
    modes.push_back({{"position", std::vector<double>(x, x + 3)},
                     {"quaternion", std::vector<double>(p, p + 4)},
                     {"status", to_string(r.status[i])},
                     {"residual", r.residual[i]},
                     {"determinant", r.determinant[i]},
                     {"sigma_min", r.sigma_min[i]},
                     {"uniqueness", r.uniqueness[i]},
                     {"limit_mask", r.mask[i]},
                     {"found", r.found[i]},
                     {"from_home", name_of(reach[i])}});
  }
  return modes;
}

/// How many modes the samples have: "1: 3, 4: 97".
void check_modes(const platform::AssemblyModes& r, int often, PlatformSummary& s) {
  constexpr std::size_t kMostIsolated = 40;  // complex ones included (docs/theory/platform.md)
  std::int64_t families = 0;
  std::vector<std::int64_t> samples_with;
  for (std::size_t i = 0; i + 1 < r.first.size(); ++i) {
    const auto modes = static_cast<std::size_t>(r.first[i + 1] - r.first[i]);
    if (samples_with.size() <= modes) samples_with.resize(modes + 1);
    ++samples_with[modes];
    families += modes > kMostIsolated;
  }
  Json histogram = Json::object();
  std::string text;
  for (std::size_t modes = 0; modes < samples_with.size(); ++modes) {
    if (samples_with[modes] == 0) continue;
    histogram[std::to_string(modes)] = samples_with[modes];
    text += (text.empty() ? "" : ", ") + std::to_string(samples_with[modes]) + " with " + std::to_string(modes);
  }
  s.more["modes"] = r.status.size();
  s.more["samples_by_modes"] = histogram;
  const double missing = std::accumulate(r.missing.begin(), r.missing.end(), 0.0);
  const std::int64_t starts = std::accumulate(r.starts.begin(), r.starts.end(), std::int64_t{0}),
                     rarest = r.found.empty() ? 0 : *std::min_element(r.found.begin(), r.found.end());
  s.more["starts"] = starts;
  s.more["rarest_found"] = rarest;
  s.more["estimated_missing"] = families > 0 ? Json(nullptr) : Json(missing);
  s.more["samples_with_families"] = families;
  s.lines += summary_line("modes",
                          "at least " + std::to_string(r.status.size()) + (s.samples == 1 ? "" : "; samples: " + text));
  s.lines += summary_line("search", std::to_string(starts) + " starts, the rarest mode found " +
                                        std::to_string(rarest) + (rarest == 1 ? " time" : " times"));
  if (families > 0)
    s.lines +=
        summary_line("family", std::to_string(families) + (families == 1 ? " sample has" : " samples have") +
                                   " more poses than the 40 that can be isolated: the platform moves there although "
                                   "its legs are locked");
  else if (rarest < often && rarest > 0)
    s.lines +=
        summary_line("missing", format("about %.0f more by Chao's estimate; --starts finds rarer ones", missing));
}

/// How many modes a path from home leads to.
void check_reach(const std::vector<platform::Reach>& reach, PlatformSummary& s) {
  std::string text;
  Json counts = Json::object();
  for (std::size_t k = 0; k < names_of(platform::Reach{}).size(); ++k) {
    const auto kind = static_cast<platform::Reach>(k);
    const std::int64_t count = std::count(reach.begin(), reach.end(), kind);
    counts[name_of(kind)] = count;
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + words(name_of(kind));
  }
  s.more["from_home"] = counts;
  s.lines += summary_line("from home", text);
}

/// Counts samples: one without any mode is not solved; a mode that is not certified counts by its own name.
void count_modes(const platform::AssemblyModes& r, PlatformSummary& s) {
  s.samples = static_cast<std::int64_t>(r.first.size()) - 1;
  std::int64_t none = 0, doubtful = 0;
  for (std::size_t i = 0; i + 1 < r.first.size(); ++i) {
    const auto begin = r.status.begin() + r.first[i], end = r.status.begin() + r.first[i + 1];
    if (begin == end)
      ++none;
    else if (!std::all_of(begin, end, [](PoseStatus x) { return x == PoseStatus::kCertified; }))
      ++doubtful;
  }
  s.solved = s.samples - none;
  s.by_status = {
      {"all_certified", s.samples - none - doubtful}, {"some_not_certified", doubtful}, {"none_found", none}};
}

void run_modes(const ModesArguments& a) {
  PlatformRun run = begin_platform(a.common, {.lengths = !a.common.lengths.empty() || !a.common.input.empty()});
  if (run.rows.lengths.empty())
    run.rows.lengths = platform::inverse_kinematics(run.rows.platforms, run.rows.pose, {}).lengths;
  platform::AssemblyModes r;
  PlatformSummary s;
  s.command = "modes";
  s.seconds = timed(a.common,
                    [&] { r = platform::assembly_modes(run.rows.platforms, run.rows.lengths, a.options, run.device); });
  count_modes(r, s);
  check_modes(r, a.options.often, s);
  std::vector<platform::Reach> reach;
  if (run.single || a.reach) {
    platform::PathSearch search = a.search;
    search.limits = !a.ignore_limits;
    search.near_singular = a.options.forward.near_singular;
    search.characteristic_length = a.options.forward.characteristic_length;
    reach = platform::reach_of_modes(run.rows.platforms, r, search, run.device);
    check_reach(reach, s);
  }
  if (run.single) {
    s.more["result"] = make_json(r, reach);
    s.lines += mode_table(r, reach);
  }
  if (!a.common.output.empty())
    io::write_platform_results(
        a.common.output, r, reach,
        make_attributes(run, {{"starts", std::to_string(a.options.starts)}, {"seed", std::to_string(a.options.seed)}}));
  finish_platform(a.common, run, s);
}

}  // namespace

void add_platform_inverse_command(Command platform) {
  Command command = platform.add_subcommand("ik", "Leg lengths, frames, limits and conditioning of poses");
  const auto a = std::make_shared<InverseArguments>();
  add_platform_options(command, a->common);
  add_tool(command, a->common);
  add_six(command, "--velocity", a->common.velocity, "of one sample: v [m/s], angular velocity [rad/s], base axes");
  add_six(command, "--acceleration", a->common.acceleration, "of one sample, base axes; needs --velocity");
  command.add_flag("--frames", a->options.frames, "leg vectors, frames, Euler angles, joint angles");
  command.add_flag("--limits", a->options.limits, "margins to stroke, cones and collision, and a mask");
  command.add_flag("--conditioning", a->options.conditioning, "determinant, condition, smallest singular value");
  add_length_scale(command, a->options.characteristic_length);
  command
      .add_option("--leg-stiffness", a->leg_stiffness,
                  "of one sample: along each leg [N/m], one number or six; adds the stiffness of the platform")
      .delimiter(',')
      .type_name("K,...");
  command.footer(
      "Examples:\n"
      "  garra platform ik trepa_like --at \"0.1 0 1.3, 0 10deg 0\"\n"
      "  garra platform ik trepa_like --tool \"0 0 0.2\" --at \"0.1 0 1.5, 0 10deg 0\"\n"
      "  garra platform ik trepa_like --leg-stiffness 2e7\n"
      "  garra platform ik trepa_like poses.h5 -o legs.h5 --limits --conditioning");
  command.callback([a] { run_inverse(*a); });
}

void add_platform_forward_command(Command platform) {
  Command command = platform.add_subcommand("fk", "Poses from leg lengths, by Newton's method from a guess");
  const auto a = std::make_shared<ForwardArguments>();
  add_platform_options(command, a->common);
  add_tool(command, a->common);
  add_six(command, "--lengths", a->common.lengths, "of one sample [m]; --at is then the guess");
  add_forward_options(command, a->options);
  command.add_flag("--certify", a->options.certify, "prove that the pose is the one next to the guess");
  command.add_flag("--certify-mode", a->options.certify_mode, "follow the lengths from the guess in certified steps")
      .needs("--certify");
  command.add_option("--form", a->form, "minimal (6 unknowns) or full (the paper's 91 coordinates)",
                     one_of({"minimal", "full"}));
  command.footer(
      "Examples:\n"
      "  garra platform fk trepa_like --lengths \"1.25 1.25 1.2 1.2 1.25 1.25\" --certify\n"
      "  garra platform fk trepa_like lengths.h5 -o poses.h5 --format json");
  command.callback([a] { run_forward(*a); });
}

void add_platform_modes_command(Command platform) {
  Command command = platform.add_subcommand("modes", "Assembly modes: all poses that have the given lengths");
  const auto a = std::make_shared<ModesArguments>();
  add_platform_options(command, a->common);
  add_tool(command, a->common);
  add_six(command, "--lengths", a->common.lengths, "of one sample [m]; not given: those of the pose --at");
  add_forward_options(command, a->options.forward);
  command.add_option("--starts", a->options.starts,
                     "random poses to start from at first, per sample; doubled until every mode was found 8 times",
                     above_zero());
  command.add_option("--seed", a->options.seed, "of the starts").transform(seed()).capture_default_str();
  command.add_flag("--reach", a->reach, "of samples from a file: whether a path from home leads to each mode");
  command.add_flag("--ignore-limits", a->ignore_limits, "of the joints, for paths from home");
  command.add_option("--tries", a->search.tries, "random poses of the search for a path to each mode", above_zero());
  command.add_option("--same", a->options.same, "two poses no farther apart are one [m]", positive_number());
  command.footer(
      "Examples:\n"
      "  garra platform modes trepa_like\n"
      "  garra platform modes irregular lengths.h5 -o modes.h5 --starts 2000");
  command.callback([a] { run_modes(*a); });
}

}  // namespace garra::cli
