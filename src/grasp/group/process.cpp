#include "grasp/group/process.hpp"

#include <algorithm>
#include <cmath>

#include "garra/batch/on_device.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/study/study.hpp"
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

int rows_of_objects(const GroupModel& m) { return 6 * static_cast<int>(m.objects.size()); }

/// What decides whether forces balance a sample, in `memory`. Bits of `left_out`: contacts that take no part.
BalanceData balance_data(const GroupModel& m, const GroupSample& s, std::uint32_t left_out, double* memory) {
  const int n = static_cast<int>(m.contacts.size()), D = m.numbers;
  const BalanceData p = BalanceData::at(memory, rows_of_objects(m), m.rows(), n);
  Column radius;
  for (const Body<double>& body : s.body) radius.push_back(gyration_radius(body));
  for (int c = 0; c < m.rows(); ++c) {
    const bool counts = c % D == 0 || s.mu[static_cast<std::size_t>(c / D)] > 0;
    for (int r = 0; r < p.W.rows; ++r)
      p.W(r, c) = !counts ? 0 : r % 6 < 3 ? s.W(r, c) : s.W(r, c) / radius[static_cast<std::size_t>(r / 6)];
  }
  for (const auto& [from, to] : {std::pair{&s.A_man.m, p.A_man.m},
                                 {&s.A_obj.m, p.A_obj.m},
                                 {&s.b_man, p.b_man},
                                 {&s.b_obj, p.b_obj},
                                 {&s.mu, p.mu}})
    std::copy(from->begin(), from->end(), to);
  double size = 0;
  for (std::size_t k = 0; k < s.body.size(); ++k) {
    double rest = 0, weight = 0;
    for (int i = 0; i < 6; ++i) {
      const double value = i < 3 ? s.load[k][i] : s.load[k][i] / radius[k];
      const double own = i < 3 ? s.body[k].mass * m.gravity[i] : 0;
      p.load[6 * k + static_cast<std::size_t>(i)] = value;
      weight += own * own;
      rest += (value - own) * (value - own);
    }
    size += std::sqrt(weight) + std::sqrt(rest);
  }
  *p.size = size;
  for (int j = 0; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const GroupContact& c = m.contacts[at];
    const Vec3<double> told = transpose_times(s.place[at].E, s.told[at]);
    std::copy_n(told.m, 3, p.f + D * j);
    if (D > 3) p.f[D * j + 3] = c.torsion_radius > 0 ? dot(c.twist, column(s.place[at].E, 0)) / c.torsion_radius : 0;
    p.limit[j] = c.force_limit;
    p.out[j] = left_out >> j & 1;
    p.finger[j] = c.partner.kind == Kind::kFinger;
  }
  return p;
}

template <int D>
GroupBalance balance_of_sample(const GroupModel& m, const GroupSample& s, std::uint32_t left_out) {
  const int of_objects = rows_of_objects(m), rows = m.rows(), n = static_cast<int>(m.contacts.size());
  const int fields = BalanceData::fields(of_objects, rows, n);
  Column memory(static_cast<std::size_t>(fields + balance_room<D>(of_objects, rows)));
  return balance_group<D>(balance_data(m, s, left_out, memory.data()), n, memory.data() + fields);
}

template <int D>
Metrics<double, kAnyContacts> group_metrics(const GroupModel& m, const GroupSample& s, const GroupBalance* known) {
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
  const GroupBalance balance = known != nullptr ? *known : balance_of_sample<D>(m, s, 0);
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
  const GroupBalance balance = balance_of_sample<D>(m, s, left_out);
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
    batch::store<double>(t.metrics, i,
                         group_metrics<D>(m, s, range.balances == nullptr ? nullptr : range.balances + i));
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

std::int64_t most_balances(const GroupModel& m, const Device& device) {
  constexpr std::int64_t kMost = 1 << 15, kHostMemory = 1 << 30;
  const int of_objects = rows_of_objects(m), rows = m.rows();
  const auto numbers = BalanceData::fields(of_objects, rows, static_cast<int>(m.contacts.size())) + 2;
  const auto bytes = static_cast<std::int64_t>(sizeof(double)) * numbers;
  const auto room = static_cast<std::int64_t>(sizeof(double)) * balance_room<4>(of_objects, rows);
  const std::int64_t fit = how_many_fit(device, static_cast<std::uint64_t>(bytes + room));
  return std::min({kMost, kHostMemory / bytes / study::kBlock * study::kBlock, fit});
}

std::vector<GroupBalance> balance_on_device(const GroupModel& m, std::int64_t first, std::int64_t count,
                                            const Device& device) {
  const int of_objects = rows_of_objects(m), n = static_cast<int>(m.contacts.size());
  const auto fields = static_cast<std::int64_t>(BalanceData::fields(of_objects, m.rows(), n));
  std::vector<double> data(static_cast<std::size_t>(count * fields));
  std::vector<GroupBalance> out(static_cast<std::size_t>(count));
  batch::parallel_for(study_threads(device), count, [&](std::int64_t i) {
    const GroupSample s = evaluate_group(m, draw_group(m, first + i, nullptr, 0));
    // All contacts of a sample out of reach are left out: nothing is decided of it.
    static_cast<void>(balance_data(m, s, s.reached ? 0 : ~0u, data.data() + i * fields));
  });
  const auto run = [&](auto numbers) {
    batch::on_device(device, GroupBalances<numbers>{of_objects, n, count, data.data(), out.data()});
  };
  m.numbers > 3 ? run(std::integral_constant<int, 4>()) : run(std::integral_constant<int, 3>());
  return out;
}

template std::vector<GroupSample> build_group(const GroupModel&, const GroupRange&, const GroupTiles<3>&);
template std::vector<GroupSample> build_group(const GroupModel&, const GroupRange&, const GroupTiles<4>&);
template std::vector<ObjectHeld> conclude_group(const GroupModel&, const HeldRule&, double,
                                                const std::vector<GroupSample>&, const GroupTiles<3>&);
template std::vector<ObjectHeld> conclude_group(const GroupModel&, const HeldRule&, double,
                                                const std::vector<GroupSample>&, const GroupTiles<4>&);

}  // namespace garra::grasp
