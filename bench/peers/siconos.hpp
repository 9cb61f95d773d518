// The same friction contact problems solved by Siconos,
// in this process and on this thread. Optional: where Siconos is not installed, siconos_absent.cpp stands in.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "garra/contact.hpp"

namespace garra::bench::siconos {

enum class Method {
  newton,               ///< semismooth Newton on the Alart-Curnier function (NSN_AC)
  hybrid_newton,        ///< extragradient first, then the same
  gauss_seidel,         ///< contact by contact (NSGS), its default solver for one contact
  gauss_seidel_newton,  ///< contact by contact, plain Newton for one contact: faster, solves fewer
  admm,
  extragradient,
  proximal_point,  ///< proximal point (PROX) around NSN_AC
  lemke,           ///< Lemke's pivoting, for problems of normal forces alone: mu = 0 everywhere, so not in kMethods
};
inline constexpr Method kMethods[] = {
    Method::newton, Method::hybrid_newton, Method::gauss_seidel,  Method::gauss_seidel_newton,
    Method::admm,   Method::extragradient, Method::proximal_point};

constexpr std::string_view to_string(Method method) {
  switch (method) {
    case Method::newton:
      return "nsn_ac";
    case Method::hybrid_newton:
      return "nsn_ac_hybrid";
    case Method::gauss_seidel:
      return "nsgs";
    case Method::gauss_seidel_newton:
      return "nsgs_newton";
    case Method::admm:
      return "admm";
    case Method::extragradient:
      return "extragradient";
    case Method::proximal_point:
      return "proximal";
    case Method::lemke:
      return "lemke";
  }
  return "unknown";
}

struct Answers {
  std::vector<double> c;        ///< [count][3k] forces of the problem as given [N]
  std::vector<double> seconds;  ///< [count] time of the solver's driver alone
};

/// False where the project was built without Siconos.
[[nodiscard]] bool available();

/// What Siconos says about one problem, and the force it found.
struct Answer {
  std::vector<double> c;  ///< [3k] of the problem as given [N]
  int info = 0;           ///< 0 where Siconos holds the problem solved
  int iterations = 0;
  double seconds = 0;  ///< time of the driver alone, the smallest of the repetitions
};

struct Control {
  double tolerance = 1e-8;
  std::int64_t first = 0;  ///< problems before this one are left out
  int repetitions = 1;     ///< of every problem, as long as they are quick
  double quick = 3e-3;     ///< no further repetition after so many seconds with one problem
};

/// Solves problem after problem from r = 0 and hands each answer over at once. Siconos is given what favors it: the
/// problem scaled as our certificate scales it, so that its stopping test means what the certificate means, and options
/// that keep their work memory. Building its matrix is not timed.
void solve_each(const contact::Problems& problems, Method method, const Control& control,
                const std::function<void(std::int64_t, const Answer&)>& take);

/// The same for all problems at once.
[[nodiscard]] Answers solve(const contact::Problems& problems, Method method);

}  // namespace garra::bench::siconos
