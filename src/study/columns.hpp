// Describes the numbers that a study measures of every sample. Each study has one table of rows; its enum, counts, the
// datasets of results.h5, summary.json, replay, the terminal answer and the report all follow from it.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "garra/study/tally.hpp"

namespace garra::study {

/// Names and descriptions of a row.
struct ColumnWords {
  const char* name;          ///< in files: "friction_margin"
  const char* unit;          ///< SI: "N", "m/s^2"; "1" of a ratio
  const char* label;         ///< for people, without the unit: "Friction margin"
  const char* meaning = "";  ///< one sentence; "" if the label suffices
  /// The value that separates good from bad; NaN if there is none.
  double reference = std::numeric_limits<double>::quiet_NaN();
};

/// Equal bins of a histogram.
struct Axis {
  double low = 0, high = 1;
  int bins = 200;
};

/// Number of rows of a table, which is a tuple of rows, each with `words`.
template <class Table>
inline constexpr int kRows = static_cast<int>(std::tuple_size_v<Table>);

/// Calls visit(row, number) for all rows, in order.
template <class Table, class Visit>
constexpr void for_each_row(const Table& table, const Visit& visit) {
  std::apply(
      [&](const auto&... row) {
        int k = 0;
        (visit(row, k++), ...);
      },
      table);
}

/// Number of the row with this name. A misspelled one does not compile.
template <class Table>
consteval int find_row(const Table& table, std::string_view name) {
  int found = -1;
  for_each_row(table, [&](const auto& row, int k) {
    if (name == row.words.name) found = k;
  });
  // In a consteval function a throw that is reached is a compile error.
  if (found < 0) throw "no row has this name";
  return found;
}

/// Values of the rows for one sample, in order.
template <class Table, class... Sample>
[[nodiscard]] auto row_values(const Table& table, const Sample&... sample) {
  return std::apply([&](const auto&... row) { return std::array<double, sizeof...(row)>{row.value(sample...)...}; },
                    table);
}

namespace columns {

template <class Table, std::size_t... K, class... Sample>
GARRA_HD std::array<double, sizeof...(K)> values(std::index_sequence<K...>, const Sample&... sample) {
  return {decltype(std::tuple_element_t<K, Table>::value){}(sample...)...};
}

}  // namespace columns

/// The same for a table whose values are lambdas without captures, by their types alone. It also works on a GPU, which
/// cannot read the host's table.
template <class Table, class... Sample>
[[nodiscard]] GARRA_HD auto values_by_type(const Sample&... sample) {
  return columns::values<Table>(std::make_index_sequence<kRows<Table>>{}, sample...);
}

/// The datasets of kept rows, each behind the one before.
class Columns {
 public:
  using Type = RowColumn::Type;
  /// One number per row.
  Columns& number(const std::string& name, Type type = Type::kReal, std::vector<std::string> names = {}) {
    list_.push_back({name, type, size_++, 1, true, std::move(names)});
    return *this;
  }
  /// `width` numbers per row.
  Columns& numbers(const std::string& name, std::size_t width, std::vector<std::string> names = {}) {
    list_.push_back({name, Type::kReal, size_, width, false, std::move(names)});
    size_ += width;
    return *this;
  }
  /// Leaves one number of the row out of the file.
  Columns& skip() {
    ++size_;
    return *this;
  }
  [[nodiscard]] const std::vector<RowColumn>& list() const { return list_; }

 private:
  std::vector<RowColumn> list_;
  std::size_t size_ = 0;
};

/// Allocates places in a flat array of counts.
class Places {
 public:
  int take(int size) {
    next_ += size;
    return next_ - size;
  }
  /// Histogram of a number with quantiles.
  Histogram histogram(const Axis& axis) {
    Histogram h = bins(axis);
    h.buckets = buckets_++;
    return h;
  }
  /// Histogram without quantiles.
  Histogram bins(const Axis& axis) {
    // Values outside of the bins, and those that are no number, have counts of their own behind the bins: size()
    // includes them.
    Histogram h{axis.low, axis.high, axis.bins, next_};
    take(h.size());
    return h;
  }
  [[nodiscard]] int count() const { return next_; }
  [[nodiscard]] int buckets() const { return buckets_; }

 private:
  int next_ = 0, buckets_ = 0;
};

}  // namespace garra::study
