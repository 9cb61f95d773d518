#include "papers/tables.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "garra/contact.hpp"
#include "garra/core/error.hpp"
#include "garra/solvers/box_quacan.hpp"
#include "garra/solvers/friction_merit.hpp"
#include "grasp/study/grasp_study.hpp"

namespace garra::papers {

namespace {

using Json = nlohmann::json;
using Rolling = solvers::FrictionMncp<kContacts>;
using Lcp = solvers::SlidingLcp<kContacts>;
template <class P>
using Merit = solvers::PapersMerit::View<P, double>;

const Sliding kAllMayRoll{Vec<double, 2 * kContacts>::zero()};

Effort parse_effort(const Json& row) {
  return {row[1].get<int>(), row[2].get<int>(), row[3].get<int>(), row[4].get<int>(), row[5].get<double>()};
}

template <class P>
struct Ending {
  Vec<double, Merit<P>::kVariables> x;
  Effort effort;
  double projected_gradient;
};

/// The papers' method: from x0 = 0, the slack variables too, until BOX-QUACAN's own tests stop it.
template <class P>
Ending<P> minimize(const typename P::template Data<double>& data) {
  solvers::MncpSolver<P, solvers::PapersMerit, solvers::BoxQuacan> solver;
  // Only BOX-QUACAN's own tests stop it, as in the papers, so that the counts are comparable.
  solver.check_iterate = false;
  solver.zero_slack = true;
  auto state = solver.template start<double>(data, solvers::MncpVec<P, double>::zero());
  while (solver.running(state)) solver.step(state);
  const auto& at = state.minimizer.at;
  const auto& e = at.effort;
  return {at.x,
          {static_cast<int>(e.outer), static_cast<int>(e.evaluations), static_cast<int>(e.inner),
           static_cast<int>(e.products), at.f},
          at.projected_gradient};
}

Vec<double, Rolling::kSize> head(const Vec<double, Merit<Rolling>::kVariables>& x) {
  Vec<double, Rolling::kSize> y;
  std::copy_n(x.m, Rolling::kSize, y.m);
  return y;
}

/// The variables of (4) at a point of Table 4.
Vec<double, Merit<Rolling>::kVariables> to_variables(const RollingPoint& p) {
  Vec<double, Merit<Rolling>::kVariables> x;
  for (int j = 0; j < kContacts; ++j) {
    for (int i = 0; i < 3; ++i) x[Rolling::force(i, j)] = p.c[3 * j + i];
    x[Rolling::a_t(j)] = p.a[3 * j + 1];
    x[Rolling::a_o(j)] = p.a[3 * j + 2];
    x[Rolling::lambda(j)] = p.lambda[j];
    x[Rolling::kSize + j] = p.a[3 * j];
    x[Rolling::kSize + kContacts + j] = p.s[j];
  }
  return x;
}

RollingPoint to_point(const Vec<double, Merit<Rolling>::kVariables>& x) {
  RollingPoint p;
  for (int j = 0; j < kContacts; ++j) {
    for (int i = 0; i < 3; ++i) p.c[3 * j + i] = x[Rolling::force(i, j)];
    p.a[3 * j] = x[Rolling::kSize + j];
    p.a[3 * j + 1] = x[Rolling::a_t(j)];
    p.a[3 * j + 2] = x[Rolling::a_o(j)];
    p.s[j] = x[Rolling::kSize + kContacts + j];
    p.lambda[j] = x[Rolling::lambda(j)];
  }
  return p;
}

/// Accelerations above 1e-6 of the problem's own size count as motion, as in a study.
grasp::ContactState classify_state(const Problem& problem, const Force& a, int j) {
  // Relative to b: no acceleration is small by itself.
  const double eps = 1e-6 * solvers::friction_scale(problem).size_b;
  // Breaking first: at an open contact tangential motion is no slip.
  if (a[3 * j] > eps) return grasp::ContactState::kBreak;
  return std::hypot(a[3 * j + 1], a[3 * j + 2]) > eps ? grasp::ContactState::kSlip : grasp::ContactState::kStick;
}

double minor2(const Mat<double, 3, 3>& A, int i, int j) { return A(i, i) * A(j, j) - A(i, j) * A(j, i); }

double determinant(const Mat<double, 3, 3>& A) {
  return A(0, 0) * minor2(A, 1, 2) - A(0, 1) * (A(1, 0) * A(2, 2) - A(1, 2) * A(2, 0)) +
         A(0, 2) * (A(1, 0) * A(2, 1) - A(1, 1) * A(2, 0));
}

}  // namespace

Printed parse_printed(const std::string& json) try {
  const Json document = Json::parse(json);
  Printed out;
  for (const Json& row : document.at("table_1").at("rows")) {
    const Json& forces = document.at("table_2").at("rows").at(out.sliding.size());
    Printed::Row r{row[0].get<double>(), parse_effort(row), {}, {}};
    for (int j = 0; j < kContacts; ++j) {
      r.c_n[j] = forces.at(static_cast<std::size_t>(1 + j)).get<double>();
      r.a_n[j] = forces.at(static_cast<std::size_t>(4 + j)).get<double>();
    }
    out.sliding.push_back(r);
  }
  for (const Json& row : document.at("table_3").at("rows"))
    out.rolling.push_back({row[0].get<double>(), parse_effort(row), {}, {}});
  const Json& table_4 = document.at("table_4");
  out.point_mu = table_4.at("mu").get<double>();
  for (int j = 0; j < kContacts; ++j) {
    const Json& row = table_4.at("rows").at(static_cast<std::size_t>(j));
    for (int i = 0; i < 3; ++i) {
      out.point.c[3 * j + i] = row.at(static_cast<std::size_t>(i)).get<double>();
      out.point.a[3 * j + i] = row.at(static_cast<std::size_t>(3 + i)).get<double>();
    }
    out.point.s[j] = row.at(6).get<double>();
    out.point.lambda[j] = row.at(7).get<double>();
  }
  return out;
} catch (const Json::exception& error) {
  throw Error(ExitCode::kInvalidFile, std::string("the printed tables cannot be read: ") + error.what(),
              "They are data/reference/papers/tables.json of the project.");
}

Hand make_hand(const grasp::Scenario& scenario) {
  if (scenario.contacts.size() != kContacts)
    throw Error(ExitCode::kInvalidFile,
                "the papers' hand has three fingers, this one has " + std::to_string(scenario.contacts.size()));
  const bool slides = std::ranges::any_of(scenario.contacts, [](const grasp::Contact& c) { return c.slides; });
  if (scenario.object.shape != grasp::Shape::kSphere || scenario.arm || slides)
    throw Error(ExitCode::kInvalidFile,
                "the papers' hand holds a sphere, its palm stands still, and its contacts may roll",
                "Leave out arm_root and contacts with mode = \"slide\"; give shape = \"sphere\".");
  const grasp::Study study(scenario);
  const grasp::Replay nominal = study.replay(0);
  Hand hand;
  std::copy(nominal.A.begin(), nominal.A.end(), hand.A.m);
  std::copy(nominal.b.begin(), nominal.b.end(), hand.b.m);
  // (1) of tables.hpp with w = 1: only directions are used.
  const Vec3<double> turn{{1, 0, 1}}, fall{{0, 0, -scenario.object.radius}};
  for (int j = 0; j < kContacts; ++j) {
    const grasp::SurfacePoint& contact = study.model().surface[j];
    const Vec3<double> v = fall + cross(turn, contact.point);
    const double t = dot(v, contact.t), o = dot(v, contact.o), length = std::sqrt(t * t + o * o);
    hand.slip.v[2 * j] = t / length;
    hand.slip.v[2 * j + 1] = o / length;
  }
  return hand;
}

Problem make_problem(const Hand& hand, double mu) {
  Problem p{hand.A, hand.b, {}};
  for (int j = 0; j < kContacts; ++j) p.mu[j] = mu;
  return p;
}

SlidingSystem sliding_system(const Problem& problem, const Sliding& sliding) {
  Problem p = problem;
  solvers::eliminate_sliding<double, kContacts>(p, sliding);
  SlidingSystem out;
  for (int i = 0; i < kContacts; ++i) {
    for (int j = 0; j < kContacts; ++j) out.A(i, j) = p.A(3 * i, 3 * j);
    out.b[i] = p.b[3 * i];
  }
  return out;
}

double SlidingSystem::smallest_minor() const {
  // The principal minors of a P-matrix are positive: exactly one solution for every b.
  return std::min({A(0, 0), A(1, 1), A(2, 2), minor2(A, 0, 1), minor2(A, 0, 2), minor2(A, 1, 2), determinant(A)});
}

ForceCheck check_iterate(const Problem& problem, const Sliding& sliding, const Force& c) {
  const auto candidate = solvers::make_candidate<double, kContacts>(c, static_cast<double>(Status::kStalled),
                                                                    solvers::Effort<double>::none());
  const auto s = solvers::certify(problem, sliding, candidate, kTolerance);
  return {s.residual, static_cast<Status>(static_cast<int>(s.status))};
}

SlidingAnswer solve_sliding(const Problem& problem, const Sliding& sliding) {
  const SlidingSystem system = sliding_system(problem, sliding);
  const auto end = minimize<Lcp>({system.A, system.b});
  SlidingAnswer out{end.effort, {}, {}, 0, Status::kStalled};
  Force c = Force::zero();
  for (int j = 0; j < kContacts; ++j) {
    c[3 * j] = out.c_n[j] = end.x[j];
    out.a_n[j] = end.x[kContacts + j];
  }
  const ForceCheck force_check = check_iterate(problem, sliding, c);
  out.residual = force_check.residual;
  out.decision = force_check.decision;
  return out;
}

RollingAnswer solve_rolling(const Problem& problem) {
  const auto end = minimize<Rolling>(problem);
  const ForceCheck force_check = check_iterate(problem, kAllMayRoll, Rolling::forces(head(end.x)));
  return {end.effort, end.projected_gradient, to_point(end.x), force_check.residual, force_check.decision};
}

Reference solve_certified(const Problem& problem) {
  const contact::Problems one{
      kContacts, 1, {problem.A.m, problem.A.m + 81}, {problem.b.m, problem.b.m + 9}, {problem.mu.m, problem.mu.m + 3}};
  Device scalar;
  scalar.executor = Executor::kScalar;
  const contact::Solutions s = contact::solve(one, {.tolerance = kTolerance}, scalar);
  Reference out{{}, {}, s.residual[0], s.status[0], {}};
  std::copy(s.c.begin(), s.c.end(), out.c.m);
  std::copy(s.a.begin(), s.a.end(), out.a.m);
  for (int j = 0; j < kContacts; ++j) out.states[static_cast<std::size_t>(j)] = classify_state(problem, out.a, j);
  return out;
}

Identities identities(const Problem& problem, const RollingPoint& p) {
  // The papers print no b. This b makes A c + b = a at the printed point, so that only their other equations are
  // tested.
  Problem through = problem;
  through.b = p.a - problem.A * p.c;
  const auto rows = Merit<Rolling>(through).residual(to_variables(p));
  Identities out{0, 0, 0, 0, 0, rows[Rolling::kSize] * rows[Rolling::kSize]};
  for (int j = 0; j < kContacts; ++j) {
    const double s = rows[Rolling::lambda(j)], g1 = rows[Rolling::c_t(j)], g2 = rows[Rolling::c_o(j)];
    const double at = p.a[3 * j + 1], ao = p.a[3 * j + 2];
    const double size_a = std::hypot(at, ao), size_c = std::hypot(p.c[3 * j + 1], p.c[3 * j + 2]);
    out.g = std::max({out.g, std::abs(g1), std::abs(g2)});
    out.s = std::max(out.s, std::abs(s));
    out.lambda = std::max(out.lambda, std::abs(p.lambda[j] / size_a - 1));
    // mu c_n cancels in G_1 a_o - G_2 a_t = lambda (c_t a_o - c_o a_t).
    out.angle = std::max(out.angle, std::abs((g1 * ao - g2 * at) / (p.lambda[j] * size_c * size_a)));
    out.cone = std::max(out.cone, size_c / (through.mu[j] * p.c[3 * j]) - 1);
    out.f += s * s;
  }
  return out;
}

Hand loaded_through(const Hand& hand, const RollingPoint& point) {
  return {hand.A, point.a - hand.A * point.c, hand.slip};
}

Problem problem_through(const Hand& hand, const Printed::Row& row) {
  Problem p = make_problem(hand, row.mu);
  const PerContact b_n = row.a_n - sliding_system(p, hand.slip).A * row.c_n;
  // Tangential rows are eliminated for sliding contacts, so any b works there.
  p.b = Force::zero();
  for (int j = 0; j < kContacts; ++j) p.b[3 * j] = b_n[j];
  return p;
}

}  // namespace garra::papers
