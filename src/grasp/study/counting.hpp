// Counts and kept rows of a grasp study's samples: single-source implementation for CPU and GPU. Host and device.
#pragma once

#include "garra/batch/tiles.hpp"
#include "garra/core/log10.hpp"
#include "garra/grasp.hpp"
#include "garra/solvers/friction_newton.hpp"
#include "garra/study/counting.hpp"
#include "garra/study/distribution.hpp"
#include "grasp/sample/check.hpp"
#include "grasp/sample/grasp_model.hpp"
#include "grasp/study/columns.hpp"

namespace garra::grasp {

inline constexpr int kConeBins = 80;        ///< of a cone's picture along t and along o
inline constexpr double kConeExtent = 2.0;  ///< the picture reaches to so many times mu c_n
inline constexpr double kHeldLast = 1e6;    ///< added to a held sample's key in the ranking `closest`
inline constexpr int kIterationBins = 41;   ///< 0 .. 39 Newton steps, and more
inline constexpr int kRowHead = 3;          ///< of a kept row: index, outcome, residual

/// Offsets of the counts in Tally::counts, and of the sums in a block of Tally::sums.
struct Layout {
  int contacts = 0, draws = 0;
  int sticks = 0, resisted = 0;  ///< each: samples with the property, undecided samples
  int several = 0;               ///< samples with another certified solution that moves otherwise
  int left_out = 0;  ///< held samples with opening contacts; among them those with fewer than three closed ones
  int outcome = 0, state = 0, first = 0, cone = 0, iterations = 0, held_bin = 0, decided_bin = 0;
  study::Histogram force[kMaxGroupContacts];
  study::Histogram metric[kMetrics];
  study::Histogram residual;
  int objects = 0;        ///< of a group; else 0
  int objects_held = 0;   ///< of each object: samples in which it is held, samples in which that is not decided
  int counts = 0;         ///< in all
  int buckets = 0;        ///< numbers that have any
  int beyond_newton = 0;  ///< among the sums of a block: iterations after Newton's, of `auto`
  int held_sum = 0;       ///< likewise: samples held, then samples unsolved
  int sums = 0;           ///< per block: (sum, sum of squares) of each force, then of each metric; the others
  int row = 0;            ///< doubles per kept sample: index, outcome, residual, metrics, inputs, c, a
};

[[nodiscard]] inline study::CountingSizes make_counting_sizes(const Layout& l, study::Keep keep) {
  return {.counts = l.counts,
          .buckets = l.buckets,
          .pairs = l.beyond_newton / 2,
          .sums = l.sums,
          .row = l.row,
          .keep = keep,
          .nested = {l.held_bin, l.decided_bin, l.draws * study::kInputBins},
          .scattered = {l.cone, l.contacts * kConeBins * kConeBins}};
}

/// One sample, as views into its tiles.
template <int N>
struct Sample {
  std::int64_t number;
  Metrics<double, N> metrics;
  SampleResult<double, N> sample_result;
  const double* uniforms;  ///< of its draws, a tile apart

  [[nodiscard]] GARRA_HD Outcome outcome() const {
    return static_cast<Outcome>(static_cast<int>(sample_result.outcome));
  }
  [[nodiscard]] GARRA_HD double uniform(int draw) const { return uniforms[draw * batch::kTile]; }
  [[nodiscard]] GARRA_HD auto values() const {
    return study::values_by_type<decltype(kColumns)>(metrics, sample_result);
  }
};

/// A range of samples to be counted; the tiles lie where the counting is done.
template <int N>
struct Counting {
  const GraspModel* model;
  Layout layout;
  study::Keep keep;
  std::int64_t first;  ///< number of the range's first sample
  const double *metrics, *uniforms, *sample_results;

  [[nodiscard]] GARRA_HD Sample<N> sample(std::int64_t i) const {
    return {first + i, batch::load<double, Metrics<double, N>>(metrics, i),
            batch::load<double, SampleResult<double, N>>(sample_results, i),
            uniforms + (i / batch::kTile) * layout.draws * batch::kTile + i % batch::kTile};
  }
  [[nodiscard]] GARRA_HD bool keeps(std::int64_t i) const {
    const double outcome = *batch::tile_at<double, SampleResult<double, N>>(sample_results, i);  // its first field
    return keep == study::Keep::kAll || (keep == study::Keep::kFailures && outcome != double(int(Outcome::kHeld)));
  }

  template <class To>
  GARRA_HD void count(std::int64_t i, To& to) const {
    const Sample<N> s = sample(i);
    const Outcome outcome = s.outcome();
    const bool held = outcome == Outcome::kHeld, decided = outcome != Outcome::kUnsolved;
    to.count(layout.outcome + static_cast<int>(outcome));
    // Sums are doubles of whole numbers: exact up to 2^53.
    to.sum(layout.held_sum, held);
    to.sum(layout.held_sum + 1, !decided);
    count_inputs(s, held, decided, to);
    if (outcome == Outcome::kUnreachable) return;
    count_if(layout.sticks, s.sample_result.sticks, to);
    count_if(layout.resisted, s.metrics.resisted, to);
    if (s.sample_result.several == 1) to.count(layout.several);
    if (held && s.sample_result.opens > 0) to.count(layout.left_out);
    if (held && s.sample_result.opens > 0 && extent<N>() - s.sample_result.opens < 3) to.count(layout.left_out + 1);
    count_contacts(s, to);
    const auto values = s.values();
    for (int k = 0; k < kMetrics; ++k)
      to.value(layout.metric[k], values[static_cast<std::size_t>(k)], 2 * (extent<N>() + k));
    // Only contact failures count, not those of wrench or command.
    if (decided && outcome >= Outcome::kSlipping && s.metrics.first >= 0)
      to.count(layout.first + static_cast<int>(s.metrics.first));
    count_solution(s, decided, to);
  }

  /// Writes the row of a kept sample, `layout.row` numbers.
  GARRA_HD void write_row(std::int64_t i, double* row) const {
    const Sample<N> s = sample(i);
    *row++ = static_cast<double>(s.number);
    *row++ = s.sample_result.outcome;
    *row++ = s.sample_result.residual;
    const auto values = s.values();
    for (int k = 0; k < kMetrics; ++k) *row++ = values[static_cast<std::size_t>(k)];
    for (int k = 0; k < layout.draws; ++k) *row++ = study::quantile(model->draw[k].distribution, s.uniform(k));
    for (int k = 0; k < extent<3 * N>(); ++k) *row++ = s.sample_result.c[k];
    for (int k = 0; k < extent<3 * N>(); ++k) *row++ = s.sample_result.a[k];
  }

 private:
  /// Counts bins of equal probability, from the uniform numbers.
  template <class To>
  GARRA_HD void count_inputs(const Sample<N>& s, bool held, bool decided, To& to) const {
    // Several are read before any is counted: a GPU cannot know that counting changes none, and would wait for each.
    constexpr int kTogether = 8;
    for (int first = 0; first < layout.draws; first += kTogether) {
      double uniform[kTogether];
      for (int h = 0; h < kTogether; ++h) uniform[h] = s.uniform(first + h < layout.draws ? first + h : first);
      for (int h = 0; h < kTogether && first + h < layout.draws; ++h) {
        const int bin = (first + h) * study::kInputBins + static_cast<int>(uniform[h] * study::kInputBins);
        if (held)
          to.count_within(layout.held_bin + bin, layout.decided_bin + bin);
        else if (decided)
          to.count(layout.decided_bin + bin);
      }
    }
  }
  /// Counts a condition: 1, 0, or NaN if it is unknown.
  template <class To>
  static GARRA_HD void count_if(int at, double so, To& to) {
    if (so == 1) to.count(at);
    if (!(so == so)) to.count(at + 1);
  }
  template <class To>
  GARRA_HD void count_contacts(const Sample<N>& s, To& to) const {
    const SampleResult<double, N>& v = s.sample_result;
    const bool solved = v.sticks == v.sticks;  // the outcome may be known without forces: not resisted
    for (int j = 0; j < extent<N>(); ++j) {
      if (solved) to.count(layout.state + 3 * j + static_cast<int>(v.state[j]));
      to.value(layout.force[j], v.c[3 * j], 2 * j);
      const double x = (s.metrics.tangent_t[j] / kConeExtent + 1) * (kConeBins / 2.0);
      const double y = (s.metrics.tangent_o[j] / kConeExtent + 1) * (kConeBins / 2.0);
      if (!(x >= 0 && x < kConeBins && y >= 0 && y < kConeBins)) continue;  // far outside the cone, or pulled open
      to.count(layout.cone + (j * kConeBins + static_cast<int>(y)) * kConeBins + static_cast<int>(x));
    }
  }
  /// Counts the solver's effort, and records extreme samples.
  template <class To>
  GARRA_HD void count_solution(const Sample<N>& s, bool decided, To& to) const {
    const SampleResult<double, N>& v = s.sample_result;
    const int steps = static_cast<int>(v.iterations), outcome = static_cast<int>(s.outcome());
    to.sum(layout.beyond_newton, max(0, steps - solvers::kMaxNewtonSteps));
    to.count(layout.iterations + (steps < kIterationBins ? steps : kIterationBins - 1));
    // Values below the axis, also zero, are in its first bin.
    to.count(layout.residual.place(max(log10(max(v.residual, 1e-18)), layout.residual.low)));
    // Failures by the size of their margin, then the held samples. Undefined margins are not ranked.
    const double margin = s.metrics.margin;
    const double held_last = s.outcome() == Outcome::kHeld ? kHeldLast : 0;
    if (is_finite(margin)) to.closest({held_last + abs(margin), s.number, outcome, margin});
    if (decided && is_finite(v.residual)) to.worst({-v.residual, s.number, outcome, v.residual});
  }
};

}  // namespace garra::grasp
