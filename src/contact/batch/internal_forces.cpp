// contact::internal_forces.
#include <limits>

#include "contact/batch/arrays.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"
#include "garra/solvers/friction_interior.hpp"

namespace garra::contact {
namespace {

void find_all(const ProblemView& in, int threads, InternalForces& out) {
  constexpr int kMaxSteps = 80;
  batch::for_blocks(threads, {in.count, 64}, [&](std::int64_t first, std::int64_t count) {
    const ContactsInUse many(in.contacts);
    for (std::int64_t k = first; k < first + count; ++k) {
      const auto problem = problem_at(in, k);
      if (!(solvers::friction_problem_detail::defects(problem) == 0)) continue;
      const auto force = solvers::internal_force(problem, kMaxSteps);
      if (!force.found) continue;
      out.found[static_cast<std::size_t>(k)] = 1;
      std::copy_n(force.z.m, 3 * in.contacts, out.z.data() + k * 3 * in.contacts);
    }
  });
}

}  // namespace

InternalForces internal_forces(const ProblemView& problems, int threads) {
  check_sizes(problems);
  if (!problems.slip_velocity.empty())
    throw Error(ExitCode::kUsage, "internal forces of problems whose contacts slide",
                "leave mode and slip_velocity out: all contacts may roll then");
  const auto count = static_cast<std::size_t>(problems.count), k = static_cast<std::size_t>(problems.contacts);
  InternalForces out{problems.contacts, problems.count, std::vector<std::uint8_t>(count),
                     std::vector<double>(count * 3 * k, std::numeric_limits<double>::quiet_NaN())};
  Device device;
  device.threads = threads;
  find_all(problems, solve_threads(device), out);
  return out;
}

}  // namespace garra::contact
