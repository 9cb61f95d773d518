// Counts and sums the samples of user-defined systems.
#include <algorithm>
#include <cmath>
#include <utility>

#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"
#include "garra/study/system.hpp"
#include "study/columns.hpp"
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

void merge(Tally& into, const Tally& part) {
  for (std::size_t i = 0; i < into.counts.size(); ++i) into.counts[i] += part.counts[i];
  into.buckets.add(part.buckets);
}

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
  Places places;
  places.take(kEventStates);
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
          .outcomes = {{0, kEventStates}}};
}

std::vector<RowColumn> RowStudy::columns() const {
  using Type = RowColumn::Type;
  std::vector<std::string> inputs;
  for (const SystemInput& input : words_.inputs) inputs.push_back(input.name);
  std::vector<RowColumn> list = {
      {"index", Type::kWhole, 0, 1, true},
      {"outcome", Type::kSmall, 1, 1, true, {words_.event, "not_" + words_.event, "undecided"}},
      {"inputs", Type::kReal, 2, inputs.size(), false, inputs}};
  for (const SystemOutput& o : words_.outputs)
    // Behind index, outcome and inputs, the first three columns of the list.
    list.push_back({o.name, Type::kReal, 2 + inputs.size() + (list.size() - 3), 1, true});
  return list;
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

Tally RowStudy::run_on_cpu(std::int64_t first, std::int64_t count, const Device& device) const {
  const Shape s = shape();
  const std::int64_t blocks = (count + kBlock - 1) / kBlock;
  Tally total{first, count, std::vector<std::int64_t>(s.counts), {}, {}, {}, {}};
  total.sums.assign(static_cast<std::size_t>(blocks) * s.sums, 0.0);
  std::vector<std::vector<double>> kept(static_cast<std::size_t>(blocks));
  batch::run_threads(study_threads(device), blocks, [&](batch::Pieces& pieces) {
    Rows rows(kBlock, s.row - 1);
    Tally mine{first, 0, std::vector<std::int64_t>(s.counts), {}, {}, {}, {}};
    for (std::int64_t b = 0; pieces.next(b);) {
      const std::int64_t n = std::min(kBlock, count - b * kBlock);
      evaluate(device.executor, first + b * kBlock, n, rows.data());
      RowCounting counting = counting_;
      counting.first = first + b * kBlock;
      counting.rows = rows.data();
      count_samples(counting, n, sizes_, mine, total.sums.data() + static_cast<std::size_t>(b) * s.sums);
      kept[static_cast<std::size_t>(b)].swap(mine.kept);
      mine.kept.clear();
    }
    // Whole numbers: the order of threads does not matter. Sums have a place per block.
    pieces.alone([&] { merge(total, mine); });
  });
  for (const auto& rows : kept) total.kept.insert(total.kept.end(), rows.begin(), rows.end());
  return total;
}

Tally RowStudy::run_on_gpu(std::int64_t first, std::int64_t count, const Device& device) const {
  Tally total{first, count, {}, {}, {}, {}, {}};
  count_on_gpu(device, {counting_, sizes_, total});
  return total;
}

Tally RowStudy::run(std::int64_t first, std::int64_t count, const Device& device) const {
  return device.executor == Executor::kCuda ? run_on_gpu(first, count, device) : run_on_cpu(first, count, device);
}

Estimate RowStudy::estimate(const Total& t) const { return make_estimate(decisions(t)); }

double RowStudy::widest_interval(const Total& t) const {
  const Interval i = estimate(t).interval;
  return i.high - i.low;
}

std::vector<DecisionCounts> RowStudy::decisions(const Total& t) const {
  return {{at(t, kYes), t.count - at(t, kUndecided), at(t, kUndecided)}};
}

namespace {

/// Writes the counts of samples with their descriptions, in the order of their states.
void put_outcomes(Json& j, const Tally& t, const std::vector<std::string>& names) {
  std::vector<std::string> labels = names;
  for (std::string& label : labels) std::replace(label.begin(), label.end(), '_', ' ');
  const OutcomeWords words[] = {{names[kYes].c_str(), labels[kYes].c_str(), "held", "the event has happened"},
                                {names[kNo].c_str(), labels[kNo].c_str(), "slip", "it has not"},
                                {names[kUndecided].c_str(), labels[kUndecided].c_str(), "muted",
                                 "not known: the interval is widened by these on both sides", false}};
  put_outcomes(j, words, t, 0);
}

}  // namespace

std::string RowStudy::summary(const Total& t, const std::string& stopped_by) const {
  const Estimate e = estimate(t);
  Json j = {{"schema", kSummarySchema}, {"job", words_.job},           {"title", words_.title},   {"seed", plan().seed},
            {"samples", t.count},       {"requested", plan().samples}, {"stopped_by", stopped_by}};
  j["event"] = {{"name", words_.event},
                {"probability", number(e.probability)},
                {"low", e.interval.low},
                {"high", e.interval.high},
                {"confidence", 0.95}};
  put_outcomes(j, t, columns()[1].names);
  j["metrics"] = Json::object();
  for (std::size_t k = 0; k < words_.outputs.size(); ++k) {
    const SystemOutput& o = words_.outputs[k];
    j["metrics"][o.name] =
        distribution(t, output_[k], ColumnWords{o.name.c_str(), o.unit.c_str(), o.label.c_str()}, 2 * k);
  }
  j["inputs"] = Json::array();
  for (std::size_t k = 0; k < words_.inputs.size(); ++k) {
    const int bin = static_cast<int>(k) * kInputBins;
    const SystemInput& in = words_.inputs[k];
    j["inputs"].push_back(
        input_json(t, {counting_.held_bin + bin, counting_.decided_bin + bin}, {in.name, in.unit, in.distribution}));
  }
  j["convergence"] = convergence(t);
  j["failures_kept"] = plan().keep == "none" ? 0 : t.count - at(t, kYes);
  return j.dump(1) + "\n";
}

}  // namespace garra::study
