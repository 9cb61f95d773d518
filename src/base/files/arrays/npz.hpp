// NumPy's archives of arrays (numpy.savez, numpy.savez_compressed; format versions 1 to 3 of numpy.lib.format).
#pragma once

#include <map>

#include "base/files/arrays/array_file.hpp"
#include "base/files/arrays/zip.hpp"

namespace garra::io {

/// Header of a NumPy array: element type, shape and offset of the numbers.
struct NpyHeader {
  char kind = 0;            ///< 'f', 'i', 'u', 'b'
  std::uint64_t bytes = 0;  ///< of a number
  Shape shape;
  std::uint64_t start = 0;  ///< offset of the numbers
  std::uint64_t count = 0;  ///< of numbers
  [[nodiscard]] std::uint64_t row_bytes() const;
};

/// Reads arrays by their names in the archive, without ".npy"; other members are ignored. Throws Error: kInvalidFile,
/// naming archive and member, if their content is invalid; kInputOutput if the file cannot be read.
class NpzReader final : public ArrayFile {
 public:
  NpzReader(const std::string& path, std::string expectation);

  [[nodiscard]] bool has(const std::string& name) const override { return members_.contains(name); }
  [[nodiscard]] std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (const auto& [name, member] : members_) out.push_back(name);
    return out;
  }
  [[nodiscard]] Shape shape(const std::string& name) const override { return header(name).shape; }
  [[nodiscard]] std::vector<double> doubles(const std::string& name) const override;
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& name) const override;
  [[nodiscard]] std::unique_ptr<ArrayRows> rows(const std::string& name) const override;
  void require_whole_numbers(const std::string& name) const override;
  [[noreturn]] void refuse(const std::string& name, const std::string& problem,
                           const std::string& remedy) const override;

 private:
  class Rows;
  /// Header of an array, parsed once and cached.
  [[nodiscard]] const NpyHeader& header(const std::string& name) const;
  [[nodiscard]] NpyHeader read_header(const std::string& name, const ZipMember& member) const;
  void require_memory(const std::string& name) const;
  template <class T>
  [[nodiscard]] std::vector<T> all(const std::string& name) const;

  std::string expectation_;
  ZipFile file_;
  std::map<std::string, const ZipMember*> members_;
  mutable std::map<std::string, NpyHeader> headers_;
};

}  // namespace garra::io
