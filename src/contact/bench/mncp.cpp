#include "contact/bench/mncp.hpp"

#include "contact/bench/mncp_arrays.hpp"
#include "contact/bench/mncp_minimizers.hpp"
#include "garra/solvers/mncp_problems.hpp"

namespace garra::cli {
namespace {

constexpr int kStarts = 20;

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

MncpRecord measure_mncp(double tolerance) {
  MncpRecord record = empty_record();
  for (std::size_t k = 0; k < std::size(mncp::kMinimizers); ++k)
    for (std::size_t m = 0; m < std::size(mncp::kMerits); ++m) {
      record.solvers.push_back(std::string(mncp::kMerits[m]) + " / " + mncp::kMinimizers[k]);
      const auto results =
          measure_mncp({static_cast<mncp::Merit>(m), static_cast<mncp::Minimizer>(k)}, tolerance, kStarts);
      for (std::size_t p = 0; p < results.size(); ++p) record.problems[p].results.push_back(results[p]);
    }
  return record;
}

}  // namespace garra::cli
