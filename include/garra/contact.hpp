// Solves batches of rigid frictional contact problems a = A c + b from host arrays; `garra contact
// solve` in C++.
// Takes: A [n][3k][3k] in 1/kg, b [n][3k] in m/s^2, mu [n][k]; for sliding contacts mode and slip
// velocity.
// Gives: forces c [n][3k] in N, accelerations a [n][3k] in m/s^2, residual, contact states and one
// Status per problem.
// Units and frames: SI. Contact axes (n, t, o): c is the force on the object, a = object minus
// finger, a_n > 0 separates; contacts count from 0.
// Bad input: wrong sizes and options throw Error. A problem with NaN, infinity or negative mu has
// kInvalidInput, an unsolved one another Status. Their forces are NaN; only kIllConditioned keeps
// them.
// Not for: more than kMaxContacts (32) contacts, arrays on a GPU (contact_device.hpp), whole grasps
// (grasp.hpp).
// Docs: docs/theory/contact-solver.md, docs/reference/limits.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/core/names.hpp"
#include "garra/core/status.hpp"

namespace garra::contact {

inline constexpr int kMaxContacts = 32;
/// Largest number of contacts for gradients(), Precision::kMixed, solution counts and the lemke
/// kernel. Kernels are specialized for 1 to 8, 12, 16, 24 and 32 contacts. Other sizes are padded
/// with inactive contacts.
inline constexpr int kMaxOwnSize = 8;

/// `count` problems of `contacts` contacts each, one after another, row-major, contact-major (n, t,
/// o). See solvers/friction_problem.hpp for the law, signs and units.
struct Problems {
  int contacts = 0;
  std::int64_t count = 0;
  std::vector<double> A;                   ///< [count][3k][3k]  1/kg, need not be symmetric
  std::vector<double> b;                   ///< [count][3k]      m/s^2
  std::vector<double> mu;                  ///< [count][k]
  std::vector<std::uint8_t> mode = {};     ///< [count][k] 0 may roll, 1 slides; empty: all may roll
  std::vector<double> slip_velocity = {};  ///< [count][k][2] (t, o) m/s, read where mode is 1; empty: none slides
};

/// View of the caller's arrays, with the shapes of Problems. Nothing is copied; the arrays must
/// outlive the view.
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

/// Solver. Each takes every problem of up to most_contacts() contacts; kLemke only those whose
/// contacts all slide. The same certificate checks the answers of all solvers.
enum class Method : int {
  kAuto,               ///< stick test, semismooth Newton, restarts after more sweeps, then fallback solvers
  kSemismoothNewton,   ///< Newton without restarts
  kNsgs,               ///< nonsmooth Gauss-Seidel with an exact one-contact solver
  kAdmm,               ///< alternating direction method of multipliers
  kExtragradient,      ///< projected extragradient with adaptive steps
  kBoxQuacan,          ///< kMerit with kPapers and kBoxQuacan: the papers' method
  kSpg,                ///< kMerit with kPapers and kSpg
  kProjectedLm,        ///< kMerit with kProducts and kProjectedLm
  kFischerBurmeister,  ///< kMerit with kFischerBurmeister and kProjectedLm
  kMerit,              ///< a merit function minimized in a box: Options::merit and Options::minimizer
  kLemke,              ///< Lemke's pivoting, for problems whose contacts all slide
};
inline constexpr int kMethodCount = 11;

/// Merit function of Method::kMerit (docs/theory/friction-merit.md).
enum class Merit : int {
  kPapers,             ///< the papers' (4): |F - z|^2 + |G|^2 + (u'z)^2
  kProducts,           ///< componentwise products: sum_i (u_i z_i)^2 in place of (u'z)^2
  kFischerBurmeister,  ///< Fischer-Burmeister function of each pair, a_T eliminated
  kSecondOrderCone,    ///< Fischer-Burmeister function of the friction cone, in the forces alone
};
[[nodiscard]] constexpr auto names_of(Merit) {
  return names("papers", "products", "fischer-burmeister", "second-order-cone");
}

/// Minimizer of Method::kMerit (docs/theory/minimizers.md).
enum class Minimizer : int {
  kBoxQuacan,    ///< trust region in a box, the papers' BOX-QUACAN
  kSpg,          ///< spectral projected gradient
  kSpgNewton,    ///< the same with Newton steps in the face that it identifies
  kProjectedLm,  ///< projected Levenberg-Marquardt
};
[[nodiscard]] constexpr auto names_of(Minimizer) { return names("box-quacan", "spg", "spg-newton", "projected-lm"); }

/// First start of Method::kMerit (docs/theory/friction-merit.md, "Starts").
enum class Start : int {
  kOwn,     ///< that of the pair
  kZero,    ///< x = 0, as in the papers
  kStick,   ///< the force that lets no contact move, projected on the cones
  kSweeps,  ///< the same after three sweeps of projected Gauss-Seidel
};
[[nodiscard]] constexpr auto names_of(Start) { return names("own", "zero", "stick", "sweeps"); }

/// Merit function and minimizer of a method that has them.
struct Pair {
  Merit merit;
  Minimizer minimizer;
  bool operator==(const Pair&) const = default;
};

/// Name of a method as in files, on the command line and in reports.
[[nodiscard]] const char* to_string(Method method);
/// Largest number of contacts per problem on the CPU: kMaxContacts for every method. On a GPU merit
/// methods take 3 and lemke 8.
[[nodiscard]] int most_contacts(Method method);
/// Method of this name. @throws Error(kUsage) for an unknown name, listing the methods.
[[nodiscard]] Method parse_method(const std::string& name);
/// Merit function, minimizer and start of these names. @throws Error(kUsage) for an unknown name, listing the names.
[[nodiscard]] Merit parse_merit(const std::string& name);
[[nodiscard]] Minimizer parse_minimizer(const std::string& name);
[[nodiscard]] Start parse_start(const std::string& name);
/// Names of the methods for contacts that may roll: all but lemke.
[[nodiscard]] std::vector<std::string> friction_methods();

/// State of a contact after the solve, from the accelerations of the solution
/// (solvers::contact_state).
enum class ContactState : std::uint8_t { kStick = 0, kSlip = 1, kOpen = 2, kUnknown = 255 };
/// "stick", "slip", "open", "unknown".
[[nodiscard]] const char* to_string(ContactState state);

/// Forces, accelerations, status and effort of every problem of a batch.
struct Solutions {
  int contacts = 0;
  std::int64_t count = 0;
  std::vector<double> c;  ///< [count][3k] contact forces [N]; NaN where neither converged nor ill_conditioned
  std::vector<double> a;  ///< [count][3k] accelerations A c + b [m/s^2]; NaN likewise
  /// [count] the forces solve exactly a problem whose load b is changed by this, relative to the
  /// largest load of the coupled contacts (docs/theory/contact-solver.md, 5)
  std::vector<double> residual;
  std::vector<double> contact_residual;  ///< [count] the same relative to each contact's own load
  std::vector<double> merit;             ///< [count] the papers' merit value (4) at c
  std::vector<double> minimum;  ///< [count] final value of what a merit method minimized (scaled problem); else NaN
  std::vector<double> projected_gradient;  ///< [count] norm of its projected gradient; else NaN
  std::vector<std::int32_t> iterations;    ///< [count] outer iterations: BoxIt, Newton steps, sweeps
  std::vector<std::int32_t> evaluations;   ///< [count] FunEval of the papers; -1 where the method has none
  std::vector<std::int32_t> inner;         ///< [count] QuacanIt; -1 likewise
  std::vector<std::int32_t> products;      ///< [count] MatxVec; -1 likewise
  /// [count] kAuto: number of the last restart or fallback solver; merit methods: starts before the
  /// last one.
  std::vector<std::int32_t> stage;
  /// [count] starts that ended at a point that is no solution. kMixed: 1 if single precision found
  /// no solution.
  std::vector<std::int32_t> stalls;
  std::vector<Status> status;
  std::vector<std::uint8_t> solutions =
      {};  ///< [count] number of solutions, 255: undecided; empty unless count_solutions
  std::vector<ContactState> state =
      {};  ///< [count][k] kUnknown where not converged; a contact that slides slips or opens
  /// [count] smallest 1 - |c_T| / (mu c_n) and largest |c_T| / c_n over the contacts
  /// (docs/theory/grasp-model.md (17), (18)). Forces are 0 at a contact that opens. NaN where not
  /// converged.
  std::vector<double> friction_margin = {}, required_friction = {};
};

/// Selects the arrays of Solutions that cost time and memory. An array that is not wanted stays
/// empty.
struct Wanted {
  bool c = true, a = true, merit = true;
  bool diagnostics = true;  ///< state, friction_margin, required_friction
};

/// Precision of the solver; the certificate always uses double. kMixed: single precision, then
/// final Newton steps in double. It needs the method auto or semismooth-newton and at most
/// kMaxOwnSize contacts (docs/theory/contact-solver.md).
enum class Precision : std::uint8_t { kDouble, kMixed };
/// Options::full_effort by name: true for "full", false for "bounded". @throws Error(kUsage) for
/// another name.
[[nodiscard]] bool parse_effort(const std::string& name);

/// kDouble for "fp64", kMixed for "mixed". @throws Error(kUsage) for another name.
[[nodiscard]] Precision parse_precision(const std::string& name);

/// Options of solve().
struct Options {
  double tolerance = 1e-8;   ///< converged: residual <= tolerance, its rounding included
  int max_iterations = 0;    ///< outer iterations over all stages and solvers; 0: the method's own limit
  bool full_effort = false;  ///< auto: run every fallback solver to its own limit (contact-solver.md, Effort)
  Method method = Method::kAuto;
  Merit merit = Merit::kFischerBurmeister;        ///< kMerit
  Minimizer minimizer = Minimizer::kProjectedLm;  ///< kMerit
  Precision precision = Precision::kDouble;
  Start start = Start::kOwn;     ///< merit methods: the first start
  int starts = 0;                ///< merit methods: starts before a problem counts as unsolved; 0: the pair's own
  bool count_solutions = false;  ///< enumerate all solutions; at most 8 contacts, which must all slide
  Wanted wanted = {};            ///< arrays that Solutions holds
};

/// Merit function and minimizer of the options' method; none if it minimizes nothing.
[[nodiscard]] std::optional<Pair> pair_of(const Options& options);
/// Every pair, as in "papers/spg".
[[nodiscard]] std::vector<std::string> pair_names();
/// Sets the method of this name: one of Method, or a pair. @throws Error(kUsage) for an unknown name.
void set_method(Options& options, const std::string& name);
/// Its name: "nsgs", or "merit (papers, spg)" for kMerit.
[[nodiscard]] std::string describe_method(const Options& options);

/// Solves every problem.
/// @param problems A [n][3k][3k] in 1/kg, b [n][3k] in m/s^2, mu [n][k]; contact axes (n, t, o).
/// @param options tolerance, method, precision and the arrays wanted.
/// @param device executor; the default is SIMD lanes on all threads of the CPU.
/// @return forces, accelerations and one Status per problem. A problem that fails is a Status,
///         never an exception.
/// @throws Error kInvalidFile for array sizes and for problems that the method does not take,
///         kUsage for the number of contacts or the precision, kNoDevice if the device cannot run.
[[nodiscard]] Solutions solve(const ProblemView& problems, const Options& options = {}, const Device& device = {});
/// Same, into `out`, whose memory is reused: for successive batches of about the same size.
void solve(const ProblemView& problems, const Options& options, const Device& device, Solutions& out);

/// Checks forces from any source by the certificate of solve(). Tangential forces at sliding
/// contacts are recomputed from the normal forces.
/// @param problems as for solve().
/// @param c forces [n][3k] in N, contact axes (n, t, o).
/// @param tolerance converged: residual <= tolerance.
/// @return residuals and status; c and a of forces that hold. Forces that do not hold have the
///         status kStalled.
/// @throws Error kUsage for the size of c or the number of contacts, kInvalidFile for other array
///         sizes.
[[nodiscard]] Solutions check_solution(const ProblemView& problems, std::span<const double> c, double tolerance = 1e-8);
[[nodiscard]] inline Solutions check_solution(const ProblemView& problems, const std::vector<double>& c,
                                              double tolerance = 1e-8) {
  return check_solution(problems, std::span(c), tolerance);
}

/// Internal forces z in the friction cones with A z = 0 and b.z < 0. If such forces exist, a
/// problem need not have a solution (docs/theory/contact-solver.md, "Beyond Newton").
struct InternalForces {
  int contacts = 0;
  std::int64_t count = 0;
  std::vector<std::uint8_t> found;  ///< [count] 1 if such forces were found
  std::vector<double> z;            ///< [count][3k] scaled to a largest entry of 1; NaN where not found
};
/// Searches internal forces of problems with symmetric, positive semidefinite A whose contacts may
/// all roll.
/// @param problems as for solve(), without mode and slip_velocity.
/// @param threads CPU threads; 0: all.
/// @return found [n] and z [n][3k].
/// @throws Error kUsage if contacts slide or for the number of contacts, kInvalidFile for array
///         sizes.
[[nodiscard]] InternalForces internal_forces(const ProblemView& problems, int threads = 0);

/// Turns sliding contacts into frictionless ones by the papers' elimination (25)-(28), for solvers
/// without sliding contacts. Check their forces by check_solution() with the original problems.
/// @param problems as for solve().
/// @return problems of the same size without mode and slip_velocity.
/// @throws Error as solve() for sizes.
[[nodiscard]] Problems without_sliding(const Problems& problems);

}  // namespace garra::contact
