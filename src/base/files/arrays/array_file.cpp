#include "base/files/arrays/array_file.hpp"

#include <algorithm>

#include "base/files/arrays/npz.hpp"
#include "base/files/hdf5.hpp"
#include "base/files/suggest.hpp"

namespace garra::io {

namespace {

class Hdf5ArrayRows final : public ArrayRows {
 public:
  Hdf5ArrayRows(const Hdf5Reader& file, const std::string& name) : rows_(file, name) {}
  void require_memory() const override { rows_.require_memory(); }
  void read(std::uint64_t first, std::uint64_t count, std::span<double> to) override { rows_.read(first, count, to); }

 private:
  Hdf5Rows rows_;
};

class Hdf5Arrays final : public ArrayFile {
 public:
  Hdf5Arrays(const std::string& path, const std::string& expectation) : file_(path, expectation) {}
  [[nodiscard]] bool has(const std::string& name) const override { return file_.has(name); }
  [[nodiscard]] std::vector<std::string> names() const override { return file_.names("/"); }
  [[nodiscard]] Shape shape(const std::string& name) const override { return file_.shape(name); }
  [[nodiscard]] std::vector<double> doubles(const std::string& name) const override { return file_.doubles(name); }
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& name) const override {
    return file_.integers(name);
  }
  [[nodiscard]] std::unique_ptr<ArrayRows> rows(const std::string& name) const override {
    return std::make_unique<Hdf5ArrayRows>(file_, name);
  }
  void require_whole_numbers(const std::string& name) const override { file_.require_whole_numbers(name); }
  [[noreturn]] void refuse(const std::string& name, const std::string& problem,
                           const std::string& remedy) const override {
    file_.refuse(name, problem, remedy);
  }

 private:
  Hdf5Reader file_;
};

}  // namespace

void ArrayFile::require_shape(const std::string& name, const Shape& expected) const {
  const Shape found = shape(name);
  if (found != expected) refuse(name, "expected shape " + to_string(expected) + ", found " + to_string(found));
}

void ArrayFile::refuse_misspelled(const std::vector<std::string>& known) const {
  for (const std::string& name : names()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    for (const std::string& near : known)
      if (edit_distance(name, near) == 1)
        refuse(name, "unknown array", "Did you mean \"" + near + "\"? Arrays with other names are ignored.");
  }
}

std::unique_ptr<ArrayFile> open_arrays(const std::string& path, const std::string& expectation) {
  if (is_zip(path)) return std::make_unique<NpzReader>(path, expectation);
  return std::make_unique<Hdf5Arrays>(path, expectation);
}

}  // namespace garra::io
