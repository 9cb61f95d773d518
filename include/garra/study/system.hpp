// A study of a user-defined system: a struct that takes drawn inputs and answers a question. Draws,
// threads, SIMD lanes, chunks, counting, summary.json and the report are provided
// (examples/own_study.cpp is a whole one).
//
//   struct Dice {
//     static constexpr int kInputs = 2, kOutputs = 1;
//     template <class S>
//     GARRA_HD garra::study::SystemAnswer<S, kOutputs> operator()(const garra::Vec<S, kInputs>& x) const {
//       const S sum = x[0] + x[1];
//       return {garra::select(sum > S(1.5), S(1), S(0)), {{sum}}};
//     }
//   };
//
// The operator is compiled for double, for lanes of doubles, and by nvcc. It does not branch on
// values of type S (select instead) and uses garra's elementary functions, so that every executor
// gives the same bits.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "garra/batch/for_each.hpp"
#include "garra/batch/on_device.hpp"
#include "garra/batch/tiles.hpp"
#include "garra/core/error.hpp"
#include "garra/study/engine.hpp"
#include "garra/study/row_counting.hpp"
#include "garra/study/system_body.hpp"

namespace garra::study {

struct SystemInput {
  std::string name, unit;  ///< "length", "m"
  Distribution distribution;
};

/// A number measured in every sample. Values outside of its axis are counted as below or above.
struct SystemOutput {
  std::string name, unit, label;  ///< "peak_speed", "m/s", "Peak speed"
  double low = 0, high = 1;       ///< axis of its histogram
  int bins = 200;
  std::string meaning = {};                                     ///< a sentence, if the label does not suffice
  double reference = std::numeric_limits<double>::quiet_NaN();  ///< the value that separates good from bad
};

/// Names of a user-defined study.
struct SystemWords {
  std::string job;  ///< "pendulum"; differs from garra's own jobs
  std::string title;
  std::string event;  ///< the event whose probability is estimated: "settled"
  std::vector<SystemInput> inputs;
  std::vector<SystemOutput> outputs;
  Plan plan = {};
  std::vector<std::string> failures = {};  ///< names of the ways without the event; empty: "not_<event>"
  std::string meaning = {};                ///< of the event: "the angle stays below 5 degrees"
};

/// A study of a user-defined system without the system: counts, summary, and rows of results.h5 (of
/// samples without the event, unless plan.keep says otherwise).
class RowStudy : public Study {
 public:
  [[nodiscard]] const Plan& plan() const final { return words_.plan; }
  [[nodiscard]] Shape shape() const final;
  [[nodiscard]] std::vector<RowColumn> columns() const final;
  [[nodiscard]] Tally run(std::int64_t first, std::int64_t count, const Device& device) const final;
  [[nodiscard]] std::string summary(const Total& total, const std::string& stopped_by) const final;
  [[nodiscard]] std::span<const OutcomeWords> outcome_words() const final { return outcomes_; }
  [[nodiscard]] const SystemWords& words() const { return words_; }
  /// A row of results.h5, in the order of columns().
  [[nodiscard]] std::vector<double> row(std::int64_t sample) const;

 protected:
  /// Throws Error(kUsage) if a number of inputs or outputs, or an axis, is invalid.
  RowStudy(SystemWords words, int inputs, int outputs);

  /// Computes samples first ... into tiles of SystemRow, in one thread.
  virtual void evaluate(Executor executor, std::int64_t first, std::int64_t count, double* rows) const = 0;
  /// Computes and counts the samples on a GPU.
  virtual void count_on_gpu(const Device& device, const RowsToCount& task) const = 0;

 private:
  SystemWords words_;
  std::vector<std::string> names_, labels_;
  std::vector<OutcomeWords> outcomes_;
  std::vector<Histogram> output_;
  std::vector<Distribution> input_;
  RowCounting counting_;  ///< without samples yet
  CountingSizes sizes_;
};

template <class System>
class SystemStudy final : public RowStudy {
 public:
  /// Runs on a GPU if the program has the system's kernel (study/system.cuh); otherwise
  /// Executor::kCuda is an error.
  explicit SystemStudy(SystemWords words, const System& system = {})
      : RowStudy(std::move(words), System::kInputs, System::kOutputs), body_{system, {}, 0, nullptr} {
    body_.draws.seed = this->words().plan.seed;
    for (int k = 0; k < System::kInputs; ++k)
      body_.draws.distribution[k] = this->words().inputs[static_cast<std::size_t>(k)].distribution;
  }

 protected:
  void evaluate(Executor executor, std::int64_t first, std::int64_t count, double* rows) const override {
    SystemKernel<System> body = body_;
    body.first = first;
    body.rows = rows;
    batch::for_each(executor, count, body);
  }
  void count_on_gpu(const Device& device, const RowsToCount& task) const override {
    if (batch::Launch<SystemKernel<System>, RowsToCount>::kernels == nullptr)
      throw Error(ExitCode::kNoDevice, this->words().job + ": this program has no CUDA kernel of it",
                  "Use --device cpu.");
    batch::on_device(device, body_, task);
  }

 private:
  SystemKernel<System> body_;
};

}  // namespace garra::study
