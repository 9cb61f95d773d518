// contact::equivalence: minimizes each problem on the scalar executor and judges the point where it ends.
#include "garra/solvers/merit/equivalence.hpp"

#include <cmath>

#include "contact/batch/equivalence.hpp"
#include "contact/batch/solve_batch.hpp"
#include "garra/core/error.hpp"

namespace garra::contact {
namespace {

using Given = solvers::FrictionProblem<double, kAnyContacts>;
using solvers::Equivalence;

constexpr double kStationary = 1e-6;  ///< stationary: projected gradient <= this |r|

Given copy_problem(const ProblemView& in, std::int64_t i) {
  Given p;
  const auto rows = static_cast<std::size_t>(3 * in.contacts), at = static_cast<std::size_t>(i);
  std::copy_n(in.A.begin() + static_cast<std::ptrdiff_t>(at * rows * rows), rows * rows, p.A.m);
  std::copy_n(in.b.begin() + static_cast<std::ptrdiff_t>(at * rows), rows, p.b.m);
  std::copy_n(in.mu.begin() + i * in.contacts, in.contacts, p.mu.m);
  return p;
}

/// The hypothesis of the merit function's theorem at x = (u, v), or (u, v, z).
template <Merit M, class Problem, class X>
Equivalence judge(const Given& scaled, const X& x) {
  namespace eq = solvers::equivalence;
  if (extent<Problem::kComplementary>() > eq::kMostPairs) return Equivalence::kUndecided;
  const auto point = solvers::mncp_detail::head<Problem>(x);
  eq::Square s;
  if (!eq::reduced_matrix<Problem>(scaled, point, s)) return Equivalence::kFails;
  const eq::Classes classes = eq::classify(s);
  if constexpr (M == Merit::kFischerBurmeister) {
    return eq::by_fischer_burmeister(classes);
  } else {
    const Equivalence hypothesis = eq::by_slack(classes, false);
    if (hypothesis != Equivalence::kUndecided) return hypothesis;
    const auto F = Problem::evaluate(scaled, point);
    double w[eq::kMostPairs];
    for (int i = 0; i < s.rows; ++i) w[i] = F[i] - x[extent<Problem::kSize>() + i];
    return eq::refutes_row_sufficiency(s, w) ? Equivalence::kFails : hypothesis;
  }
}

template <Merit M>
void judge_all(const ProblemView& in, Start start, double tolerance, Equivalences& out) {
  using Solver = PairMethod<M, Minimizer::kProjectedLm>;
  using Problem =
      typename solvers::friction_merit::ProblemOf<typename solver_types::MeritOf<M>::type, kAnyContacts>::type;
  Solver solver;
  solver.minimizer = {};  // with its own limits: it goes on to a stationary point
  solver.tolerance = tolerance;
  solver.first =
      static_cast<solvers::FrictionStart>(static_cast<int>(start == Start::kOwn ? Start::kSweeps : start) - 1);
  for (std::int64_t i = 0; i < in.count; ++i) {
    const Large given([&] { return copy_problem(in, i); });
    const bool valid = solvers::friction_problem_detail::defects(*given) == 0;
    Large state([&] { return solver.template start<double, kAnyContacts>(*given); });
    if (!valid) (*state).running = 0;
    while (solver.running(*state)) solver.step(*state);
    const auto& at = (*state).mncp.minimizer.at;
    const auto found = solvers::certify(*given, solver.candidate(*state), tolerance);
    out.status.push_back(static_cast<Status>(static_cast<int>(found.status)));
    out.minimum.push_back(at.f);
    out.stationary.push_back(at.projected_gradient <= kStationary * std::sqrt(at.f) || at.f == 0 ? 1 : 0);
    out.hypothesis.push_back(valid ? judge<M, Problem>((*state).mncp.data, at.x) : Equivalence::kUndecided);
  }
}

}  // namespace

Equivalences equivalence(const ProblemView& problems, Merit merit, Start start, double tolerance) {
  check_sizes(problems);
  if (std::any_of(problems.mode.begin(), problems.mode.end(), [](auto m) { return m != 0; }))
    throw Error(ExitCode::kUsage, "equivalence: contacts slide", "give problems whose contacts may all roll");
  if (merit == Merit::kSecondOrderCone)
    throw Error(ExitCode::kUsage, "equivalence: the theorems do not apply to the merit function second-order-cone",
                "use papers, products or fischer-burmeister");
  Equivalences out;
  out.count = problems.count;
  const ContactsInUse use(problems.contacts);
  if (merit == Merit::kPapers)
    judge_all<Merit::kPapers>(problems, start, tolerance, out);
  else if (merit == Merit::kProducts)
    judge_all<Merit::kProducts>(problems, start, tolerance, out);
  else
    judge_all<Merit::kFischerBurmeister>(problems, start, tolerance, out);
  return out;
}

}  // namespace garra::contact
