// Samples of grasps with a known hand, on the host: templates for instances/set_hand.cpp and set_hand_soft.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "contact/batch/lanes.hpp"
#include "contact/batch/method.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/on_device.hpp"
#include "garra/solvers/rest_forces.hpp"
#include "grasp/set/radius.hpp"
#include "grasp/set/run_hand.hpp"
#include "grasp/set/sample_ranges.hpp"

namespace garra::grasp {

namespace set_hand {

constexpr std::int64_t kSamples = 128;  // at once, a whole number of words: their tiles stay in the L2 cache
static_assert(kSamples % 64 == 0);

/// Tiles of one thread, which has set the number of contacts (ContactsInUse).
template <int D>
struct Workspace : private ContactsInUse {
  batch::Tiles<solvers::FrictionProblem<double, kAnyContacts, D>> problems{kSamples};
  batch::Tiles<typename contact::BalanceOp<kAnyContacts, D>::template In<double>> wrenches{kSamples};
  batch::Tiles<HandCommand<double, kAnyContacts, D>> commands{kSamples};
  batch::Tiles<Metrics<double, kAnyContacts>> metrics{kSamples};
  batch::Tiles<solvers::Candidate<double, kAnyContacts, D>> candidates{kSamples}, second{kSamples};
  batch::Tiles<HandResult<double>> results{kSamples};

  explicit Workspace(int contacts) : ContactsInUse(contacts) {}
  HandTiles tiles(bool check_uniqueness) {
    return {problems.data(), wrenches.data(),   commands.data(),
            metrics.data(),  candidates.data(), check_uniqueness ? second.data() : nullptr,
            results.data()};
  }
};

template <int D>
using Job = HandJob<kAnyContacts, D>;

template <int N, int D>
SampleCheck<N, D> make_checker(const Job<D>& job, const HandTiles& t) {
  return {job.solver.tolerance, job.held, t.problems, t.metrics, t.candidates, t.second};
}

/// Builds the contact problems, with the balance of their samples.
template <int D>
void prepare(const Job<D>& job, const SampleRange& of, Executor executor, const HandTiles& t,
             std::uint32_t left_out = 0) {
  constexpr int H = kAnyContacts;
  const auto grasp = static_cast<std::size_t>(of.grasp);
  const LimitedJoints<H, D> joints{job.joints.of(of.grasp), job.joints.each, job.joints.limit};
  contact::dispatch_contacts<D>(executor, [&](auto n) {
    const CandidateKernel<n, D, H> draw{job.model, &job.grasps[grasp], kSamples, job.first + of.first, t.wrenches};
    contact::for_each_problem<n>(
        executor, of.count,
        HandBuildKernel<n, D, H>{draw, &job.hands[grasp], joints, grip_force_errors(job.model), t, left_out});
  });
  with_balance(HandBalanceKernel<H, D>{&job.grasps[grasp], &job.hands[grasp], kSamples, t}, joints,
               [&](const auto& body) { balance(executor, body, of.count); });
}

/// Solves the problems by Newton's method, then by the fallback solvers.
template <int D>
void iterate(Executor executor, const solvers::FrictionNewton& solver, const double* problems, double* candidates,
             std::int64_t count) {
  if constexpr (D == 3) {
    contact::iterate(executor,
                     contact::IterateKernel<solvers::FrictionNewton, kAnyContacts>{
                         solver, problems, nullptr, candidates, nullptr, extent<kAnyContacts>()},
                     count);
  } else {
    iterate_soft(executor, {solver, problems, candidates}, count);
  }
}

template <int D>
void solve(const Job<D>& job, std::int64_t count, Executor executor, const HandTiles& t) {
  if (job.by.method == contact::Method::kAuto)
    iterate<D>(executor, job.solver, t.problems, t.candidates, count);
  else
    contact::iterate_tiles(job.by, {{executor}, t.problems, nullptr, t.candidates, nullptr, count});
  if (t.second == nullptr) return;
  // From zero instead of the stick test, so that a second solution may be found.
  solvers::FrictionNewton cold = job.solver;
  cold.cold = true;
  iterate<D>(executor, cold, t.problems, t.second, count);
}

/// Sample `i` of a range alone, as tiles of its own.
template <int D>
HandTiles alone(const HandTiles& t, std::int64_t i) {
  const auto at = [&](double* tiles, auto of) {
    return const_cast<double*>(batch::tile_at<double, typename decltype(of)::type>(tiles, i));
  };
  HandTiles out = t;
  out.wrenches =
      at(t.wrenches, std::type_identity<typename contact::BalanceOp<kAnyContacts, D>::template In<double>>{});
  out.commands = at(t.commands, std::type_identity<HandCommand<double, kAnyContacts, D>>{});
  out.metrics = at(t.metrics, std::type_identity<Metrics<double, kAnyContacts>>{});
  return out;
}

/// The result of a sample, with pending ones settled.
template <int D>
[[gnu::noinline]] SampleResult<double, kAnyContacts, D> settled(const Job<D>& job, const SampleRange& of,
                                                                std::int64_t i, Workspace<D>& w) {
  const HandTiles t = w.tiles(job.check_uniqueness);
  auto checker = make_checker<kAnyContacts>(job, t);
  const auto& g = job.grasps[static_cast<std::size_t>(of.grasp)];
  const HeldRule held = checker.held = held_rule<D>(job.held, g);
  auto v = checker.template sample_result<double>(i);
  if (v.outcome != kPending) return v;
  const std::uint32_t left_out = opened(v, held);
  std::vector<double> room(static_cast<std::size_t>(solvers::RestProblem<D>::room(g.contacts)));
  const double* problem = batch::tile_at<double, solvers::FrictionProblem<double, kAnyContacts, D>>(t.problems, i);
  look_again({problem, v.c.m, v.a.m, g.limit, held.acceleration, g.contacts, g.contacts, left_out}, room.data(), held,
             v);
  if (v.outcome != kPending) return v;
  // Repeats the balance without the contacts that open.
  const auto kept = w.metrics.get(i);
  prepare(job, {of.grasp, of.first + i, 1, of.number}, Executor::kScalar, alone<D>(t, i), left_out);
  const auto without = w.metrics.get(i);
  w.metrics.set(i, kept);
  v.resisted = without.resisted;
  v.imbalance = without.imbalance;
  settle_pending(held, v);
  return v;
}

/// Replaces forces with which redundant contacts slip by forces that leave every contact at rest, if there are any: the
/// search's, refined by Newton's method. The outcome does not depend on this choice.
inline void let_rest(const Job<3>& job, Workspace<3>& w, std::int64_t i, SampleResult<double, kAnyContacts>& v) {
  using Problem = solvers::FrictionProblem<double, kAnyContacts>;
  const auto& g = job.grasps[0];
  std::vector<double> room(static_cast<std::size_t>(solvers::RestProblem<3>::room(g.contacts)));
  const std::vector<double> no_limit(static_cast<std::size_t>(g.contacts), std::numeric_limits<double>::infinity());
  const Problem problem = w.problems.get(i);
  const double* tile = batch::tile_at<double, Problem>(w.problems.data(), i);
  const double most = solvers::kMotion * solvers::friction_scale(problem).size_b;
  const RestTask task{tile, v.c.m, v.a.m, no_limit.data(), most, g.contacts, g.contacts, 0};
  if (at_rest<3>(task, room.data()).exists != 1) return;
  batch::Tiles<Vec<double, 3 * kAnyContacts>> guess(1);
  batch::Tiles<solvers::Candidate<double, kAnyContacts>> candidate(1);
  Vec<double, 3 * kAnyContacts> c;
  std::copy_n(solvers::RestProblem<3>{g.contacts, most, room.data()}.c(), 3 * g.contacts, c.m);
  guess.set(0, c);
  contact::iterate(Executor::kScalar,
                   contact::IterateKernel<solvers::FrictionNewton, kAnyContacts>{
                       job.solver, tile, nullptr, candidate.data(), guess.data(), g.contacts},
                   1);
  const auto solution = solvers::certified(problem, candidate.get(0), job.solver.tolerance);
  const auto still = SampleCheck<kAnyContacts>::sample_check(problem, solution);
  if (still.sticks != 1) return;
  v.sticks = 1;
  v.state = still.state;
  v.c = still.c;
  v.a = still.a;
  v.residual = still.residual;
}

/// Writes the row of sample `s`, the i-th of the workspace.
template <int D>
void write_row(const Job<D>& job, std::int64_t s, std::int64_t i, Workspace<D>& w,
               SampleResult<double, kAnyContacts, D>& v) {
  const auto m = w.metrics.get(i);
  // Without a margin the contacts are redundant.
  if constexpr (D == 3)
    if (v.sticks == 0 && std::isnan(m.margin)) let_rest(job, w, i, v);
  auto g = job.grasps[0];
  g.wrench = Vec<double, 6>::zero();
  const auto index = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(job.first + s));
  const auto drawn = CandidateKernel<kAnyContacts, D>{job.model, &g, 1, 0, nullptr}.sample(g, index);
  double* out = job.rows + s * (kSampleNumbers + kSampleContactNumbers * g.contacts);
  for (const double x : {v.outcome, drawn.mass, v.residual, v.sticks, m.resisted, m.imbalance, v.several}) *out++ = x;
  for (int r = 0; r < 6; ++r) *out++ = drawn.rest[r] * (r < 3 ? 1 : g.length);
  for (int j = 0; j < g.contacts; ++j) {
    *out++ = drawn.friction[j];
    *out++ = v.state[j];
    out = std::copy_n(v.c.m + D * j, 3, out);
    out = std::copy_n(v.a.m + D * j, 3, out);
  }
}

/// Largest |c_T| / c_n of the forces c of n contacts.
template <int D>
double required_friction(int n, const double* c) {
  double most = 0;
  for (int j = 0; j < n; ++j) {
    double square = 0;
    for (int k = 1; k < D; ++k) square += c[D * j + k] * c[D * j + k];
    if (square > 0) most = std::max(most, std::sqrt(square) / c[D * j]);
  }
  return most;
}

/// Least coefficient, the same at all contacts, with which some forces leave at rest all contacts but those in
/// `left_out`. If the forces are unique, it is the largest |c_T| / c_n of these. Infinite above kMaxFriction, NaN where
/// that is not decided. Below, undecided counts as not at rest, so that the result suffices. `i`: the sample's place in
/// the tiles; `v`: its solution.
template <int D>
[[gnu::noinline]] double least_friction(const Job<D>& job, const SampleRange& of, std::int64_t i,
                                        const SampleResult<double, kAnyContacts, D>& v, std::uint32_t left_out,
                                        Workspace<D>& w) {
  if (std::isnan(v.sticks)) return v.sticks;  // not solved
  const auto& g = job.grasps[static_cast<std::size_t>(of.grasp)];
  std::vector<double> room(static_cast<std::size_t>(solvers::RestProblem<D>::room(g.contacts))),
      forces(v.c.m, v.c.m + D * g.contacts);
  // Infinite: the search runs also where the found forces leave the contacts at rest.
  const std::vector<double> moving(forces.size(), std::numeric_limits<double>::infinity());
  const int kept = g.contacts - std::popcount(left_out);
  auto problem = w.problems.get(i);
  batch::Tiles<solvers::FrictionProblem<double, kAnyContacts, D>> tried(1);
  bool undecided = false;  // in the last search
  // The friction that forces found at `mu` need; infinite if there are none.
  const auto found_with = [&](double mu) {
    for (int j = 0; j < g.contacts; ++j) {
      problem.mu[j] = mu;
      // First forces are inside the cones.
      double tangential = 0;
      for (int k = 1; k < D; ++k) tangential += v.c[D * j + k] * v.c[D * j + k];
      const double share = std::min(1.0, mu * v.c[D * j] / std::sqrt(std::max(tangential, 1e-300)));
      for (int k = 1; k < D; ++k) forces[static_cast<std::size_t>(D * j + k)] = share * v.c[D * j + k];
    }
    tried.set(0, problem);
    const double exists = at_rest<D>({tried.data(), forces.data(), moving.data(), g.limit,
                                      held_rule<D>(job.held, g).acceleration, g.contacts, g.contacts, left_out},
                                     room.data())
                              .exists;
    undecided = std::isnan(exists);
    if (exists != 1) return std::numeric_limits<double>::infinity();
    return std::min(mu, required_friction<D>(kept, solvers::RestProblem<D>{kept, 1, room.data()}.c()));
  };
  // Mostly the sample's own friction is enough.
  const double own = std::min(*std::max_element(problem.mu.m, problem.mu.m + g.contacts), kMaxFriction);
  double low = 0, high = found_with(own);
  if (std::isinf(high)) low = own, high = found_with(kMaxFriction);
  if (std::isinf(high) && undecided) return std::nan("");
  while (std::isfinite(high) && high - low > kMaxBracketWidth) {
    const double middle = (low + high) / 2, needed = found_with(middle);
    (std::isfinite(needed) ? high : low) = std::min(middle, needed);
  }
  return high;
}

/// Whether a single joint moves the contacts: their mobility has rank one.
template <int D>
bool has_one_joint(const SetHand<kAnyContacts, D>& hand, int contacts) {
  double trace = 0, square = 0;
  for (int r = 0; r < kAxes<D> * contacts; ++r) {
    trace += hand.mobility(r, r);
    for (int c = 0; c < kAxes<D> * contacts; ++c) square += hand.mobility(r, c) * hand.mobility(r, c);
  }
  return trace * trace <= (1 + 1e-9) * square;
}

/// Resisted force radius of a hand of one joint, sample `i` of the tiles: every added push shorter than this is
/// balanced by forces in the cones with which the joint rests under its command. NaN for other hands.
template <int D>
double one_joint_radius(const Job<D>& job, std::int64_t i, Workspace<D>& w) {
  const auto& g = job.grasps[0];
  if (!has_one_joint(job.hands[0], g.contacts) || grip_force_errors(job.model)) return std::nan("");
  const auto space = std::make_unique_for_overwrite<solvers::RadiusSpace>();
  set_pressing<kAnyContacts, D>(g, w.wrenches.get(i), nullptr, space->contacts);
  press_by_command<D>(w.commands.get(i).force, space->contacts);
  return solvers::resisted_force_radius<double>(*space).low;
}

/// Determines outcomes and counts them.
template <int D>
void conclude(const Job<D>& job, const SampleRange& of, Executor executor, Workspace<D>& w, HandCounts& counts) {
  contact::dispatch_contacts<D>(executor, [&](auto n) {
    contact::for_each_problem<n>(executor, of.count,
                                 HandSampleCheckKernel<n, D, kAnyContacts>{
                                     make_checker<n>(job, w.tiles(job.check_uniqueness)),
                                     &job.grasps[static_cast<std::size_t>(of.grasp)], kSamples, w.results.data()});
  });
  for (std::int64_t i = 0; i < of.count; ++i) {
    HandResult<double> r = w.results.get(i);
    if (r.outcome == kPending || job.rows != nullptr) {
      auto v = settled(job, of, i, w);
      r.outcome = v.outcome;
      if (job.rows != nullptr) write_row(job, of.first + i, i, w, v);
    }
    counts.add(r);
    note(job, of.grasp, of.first + i, r);
  }
}

/// Runs everything on the host.
template <int D>
void run_here(const Job<D>& job, const SampleCut& cut, const Device& device, std::vector<HandCounts>& parts) {
  const int contacts = job.grasps[0].contacts;
  for_sample_ranges(
      cut, device, [&] { return Workspace<D>(contacts); },
      [&](Workspace<D>& w, const SampleRange& of) {
        const HandTiles t = w.tiles(job.check_uniqueness);
        prepare(job, of, device.executor, t);
        solve(job, of.count, device.executor, t);
        conclude(job, of, device.executor, w, parts[static_cast<std::size_t>(of.number)]);
      });
}

/// Runs the contact solver on the GPU and the rest here, with many ranges at a time.
inline void run_solver_there(const Job<3>& job, const SampleCut& cut, const Device& device,
                             std::vector<HandCounts>& parts) {
  constexpr std::int64_t kTogether = 32;
  const int contacts = job.grasps[0].contacts;
  std::vector<std::unique_ptr<Workspace<3>>> all;
  for (std::int64_t k = 0; k < std::min(kTogether, cut.sample_ranges()); ++k)
    all.push_back(std::make_unique<Workspace<3>>(contacts));
  for (std::int64_t first = 0; first < cut.sample_ranges(); first += kTogether) {
    const std::int64_t here = std::min(kTogether, cut.sample_ranges() - first);
    const auto in_parallel = [&](const auto& work) {
      batch::for_blocks(
          solve_threads(device), {here, 1}, [] { return 0; },
          [&](int, std::int64_t k, std::int64_t) {
            const ContactsInUse many(contacts);
            work(*all[static_cast<std::size_t>(k)], cut.sample_range(first + k));
          });
    };
    in_parallel([&](Workspace<3>& w, const SampleRange& of) {
      prepare(job, of, Executor::kLanes, w.tiles(job.check_uniqueness));
    });
    NewtonTiles newton{contacts, job.solver, kSamples, {}};
    const auto solve_into = [&](auto Workspace<3>::*to) {
      newton.parts.clear();
      for (std::int64_t k = 0; k < here; ++k) {
        auto& w = *all[static_cast<std::size_t>(k)];
        newton.parts.push_back({w.problems.data(), (w.*to).data()});
      }
      batch::on_device(device, newton);
    };
    if (job.by.method == contact::Method::kAuto) {
      solve_into(&Workspace<3>::candidates);
    } else {
      const ContactsInUse many(contacts);
      for (std::int64_t k = 0; k < here; ++k) {
        auto& w = *all[static_cast<std::size_t>(k)];
        contact::iterate_tiles(job.by,
                               {device, w.problems.data(), nullptr, w.candidates.data(), nullptr, kSamples, true});
      }
    }
    newton.solver.cold = true;
    if (job.check_uniqueness) solve_into(&Workspace<3>::second);
    in_parallel([&](Workspace<3>& w, const SampleRange& of) {
      conclude(job, of, Executor::kLanes, w, parts[static_cast<std::size_t>(of.number)]);
    });
  }
}

}  // namespace set_hand

template <int N, int D>
void run_hand(const HandJob<N, D>& job, const Device& device) {
  using namespace set_hand;
  if (job.grasps.empty() || job.samples == 0) return;
  if constexpr (N > 0) {
    batch::on_device(device, job);
  } else {
    const SampleCut cut{std::ssize(job.grasps), job.samples, kSamples};
    std::vector<HandCounts> parts(static_cast<std::size_t>(cut.sample_ranges()));
    const bool on_gpu = device.executor == Executor::kCuda;
    if constexpr (D == 3) {
      if (on_gpu) run_solver_there(job, cut, device, parts);
    }
    if (!on_gpu || D > 3) run_here(job, cut, {on_gpu ? Executor::kLanes : device.executor, device.threads, 0}, parts);
    for (std::int64_t k = 0; k < cut.sample_ranges(); ++k)
      job.counts[k / cut.each()].add(parts[static_cast<std::size_t>(k)]);
  }
}

template <int D>
HandReplay replay_hand(const HandJob<kAnyContacts, D>& job, std::int64_t sample) {
  using namespace set_hand;
  const int n = job.grasps[0].contacts;
  Workspace<D> w(n);
  const HandTiles t = w.tiles(job.check_uniqueness);
  const SampleRange of{0, sample - job.first, 1, 0};
  // Alone in its tile; it has the same bits as among others.
  prepare(job, of, Executor::kScalar, t);
  solve(job, 1, Executor::kScalar, t);
  const auto v = settled(job, of, 0, w);
  const auto m = w.metrics.get(0);
  const auto f = w.commands.get(0);
  HandReplay out;
  out.c.assign(v.c.m, v.c.m + D * n);
  out.command.assign(f.force.m, f.force.m + D * n);
  for (int j = 0; j < n; ++j) out.state.push_back(static_cast<int>(v.state[j]));
  out.outcome = static_cast<Outcome>(static_cast<int>(v.outcome));
  out.residual = v.residual;
  out.imbalance = m.imbalance;
  out.critical = m.critical;
  out.margin = m.margin;
  out.radius = m.resisted_force_radius;
  if (std::isnan(m.critical)) {
    // Forces that are not unique: those that need the least friction, whose margin is that of the smallest coefficient.
    // All contacts rest, or those that do not open, if several are left.
    out.critical = least_friction(job, of, 0, v, 0, w);
    const std::uint32_t left_out = opened(v, held_rule<D>(job.held, job.grasps[0]));
    if (std::isinf(out.critical) && left_out != 0 && std::popcount(left_out) + 1 < n)
      out.critical = least_friction(job, of, 0, v, left_out, w);
    // Found forces that hold leave motions below held.acceleration, which is more than the search allows.
    if (v.outcome == static_cast<int>(Outcome::kHeld))
      out.critical = std::min(out.critical, required_friction<D>(n, v.c.m));
    const auto mu = w.problems.get(0).mu;
    const double least = *std::min_element(mu.m, mu.m + n);
    out.margin = least > 0 ? 1 - out.critical / least : out.critical > 0 ? -kInfinity : 0;
    out.radius = one_joint_radius(job, 0, w);
  }
  out.result = make_hand_result(v, m);
  return out;
}

}  // namespace garra::grasp
