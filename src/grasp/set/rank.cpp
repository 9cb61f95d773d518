// grasp::rank: checks the set, sorts its grasps by their number of contacts, decides their samples, compares.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>

#include "garra/core/error.hpp"
#include "garra/study/study.hpp"
#include "grasp/set/run.hpp"
#include "study/elimination.hpp"

namespace garra::grasp {

namespace {

using study::Distribution;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// --- sizes ----------------------------------------------------------------------------------------------------------

void check_array(const char* name, std::size_t size, std::int64_t rows, int width, bool needed) {
  if (size == static_cast<std::size_t>(rows * width) || (size == 0 && !needed)) return;
  throw Error(ExitCode::kInvalidFile, std::string(name) + " has " + std::to_string(size) + " numbers, not " +
                                          std::to_string(rows) + " x " + std::to_string(width));
}

void check_first(const std::vector<std::int64_t>& first) {
  if (first.empty())
    throw Error(ExitCode::kInvalidFile, "first is empty", "It has a number for each grasp and one more.");
  if (first[0] != 0) throw Error(ExitCode::kInvalidFile, "first[0] = " + std::to_string(first[0]) + ", not 0");
  for (std::size_t g = 1; g < first.size(); ++g)
    if (first[g] < first[g - 1])
      throw Error(ExitCode::kInvalidFile, "first[" + std::to_string(g) + "] = " + std::to_string(first[g]) +
                                              ", less than first[" + std::to_string(g - 1) +
                                              "] = " + std::to_string(first[g - 1]));
}

void check_sizes(const Set& s, const SetStudy& study) {
  check_first(s.first);
  const std::int64_t m = s.first.back(), g = s.count();
  check_array("point", s.point.size(), m, 3, true);
  check_array("normal", s.normal.size(), m, 3, true);
  check_array("tangent", s.tangent.size(), m, 3, false);
  check_array("friction", s.friction.size(), m, 1, study.friction_is_factor);
  check_array("curvature", s.curvature.size(), m, 2, false);
  check_array("force_limit", s.force_limit.size(), m, 1, false);
  check_array("mass", s.mass.size(), g, 1, false);
  check_array("com", s.com.size(), g, 3, false);
  check_array("inertia", s.inertia.size(), g, 9, false);
  check_array("gravity", s.gravity.size(), g, 3, false);
  check_array("wrench", s.wrench.size(), g, 6, false);
}

void check_study(const Set& s, const SetStudy& study) {
  if (study.samples < 1) throw Error(ExitCode::kUsage, "samples = " + std::to_string(study.samples), "at least 1");
  if (study.best < 0)
    throw Error(ExitCode::kUsage, "best = " + std::to_string(study.best), "0, or how many are wanted");
  if (!(study.confidence > 0.5 && study.confidence < 1))
    throw Error(ExitCode::kUsage, "confidence = " + std::to_string(study.confidence), "between 0.5 and 1");
  const bool weight = !s.mass.empty() || !study.mass_is_factor;
  if (!weight && s.wrench.empty() && !(study.force_ball > 0) && !(study.torque_ball > 0))
    throw Error(ExitCode::kUsage, "there is nothing that the grasps have to hold",
                "Give mass or wrench, or a disturbance by force_ball or torque_ball.");
}

// --- one grasp ------------------------------------------------------------------------------------------------------

Vec3<double> three(const std::vector<double>& rows, std::int64_t i, const Vec3<double>& otherwise) {
  if (rows.empty()) return otherwise;
  const double* p = rows.data() + 3 * i;
  return vec3(p[0], p[1], p[2]);
}
double one(const std::vector<double>& rows, std::int64_t i, double otherwise) {
  return rows.empty() ? otherwise : rows[static_cast<std::size_t>(i)];
}

bool all_finite(const std::vector<double>& rows, std::int64_t first, std::int64_t count, int width) {
  if (rows.empty()) return true;
  const auto begin = rows.begin() + first * width;
  return std::all_of(begin, begin + count * width, [](double x) { return std::isfinite(x); });
}

/// A direction across n: the given one, or the axis that n leans to least.
Vec3<double> tangent_of(const Vec3<double>& n, const Vec3<double>& given, bool is_given) {
  Vec3<double> along = given;
  if (!is_given) {
    int least = 0;
    for (int i = 1; i < 3; ++i)
      if (std::abs(n[i]) < std::abs(n[least])) least = i;
    along = Vec3<double>::zero();
    along[least] = 1;
  }
  return axpy(-dot(along, n), n, along);
}

constexpr double kShortest = 1e-12;  ///< a shorter vector has no direction

class GraspReader {
 public:
  GraspReader(const Set& set, std::int64_t g)
      : set_(set),
        g_(g),
        row_(set.first[static_cast<std::size_t>(g)]),
        contacts_(set.first[static_cast<std::size_t>(g) + 1] - row_) {}

  [[nodiscard]] std::int64_t contacts() const { return contacts_; }

  [[nodiscard]] GraspStatus status() const {
    if (contacts_ == 0) return GraspStatus::kNoContact;
    if (contacts_ > kMostSetContacts) return GraspStatus::kTooManyContacts;
    if (!finite()) return GraspStatus::kNotFinite;
    if (!frames_exist()) return GraspStatus::kBadNormal;
    for (std::int64_t j = 0; j < contacts_; ++j)
      if (one(set_.friction, row_ + j, 0) < 0 || !(one(set_.force_limit, row_ + j, 0) >= 0))
        return GraspStatus::kBadFriction;
    if (one(set_.mass, g_, 0) < 0 || !(length() > 0)) return GraspStatus::kBadMass;
    if (reach() > kMostReach) return GraspStatus::kMillimeters;
    return outward() ? GraspStatus::kOutwardNormals : GraspStatus::kRanked;
  }

  template <int N>
  [[nodiscard]] SetGrasp<N> packed() const {
    SetGrasp<N> out{};
    out.com = com();
    out.gravity = three(set_.gravity, g_, vec3(0.0, 0.0, -9.81));
    for (int r = 0; r < 6; ++r) out.wrench[r] = one(set_.wrench, 6 * g_ + r, 0);
    out.mass = one(set_.mass, g_, 0);
    out.length = length();
    out.contacts = static_cast<int>(contacts_);
    for (int j = 0; j < N; ++j) {
      const int source = j % out.contacts, copies = (N - source + out.contacts - 1) / out.contacts;
      out.contact[j] = surface(row_ + source);
      out.friction[j] = one(set_.friction, row_ + source, 0);
      out.limit[j] = one(set_.force_limit, row_ + source, std::numeric_limits<double>::infinity()) / copies;
    }
    return out;
  }

 private:
  [[nodiscard]] Vec3<double> com() const { return three(set_.com, g_, Vec3<double>::zero()); }
  [[nodiscard]] Vec3<double> arm(std::int64_t row) const {
    return three(set_.point, row, Vec3<double>::zero()) - com();
  }
  [[nodiscard]] bool finite() const {
    return all_finite(set_.point, row_, contacts_, 3) && all_finite(set_.normal, row_, contacts_, 3) &&
           all_finite(set_.tangent, row_, contacts_, 3) && all_finite(set_.friction, row_, contacts_, 1) &&
           all_finite(set_.curvature, row_, contacts_, 2) && all_finite(set_.mass, g_, 1, 1) &&
           all_finite(set_.com, g_, 1, 3) && all_finite(set_.inertia, g_, 1, 9) && all_finite(set_.gravity, g_, 1, 3) &&
           all_finite(set_.wrench, g_, 1, 6);
  }
  [[nodiscard]] bool frames_exist() const {
    for (std::int64_t row = row_; row < row_ + contacts_; ++row) {
      const Vec3<double> n = three(set_.normal, row, {});
      if (!(norm(n) > kShortest)) return false;
      const Vec3<double> unit = (1 / norm(n)) * n;
      if (!(norm(tangent_of(unit, three(set_.tangent, row, {}), !set_.tangent.empty())) > kShortest)) return false;
    }
    return true;
  }
  [[nodiscard]] SurfacePoint surface(std::int64_t row) const {
    const Vec3<double> given = three(set_.normal, row, {});
    const Vec3<double> n = (1 / norm(given)) * given;
    const Vec3<double> across = tangent_of(n, three(set_.tangent, row, {}), !set_.tangent.empty());
    const Vec3<double> t = (1 / norm(across)) * across;
    return {three(set_.point, row, {}),         n, t, cross(n, t), one(set_.curvature, 2 * row, 0),
            one(set_.curvature, 2 * row + 1, 0)};
  }
  [[nodiscard]] double reach() const {
    double most = 0;
    for (std::int64_t j = 0; j < contacts_; ++j) most = std::max(most, norm(arm(row_ + j)));
    return most;
  }
  /// Radius of gyration; without an inertia, the contacts' root mean square distance from the centre of mass. 0 where
  /// there is no such body. Moments over it are forces: it decides how they weigh in a residual, not what is held.
  [[nodiscard]] double length() const {
    if (!set_.inertia.empty() && one(set_.mass, g_, 0) > 0) {
      const double* I = set_.inertia.data() + 9 * g_;
      const double trace = I[0] + I[4] + I[8];
      const double largest = std::max({I[0], I[4], I[8]});
      // Each diagonal entry is at most the sum of the other two; a flat body's is just that.
      return largest <= 0.5 * trace * (1 + 1e-9) ? std::sqrt(trace / (3 * set_.mass[static_cast<std::size_t>(g_)])) : 0;
    }
    double squares = 0;
    for (std::int64_t j = 0; j < contacts_; ++j) squares += dot(arm(row_ + j), arm(row_ + j));
    // All contacts at the centre of mass: any length will do.
    return squares > 0 ? std::sqrt(squares / static_cast<double>(contacts_)) : 1;
  }
  [[nodiscard]] bool outward() const {
    for (std::int64_t row = row_; row < row_ + contacts_; ++row)
      if (dot(three(set_.normal, row, {}), arm(row)) <= 0) return false;
    return true;
  }

  const Set& set_;
  std::int64_t g_, row_, contacts_;
};

// --- the study ------------------------------------------------------------------------------------------------------

SetModel model_of(const SetStudy& study) {
  const Distribution cosine = Distribution::uniform(-1, 1), azimuth = Distribution::uniform(0, 2 * M_PI);
  const auto ball = [&](Distribution* at, double radius) {
    if (radius == 0) return;  // constant zeros
    at[0] = Distribution::ball(radius);
    at[1] = cosine;
    at[2] = azimuth;
  };
  SetModel m{};
  m.draw[kSetFriction] = study.friction;
  m.draw[kSetMass] = study.mass;
  ball(m.draw + kComSize, study.com_ball);
  ball(m.draw + kSetForceSize, study.force_ball);
  ball(m.draw + kSetTorqueSize, study.torque_ball);
  if (study.any_gravity) {
    m.draw[kGravityCosine] = cosine;
    m.draw[kGravityAzimuth] = azimuth;
  }
  m.contact_draw[kOwnFriction] = study.contact_friction;
  m.contact_draw[kSetSlideT] = study.slide_t;
  m.contact_draw[kSetSlideO] = study.slide_o;
  m.contact_draw[kSetTilt] = study.tilt;
  if (!study.tilt.is_constant()) m.contact_draw[kSetTiltDirection] = azimuth;
  m.friction_is_factor = study.friction_is_factor;
  m.mass_is_factor = study.mass_is_factor;
  m.any_gravity = study.any_gravity;
  m.seed = study.seed;
  return m;
}

/// Verdicts of all samples of all grasps, and the friction that some of them need.
struct Decided {
  Decided(std::size_t grasps, const SetStudy& study)
      : words(words_for(study.samples)),
        friction_samples(std::clamp<std::int64_t>(study.friction_samples, 0, study.samples)),
        verdicts(grasps * static_cast<std::size_t>(words)),
        critical_friction(grasps * static_cast<std::size_t>(friction_samples), kNone) {}

  std::int64_t words, friction_samples;
  std::vector<VerdictBits> verdicts;      ///< [g][words]
  std::vector<double> critical_friction;  ///< [g][friction_samples]

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
  const Device& device;
  Decided& out;

  /// Of some grasps that N contacts are room for.
  template <int N>
  void decide(std::span<const std::size_t> which, const Stretch& of) const {
    std::vector<SetGrasp<N>> grasps;
    grasps.reserve(which.size());
    for (const std::size_t g : which) grasps.push_back(GraspReader(set, static_cast<std::int64_t>(g)).packed<N>());
    const auto words = static_cast<std::size_t>(words_for(of.count)), some = static_cast<std::size_t>(of.friction);
    std::vector<VerdictBits> verdicts(which.size() * words);
    std::vector<double> critical(which.size() * some);
    const SetModel model = model_of(study);
    run_set<N>({model, grasps, of.first, of.count, of.friction, verdicts.data(), critical.data()}, device);
    for (std::size_t k = 0; k < which.size(); ++k) {
      std::copy_n(verdicts.begin() + static_cast<std::ptrdiff_t>(k * words), words,
                  out.verdicts.begin() + static_cast<std::ptrdiff_t>(which[k]) * out.words + of.first / 64);
      std::copy_n(critical.begin() + static_cast<std::ptrdiff_t>(k * some), some,
                  out.critical_friction.begin() + static_cast<std::ptrdiff_t>(which[k]) * out.friction_samples);
    }
  }

  /// Of these grasps, whatever their numbers of contacts. `done` hears how many are through.
  void decide_all(std::span<const std::size_t> which, const Stretch& of, const SetProgress& done) const {
    // A second or so of work at once.
    constexpr std::int64_t kSamplesAtOnce = 1 << 21;
    const auto most =
        static_cast<std::size_t>(std::max<std::int64_t>(1, kSamplesAtOnce / std::max(of.count, of.friction)));
    std::int64_t through = 0;
    for_set_sizes([&](auto n) {
      std::vector<std::size_t> sized;
      for (const std::size_t g : which)
        if (set_size(set.first[g + 1] - set.first[g]) == n) sized.push_back(g);
      for (std::size_t first = 0; first < sized.size(); first += most) {
        const auto some = std::span(sized).subspan(first, std::min(most, sized.size() - first));
        decide<n>(some, of);
        through += std::ssize(some);
        if (done) done(through);
      }
    });
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

void set_friction(const Decided& decided, std::size_t g, Ranking& out) {
  const auto some = static_cast<std::ptrdiff_t>(decided.friction_samples);
  if (some == 0) return;
  const auto begin = decided.critical_friction.begin() + static_cast<std::ptrdiff_t>(g) * some;
  std::vector<double> sorted(begin, begin + some);
  std::sort(sorted.begin(), sorted.end());
  out.critical_friction[g] = {quantile_of(sorted, 0.05), quantile_of(sorted, 0.5), quantile_of(sorted, 0.95)};
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
  for (auto* column : {&r.p_held, &r.low, &r.high, &r.difference, &r.difference_low, &r.difference_high})
    column->assign(n, kNone);
  r.critical_friction.assign(n, {kNone, kNone, kNone});
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
  check_sizes(set, study);
  check_study(set, study);
  Ranking out = empty_ranking(set);
  for (std::size_t g = 0; g < out.status.size(); ++g)
    out.status[g] = GraspReader(set, static_cast<std::int64_t>(g)).status();
  Decided decided(out.status.size(), study);
  const Work work{set, study, device, decided};
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
    set_friction(decided, g, out);
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
