// Counts and sums the samples of user-defined systems.
#include <algorithm>
#include <utility>

#include "garra/core/error.hpp"
#include "garra/study/system.hpp"
#include "study/columns.hpp"
#include "study/count_blocks.hpp"
#include "study/summary.hpp"

namespace garra::study {

namespace {

[[noreturn]] void refuse(const std::string& job, const std::string& problem, const std::string& remedy) {
  throw Error(ExitCode::kUsage, job + ": " + problem, remedy);
}

std::size_t to_size(int n) { return static_cast<std::size_t>(n); }

/// Memory for the tiles of samples of `fields` numbers, aligned for SIMD lanes.
class Rows {
 public:
  Rows(std::int64_t count, std::size_t fields)
      : lines_(static_cast<std::size_t>(batch::tiles_for(count) * batch::kTile) * fields / 8) {}
  [[nodiscard]] double* data() { return lines_.data()->x; }

 private:
  struct alignas(64) Line {
    double x[8];
  };
  // Lines of 64 bytes, because a vector of doubles is not aligned for SIMD lanes.
  std::vector<Line> lines_;
};

}  // namespace

RowStudy::RowStudy(SystemWords words, int inputs, int outputs) : words_(std::move(words)) {
  const SystemWords& w = words_;
  if (w.inputs.size() != to_size(inputs))
    refuse(w.job,
           "the system takes " + std::to_string(inputs) + " inputs, the words name " + std::to_string(w.inputs.size()),
           "Name each of them in SystemWords::inputs.");
  if (w.outputs.size() != to_size(outputs))
    refuse(
        w.job,
        "the system gives " + std::to_string(outputs) + " outputs, the words name " + std::to_string(w.outputs.size()),
        "Name each of them in SystemWords::outputs.");
  // Sums are per block: a chunk that ends within one would change their bits.
  if (w.plan.chunk <= 0 || w.plan.chunk % kBlock != 0)
    refuse(w.job, "plan.chunk = " + std::to_string(w.plan.chunk) + " is no whole number of blocks",
           "Give a multiple of " + std::to_string(kBlock) + ".");
  names_ = {w.event};
  names_.insert(names_.end(), w.failures.begin(), w.failures.end());
  if (w.failures.empty()) names_.push_back("not_" + w.event);
  counting_.failures = static_cast<int>(names_.size()) - 1;
  names_.emplace_back("undecided");
  labels_ = names_;
  for (std::string& label : labels_) std::replace(label.begin(), label.end(), '_', ' ');
  const char* const colors[] = {"slip", "break", "accent", "ink"};
  for (std::size_t k = 0; k < names_.size(); ++k)
    outcomes_.push_back({names_[k].c_str(), labels_[k].c_str(), colors[(k + 3) % 4], ""});
  outcomes_.front() = {names_.front().c_str(), labels_.front().c_str(), "held", w.meaning.c_str(), Evidence::kFor};
  outcomes_.back() = {names_.back().c_str(), labels_.back().c_str(), "muted",
                      "not known: the interval is widened by these on both sides", Evidence::kUnsolved};
  Places places;
  places.take(static_cast<int>(names_.size()));
  counting_.inputs = inputs;
  counting_.outputs = outputs;
  counting_.held_bin = places.take(inputs * kInputBins);
  counting_.decided_bin = places.take(inputs * kInputBins);
  for (const SystemOutput& o : w.outputs) {
    if (!(o.low < o.high) || o.bins < 1)
      refuse(w.job, o.name + ": its axis is empty", "Give low < high and a bin or more.");
    output_.push_back(places.histogram({o.low, o.high, o.bins}));
  }
  for (const SystemInput& input : w.inputs) input_.push_back(input.distribution);
  counting_.output = output_.data();
  counting_.input = input_.data();
  counting_.keep = parse_keep(w.plan.keep);
  sizes_ = {.counts = places.count(),
            .buckets = outputs,
            .pairs = outputs,
            .sums = 2 * outputs + 2,
            .row = 2 + inputs + outputs,
            .keep = counting_.keep,
            .ranked = false,
            .nested = {counting_.held_bin, counting_.decided_bin, inputs * kInputBins}};
}

/// Per block: sum and sum of squares of every output; counts of samples with the event and undecided ones.
Shape RowStudy::shape() const {
  return {.sums = to_size(sizes_.sums),
          .tracked = 2,
          .row = to_size(sizes_.row),
          .counts = to_size(sizes_.counts),
          .buckets = to_size(sizes_.buckets),
          .outcomes = {{0, outcomes_.size()}}};
}

std::vector<RowColumn> RowStudy::columns() const {
  std::vector<std::string> inputs;
  for (const SystemInput& input : words_.inputs) inputs.push_back(input.name);
  Columns columns;
  columns.number("index", Columns::Type::kWhole).number("outcome", Columns::Type::kSmall, names_);
  columns.numbers("inputs", inputs.size(), inputs);
  for (const SystemOutput& o : words_.outputs) columns.number(o.name);
  return columns.list();
}

std::vector<double> RowStudy::row(std::int64_t sample) const {
  Rows rows(1, shape().row - 1);
  evaluate(Executor::kScalar, sample, 1, rows.data());
  RowCounting one = counting_;
  one.first = sample;
  one.rows = rows.data();
  std::vector<double> out(shape().row);
  one.write_row(0, out.data());
  return out;
}

Tally RowStudy::run(std::int64_t first, std::int64_t count, const Device& device) const {
  if (device.executor == Executor::kCuda) {
    Tally total{first, count, {}, {}, {}, {}, {}};
    count_on_gpu(device, {counting_, sizes_, total});
    return total;
  }
  return count_blocks(shape(), {first, count, study_threads(device)}, [&] {
    return [&, rows = Rows(kBlock, to_size(sizes_.row) - 1)](std::int64_t at, std::int64_t n, Tally& tally,
                                                             double* sums) mutable {
      evaluate(device.executor, at, n, rows.data());
      RowCounting counting = counting_;
      counting.first = at;
      counting.rows = rows.data();
      count_samples(counting, n, sizes_, tally, sums);
    };
  });
}

std::string RowStudy::summary(const Total& t, const std::string& stopped_by) const {
  const Estimate e = estimate(t);
  Json j = summary_head(words_.job.c_str(), words_.title, plan(), t, stopped_by);
  j["event"] = {{"name", words_.event}};
  j["event"].update(to_json(e));
  j["event"]["confidence"] = 0.95;
  put_outcomes(j, outcomes_, t, 0);
  j["metrics"] = Json::object();
  for (std::size_t k = 0; k < words_.outputs.size(); ++k) {
    const SystemOutput& o = words_.outputs[k];
    j["metrics"][o.name] = distribution(
        t, output_[k], ColumnWords{o.name.c_str(), o.unit.c_str(), o.label.c_str(), o.meaning.c_str(), o.reference},
        2 * k);
  }
  j["inputs"] = Json::array();
  for (std::size_t k = 0; k < words_.inputs.size(); ++k) {
    const int bin = static_cast<int>(k) * kInputBins;
    const SystemInput& in = words_.inputs[k];
    if (in.distribution.is_constant()) continue;
    j["inputs"].push_back(
        input_json(t, {counting_.held_bin + bin, counting_.decided_bin + bin}, {in.name, in.unit, in.distribution}));
  }
  j["convergence"] = convergence(t);
  j["failures_kept"] = plan().keep == "none" ? 0 : t.count - at(t, 0);
  return j.dump(1) + "\n";
}

}  // namespace garra::study
