// Selection on a GPU, on the stream of the calling thread's work (for_each.cuh).
#pragma once

#include <cstdint>

namespace garra::cuda {

/// A list in device memory.
struct List {
  int* item;
  int* length;  ///< one number
};
/// Lists the i = 0, ..., count - 1 with marks[i], in order.
void select(std::int64_t count, const bool* marks, const List& to);

/// The numbers of a list that are not 0, and their places.
struct Nonzero {
  int* place;
  unsigned long long *number, *length;
};
void select(std::int64_t count, const unsigned long long* numbers, const Nonzero& to);

/// Rows of `count` numbers each.
struct KeyRows {
  int rows;
  std::int64_t count;
};
/// The first places of each row.
struct LeastPlaces {
  int* place;  ///< [row][size]; -1 where a row has fewer finite numbers
  int size;    ///< at most 256
};
/// Finds the least numbers of each row, in order; of equal ones the first. Infinity and NaN are not among them.
void find_least(const double* keys, const KeyRows& of, const LeastPlaces& to);

}  // namespace garra::cuda
