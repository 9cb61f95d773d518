#include "peers/siconos_lcp.hpp"

#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <lcp_cst.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace garra::bench::siconos {
namespace {

struct FreeOptions {
  void operator()(SolverOptions* options) const { solver_options_delete(options), std::free(options); }
};
struct FreeMatrix {
  void operator()(NumericsMatrix* matrix) const { NM_clear(matrix), std::free(matrix); }
};
using Matrix = std::unique_ptr<NumericsMatrix, FreeMatrix>;

std::vector<Matrix> matrices_of(const lcp::Problems& in) {
  const auto n = static_cast<std::size_t>(in.size);
  std::vector<Matrix> matrices;
  for (std::size_t k = 0; k < static_cast<std::size_t>(in.count); ++k) {
    matrices.emplace_back(NM_create(NM_DENSE, in.size, in.size));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        matrices.back()->matrix0[i + j * n] = in.M[(k * n + i) * n + j];  // column-major
  }
  return matrices;
}

}  // namespace

bool lcp_available() { return true; }

LcpAnswers solve_lcp(const lcp::Problems& in) {
  numerics_set_verbose(0);
  const auto n = static_cast<std::size_t>(in.size);
  const std::vector<Matrix> matrices = matrices_of(in);
  std::vector<double> q = in.q, w(n);
  LcpAnswers answers{std::vector<double>(in.q.size()), 0};
  const std::unique_ptr<SolverOptions, FreeOptions> options(solver_options_create(SICONOS_LCP_LEMKE));
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t k = 0; k < matrices.size(); ++k) {
    LinearComplementarityProblem problem{in.size, matrices[k].get(), q.data() + k * n};
    int info = 0;
    lcp_lexicolemke(&problem, answers.z.data() + k * n, w.data(), &info, options.get());
  }
  answers.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answers;
}

}  // namespace garra::bench::siconos
