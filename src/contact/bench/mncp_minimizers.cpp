#include "contact/bench/mncp_minimizers.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "contact/mcp/pairs.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/solvers/mncp_problems.hpp"

namespace garra::mncp {
namespace {

/// A problem of a family, whose functions are templates, as the compiled pairs take it. Unknowns above those of the
/// family are fixed at 0.
template <class P>
class FamilyRow final : public mcp::AnyRow {
 public:
  static constexpr int p = P::kComplementary, n = solvers::kUnknowns<P>;
  using X = Vec<double, n>;
  using Data = detail::DataOf<P>;

  explicit FamilyRow(const Data& data) : data_(data), F_(mcp::Numbers::zero()), J_(mcp::Matrix::zero()) {}

  const mcp::Numbers& value(const mcp::Numbers& x) override {
    const X F = P::evaluate(data_, head(x));
    std::copy_n(F.m, n, F_.m);
    return F_;
  }
  const mcp::Matrix& jacobian(const mcp::Numbers& x) override {
    const Mat<double, n, n> J = solvers::mncp_jacobian<P, double>(data_, head(x));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) J_(i, j) = J(i, j);
    return J_;
  }
  void add_curvature(const mcp::Numbers& x, const mcp::Numbers& w, mcp::Matrix& H) override {
    auto own = Mat<double, n, n>::zero();
    solvers::mncp_add_curvature<P, double>(data_, head(x), head(w), own);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) H(i, j) += own(i, j);
  }
  [[nodiscard]] double low(int i) const override { return i < p || i >= n ? 0 : -solvers::kInfinite; }
  [[nodiscard]] double high(int i) const override { return i < n ? solvers::kInfinite : 0; }
  [[nodiscard]] bool usable() const override {
    if constexpr (std::is_empty_v<Data>) return true;
    const auto* first = reinterpret_cast<const double*>(&data_);
    return std::all_of(first, first + batch::kFields<double, Data>, [](double a) { return std::isfinite(a); });
  }

 private:
  static X head(const mcp::Numbers& x) {
    X out;
    std::copy_n(x.m, n, out.m);
    return out;
  }

  [[no_unique_address]] Data data_;
  mcp::Numbers F_;
  mcp::Matrix J_;
};

mcp::Stage to_stage(const Choice& choice) {
  return {static_cast<mcp::Stage::Merit>(choice.merit), static_cast<mcp::Stage::Minimizer>(choice.minimizer), 1};
}

/// Solves one problem, and calls use(solution) while its numbers have their sizes.
template <class P, class Use>
void solve_alone(const Choice& choice, const Options& options, const detail::DataOf<P>& data, const double* start,
                 const Use& use) {
  const mcp::Stage stage = to_stage(choice);
  const int size = mcp::padded_size(stage.minimizer, FamilyRow<P>::n);
  const SizesInUse sizes(size, size);
  FamilyRow<P> row(data);
  mcp::Numbers x = mcp::Numbers::zero();
  std::copy_n(start, FamilyRow<P>::n, x.m);
  use(mcp::run_stage({stage, options, &row, &x}));
}

template <class P>
void write(const mcp::Solution& found, std::int64_t k, Solutions& out) {
  const auto at = static_cast<std::size_t>(k);
  std::copy_n(found.x.m, FamilyRow<P>::n, &out.x[at * FamilyRow<P>::n]);
  std::copy_n(found.FG.m, FamilyRow<P>::n, &out.FG[at * FamilyRow<P>::n]);
  out.residual[at] = found.residual;
  out.minimum[at] = found.minimum;
  out.projected_gradient[at] = found.projected_gradient;
  const auto whole = [](double a) { return static_cast<std::int32_t>(a); };
  out.status[at] = static_cast<Status>(whole(found.status));
  out.outer[at] = whole(found.effort.outer);
  out.evaluations[at] = whole(found.effort.evaluations);
  out.inner[at] = whole(found.effort.inner);
  out.products[at] = whole(found.effort.products);
  out.stage[at] = whole(found.effort.stage);
  out.stalls[at] = whole(found.effort.stalls);
}

template <class P>
Solutions solve_each(const RowJob& job) {
  Solutions out = detail::make_solutions<P>(job.count);
  batch::for_blocks(solve_threads(job.device), {job.count, 64}, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t k = first; k < first + count; ++k) {
      check_interrupt();
      detail::DataOf<P> data;
      if constexpr (!std::is_empty_v<detail::DataOf<P>>)
        std::memcpy(&data, job.numbers.data + k * job.numbers.width, sizeof data);
      solve_alone<P>(job.choice, job.options, data, job.start.data + k * job.start.width,
                     [&](const mcp::Solution& found) { write<P>(found, k, out); });
    }
  });
  return out;
}

}  // namespace

Solutions solve_rows(const RowJob& job) {
  Solutions out;
  int family = 0;
  solvers::MncpTestSet::for_each([&]<class P>(std::type_identity<P>) {
    if (family++ == job.family) out = solve_each<P>(job);
  });
  return out;
}

}  // namespace garra::mncp

namespace garra::cli {

std::vector<MncpResult> measure_mncp(const mncp::Choice& choice, double tolerance, int starts) {
  std::vector<MncpResult> out;
  const mncp::Options options{.tolerance = tolerance, .starts = starts};
  solvers::MncpTestSet::for_each([&]<class P>(std::type_identity<P>) {
    for (const solvers::MncpCase<P>& problem : P::cases()) {
      MncpResult& one = out.emplace_back();
      for (int run = 0; run < 3; ++run) {  // the fastest counts
        const auto begin = std::chrono::steady_clock::now();
        mncp::solve_alone<P>(choice, options, problem.data, problem.start.data(), [&](const mcp::Solution& found) {
          const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
          one.seconds = run == 0 ? seconds : std::min(one.seconds, seconds);
          one.status = static_cast<Status>(static_cast<int>(found.status));
          one.error = found.residual;
          one.iterations = static_cast<int>(found.effort.outer);
          one.starts = static_cast<int>(found.effort.stage) + 1;
          one.x.assign(found.x.m, found.x.m + solvers::kUnknowns<P>);
        });
      }
      one.solution = one.status == Status::kConverged ? solvers::known_solution(problem, one.x.data()) : -1;
    }
  });
  return out;
}

}  // namespace garra::cli
