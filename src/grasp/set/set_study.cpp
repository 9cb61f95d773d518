#include "grasp/set/set_study.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "garra/core/error.hpp"
#include "garra/grasp_set.hpp"
#include "grasp/set/apart.hpp"
#include "grasp/set/compare.hpp"
#include "study/summary.hpp"

namespace garra::grasp {

namespace {

using study::Json;
using study::RowColumn;

/// Columns of a kept row: these numbers, then the sample bits, two raw words each. No arithmetic is done on the latter.
enum Kept {
  kIndex,
  kStatus,
  kHeld,
  kUnsolved,
  kCritical,
  kMargin = kCritical + 3,
  kRadius = kMargin + 3,
  kNoSlip,
  kResisted,
  kLimitingContact,
  kNonUnique,
  kOutcome,
  kDecisions = kOutcome + kOutcomes
};

/// Counters: grasps of each status, then samples and grasps by name.
enum Counted { kHeldSamples = kGraspStatuses, kUnsolvedSamples, kSamples, kSureGrasps, kCounts };
constexpr double kSure = 0.95;

/// Approximate samples in one chunk: some seconds of work.
constexpr std::int64_t kIdealSamples = std::int64_t{1} << 22, kHandSamples = std::int64_t{1} << 15;
constexpr std::int64_t kMaxGrasps = std::int64_t{1} << 16;  ///< in one, and so in memory
constexpr std::int64_t kMaxChunks = 4000;                   ///< unless chunks would exceed kMaxGrasps

std::int64_t choose_chunk_size(std::int64_t grasps, const SetStudy& study, Hand hand) {
  const std::int64_t samples = hand == Hand::kIdeal ? kIdealSamples : kHandSamples;
  const std::int64_t few = std::clamp<std::int64_t>(samples / study.samples, 1, kMaxGrasps);
  return std::clamp(grasps / kMaxChunks, few, std::max(few, kMaxGrasps));
}

std::vector<std::string> status_names() {
  const auto names = names_of(GraspStatus{});
  return {names.begin(), names.end()};
}

void put(const std::array<double, 3>& three, std::vector<double>& row) {
  row.insert(row.end(), three.begin(), three.end());
}

void keep(const Ranking& r, std::size_t g, std::int64_t number, std::span<const DecisionBits> decisions,
          std::vector<double>& kept) {
  kept.insert(kept.end(), {static_cast<double>(number), static_cast<double>(r.status[g]),
                           static_cast<double>(r.held[g]), static_cast<double>(r.unsolved[g])});
  put(r.required_friction[g], kept);
  put(r.margin[g], kept);
  kept.insert(kept.end(), {r.resisted_force_radius[g], r.p_no_slip[g], r.p_resisted[g],
                           static_cast<double>(r.limiting_contact[g]), static_cast<double>(r.non_unique[g])});
  for (const std::int64_t n : r.outcomes[g]) kept.push_back(static_cast<double>(n));
  for (const DecisionBits& word : decisions) {
    kept.push_back(std::bit_cast<double>(word.held));
    kept.push_back(std::bit_cast<double>(word.undecided));
  }
}

/// Kept rows, decoded.
class KeptRows {
 public:
  KeptRows(const std::vector<double>& kept, const SetStudy& study, Hand hand)
      : kept_(kept), study_(study), hand_(hand), row_(row_size(study)) {}

  static std::size_t row_size(const SetStudy& study) {
    return kDecisions + 2 * static_cast<std::size_t>(words_for(study.samples));
  }
  [[nodiscard]] std::size_t count() const { return kept_.size() / row_; }
  [[nodiscard]] std::int64_t number(std::size_t k) const { return whole(k, kIndex); }
  /// All columns but rank and difference.
  [[nodiscard]] Ranking ranking() const {
    Ranking r = empty_ranking(count(), hand_);
    for (std::size_t k = 0; k < count(); ++k) {
      r.status[k] = static_cast<GraspStatus>(whole(k, kStatus));
      if (r.status[k] == GraspStatus::kRanked) fill(k, r);
    }
    return r;
  }
  [[nodiscard]] std::vector<DecisionBits> decisions(std::size_t k) const {
    std::vector<DecisionBits> words;
    for (const double* x = at(k) + kDecisions; x < at(k) + row_; x += 2)
      words.push_back({std::bit_cast<std::uint64_t>(x[0]), std::bit_cast<std::uint64_t>(x[1])});
    return words;
  }

 private:
  [[nodiscard]] const double* at(std::size_t k) const { return kept_.data() + k * row_; }
  [[nodiscard]] std::int64_t whole(std::size_t k, int column) const { return static_cast<std::int64_t>(at(k)[column]); }
  void fill(std::size_t k, Ranking& r) const {
    const double* x = at(k);
    r.samples[k] = study_.samples;
    r.held[k] = whole(k, kHeld);
    r.unsolved[k] = whole(k, kUnsolved);
    std::copy_n(x + kCritical, 3, r.required_friction[k].begin());
    std::copy_n(x + kMargin, 3, r.margin[k].begin());
    r.resisted_force_radius[k] = x[kRadius];
    r.p_no_slip[k] = x[kNoSlip];
    r.p_resisted[k] = x[kResisted];
    r.limiting_contact[k] = whole(k, kLimitingContact);
    r.non_unique[k] = whole(k, kNonUnique);
    for (int n = 0; n < kOutcomes; ++n) r.outcomes[k][static_cast<std::size_t>(n)] = whole(k, kOutcome + n);
    set_probability(study_, k, r);
  }

  const std::vector<double>& kept_;
  const SetStudy& study_;
  Hand hand_;
  std::size_t row_;
};

void count_row(const Ranking& r, std::size_t g, std::int64_t number, study::Tally& t) {
  const auto add = [&](int which, std::int64_t n) { t.counts[static_cast<std::size_t>(which)] += n; };
  add(static_cast<int>(r.status[g]), 1);
  add(kHeldSamples, r.held[g]);
  add(kUnsolvedSamples, r.unsolved[g]);
  add(kSamples, r.samples[g]);
  if (std::isnan(r.p_held[g])) return;
  add(kSureGrasps, r.p_held[g] >= kSure ? 1 : 0);
  // The same grasps in both lists, each with one end of its interval.
  t.closest.add({-r.p_held[g], number, 0, r.low[g]});
  t.worst.add({-r.p_held[g], number, 0, r.high[g]});
}

}  // namespace

GraspSetStudy::GraspSetStudy(SetScenario scenario, std::unique_ptr<const SetSource> set)
    : scenario_(std::move(scenario)), source_(std::move(set)), checked_(*source_, scenario_.study) {
  if (scenario_.study.best > 0)
    throw Error(ExitCode::kInvalidFile,
                "sampling.best = " + std::to_string(scenario_.study.best) +
                    ": a run decides every grasp by itself, and cannot give up some of them for others",
                "Search for the best by `garra grasp rank`, or leave it out.");
  if (checked_.load_cases() > 1)
    throw Error(ExitCode::kInvalidFile, scenario_.file + ": the set has load cases, which a run would divide",
                "Rank it by `garra grasp rank`.");
  study::Plan& plan = scenario_.plan;
  plan.seed = scenario_.study.seed;
  plan.samples = source_->count();
  plan.keep = "all";
  if (plan.samples == 0) throw Error(ExitCode::kInvalidFile, scenario_.file + ": the set has no grasp");
  if (plan.chunk == 0) plan.chunk = choose_chunk_size(plan.samples, scenario_.study, checked_.hand());
}

study::Shape GraspSetStudy::shape() const {
  return {.row = KeptRows::row_size(scenario_.study), .counts = kCounts, .outcomes = {{0, kGraspStatuses}}};
}

std::vector<RowColumn> GraspSetStudy::columns() const {
  using Type = RowColumn::Type;
  return {{"index", Type::kWhole, kIndex, 1, true},
          {"outcome", Type::kSmall, kStatus, 1, true, status_names()},
          {"held", Type::kWhole, kHeld, 1, true},
          {"unsolved", Type::kWhole, kUnsolved, 1, true}};
}

study::Tally GraspSetStudy::run(std::int64_t first, std::int64_t count, const Device& device) const {
  study::Tally t;
  t.first = first;
  t.count = count;
  t.counts.assign(kCounts, 0);
  for (std::int64_t at = first; at < first + count; at += kMaxGrasps) {
    const GraspSet some = checked_.read(at, std::min(kMaxGrasps, first + count - at));
    std::vector<DecisionBits> decisions;
    const Ranking r = rank_apart({some, scenario_.study, checked_.hand(), device}, decisions);
    const auto words = static_cast<std::size_t>(words_for(scenario_.study.samples));
    for (std::size_t g = 0; g < r.status.size(); ++g) {
      const std::int64_t number = at + static_cast<std::int64_t>(g);
      keep(r, g, number, std::span(decisions).subspan(g * words, words), t.kept);
      count_row(r, g, number, t);
    }
  }
  return t;
}

void GraspSetStudy::rank(const std::function<void(const Rows&)>& for_all_rows,
                         const std::function<void(const Ranking&)>& part) const {
  const SetStudy& study = scenario_.study;
  std::vector<RankKey> keys;
  std::optional<RankKey> first;
  std::vector<DecisionBits> best;
  for_all_rows([&](const std::vector<double>& kept) {
    const KeptRows rows(kept, study, checked_.hand());
    const Ranking r = rows.ranking();
    for (std::size_t k = 0; k < rows.count(); ++k) {
      if (r.status[k] != GraspStatus::kRanked) continue;
      const RankKey key(r, k, rows.number(k));
      // The best so far: it may be the best of all, and then its bits are needed.
      if (!first || key < *first) {
        best = rows.decisions(k);
        first = key;
      }
      keys.push_back(key);
    }
  });
  std::sort(keys.begin(), keys.end());
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(plan().samples), 0);  // 0: not ranked
  for (std::size_t k = 0; k < keys.size(); ++k)
    ranks[static_cast<std::size_t>(keys[k].grasp)] = static_cast<std::int64_t>(k) + 1;
  keys = {};
  for_all_rows([&](const std::vector<double>& kept) {
    const KeptRows rows(kept, study, checked_.hand());
    Ranking r = rows.ranking();
    for (std::size_t k = 0; k < rows.count(); ++k) {
      r.rank[k] = ranks[static_cast<std::size_t>(rows.number(k))];
      if (r.rank[k] > 0) set_difference(study, rows.decisions(k), best, k, r);
    }
    part(r);
  });
}

study::Estimate GraspSetStudy::estimate(const study::Total& t) const {
  if (t.closest.list().empty()) return {std::numeric_limits<double>::quiet_NaN(), {}};
  const study::Extreme& low = t.closest.list().front();
  return {-low.key, {low.value, t.worst.list().front().value}};
}

std::vector<study::DecisionCounts> GraspSetStudy::decisions(const study::Total& t) const {
  // For all grasps together, because a total does not keep the results of each.
  const std::int64_t unsolved = study::at(t, kUnsolvedSamples);
  return {{study::at(t, kHeldSamples), study::at(t, kSamples) - unsolved, unsolved}};
}

std::string GraspSetStudy::summary(const study::Total& t, const std::string& stopped_by) const {
  const auto counted = [&](int which) { return study::at(t, which); };
  Json j = study::summary_head("grasp_set", scenario_.title, plan(), t, stopped_by);
  j["hand"] = names_of(checked_.hand())[static_cast<std::size_t>(checked_.hand())];
  j["samples_each"] = scenario_.study.samples;
  j["p_held"] = study::to_json(estimate(t));
  study::put_outcomes(j, kGraspStatusWords, t, 0);
  j["held"] = counted(kHeldSamples);
  j["unsolved"] = counted(kUnsolvedSamples);
  j["drawn"] = counted(kSamples);
  j["sure"] = counted(kSureGrasps);
  j["best"] = Json::array();
  for (std::size_t k = 0; k < t.closest.list().size(); ++k) {
    const study::Extreme &low = t.closest.list()[k], &high = t.worst.list()[k];
    j["best"].push_back({{"grasp", low.sample}, {"p_held", -low.key}, {"low", low.value}, {"high", high.value}});
  }
  return j.dump(1) + "\n";
}

}  // namespace garra::grasp
