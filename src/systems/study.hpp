// What `garra run` needs of a study, whatever its system: samples in, counts out, and what they mean. Host only.
#pragma once

#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/study/shape.hpp"
#include "garra/study/study.hpp"
#include "garra/study/tally.hpp"

namespace garra::study {

/// The probability that a study is about, so far. NaN where no sample is decided.
struct Estimate {
  double probability;
  Interval interval;  ///< 95 %; unsolved samples widen it
};

class Study {
 public:
  virtual ~Study() = default;
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  [[nodiscard]] virtual const Plan& plan() const = 0;
  [[nodiscard]] virtual Shape shape() const = 0;
  /// The datasets that kept rows make.
  [[nodiscard]] virtual std::vector<RowColumn> columns() const = 0;
  /// Samples first .. first + count - 1; `first` is a multiple of kBlock.
  [[nodiscard]] virtual Tally run(std::int64_t first, std::int64_t count, const Device& device) const = 0;
  /// The summary.json document (docs/run-folder.md); `stopped_by` says why the run ended.
  [[nodiscard]] virtual std::string summary(const Total& total, const std::string& stopped_by) const = 0;
  [[nodiscard]] virtual Estimate estimate(const Total& total) const = 0;
  /// What `--require` may ask for by another name than the study's own ("p_no_slip" of a grasp); throws Error(kUsage) where
  /// there is no such quantity, before the first sample too.
  [[nodiscard]] virtual Estimate named_estimate(const Total& total, const std::string& quantity) const;
  /// The widest of the intervals that Plan::stop_half_width is about.
  [[nodiscard]] virtual double widest_interval(const Total& total) const = 0;
  /// Share of samples without an answer.
  [[nodiscard]] virtual double unsolved_share(const Total& total) const = 0;

 protected:
  Study() = default;
};

}  // namespace garra::study
