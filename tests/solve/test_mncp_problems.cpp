// The built-in complementarity problems: their stated solutions, and which solver solves which.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "garra/mncp_batch.hpp"
#include "garra/solve/box_quacan.hpp"
#include "garra/solve/mncp_problems.hpp"
#include "garra/solve/projected_lm.hpp"
#include "garra/solve/spectral_projected_gradient.hpp"

namespace garra {
namespace {

using solvers::BoxQuacan;
using solvers::ComponentwiseMerit;
using solvers::FischerBurmeisterMerit;
using solvers::PapersMerit;
using solvers::ProjectedLm;
using solvers::SpectralProjectedGradient;

template <class P>
solvers::MncpVec<P, double> vector_of(const std::vector<double>& x) {
  solvers::MncpVec<P, double> v;
  for (std::size_t i = 0; i < x.size(); ++i) v[static_cast<int>(i)] = x[i];
  return v;
}

template <class P>
void expect_no_error_at_known_solutions() {
  for (const auto& problem : P::cases()) {
    EXPECT_EQ(problem.start.size(), static_cast<std::size_t>(solvers::kUnknowns<P>)) << problem.name;
    for (const auto& x : problem.solutions) {
      ASSERT_EQ(x.size(), static_cast<std::size_t>(solvers::kUnknowns<P>)) << problem.name;
      // 1e-12: rounding of numbers of size up to 200, through exp and pow
      EXPECT_LE((solvers::mncp_error<P, double>(problem.data, vector_of<P>(x))), 1e-12) << problem.name;
      const typename PapersMerit::template View<P, double> view(problem.data);
      const auto r = view.residual(view.lift(vector_of<P>(x)));
      EXPECT_LE(dot(r, r), 1e-24) << problem.name;
    }
  }
}

TEST(MncpProblems, EveryStatedSolutionSolvesItsProblem) {
  int problems = 0;
  std::set<std::string> names;
  solvers::MncpTestSet::for_each([&]<class P>(std::type_identity<P>) {
    expect_no_error_at_known_solutions<P>();
    for (const auto& problem : P::cases()) {
      ++problems;
      EXPECT_TRUE(names.insert(problem.name).second) << problem.name << " is there twice";
    }
  });
  EXPECT_EQ(problems, 53);
}

// Solvers on the built-in problems.

/// What one solver makes of one problem: the number of the known solution that it found, "." for another solution, else
/// the first letter of the status.
template <class P, class Merit, class Minimizer>
__attribute__((noinline)) char outcome(const solvers::MncpCase<P>& problem, int starts) {
  const auto start = vector_of<P>(problem.start);
  const auto s = mncp::solve_one<P, Merit, Minimizer>(problem.data, start, {.starts = starts});
  if (s.status != 0) return to_string(static_cast<Status>(static_cast<int>(s.status)))[0];
  const bool right = solvers::mncp_error<P, double>(problem.data, s.x) <= 1e-8;
  const int known = solvers::known_solution(problem, s.x.m);
  return !right ? '!' : known < 0 ? '.' : static_cast<char>('0' + known);
}
bool is_solved(char outcome) { return outcome == '.' || (outcome >= '0' && outcome <= '9'); }

/// One letter for each of the nine pairs: papers | componentwise | Fischer-Burmeister with box-quacan, spg, projected
/// lm.
template <class P>
std::string outcomes(const solvers::MncpCase<P>& problem, int starts) {
  return {outcome<P, PapersMerit, BoxQuacan>(problem, starts),
          outcome<P, PapersMerit, SpectralProjectedGradient>(problem, starts),
          outcome<P, PapersMerit, ProjectedLm>(problem, starts),
          outcome<P, ComponentwiseMerit, BoxQuacan>(problem, starts),
          outcome<P, ComponentwiseMerit, SpectralProjectedGradient>(problem, starts),
          outcome<P, ComponentwiseMerit, ProjectedLm>(problem, starts),
          outcome<P, FischerBurmeisterMerit, BoxQuacan>(problem, starts),
          outcome<P, FischerBurmeisterMerit, SpectralProjectedGradient>(problem, starts),
          outcome<P, FischerBurmeisterMerit, ProjectedLm>(problem, starts)};
}

TEST(MncpProblems, EveryOneIsSolvedByAtLeastOneListedSolver) {
  std::vector<int> solved(9);
  std::printf(
      "one start, then ten; papers, componentwise, Fischer-Burmeister, each with box-quacan, spg, projected lm\n");
  solvers::MncpTestSet::for_each([&]<class P>(std::type_identity<P>) {
    for (const auto& problem : P::cases()) {
      const std::string once = outcomes(problem, 1), often = outcomes(problem, 10);
      std::printf("  %-18s %s %s\n", problem.name.c_str(), once.c_str(), often.c_str());
      EXPECT_TRUE(std::any_of(often.begin(), often.end(), is_solved)) << problem.name << ": no solver solves it";
      EXPECT_EQ((once + often).find('!'), std::string::npos) << problem.name << ": called converged but is not";
      for (std::size_t k = 0; k < 9; ++k) {
        solved[k] += is_solved(often[k]);
        EXPECT_TRUE(!is_solved(once[k]) || is_solved(often[k])) << problem.name << ": more starts lost a solution";
      }
    }
  });
  std::printf("  solved with ten starts:");
  for (const int n : solved) std::printf(" %d", n);
  std::printf("\n");
  // Of the nine pairs, those with projected Levenberg-Marquardt solve the whole set.
  for (const std::size_t k : {2u, 5u, 8u}) EXPECT_EQ(solved[k], 53);
}

}  // namespace
}  // namespace garra
