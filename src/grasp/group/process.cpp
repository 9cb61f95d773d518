#include "grasp/group/process.hpp"

#include <algorithm>
#include <cmath>

#include "garra/systems/grasp/metrics.hpp"

namespace garra::grasp {

namespace {

using Kind = Partner::Kind;

/// Radius of gyration of an object: makes its moments comparable to forces [m].
double gyration_radius(const Body<double>& body) {
  const double trace = body.inertia(0, 0) + body.inertia(1, 1) + body.inertia(2, 2);
  return std::sqrt(trace / (3 * body.mass));
}

/// Forces that let no contact move, without those that its law excludes: solves A c = -b in the other rows by
/// L D L^T. Empty if a pivot is rounding noise.
Column stick_force(const GroupModel& m, const GroupSample& s) {
  std::vector<int> rows;
  for (int r = 0; r < m.rows(); ++r)
    if (m.bears(r)) rows.push_back(r);
  const int n = static_cast<int>(rows.size());
  const auto row = [&](int i) { return rows[static_cast<std::size_t>(i)]; };
  Dense L(n, n), x(n, 1);
  for (int j = 0; j < n; ++j) {
    double pivot = s.A(row(j), row(j));
    for (int k = 0; k < j; ++k) pivot -= L(j, k) * L(j, k) * L(k, k);
    if (!(pivot > 1e-11 * s.A(row(j), row(j)))) return {};
    L(j, j) = pivot;
    for (int i = j + 1; i < n; ++i) {
      double sum = s.A(row(i), row(j));
      for (int k = 0; k < j; ++k) sum -= L(i, k) * L(j, k) * L(k, k);
      L(i, j) = sum / pivot;
    }
  }
  for (int i = 0; i < n; ++i) {
    x(i, 0) = -s.b(row(i));
    for (int k = 0; k < i; ++k) x(i, 0) -= L(i, k) * x(k, 0);
  }
  Column c(static_cast<std::size_t>(m.rows()));
  for (int i = n - 1; i >= 0; --i) {
    x(i, 0) /= L(i, i);
    for (int k = i + 1; k < n; ++k) x(i, 0) -= L(k, i) * x(k, 0);
    c[static_cast<std::size_t>(row(i))] = x(i, 0);
  }
  return c;
}

template <int D>
Vec<double, D> force_at(const Column& c, std::size_t j) {
  Vec<double, D> out;
  std::copy_n(c.begin() + D * static_cast<std::ptrdiff_t>(j), D, out.m);
  return out;
}

/// W, moments over the radius of gyration of their object. Columns of contacts that `skip` says are zero; without
/// friction tangential ones, too.
template <class Skip>
Dense scaled_wrenches(const GroupModel& m, const GroupSample& s, const Skip& skip) {
  Dense W = s.W;
  for (int c = 0; c < W.cols; ++c) {
    const auto j = static_cast<std::size_t>(c / m.numbers);
    const bool out = skip(j) || (c % m.numbers > 0 && !(s.mu[j] > 0));
    for (int r = 0; r < W.rows; ++r) {
      double& value = W(r, c);
      value = out ? 0 : r % 6 < 3 ? value : value / gyration_radius(s.body[static_cast<std::size_t>(r / 6)]);
    }
  }
  return W;
}

/// The load on all objects likewise, and its size: weights and the rest of each object.
Column scaled_load(const GroupModel& m, const GroupSample& s, double& size) {
  Column w;
  size = 0;
  for (std::size_t k = 0; k < s.body.size(); ++k) {
    const double radius = gyration_radius(s.body[k]);
    double rest = 0, weight = 0;
    for (int i = 0; i < 6; ++i) {
      const double value = i < 3 ? s.load[k][i] : s.load[k][i] / radius;
      const double own = i < 3 ? s.body[k].mass * m.gravity[i] : 0;
      w.push_back(value);
      weight += own * own;
      rest += (value - own) * (value - own);
    }
    size += std::sqrt(weight) + std::sqrt(rest);
  }
  return w;
}

double length(const Column& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}

/// What W c + w leaves, with the c that leaves least (no cones).
double unbalanced(const Dense& W, Column w) {
  const Column part = multiplied(W, least_squares(W, w));
  for (std::size_t k = 0; k < w.size(); ++k) w[k] -= part[k];
  return length(w);
}

struct GroupBalance {
  double resisted, imbalance;
};

/// Whether contact forces within the cones can balance every object, and what the fingers' commanded forces leave
/// unbalanced, whatever forces pass between objects and fixtures. Bits of `left_out`: contacts that take no part.
template <int D>
GroupBalance balance_group(const GroupModel& m, const GroupSample& s, std::uint32_t left_out) {
  const auto out = [&](std::size_t j) { return (left_out >> j & 1) != 0; };
  double size = 0;
  const Column w = scaled_load(m, s, size);
  GroupBalance answer{NAN, 0};
  // The force with which a finger's torques press on contacts that do not move; where its joints cannot press, the
  // commanded one.
  Column f;
  for (std::size_t j = 0; j < s.place.size(); ++j) {
    const Vec3<double> told = transpose_times(s.place[j].E, s.told[j]);
    f.insert(f.end(), told.m, told.m + 3);
    const GroupContact& c = m.contacts[j];
    if (D > 3) f.push_back(c.torsion_radius > 0 ? dot(c.twist, column(s.place[j].E, 0)) / c.torsion_radius : 0);
  }
  Column moving = multiplied(s.A_man, f);
  for (std::size_t k = 0; k < f.size(); ++k) moving[k] += s.b_man[k];
  const Column less = least_squares(s.A_man, moving);
  for (std::size_t k = 0; k < f.size(); ++k) f[k] -= less[k];
  Column left = multiplied(scaled_wrenches(m, s, out), f);
  for (std::size_t k = 0; k < w.size(); ++k) left[k] += w[k];
  const auto not_passive = [&](std::size_t j) { return out(j) || m.contacts[j].partner.kind == Kind::kFinger; };
  if (size > 0) answer.imbalance = unbalanced(scaled_wrenches(m, s, not_passive), left) / size;

  // A load beyond the range of W is certified by linear algebra; within it, W c + w = 0 is W^T M^-1 (W c + w) = 0, a
  // problem of contacts at rest.
  if (unbalanced(scaled_wrenches(m, s, out), w) > 1e-6 * size) return {0, answer.imbalance};
  int kept[kMaxGroupContacts], n = 0;
  for (std::size_t j = 0; j < s.place.size(); ++j)
    if (!out(j)) kept[n++] = static_cast<int>(j);
  double load = 0;
  for (const double b : s.b_obj) load = std::max(load, std::abs(b));
  std::vector<double> room(static_cast<std::size_t>(solvers::RestProblem<D>::room(n)));
  const solvers::RestProblem<D> p{n, load > 0 ? 1e-9 * load : 1.0, room.data()};
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(kept[i]);
    for (int r = 0; r < D; ++r) {
      const int row = D * kept[i] + r;
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < D; ++k) p.A(D * i + r, D * j + k) = s.A_obj(row, D * kept[j] + k);
      p.b()[D * i + r] = s.b_obj[static_cast<std::size_t>(row)];
      p.c()[D * i + r] = r == 0 ? std::max(f[D * at], 1e-3 * size) : 0;  // within the cone, of the right size
    }
    p.mu()[i] = s.mu[at];
    p.limit()[i] = m.contacts[at].force_limit;
    p.least()[i] = 0;
  }
  answer.resisted = solvers::rest_forces(p).exists;
  return answer;
}

template <int D>
Metrics<double, kAnyContacts> group_metrics(const GroupModel& m, const GroupSample& s) {
  Metrics<double, kAnyContacts> out;
  out.reached = s.reached ? 1 : 0;
  out.margin = out.critical = out.load_factor = out.resisted_force_radius = out.min_grip_force = NAN;
  out.least_singular_value = out.resisted = out.imbalance = NAN;
  out.first = m.slides ? -1 : 0;
  const int n = static_cast<int>(s.place.size());
  for (int j = 0; j < n; ++j) out.tangent_t[j] = out.tangent_o[j] = NAN;
  if (!s.reached) return out;
  // Where contacts slide, none sticks.
  if (const Column stick = m.slides ? Column() : stick_force(m, s); !stick.empty()) {
    out.margin = INFINITY;
    out.critical = -INFINITY;
    for (int j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const Vec<double, D> c = force_at<D>(stick, at);
      const bool slippery = m.contacts[at].law == ContactLaw::kFrictionless;
      // Without friction a contact that presses has all of its margin.
      const double margin = slippery && c[0] > 0 ? 1 : friction_margin(c, s.mu[at]);
      if (margin < out.margin) out.first = j;
      out.margin = std::min(out.margin, margin);
      out.critical = std::max(out.critical, required_friction(c));
      const double limit = s.mu[at] * c[0];
      out.tangent_t[j] = limit > 0 ? c[1] / limit : INFINITY;
      out.tangent_o[j] = limit > 0 ? c[2] / limit : INFINITY;
    }
  }
  const GroupBalance balance = balance_group<D>(m, s, 0);
  out.resisted = balance.resisted;
  out.imbalance = balance.imbalance;
  return out;
}

template <int D>
void settle_group(const GroupModel& m, const HeldRule& held, const GroupSample& s, const double* problem,
                  SampleResult<double, kAnyContacts, D>& v) {
  if (v.outcome != kPending) return;
  const int n = static_cast<int>(s.place.size());
  std::vector<double> limits, room(static_cast<std::size_t>(solvers::RestProblem<D>::room(n)));
  for (const GroupContact& c : m.contacts) limits.push_back(c.force_limit);
  const std::uint32_t left_out = opened(v, held);
  look_again({problem, v.c.m, v.a.m, limits.data(), held.acceleration, n, n, left_out}, room.data(), held, v);
  if (v.outcome != kPending) return;
  const GroupBalance balance = balance_group<D>(m, s, left_out);
  v.resisted = balance.resisted;
  v.imbalance = balance.imbalance;
  settle_pending(held, v);
}

}  // namespace

std::vector<NetWrench> net_wrenches(const GroupSample& s, const Column& c) {
  const Column wrench = multiplied(s.W, c);
  std::vector<NetWrench> out(s.body.size());
  for (std::size_t k = 0; k < out.size(); ++k)
    for (int i = 0; i < 3; ++i) {
      const std::size_t row = 6 * k + static_cast<std::size_t>(i);
      out[k].force[i] = wrench[row] + s.load[k][i];
      out[k].moment[i] = wrench[row + 3] + s.load[k][i + 3];
    }
  return out;
}

std::vector<double> accelerations(const GroupSample& s, const Column& c) {
  const std::vector<NetWrench> net = net_wrenches(s, c);
  std::vector<double> out;
  for (std::size_t k = 0; k < net.size(); ++k) {
    const auto& [force, moment] = net[k];
    const double turn = gyration_radius(s.body[k]) * norm(s.body[k].inverse_inertia * moment);
    out.push_back(std::max(norm(force) / s.body[k].mass, turn));
  }
  return out;
}

template <int D>
std::vector<GroupSample> build_group(const GroupModel& m, const GroupRange& range, const GroupTiles<D>& t) {
  std::vector<GroupSample> samples;
  const auto draws = static_cast<std::int64_t>(m.draws.size());
  for (std::int64_t i = 0; i < range.count; ++i) {
    double* u = t.uniforms + (i / batch::kTile) * draws * batch::kTile + i % batch::kTile;
    samples.push_back(
        evaluate_group(m, range.nominal ? nominal_group(m) : draw_group(m, range.first + i, u, batch::kTile)));
    const GroupSample& s = samples.back();
    solvers::FrictionProblem<double, kAnyContacts, D> p;
    const int rows = m.rows();
    // Along a contact without friction the object may slide: these rows are uncoupled, at rest.
    const auto counts = [&](int r) { return s.reached && m.bears(r); };
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < rows; ++c) p.A(r, c) = counts(r) && counts(c) ? s.A(r, c) : r == c ? 1 : 0;
      p.b[r] = counts(r) ? s.b(r) : 0;
    }
    for (int j = 0; j < rows / D; ++j) p.mu[j] = s.mu[static_cast<std::size_t>(j)];
    batch::store<double>(t.problems, i, p);
    batch::store<double>(t.metrics, i, group_metrics<D>(m, s));
  }
  return samples;
}

template <int D>
std::vector<ObjectHeld> conclude_group(const GroupModel& m, const HeldRule& held, double tolerance,
                                       const std::vector<GroupSample>& samples, const GroupTiles<D>& t) {
  const SampleCheck<kAnyContacts, D> check{tolerance, held, t.problems, t.metrics, t.candidates, t.second};
  std::vector<ObjectHeld> out;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const GroupSample& s = samples[k];
    const auto i = static_cast<std::int64_t>(k);
    auto v = check.template sample_result<double>(i);
    const std::vector<double> moves = accelerations(s, Column(v.c.m, v.c.m + m.rows()));
    v.acceleration = *std::max_element(moves.begin(), moves.end());
    settle_group<D>(m, held, s,
                    batch::tile_at<double, solvers::FrictionProblem<double, kAnyContacts, D>>(t.problems, i), v);
    for (const double a : moves) {
      const bool all = v.outcome == static_cast<int>(Outcome::kHeld);
      out.push_back(all                      ? ObjectHeld::kYes
                    : std::isnan(a)          ? ObjectHeld::kUnknown
                    : a <= held.acceleration ? ObjectHeld::kYes
                                             : ObjectHeld::kNo);
    }
    batch::store<double>(t.sample_results, i, v);
  }
  return out;
}

template std::vector<GroupSample> build_group(const GroupModel&, const GroupRange&, const GroupTiles<3>&);
template std::vector<GroupSample> build_group(const GroupModel&, const GroupRange&, const GroupTiles<4>&);
template std::vector<ObjectHeld> conclude_group(const GroupModel&, const HeldRule&, double,
                                                const std::vector<GroupSample>&, const GroupTiles<3>&);
template std::vector<ObjectHeld> conclude_group(const GroupModel&, const HeldRule&, double,
                                                const std::vector<GroupSample>&, const GroupTiles<4>&);

}  // namespace garra::grasp
