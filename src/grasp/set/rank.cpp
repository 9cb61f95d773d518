// grasp::rank: checks the set, sorts its grasps by their number of contacts, decides their samples, compares.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>

#include "garra/study/study.hpp"
#include "grasp/set/input.hpp"
#include "grasp/set/pack_hand.hpp"
#include "grasp/set/run_hand.hpp"
#include "study/elimination.hpp"

namespace garra::grasp {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN(), kInfinite = std::numeric_limits<double>::infinity();

/// What is known of the first samples of every grasp; [g][samples].
struct SampleNumbers {
  SampleNumbers(std::size_t grasps, std::int64_t count)
      : each(static_cast<std::size_t>(count)), critical(grasps * each, kNone), margin(critical), radius(critical) {}

  std::size_t each;
  std::vector<double> critical, margin, radius;
};

/// Verdicts of all samples of all grasps, and numbers of some of them.
struct Decided {
  Decided(std::size_t grasps, const SetStudy& study)
      : words(words_for(study.samples)),
        friction_samples(std::clamp<std::int64_t>(study.friction_samples, 0, study.samples)),
        verdicts(grasps * static_cast<std::size_t>(words)),
        numbers(grasps, friction_samples),
        counts(grasps) {}

  std::int64_t words, friction_samples;
  std::vector<VerdictBits> verdicts;  ///< [g][words]
  SampleNumbers numbers;
  std::vector<HandCounts> counts;  ///< [g] of a hand that is not ideal

  /// Those of a grasp's first samples.
  [[nodiscard]] std::span<const VerdictBits> of(std::size_t g, std::int64_t samples) const {
    return std::span(verdicts).subspan(g * static_cast<std::size_t>(words),
                                       static_cast<std::size_t>(words_for(samples)));
  }
};

/// Samples [first, first + count) of each grasp, `first` a multiple of 64; and the friction that the first ones need.
struct Stretch {
  std::int64_t first, count, friction;
};

/// What all of it is computed from.
struct Work {
  const Set& set;
  const SetStudy& study;
  Hand hand;
  const Device& device;
  const HandReader& reader;
  Decided& out;

  template <int N>
  [[nodiscard]] std::vector<SetGrasp<N>> packed(std::span<const std::size_t> which) const {
    std::vector<SetGrasp<N>> grasps;
    grasps.reserve(which.size());
    for (const std::size_t g : which)
      grasps.push_back(GraspReader(set, hand, static_cast<std::int64_t>(g)).packed<N>());
    return grasps;
  }
  /// [k][each] goes to [which[k]][stride], from the at-th on.
  template <class T>
  static void spread(const std::vector<T>& from, std::span<const std::size_t> which, std::size_t stride, std::size_t at,
                     std::vector<T>& to) {
    const std::size_t each = from.size() / which.size();
    for (std::size_t k = 0; k < which.size(); ++k)
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(k * each), each,
                  to.begin() + static_cast<std::ptrdiff_t>(which[k] * stride + at));
  }
  void keep(const std::vector<VerdictBits>& verdicts, std::span<const std::size_t> which, const Stretch& of) const {
    spread(verdicts, which, static_cast<std::size_t>(out.words), static_cast<std::size_t>(of.first / 64), out.verdicts);
  }

  /// Of some grasps that N contacts are room for.
  template <int N>
  void decide(std::span<const std::size_t> which, const Stretch& of) const {
    const std::vector<SetGrasp<N>> grasps = packed<N>(which);
    std::vector<VerdictBits> verdicts(which.size() * static_cast<std::size_t>(words_for(of.count)));
    std::vector<double> critical(which.size() * static_cast<std::size_t>(of.friction));
    const SetModel model = model_of(study);
    run_set<N>({model, grasps, of.first, of.count, of.friction, verdicts.data(), critical.data()}, device);
    keep(verdicts, which, of);
    if (of.friction > 0) spread(critical, which, out.numbers.each, 0, out.numbers.critical);
  }

  /// The same with the hand that the set has. Numbers come with the samples.
  template <int N>
  void decide_hand(std::span<const std::size_t> which, const Stretch& of) const {
    const std::vector<SetGrasp<N>> grasps = packed<N>(which);
    PackedHands<N> hands;
    for (std::size_t k = 0; k < which.size(); ++k) reader.pack(static_cast<std::int64_t>(which[k]), grasps[k], hands);
    const std::int64_t samples = std::max(of.count, of.friction);
    std::vector<VerdictBits> verdicts(which.size() * static_cast<std::size_t>(words_for(samples)));
    std::vector<HandCounts> counts(which.size());
    SampleNumbers numbers(which.size(), of.friction);
    const SetModel model = model_of(study);
    run_hand<N>({model, grasps, hands.hands, hands.limited(), hand_solver<N>(), study.held_imbalance,
                 study.check_uniqueness, of.first, samples, verdicts.data(), counts.data(), of.friction,
                 numbers.critical.data(), numbers.margin.data(), numbers.radius.data()},
                device);
    if (of.friction > 0) {
      spread(numbers.critical, which, out.numbers.each, 0, out.numbers.critical);
      spread(numbers.margin, which, out.numbers.each, 0, out.numbers.margin);
      spread(numbers.radius, which, out.numbers.each, 0, out.numbers.radius);
    }
    if (of.count == 0) return;  // counted before
    keep(verdicts, which, of);
    for (std::size_t k = 0; k < which.size(); ++k) out.counts[which[k]].add(counts[k]);
  }

  /// Of these grasps, whatever their numbers of contacts. `done` hears how many are through.
  void decide_all(std::span<const std::size_t> which, const Stretch& of, const SetProgress& done) const {
    // A second or so of work at once.
    constexpr std::int64_t kSamplesAtOnce = 1 << 21;
    const auto most =
        static_cast<std::size_t>(std::max<std::int64_t>(1, kSamplesAtOnce / std::max(of.count, of.friction)));
    std::int64_t through = 0;
    const auto of_size = [&](auto n, const auto& for_sizes, const auto& run) {
      std::vector<std::size_t> sized;
      for (const std::size_t g : which)
        if (smallest_size(set.first[g + 1] - set.first[g], for_sizes) == n) sized.push_back(g);
      for (std::size_t first = 0; first < sized.size(); first += most) {
        const auto some = std::span(sized).subspan(first, std::min(most, sized.size() - first));
        run(some);
        through += std::ssize(some);
        if (done) done(through);
      }
    };
    const auto set_sizes = [](const auto& use) { for_set_sizes(use); };
    const auto hand_sizes = [](const auto& use) { for_hand_sizes(use); };
    if (hand == Hand::kIdeal)
      for_set_sizes([&](auto n) { of_size(n, set_sizes, [&](auto some) { decide<n>(some, of); }); });
    else
      for_hand_sizes([&](auto n) { of_size(n, hand_sizes, [&](auto some) { decide_hand<n>(some, of); }); });
  }
};

// --- comparing ------------------------------------------------------------------------------------------------------

/// Of two grasps' samples with the same draws: those where only one is held, of those that both decide.
struct Pairs {
  std::int64_t only_first = 0, only_second = 0, both_decided = 0;
};

Pairs compare(std::span<const VerdictBits> a, std::span<const VerdictBits> b, std::int64_t samples) {
  Pairs p;
  p.both_decided = samples;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t open = a[i].undecided | b[i].undecided;
    p.both_decided -= std::popcount(open);
    p.only_first += std::popcount(a[i].held & ~b[i].held & ~open);
    p.only_second += std::popcount(b[i].held & ~a[i].held & ~open);
  }
  return p;
}

/// What speaks for the first: it does not hold what it has not decided, and the second one does.
study::Discordant surely_better(std::span<const VerdictBits> a, std::span<const VerdictBits> b) {
  study::Discordant d;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t second = b[i].held | b[i].undecided;
    d.only_first += std::popcount(a[i].held & ~second);
    d.only_second += std::popcount(second & ~a[i].held);
  }
  return d;
}

/// The same at any time: how often either alone is held, each with half of what may go wrong.
void set_lasting_difference(const Pairs& p, double confidence, std::size_t g, Ranking& out) {
  const std::int64_t n = p.both_decided;
  const double half = 0.5 * (1 + confidence);
  const study::Interval up = study::always_valid(p.only_first, n, 0, half);
  const study::Interval down = study::always_valid(p.only_second, n, 0, half);
  out.difference[g] = n > 0 ? static_cast<double>(p.only_first - p.only_second) / static_cast<double>(n) : kNone;
  out.difference_low[g] = up.low - down.high;
  out.difference_high[g] = up.high - down.low;
}

/// A. Agresti and Y. Min, Statistics in Medicine 24 (2005) 729: half a pair more in each cell of the table.
void set_difference(const Pairs& pairs, std::size_t g, Ranking& out) {
  constexpr double z = 1.959963984540054;
  const auto n = static_cast<double>(pairs.both_decided);
  const auto up = static_cast<double>(pairs.only_first), down = static_cast<double>(pairs.only_second);
  out.difference[g] = pairs.both_decided > 0 ? (up - down) / n : kNone;
  const double middle = (up - down) / (n + 2), both = (up + down + 1) / (n + 2);
  const double half = z * std::sqrt((both - middle * middle) / (n + 2));
  out.difference_low[g] = std::max(-1.0, middle - half);
  out.difference_high[g] = std::min(1.0, middle + half);
}

/// The value that a share q of them do not exceed.
double quantile_of(const std::vector<double>& sorted, double q) {
  const auto n = static_cast<double>(sorted.size());
  return sorted[static_cast<std::size_t>(std::clamp(std::ceil(q * n) - 1, 0.0, n - 1))];
}

void count(const Decided& decided, std::size_t g, Ranking& out) {
  out.held[g] = out.unsolved[g] = 0;
  for (const VerdictBits& word : decided.of(g, out.samples[g])) {
    out.held[g] += std::popcount(word.held);
    out.unsolved[g] += std::popcount(word.undecided);
  }
  const std::int64_t known = out.samples[g] - out.unsolved[g];
  if (known > 0) out.p_held[g] = static_cast<double>(out.held[g]) / static_cast<double>(known);
}

void set_interval(const SetStudy& study, std::size_t g, Ranking& out) {
  const std::int64_t known = out.samples[g] - out.unsolved[g];
  const study::Interval i = study.best > 0 ? study::always_valid(out.held[g], known, out.unsolved[g], study.confidence)
                                           : study::wilson_with_unsolved(out.held[g], known, out.unsolved[g]);
  out.low[g] = i.low;
  out.high[g] = i.high;
}

/// 5, 50, 95 % quantiles of a grasp's numbers. One of them that is not defined (forces that are not unique) counts as
/// the worst; where none is, nobody has asked.
std::array<double, 3> quantiles_of(const std::vector<double>& all, std::size_t g, std::size_t each, double worst) {
  if (each == 0) return {kNone, kNone, kNone};
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(g * each);
  std::vector<double> sorted(begin, begin + static_cast<std::ptrdiff_t>(each));
  if (std::all_of(sorted.begin(), sorted.end(), [](double x) { return std::isnan(x); })) return {kNone, kNone, kNone};
  for (double& x : sorted) x = std::isnan(x) ? worst : x;
  std::sort(sorted.begin(), sorted.end());
  return {quantile_of(sorted, 0.05), quantile_of(sorted, 0.5), quantile_of(sorted, 0.95)};
}

/// Of `all` samples of which `unknown` are not known, the share of the others.
double share(std::int64_t count, std::int64_t unknown, std::int64_t all) {
  return all > unknown ? static_cast<double>(count) / static_cast<double>(all - unknown) : kNone;
}

/// What a hand's samples tell besides.
void set_hand_columns(const Decided& decided, std::int64_t contacts, std::size_t g, Ranking& out) {
  const HandCounts& n = decided.counts[g];
  out.outcomes[g] = n.outcome;
  out.p_no_slip[g] = share(n.sticks, n.sticks_unknown, out.samples[g]);
  out.p_can_be_held[g] = share(n.resisted, n.resisted_unknown, out.samples[g]);
  out.margin[g] = quantiles_of(decided.numbers.margin, g, decided.numbers.each, -kInfinite);
  out.wrench_radius[g] = quantiles_of(decided.numbers.radius, g, decided.numbers.each, 0)[1];
  const auto most = std::max_element(n.first.begin(), n.first.begin() + contacts);
  if (*most > 0) out.fails_first[g] = most - n.first.begin();
}

void set_ideal_columns(std::size_t g, Ranking& out) {
  out.p_can_be_held[g] = out.p_held[g];
  out.outcomes[g][static_cast<std::size_t>(Outcome::kHeld)] = out.held[g];
  out.outcomes[g][static_cast<std::size_t>(Outcome::kUnsolved)] = out.unsolved[g];
  out.outcomes[g][static_cast<std::size_t>(Outcome::kNotResisted)] = out.samples[g] - out.held[g] - out.unsolved[g];
}

void set_columns(const Decided& decided, std::int64_t contacts, std::size_t g, Ranking& out) {
  out.critical_friction[g] = quantiles_of(decided.numbers.critical, g, decided.numbers.each, kInfinite);
  if (out.hand == Hand::kIdeal)
    set_ideal_columns(g, out);
  else
    set_hand_columns(decided, contacts, g, out);
}

/// Ranked grasps, the best first: those with most samples, which is all of them unless some were given up; the most
/// probable; then the one that needs the least friction.
std::vector<std::size_t> best_first(const Ranking& r) {
  std::vector<std::size_t> order;
  for (std::size_t g = 0; g < r.status.size(); ++g)
    if (r.status[g] == GraspStatus::kRanked) order.push_back(g);
  const auto key = [&](std::size_t g) {
    // No sample decided: last. No friction sought: all the same.
    const double p = std::isnan(r.p_held[g]) ? -1 : r.p_held[g], mu = r.critical_friction[g][1];
    return std::tuple(-r.samples[g], -p, std::isnan(mu) ? 0 : mu);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

Ranking empty_ranking(const Set& set) {
  const auto n = static_cast<std::size_t>(set.count());
  Ranking r;
  r.samples.resize(n);
  r.status.resize(n);
  r.held.resize(n);
  r.unsolved.resize(n);
  r.rank.resize(n);
  for (auto* column : {&r.p_held, &r.low, &r.high, &r.difference, &r.difference_low, &r.difference_high, &r.p_no_slip,
                       &r.p_can_be_held, &r.wrench_radius})
    column->assign(n, kNone);
  r.critical_friction.assign(n, {kNone, kNone, kNone});
  r.margin = r.critical_friction;
  r.fails_first.assign(n, -1);
  r.outcomes.resize(n);
  return r;
}

/// The survivors that lead, as many as are wanted.
std::vector<std::size_t> leaders_of(const std::vector<std::size_t>& survivors, std::int64_t wanted,
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

/// Samples of all of `grasp`, a quarter more each time, of those that may still be among the best.
void race(const Work& work, const std::vector<std::size_t>& grasp, const SetProgress& progress, Ranking& out) {
  constexpr std::int64_t kFirst = 64;  // a word of verdicts
  const SetStudy& study = work.study;
  study::Elimination elimination(std::ssize(grasp), study.best, study.confidence);
  std::int64_t drawn = 0;
  while (drawn < study.samples && !elimination.is_decided()) {
    const std::int64_t wish = std::max(kFirst, drawn / 4 / 64 * 64);
    const Stretch next{drawn, std::min(wish, study.samples - drawn), 0};
    drawn += next.count;
    std::vector<std::size_t> which;
    for (const std::size_t k : elimination.survivors()) which.push_back(grasp[k]);
    work.decide_all(which, next, {});
    for (const std::size_t g : which) {
      out.samples[g] = drawn;
      count(work.out, g, out);
    }
    const auto leaders = leaders_of(elimination.survivors(), study.best, grasp, out);
    elimination.drop_worse(leaders, [&](std::size_t a, std::size_t b) {
      return surely_better(work.out.of(grasp[a], drawn), work.out.of(grasp[b], drawn));
    });
    // How many are through: in the end all of them.
    const std::int64_t open = elimination.is_decided() ? 0 : std::ssize(elimination.survivors());
    if (progress) progress(std::ssize(grasp) - (drawn < study.samples ? open : 0));
  }
  out.decided = elimination.is_decided();
}

std::vector<std::size_t> rankable(const Ranking& r) {
  std::vector<std::size_t> list;
  for (std::size_t g = 0; g < r.status.size(); ++g)
    if (r.status[g] == GraspStatus::kRanked) list.push_back(g);
  return list;
}

}  // namespace

Ranking rank(const Set& set, const SetStudy& study, const Device& device, const SetProgress& progress) {
  check_input(set, study);
  Ranking out = empty_ranking(set);
  out.hand = hand_of(set, study.hand);
  for (std::size_t g = 0; g < out.status.size(); ++g)
    out.status[g] = GraspReader(set, out.hand, static_cast<std::int64_t>(g)).status();
  Decided decided(out.status.size(), study);
  const HandReader reader(set, out.hand);
  const Work work{set, study, out.hand, device, reader, decided};
  const std::vector<std::size_t> grasp = rankable(out);
  // Where all of them are wanted nobody has to be told apart.
  if (study.best > 0 && study.best < std::ssize(grasp)) {
    race(work, grasp, progress, out);
    std::vector<std::size_t> best = best_first(out);
    best.resize(std::min(best.size(), static_cast<std::size_t>(study.best)));
    work.decide_all(best, {0, 0, decided.friction_samples}, {});
  } else {
    work.decide_all(grasp, {0, study.samples, decided.friction_samples}, progress);
    for (const std::size_t g : grasp) {
      out.samples[g] = study.samples;
      count(decided, g, out);
    }
  }
  for (const std::size_t g : grasp) {
    set_interval(study, g, out);
    set_columns(decided, set.first[g + 1] - set.first[g], g, out);
  }
  const std::vector<std::size_t> order = best_first(out);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t g = order[k];
    out.rank[g] = static_cast<std::int64_t>(k) + 1;
    const std::int64_t n = out.samples[g];
    const Pairs pairs = compare(decided.of(g, n), decided.of(order[0], n), n);
    study.best > 0 ? set_lasting_difference(pairs, study.confidence, g, out) : set_difference(pairs, g, out);
  }
  return out;
}

}  // namespace garra::grasp
