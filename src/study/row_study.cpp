// Counting and summing up the samples of a system that the library does not know.
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

/// The first counts of all: samples with the event, without it, undecided.
enum Fate : int { kYes, kNo, kUndecided, kFates };

Fate fate_of(double event) {
  // A system says by NaN that it cannot tell.
  if (std::isnan(event)) return kUndecided;
  return event == 1 ? kYes : kNo;
}

[[noreturn]] void refuse(const std::string& job, const std::string& problem, const std::string& remedy) {
  throw Error(ExitCode::kUsage, job + ": " + problem, remedy);
}

std::size_t size(int n) { return static_cast<std::size_t>(n); }

/// Memory for the tiles of samples of `fields` numbers, aligned for lanes.
class Rows {
 public:
  Rows(std::int64_t count, std::size_t fields)
      : lines_(static_cast<std::size_t>(batch::tiles_for(count) * batch::kTile) * fields / 8) {}
  [[nodiscard]] double* data() { return lines_.data()->x; }

 private:
  struct alignas(64) Line {
    double x[8];
  };
  // Lines of 64 bytes: a vector of doubles is not aligned for lanes.
  std::vector<Line> lines_;
};

void merge(Tally& into, const Tally& part) {
  for (std::size_t i = 0; i < into.counts.size(); ++i) into.counts[i] += part.counts[i];
  into.buckets.add(part.buckets);
}

}  // namespace

RowStudy::RowStudy(SystemWords words, int inputs, int outputs) : words_(std::move(words)) {
  const SystemWords& w = words_;
  if (w.inputs.size() != size(inputs))
    refuse(w.job,
           "the system takes " + std::to_string(inputs) + " inputs, the words name " + std::to_string(w.inputs.size()),
           "Name each of them in SystemWords::inputs.");
  if (w.outputs.size() != size(outputs))
    refuse(
        w.job,
        "the system gives " + std::to_string(outputs) + " outputs, the words name " + std::to_string(w.outputs.size()),
        "Name each of them in SystemWords::outputs.");
  // Sums are per block: a chunk that ended within one would change their bits.
  if (w.plan.chunk <= 0 || w.plan.chunk % kBlock != 0)
    refuse(w.job, "plan.chunk = " + std::to_string(w.plan.chunk) + " is no whole number of blocks",
           "Give a multiple of " + std::to_string(kBlock) + ".");
  Places places;
  places.take(kFates);
  layout_.held_bin = places.take(inputs * kInputBins);
  layout_.decided_bin = places.take(inputs * kInputBins);
  for (const SystemOutput& o : w.outputs) {
    if (!(o.low < o.high) || o.bins < 1)
      refuse(w.job, o.name + ": its axis is empty", "Give low < high and a bin or more.");
    layout_.output.push_back(places.histogram({o.low, o.high, o.bins}));
  }
  layout_.counts = places.count();
}

/// Per block: sum and sum of squares of every output; samples with the event, undecided ones.
Shape RowStudy::shape() const {
  const std::size_t inputs = words_.inputs.size(), outputs = words_.outputs.size();
  return {.sums = 2 * outputs + 2,
          .tracked = 2,
          .row = 2 + inputs + outputs,
          .counts = size(layout_.counts),
          .buckets = outputs,
          .outcomes = {{0, kFates}}};
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
    // Behind index, outcome and inputs, which are the first three columns of the list.
    list.push_back({o.name, Type::kReal, 2 + inputs.size() + (list.size() - 3), 1, true});
  return list;
}

/// As shape().row says, of a lane of a tile.
void RowStudy::append_row(const double* row, std::int64_t sample, std::vector<double>& to) const {
  const auto value = [&](std::size_t field) { return row[field * batch::kTile]; };
  const std::size_t outputs = words_.outputs.size(), inputs = words_.inputs.size();
  to.insert(to.end(), {static_cast<double>(sample), static_cast<double>(fate_of(value(0)))});
  for (std::size_t k = 0; k < inputs; ++k)
    // Kept as the value; the uniform number would mean nothing to a reader.
    to.push_back(quantile(words_.inputs[k].distribution, value(1 + outputs + k)));
  for (std::size_t k = 0; k < outputs; ++k) to.push_back(value(1 + k));
}

std::vector<double> RowStudy::row(std::int64_t sample) const {
  Rows rows(1, shape().row - 1);
  evaluate({Executor::kScalar, 1}, sample, 1, rows.data());
  std::vector<double> out;
  append_row(rows.data(), sample, out);
  return out;
}

void RowStudy::count_row(const double* row, std::int64_t sample, Tally& t, double* sums) const {
  const auto value = [&](std::size_t field) { return row[field * batch::kTile]; };
  const std::size_t outputs = words_.outputs.size(), inputs = words_.inputs.size();
  const Fate fate = fate_of(value(0));
  ++t.counts[size(fate)];
  for (std::size_t k = 0; k < outputs; ++k) {
    const double x = value(1 + k);
    t.count_value(layout_.output[k], x);
    // One infinite value would make the sums useless; it is in the histogram.
    if (!std::isfinite(x)) continue;
    sums[2 * k] += x;
    sums[2 * k + 1] += x * x;
  }
  sums[2 * outputs] += fate == kYes;
  sums[2 * outputs + 1] += fate == kUndecided;
  for (std::size_t k = 0; k < inputs; ++k) {
    // Inputs come as uniform numbers in (0, 1): bins of equal probability.
    const std::size_t bin = k * kInputBins + static_cast<std::size_t>(value(1 + outputs + k) * kInputBins);
    t.counts[size(layout_.held_bin) + bin] += fate == kYes;
    t.counts[size(layout_.decided_bin) + bin] += fate != kUndecided;
  }
  if (plan().keep != "none" && (plan().keep != "failures" || fate != kYes)) append_row(row, sample, t.kept);
}

/// `rows`: tiles whose first sample is `first`.
void RowStudy::count_block(const double* rows, std::int64_t first, std::int64_t count, Tally& t, double* sums) const {
  const auto fields = static_cast<std::int64_t>(1 + words_.outputs.size() + words_.inputs.size());
  for (std::int64_t i = 0; i < count; ++i)
    count_row(rows + (i / batch::kTile) * fields * batch::kTile + i % batch::kTile, first + i, t, sums);
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
      evaluate(device, first + b * kBlock, n, rows.data());
      count_block(rows.data(), first + b * kBlock, n, mine, total.sums.data() + static_cast<std::size_t>(b) * s.sums);
      kept[static_cast<std::size_t>(b)].swap(mine.kept);
      mine.kept.clear();
    }
    // Whole numbers: the order of threads does not matter. Sums have a place for each block.
    pieces.alone([&] { merge(total, mine); });
  });
  for (const auto& rows : kept) total.kept.insert(total.kept.end(), rows.begin(), rows.end());
  return total;
}

/// On the GPU as many samples at once as fit; they are counted here.
Tally RowStudy::run_on_gpu(std::int64_t first, std::int64_t count, const Device& device) const {
  const Shape s = shape();
  const std::size_t fields = s.row - 1;
  const std::int64_t blocks = (count + kBlock - 1) / kBlock;
  Tally total{first, count, std::vector<std::int64_t>(s.counts), {}, {}, {}, {}};
  total.sums.assign(static_cast<std::size_t>(blocks) * s.sums, 0.0);
  const std::int64_t fit = std::min(how_many_fit(device, fields * sizeof(double)), count);
  Rows rows(fit, fields);
  for (std::int64_t at = 0; at < count; at += fit) {
    const std::int64_t n = std::min(fit, count - at);
    evaluate(device, first + at, n, rows.data());
    for (std::int64_t i = 0; i < n; i += kBlock)
      count_block(rows.data() + static_cast<std::size_t>(i) * fields, first + at + i, std::min(kBlock, n - i), total,
                  total.sums.data() + static_cast<std::size_t>((at + i) / kBlock) * s.sums);
  }
  return total;
}

Tally RowStudy::run(std::int64_t first, std::int64_t count, const Device& device) const {
  return device.executor == Executor::kCuda ? run_on_gpu(first, count, device) : run_on_cpu(first, count, device);
}

Estimate RowStudy::estimate(const Total& t) const {
  const Verdicts all{at(t, kYes), t.count - at(t, kUndecided), at(t, kUndecided)};
  return estimate_of({&all, 1});
}

double RowStudy::widest_interval(const Total& t) const {
  const Interval i = estimate(t).interval;
  return i.high - i.low;
}

double RowStudy::unsolved_share(const Total& t) const {
  return t.count == 0 ? 0 : static_cast<double>(at(t, kUndecided)) / static_cast<double>(t.count);
}

std::string RowStudy::summary(const Total& t, const std::string& stopped_by) const {
  const Estimate e = estimate(t);
  Json j = {{"schema", 1},        {"job", words_.job},           {"title", words_.title},   {"seed", plan().seed},
            {"samples", t.count}, {"requested", plan().samples}, {"stopped_by", stopped_by}};
  j["event"] = {{"name", words_.event},
                {"probability", number(e.probability)},
                {"low", e.interval.low},
                {"high", e.interval.high},
                {"confidence", 0.95}};
  for (int k = 0; k < kFates; ++k) j["outcomes"][columns()[1].names[size(k)]] = at(t, k);
  j["metrics"] = Json::object();
  for (std::size_t k = 0; k < words_.outputs.size(); ++k) {
    const SystemOutput& o = words_.outputs[k];
    j["metrics"][o.name] = distribution(
        t, layout_.output[k], ColumnWords{o.name.c_str(), o.unit.c_str(), o.label.c_str()}, t.sums.data() + 2 * k);
  }
  j["inputs"] = Json::array();
  for (std::size_t k = 0; k < words_.inputs.size(); ++k) {
    const int bin = static_cast<int>(k) * kInputBins;
    const SystemInput& in = words_.inputs[k];
    j["inputs"].push_back(
        input_json(t, {layout_.held_bin + bin, layout_.decided_bin + bin}, {in.name, in.unit, in.distribution}));
  }
  j["convergence"] = convergence(t);
  j["failures_kept"] = plan().keep == "none" ? 0 : t.count - at(t, kYes);
  return j.dump(1) + "\n";
}

}  // namespace garra::study
