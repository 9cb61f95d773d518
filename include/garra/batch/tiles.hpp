// Storage of a batch in tiles of 32 problems, field-major within a tile: data[tile][field][lane].
// The layout is coalesced for a warp and contiguous for a SIMD register.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>

#include "garra/core/mat.hpp"
#include "garra/core/scalar.hpp"

namespace garra::batch {

inline constexpr std::int64_t kTile = 32;

/// Number of doubles in one problem of type T (all of whose members are S).
template <class S, class T>
inline constexpr int kFields = static_cast<int>(sizeof(T) / sizeof(S));

/// Calls f(pointers to S, count) for the numbers of each of some objects of type T, run after run
/// of adjacent numbers: all at once, or part after part if parts are sized at run time.
template <class S, class F, class... T>
GARRA_HD void for_each_run(const F& f, T&... objects) {
  using First = std::remove_const_t<std::tuple_element_t<0, std::tuple<T...>>>;
  if constexpr (!kSizedAtRunTime<First>) {
    f(kFields<S, First>, reinterpret_cast<std::conditional_t<std::is_const_v<T>, const S, S>*>(&objects)...);
  } else if constexpr (requires { First::parts(); }) {
    const auto visit = [&](auto part) { for_each_run<S>(f, (objects.*part)...); };
    std::apply([&](auto... part) { (visit(part), ...); }, First::parts());
  } else {
    f(count_numbers(std::get<0>(std::tie(objects...))), objects.m...);
  }
}

/// Number of doubles in one problem of type T, for this thread's problem size (extent.hpp).
template <class S, class T>
GARRA_HD constexpr int fields() {
  if constexpr (!kSizedAtRunTime<T>) {
    return kFields<S, T>;
  } else if constexpr (requires { T::parts(); }) {
    return std::apply(
        [](auto... part) { return (fields<S, std::remove_reference_t<decltype(std::declval<T>().*part)>>() + ...); },
        T::parts());
  } else {
    return extent<T::kRows>() * extent<T::kCols>();
  }
}

GARRA_HD constexpr std::int64_t tiles_for(std::int64_t count) { return (count + kTile - 1) / kTile; }

template <class S, class T>
GARRA_HD const double* tile_at(const double* tiles, std::int64_t i) {
  return tiles + (i / kTile) * fields<S, T>() * kTile + i % kTile;
}

/// Loads problem i (S = double), or problems i .. i + kWidth - 1 of one tile (S = Lanes<double>; i a multiple of it).
template <class S, class T>
GARRA_HD T load(const double* tiles, std::int64_t i) {
  static_assert((std::is_trivially_copyable_v<T> || kSizedAtRunTime<T>)&&sizeof(T) % sizeof(S) == 0);
  T t;
  const double* p = tile_at<S, T>(tiles, i);
  for_each_run<S>(
      [&](int count, S* numbers) {
        for (int f = 0; f < count; ++f, p += kTile) {
          if constexpr (kWidth<S> == 1)
            numbers[f] = *p;
          else
            numbers[f] = S::load(p);
        }
      },
      t);
  return t;
}

template <class S, class T>
GARRA_HD void store(double* tiles, std::int64_t i, const T& t) {
  double* p = const_cast<double*>(tile_at<S, T>(tiles, i));
  for_each_run<S>(
      [&](int count, const S* numbers) {
        for (int f = 0; f < count; ++f, p += kTile) {
          if constexpr (kWidth<S> == 1)
            *p = numbers[f];
          else
            numbers[f].store(p);
        }
      },
      t);
}

/// Stores one lane of a struct of lanes S as problem i.
template <class S, class T>
inline void store_lane(double* tiles, std::int64_t i, const T& t, int lane) {
  double* p = const_cast<double*>(tile_at<S, T>(tiles, i));
  for_each_run<S>(
      [&](int count, const S* numbers) {
        for (int f = 0; f < count; ++f, p += kTile) *p = numbers[f][lane];
      },
      t);
}

/// Owning tile storage on the host, aligned for SIMD loads. `Problem` is the type with S = double.
template <class Problem>
class Tiles {
 public:
  explicit Tiles(std::int64_t count)
      : count_(count),
        fields_(fields<double, Problem>()),
        data_(new (std::align_val_t(64)) double[static_cast<std::size_t>(doubles())]()) {}
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t doubles() const { return tiles_for(count_) * kTile * fields_; }
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
  int fields_;
  std::unique_ptr<double[], Free> data_;
};

}  // namespace garra::batch
