// The counting scalar under the names of the benchmarks, and through tiles: bodies of the batch run on it, too.
#pragma once

#include <type_traits>

#include "garra/batch/tiles.hpp"
#include "garra/core/counted.hpp"

namespace garra::bench {

using garra::Counted;
using garra::operations;
inline std::int64_t moved_bytes;  ///< to and from tiles by Counted since it was last set to zero

}  // namespace garra::bench

// Found before the general ones because they are more constrained; bodies must be included after this file.
namespace garra::batch {

template <class S, class T>
requires std::is_same_v<S, Counted> T load(const double* tiles, std::int64_t i) {
  T t;
  const double* p = tile_at<S, T>(tiles, i);
  for_each_run<S>(
      [&](int count, Counted* numbers) {
        for (int f = 0; f < count; ++f, p += kTile) numbers[f] = *p;
      },
      t);
  bench::moved_bytes += static_cast<std::int64_t>(sizeof(double)) * fields<S, T>();
  return t;
}

template <class S, class T>
requires std::is_same_v<S, Counted>
void store(double* tiles, std::int64_t i, const T& t) {
  double* p = const_cast<double*>(tile_at<S, T>(tiles, i));
  for_each_run<S>(
      [&](int count, const Counted* numbers) {
        for (int f = 0; f < count; ++f, p += kTile) *p = numbers[f].v;
      },
      t);
  bench::moved_bytes += static_cast<std::int64_t>(sizeof(double)) * fields<S, T>();
}

}  // namespace garra::batch
