#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "contact/mcp/bounds.hpp"
#include "contact/mcp/oracle.hpp"
#include "contact/mcp/pairs.hpp"
#include "garra/batch/interrupt.hpp"
#include "garra/core/error.hpp"

namespace garra::mcp {

namespace {

using Merit = Stage::Merit;
using Minimizer = Stage::Minimizer;

std::size_t index(std::int64_t k) { return static_cast<std::size_t>(k); }

void check_stage(const Stage& stage) {
  const bool newton = stage.minimizer == Minimizer::kSemismoothNewton;
  const bool square = stage.merit == Merit::kFischerBurmeister || stage.merit == Merit::kNatural;
  if (newton ? square : stage.merit != Merit::kNatural) return;
  throw Error(ExitCode::kUsage,
              "mcp: " + std::string(kMinimizers[static_cast<int>(stage.minimizer)]) + " does not take the merit " +
                  kMerits[static_cast<int>(stage.merit)],
              "semismooth-newton takes fischer-burmeister and natural, the others all but natural.");
}

void check_problems(const Problems& in, const Options& options) {
  if (in.size < 1 || in.count < 0 || in.start.size() != index(in.count) * static_cast<std::size_t>(in.size))
    throw Error(ExitCode::kUsage, "mcp: start does not have the shape [count, size] = [" + std::to_string(in.count) +
                                      ", " + std::to_string(in.size) + "]");
  check_bounds(in.lower, in.upper, in.count, in.size);
  for (const Stage& stage : options.stages) check_stage(stage);
}

/// Solves all problems at once, each in a fiber that waits where its solver needs F or the Jacobian.
class Run {
 public:
  Run(const Problems& in, const Options& options)
      : in_(in),
        options_(options),
        stacks_(index(in.count)),
        x_(in.start.size()),
        F_(x_.size()),
        J_(x_.size() * static_cast<std::size_t>(in.size)) {
    if (options_.stages.empty()) options_.stages = auto_stages();
    out_.unknowns = in.size;
    out_.count = in.count;
    // Where a start is no number, F is called at a place within the bounds all the same.
    for (std::size_t i = 0; i < x_.size(); ++i)
      x_[i] = std::min(std::max(std::isnan(in.start[i]) ? 0 : in.start[i], in.lower[i]), in.upper[i]);
    const auto n = index(in.count);
    out_.x.resize(x_.size());
    out_.FG.resize(x_.size());
    for (auto* numbers : {&out_.residual, &out_.minimum, &out_.projected_gradient}) numbers->resize(n);
    out_.status.resize(n);
    for (auto* counts :
         {&out_.outer, &out_.evaluations, &out_.inner, &out_.products, &out_.stage, &out_.stalls, &out_.method})
      counts->resize(n);
  }

  Solutions operator()() {
    oracles_.resize(index(in_.count));
    for (std::int64_t k = 0; k < in_.count; ++k)
      fibers_.emplace_back(stacks_[index(k)], [this, k](Fiber& fiber) { solve_one(fiber, k); });
    for (Fiber& fiber : fibers_) fiber.resume();
    while (answer(Oracle::Wish::kValue) || answer(Oracle::Wish::kJacobian)) check_interrupt();
    return std::move(out_);
  }

 private:
  [[nodiscard]] double* row(std::vector<double>& values, std::int64_t k) const {
    return values.data() + index(k) * static_cast<std::size_t>(in_.size);
  }

  /// Evaluates all rows, and continues the problems that asked for it. Returns false if none did.
  bool answer(Oracle::Wish wish) {
    bool any = false;
    for (std::int64_t k = 0; k < in_.count; ++k) {
      if (fibers_[index(k)].done()) continue;
      const Oracle& oracle = *oracles_[index(k)];
      std::copy_n(oracle.wanted(), in_.size, row(x_, k));
      any = any || oracle.wish() == wish;
    }
    if (!any) return false;
    const bool value = wish == Oracle::Wish::kValue;
    (value ? in_.value : in_.jacobian)(x_.data(), (value ? F_ : J_).data());
    (value ? out_.value_calls : out_.jacobian_calls) += 1;
    for (std::int64_t k = 0; k < in_.count; ++k) {
      Fiber& fiber = fibers_[index(k)];
      if (fiber.done() || oracles_[index(k)]->wish() != wish) continue;
      if (value)
        oracles_[index(k)]->answer_value(row(F_, k));
      else
        oracles_[index(k)]->answer_jacobian(J_.data() + index(k) * index(in_.size) * index(in_.size));
      fiber.resume();
    }
    return true;
  }

  /// The body of a fiber: one stage after another.
  void solve_one(Fiber& fiber, std::int64_t k) {
    const std::size_t first = index(k) * static_cast<std::size_t>(in_.size);
    Oracle& oracle = oracles_[index(k)].emplace(fiber, in_.size, in_.lower.data() + first, in_.upper.data() + first);
    Numbers start = Numbers::zero();
    for (int i = 0; i < in_.size; ++i)
      start[i] = std::min(std::max(in_.start[first + index(i)], oracle.low(i)), oracle.high(i));
    solvers::Effort<double> effort = solvers::Effort<double>::zero();
    for (std::size_t s = 0; s < options_.stages.size(); ++s) {
      const Stage& stage = options_.stages[s];
      const mncp::Options rules{
          .tolerance = options_.tolerance, .starts = stage.starts, .max_iterations = options_.max_iterations};
      const Solution found = run_stage({stage, rules, &oracle, &start});
      add(found.effort, effort);
      const auto status = static_cast<Status>(static_cast<int>(found.status));
      const bool ends = status == Status::kConverged || status == Status::kInvalidInput;
      if (s == 0 || ends || found.residual < out_.residual[index(k)] || std::isnan(out_.residual[index(k)]))
        write(found, k);
      out_.method[index(k)] = static_cast<std::int32_t>(s);
      if (ends) break;
      effort.stage += 1;
    }
    const auto whole = [](double a) { return static_cast<std::int32_t>(a); };
    out_.outer[index(k)] = whole(effort.outer);
    out_.evaluations[index(k)] = whole(effort.evaluations);
    out_.inner[index(k)] = whole(effort.inner);
    out_.products[index(k)] = whole(effort.products);
    out_.stage[index(k)] = whole(effort.stage);
    out_.stalls[index(k)] = whole(effort.stalls);
  }
  static void add(const solvers::Effort<double>& more, solvers::Effort<double>& sum) {
    sum.outer += more.outer;
    sum.evaluations += more.evaluations;
    sum.inner += std::max(more.inner, 0.0);
    sum.products += std::max(more.products, 0.0);
    sum.stage += more.stage;
    sum.stalls += more.stalls;
  }
  void write(const Solution& found, std::int64_t k) {
    std::copy_n(found.x.m, in_.size, row(out_.x, k));
    std::copy_n(found.FG.m, in_.size, row(out_.FG, k));
    out_.residual[index(k)] = found.residual;
    out_.minimum[index(k)] = found.minimum;
    out_.projected_gradient[index(k)] = found.projected_gradient;
    out_.status[index(k)] = static_cast<Status>(static_cast<int>(found.status));
  }

  const Problems& in_;
  Options options_;
  Stacks stacks_;
  std::vector<double> x_, F_, J_;
  Solutions out_;
  std::vector<std::optional<Oracle>> oracles_;
  std::deque<Fiber> fibers_;  // last: they end before what they use
};

}  // namespace

Solution run_stage(const PairJob& job) {
  if (job.stage.minimizer == Minimizer::kSemismoothNewton) return run_newton(job);
  if (job.stage.merit == Merit::kPapers) return run_papers(job);
  if (job.stage.merit == Merit::kProducts) return run_products(job);
  return run_fischer_burmeister(job);
}

int padded_size(Minimizer minimizer, int size) {
  constexpr int kStrands = solvers::box_quacan::kStrands;
  return minimizer == Minimizer::kBoxQuacan ? (size + kStrands - 1) / kStrands * kStrands : size;
}

std::vector<Stage> auto_stages() {
  return {{Merit::kFischerBurmeister, Minimizer::kSemismoothNewton, 1},
          {Merit::kNatural, Minimizer::kSemismoothNewton, 1},
          {Merit::kFischerBurmeister, Minimizer::kProjectedLm, 1},
          {Merit::kProducts, Minimizer::kProjectedLm, 10}};
}

Solutions solve(const Problems& problems, const Options& options) {
  check_problems(problems, options);
  int n = problems.size;
  for (const Stage& stage : options.stages) n = std::max(n, padded_size(stage.minimizer, problems.size));
  const bool above = std::any_of(problems.upper.begin(), problems.upper.end(), [](double u) { return u < INFINITY; });
  const SizesInUse sizes(n, above ? 2 * n : n);
  return Run(problems, options)();
}

}  // namespace garra::mcp
