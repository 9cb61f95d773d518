// Value, gradient and projected gradient of a merit function at given points (docs/theory/friction-merit.md), as an
// operation on rows. Host and device.
#pragma once

#include "contact/batch/solvers.hpp"

namespace garra::contact {

template <class S, int V>
struct MeritValue {
  S value;                ///< f(x) = |r(x)|^2
  S projected_gradient;   ///< |P(x - grad f) - x|
  Vec<S, V> x, gradient;  ///< grad f = 2 J'r
  static constexpr auto parts() {
    return std::tuple{&MeritValue::value, &MeritValue::projected_gradient, &MeritValue::x, &MeritValue::gradient};
  }
};

/// A merit function of problems with N contacts.
template <class Merit, int N>
struct FrictionMeritValue {
  using Problem = typename solvers::friction_merit::ProblemOf<Merit, N>::type;
  template <class S>
  using View = typename Merit::template View<Problem, S>;
  static constexpr int kVariables = View<double>::kVariables;

  /// The variables that belong to the force c: lambda = |a_T|, a_T = A_T c + b_T, z = max(F, 0).
  template <class S>
  static GARRA_HD Vec<S, kVariables> variables(const solvers::FrictionProblem<S, N>& d, const Vec<S, 3 * N>& c) {
    return View<S>(d).lift(Problem::unknowns(d, c));
  }

  template <class S>
  static GARRA_HD MeritValue<S, kVariables> at(const solvers::FrictionProblem<S, N>& d, const Vec<S, kVariables>& x) {
    const View<S> view(d);
    const auto r = view.residual(x);
    MeritValue<S, kVariables> out;
    out.x = x;
    out.value = dot(r, r);
    const auto y = solvers::mncp_detail::head<Problem>(x);
    if constexpr (requires { Problem::template pull_back<S>(d, y, y); })
      out.gradient = S(2) * view.pull_back(x, r);
    else
      out.gradient = solvers::gradient_at(view, x, r);
    out.projected_gradient = solvers::projected_gradient_norm(view, x, out.gradient);
    return out;
  }
};

/// At the force c, or at the variables x.
template <Merit M, int N>
struct MeritOp {
  using Value = FrictionMeritValue<typename solver_types::MeritOf<M>::type, N>;
  bool of_forces;

  template <class S>
  struct In {
    solvers::FrictionProblem<S, N> problem;
    Vec<S, 3 * N> c;
    Vec<S, Value::kVariables> x;
    static constexpr auto parts() { return std::tuple{&In::problem, &In::c, &In::x}; }
  };
  template <class S>
  using Out = MeritValue<S, Value::kVariables>;

  template <class S>
  GARRA_HD Out<S> operator()(const In<S>& in) const {
    auto out = Value::template at<S>(in.problem, of_forces ? Value::template variables<S>(in.problem, in.c) : in.x);
    S defect = S(0);  // NaN where a coefficient is negative
    for (int j = 0; j < extent<N>(); ++j) defect += select(in.problem.mu[j] >= S(0), S(0), S(__builtin_nan("")));
    out.value += defect;
    out.projected_gradient += defect;
    for (int k = 0; k < extent<Value::kVariables>(); ++k) out.gradient[k] += defect;
    return out;
  }
};

/// For the GPU (kernels/contact/merit.cu), where one kernel serves all sizes.
template <Merit M>
struct DeviceMerit {
  int contacts;
  bool of_forces;
};

}  // namespace garra::contact
