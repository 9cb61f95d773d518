// grasp::rank: decides the samples of a set's grasps, one range of grasps at a time, and compares them.
#include <algorithm>
#include <string>

#include "garra/batch/interrupt.hpp"
#include "garra/core/error.hpp"
#include "grasp/set/apart.hpp"
#include "grasp/set/compare.hpp"
#include "grasp/set/input.hpp"
#include "grasp/set/pack_hand.hpp"
#include "grasp/set/samples.hpp"
#include "grasp/set/source.hpp"
#include "study/elimination.hpp"

namespace garra::grasp {

namespace {

constexpr std::int64_t kGraspsAtOnce = 1 << 14;  ///< of a set that are in memory

/// Source and device of a ranking, shared by all ranges of the set.
struct Ranker {
  const CheckedSet& source;
  const Device& device;

  [[nodiscard]] const SetStudy& study() const { return source.study(); }
  /// Calls run(work, first, local) for all ranges that contain grasps of `which` (ascending), as `local` indices.
  template <class Run>
  void for_grasp_ranges(const std::vector<std::size_t>& which, const Run& run) const {
    for (auto begin = which.begin(); begin != which.end();) {
      const auto first = static_cast<std::int64_t>(*begin) / kGraspsAtOnce * kGraspsAtOnce;
      const std::int64_t count = std::min(kGraspsAtOnce, source.count() - first);
      const auto end = std::lower_bound(begin, which.end(), static_cast<std::size_t>(first + count));
      std::vector<std::size_t> local;
      for (; begin != end; ++begin) local.push_back(*begin - static_cast<std::size_t>(first));
      const GraspSet set = source.read(first, count);
      run(Work{set, study(), source.hand(), device}, static_cast<std::size_t>(first), local);
    }
  }
  /// The same for all ranges.
  template <class Run>
  void for_all(const Run& run) const {
    const std::int64_t most = kGraspsAtOnce / source.load_cases() * source.load_cases();
    for (std::int64_t first = 0; first < source.count(); first += most) {
      const GraspSet set = source.read(first, std::min(most, source.count() - first));
      run(Work{set, study(), source.hand(), device}, first);
    }
  }
};

/// Sets differences to the best, and ranks. `decisions(g)` are the results of a grasp's samples.
template <class Decisions>
void compare_all(const SetStudy& study, const Decisions& decisions, Ranking& out) {
  std::vector<RankKey> order;
  for (std::size_t g = 0; g < out.status.size(); ++g)
    if (out.status[g] == GraspStatus::kRanked) order.emplace_back(out, g, static_cast<std::int64_t>(g));
  std::sort(order.begin(), order.end());
  for (std::size_t k = 0; k < order.size(); ++k) {
    check_interrupt();
    const auto g = static_cast<std::size_t>(order[k].grasp);
    out.rank[g] = static_cast<std::int64_t>(k) + 1;
    set_difference(study, decisions(g), decisions(static_cast<std::size_t>(order[0].grasp)), g, out);
  }
}

Ranking rank_all(const Ranker& ranker, const SetProgress& progress) {
  Ranking out = empty_ranking(0, ranker.source.hand());
  std::vector<DecisionBits> decisions;
  ranker.for_all([&](const Work& work, std::int64_t first) {
    std::vector<DecisionBits> some;
    append_ranking(rank_apart(work, some,
                              [&](std::int64_t done) {
                                if (progress) progress(first + done);
                              }),
                   out);
    decisions.insert(decisions.end(), some.begin(), some.end());
  });
  const auto words = static_cast<std::size_t>(words_for(ranker.study().samples));
  compare_all(
      ranker.study(), [&](std::size_t g) { return std::span(decisions).subspan(g * words, words); }, out);
  return out;
}

// --- only the best --------------------------------------------------------------------------------------------------

/// State of a search for the best grasps, whose samples come in rounds.
struct Race {
  Ranking ranking;
  std::vector<std::vector<DecisionBits>> decisions;  ///< [g]
  std::vector<HandCounts> counts;                    ///< [g] of a hand that is not ideal; else none
};

/// Draws more samples of grasps in the search.
void draw_samples(const Ranker& ranker, const std::vector<std::size_t>& which, const IndexRange& of, Race& race) {
  ranker.for_grasp_ranges(which, [&](const Work& work, std::size_t first, const std::vector<std::size_t>& local) {
    const Decided decided = decide(work, local, of);
    for (std::size_t k = 0; k < local.size(); ++k) {
      const std::size_t g = first + local[k];
      race.decisions[g].insert(race.decisions[g].end(), decided.of(k).begin(), decided.of(k).end());
      if (!race.counts.empty()) race.counts[g].add(decided.counts[k]);
      race.ranking.samples[g] = of.first + of.count;
      count(race.decisions[g], g, race.ranking);
    }
  });
}

/// The leading survivors, as many as are wanted.
std::vector<std::size_t> find_leaders(const std::vector<std::size_t>& survivors, std::int64_t wanted,
                                      const std::vector<std::size_t>& grasp, const Ranking& r) {
  std::vector<std::size_t> order = survivors;
  const std::size_t n = std::min(order.size(), static_cast<std::size_t>(wanted));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      const std::int64_t x = r.held[grasp[a]], y = r.held[grasp[b]];
                      return x != y ? x > y : a < b;
                    });
  order.resize(n);
  return order;
}

/// Draws samples of all of `grasp`, then a quarter more per round, for those that may still be among the best.
void run_race(const Ranker& ranker, const std::vector<std::size_t>& grasp, const SetProgress& progress, Race& race) {
  constexpr std::int64_t kFirst = 64;  // one word of DecisionBits
  const SetStudy& study = ranker.study();
  study::Elimination elimination(std::ssize(grasp), study.best, study.confidence);
  std::int64_t drawn = 0;
  while (drawn < study.samples && !elimination.is_decided()) {
    const std::int64_t wish = std::max(kFirst, drawn / 4 / 64 * 64);
    const IndexRange next{drawn, std::min(wish, study.samples - drawn), 0, 0};
    drawn += next.count;
    std::vector<std::size_t> which;
    for (const std::size_t k : elimination.survivors()) which.push_back(grasp[k]);
    draw_samples(ranker, which, next, race);
    const auto leaders = find_leaders(elimination.survivors(), study.best, grasp, race.ranking);
    elimination.drop_worse(leaders, [&](std::size_t a, std::size_t b) {
      return surely_better(race.decisions[grasp[a]], race.decisions[grasp[b]]);
    });
    // Count of finished grasps: in the end all of them.
    const std::int64_t open = elimination.is_decided() ? 0 : std::ssize(elimination.survivors());
    if (progress) progress(std::ssize(grasp) - (drawn < study.samples ? open : 0));
  }
  race.ranking.decided = elimination.is_decided();
}

/// Computes the needed friction and similar numbers of the best.
void ask_the_best(const Ranker& ranker, Race& race) {
  Ranking& out = race.ranking;
  std::vector<RankKey> order;
  for (std::size_t g = 0; g < out.status.size(); ++g)
    if (out.status[g] == GraspStatus::kRanked) order.emplace_back(out, g, static_cast<std::int64_t>(g));
  const auto wanted = std::min(order.size(), static_cast<std::size_t>(ranker.study().best));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted), order.end());
  std::vector<std::size_t> best;
  for (std::size_t k = 0; k < wanted; ++k) best.push_back(static_cast<std::size_t>(order[k].grasp));
  std::sort(best.begin(), best.end());
  const IndexRange numbers = numbers_only(ranker.study());
  ranker.for_grasp_ranges(best, [&](const Work& work, std::size_t first, const std::vector<std::size_t>& local) {
    Decided decided = decide(work, local, numbers);
    for (std::size_t k = 0; k < local.size(); ++k) {
      if (!race.counts.empty()) decided.counts[k] = race.counts[first + local[k]];
      set_columns(decided, k, first + local[k], out);
    }
  });
}

Ranking rank_best(const Ranker& ranker, Race race, const std::vector<std::size_t>& grasp, const SetProgress& progress) {
  race.decisions.resize(race.ranking.status.size());
  if (race.ranking.hand != Hand::kIdeal) race.counts.resize(race.ranking.status.size());
  run_race(ranker, grasp, progress, race);
  Decided nothing(1, {}, race.ranking.hand);
  for (const std::size_t g : grasp) {
    set_probability(ranker.study(), g, race.ranking);
    if (!race.counts.empty()) nothing.counts[0] = race.counts[g];
    set_columns(nothing, 0, g, race.ranking);
  }
  ask_the_best(ranker, race);
  compare_all(
      ranker.study(), [&](std::size_t g) { return std::span<const DecisionBits>(race.decisions[g]); }, race.ranking);
  return std::move(race.ranking);
}

/// Indices of the grasps to be ranked.
std::vector<std::size_t> rankable(const Ranker& ranker, Ranking& out) {
  std::vector<std::size_t> list;
  out = empty_ranking(static_cast<std::size_t>(ranker.source.count()), ranker.source.hand());
  ranker.for_all([&](const Work& work, std::int64_t first) {
    for (std::int64_t k = 0; k < work.set.count(); ++k) {
      const auto g = static_cast<std::size_t>(first + k);
      out.status[g] = GraspReader(work.set, ranker.source.hand(), k).status(ranker.study().interior_grasp);
      if (out.status[g] == GraspStatus::kRanked) list.push_back(g);
    }
  });
  return list;
}

}  // namespace

Ranking rank(const SetSource& source, const SetStudy& study, const Device& device, const SetProgress& progress) {
  const CheckedSet checked(source, study);
  const Ranker ranker{checked, device};
  if (study.best <= 0) return rank_all(ranker, progress);
  if (checked.load_cases() > 1)
    throw Error(ExitCode::kUsage, "best " + std::to_string(study.best) + ": the set has load cases",
                "Rank all grasps: leave out --best (Python: best).");
  Race race;
  const std::vector<std::size_t> grasp = rankable(ranker, race.ranking);
  // If all of them are wanted, no search is needed.
  if (study.best >= std::ssize(grasp)) return rank_all(ranker, progress);
  return rank_best(ranker, std::move(race), grasp, progress);
}

Ranking rank(const GraspSet& set, const SetStudy& study, const Device& device, const SetProgress& progress) {
  check_input(set, study);
  (void)choose_hand(set, study.hand);  // errors in an array name its own rows
  return rank(SetInMemory(set), study, device, progress);
}

std::vector<double> samples(const GraspSet& set, const SetStudy& study, const SetProgress& progress) {
  check_input(set, study);
  const SetInMemory source(set);
  const CheckedSet checked(source, study);
  if (set.count() != 1 || checked.hand() == Hand::kIdeal)
    throw Error(ExitCode::kUsage, "samples of " + std::to_string(set.count()) + " grasps, or of an ideal hand",
                "Give a set of one grasp and a hand with a command.");
  const GraspSet one = checked.read(0, 1);
  const GraspStatus status = GraspReader(one, checked.hand(), 0).status(study.interior_grasp);
  if (status != GraspStatus::kRanked)
    throw Error(ExitCode::kUsage, std::string("the grasp is ") + names_of(status)[static_cast<std::size_t>(status)],
                "docs/theory/grasp-sets.md lists the reasons.");
  constexpr std::int64_t kPiece = 512;  // samples between two calls of `progress`
  const std::int64_t width = kSampleNumbers + kSampleContactNumbers * set.first.back();
  std::vector<double> rows(static_cast<std::size_t>(study.samples * width));
  const Device processor;
  const std::size_t only[] = {0};
  for (std::int64_t first = 0; first < study.samples; first += kPiece) {
    const IndexRange piece{first, std::min(kPiece, study.samples - first), 0, 0};
    static_cast<void>(decide({one, study, checked.hand(), processor, rows.data() + first * width}, only, piece));
    if (progress) progress(first + piece.count);
  }
  return rows;
}

std::vector<double> samples(const GraspSet& set, const SetStudy& study) { return samples(set, study, {}); }

}  // namespace garra::grasp
