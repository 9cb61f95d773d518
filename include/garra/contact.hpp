// Batches of friction contact problems from plain arrays: the entry for C++ users and for `garra contact solve`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/core/status.hpp"

namespace garra::contact {

inline constexpr int kMaxContacts = 32;
/// Up to here every number of contacts has code of its own, and the rest of the library (balance, gradients, Lemke's
/// method) takes it. Above, 12, 16, 24 and 32 have, and a problem is filled up with contacts that touch nothing.
inline constexpr int kMaxOwnSize = 8;

/// `count` problems of `contacts` contacts each, one after another, row-major, contact-major (n, t, o).
/// See solve/friction_problem.hpp for the law, signs and units.
struct Problems {
  int contacts = 0;
  std::int64_t count = 0;
  std::vector<double> A;                   ///< [count][3k][3k]  1/kg, need not be symmetric
  std::vector<double> b;                   ///< [count][3k]      m/s^2
  std::vector<double> mu;                  ///< [count][k]
  std::vector<std::uint8_t> mode = {};     ///< [count][k] 0 may roll, 1 slides; empty: all may roll
  std::vector<double> slip_velocity = {};  ///< [count][k][2] (t, o) m/s, read where mode is 1; empty: none slides
};

/// The same where the caller has them: nothing is copied. Valid as long as these arrays are.
struct ProblemView {
  using Array = std::span<const double>;
  int contacts = 0;
  std::int64_t count = 0;
  Array A, b, mu;
  std::span<const std::uint8_t> mode;
  Array slip_velocity;

  ProblemView() = default;
  ProblemView(int k, std::int64_t n, Array A_, Array b_, Array mu_, std::span<const std::uint8_t> mode_ = {},
              Array velocity = {})
      : contacts(k), count(n), A(A_), b(b_), mu(mu_), mode(mode_), slip_velocity(velocity) {}
  ProblemView(const Problems& p) : ProblemView(p.contacts, p.count, p.A, p.b, p.mu, p.mode, p.slip_velocity) {}
};

/// Which solver. Every one takes every problem (lemke: problems whose contacts all slide; up to most_contacts) and is
/// judged by the same certificate.
enum class Method : int {
  kAuto,               ///< stick test, semismooth Newton, then restarts from more and more sweeps: a ladder
  kSemismoothNewton,   ///< its first rung alone
  kNsgs,               ///< nonsmooth Gauss-Seidel with an exact one-contact solver
  kAdmm,               ///< alternating direction method of multipliers
  kExtragradient,      ///< projected extragradient with adaptive steps
  kBoxQuacan,          ///< the papers' method: their merit function (4) minimized by BOX-QUACAN
  kSpg,                ///< the same function by spectral projected gradient
  kProjectedLm,        ///< componentwise products by projected Levenberg-Marquardt
  kFischerBurmeister,  ///< Fischer-Burmeister function by projected Levenberg-Marquardt
  kLemke,              ///< Lemke's pivoting, for problems whose contacts all slide
};
inline constexpr int kMethodCount = 10;

/// Name of a method as in files, on the command line and in reports.
[[nodiscard]] const char* to_string(Method method);
/// Contacts per problem that a method takes on the processor: kMaxContacts. (Kernels of merit methods take 3, lemke 8.)
[[nodiscard]] int most_contacts(Method method);
/// Throws Error(kUsage) naming the methods there are.
[[nodiscard]] Method parse_method(const std::string& name);

/// What a contact does, by the accelerations of the solution (solvers::contact_state).
enum class ContactState : std::uint8_t { kStick = 0, kSlip = 1, kOpen = 2, kUnknown = 255 };
/// "stick", "slip", "open", "unknown".
[[nodiscard]] const char* to_string(ContactState state);

struct Solutions {
  int contacts = 0;
  std::int64_t count = 0;
  std::vector<double> c;  ///< [count][3k] contact forces [N]; NaN where neither converged nor ill_conditioned
  std::vector<double> a;  ///< [count][3k] accelerations A c + b [m/s^2]; NaN likewise
  /// [count] change of the load for which the forces are an exact solution, relative to the largest load of the
  /// contacts that are coupled (docs/theory/contact-solver.md, 5)
  std::vector<double> residual;
  std::vector<double> contact_residual;  ///< [count] the same relative to each contact's own load
  std::vector<double> merit;             ///< [count] the papers' merit value (4) at c
  std::vector<double> minimum;  ///< [count] final value of what a merit method minimized (scaled problem); else NaN
  std::vector<double> projected_gradient;  ///< [count] of the same
  std::vector<std::int32_t> iterations;    ///< [count] outer iterations: BoxIt, Newton steps, sweeps
  std::vector<std::int32_t> evaluations;   ///< [count] FunEval of the papers; -1 where the method has none
  std::vector<std::int32_t> inner;         ///< [count] QuacanIt; -1 likewise
  std::vector<std::int32_t> products;      ///< [count] MatxVec; -1 likewise
  std::vector<std::int32_t> stage;   ///< [count] rung of the ladder (auto), starts used before this one (merit methods)
  std::vector<std::int32_t> stalls;  ///< [count] starts that ended at a point that is no solution; mixed precision: 1
                                     ///< where single precision found none
  std::vector<Status> status;
  std::vector<std::uint8_t> solutions = {};  ///< [count] how many there are, 255: undecided; empty unless asked for
  std::vector<ContactState> state =
      {};  ///< [count][k] kUnknown where not converged; a contact that slides slips or opens
  /// [count] smallest 1 - |c_T| / (mu c_n) of the contacts, and largest |c_T| / c_n: docs/theory/grasp-model.md (17),
  /// (18) of the forces c, which are 0 at a contact that opens; NaN where not converged.
  std::vector<double> friction_margin = {}, critical_friction = {};
};

/// The arrays of Solutions that cost time and memory; one that is not wanted stays empty. The others are always there.
struct Wanted {
  bool c = true, a = true, merit = true;
  bool verdicts = true;  ///< state, friction_margin, critical_friction
};

/// Numbers that a solver works with; the certificate's are doubles. Mixed: a force in single precision, which Newton
/// ends in double; for the methods auto and semismooth-newton, and up to kMaxOwnSize contacts
/// (docs/theory/contact-solver.md).
enum class Precision : std::uint8_t { kDouble, kMixed };
/// Whether `name` is "full" and not "bounded". Throws Error(kUsage) for another name.
[[nodiscard]] bool parse_effort(const std::string& name);

/// "fp64" or "mixed". Throws Error(kUsage) for another name.
[[nodiscard]] Precision parse_precision(const std::string& name);

struct Options {
  double tol = 1e-8;         ///< converged: residual <= tol, its rounding included
  int max_iterations = 0;    ///< outer iterations over all stages and solvers; 0: the method's own limit
  bool full_effort = false;  ///< auto: every solver to its own limit, where it is not known that none finds anything
  Method method = Method::kAuto;
  Precision precision = Precision::kDouble;
  int starts = 1;                ///< merit methods: as many starts before a problem counts as unsolved
  bool count_solutions = false;  ///< problems whose contacts (8 at most) all slide: count solutions by enumeration
  Wanted wanted = {};            ///< what Solutions shall hold
};

/// Solves every problem; a failed problem is a status, never an exception. Throws Error where sizes do not match
/// or the device cannot run.
[[nodiscard]] Solutions solve(const ProblemView& problems, const Options& options = {}, const Device& device = {});
/// The same into `out`, whose memory is used again: for batches of about the same size, one after another.
void solve(const ProblemView& problems, const Options& options, const Device& device, Solutions& out);

/// Judges forces [count][3k] that anyone found by the certificate of solve(): residuals, status, c and a of what holds.
/// A force that does not hold is `stalled`. Tangential forces at sliding contacts are computed from the normal ones.
[[nodiscard]] Solutions judge(const ProblemView& problems, std::span<const double> c, double tol = 1e-8);
[[nodiscard]] inline Solutions judge(const ProblemView& problems, const std::vector<double>& c, double tol = 1e-8) {
  return judge(problems, std::span(c), tol);
}

/// Forces z of the friction cones that press against one another, accelerate nothing, A z = 0, and that the load
/// presses together, b.z < 0: where there are some a problem need not have a solution (docs/theory/contact-solver.md,
/// "Beyond Newton").
struct InternalForces {
  int contacts = 0;
  std::int64_t count = 0;
  std::vector<std::uint8_t> found;  ///< [count] 1 where there are such forces
  std::vector<double> z;            ///< [count][3k] of largest entry 1; NaN where there are none
};
/// Of problems with symmetric, positive semidefinite A whose contacts may all roll. Throws Error(kUsage) where contacts
/// slide.
[[nodiscard]] InternalForces internal_forces(const ProblemView& problems, int threads = 0);

/// The papers' elimination (25)-(28): the same problems with sliding contacts turned into contacts without friction, so
/// that a solver which knows rolling contacts only can take them. judge() its forces with the problems as given.
[[nodiscard]] Problems without_sliding(const Problems& problems);

}  // namespace garra::contact
