// Files of states and results piece by piece: what read_states and write_results do, for files of any size.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files/hdf5.hpp"
#include "garra/chain_eval.hpp"
#include "garra/io/chain_file.hpp"

namespace garra::io {

/// An open state file. Its shapes and the names of its parameters are checked, and throw as read_states does, when it
/// is opened.
class StateStream {
 public:
  StateStream(const std::string& path, int joints);

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Which of the arrays that some outputs read are there.
  [[nodiscard]] chain::Needs present() const;
  /// Throws Error(kInputOutput) where all states at once need more memory than there is.
  void require_memory() const;
  /// States first .. first + count - 1, q and what is needed, into memory that is used again. Any number of threads.
  void read(std::int64_t first, std::int64_t count, const chain::Needs& needed, chain::States& out) const;

 private:
  /// A column of the group `parameters`.
  struct Column {
    chain::Parameter parameter;  ///< without values
    std::unique_ptr<Hdf5Rows> rows;
  };

  Hdf5Reader file_;
  std::int64_t count_ = 0, joints_;
  std::optional<Hdf5Rows> q_, qd_, qdd_, tau_, wrench_;
  std::vector<Column> columns_;
};

/// A result file whose states come piece by piece.
class ResultStream {
 public:
  /// What the file will hold.
  struct Plan {
    int joints = 0, links = 0;  ///< coordinates; links of the chain
    std::int64_t count = 0;
    chain::Outputs outputs;
  };
  ResultStream(const std::string& path, const Plan& plan);

  /// The results of the states first, first + 1, ... Any number of threads.
  void write(std::int64_t first, const chain::Results& results);
  /// The file appears, whole. Throws Error(kInputOutput).
  void commit(const ResultAttributes& attributes);

 private:
  Plan plan_;
  Hdf5Stream file_;
  std::array<Hdf5Stream::Place, chain::kOutputCount> places_{};
  Hdf5Stream::Place status_;
};

}  // namespace garra::io
