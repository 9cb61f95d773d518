// Tallies and kept rows of a map, as every executor fills them. Host only.
#pragma once

#include <algorithm>
#include <limits>

#include "singularity/map/arm.hpp"

namespace garra::singularity {

inline study::Tally empty_tally(const MapLayout& l, std::int64_t first, std::int64_t count) {
  study::Tally t;
  t.first = first;
  t.count = count;
  t.counts.assign(static_cast<std::size_t>(l.with_buckets()), 0);
  t.least.assign(static_cast<std::size_t>(l.least), std::numeric_limits<double>::infinity());
  return t;
}

/// What was counted behind the layout's counts becomes the tally's buckets, which take no memory where they are empty.
inline void fill_buckets(const MapLayout& l, study::Tally& t) {
  auto count = t.counts.begin() + l.counts;
  for (int of = 0; of < kMapQuantities; ++of)
    for (int place = 0; place < study::BucketGrid::kPlaces; ++place, ++count)
      if (*count > 0) t.buckets.add_at(of, place, *count);
  t.counts.resize(static_cast<std::size_t>(l.counts));
}

/// What there is to say of one near sample.
template <int J>
struct NearSample {
  std::int64_t sample;
  MapOutcome outcome;
  Measured<double> measured;
  Vec<double, J> q;
  NearSingularity<double, J> nearest;
};

/// Appends the kept row of a near sample, of map_row(joints) numbers (layout.hpp).
template <int J>
void keep_row(const NearSample<J>& n, int joints, std::vector<double>& rows) {
  const NearSingularity<double, J>& s = n.nearest;
  rows.insert(rows.end(),
              {static_cast<double>(n.sample), static_cast<double>(n.outcome), s.search_status, n.measured.sigma,
               n.measured.inverse_condition, n.measured.manipulability, s.lost, s.dependent_joints, s.escape_joint,
               s.escape_order, s.escape_rate, s.escape_sign, s.distance});
  rows.insert(rows.end(), n.measured.tool.m, n.measured.tool.m + 3);
  rows.insert(rows.end(), n.q.m, n.q.m + joints);
  rows.insert(rows.end(), s.q.m, s.q.m + joints);
  rows.insert(rows.end(), s.wrench.m, s.wrench.m + 6);
}

/// What a kept row says where searches are not asked for: lost, all else NaN or none.
template <int J>
NearSingularity<double, J> not_analyzed() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  NearSingularity<double, J> n{};
  n.search_status = static_cast<double>(SearchStatus::kDiverged);
  n.escape_joint = -1;
  n.distance = n.escape_rate = nan;
  std::fill(n.wrench.m, n.wrench.m + 6, nan);
  std::fill(n.q.m, n.q.m + J, nan);
  std::fill(n.subset_last.m, n.subset_last.m + J, -1);
  return n;
}

}  // namespace garra::singularity
