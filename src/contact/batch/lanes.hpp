// Loops over problems in tiles on the host: in SIMD lanes with refilling, or one after another. The thread has set the
// number of contacts (ContactsInUse). Lanes have specialized code for few contacts; the code for any number of contacts
// solves problems one after another and is the reference for all others.
#pragma once

#include "contact/batch/body.hpp"
#include "garra/batch/device.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/refill.hpp"
#include "garra/contact.hpp"
#include "garra/solvers/friction_newton.hpp"

namespace garra::contact {

/// Calls run(std::integral_constant<int, N>{}) with the number of contacts in use if the executor has specialized code
/// for it, for at most kLargest contacts, else with kAnyContacts. Tiles are the same for both.
template <int kLargest = 4, class Run>
void with_contacts(Executor executor, const Run& run) {
  const int contacts = executor == Executor::kScalar ? 0 : extent<kAnyContacts>();
  if (contacts == 1) return run(std::integral_constant<int, 1>{});
  if (contacts == 2) return run(std::integral_constant<int, 2>{});
  if (contacts == 3) return run(std::integral_constant<int, 3>{});
  if constexpr (kLargest >= 4)
    if (contacts == 4) return run(std::integral_constant<int, 4>{});
  run(std::integral_constant<int, kAnyContacts>{});
}

/// The same for D numbers per contact force: soft contacts (D = 4) have no specialized code.
template <int D, class Run>
void dispatch_contacts(Executor executor, const Run& run) {
  if constexpr (D == 3)
    with_contacts(executor, run);
  else
    run(std::integral_constant<int, kAnyContacts>{});
}

/// Runs body on `count` problems; code for N contacts exists in lanes only.
template <int N, class Body>
void for_each_problem(Executor executor, std::int64_t count, const Body& body) {
  if constexpr (N > 0)
    batch::for_each_lanes(count, body);
  else
    batch::for_each(executor, count, body);
}

/// Candidates of `count` problems, followed by the fallback solvers if the solver goes on.
template <class Solver>
[[gnu::noinline]] void iterate(Executor executor, const IterateKernel<Solver, kAnyContacts>& body, std::int64_t count) {
  const auto run = [&](auto n) {
    const IterateKernel<Solver, n> sized{body.solver,     body.problems, body.sliding,
                                         body.candidates, body.guesses,  body.contacts};
    if constexpr (n < 0)
      if (executor == Executor::kScalar) return batch::for_each_scalar(count, sized);
    batch::iterate_lanes(sized, count);
  };
  if constexpr (kOwnSizes < Solver >> 0)
    with_contacts<kOwnSizes<Solver>>(executor, run);
  else
    run(std::integral_constant<int, kAnyContacts>{});
  // A second pass over candidates: few need it, so it is no part of the hot body.
  if constexpr (std::is_same_v<Solver, solvers::FrictionNewton>) {
    if (!body.solver.cold) solve_remaining(body, true, count);
  } else {
    solve_remaining(without_solver<solvers::FrictionNewton>(body), false, count);
  }
}

// The grasp study uses this one, too; it is compiled once, in contact/instances/newton.cpp.
extern template void iterate(Executor, const IterateKernel<solvers::FrictionNewton, kAnyContacts>&, std::int64_t);

/// The certificate of `count` problems; compiled once, in contact/instances/certify.cpp.
void certify_tiles(Executor executor, const CertifyKernel<kAnyContacts>& certify, std::int64_t count);

}  // namespace garra::contact
