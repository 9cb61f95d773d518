#include <algorithm>

#include "garra/study/study.hpp"
#include "garra/study/tally.hpp"

namespace garra::study {

std::int64_t curve_point(std::int64_t block) {
  std::int64_t point = 1;
  while (point <= block) point += std::max<std::int64_t>(1, point / 12);
  return point;
}

void Tally::merge(const Tally& other) {
  counts.resize(other.counts.size());
  for (std::size_t i = 0; i < other.counts.size(); ++i) counts[i] += other.counts[i];
  buckets.add(other.buckets);
  closest.merge(other.closest);
  worst.merge(other.worst);
  groups.resize(std::max(groups.size(), other.groups.size()));
  for (std::size_t g = 0; g < other.groups.size(); ++g) groups[g].merge(other.groups[g]);
  if (least.empty()) least = other.least;
  for (std::size_t i = 0; i < other.least.size(); ++i) least[i] = std::min(least[i], other.least[i]);
  if (count == 0) first = other.first;
  first = std::min(first, other.first);
  count += other.count;
}

void Total::add(const Tally& tally, const Shape& shape) {
  merge(tally);
  exact.resize(shape.sums);
  sums.resize(shape.sums);
  std::int64_t block = tally.first / kBlock, point = 0;
  std::vector<double>* tracked = nullptr;
  for (auto b = tally.sums.begin(); b != tally.sums.end(); b += static_cast<std::ptrdiff_t>(shape.sums), ++block) {
    for (std::size_t i = 0; i < shape.sums; ++i) exact[i].add(b[static_cast<std::ptrdiff_t>(i)]);
    if (block >= point) {
      point = curve_point(block);
      tracked = &curve[point];
      tracked->resize(shape.tracked);
    }
    for (std::size_t i = 0; i < shape.tracked; ++i)
      (*tracked)[i] += b[static_cast<std::ptrdiff_t>(shape.sums - shape.tracked + i)];
  }
  for (std::size_t i = 0; i < shape.sums; ++i) sums[i] = exact[i].value();
}

void Total::add(const Total& other) {
  merge(other);
  exact.resize(other.exact.size());
  sums.resize(other.exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    exact[i].add(other.exact[i]);
    sums[i] = exact[i].value();
  }
  for (const auto& [point, index_range] : other.curve) {
    std::vector<double>& mine = curve[point];
    mine.resize(index_range.size());
    for (std::size_t i = 0; i < index_range.size(); ++i) mine[i] += index_range[i];
  }
}

}  // namespace garra::study
