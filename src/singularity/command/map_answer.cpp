// The answer of a map of singularities for a terminal.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/files/suggest.hpp"
#include "cli/answer_parts.hpp"
#include "singularity/command/answers.hpp"

namespace garra::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxSets = 8;
constexpr int kNameWidth = 26;  ///< "joints 1, 2, 3, 4 and 5"

/// "joint 4", "joints 3 and 5"
std::string joints_text(const Json& joints) {
  std::string out = joints.size() == 1 ? "joint " : "joints ";
  for (std::size_t k = 0; k < joints.size(); ++k)
    out += (k == 0 ? "" : k + 1 == joints.size() ? " and " : ", ") + std::to_string(joints[k].get<int>());
  return out;
}

/// "joint_3" and "Joint 3" say no more than the number.
bool is_plain(const std::string& name, std::size_t number) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters == "joint" + std::to_string(number);
}

/// "0 waist, 1 shoulder": of the joints that have names of their own.
std::string legend(const Json& robot) {
  std::string out;
  for (std::size_t k = 0; k < robot["names"].size(); ++k) {
    const auto name = robot["names"][k].get<std::string>();
    if (!is_plain(name, k)) out += (out.empty() ? "  Joints: " : ", ") + std::to_string(k) + " " + name;
  }
  return out.empty() ? "" : out + "\n";
}

std::string sampled(const Json& s) {
  const std::string kind = s["sampling"]["kind"];
  const char* what = kind == "random" ? " random configurations"
                     : kind == "even" ? " evenly spread configurations"
                     : kind == "grid" ? " configurations, the nodes of a grid"
                     : kind == "mixed"
                         ? " configurations, one drawn at each node of a grid"
                         : " searches for joint values, several for each node of a grid of tool positions";
  std::string out = "  " + std::to_string(s["samples"].get<std::int64_t>()) + what;
  if (s["stopped_by"] == "half_width") out += ", stopped at the asked half width";
  return out + format(", seed %llu\n", s["seed"].get<unsigned long long>());
}

/// The estimate and what it is of.
std::string headline_lines(const Json& s) {
  std::string out =
      estimate_line("near", s["p_near"]) + sampled(s) +
      format("  near: some motion of the tool needs at least %.3g times the joint speed of the easiest one\n",
             1 / s["near"].get<double>());
  const int rank = s["robot"]["generic_rank"];
  if (rank == 6) return out;
  out += format("  its tool has %d freedoms, and turns count: near is not where the point alone loses a direction\n",
                rank);
  // Runs of older versions have no task.
  const Json task = s["sampling"].value("task", Json());
  if (task.is_null()) return out;
  return out + (task["orientation"].is_null() ? "  positions only are searched: no orientation is given\n"
                                              : "  such an arm reaches few poses of a given orientation\n");
}

std::string map_outcomes(const Json& s) {
  std::string out = "\nOutcomes\n";
  for (const auto& [name, count] : s["outcomes"].items())
    if (count > 0 || name == "near" || name == "singular") out += counted(words(name), count, s["samples"], kNameWidth);
  return out;
}

/// Whether cubes around the targets of a task grid have room between them.
bool is_sparse(const Json& task, double side) {
  for (std::size_t k = 0; !task.is_null() && k < 3; ++k)
    if (const int gaps = task["points"][k].get<int>() - 1;
        gaps > 0 && task["high"][k].get<double>() - task["low"][k].get<double>() > (1 + 1e-9) * gaps * side)
      return true;
  return false;
}

/// Where in the cell: cubes by their share of near samples, and shells about the first joint's axis.
std::string cell(const Json& voxels, const Json& task, int point_rank) {
  // Runs of older versions have none.
  if (voxels.is_null() || !voxels.contains("cell") || voxels["cell"]["cubes"] == 0) return "";
  const Json& cell = voxels["cell"];
  const auto cubes = cell["cubes"].get<double>(), occupied = voxels["occupied"].get<double>();
  const double side = voxels["side"];
  const std::string volume =
      is_sparse(task, side) || point_rank < 3 ? "" : format(" (%.3g m^3)", cubes * side * side * side);
  std::string out =
      format("\nWhere in the cell: %.0f%s of %.0f reached cubes of %.3g m, those with 8 samples or more\n", cubes,
             volume.c_str(), occupied, side);
  if (point_rank < 3)
    out += format("  the tool point stays on a %s: these cubes have no volume in common with it\n",
                  point_rank == 2 ? "surface" : "curve");
  const double each = cell["samples"].get<double>() / occupied;
  // With 100 samples a share of a tenth is known to 0.03.
  if (each < 100)
    out += format("  %.2g samples in a cube on average: shares of cubes change with their number\n", each);
  out += counted("at least half of it near", cell["half"], cubes, kNameWidth);
  out += counted("at least a tenth near", cell["tenth"], cubes, kNameWidth);
  if (cell["near"] == 0) return out;
  const Json& worst = cell["worst"];
  out += format("  most often near around (%.3g, %.3g, %.3g) m: %lld of %lld samples\n",
                worst["center"][0].get<double>(), worst["center"][1].get<double>(), worst["center"][2].get<double>(),
                worst["near"].get<long long>(), worst["samples"].get<long long>());
  if (cell["by_distance"].empty()) return out;
  out += "  near samples by the distance of their cube's middle from the axis of joint 0\n";
  for (const Json& shell : cell["by_distance"])
    out += counted(format("  %.3g to %.3g m", shell["low"].get<double>(), shell["high"].get<double>()), shell["near"],
                   std::max(1.0, shell["samples"].get<double>()), kNameWidth);
  return out;
}

std::string dependent_text(const Json& near, const Json& robot) {
  const std::int64_t converged = near["converged"];
  std::string out = format("\nDependent joints at the singularity next to each of %lld near samples\n",
                           static_cast<long long>(converged));
  const Json& sets = near["dependent_joints"];
  for (std::size_t k = 0; k < std::min(kMaxSets, sets.size()); ++k)
    out += counted(joints_text(sets[k]["joints"]), sets[k]["count"], static_cast<double>(converged), kNameWidth);
  if (sets.size() > kMaxSets) out += format("  and %zu other sets; summary.json has all\n", sets.size() - kMaxSets);
  std::string types;
  for (std::size_t k = 0; k < std::min(kMaxSets, sets.size()); ++k)
    if (const std::string type = sets[k].value("type", ""); !type.empty())
      types += (types.empty() ? "" : "; ") + type + ": " + joints_text(sets[k]["joints"]);
  if (!types.empty()) out += "  type of each set's example: " + types + "\n";
  return out + legend(robot);
}

std::string escapes(const Json& near) {
  struct Line {
    std::string name;
    std::int64_t count;
  };
  std::vector<Line> lines;
  for (const auto& joint : near["escape"])
    for (const char* order : {"order_1", "order_2"})
      if (const std::int64_t n = joint[order]; n > 0)
        lines.push_back({"joint " + std::to_string(joint["joint"].get<int>()) +
                             (order == std::string("order_2") ? ", second order" : ""),
                         n});
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.count > b.count; });
  if (near["no_single_joint"] > 0) lines.push_back({"no joint alone", near["no_single_joint"]});
  std::string out = "\nJoint that leads out of it fastest\n";
  bool second = false;
  for (const Line& line : lines) {
    out += counted(line.name, line.count, near["converged"], kNameWidth);
    second |= line.name.find("second") != std::string::npos;
  }
  if (second) out += "  second order: what is regained grows with the square of the step, not with the step\n";
  return out;
}

std::string quantile_line(const char* name, const Json& q, double factor, const char* unit) {
  std::string out = format("%-28s", name);
  for (const char* p : {"0.05", "0.5", "0.95"})
    out += q[p].is_null() ? format(" %10s", "-") : format(" %10.3g", factor * q[p].get<double>());
  return out + (*unit != '\0' ? std::string(" ") + unit : "") + "\n";
}

/// Quantiles, and what else the search has found.
std::string measures(const Json& s) {
  std::string out = format("\n%-28s %10s %10s %10s\n", "", "5 %", "median", "95 %");
  out += quantile_line("Smallest singular value", s["quantiles"]["sigma_min"], 1, "");
  out += quantile_line("Condition number", s["quantiles"]["condition"], 1, "");
  out +=
      "  singular value: tool speed at unit joint speed in the hardest direction; condition number: fastest by "
      "slowest\n";
  const Json& near = s["nearest"];
  if (near.is_null() || near["converged"] == 0) return out;
  out += quantile_line("Near samples: joint motion", near["distance"]["quantiles"], 180 / M_PI, "deg");
  return out + "  from each of them to the singularity next to it\n";
}

std::string remarks(const Json& s) {
  const Json& near = s["nearest"];
  std::string out;
  if (!near.is_null()) {
    for (const auto& lost : near["lost_freedoms"])
      if (lost["lost"] > 1)
        out += format("Several at once    %lld of these singularities cost %d freedoms\n",
                      lost["count"].get<long long>(), lost["lost"].get<int>());
    if (near["diverged"] > 0)
      out += format(
          "Not found          %lld near samples have no singularity within 1 rad, or the search ended without one\n",
          near["diverged"].get<long long>());
    if (near["outside_range"] > 0)
      out += format("Beyond the ranges  %lld of these singularities lie outside of the joint ranges\n",
                    near["outside_range"].get<long long>());
  }
  if (s.contains("single_precision")) {
    const Json& single = s["single_precision"];
    const Json& error = single["largest_error"];
    out += format("Single precision   of %lld samples checked in double, %lld near ones missed, %lld wrongly near",
                  single["rechecked"].get<long long>(), single["missed"].get<long long>(),
                  single["false_near"].get<long long>());
    out += error.is_null() ? "\n" : format("; error at most %.1e\n", error.get<double>());
  }
  return out;
}

}  // namespace

std::string singularity_map_answer_text(const Json& s, const Json& manifest, const Look& look) {
  const Json& near = s["nearest"];
  std::string out = heading(s, "Singularities of the " + s["robot"]["name"].get<std::string>());
  out += headline_lines(s) + map_outcomes(s) +
         cell(s["voxels"], s["sampling"].value("task", Json()), s["robot"].value("point_rank", 3));
  if (!near.is_null() && near["converged"] > 0) out += dependent_text(near, s["robot"]) + escapes(near);
  out += measures(s) + "\n" + remarks(s) + speed_line(manifest);
  if (look.sample >= 0)
    out += "Worst sample       garra replay " + io::shell_word(look.run) + " --sample " + std::to_string(look.sample) +
           "\n";
  return out;
}

}  // namespace garra::cli
