// A thin layer over the HDF5 C API: identifiers that close themselves, errors that name file and
// dataset.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace garra::io {

using Shape = std::vector<std::uint64_t>;

/// "[500, 9, 9]"; "[]" for a single value.
[[nodiscard]] std::string to_string(const Shape& shape);

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
    if (id_ >= 0) H5Idec_ref(id_);
  }
  [[nodiscard]] hid_t get() const { return id_; }
  [[nodiscard]] bool valid() const { return id_ >= 0; }
  /// Whether closing it, which may still write, went well.
  [[nodiscard]] bool close() { return H5Idec_ref(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
};

/// Reads whole datasets. `expectation` is the remedy shown with every complaint about the file's
/// content: what such a file must hold. Throws Error: kInvalidFile for wrong content, kInputOutput
/// for missing or damaged files.
class Hdf5Reader {
 public:
  Hdf5Reader(std::string path, std::string expectation);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Whether a dataset or group of this name ("a/b/c") exists.
  [[nodiscard]] bool has(const std::string& name) const;
  /// Names of what a group holds, in alphabetical order; none where there is no such group.
  [[nodiscard]] std::vector<std::string> names(const std::string& group) const;
  [[nodiscard]] Shape shape(const std::string& dataset) const;
  /// Floating-point or whole numbers of any width.
  [[nodiscard]] std::vector<double> doubles(const std::string& dataset) const;
  /// Whole numbers of any width, or truth values.
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& dataset) const;

  /// Throws Error(kInvalidFile) "path: dataset NAME: problem"; the remedy is the expectation unless
  /// there is a better.
  [[noreturn]] void refuse(const std::string& dataset, const std::string& problem,
                           const std::string& remedy = {}) const;
  /// Refuses the dataset unless it has this shape.
  void require_shape(const std::string& dataset, const Shape& expected) const;

 private:
  [[nodiscard]] Hdf5Id open_dataset(const std::string& name) const;
  void require_inside(const std::string& name, hid_t set) const;
  void read(const std::string& dataset, hid_t set, hid_t type, void* values) const;
  [[nodiscard]] std::size_t size_in_memory(const std::string& dataset, hid_t set) const;

  std::string path_;
  std::string expectation_;
  Hdf5Id file_;
};

/// Builds a file in memory and brings it to disk whole. A full disk is then a failed write(2) with
/// a plain reason, where HDF5 itself would keep a file open that it can neither flush nor close.
class Hdf5Writer {
 public:
  Hdf5Writer();

  /// A group, for datasets called "group/name".
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
  struct Values {
    const Shape& shape;
    hid_t stored_type, memory_type;
    const void* data;
    std::size_t count;
  };
  void write_values(const std::string& dataset, const Values& values);

  Hdf5Id file_;
};

}  // namespace garra::io
