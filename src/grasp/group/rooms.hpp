// Memory of blocks of samples of a group, whose numbers are counted at run time. Host and device.
#pragma once

#include "garra/batch/tiles.hpp"
#include "grasp/group/dense.hpp"

namespace garra::grasp {

/// Memory of samples, and the numbers of each in it.
struct GroupRoom {
  double* first;
  int fields;
};

/// Divides memory into lists.
template <class S>
struct Cutter {
  S* at;
  template <class T>
  GARRA_HD void list(View<T>& to, std::size_t count) {
    to = {reinterpret_cast<T*>(at), count};
    at += count * (sizeof(T) / sizeof(S));
  }
  GARRA_HD void matrix(DenseOf<S, View>& to, int rows, int cols) {
    to.rows = rows;
    to.cols = cols;
    list(to.m, static_cast<std::size_t>(rows * cols));
  }
};

/// A sample's numbers in tiles.
template <class S>
struct TileOf {
  double* first;
  GARRA_HD TileOf(const GroupRoom& tiles, std::int64_t i)
      : first(tiles.first + (i / batch::kTile) * tiles.fields * batch::kTile + i % batch::kTile) {}
  [[nodiscard]] GARRA_HD S at(int field) const { return batch::load<S, S>(first + field * batch::kTile, 0); }
  GARRA_HD void put(int field, const S& value) const { batch::store<S>(first + field * batch::kTile, 0, value); }
};

/// Calls f(number, field) for the numbers of a struct of code for N contacts, `contacts` of which are there: fields
/// count as in tiles of code for any number of contacts.
template <int N, class T, class F>
GARRA_HD void for_numbers(T& x, int contacts, const F& f) {
  int field = 0;
  const auto visit = [&](auto& part) {
    using Part = std::remove_cvref_t<decltype(part)>;
    int count = batch::kFields<double, Part>;
    if constexpr (requires { Part::kRows; }) count = count / N * contacts;
    auto* const numbers = reinterpret_cast<std::conditional_t<std::is_const_v<T>, const double, double>*>(&part);
    for (int k = 0; k < count; ++k) f(numbers[k], field++);
  };
  std::apply([&](auto... part) { (visit(x.*part), ...); }, T::parts());
}
template <int N, class T>
GARRA_HD void put_numbers(const TileOf<double>& tile, int contacts, const T& x) {
  for_numbers<N>(x, contacts, [&](const double& number, int field) { tile.put(field, number); });
}
template <int N, class T>
GARRA_HD void take_numbers(const TileOf<double>& tile, int contacts, T& x) {
  for_numbers<N>(x, contacts, [&](double& number, int field) { number = tile.at(field); });
}

}  // namespace garra::grasp
