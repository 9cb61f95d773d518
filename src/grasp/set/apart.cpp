#include "grasp/set/apart.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "garra/batch/interrupt.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/study/study.hpp"
#include "grasp/set/input.hpp"
#include "grasp/set/pack_hand.hpp"
#include "study/elimination.hpp"

namespace garra::grasp {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN(), kInfinite = std::numeric_limits<double>::infinity();

std::int64_t count_contacts(const GraspSet& set, std::size_t g) { return set.first[g + 1] - set.first[g]; }

/// Decides grasps, in groups of equal numbers of contacts.
class Deciding {
 public:
  Deciding(const Work& work, std::span<const std::size_t> which, const IndexRange& of, Decided& out)
      : work_(work), reader_(work.set, work.hand, is_off(work.study.torque_error)), which_(which), of_(of), out_(out) {}

  void all(const SetProgress& done) const {
    std::int64_t through = 0;
    for (int contacts = 1; contacts <= kMaxSetContacts; ++contacts)
      for (const bool soft : {false, true}) {
        Places places;
        for (std::size_t k = 0; k < which_.size(); ++k)
          if (count_contacts(work_.set, which_[k]) == contacts && is_soft(k) == soft) places.push_back(k);
        const std::size_t most = at_once(contacts, soft);
        for (std::size_t first = 0; first < places.size(); first += most) {
          const auto some = std::span(places).subspan(first, std::min(most, places.size() - first));
          decide(contacts, soft, some);
          through += std::ssize(some);
          if (done) done(through);
        }
      }
  }

 private:
  using Places = std::vector<std::size_t>;  ///< in `which`

  /// Grasps for seconds of work, in limited memory. A sample of a hand with many contacts takes a millisecond.
  [[nodiscard]] std::size_t at_once(int contacts, bool soft) const {
    const bool on_gpu = work_.device.executor == Executor::kCuda;
    const bool slow = work_.hand != Hand::kIdeal && contacts > 4 && !on_gpu;
    // Hands on the host: little enough that the allocator keeps the memory, whose first use costs more than a sample.
    const std::int64_t bytes_at_once = work_.hand != Hand::kIdeal && !on_gpu ? 1 << 24 : 1 << 28;
    const std::int64_t samples_at_once = slow ? 1 << 14 : 1 << 21;
    std::int64_t each = sizeof(SetGrasp<kAnyContacts>);
    if (work_.hand != Hand::kIdeal) each += soft ? sizeof(SetHand<kAnyContacts, 4>) : sizeof(SetHand<kAnyContacts, 3>);
    const std::int64_t samples = std::max<std::int64_t>({of_.count, of_.numbers, 1});
    return static_cast<std::size_t>(
        std::max<std::int64_t>(1, std::min(samples_at_once / samples, bytes_at_once / each)));
  }

  /// Decides grasps with `contacts` contacts: on the host by the code for any number, on a GPU by the smallest kernel
  /// that fits, or by another method's own.
  void decide(int contacts, bool soft, std::span<const std::size_t> some) const {
    const ContactsInUse many(contacts);
    constexpr int kAny = kAnyContacts;
    const bool ideal_hand = work_.hand == Hand::kIdeal, on_gpu = work_.device.executor == Executor::kCuda;
    const auto there = [&](const auto& for_sizes, const auto& run) {
      const int size = smallest_size(contacts, for_sizes);
      for_sizes([&](auto n) {
        if (size == n) run(n);
      });
      return size > 0;
    };
    const auto set_sizes = [](const auto& use) { for_set_sizes(use); };
    const auto soft_sizes = [](const auto& use) { for_soft_sizes(use); };
    const auto hand_sizes = [](const auto& use) { for_hand_sizes(use); };
    const auto soft_hand_sizes = [](const auto& use) { for_soft_hand_sizes(use); };
    bool done = false;
    if (on_gpu && ideal_hand && !has_pads(work_.set))
      done = soft ? there(soft_sizes, [&](auto n) { ideal<n, 4>(some); })
                  : there(set_sizes, [&](auto n) { ideal<n, 3>(some); });
    else if (on_gpu && !ideal_hand && work_.study.method == "auto")
      done = soft ? there(soft_hand_sizes, [&](auto n) { with_hand<n, 4>(some); })
                  : there(hand_sizes, [&](auto n) { with_hand<n, 3>(some); });
    if (done) return;
    if (ideal_hand)
      soft ? ideal<kAny, 4>(some) : ideal<kAny, 3>(some);
    else
      soft ? with_hand<kAny, 4>(some) : with_hand<kAny, 3>(some);
  }

  [[nodiscard]] std::int64_t grasp(std::size_t place) const { return static_cast<std::int64_t>(which_[place]); }

  [[nodiscard]] GraspReader reader(std::size_t place) const { return {work_.set, work_.hand, grasp(place)}; }

  [[nodiscard]] bool is_soft(std::size_t place) const {
    return !work_.set.torsion_radius.empty() && reader(place).is_soft();
  }

  template <int N>
  [[nodiscard]] std::vector<SetGrasp<N>> packed(std::span<const std::size_t> places) const {
    std::vector<SetGrasp<N>> grasps;
    grasps.reserve(places.size());
    for (const std::size_t k : places) grasps.push_back(reader(k).template packed<N>());
    return grasps;
  }
  /// Copies [j][each] to [places[j]][each].
  template <class T>
  static void spread(const std::vector<T>& from, std::span<const std::size_t> places, std::vector<T>& to) {
    const std::size_t each = from.size() / places.size();
    for (std::size_t j = 0; j < places.size(); ++j)
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(j * each), each,
                  to.begin() + static_cast<std::ptrdiff_t>(places[j] * each));
  }

  /// Decides grasps of an ideal hand, with at most N contacts, or as many as are in use.
  template <int N, int D>
  void ideal(std::span<const std::size_t> places) const {
    const std::vector<SetGrasp<N>> grasps = packed<N>(places);
    std::vector<DecisionBits> decisions(places.size() * out_.words);
    std::vector<double> critical(places.size() * out_.each);
    std::vector<double> radius(places.size() * out_.radii, kNone);
    const SetModel model = make_model(work_.study);
    std::vector<int> pads;
    for (const std::size_t k : places) std::ranges::copy(reader(k).pads(), std::back_inserter(pads));
    const Device& device = work_.device;
    run_set<N, D>(
        {model, grasps, of_.first, of_.count, of_.numbers, decisions.data(), critical.data(),
         work_.set.force_limit.empty() ? 0 : of_.radii, radius.data(), pads.empty() ? nullptr : pads.data()},
        pads.empty() || device.executor != Executor::kCuda ? device : Device{Executor::kLanes, device.threads});
    spread(decisions, places, out_.decisions);
    spread(critical, places, out_.critical);
    spread(radius, places, out_.radius);
  }

  /// The same with the set's hand. Numbers come with the samples.
  template <int N, int D>
  void with_hand(std::span<const std::size_t> places) const {
    const std::vector<SetGrasp<N>> grasps = packed<N>(places);
    PackedHands<N, D> hands;
    hands.hands.reserve(places.size());
    for (std::size_t j = 0; j < places.size(); ++j) {
      check_interrupt();
      reader_.pack(grasp(places[j]), grasps[j], hands);
    }
    const std::int64_t samples = std::max(of_.count, of_.numbers);
    std::vector<DecisionBits> decisions(places.size() * static_cast<std::size_t>(words_for(samples)));
    Decided numbers(places.size(), of_, work_.hand);
    const SetModel model = make_model(work_.study);
    run_hand<N, D>({model, grasps, hands.hands, hands.limited(), contact_solver(work_.study),
                    held_rule(work_.study, work_.set), work_.study.check_uniqueness, of_.first, samples,
                    decisions.data(), numbers.counts.data(), of_.numbers, numbers.critical.data(),
                    numbers.margin.data(), numbers.radius.data(), work_.rows, contact_options(work_.study)},
                   work_.device);
    set_redundant<D>(places, model, numbers);
    spread(numbers.critical, places, out_.critical);
    spread(numbers.margin, places, out_.margin);
    spread(numbers.radius, places, out_.radius);
    if (of_.count == 0) return;  // counted before
    for (std::size_t j = 0; j < places.size(); ++j) {
      auto& first = numbers.counts[j].first;
      // Contacts that only pad to N cannot fail first.
      std::fill(first.begin() + count_contacts(work_.set, which_[places[j]]), first.end(), 0);
    }
    spread(decisions, places, out_.decisions);
    spread(numbers.counts, places, out_.counts);
  }

  /// Sets required friction, margin and radius of samples whose forces are not unique, on the host.
  template <int D>
  void set_redundant(std::span<const std::size_t> places, const SetModel& model, Decided& numbers) const {
    const int contacts = extent<kAnyContacts>();
    for (std::size_t j = 0; j < places.size(); ++j) {
      const auto critical = std::span(numbers.critical).subspan(j * numbers.each, numbers.each);
      if (std::none_of(critical.begin(), critical.end(), [](double x) { return std::isnan(x); })) continue;
      const std::vector<SetGrasp<kAnyContacts>> one = packed<kAnyContacts>(places.subspan(j, 1));
      PackedHands<kAnyContacts, D> hand;
      reader_.pack(grasp(places[j]), one[0], hand);
      batch::for_blocks(
          solve_threads(work_.device), {std::ssize(critical), 1}, [contacts] { return ContactsInUse(contacts); },
          [&](ContactsInUse&, std::int64_t k, std::int64_t) {
            if (!std::isnan(critical[static_cast<std::size_t>(k)])) return;
            check_interrupt();
            const HandReplay found =
                replay_hand<D>({model, one, hand.hands, hand.limited(), solvers::FrictionNewton{},
                                held_rule(work_.study, work_.set), work_.study.check_uniqueness, of_.first + k, 1,
                                nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr, contact_options(work_.study)},
                               of_.first + k);
            const std::size_t at = j * numbers.each + static_cast<std::size_t>(k);
            numbers.critical[at] = found.critical;
            numbers.margin[at] = found.margin;
            numbers.radius[at] = found.radius;
          });
    }
  }

  const Work& work_;
  HandReader reader_;
  std::span<const std::size_t> which_;
  IndexRange of_;
  Decided& out_;
};

/// The q-quantile: the value that a share q of them do not exceed.
double sorted_quantile(const std::vector<double>& sorted, double q) {
  const auto n = static_cast<double>(sorted.size());
  return sorted[static_cast<std::size_t>(std::clamp(std::ceil(q * n) - 1, 0.0, n - 1))];
}

/// 5, 50, 95 % quantiles of a grasp's numbers. An undefined one (forces that are not unique) counts as the worst; if
/// all are undefined, no numbers were requested.
std::array<double, 3> find_quantiles(const std::vector<double>& all, std::size_t g, std::size_t each, double worst) {
  if (each == 0) return {kNone, kNone, kNone};
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(g * each);
  std::vector<double> sorted(begin, begin + static_cast<std::ptrdiff_t>(each));
  if (std::all_of(sorted.begin(), sorted.end(), [](double x) { return std::isnan(x); })) return {kNone, kNone, kNone};
  for (double& x : sorted) x = std::isnan(x) ? worst : x;
  std::sort(sorted.begin(), sorted.end());
  return {sorted_quantile(sorted, 0.05), sorted_quantile(sorted, 0.5), sorted_quantile(sorted, 0.95)};
}

/// Share of `count` among the known ones of `all` samples, of which `unknown` are not known.
double count_share(std::int64_t count, std::int64_t unknown, std::int64_t all) {
  return all > unknown ? static_cast<double>(count) / static_cast<double>(all - unknown) : kNone;
}

/// Sets the columns that need a hand's samples.
void set_hand_columns(const Decided& decided, std::size_t k, std::size_t g, Ranking& out) {
  const HandCounts& n = decided.counts[k];
  out.outcomes[g] = n.outcome;
  const auto all = std::accumulate(n.outcome.begin(), n.outcome.end(), std::int64_t{0});  // samples of all load cases
  out.p_no_slip[g] = count_share(n.sticks, n.sticks_unknown, all);
  out.p_resisted[g] = count_share(n.resisted, n.resisted_unknown, all);
  out.margin[g] = find_quantiles(decided.margin, k, decided.each, -kInfinite);
  const auto most = std::max_element(n.first.begin(), n.first.end());
  out.non_unique[g] = n.several;
  if (*most > 0) out.limiting_contact[g] = most - n.first.begin();
}

void set_ideal_columns(std::size_t g, Ranking& out) {
  out.p_resisted[g] = out.p_held[g];
  out.outcomes[g][static_cast<std::size_t>(Outcome::kHeld)] = out.held[g];
  out.outcomes[g][static_cast<std::size_t>(Outcome::kUnsolved)] = out.unsolved[g];
  out.outcomes[g][static_cast<std::size_t>(Outcome::kNotResisted)] = out.samples[g] - out.held[g] - out.unsolved[g];
}

constexpr std::size_t kColumns = 19;
static_assert(sizeof(Ranking) == kColumns * sizeof(std::vector<double>) + 2 * sizeof(void*),
              "a column of rankings is missing here, and where runs keep rows and files are written");

/// Calls `Do` for all columns of a row.
template <class Rows, class Do>
void for_columns(Rows& r, const Do& run) {
  run(r.status, &Ranking::status);
  for (const auto column : {&Ranking::held, &Ranking::unsolved, &Ranking::samples, &Ranking::non_unique,
                            &Ranking::limiting_contact, &Ranking::rank})
    run(r.*column, column);
  for (const auto column :
       {&Ranking::p_held, &Ranking::low, &Ranking::high, &Ranking::difference, &Ranking::difference_low,
        &Ranking::difference_high, &Ranking::p_no_slip, &Ranking::p_resisted, &Ranking::resisted_force_radius})
    run(r.*column, column);
  for (const auto column : {&Ranking::required_friction, &Ranking::margin}) run(r.*column, column);
  run(r.outcomes, &Ranking::outcomes);
}

}  // namespace

IndexRange numbers_only(const SetStudy& study) {
  const std::int64_t friction = std::clamp<std::int64_t>(study.friction_samples, 0, study.samples);
  return {0, 0, friction,
          study.radius_samples < 0 ? (friction + 19) / 20 : std::min(study.radius_samples, study.samples)};
}

IndexRange all_samples(const SetStudy& study) {
  IndexRange all = numbers_only(study);
  all.count = study.samples;
  return all;
}

Decided::Decided(std::size_t grasps, const IndexRange& of, Hand hand)
    : words(static_cast<std::size_t>(words_for(of.count))),
      decisions(grasps * words),
      each(static_cast<std::size_t>(of.numbers)),
      critical(grasps * each, kNone),
      margin(critical),
      radii(static_cast<std::size_t>(hand == Hand::kIdeal ? of.radii : of.numbers)),
      radius(grasps * radii, kNone),
      counts(grasps) {}

Decided decide(const Work& work, std::span<const std::size_t> which, const IndexRange& of, const SetProgress& done) {
  Decided out(which.size(), of, work.hand);
  Deciding(work, which, of, out).all(done);
  return out;
}

Ranking empty_ranking(std::size_t grasps, Hand hand) {
  Ranking r;
  r.hand = hand;
  for_columns(r, [&]<class T>(std::vector<T>& column, auto) {
    if constexpr (std::is_same_v<T, double>)
      column.assign(grasps, kNone);
    else if constexpr (std::is_same_v<T, std::array<double, 3>>)
      column.assign(grasps, {kNone, kNone, kNone});
    else
      column.resize(grasps);
  });
  r.limiting_contact.assign(grasps, -1);
  return r;
}

void append_ranking(const Ranking& rows, Ranking& to) {
  for_columns(
      to, [&](auto& column, auto which) { column.insert(column.end(), (rows.*which).begin(), (rows.*which).end()); });
}

void count(std::span<const DecisionBits> decisions, std::size_t g, Ranking& out) {
  out.held[g] = out.unsolved[g] = 0;
  for (const DecisionBits& word : decisions) {
    out.held[g] += std::popcount(word.held);
    out.unsolved[g] += std::popcount(word.undecided);
  }
}

void set_probability(const SetStudy& study, std::size_t g, Ranking& out) {
  const std::int64_t known = out.samples[g] - out.unsolved[g];
  if (known > 0) out.p_held[g] = static_cast<double>(out.held[g]) / static_cast<double>(known);
  const study::Interval i = study.best > 0 ? study::always_valid(out.held[g], known, out.unsolved[g], study.confidence)
                                           : study::clopper_pearson_with_unsolved(out.held[g], known, out.unsolved[g]);
  out.low[g] = i.low;
  out.high[g] = i.high;
}

void set_columns(const Decided& decided, std::size_t k, std::size_t g, Ranking& out) {
  out.required_friction[g] = find_quantiles(decided.critical, k, decided.each, kInfinite);
  out.resisted_force_radius[g] = find_quantiles(decided.radius, k, decided.radii, 0)[1];
  if (out.hand == Hand::kIdeal)
    set_ideal_columns(g, out);
  else
    set_hand_columns(decided, k, g, out);
}

namespace {

/// Joins the load cases of each grasp in its case 0: bits and numbers of the samples, which have the same draws in all
/// cases, and sums of counts. `place` is that of a grasp in `decided`.
class CasesJoined {
 public:
  CasesJoined(const Work& work, std::int64_t cases, std::vector<std::size_t> place, Decided& decided)
      : any_(work.study.any_load_case),
        cases_(static_cast<std::size_t>(cases)),
        place_(std::move(place)),
        decided_(decided) {}

  /// `g`: the grasp of case 0. Its status is its own, or the first other one of a case.
  void join(std::size_t g, std::vector<GraspStatus>& status) {
    for (std::size_t c = 1; c < cases_; ++c) {
      if (status[g] == GraspStatus::kRanked) status[g] = status[g + c];
      if (status[g + c] == GraspStatus::kRanked) status[g + c] = GraspStatus::kLoadCase;
    }
    if (status[g] != GraspStatus::kRanked) return;
    const std::size_t to = place_[g];
    for (std::size_t w = 0; w < decided_.words; ++w) decided_.decisions[to * decided_.words + w] = joined(g, w);
    for (std::size_t c = 1; c < cases_; ++c) {
      const std::size_t from = place_[g + c];
      decided_.counts[to].add(decided_.counts[from]);
      join_numbers(decided_.critical, decided_.each, to, from, !any_);
      join_numbers(decided_.margin, decided_.each, to, from, any_);
      join_numbers(decided_.radius, decided_.radii, to, from, any_);
    }
  }

 private:
  [[nodiscard]] DecisionBits joined(std::size_t g, std::size_t w) const {
    std::uint64_t held = any_ ? 0 : ~std::uint64_t{0}, failed = ~held, known = 0;
    for (std::size_t c = 0; c < cases_; ++c) {
      const DecisionBits bits = decided_.decisions[place_[g + c] * decided_.words + w];
      const std::uint64_t lost = ~(bits.held | bits.undecided);
      held = any_ ? held | bits.held : held & bits.held;
      failed = any_ ? failed & lost : failed | lost;
      known |= bits.held | bits.undecided;  // samples beyond the last have no bit
    }
    return {held & known, ~(held | failed) & known};
  }
  /// The larger or smaller number of each sample. An unknown one counts only where a single case is enough.
  void join_numbers(std::vector<double>& all, std::size_t each, std::size_t to, std::size_t from, bool larger) const {
    for (std::size_t i = 0; i < each; ++i) {
      double& mine = all[to * each + i];
      const double other = all[from * each + i];
      if (std::isnan(mine) || std::isnan(other))
        mine = any_ && std::isnan(mine) ? other : any_ ? mine : kNone;
      else
        mine = larger ? std::max(mine, other) : std::min(mine, other);
    }
  }

  bool any_;
  std::size_t cases_;
  std::vector<std::size_t> place_;
  Decided& decided_;
};

}  // namespace

Ranking rank_apart(const Work& work, std::vector<DecisionBits>& decisions, const SetProgress& done) {
  const auto grasps = static_cast<std::size_t>(work.set.count());
  Ranking out = empty_ranking(grasps, work.hand);
  std::vector<std::size_t> which;
  for (std::size_t g = 0; g < grasps; ++g) {
    check_interrupt();
    out.status[g] = GraspReader(work.set, work.hand, static_cast<std::int64_t>(g)).status(work.study.interior_grasp);
    if (out.status[g] == GraspStatus::kRanked) which.push_back(g);
  }
  Decided decided = decide(work, which, all_samples(work.study), done);
  if (const std::int64_t cases = count_load_cases(work.set); cases > 1) {
    std::vector<std::size_t> place(grasps);
    for (std::size_t k = 0; k < which.size(); ++k) place[which[k]] = k;
    CasesJoined joined(work, cases, std::move(place), decided);
    for (std::size_t g = 0; g < grasps; g += static_cast<std::size_t>(cases)) joined.join(g, out.status);
  }
  decisions.assign(grasps * decided.words, {});
  for (std::size_t k = 0; k < which.size(); ++k) {
    const std::size_t g = which[k];
    if (out.status[g] != GraspStatus::kRanked) continue;
    out.samples[g] = work.study.samples;
    count(decided.of(k), g, out);
    set_probability(work.study, g, out);
    set_columns(decided, k, g, out);
    std::ranges::copy(decided.of(k), decisions.begin() + static_cast<std::ptrdiff_t>(g * decided.words));
  }
  return out;
}

}  // namespace garra::grasp
