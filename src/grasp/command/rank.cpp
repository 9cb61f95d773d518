// `garra grasp rank`: reads a set of candidate grasps, computes the probability that each holds.
#include "grasp/command/rank.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ranges>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "base/files/text_file.hpp"
#include "cli/answer_parts.hpp"
#include "cli/flags.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/terminal.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"
#include "garra/io/grasp_set.hpp"
#include "study/summary.hpp"

namespace garra::cli {
namespace {

using grasp::GraspStatus;
using grasp::Ranking;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct RankArguments : BatchFlags {
  std::string set, study, output, hand, method, effort;
  std::vector<std::string> overrides;
  std::int64_t best = 0;
  double confidence = 0;
  bool no_report = false;
};

/// P(held) of a pose over its draws (docs/theory/grasp-outcomes.md).
struct PoseAnswer {
  double number = 0;  ///< `pose_number` of its grasps
  std::int64_t draws = 0;
  double p_held = 0;
};

/// A ranking with the words for its answer.
struct RankAnswer {
  Ranking ranking;
  std::vector<PoseAnswer> poses;  ///< the best first; none where no pose has several draws
  grasp::SetStudy study;
  double seconds = 0;
  std::string set, device, output;
  std::string page;  ///< of the ranking; "": none
};

constexpr std::size_t kShown = 10;

/// The first grasps of the ranking, best first.
std::vector<std::size_t> choose_shown(const Ranking& r) {
  std::vector<std::size_t> order;
  for (std::size_t g = 0; g < r.rank.size(); ++g)
    if (r.rank[g] > 0) order.push_back(g);
  const std::size_t n = std::min(kShown, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(),
                    [&](std::size_t a, std::size_t b) { return r.rank[a] < r.rank[b]; });
  order.resize(n);
  return order;
}

std::int64_t count(const Ranking& r, GraspStatus status) {
  return std::count(r.status.begin(), r.status.end(), status);
}
std::int64_t unsolved(const Ranking& r) {
  std::int64_t sum = 0;
  for (const std::int64_t n : r.unsolved) sum += n;
  return sum;
}

/// "0.620", "5e-05", or "none" if no friction suffices.
std::string friction(double mu) {
  if (std::isinf(mu)) return "none";
  return format(mu > 0 && mu < 5e-4 ? "%.0e" : "%.3f", mu);
}

std::int64_t drawn(const Ranking& r) { return std::accumulate(r.samples.begin(), r.samples.end(), std::int64_t{0}); }

/// Result of the search for the best grasps.
std::string race(const RankAnswer& a) {
  const Ranking& r = a.ranking;
  const std::int64_t most = *std::max_element(r.samples.begin(), r.samples.end());
  const auto left = std::count(r.samples.begin(), r.samples.end(), most);
  const std::string confidence = format("%g %%", 100 * a.study.confidence);
  if (r.decided)
    return "\nThe best " + std::to_string(a.study.best) + " are found: with a confidence of " + confidence +
           " none of the true ones\nwas given up. Intervals hold at any time.\n";
  return "\nNot decided within these samples: " + std::to_string(left) + " grasps are left, among which with a\n" +
         "confidence of " + confidence + " the true best " + std::to_string(a.study.best) + " are.\n";
}

/// Number of grasps with the P(held) of the best.
std::int64_t tied(const Ranking& r) {
  const auto best = std::find(r.rank.begin(), r.rank.end(), 1);
  if (best == r.rank.end()) return 0;
  const double p = r.p_held[static_cast<std::size_t>(best - r.rank.begin())];
  return std::count(r.p_held.begin(), r.p_held.end(), p);
}

bool has_radius(const Ranking& r) {
  return std::any_of(r.resisted_force_radius.begin(), r.resisted_force_radius.end(),
                     [](double x) { return !std::isnan(x); });
}

/// A set that notes the pose of each grasp while it is ranked.
struct SetOfPoses final : grasp::SetSource {
  explicit SetOfPoses(const grasp::SetSource& its) : set(its) {}
  [[nodiscard]] std::int64_t count() const override { return set.count(); }
  [[nodiscard]] grasp::GraspSet read(std::int64_t first, std::int64_t count) const override {
    grasp::GraspSet some = set.read(first, count);
    pose.resize(some.pose_number.empty() ? 0 : static_cast<std::size_t>(set.count()));
    std::ranges::copy(some.pose_number, pose.begin() + (pose.empty() ? 0 : first));
    return some;
  }

  const grasp::SetSource& set;
  mutable std::vector<double> pose;  ///< [g], or none
};

/// (h + 1/2) / (n + 1) with h of n samples of all draws held; a draw that is not ranked counts as samples that failed.
std::vector<PoseAnswer> pool_draws(const std::vector<double>& pose, const Ranking& r) {
  std::map<double, PoseAnswer> all;
  for (std::size_t g = 0; g < pose.size(); ++g) {
    if (r.status[g] == GraspStatus::kLoadCase) continue;
    PoseAnswer& its = all[pose[g]];
    its.number = pose[g];
    ++its.draws;
    if (!std::isnan(r.p_held[g])) its.p_held += r.p_held[g];
  }
  std::vector<PoseAnswer> out;
  for (const auto& [number, its] : all) out.push_back(its);
  if (std::ranges::all_of(out, [](const PoseAnswer& its) { return its.draws == 1; })) return {};
  const auto samples = static_cast<double>(*std::ranges::max_element(r.samples));
  for (PoseAnswer& its : out)
    its.p_held = (its.p_held * samples + 0.5) / (static_cast<double>(its.draws) * samples + 1);
  std::ranges::stable_sort(out, std::greater{}, &PoseAnswer::p_held);
  return out;
}

/// The best poses.
std::string table_of_poses(const std::vector<PoseAnswer>& poses) {
  if (poses.empty()) return {};
  std::string out = "\n  pose  P(held)   draws\n";
  for (const PoseAnswer& its : poses | std::views::take(kShown))
    out += format("%6.0f  %.5f  %6lld\n", its.number, its.p_held, static_cast<long long>(its.draws));
  return out + "Of " + std::to_string(poses.size()) +
         " poses, over all draws of each: (h + 1/2) / (n + 1) with h of n samples held.\n";
}

/// Columns of a CSV: the pose of each grasp, and P(held) of that pose.
std::vector<std::pair<std::string, std::vector<double>>> pose_columns(const std::vector<double>& pose,
                                                                      const std::vector<PoseAnswer>& poses) {
  if (poses.empty()) return {};
  std::map<double, double> p;
  for (const PoseAnswer& its : poses) p[its.number] = its.p_held;
  std::vector<double> of;
  for (const double number : pose) of.push_back(p[number]);
  return {{"pose_number", pose}, {"p_held_of_pose", std::move(of)}};
}

/// Meaning of "held" for this hand.
std::string meaning(const Ranking& r) {
  const char* radius =
      has_radius(r) ? "Resisted force radius: every push shorter than this can be borne, too.\n\n" : "\n";
  if (r.hand == grasp::Hand::kIdeal)
    return std::string(
               "\nHeld: forces inside the friction cones (and below the force limits) balance the\n"
               "wrench. An ideal hand is taken to find them. Friction needed: 5, 50, 95 %.\n") +
           radius;
  return std::string(
             "\nHeld: forces in the cones leave the contacts at rest, can balance the wrench, and\n"
             "the command carries it; the hand is ") +
         names_of(r.hand)[static_cast<std::size_t>(r.hand)] + ". Friction needed: 5, 50, 95 %.\n" + radius;
}

/// Outcomes of all samples of all grasps, for a hand with a command.
std::string ranking_outcomes(const Ranking& r) {
  if (r.hand == grasp::Hand::kIdeal) return {};
  std::array<std::int64_t, grasp::kOutcomes> sums{};
  for (const auto& counts : r.outcomes)
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += counts[k];
  const auto all = static_cast<double>(std::accumulate(sums.begin(), sums.end(), std::int64_t{0}));
  std::string out;
  for (std::size_t k = 0; k < sums.size(); ++k)
    if (sums[k] > 0) out += counted(words(to_string(static_cast<grasp::Outcome>(k))), sums[k], all);
  if (const auto several = std::accumulate(r.non_unique.begin(), r.non_unique.end(), std::int64_t{0}); several > 0)
    out += counted("not unique", several, all) + "    another certified solution moves otherwise; the outcome stays\n";
  return out.empty() ? out : "Outcomes of all samples\n" + out + "\n";
}

std::string table(const Ranking& r) {
  std::string out = "\n  rank    grasp  P(held)   95 % interval     less than the best   friction needed";
  const bool radius = has_radius(r);
  out += radius ? "     resisted force radius [N]\n" : "\n";
  for (const std::size_t g : choose_shown(r)) {
    const auto& mu = r.required_friction[g];
    out += format("%6lld %8zu  %.5f  [%.4f, %.4f]", static_cast<long long>(r.rank[g]), g, r.p_held[g], r.low[g],
                  r.high[g]);
    out += format("  %7.4f +- %.4f", 0.0 - r.difference[g], (r.difference_high[g] - r.difference_low[g]) / 2);
    if (!std::isnan(mu[1])) out += "    " + friction(mu[0]) + " " + friction(mu[1]) + " " + friction(mu[2]);
    if (radius) out += format("   %.3g", r.resisted_force_radius[g]);
    out += "\n";
  }
  return out;
}

std::string format_answer(const RankAnswer& a) {
  const Ranking& r = a.ranking;
  const auto all = std::ssize(r.status);
  const std::int64_t ranked = count(r, GraspStatus::kRanked);
  // A grasp has a row for each of its load cases.
  const std::int64_t first = all - count(r, GraspStatus::kLoadCase), cases = first > 0 ? all / first : 1;
  std::string out = std::filesystem::path(a.set).filename().string() + ": " + std::to_string(ranked) + " of " +
                    std::to_string(all / cases) + " grasps ranked, " +
                    (a.study.best > 0 ? short_number(static_cast<double>(drawn(r))) + " samples in all\n"
                                      : std::to_string(a.study.samples) + " samples each\n");
  out += table(r);
  if (const std::int64_t n = tied(r); n > 1) {
    const bool friction =
        std::ranges::any_of(r.required_friction, [](const auto& needed) { return !std::isnan(needed[1]); });
    std::string order = has_radius(r) ? "the wrench that they resist\n(resisted force radius)" : "";
    if (friction) order += (order.empty() ? "" : ", then of ") + std::string("the friction that they need");
    out += "\n" + std::to_string(n) + " grasps have the best's P(held), in " +
           (order.empty() ? "no order: neither friction needed nor radius was asked for" : "the order of " + order) +
           ".\n";
  }
  if (a.study.best > 0 && ranked > 0) out += race(a);
  out += table_of_poses(a.poses) + meaning(r);
  if (cases > 1)
    out += std::string("P(held): held in ") + (a.study.any_load_case ? "any" : "all") + " of the " +
           std::to_string(cases) + " load cases of a grasp; \"grasp\" is the row of its first case.\n\n";
  out += ranking_outcomes(r);
  const auto names = names_of(GraspStatus{});
  for (std::size_t k = 1; k < names.size(); ++k)
    if (const std::int64_t n = count(r, static_cast<GraspStatus>(k)); n > 0 && GraspStatus(k) != GraspStatus::kLoadCase)
      out += counted(words(names[k]), n, static_cast<double>(all / cases)) + "\n";
  if (const std::int64_t n = unsolved(r); n > 0)
    out += counted("unsolved samples", n, static_cast<double>(drawn(r))) + "\n";
  const double speed = static_cast<double>(drawn(r)) / std::max(a.seconds, 1e-9);
  out += "Speed              " + short_number(speed) + " samples/s on " + a.device + "\n";
  if (!a.output.empty()) out += "Ranking            " + a.output + "\n";
  if (!a.page.empty()) out += "Report             " + a.page + "\n";
  return out;
}

std::string json(const RankAnswer& a) {
  const Ranking& r = a.ranking;
  Json out = {{"set", a.set}, {"grasps", r.status.size()}, {"samples", drawn(r)}};
  out["hand"] = names_of(r.hand)[static_cast<std::size_t>(r.hand)];
  if (a.study.best > 0) out["decided"] = r.decided;
  out["tied"] = tied(r);
  const auto names = names_of(GraspStatus{});
  for (std::size_t k = 0; k < names.size(); ++k) out["status"][names[k]] = count(r, static_cast<GraspStatus>(k));
  out["unsolved"] = unsolved(r);
  out["best"] = Json::array();
  for (const std::size_t g : choose_shown(r))
    out["best"].push_back({{"grasp", g},
                           {"rank", r.rank[g]},
                           {"p_held", r.p_held[g]},
                           {"low", r.low[g]},
                           {"high", r.high[g]},
                           {"difference", r.difference[g]},
                           {"required_friction", r.required_friction[g]},
                           {"p_no_slip", r.p_no_slip[g]},
                           {"p_resisted", r.p_resisted[g]},
                           {"margin", r.margin[g]},
                           {"resisted_force_radius", r.resisted_force_radius[g]},
                           {"non_unique", r.non_unique[g]},
                           {"limiting_contact", r.limiting_contact[g]}});
  for (const PoseAnswer& its : a.poses | std::views::take(kShown))
    out["poses"].push_back({{"pose", its.number}, {"p_held", its.p_held}, {"draws", its.draws}});
  out["seconds"] = a.seconds;
  out["device"] = a.device;
  if (!a.output.empty()) out["output"] = a.output;
  if (!a.page.empty()) out["report"] = a.page;
  return out.dump(1) + "\n";
}

std::vector<std::string> list_overrides(const RankArguments& a) {
  std::vector<std::string> overrides = a.overrides;
  if (!a.method.empty()) overrides.push_back("solver.method=" + Json(a.method).dump());
  if (!a.effort.empty()) overrides.push_back("solver.effort=" + a.effort);
  if (!a.hand.empty()) overrides.push_back("set.hand=" + Json(a.hand).dump());
  if (a.best > 0) overrides.push_back("sampling.best=" + std::to_string(a.best));
  if (a.confidence > 0) overrides.push_back("sampling.confidence=" + Json(a.confidence).dump());
  return overrides;
}

void write(const RankArguments& a, const RankAnswer& answer, const std::vector<double>& pose) {
  std::error_code ignored;
  io::write_ranking(a.output, answer.ranking,
                    {{"set", fs::absolute(a.set, ignored).string()},
                     {"set_checksum", "crc32:" + io::file_checksum(a.set)},
                     {"study", grasp::describe_study(answer.study)},
                     {"study_toml", a.study.empty() ? std::string(io::kCertainSet) : io::read_text(a.study)},
                     {"study_overrides", joined(list_overrides(a))},
                     {"seconds", Json(answer.seconds).dump()},
                     {"device", answer.device},
                     {"version", version()}},
                    pose_columns(pose, answer.poses));
}

/// Makes RANKING.html beside RANKING.h5 with Python, whose absence gives a note only; "" if there is none. Needs a
/// ranking in HDF5, and overwrites neither that nor the set.
std::string choose_page(const RankArguments& a) {
  const fs::path output = a.output;
  if (a.no_report || a.output.empty() || output.extension() == ".csv") return {};
  const std::string page = fs::path(output).replace_extension(".html").string();
  std::error_code ignored;
  if (fs::equivalent(page, a.output, ignored) || fs::equivalent(page, a.set, ignored)) return {};
  fs::remove(page, ignored);  // an old page beside new numbers would lie
  if (make_ranking_page(a.output, page, true)) return page;
  std::fprintf(stderr,
               "garra: %s was not made; it needs Python 3 with numpy, jinja2, h5py: tools/setup installs them\n",
               page.c_str());
  return {};
}

/// Reads the study first if no set is given: a study may name its own.
RankArguments with_set(RankArguments a) {
  if (a.study.empty() && fs::path(a.set).extension() == ".toml") std::swap(a.set, a.study);
  if (!a.set.empty()) return a;
  auto document = io::ScenarioDocument::read(a.study);
  document.set(list_overrides(a));
  a.set = io::read_set_scenario(document).file;
  return a;
}

void run_rank(const RankArguments& given) {
  const RankArguments a = with_set(given);
  check_output(a.set, a.output, "the grasps");
  RankAnswer answer;
  // First, so that a missing device is reported at once.
  Device device = parse_device_for_arrays(a.device, a.threads, core_seconds::kCopying);
  const grasp::SetStudy study = io::read_set_study(a.study, list_overrides(a));
  const io::SetFile set(a.set);
  device = parse_device_for_arrays(a.device, a.threads, core_seconds::ranking(set.count(), study.samples));
  const auto start = std::chrono::steady_clock::now();
  Progress bar("auto", set.count());
  const SetOfPoses noted(set);
  answer.ranking = name_file(a.set, [&] {
    return grasp::rank(noted, study, device, [&](std::int64_t done) {
      bar.show_step(done, std::to_string(done) + " of " + std::to_string(set.count()) + " grasps");
    });
  });
  bar.clear();
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  answer.set = a.set;
  answer.study = study;
  answer.poses = pool_draws(noted.pose, answer.ranking);
  answer.device = describe(device);
  answer.output = a.output;
  if (!a.output.empty()) write(a, answer, noted.pose);
  answer.page = choose_page(a);
  std::fputs((a.format == "json" ? json(answer) : printable(format_answer(answer))).c_str(), stdout);
  std::fflush(stdout);
  check_unsolved(a.max_unsolved, {unsolved(answer.ranking), drawn(answer.ranking)}, "samples were not decided",
                 "`unsolved` counts them for each grasp; --max-unsolved allows more.");
}

}  // namespace

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

void add_rank_command(Command grasp) {
  Command command = grasp.add_subcommand("rank", "P(held) of every grasp of a set, and which is the best");
  const auto a = std::make_shared<RankArguments>();
  command
      .add_option("set", a->set,
                  "grasp set (HDF5 or NPZ: first, point, normal, friction, mass, ...); not given: that of the study")
      .required()
      .type_name("SET.h5");
  command.add_option("study", a->study, "what is uncertain (.toml with job = \"grasp_set\"); not given: nothing")
      .type_name("STUDY.toml");
  command.add_option("-o,--output", a->output, "ranking, a row a grasp: HDF5, or CSV by its name")
      .type_name("RANKING.h5");
  add_overrides(command, a->overrides, "replace a value of the study, for example sampling.samples=10000");
  command.add_option("--hand", a->hand, "ideal, compliant or whole (default: what the set has arrays of)")
      .check(one_of({"auto", "ideal", "compliant", "whole"}));
  command.add_option("--method", a->method, "solver.method: of the contact problems of a hand that is not ideal");
  add_effort(command, a->effort);
  command.add_option("--best", a->best, "find the K best: others are given up early, and it ends when they are found")
      .type_name("K")
      .transform(whole_number());
  command.add_option("--confidence", a->confidence, "that none of the true best is given up (0.95)")
      .check(positive_number());
  command.add_flag("--no-report", a->no_report, "do not make RANKING.html beside RANKING.h5");
  add_batch_flags(command, *a, "is not decided");
  command.footer(
      "Examples:\n"
      "  garra grasp rank grasps.h5 -o ranking.h5 --set 'contacts.friction={uniform=[0.3,0.8]}'\n"
      "  garra grasp rank study.toml -o ranking.h5\n"
      "  garra grasp rank grasps.h5 study.toml --best 10 --set sampling.samples=1000000");
  command.callback([a] { run_rank(*a); });
}

void add_compare_command(Command grasp) {
  struct Arguments {
    std::vector<std::string> rankings;
    std::string page, format = "human";
    bool arrived = false;
  };
  Command command = grasp.add_subcommand("compare", "P(held) of rankings against the outcomes of trials in their sets");
  const auto a = std::make_shared<Arguments>();
  command.add_option("rankings", a->rankings, "one or several; the sets that they name have `outcome` [g]")
      .required()
      .type_name("RANKING.h5");
  command.add_option("-o,--output", a->page, "page with tables, reliability diagram and baselines")
      .type_name("PAGE.html");
  command.add_flag("--arrived", a->arrived, "leave out draws that end in a collision: the hand reached its pose");
  command.add_option("--format", a->format, "human or json").check(one_of({"human", "json"})).capture_default_str();
  command.footer(
      "Example:\n"
      "  garra grasp compare mug.h5 bowl.h5 -o compare.html    # sets without `group`: an object for each file");
  command.callback([a] {
    for (const std::string& ranking : a->rankings)
      if (!a->page.empty()) check_output(ranking, a->page, "the ranking");
    std::vector<std::string> words = {"--format", a->format};
    if (a->arrived) words.emplace_back("--arrived");
    run_module("garra.compare_page", "the rankings were not compared", a->rankings, a->page, words);
  });
}

}  // namespace garra::cli
