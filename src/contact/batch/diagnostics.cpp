// Decides problems whose contacts all slide by exhaustion: they are small linear complementarity problems.
#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "contact/batch/arrays.hpp"
#include "garra/core/error.hpp"

namespace garra::contact {
namespace {

constexpr int kUndecided = 255;

bool all_slide(const ProblemView& in, std::int64_t k) {
  for (int j = 0; j < in.contacts; ++j)
    if (!slides(in, k, j)) return false;
  return true;
}

void require_sliding(const ProblemView& in) {
  if (in.contacts > lcp::kMaxEnumerated)
    throw Error(ExitCode::kInvalidFile, "solutions of problems of " + std::to_string(in.contacts) + " contacts",
                "they are counted for up to " + std::to_string(lcp::kMaxEnumerated) + " contacts");
  for (std::int64_t k = 0; k < in.count; ++k)
    if (!all_slide(in, k))
      throw Error(ExitCode::kInvalidFile, "problem " + std::to_string(k) + " has contacts that may roll",
                  "solutions are counted where all contacts slide (mode = 1)");
}

/// Problems that exhaustion can decide: all if solutions are to be counted, else the unsolved ones.
std::vector<std::int64_t> choose(const ProblemView& in, const Options& options, const Solutions& out) {
  std::vector<std::int64_t> chosen;
  for (std::int64_t k = 0; k < in.count; ++k) {
    const Status status = out.status[static_cast<std::size_t>(k)];
    // Others keep their answer: converged ones need no proof, invalid ones have no valid numbers.
    const bool unsolved = status == Status::kStalled || status == Status::kIterationLimit;
    const bool wanted = options.count_solutions ? status != Status::kInvalidInput : unsolved;
    if (wanted && all_slide(in, k)) chosen.push_back(k);
  }
  return chosen;
}

/// Solution number i of the enumeration as a candidate for problem k, with the counters that the method left.
solvers::Candidate<double, kAnyContacts> candidate_from(const lcp::Enumeration& all, std::int64_t i,
                                                        const Solutions& out, std::int64_t k) {
  auto c = Vec<double, 3 * kAnyContacts>::zero();
  // Tangential parts stay zero: certify() restores them from the slip direction.
  const int n = out.contacts;
  for (int j = 0; j < n; ++j) c[3 * j] = all.z[static_cast<std::size_t>(i * n + j)];
  auto effort = solvers::Effort<double>::none();
  effort.outer = out.iterations[static_cast<std::size_t>(k)];
  // One stage more than the method's own, which identifies the enumeration as the source.
  effort.stage = out.stage[static_cast<std::size_t>(k)] + 1;
  // kStalled if the certificate should fail: the enumeration proves with its own bounds, not with `tolerance`.
  return solvers::make_candidate<double, kAnyContacts>(c, static_cast<int>(Status::kStalled), effort);
}

/// M = A~_nn and q = b_n of the chosen problems                                                  (papers, 46 and 24)
lcp::Problems normal_problems(const ProblemView& in, const std::vector<std::int64_t>& chosen) {
  const int n = in.contacts;
  const ContactsInUse many(n);
  lcp::Problems out{n, static_cast<std::int64_t>(chosen.size()), {}, {}};
  for (const std::int64_t k : chosen) {
    auto p = problem_at(in, k);
    solvers::eliminate_sliding(p, sliding_at(in, k));
    const auto normal = solvers::normal_problem(p);
    out.M.insert(out.M.end(), normal.M.m, normal.M.m + n * n);
    out.q.insert(out.q.end(), normal.q.m, normal.q.m + n);
  }
  return out;
}

/// Erases the forces of a problem that has no solution.
void forget(std::int64_t k, Solutions& out) {
  const auto wipe = [k](auto& numbers, int each, auto nothing) {
    if (!numbers.empty()) std::fill_n(numbers.begin() + k * each, each, nothing);
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  wipe(out.c, 3 * out.contacts, kNan);
  wipe(out.a, 3 * out.contacts, kNan);
  wipe(out.friction_margin, 1, kNan);
  wipe(out.required_friction, 1, kNan);
  wipe(out.state, out.contacts, ContactState::kUnknown);
}

void add(const ProblemView& in, const Options& options, const Device& device, Solutions& out) {
  const std::vector<std::int64_t> chosen = choose(in, options, out);
  if (chosen.empty()) return;
  const lcp::Enumeration all = lcp::enumerate(normal_problems(in, chosen), device.threads);
  const ContactsInUse many(in.contacts);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::int64_t k = chosen[i], found = all.solutions(static_cast<std::int64_t>(i));
    Status& status = out.status[static_cast<std::size_t>(k)];
    const auto decision = all.decision[i];
    // A continuum has no number of solutions; that of an undecided problem is unknown.
    const bool counted = decision != solvers::LcpStatus::kContinuum && decision != solvers::LcpStatus::kUndecided;
    if (options.count_solutions)
      out.solutions[static_cast<std::size_t>(k)] = static_cast<std::uint8_t>(counted ? found : kUndecided);
    // A problem without a solution gets none, though a load within the tolerance may have one.
    if (decision == solvers::LcpStatus::kNoSolution) {
      status = Status::kNoSolution;
      forget(k, out);
    }
    // A certified solution stays, even if there are others.
    if (status == Status::kConverged) continue;
    // Other methods are to be measured by their own solutions.
    if (found == 0 || options.method != Method::kAuto) continue;
    const auto candidate = candidate_from(all, all.first[i], out, k);
    store_solution(in, k, solvers::certify(problem_at(in, k), sliding_at(in, k), candidate, options.tolerance), out);
  }
}

}  // namespace

lcp::Problems normal_problems(const ProblemView& in) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(in.count));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return normal_problems(in, all);
}

void add_diagnostics(const ProblemView& problems, const Options& options, const Device& device, Solutions& out) {
  if (options.count_solutions) {
    require_sliding(problems);
    out.solutions.assign(static_cast<std::size_t>(problems.count), kUndecided);
  }
  if (problems.slip_velocity.empty()) return;
  // More contacts have too many bases: problems that the solvers leave unsolved stay unsolved.
  if (problems.contacts <= lcp::kMaxEnumerated) add(problems, options, device, out);
}

}  // namespace garra::contact
