// Candidates of problems that lie in tiles on the GPU, by any method: grasp studies and simulations.
#pragma once

#include "contact/batch/method.hpp"
#include "contact/solve.cuh"

namespace garra::contact {

/// iterate_tiles() of problems of N contacts.
template <int N>
void iterate_tiles(const Options& options, const TileJob& tiles) {
  const ContactsInUse many(N);
  iterate_tiles(options, tiles);
}

/// The function that batch::on_device() calls for a solver.
template <class Solver>
void run_kernels(const Device&, const Solver& solver, const DeviceTiles& t) {
  with_device_contacts<Solver>(t.contacts, [&](auto n) {
    const auto find = [&](const double* problems, double* candidates) {
      const batch::RowRange rows{0, t.count};
      find_candidates<Solver, n>(solver, {solver, problems, t.sliding, candidates, t.guesses, t.contacts}, rows);
    };
    if (!t.of_host) return find(t.problems, t.candidates);
    if (t.contacts > kMaxOwnSize)
      throw Error(ExitCode::kNoDevice, "a method other than auto, and " + std::to_string(t.contacts) + " contacts",
                  "a GPU solves the contact problems of a set with up to " + std::to_string(kMaxOwnSize) +
                      "; use --device cpu");
    auto problems = make_tiles<solvers::FrictionProblem<double, n>>(t.count);
    const auto candidates = make_tiles<solvers::Candidate<double, n>>(t.count);
    problems.upload(t.problems);
    find(problems.data(), candidates.data());
    candidates.download(t.candidates);
  });
}

}  // namespace garra::contact
