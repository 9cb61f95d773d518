// The papers' Tables 1-4, recomputed: the same formulations, start and solver on a hand of garra, since the papers
// print neither A nor b. Also tests the printed digits themselves (docs/notes/papers-tables.md). SI units. Host only.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "garra/grasp.hpp"
#include "garra/solvers/friction_problem.hpp"

namespace garra::papers {

inline constexpr int kContacts = 3;
using PerContact = Vec<double, kContacts>;
using Problem = solvers::FrictionProblem<double, kContacts>;
using Sliding = solvers::SlidingContacts<double, kContacts>;
using Force = Vec<double, 3 * kContacts>;  ///< contact-major (n, t, o)

/// Effort of the minimization of f in one row of Table 1 or 3, and the final f.
struct Effort {
  int box_it = 0, fun_eval = 0, quacan_it = 0, matx_vec = 0;  ///< columns as in the papers' tables
  double f = 0;
};

/// Final point of a minimization of Table 3, as in Table 4. `a` has the variables z of a_n in its normal rows.
struct RollingPoint {
  Force c, a;
  PerContact s, lambda;
};

/// Numbers printed in the papers.
struct Printed {
  /// A row of Tables 1-3.
  struct Row {
    double mu;
    Effort effort;
    PerContact c_n, a_n;  ///< Tables 1 and 2 only
  };
  std::vector<Row> sliding;  ///< Tables 1 and 2
  std::vector<Row> rolling;  ///< Table 3
  double point_mu = 0;
  RollingPoint point;  ///< Table 4
};

/// Reads the text of data/reference/papers/tables.json. Throws Error(kInvalidFile).
[[nodiscard]] Printed parse_printed(const std::string& json);

/// The hand's A and b, and the slip directions of the sliding tables. The object falls and turns between fingers at
/// rest, with a speed w so small that its square does not affect b. Along (1) every v_j lies in its contact's tangent
/// plane, and no two contacts slip alike:
///   v_j = (0, 0, -r) w + w (1, 0, 1) x rho_j,   rho_j = p_j - p_cm.                                              (1)
struct Hand {
  Mat<double, 9, 9> A;
  Force b;
  Sliding slip;
};

/// Throws Error(kInvalidFile) unless the scenario is a hand of three fingers with a possible nominal grasp.
[[nodiscard]] Hand make_hand(const grasp::Scenario& scenario);

/// The hand's problem with one coefficient of friction at all contacts.
[[nodiscard]] Problem make_problem(const Hand& hand, double mu);

/// The normal rows of A c + b after elimination of the sliding contacts' tangential forces: A~_nn and b_n of (45),
/// (46).
struct SlidingSystem {
  Mat<double, 3, 3> A;
  PerContact b;
  [[nodiscard]] double smallest_minor() const;  ///< of the principal ones; above 0 exactly one solution for every b
};
[[nodiscard]] SlidingSystem sliding_system(const Problem& problem, const Sliding& sliding);

/// Our row of Tables 1 and 2: (48) minimized by BOX-QUACAN from 0.
struct SlidingAnswer {
  Effort effort;
  PerContact c_n, a_n;
  double residual;  ///< relative change of the load of the normal law, from A c + b computed afresh
  Status decision;  ///< of the certificate with tolerance kTolerance
};
[[nodiscard]] SlidingAnswer solve_sliding(const Problem& problem, const Sliding& sliding);

/// Our row of Table 3, with its Table 4: (4) minimized by BOX-QUACAN from 0, in 24 variables.
struct RollingAnswer {
  Effort effort;
  double projected_gradient;
  RollingPoint point;
  double residual;  ///< relative change of the load
  Status decision;
};
[[nodiscard]] RollingAnswer solve_rolling(const Problem& problem);

/// The answer of `auto`, semismooth Newton with restarts, to the same problem, with a certificate.
struct Reference {
  Force c, a;
  double residual;
  Status decision;
  std::array<grasp::ContactState, kContacts> states;
};
[[nodiscard]] Reference solve_certified(const Problem& problem);

inline constexpr double kTolerance = 1e-8;  ///< of every certificate here

/// Natural-map error and certificate status of any force.
struct ForceCheck {
  double residual;
  Status decision;
};
[[nodiscard]] ForceCheck check_iterate(const Problem& problem, const Sliding& sliding, const Force& c);

/// Residuals of the rows of (4) at a printed point, where b is chosen such that a = A c + b: largest over the contacts.
struct Identities {
  double g, s, lambda, angle;  ///< |G_1|, |G_2|; |s row|; |lambda / |a_T| - 1|; |sin angle(c_T, -a_T)|
  double cone;                 ///< |c_T| / (mu c_n) - 1: how far outside its cone a force is
  double f;                    ///< sum_1 + sum_3^2, what is left of f
};
[[nodiscard]] Identities identities(const Problem& problem, const RollingPoint& point);

/// The hand under the load for which a printed point solves the problem at the printed friction: b := a - A c.
[[nodiscard]] Hand loaded_through(const Hand& hand, const RollingPoint& point);

/// The problem that a printed row of Table 2 solves: b_n := a_n - A~ c_n.
[[nodiscard]] Problem problem_through(const Hand& hand, const Printed::Row& row);

}  // namespace garra::papers
