#include "contact/bench/mncp.hpp"

#include "contact/bench/mncp_run.hpp"

namespace garra::cli {
namespace {

using mncp_detail::Results;

constexpr int kStarts = 20;
constexpr const char* kMerits[] = {"papers", "products", "fischer-burmeister"};

struct MinimizerRun {
  const char* name;
  std::vector<Results> (*measure)(double tol, int starts);
};
constexpr MinimizerRun kMinimizers[] = {{"box-quacan", mncp_detail::measure_box_quacan},
                                        {"spg", mncp_detail::measure_spg},
                                        {"projected-lm", mncp_detail::measure_projected_lm}};

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
  for (const MinimizerRun& minimizer : kMinimizers) {
    const std::vector<Results> by_merit = minimizer.measure(tol, kStarts);
    for (std::size_t m = 0; m < by_merit.size(); ++m) {
      record.solvers.push_back(std::string(kMerits[m]) + " / " + minimizer.name);
      for (std::size_t p = 0; p < record.problems.size(); ++p) record.problems[p].results.push_back(by_merit[m][p]);
    }
  }
  return record;
}

}  // namespace garra::cli
