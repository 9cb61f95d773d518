// `garra replay RANKING.h5 --grasp G --sample I`: recomputes one sample of one grasp.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files/hdf5.hpp"
#include "base/files/hdf5_attribute.hpp"
#include "base/files/text_file.hpp"
#include "cli/answer_parts.hpp"
#include "cli/samples/replay_file.hpp"
#include "cli/terminal.hpp"
#include "garra/core/error.hpp"
#include "garra/io/grasp_set.hpp"
#include "grasp/command/rank.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// Inputs of a ranking, from its attributes.
struct Ranked {
  std::string set;  ///< its file
  grasp::SetStudy study;
  std::vector<std::int64_t> rank;
};

std::string needed(const std::string& file, const char* name) {
  if (auto text = io::root_attribute(file, name)) return *text;
  throw Error(ExitCode::kInvalidFile, file + ": attribute " + name + " is missing",
              "Give a ranking that `garra grasp rank SET.h5 -o RANKING.h5` of this version wrote.");
}

/// The set at its old path, or beside the ranking; another set would give other samples.
std::string find_set(const std::string& file) {
  const fs::path named = needed(file, "set");
  const std::string checksum = needed(file, "set_checksum");
  for (const fs::path& place : {named, fs::path(file).parent_path() / named.filename()}) {
    std::error_code ignored;
    if (fs::is_regular_file(place, ignored) && "crc32:" + io::file_checksum(place.string()) == checksum)
      return place.string();
  }
  throw Error(ExitCode::kInputOutput, file + ": " + named.string() + " is gone, or has changed since it was ranked",
              "Put the set back, or rank it again.");
}

Ranked read(const std::string& file) {
  std::vector<std::string> overrides;
  std::istringstream lines(needed(file, "study_overrides"));
  for (std::string line; std::getline(lines, line);) overrides.push_back(line);
  return {find_set(file), io::read_set_study_text(needed(file, "study_toml"), file + ": study_toml", overrides),
          io::Hdf5Reader(file, "A ranking has rank [g].").integers("rank")};
}

template <int N>
Json to_list(const Mat<double, N, 1>& v) {
  return std::vector<double>(v.m, v.m + N);
}

Json contact_to_json(const grasp::SetReplay& r, std::size_t j) {
  const auto three = [j](const std::vector<double>& all) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(3 * j);
    return std::vector<double>(at, at + 3);
  };
  Json out = {{"point", three(r.point)}, {"normal", three(r.normal)}, {"friction", r.friction[j]}};
  out["force"] = three(r.force);
  if (!r.torsion.empty()) {
    out["torsion_radius"] = r.torsion_radius[j];
    out["torsion"] = r.torsion[j];
  }
  if (!r.command.empty()) out["command"] = three(r.command);
  constexpr const char* kStates[] = {"stick", "slip", "break"};
  if (!r.state.empty() && !std::isnan(r.force[3 * j])) out["state"] = kStates[r.state[j]];
  return out;
}

Json make_json(const grasp::SetReplay& r, std::int64_t grasp, std::int64_t sample) {
  Json out = {{"grasp", grasp},
              {"sample", sample},
              {"hand", names_of(r.hand)[static_cast<std::size_t>(r.hand)]},
              {"outcome", to_string(r.outcome)}};
  if (r.load_cases > 1) out["load_case"] = r.load_case;
  for (const auto& [name, value] : r.inputs) out["inputs"][name] = value;
  out["mass"] = r.mass;
  out["com"] = to_list(r.com);
  out["gravity"] = to_list(r.gravity);
  out["wrench"] = to_list(r.wrench);
  for (std::size_t j = 0; j < r.friction.size(); ++j) out["contacts"].push_back(contact_to_json(r, j));
  if (r.hand == grasp::Hand::kIdeal && r.outcome == grasp::Outcome::kNotResisted) out["against"] = to_list(r.against);
  out["residual"] = r.residual;
  out["required_friction"] = r.required_friction;
  out["resisted_force_radius"] = r.resisted_force_radius;
  if (r.hand == grasp::Hand::kIdeal && r.resisted_force_radius > 0) out["least_push"] = to_list(r.least_push);
  if (r.hand == grasp::Hand::kIdeal) return out;
  out["friction_margin"] = r.margin;
  out["imbalance"] = r.imbalance;
  return out;
}

std::string table_row(const std::string& name, const std::vector<double>& numbers, const std::string& unit) {
  std::string line = "  " + name;
  line.resize(std::max<std::size_t>(line.size() + 1, 24), ' ');
  for (const double x : numbers) line += format(" %11.5g", x);
  return line + " " + unit + "\n";
}

std::string to_text(const grasp::SetReplay& r, std::int64_t grasp, std::int64_t sample) {
  const std::string of =
      r.load_cases > 1 ? ", load case " + std::to_string(r.load_case) + " of 0 to " + std::to_string(r.load_cases - 1)
                       : "";
  std::string out = "Grasp " + std::to_string(grasp) + ", sample " + std::to_string(sample) + of + ": " +
                    words(to_string(r.outcome)) + " (the hand is " +
                    names_of(r.hand)[static_cast<std::size_t>(r.hand)] + ")\n";
  if (!r.inputs.empty()) out += "\nDrawn\n";
  for (const auto& [name, value] : r.inputs) out += table_row(name, {value}, "");
  out += "\nTo be held, about the center of mass\n";
  out += table_row("force", {r.wrench[0], r.wrench[1], r.wrench[2]}, "N");
  out += table_row("moment", {r.wrench[3], r.wrench[4], r.wrench[5]}, "N m");
  out += "\nContacts: forces (n, t, o) [N]\n";
  for (std::size_t j = 0; j < r.friction.size(); ++j) {
    const Json c = contact_to_json(r, j);
    const std::string state = c.contains("state") ? ", " + c["state"].get<std::string>() : "";
    out += table_row("contact " + std::to_string(j), c["force"], "friction " + format("%.4g", r.friction[j]) + state);
    if (!r.torsion.empty())
      out +=
          table_row("  about the normal", {r.torsion[j]}, "N m, radius " + format("%.4g", r.torsion_radius[j]) + " m");
    if (c.contains("command")) out += table_row("  commanded", c["command"], "");
  }
  if (r.hand == grasp::Hand::kIdeal && r.outcome == grasp::Outcome::kNotResisted) {
    out += "\nNo forces go along with this wrench (moment over the grasp's length)\n";
    out += table_row("", std::vector<double>(r.against.m, r.against.m + 6), "");
  }
  out += "\n";
  out += table_row("friction needed", {r.required_friction}, "");
  out += table_row("resisted force radius", {r.resisted_force_radius}, "N");
  if (r.hand == grasp::Hand::kIdeal && r.resisted_force_radius > 0) {
    const double* push = r.least_push.m;
    out += table_row("gives way where pushed", {push[0], push[1], push[2]}, "N");
    out += table_row("and turned", {push[3], push[4], push[5]}, "N m");
  }
  if (r.hand != grasp::Hand::kIdeal) {
    out += table_row("friction margin", {r.margin}, "");
    out += table_row("imbalance", {r.imbalance}, "");
  }
  return out + table_row("residual", {r.residual}, "");
}

void replay(const FileReplay& a) {
  const Ranked ranked = read(a.file);
  const auto best = std::find(ranked.rank.begin(), ranked.rank.end(), 1);
  if (a.item < 0 && best == ranked.rank.end())
    throw Error(ExitCode::kUsage, a.file + ": no grasp has a rank", "Its column `status` says why.");
  const std::int64_t grasp = a.item < 0 ? best - ranked.rank.begin() : a.item;
  const std::int64_t sample = std::max<std::int64_t>(a.sample, 0);
  const grasp::SetReplay r = grasp::replay(io::SetFile(ranked.set), ranked.study, grasp, sample);
  const std::string out =
      a.format == "json" ? make_json(r, grasp, sample).dump(1) + "\n" : printable(to_text(r, grasp, sample));
  std::fputs(out.c_str(), stdout);
}

const KnownFileReplay kKnown(replay, kRankingFile);

}  // namespace
}  // namespace garra::cli
