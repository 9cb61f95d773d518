#include "contact/bench/mncp.hpp"

#include "contact/bench/mncp_arrays.hpp"
#include "contact/bench/mncp_run.hpp"

namespace garra::cli {
namespace {

using mncp_detail::Results;

constexpr int kStarts = 20;

// In the order of mncp::kMinimizers.
constexpr std::vector<Results> (*kMeasures[])(double tol, int starts) = {
    mncp_detail::measure_box_quacan, mncp_detail::measure_spg, mncp_detail::measure_projected_lm};

MncpRecord empty_record() {
  MncpRecord record;
  record.starts = kStarts;
  solvers::MncpTestSet::for_each([&]<class P>(std::type_identity<P>) {
    for (const solvers::MncpCase<P>& problem : P::cases())
      record.problems.push_back({problem.name, solvers::kUnknowns<P>, static_cast<int>(problem.solutions.size())});
  });
  return record;
}

}  // namespace

MncpRecord measure_mncp(double tol) {
  MncpRecord record = empty_record();
  for (std::size_t k = 0; k < std::size(kMeasures); ++k) {
    const std::vector<Results> by_merit = kMeasures[k](tol, kStarts);
    for (std::size_t m = 0; m < by_merit.size(); ++m) {
      record.solvers.push_back(std::string(mncp::kMerits[m]) + " / " + mncp::kMinimizers[k]);
      for (std::size_t p = 0; p < record.problems.size(); ++p) record.problems[p].results.push_back(by_merit[m][p]);
    }
  }
  return record;
}

}  // namespace garra::cli
