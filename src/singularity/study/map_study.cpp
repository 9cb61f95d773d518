#include "singularity/study/map_study.hpp"

#include <algorithm>
#include <cmath>

#include "singularity/map/map_outcomes.hpp"
#include "study/columns.hpp"
#include "study/summary.hpp"

namespace garra::singularity {

namespace {

using study::at;
using study::Total;

constexpr double kBinWidth = (VoxelGrid::kHighest - VoxelGrid::kLowest) / VoxelGrid::kBins;

/// Sets with a count, the most frequent first; of equal ones the one with the lower joints.
std::vector<CountedSet> counted_sets(const Total& t, int first, std::size_t sets) {
  std::vector<CountedSet> list;
  for (std::size_t k = 0; k < sets && !t.counts.empty(); ++k)
    if (const std::int64_t n = at(t, first + static_cast<int>(k)); n > 0)
      list.push_back({static_cast<std::uint32_t>(k), n, -1});
  // Stable: sets come in the order of their bits, and equal counts keep it.
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  return list;
}

/// Value of log10 sigma_min below which a share p of a voxel's samples lies, by linear interpolation in its bins.
double log_quantile(const Total& t, int bins, double p) {
  std::int64_t all = 0;
  for (int k = 0; k < VoxelGrid::kBins; ++k) all += at(t, bins + k);
  double rest = p * static_cast<double>(all);
  for (int k = 0; k < VoxelGrid::kBins; ++k) {
    const auto n = static_cast<double>(at(t, bins + k));
    if (n > 0 && rest <= n) return VoxelGrid::kLowest + kBinWidth * (k + rest / n);
    rest -= n;
  }
  return NAN;
}

}  // namespace

const char* sampling_kind(const MapScenario& s) {
  bool grid = false, drawn = false;
  for (const JointSource& joint : s.joint) {
    grid |= joint.kind == JointSource::Kind::kGrid;
    drawn |= joint.kind == JointSource::Kind::kUniform;
  }
  if (s.task) return "task";
  if (grid) return drawn ? "mixed" : "grid";
  return !drawn ? "grid" : s.sequence == Sequence::kRandom ? "random" : "even";
}

MapStudy::MapStudy(const MapScenario& scenario) : scenario_(scenario), engine_(scenario_) {}

study::Shape MapStudy::shape() const {
  return {.row = map_row(scenario_.robot.joints),
          .counts = static_cast<std::size_t>(layout().counts),
          .least = static_cast<std::size_t>(layout().least),
          .buckets = kMapQuantities,
          .outcomes = {{static_cast<std::size_t>(layout().outcome), kMapOutcomes}}};
}

std::span<const study::OutcomeWords> MapStudy::outcome_words() const { return kOutcomeWords; }

std::vector<study::RowColumn> MapStudy::columns() const {
  using study::Columns;
  using Type = Columns::Type;
  const auto joints = static_cast<std::size_t>(scenario_.robot.joints);
  Columns columns;
  columns.number("index", Type::kWhole).number("outcome", Type::kSmall, names_in(kOutcomeWords));
  columns.number("search_status", Type::kSmall, {"converged", "diverged", "non_finite"});
  columns.number("sigma_min").number("inverse_condition").number("manipulability");
  columns.number("lost", Type::kSmall).number("dependent_joints", Type::kWhole);
  columns.number("escape_joint", Type::kIndex).number("escape_order", Type::kSmall);
  columns.number("escape_rate").number("escape_sign").number("distance").numbers("tool", 3).numbers("q", joints);
  return columns.numbers("singular_q", joints).numbers("wrench", 6).list();
}

study::Tally MapStudy::run(std::int64_t first, std::int64_t count, const Device& device) const {
  return engine_.run(first, count, device);
}

std::vector<CountedSet> MapStudy::dependent_joints(const Total& t) const {
  std::vector<CountedSet> list = counted_sets(t, layout().dependent_joints, std::size_t{1} << scenario_.robot.joints);
  for (CountedSet& set : list) {
    const double first = t.least[static_cast<std::size_t>(layout().least_example) + set.joints];
    // Infinity: no sample was counted there.
    if (std::isfinite(first)) set.example = static_cast<std::int64_t>(first);
  }
  return list;
}

std::vector<CountedSet> MapStudy::subsets(const Total& t) const {
  return counted_sets(t, layout().subset, std::size_t{1} << scenario_.robot.joints);
}

VoxelValues MapStudy::voxels(const Total& t) const {
  const MapLayout& l = layout();
  VoxelValues v;
  for (int k = 0; k < l.voxels.size(); ++k) {
    const int first = l.voxel + k * VoxelGrid::kCounts;
    const std::int64_t n = at(t, first);
    const double low = n > 0 ? t.least[static_cast<std::size_t>(l.least_sigma + k)] : NAN;
    const double high = n > 0 ? -t.least[static_cast<std::size_t>(l.least_minus + k)] : NAN;
    // Bins are coarse, extremes are exact.
    const auto quantile = [&](double p) {
      return n > 0 ? std::clamp(std::pow(10, log_quantile(t, first + 2, p)), low, high) : NAN;
    };
    v.count.push_back(n);
    v.near.push_back(at(t, first + 1));
    v.sigma_min.push_back(low);
    v.sigma_max.push_back(high);
    v.sigma_p10.push_back(quantile(0.1));
    v.sigma_p50.push_back(quantile(0.5));
  }
  return v;
}

std::unique_ptr<study::Study> make_study(const MapScenario& scenario) { return std::make_unique<MapStudy>(scenario); }

}  // namespace garra::singularity
