// A thin layer over the HDF5 C API: identifiers that close themselves, errors that name file and dataset. It is
// thread-safe: threads take turns (Hdf5Turn).
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/files/arrays/shape.hpp"
#include "base/files/atomic_file.hpp"
#include "base/files/hdf5_errors.hpp"

namespace garra::io {

/// Owns one HDF5 identifier of any kind.
class Hdf5Id {
 public:
  Hdf5Id() = default;
  explicit Hdf5Id(hid_t id) : id_(id) {}
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Hdf5Id() {
    if (id_ < 0) return;
    const Hdf5Turn turn;
    H5Idec_ref(id_);  // who cares whether it went well calls close()
  }
  [[nodiscard]] hid_t get() const { return id_; }
  [[nodiscard]] bool valid() const { return id_ >= 0; }
  /// The identifier, to be closed by the caller.
  [[nodiscard]] hid_t release() { return std::exchange(id_, -1); }
  /// Closes it, which may still write; returns whether that succeeded.
  [[nodiscard]] bool close() {
    const Hdf5Turn turn;
    return H5Idec_ref(std::exchange(id_, -1)) >= 0;
  }

 private:
  hid_t id_ = -1;
};

/// Names of the first `count` values of an enum.
template <class Enum>
[[nodiscard]] std::vector<std::string> enum_names(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.emplace_back(to_string(static_cast<Enum>(i)));
  return names;
}
/// Values of an enum as the numbers that files hold.
template <class Number, class Enum>
[[nodiscard]] std::vector<Number> enum_numbers(const std::vector<Enum>& values) {
  std::vector<Number> numbers;
  for (const Enum value : values) numbers.push_back(static_cast<Number>(value));
  return numbers;
}

/// Reader of whole datasets. `expectation`, the required content of such a file, is the remedy in all errors about
/// content. Throws Error: kInvalidFile for wrong content, kInputOutput for missing or damaged files.
class Hdf5Reader {
 public:
  Hdf5Reader(std::string path, std::string expectation);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Whether a dataset or group of this name ("a/b/c") exists.
  [[nodiscard]] bool has(const std::string& name) const;
  /// Names of a group's members, in alphabetical order; none if there is no such group.
  [[nodiscard]] std::vector<std::string> names(const std::string& group) const;
  [[nodiscard]] Shape shape(const std::string& dataset) const;
  /// Reads floating-point or whole numbers of any width.
  [[nodiscard]] std::vector<double> doubles(const std::string& dataset) const;
  /// Reads whole numbers of any width, or truth values.
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& dataset) const;

  /// Throws unless the dataset holds whole numbers.
  void require_whole_numbers(const std::string& dataset) const;

  /// Throws Error(kInvalidFile) "path: dataset NAME: problem"; the remedy is the expectation unless a better one is
  /// given.
  [[noreturn]] void refuse(const std::string& dataset, const std::string& problem,
                           const std::string& remedy = {}) const;
  /// Throws unless the dataset has this shape.
  void require_shape(const std::string& dataset, const Shape& expected) const;
  /// Number of rows of a dataset; throws unless its other axes are `row`.
  [[nodiscard]] std::uint64_t rows(const std::string& dataset, const Shape& row) const;

 private:
  friend class Hdf5Rows;
  [[nodiscard]] Hdf5Id open_dataset(const std::string& name) const;
  /// Opens a dataset of numbers that convert to doubles.
  [[nodiscard]] Hdf5Id open_numbers(const std::string& name) const;
  [[nodiscard]] Hdf5Id open_whole_numbers(const std::string& name) const;
  void require_inside(const std::string& name, hid_t set) const;
  void require_credible_size(const std::string& dataset, hid_t set) const;
  void read(const std::string& dataset, hid_t set, hid_t type, void* values) const;
  [[noreturn]] void damaged(const std::string& dataset, const std::string& reason) const;
  [[nodiscard]] std::size_t size_in_memory(const std::string& dataset, hid_t set) const;

  std::string path_;
  std::string expectation_;
  Hdf5Id file_;
};

/// Reader of a dataset's rows, piece by piece, from any number of threads. Plain float64 come straight from the file,
/// other types through HDF5, one piece at a time. The reader must outlive this object.
class Hdf5Rows {
 public:
  Hdf5Rows(const Hdf5Reader& file, std::string dataset);
  Hdf5Rows(const Hdf5Rows&) = delete;
  Hdf5Rows& operator=(const Hdf5Rows&) = delete;
  ~Hdf5Rows();

  /// Throws if the dataset as a whole does not fit into memory.
  void require_memory() const { (void)file_.size_in_memory(name_, set_.get()); }
  /// Rows first .. first + count - 1; `to` must hold their numbers.
  void read(std::uint64_t first, std::uint64_t count, std::span<double> to) const;

 private:
  void read_plain(std::uint64_t first, std::span<double> to) const;
  void keep_chunks_in_memory();

  const Hdf5Reader& file_;
  std::string name_;
  Hdf5Id set_;
  Shape shape_;
  std::uint64_t row_ = 1;  ///< numbers in a row
  int descriptor_ = -1;    ///< of the file, if it holds plain float64 from start_ on
  std::uint64_t start_ = 0;
};

/// Writer that builds a file in memory and stores it whole. A full disk is then a failed write(2) with a plain reason;
/// HDF5 itself would keep a file open that it can neither flush nor close.
class Hdf5Writer {
 public:
  Hdf5Writer();

  /// Adds a group, for datasets called "group/name".
  void group(const std::string& name);
  void write(const std::string& dataset, const Shape& shape, std::span<const double> values);
  void write(const std::string& dataset, const Shape& shape, std::span<const std::int32_t> values);
  void write(const std::string& dataset, const Shape& shape, std::span<const std::uint8_t> values);
  void write(const std::string& dataset, const Shape& shape, std::span<const std::uint32_t> values);
  void write(const std::string& dataset, const Shape& shape, std::span<const std::int64_t> values);

  /// Attributes of a dataset or group; "/" is the file itself.
  void attribute(const std::string& object, const std::string& name, double value);
  void attribute(const std::string& object, const std::string& name, const std::string& value);
  void attribute(const std::string& object, const std::string& name, std::int64_t value);
  void attribute(const std::string& object, const std::string& name, const std::vector<double>& values);
  void attribute(const std::string& object, const std::string& name, const std::vector<std::string>& values);

  /// See write_file_atomically. Throws Error(kInputOutput).
  void commit(const std::string& path);

 private:
  friend class Hdf5Stream;
  struct Created {
    Hdf5Id set;
    std::uint64_t values;
  };
  enum class Storage { kWhenWritten, kAtOnce };
  explicit Hdf5Writer(const Hdf5Id& access);
  Created create(const std::string& dataset, const Shape& shape, hid_t stored_type, Storage storage);
  struct Values {
    const Shape& shape;
    hid_t stored_type, memory_type;
    const void* data;
    std::size_t count;
  };
  void write_values(const std::string& dataset, const Values& values);

  Hdf5Id file_;
};

/// Writer of a file whose numbers come piece by piece, from any number of threads. HDF5 lays out the file and keeps its
/// metadata, a few kilobytes; the numbers go straight to their place on disk. The file appears with commit(), whole.
class Hdf5Stream {
 public:
  /// `description`: bytes at the beginning of the file for all but the numbers; more would take memory, not fail.
  explicit Hdf5Stream(const std::string& path, std::size_t description = std::size_t{1} << 14);
  ~Hdf5Stream();

  /// Position of a dataset's numbers in the file [bytes].
  struct Place {
    std::uint64_t start = 0, row_bytes = 0;
  };
  enum class Type { kFloat64, kInt64, kUint64, kInt32, kUint8, kInt8 };
  /// Adds a dataset whose first axis counts rows. Not thread-safe, like attribute().
  Place add(const std::string& dataset, const Shape& shape, Type type);
  template <class Value>
  void attribute(const std::string& object, const std::string& name, const Value& value) {
    writer_.attribute(object, name, value);
  }

  /// Writes rows first, first + 1, ...; T is the dataset's type. Thread-safe.
  template <class T>
  void write(const Place& place, std::uint64_t first, std::span<const T> values) {
    file_.write_at(place.start + first * place.row_bytes, std::as_bytes(values));
  }
  /// Makes the file visible. Throws Error(kInputOutput).
  void commit();

 private:
  struct IndexRange {
    std::uint64_t begin, end;
  };
  struct Image;
  [[nodiscard]] static Hdf5Id access_to(Image& image, std::size_t description);

  std::unique_ptr<Image> image_;
  std::vector<IndexRange> numbers_;
  AtomicFile file_;
  Hdf5Writer writer_;  ///< goes first: its closing fills the image
};

}  // namespace garra::io
