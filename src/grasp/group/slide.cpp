// Samples of a group whose contacts slide: where all do, each is a linear complementarity problem
// (docs/theory/grasp-sliding.md).
#include <algorithm>
#include <cmath>

#include "garra/lcp.hpp"
#include "grasp/group/process.hpp"
#include "grasp/study/study_solver.hpp"

namespace garra::grasp {

contact::Problems point_problems(const GroupModel& m, const std::vector<GroupSampleView>& samples) {
  contact::Problems out{.contacts = m.rows() / 3, .count = std::ssize(samples), .A = {}, .b = {}, .mu = {}};
  for (const GroupSampleView& s : samples) {
    for (int r = 0; r < m.rows(); ++r) {
      for (int c = 0; c < m.rows(); ++c) out.A.push_back(s.A(r, c));
      out.b.push_back(s.b(r));
    }
    out.mu.insert(out.mu.end(), s.mu.begin(), s.mu.end());
    for (std::size_t j = 0; m.slides && j < s.place.size(); ++j) {
      const GroupContact& c = m.contacts[j];
      const Vec3<double> v = transpose_times(s.place[j].E, relative_velocity(m, s, j));
      const Vec<double, 2> slip = c.slips_by_motion ? Vec<double, 2>{{v[1], v[2]}}
                                  : c.slides        ? c.slip
                                                    : Vec<double, 2>{{1, 0}};
      // Without friction the direction has no effect: such a contact belongs to the LCP, too.
      out.mode.push_back(c.slides || c.law == ContactLaw::kFrictionless ? 1 : 0);
      out.slip_velocity.insert(out.slip_velocity.end(), slip.m, slip.m + 2);
    }
  }
  return out;
}

void solve_sliding(const Scenario& s, const std::vector<GroupSampleView>& samples, const contact::Problems& problems,
                   const InstantMemory& at) {
  contact::Options options = contact_options(s);
  // Solutions can be counted where no contact may roll.
  options.count_solutions = s.check_uniqueness && problems.contacts <= lcp::kMaxEnumerated &&
                            std::ranges::find(problems.mode, 0) == problems.mode.end();
  Device one;
  one.threads = 1;  // the caller's threads have samples of their own
  const contact::Solutions found = contact::solve(problems, options, one);
  const std::int64_t n = problems.contacts;
  for (std::int64_t i = 0; i < problems.count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    auto v = SampleCheck<kAnyContacts>::unreachable<double>();
    if (samples[k].reaches()) {
      std::copy_n(found.c.begin() + 3 * n * i, 3 * n, v.c.m);
      std::copy_n(found.a.begin() + 3 * n * i, 3 * n, v.a.m);
      v.residual = found.residual[k];
      v.iterations = found.iterations[k];
      Outcome outcome = found.status[k] == Status::kNoSolution ? Outcome::kNoSolution : Outcome::kUnsolved;
      v.sticks = NAN;
      if (found.status[k] == Status::kConverged) {
        const auto state = found.state.begin() + n * i;
        const auto opens = std::find(state, state + n, contact::ContactState::kOpen);
        if (opens != state + n) {
          auto metrics = batch::load<double, Metrics<double, kAnyContacts>>(at.metrics.first, i);
          metrics.first = static_cast<double>(opens - state);
          batch::store<double>(at.metrics.first, i, metrics);
        }
        for (std::int64_t j = 0; j < n; ++j) v.state[static_cast<int>(j)] = static_cast<int>(state[j]);
        v.sticks = 0;
        v.several = options.count_solutions && found.solutions[k] > 1 && found.solutions[k] < 255 ? 1 : 0;
        outcome = v.several > 0 ? Outcome::kSeveral : opens != state + n ? Outcome::kSeparating : Outcome::kHeld;
        v.acceleration = largest_acceleration(samples[k], v.c.m);
      }
      v.outcome = static_cast<int>(outcome);
    }
    batch::store<double>(at.results.first, i, v);
  }
}

}  // namespace garra::grasp
