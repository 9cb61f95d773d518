// Files of named numeric arrays, HDF5 or NPZ; the first bytes tell which.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files/arrays/shape.hpp"

namespace garra::io {

/// Rows of an array, piece by piece; the file stays open as long. One thread at a time.
class ArrayRows {
 public:
  virtual ~ArrayRows() = default;
  /// Throws if the array as a whole does not fit into memory.
  virtual void require_memory() const = 0;
  /// Rows first .. first + count - 1; `to` must hold their numbers.
  virtual void read(std::uint64_t first, std::uint64_t count, std::span<double> to) = 0;
};

/// Interface of HDF5 and NPZ readers; functions behave as those of Hdf5Reader.
class ArrayFile {
 public:
  virtual ~ArrayFile() = default;
  [[nodiscard]] virtual bool has(const std::string& name) const = 0;
  /// Of the arrays, and of groups of them.
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;
  [[nodiscard]] virtual Shape shape(const std::string& name) const = 0;
  [[nodiscard]] virtual std::vector<double> doubles(const std::string& name) const = 0;
  [[nodiscard]] virtual std::vector<std::int64_t> integers(const std::string& name) const = 0;
  [[nodiscard]] virtual std::unique_ptr<ArrayRows> rows(const std::string& name) const = 0;
  virtual void require_whole_numbers(const std::string& name) const = 0;
  /// Throws Error(kInvalidFile), which names file and array; the remedy is the expectation unless there is a better.
  [[noreturn]] virtual void refuse(const std::string& name, const std::string& problem,
                                   const std::string& remedy = {}) const = 0;
  void require_shape(const std::string& name, const Shape& expected) const;
  /// Refuses an array whose name differs from a known one by a letter: it would be ignored.
  void refuse_misspelled(const std::vector<std::string>& known) const;
};

/// `expectation`: what such a file must hold. Throws Error as Hdf5Reader and NpzReader do.
[[nodiscard]] std::unique_ptr<ArrayFile> open_arrays(const std::string& path, const std::string& expectation);

}  // namespace garra::io
