#include "peers/siconos.hpp"

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <lcp_cst.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

namespace garra::bench::siconos {
namespace {

struct FreeOptions {
  void operator()(SolverOptions* options) const { solver_options_delete(options), std::free(options); }
};
struct FreeMatrix {
  void operator()(NumericsMatrix* matrix) const { NM_clear(matrix), std::free(matrix); }
};
using Options = std::unique_ptr<SolverOptions, FreeOptions>;
using Matrix = std::unique_ptr<NumericsMatrix, FreeMatrix>;

int id_of(Method method) {
  switch (method) {
    case Method::newton:
    case Method::hybrid_newton:
      return SICONOS_FRICTION_3D_NSN_AC;
    case Method::gauss_seidel:
    case Method::gauss_seidel_newton:
      return SICONOS_FRICTION_3D_NSGS;
    case Method::admm:
      return SICONOS_FRICTION_3D_ADMM;
    case Method::extragradient:
      return SICONOS_FRICTION_3D_EG;
    case Method::proximal_point:
      return SICONOS_FRICTION_3D_PROX;
    case Method::lemke:
      return SICONOS_LCP_LEMKE;
  }
  return SICONOS_FRICTION_3D_NSGS;
}

/// Defaults, except where another choice was seen to be faster at no loss of solved problems.
/// The tolerance is a tenth: with the whole one the certificate refuses 2 to 17 % of the forces that Siconos calls
/// solved, by less than ten tolerances. A hundredth solves no more.
Options make_options(Method method, double tolerance) {
  Options options(solver_options_create(id_of(method)));
  options->dparam[SICONOS_DPARAM_TOL] = 0.1 * tolerance;
  int* const choice = options->iparam;
  if (method == Method::newton || method == Method::hybrid_newton)
    choice[SICONOS_FRICTION_3D_NSN_RHO_STRATEGY] = SICONOS_FRICTION_3D_NSN_FORMULATION_RHO_STRATEGY_SPLIT_SPECTRAL_NORM;
  if (method == Method::hybrid_newton)
    choice[SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY] = SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY_VI_EG_NSN;
  if (method == Method::gauss_seidel || method == Method::gauss_seidel_newton)
    choice[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] = SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_LIGHT;
  if (method == Method::gauss_seidel_newton)
    solver_options_update_internal(options.get(), 0, SICONOS_FRICTION_3D_ONECONTACT_NSN);
  // A thousand outer steps take up to half a second, and nearly all problems are done within a hundred.
  if (method == Method::proximal_point) choice[SICONOS_IPARAM_MAX_ITER] = 100;
  return options;
}

/// Solvers write what they learned from a problem (step sizes, inner tolerances) into their options. Restoring the
/// parameters makes every problem a cold start and answers independent of the order of problems.
class Parameters {
 public:
  explicit Parameters(const SolverOptions& options)
      : integers_(options.iparam, options.iparam + options.iSize),
        reals_(options.dparam, options.dparam + options.dSize) {
    for (std::size_t i = 0; i < options.numberOfInternalSolvers; ++i) inner_.emplace_back(*options.internalSolvers[i]);
  }
  void restore(SolverOptions& options) const {
    std::copy(integers_.begin(), integers_.end(), options.iparam);
    std::copy(reals_.begin(), reals_.end(), options.dparam);
    for (std::size_t i = 0; i < inner_.size(); ++i) inner_[i].restore(*options.internalSolvers[i]);
  }

 private:
  std::vector<int> integers_;
  std::vector<double> reals_;
  std::vector<Parameters> inner_;
};

/// Problem `index`, scaled as solvers::friction_scale does it: force_scale turns its forces back into newtons.
struct Scaled {
  Matrix M;
  std::vector<double> q, mu;
  double force_scale;
};
Scaled scaled_problem(const contact::Problems& problems, std::size_t index) {
  const auto k = static_cast<std::size_t>(problems.contacts), n = 3 * k;
  const double* A = problems.A.data() + index * n * n;
  const double* b = problems.b.data() + index * n;
  double size_a = 0, size_b = 0;
  for (std::size_t i = 0; i < n; ++i) {
    size_a = std::max(size_a, A[i * n + i]);
    size_b = std::max(size_b, std::abs(b[i]));
  }
  if (size_a == 0) size_a = 1;
  if (size_b == 0) size_b = 1;
  const int size = static_cast<int>(n);
  Scaled out{Matrix(NM_create(NM_DENSE, size, size)), std::vector<double>(n), {}, size_b / size_a};
  for (std::size_t i = 0; i < n; ++i) {
    out.q[i] = b[i] / size_b;
    for (std::size_t j = 0; j < n; ++j) out.M->matrix0[i + j * n] = A[i * n + j] / size_a;  // column-major
  }
  out.mu.assign(problems.mu.begin() + static_cast<std::ptrdiff_t>(index * k),
                problems.mu.begin() + static_cast<std::ptrdiff_t>((index + 1) * k));
  return out;
}

/// Runs the friction driver on one problem and measures it.
Answer drive_friction(Scaled& scaled, SolverOptions& options) {
  const std::size_t n = scaled.q.size();
  FrictionContactProblem problem{};
  problem.dimension = 3;
  problem.numberOfContacts = static_cast<int>(n / 3);
  problem.M = scaled.M.get();
  problem.q = scaled.q.data();
  problem.mu = scaled.mu.data();
  Answer answer{std::vector<double>(n, 0.0)};
  std::vector<double> velocity(n, 0.0);
  const auto start = std::chrono::steady_clock::now();
  answer.info = fc3d_driver(&problem, answer.c.data(), velocity.data(), &options);
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

/// The same for the normal forces alone; the tangential ones are left at 0.
Answer drive_lemke(Scaled& scaled, SolverOptions& options) {
  const std::size_t n = scaled.q.size(), k = n / 3;
  const int size = static_cast<int>(k);
  const Matrix M(NM_create(NM_DENSE, size, size));
  std::vector<double> q(k), z(k, 0.0), w(k, 0.0);
  for (std::size_t i = 0; i < k; ++i) {
    q[i] = scaled.q[3 * i];
    for (std::size_t j = 0; j < k; ++j) M->matrix0[i + j * k] = scaled.M->matrix0[3 * i + 3 * j * n];
  }
  LinearComplementarityProblem problem{size, M.get(), q.data()};
  Answer answer{std::vector<double>(n, 0.0)};
  const auto start = std::chrono::steady_clock::now();
  answer.info = linearComplementarity_driver(&problem, z.data(), w.data(), &options);
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (std::size_t i = 0; i < k; ++i) answer.c[3 * i] = z[i];
  return answer;
}

Answer drive(Method method, Scaled& scaled, SolverOptions& options) {
  Answer answer = method == Method::lemke ? drive_lemke(scaled, options) : drive_friction(scaled, options);
  answer.iterations = options.iparam[SICONOS_IPARAM_ITER_DONE];
  for (double& force : answer.c) force *= scaled.force_scale;
  return answer;
}

}  // namespace

bool available() { return true; }

void solve_each(const contact::Problems& problems, Method method, const Control& control,
                const std::function<void(std::int64_t, const Answer&)>& take) {
  numerics_set_verbose(0);
  const Options options = make_options(method, control.tolerance);
  const Parameters parameters(*options);
  for (std::int64_t index = control.first; index < problems.count; ++index) {
    Answer best;
    double spent = 0;
    for (int run = 0; run < control.repetitions && (run == 0 || spent < control.quick); ++run) {
      Scaled scaled = scaled_problem(problems, static_cast<std::size_t>(index));
      parameters.restore(*options);
      Answer answer = drive(method, scaled, *options);
      spent += answer.seconds;
      if (run == 0 || answer.seconds < best.seconds) best = std::move(answer);
    }
    take(index, best);
  }
}

Answers solve(const contact::Problems& problems, Method method) {
  Answers answers;
  solve_each(problems, method, {}, [&](std::int64_t, const Answer& answer) {
    answers.c.insert(answers.c.end(), answer.c.begin(), answer.c.end());
    answers.seconds.push_back(answer.seconds);
  });
  return answers;
}

}  // namespace garra::bench::siconos
