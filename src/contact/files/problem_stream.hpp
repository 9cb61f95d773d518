// Problem and solution files piece by piece: read_problems and write_solutions for files of any size.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files/hdf5.hpp"
#include "garra/contact.hpp"
#include "garra/io/problem_file.hpp"

namespace garra::io {

/// An open problem file. The constructor checks shapes, modes and slip velocities, with the errors of read_problems.
class ProblemStream {
 public:
  /// Opens and checks the file. Throws Error(kInvalidFile), kInputOutput if it is missing.
  explicit ProblemStream(const std::string& path);

  [[nodiscard]] int contacts() const { return contacts_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Modes of all problems, [n][k]; empty if nothing slides.
  [[nodiscard]] const std::vector<std::uint8_t>& mode() const { return small_.mode; }
  /// Throws Error(kInputOutput) if all problems at once need more memory than is available.
  void require_memory() const;
  /// Reads problems first .. first + count - 1 into `out`, whose memory is reused. Thread-safe.
  void read(std::int64_t first, std::int64_t count, contact::Problems& out) const;

 private:
  Hdf5Reader file_;
  int contacts_ = 0;
  std::int64_t count_ = 0;
  std::optional<Hdf5Rows> A_, b_, mu_;  ///< not of FCLIB
  contact::Problems small_;             ///< modes and velocities; of FCLIB the whole problem
};

/// Names of the datasets of a solution file. `status` is always there.
[[nodiscard]] const std::vector<std::string>& solution_outputs();

/// A solution file whose problems come piece by piece.
class SolutionStream {
 public:
  /// Sizes and datasets of the file.
  struct Plan {
    int contacts = 0;
    std::int64_t count = 0;
    std::vector<std::string> outputs = {};  ///< empty: all that the method has
    bool solutions = false;                 ///< whether they are counted
  };
  SolutionStream(const std::string& path, const Plan& plan);

  /// Writes the solutions of the problems first, first + 1, ... Thread-safe.
  void write(std::int64_t first, const contact::Problems& problems, const contact::Solutions& solutions);
  /// Makes the file visible, whole. Throws Error(kInputOutput).
  void commit(const SolutionAttributes& attributes);

 private:
  struct Rows {
    std::uint64_t first, count;
  };
  /// A dataset that is created with the first number for it.
  struct Late {
    std::optional<Hdf5Stream::Place> place;
    std::vector<Rows> before;  ///< rows that had none until then
  };
  /// Writes rows of a planned dataset; does nothing for others.
  template <class T>
  void put(const char* name, std::int64_t first, std::span<const T> values);
  /// Writes rows of a dataset that only some methods have numbers for.
  template <class T>
  void put_late(const char* name, std::int64_t first, std::span<const T> values);
  [[nodiscard]] bool wants(const std::string& name) const;

  Plan plan_;
  Hdf5Stream file_;
  std::map<std::string, Hdf5Stream::Place> places_;
  std::map<std::string, Late> late_;
  std::mutex mutex_;  ///< of late_ and of the layout of file_
};

}  // namespace garra::io
