// The nominal instant of a group: contact forces and accelerations.
#include <algorithm>
#include <cmath>

#include "garra/contact.hpp"
#include "garra/core/error.hpp"
#include "grasp/group/assemble.hpp"
#include "grasp/group/process.hpp"
#include "grasp/group/rest.hpp"
#include "grasp/set/run_hand.hpp"
#include "grasp/study/study_solver.hpp"

namespace garra::grasp {

namespace {

bool any_given(const GraspStates& x) {
  return x.count != 1 || !(x.position.empty() && x.quaternion.empty() && x.velocity.empty() && x.spin.empty() &&
                           x.q.empty() && x.qd.empty() && x.tau.empty() && x.wrench.empty() && x.friction.empty());
}

/// M_obj^-1 (W c + w): accelerations of the centers of mass and of the turns.
std::vector<double> object_accelerations(const GroupSample& s, const Column& c) {
  std::vector<double> out;
  for (std::size_t k = 0; k < s.body.size(); ++k) {
    const auto [force, moment] = net_wrench(s, c.data(), k);
    const Vec3<double> turn = s.body[k].inverse_inertia * moment;
    for (int i = 0; i < 3; ++i) out.push_back(force[i] / s.body[k].mass);
    out.insert(out.end(), turn.m, turn.m + 3);
  }
  return out;
}

/// -M_man^-1 (g + h - tau + J^T c).
Column joint_accelerations(const GroupModel& m, const GroupSample& s, const Column& c) {
  Column out;
  for (std::size_t f = 0; f < m.fingers.size(); ++f) {
    const int first = m.first_joint[f], n = m.first_joint[f + 1] - first;
    for (int i = first; i < first + n; ++i) {
      double pushed = 0;
      for (int r = 0; r < m.rows(); ++r) pushed += s.J(r, i) * c[static_cast<std::size_t>(r)];
      out.push_back(-(s.effort[static_cast<std::size_t>(i)] + pushed));
    }
    solve_finger(first, n, s, [&](int i) -> double& { return out[static_cast<std::size_t>(first + i)]; });
  }
  return out;
}

template <int D>
solvers::FrictionProblem<double, kAnyContacts, D> instant_problem(const GroupModel& m, const GroupSample& s) {
  solvers::FrictionProblem<double, kAnyContacts, D> p;
  for (int r = 0; r < m.rows(); ++r) {
    for (int c = 0; c < m.rows(); ++c) p.A(r, c) = s.A(r, c);
    p.b[r] = s.b(r);
  }
  std::copy(s.mu.begin(), s.mu.end(), p.mu.m);
  return p;
}

/// Forces that leave every contact at rest, if those with the accelerations `found` do not and there are such forces.
template <int D>
Column rest_solution(const GroupModel& m, const GroupSample& s, const double* found) {
  const auto p = instant_problem<D>(m, s);
  double load = 0, moves = 0;
  for (int r = 0; r < m.rows(); ++r) {
    load = std::max(load, std::abs(p.b[r]));
    moves = std::isnan(found[r]) ? INFINITY : std::max(moves, std::abs(found[r]));
  }
  if (moves <= solvers::kMotion * load) return {};
  Column first(static_cast<std::size_t>(m.rows()));
  for (std::size_t j = 0; j < s.place.size(); ++j) first[D * j] = dot(s.told[j], column(s.place[j].E, 0));
  std::vector<double> room(static_cast<std::size_t>(solvers::RestProblem<D>::room(static_cast<int>(s.place.size()))));
  const solvers::RestProblem<D> rest{static_cast<int>(s.place.size()), 0, room.data()};
  if (!find_rest_forces<D>(p, first.data(), rest)) return {};
  return Column(rest.c(), rest.c() + m.rows());
}

/// The solution of the instant, with as many numbers of a contact as the model has.
struct Solved {
  Status status;
  double residual, iterations;
  Column c, a;
  std::vector<int> state;  ///< grasp::ContactState; -1: not known
};

Solved solve_points(const GroupModel& m, const GroupSample& s, const Scenario& scenario, const Device& device) {
  const contact::Problems problem = point_problems(m, std::vector<GroupSampleView>{s});
  contact::Options options = contact_options(scenario);
  options.tolerance = scenario.tolerance;
  contact::Solutions solved = contact::solve(problem, options, device);
  if (const Column c = m.slides ? Column() : rest_solution<3>(m, s, solved.a.data()); !c.empty()) {
    contact::Solutions rest = contact::check_solution(problem, c, scenario.tolerance);
    if (rest.status[0] == Status::kConverged) solved = std::move(rest);
  }
  Solved out{solved.status[0], solved.residual[0], double(solved.iterations[0]), solved.c, solved.a, {}};
  for (const auto state : solved.state)
    out.state.push_back(state == contact::ContactState::kUnknown ? -1 : static_cast<int>(state));
  return out;
}

Solved solve_soft(const GroupModel& m, const GroupSample& s, const Scenario& scenario) {
  const auto p = instant_problem<4>(m, s);
  const solvers::FrictionNewton solver = contact::make_auto_solver(contact_options(scenario));
  batch::Tiles<solvers::FrictionProblem<double, kAnyContacts, 4>> problems(1);
  batch::Tiles<solvers::Candidate<double, kAnyContacts, 4>> candidates(1);
  problems.set(0, p);
  iterate_soft(Executor::kScalar, {solver, problems.data(), candidates.data()}, 1);
  auto solved = certify_soft(p, candidates.get(0), scenario.tolerance);
  if (const Column c = rest_solution<4>(m, s, solved.a.m); !c.empty()) {
    auto found = candidates.get(0);
    std::copy(c.begin(), c.end(), found.c.m);
    const auto rest = certify_soft(p, found, scenario.tolerance);
    if (rest.status == static_cast<int>(Status::kConverged)) solved = rest;
  }
  const auto status = static_cast<Status>(static_cast<int>(solved.status));
  Solved out{status,
             solved.residual,
             solved.effort.outer,
             Column(solved.c.m, solved.c.m + m.rows()),
             Column(solved.a.m, solved.a.m + m.rows()),
             {}};
  const double still = solvers::kMotion * solvers::friction_scale(p).size_b;
  for (int j = 0; j < m.rows() / 4; ++j) {
    const double state = solvers::contact_state(solvers::contact<double, kAnyContacts, 4>(solved.a, j), still);
    out.state.push_back(status == Status::kConverged ? static_cast<int>(state) : -1);
  }
  return out;
}

/// Forces or motions (n, t, o) of contacts with any number of numbers each.
Column points(const GroupModel& m, const Column& x) {
  Column out;
  for (std::size_t r = 0; r < x.size(); ++r)
    if (r % static_cast<std::size_t>(m.numbers) < 3) out.push_back(x[r]);
  return out;
}

}  // namespace

Analysis analyze_group(const Scenario& scenario, const GraspStates& states, const Device& device) {
  if (any_given(states))
    throw Error(ExitCode::kInvalidFile, "states of a group of objects are not taken",
                "Leave out the file: the nominal instant is analyzed.");
  const auto m = make_group(scenario);
  const GroupSample s = evaluate_group(*m, nominal_group(*m));
  const int contacts = static_cast<int>(m->contacts.size());
  const ContactsInUse many(contacts);
  const Solved solved = m->numbers > 3 ? solve_soft(*m, s, scenario) : solve_points(*m, s, scenario, device);
  Analysis out;
  out.contacts = contacts;
  out.objects = static_cast<int>(m->objects.size());
  out.status = {solved.status};
  out.residual = {solved.residual};
  out.iterations = {solved.iterations};
  out.gap.assign(static_cast<std::size_t>(contacts), 0);
  out.force = points(*m, solved.c);
  for (std::size_t j = 0; m->numbers > 3 && j < m->contacts.size(); ++j)
    out.moment.push_back(m->contacts[j].torsion_radius * solved.c[4 * j + 3]);
  out.relative_acceleration = points(*m, solved.a);
  out.mode_after = solved.state;
  Column velocity(static_cast<std::size_t>(m->rows()));
  const auto screw = [&](int k) {
    const Body<double>& body = s.body[static_cast<std::size_t>(k)];
    return Screw<double>{body.omega, body.v};
  };
  find_velocities(*m, s, screw, s.qd, velocity);
  out.relative_velocity = points(*m, velocity);
  for (std::size_t j = 0; j < s.place.size(); ++j) {
    const Vec3<double> n = column(s.place[j].E, 0);
    out.normal.insert(out.normal.end(), n.m, n.m + 3);
    const double sliding = std::hypot(out.relative_velocity[3 * j + 1], out.relative_velocity[3 * j + 2]);
    out.mode_before.push_back(static_cast<int>(sliding > kSlideSpeed ? ContactMode::kSliding : ContactMode::kRolling));
  }
  out.acceleration = object_accelerations(s, solved.c);
  const Column qdd = joint_accelerations(*m, s, solved.c);
  for (std::size_t f = 0; f < m->fingers.size(); ++f) {
    const auto part = [&](std::span<const double> x) {
      return Column(x.begin() + m->first_joint[f], x.begin() + m->first_joint[f + 1]);
    };
    out.q.push_back(part(s.q));
    out.qd.push_back(part(s.qd));
    out.tau.push_back(part(s.tau));
    out.qdd.push_back(part(qdd));
  }
  return out;
}

}  // namespace garra::grasp
