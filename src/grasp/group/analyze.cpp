// The nominal instant of a group: contact forces and accelerations.
#include <algorithm>
#include <cmath>

#include "garra/contact.hpp"
#include "garra/core/error.hpp"
#include "grasp/group/process.hpp"
#include "grasp/study/study_solver.hpp"

namespace garra::grasp {

namespace {

bool any_given(const GraspStates& x) {
  return x.count != 1 || !(x.position.empty() && x.quaternion.empty() && x.velocity.empty() && x.spin.empty() &&
                           x.q.empty() && x.qd.empty() && x.tau.empty() && x.wrench.empty() && x.friction.empty());
}

/// M_obj^-1 (W c + w): accelerations of the centers of mass and of the turns.
std::vector<double> object_accelerations(const GroupSample& s, const Column& c) {
  const Column wrench = multiply(s.W, c);
  std::vector<double> out;
  for (std::size_t k = 0; k < s.body.size(); ++k) {
    Vec3<double> force, moment;
    for (int i = 0; i < 3; ++i) {
      const std::size_t row = 6 * k + static_cast<std::size_t>(i);
      force[i] = (wrench[row] + s.load[k][i]) / s.body[k].mass;
      moment[i] = wrench[row + 3] + s.load[k][i + 3];
    }
    const Vec3<double> turn = s.body[k].inverse_inertia * moment;
    out.insert(out.end(), force.m, force.m + 3);
    out.insert(out.end(), turn.m, turn.m + 3);
  }
  return out;
}

/// -M_man^-1 (g + h - tau + J^T c).
Column joint_accelerations(const GroupModel& m, const GroupSample& s, const Column& c) {
  const Column pushed = transpose_times(s.J, c);
  Column out;
  for (std::size_t f = 0; f < m.fingers.size(); ++f) {
    const int first = m.first_joint[f], n = m.first_joint[f + 1] - first;
    Dense M(n, n), load(n, 1);
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < n; ++k) M(i, k) = s.M_man(first + i, first + k);
      const auto at = static_cast<std::size_t>(first + i);
      load(i, 0) = -(s.effort[at] + pushed[at]);
    }
    const Dense x = solve_definite(M, load);
    out.insert(out.end(), x.m.begin(), x.m.end());
  }
  return out;
}

/// Forces that leave every contact at rest, if the solver's do not and there are such forces.
Column rest_solution(const GroupModel& m, const GroupSample& s, const std::vector<double>& found) {
  const ContactsInUse many(static_cast<int>(m.contacts.size()));
  solvers::FrictionProblem<double, kAnyContacts> p;
  double load = 0, moves = 0;
  Column first;
  for (int r = 0; r < m.rows(); ++r) {
    for (int c = 0; c < m.rows(); ++c) p.A(r, c) = s.A(r, c);
    p.b[r] = s.b(r);
    load = std::max(load, std::abs(s.b(r)));
    const double a = found[static_cast<std::size_t>(r)];
    moves = std::isnan(a) ? INFINITY : std::max(moves, std::abs(a));
  }
  if (moves <= solvers::kMotion * load) return {};
  for (std::size_t j = 0; j < s.place.size(); ++j) {
    p.mu[static_cast<int>(j)] = s.mu[j];
    const double push = dot(s.told[j], column(s.place[j].E, 0));
    first.insert(first.end(), {push, 0, 0});
  }
  return find_rest_forces(p, first);
}

}  // namespace

Analysis analyze_group(const Scenario& scenario, const GraspStates& states, const Device& device) {
  if (any_given(states))
    throw Error(ExitCode::kInvalidFile, "states of a group of objects are not taken",
                "Leave out the file: the nominal instant is analyzed.");
  const auto m = make_group(scenario);
  const GroupSample s = evaluate_group(*m, nominal_group(*m));
  const int rows = m->rows(), contacts = rows / 3;
  contact::Problems problem{.contacts = contacts, .count = 1, .A = {}, .b = {}, .mu = s.mu};
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < rows; ++c) problem.A.push_back(s.A(r, c));
    problem.b.push_back(s.b(r));
  }
  contact::Options options = contact_options(scenario);
  options.tolerance = scenario.tolerance;
  contact::Solutions solved = contact::solve(problem, options, device);
  if (const Column c = rest_solution(*m, s, solved.a); !c.empty()) {
    contact::Solutions rest = contact::check_solution(problem, c, scenario.tolerance);
    if (rest.status[0] == Status::kConverged) solved = std::move(rest);
  }
  Analysis out;
  out.contacts = contacts;
  out.objects = static_cast<int>(m->objects.size());
  out.status = solved.status;
  out.residual = solved.residual;
  out.iterations.assign(solved.iterations.begin(), solved.iterations.end());
  out.gap.assign(static_cast<std::size_t>(contacts), 0);
  out.force = solved.c;
  out.relative_acceleration = solved.a;
  Column V;
  for (const Body<double>& body : s.body) {
    V.insert(V.end(), body.v.m, body.v.m + 3);
    V.insert(V.end(), body.omega.m, body.omega.m + 3);
  }
  out.relative_velocity = transpose_times(s.W, V);
  const Column fingers = multiply(s.J, s.qd);
  for (std::size_t k = 0; k < fingers.size(); ++k) out.relative_velocity[k] -= fingers[k];
  for (std::size_t j = 0; j < s.place.size(); ++j) {
    const Vec3<double> n = column(s.place[j].E, 0);
    out.normal.insert(out.normal.end(), n.m, n.m + 3);
    const double sliding = std::hypot(out.relative_velocity[3 * j + 1], out.relative_velocity[3 * j + 2]);
    out.mode_before.push_back(static_cast<int>(sliding > kSlideSpeed ? ContactMode::kSliding : ContactMode::kRolling));
    const auto state = solved.state[j];
    out.mode_after.push_back(state == contact::ContactState::kUnknown ? -1 : static_cast<int>(state));
  }
  out.acceleration = object_accelerations(s, solved.c);
  const Column qdd = joint_accelerations(*m, s, solved.c);
  for (std::size_t f = 0; f < m->fingers.size(); ++f) {
    const auto part = [&](const Column& x) {
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
