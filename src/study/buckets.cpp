#include "garra/study/buckets.hpp"

#include <cmath>
#include <limits>

namespace garra::study {

namespace {

using Grid = BucketGrid;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Lower end of the bucket for this size.
double bucket_begin(int size) {
  const int part = size % Grid::kParts;
  return std::ldexp(1 + static_cast<double>(part) / Grid::kParts, size / Grid::kParts + Grid::kLowestPower);
}

/// Whether the place is a bucket: pages that are no octaves have only one, their first.
bool is_bucket(int place) {
  const int page = place / Grid::kParts * Grid::kParts;
  const bool single = page == Grid::kBelow || page == Grid::kZero || page == Grid::kAbove;
  return place >= 0 && place < Grid::kPlaces && (!single || place == page);
}

}  // namespace

double BucketGrid::low(int place) {
  if (place >= kFirst) return bucket_begin(place - kFirst);
  if (place == kZero) return 0;
  return place == kBelow ? -kInfinity : -bucket_begin(kZero - place);
}

double BucketGrid::high(int place) {
  if (place >= kAbove) return kInfinity;
  if (place >= kFirst) return bucket_begin(place - kFirst + 1);
  if (place == kZero) return 0;
  return -bucket_begin(place == kBelow ? kOctaves * kParts : kZero - 1 - place);
}

void Buckets::open(std::size_t page) {
  // Allocates all pages of a number at once.
  if (page >= page_.size()) page_.resize((page / Grid::kPages + 1) * Grid::kPages, 0);
  counts_.resize(counts_.size() + Grid::kParts, 0);
  page_[page] = static_cast<std::int32_t>(counts_.size() / Grid::kParts);
}

std::int64_t Buckets::at(int number, int place) const {
  const auto page = static_cast<std::size_t>(number) * Grid::kPages + static_cast<std::size_t>(place / Grid::kParts);
  if (page >= page_.size() || page_[page] == 0) return 0;
  return counts_[static_cast<std::size_t>(page_[page] - 1) * Grid::kParts +
                 static_cast<std::size_t>(place % Grid::kParts)];
}

void Buckets::add(const Buckets& other) {
  for (std::size_t page = 0; page < other.page_.size(); ++page) {
    if (other.page_[page] == 0) continue;
    if (page >= page_.size() || page_[page] == 0) open(page);
    std::int64_t* mine = counts_.data() + static_cast<std::size_t>(page_[page] - 1) * Grid::kParts;
    const std::int64_t* its = other.counts_.data() + static_cast<std::size_t>(other.page_[page] - 1) * Grid::kParts;
    for (int k = 0; k < Grid::kParts; ++k) mine[k] += its[k];
  }
}

double Buckets::quantile(int number, double p) const {
  const std::vector<std::int64_t> all = runs(number);
  std::int64_t total = 0;
  for (std::size_t k = 1; k < all.size(); k += 2) total += all[k];
  double rest = p * static_cast<double>(total);
  int place = -1;
  for (std::size_t k = 0; k < all.size(); k += 2) {
    place += static_cast<int>(all[k]) + 1;
    const auto n = static_cast<double>(all[k + 1]);
    if (rest > n) {
      rest -= n;
      continue;
    }
    const double low = Grid::low(place), high = Grid::high(place);
    // The bucket above the octaves has no upper end.
    return std::isfinite(low) && std::isfinite(high) ? low + (high - low) * (rest / n) : NAN;
  }
  return NAN;
}

std::vector<std::int64_t> Buckets::runs(int number) const {
  std::vector<std::int64_t> runs;
  std::int64_t zeros = 0;
  for (int page = 0; page < Grid::kPages; ++page) {
    const auto at = static_cast<std::size_t>(number) * Grid::kPages + static_cast<std::size_t>(page);
    if (at >= page_.size() || page_[at] == 0) {
      zeros += Grid::kParts;
      continue;
    }
    const std::int64_t* counts = counts_.data() + static_cast<std::size_t>(page_[at] - 1) * Grid::kParts;
    for (int k = 0; k < Grid::kParts; ++k) {
      if (counts[k] == 0) {
        ++zeros;
        continue;
      }
      runs.insert(runs.end(), {zeros, counts[k]});
      zeros = 0;
    }
  }
  return runs;
}

bool Buckets::add_runs(int number, const std::vector<std::int64_t>& runs) {
  if (runs.size() % 2 != 0) return false;
  std::int64_t place = -1;
  for (std::size_t k = 0; k < runs.size(); k += 2) {
    if (runs[k] < 0 || runs[k] >= Grid::kPlaces || runs[k + 1] <= 0) return false;
    place += runs[k] + 1;
    if (place >= Grid::kPlaces || !is_bucket(static_cast<int>(place))) return false;
    add_at(number, static_cast<int>(place), runs[k + 1]);
  }
  return true;
}

bool operator==(const Buckets& a, const Buckets& b) {
  if (a.numbers() != b.numbers()) return false;
  for (int k = 0; k < a.numbers(); ++k)
    if (a.runs(k) != b.runs(k)) return false;
  return true;
}

}  // namespace garra::study
