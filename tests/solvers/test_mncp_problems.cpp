// The built-in complementarity problems: their stated solutions, and which solver solves which.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "contact/bench/mncp_minimizers.hpp"
#include "garra/solvers/mncp_problems.hpp"

namespace garra {
namespace {

using solvers::PapersMerit;

template <class P>
solvers::MncpVec<P, double> to_vector(const std::vector<double>& x) {
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
      EXPECT_LE((solvers::mncp_error<P, double>(problem.data, to_vector<P>(x))), 1e-12) << problem.name;
      const typename PapersMerit::template View<P, double> view(problem.data);
      const auto r = view.residual(view.lift(to_vector<P>(x)));
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

/// Checks F of the problem with this name at x against numbers that were worked out from the sources by hand.
template <class P>
void expect_values(const std::string& name, const std::vector<double>& x, const std::vector<double>& expected) {
  const auto cases = P::cases();
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const auto& c) { return c.name == name; });
  ASSERT_NE(found, cases.end()) << name;
  const auto y = P::template evaluate<double, double>(found->data, to_vector<P>(x));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(y[static_cast<int>(i)], expected[i], 1e-12 * std::max(1.0, std::abs(expected[i]))) << name << " " << i;
}

// Where every term counts: at known solutions many are zero.
TEST(MncpProblems, FunctionsAreThoseOfTheirSources) {
  using namespace solvers;
  expect_values<KojimaMncp>("kojima-shindo", {1.5, -0.5, 2, 0.25}, {2.5, 24.75, 3.75, 4.75});
  expect_values<KojimaMncp>("josephy", {1.5, -0.5, 2, 0.25}, {2.5, 10.75, 10.25, 4.75});
  expect_values<MathiesenMncp>("mathiesen", {1, 2, 3, 4}, {5, -11.15, 3.1, 2});
  expect_values<WalrasMncp>("walras", {1, 2, 3, 4}, {5, -7.1, 3.325, 2});
  expect_values<HardEquationsMncp>("ne-hard", {1, 2, 3}, {std::sin(1.0) + 1, 11, -189});
  // Murty: the triangle of twos, and q_i = 2^i - 2^7.
  expect_values<LinearMncp<6>>("murty-1", {1, 2, 3, 4, 5, 6}, {40, 37, 32, 25, 16, 5});
  expect_values<LinearMncp<6>>("murty-2", {1, 2, 3, 4, 5, 6}, {-85, -86, -87, -86, -79, -58});
  // Hock and Schittkowski's problem 76: gradient of the Lagrangian, then what its constraints leave.
  expect_values<LinearMncp<7>>("hs76", {1, 2, 3, 4, 5, 6, 7}, {21, 8, -1, 5, -7, -3, 12.5});
}

// Solvers on the built-in problems.

/// What one solver makes of one problem: the number of the known solution that it found, "." for another solution, else
/// the first letter of the status.
template <class P>
char outcome(const solvers::MncpCase<P>& problem, const cli::MncpResult& found) {
  if (found.status != Status::kConverged) return to_string(found.status)[0];
  const bool right = solvers::mncp_error<P, double>(problem.data, to_vector<P>(found.x)) <= 1e-8;
  const int known = solvers::known_solution(problem, found.x.data());
  return !right ? '!' : known < 0 ? '.' : static_cast<char>('0' + known);
}
bool is_solved(char outcome) { return outcome == '.' || (outcome >= '0' && outcome <= '9'); }

/// Of the nine pairs: papers | componentwise | Fischer-Burmeister with box-quacan, spg, projected lm. The solvers are
/// those of `garra contact bench --set mncp`, which are compiled once.
using Pairs = std::vector<std::vector<cli::MncpResult>>;
Pairs solve_all(int starts) {
  Pairs pairs;
  for (const auto merit : {mncp::Merit::kPapers, mncp::Merit::kComponentwise, mncp::Merit::kFischerBurmeister})
    for (const auto minimizer : {mncp::Minimizer::kBoxQuacan, mncp::Minimizer::kSpg, mncp::Minimizer::kProjectedLm})
      pairs.push_back(cli::measure_mncp({merit, minimizer}, 1e-8, starts));
  return pairs;
}

/// One letter for each pair, of problem number `at` of the set.
template <class P>
std::string outcomes(const solvers::MncpCase<P>& problem, const Pairs& pairs, std::size_t at) {
  std::string letters;
  for (const auto& results : pairs) letters += outcome(problem, results.at(at));
  return letters;
}

TEST(MncpProblems, EveryOneIsSolvedByAtLeastOneListedSolver) {
  std::vector<int> solved(9);
  const Pairs one_start = solve_all(1), ten_starts = solve_all(10);
  std::size_t at = 0;
  std::printf(
      "one start, then ten; papers, componentwise, Fischer-Burmeister, each with box-quacan, spg, projected lm\n");
  solvers::MncpTestSet::for_each([&]<class P>(std::type_identity<P>) {
    for (const auto& problem : P::cases()) {
      const std::string once = outcomes(problem, one_start, at), often = outcomes(problem, ten_starts, at);
      ++at;
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
