// A batch in tiles of 32 problems, field-major within a tile: data[tile][field][lane].
// Coalesced for a warp, contiguous for a SIMD register: one layout for both machines.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "garra/core/scalar.hpp"

namespace garra::batch {

inline constexpr std::int64_t kTile = 32;

/// Number of doubles in one problem of type T (all of whose members are S).
template <class S, class T>
inline constexpr int kFields = static_cast<int>(sizeof(T) / sizeof(S));

GARRA_HD constexpr std::int64_t tiles_for(std::int64_t count) { return (count + kTile - 1) / kTile; }

template <class S, class T>
GARRA_HD const double* tile_at(const double* tiles, std::int64_t i) {
  return tiles + (i / kTile) * kFields<S, T> * kTile + i % kTile;
}

/// Loads problem i (S = double), or problems i .. i + kWidth - 1 of one tile (S = Lanes<double>; i a multiple of it).
template <class S, class T>
GARRA_HD T load(const double* tiles, std::int64_t i) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(S) == 0);
  T t;
  S* fields = reinterpret_cast<S*>(&t);
  const double* p = tile_at<S, T>(tiles, i);
  for (int f = 0; f < kFields<S, T>; ++f) {
    if constexpr (kWidth<S> == 1)
      fields[f] = p[f * kTile];
    else
      fields[f] = S::load(p + f * kTile);
  }
  return t;
}

template <class S, class T>
GARRA_HD void store(double* tiles, std::int64_t i, const T& t) {
  const S* fields = reinterpret_cast<const S*>(&t);
  double* p = const_cast<double*>(tile_at<S, T>(tiles, i));
  for (int f = 0; f < kFields<S, T>; ++f) {
    if constexpr (kWidth<S> == 1)
      p[f * kTile] = fields[f];
    else
      fields[f].store(p + f * kTile);
  }
}

/// Stores one lane of a struct of lanes S as problem i.
template <class S, class T>
inline void store_lane(double* tiles, std::int64_t i, const T& t, int lane) {
  const S* fields = reinterpret_cast<const S*>(&t);
  double* p = const_cast<double*>(tile_at<S, T>(tiles, i));
  for (int f = 0; f < kFields<S, T>; ++f) p[f * kTile] = fields[f][lane];
}

/// Owning tile storage on the host, aligned for SIMD loads. `Problem` is the type with S = double.
template <class Problem>
class Tiles {
 public:
  explicit Tiles(std::int64_t count)
      : count_(count), data_(new (std::align_val_t(64)) double[static_cast<std::size_t>(doubles())]()) {}
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t doubles() const { return tiles_for(count_) * kTile * kFields<double, Problem>; }
  [[nodiscard]] double* data() { return data_.get(); }
  [[nodiscard]] const double* data() const { return data_.get(); }
  [[nodiscard]] Problem get(std::int64_t i) const { return load<double, Problem>(data(), i); }
  void set(std::int64_t i, const Problem& p) { store<double, Problem>(data(), i, p); }
  /// Fills the last tile with copies of the last problem, so that spare lanes do ordinary arithmetic.
  void pad() {
    if (count_ == 0) return;
    const Problem last = get(count_ - 1);
    for (std::int64_t i = count_; i % kTile != 0; ++i) set(i, last);
  }

 private:
  struct Free {
    void operator()(double* p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  std::int64_t count_;
  std::unique_ptr<double[], Free> data_;
};

}  // namespace garra::batch
