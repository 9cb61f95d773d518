// climb::make_study: loads of both moves of the gait, pad forces of every hold and instant, outcomes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "garra/contact.hpp"
#include "garra/platform_dynamics.hpp"
#include "garra/platform_study.hpp"
#include "garra/study/system.hpp"
#include "garra/wrench_balance.hpp"
#include "study/count_blocks.hpp"

namespace garra::climb {
namespace {

constexpr std::size_t kLegs = platform::kLegs;
constexpr std::int64_t kAtOnce = 16, kAtOnceOnGpu = 256;  ///< samples whose contact problems are in memory
constexpr double kFree = 1;  ///< motion of a ring per unbalanced newton [m/N]: far beyond every allowed slip

/// Inputs of a sample before those of the holds: a squeeze and the friction of each pad.
enum Input : std::size_t { kPayload, kCom, kPush = kCom + 3, kDirection, kRadius, kHolds };
enum Output : int { kMargin, kPeakForce, kFailedAt, kOutputs };
/// Events of SystemAnswer; failures in the order that decides at one instant.
constexpr double kClimbed = 1, kLimit = 0, kSingular = -1, kForce = -2, kNotResisted = -3, kSlips = -4;

std::size_t to_size(int n) { return static_cast<std::size_t>(n); }
Vec3<double> up(double z) { return {{0, 0, z}}; }

/// One move of a cycle at its instants, by the machine whose base holds.
struct Move {
  bool upper = false;                   ///< the upper ring moves
  std::vector<double> height;           ///< [t] of the moving ring above the holding one [m]
  std::vector<double> acceleration;     ///< [t] [m/s^2]
  std::vector<bool> limit;              ///< [t] a stroke, cone or collision
  std::vector<double> sigma_min;        ///< [t]
  std::vector<double> force, wrench;    ///< [t,6] actuators, wrench on the holding ring; both without load
  std::vector<double> force_of[kLegs];  ///< [t,6] actuators, of each unit of a wrench on the moving ring
};

struct Climber {
  Scenario of;
  Move move[2];

  [[nodiscard]] std::size_t holds() const { return 2 * to_size(of.gait.cycles); }
  [[nodiscard]] std::size_t pads() const { return to_size(of.ring.pads); }
  [[nodiscard]] std::size_t instants() const { return to_size(of.gait.instants); }
  [[nodiscard]] std::size_t inputs() const { return kHolds + holds() * (1 + pads()); }
  [[nodiscard]] double step() const { return of.gait.duration / (of.gait.instants - 1); }
};

/// Minus the forces and moments of the base's joints, at the base's frame [n,6].
std::vector<double> base_wrench(const platform::Platform& p, const std::vector<double>& height,
                                const platform::InverseDynamics& d) {
  std::vector<double> out;
  for (std::size_t k = 0; k < height.size(); ++k) {
    Vec3<double> force = Vec3<double>::zero(), moment = force;
    for (std::size_t i = 0; i < kLegs; ++i) {
      const platform::Leg& leg = p.leg[i];
      const double* f = d.universal_force.data() + 3 * (kLegs * k + i);
      const Vec3<double> joint{{f[0], f[1], f[2]}};
      const Vec3<double> about = cross(leg.axis, cross(up(height[k]) + leg.anchor - leg.base, leg.axis));
      force = force - joint;
      moment = moment - cross(leg.base, joint) - (d.universal_moment[kLegs * k + i] / norm(about)) * about;
    }
    out.insert(out.end(), {force[0], force[1], force[2], moment[0], moment[1], moment[2]});
  }
  return out;
}

Move make_move(const Scenario& s, bool upper) {
  const platform::Platform machine = upper ? s.platform : inverted(s.platform, s.ring.mass);
  Move move;
  move.upper = upper;
  platform::Poses poses;
  platform::Motion motion;
  const Gait& g = s.gait;
  for (int k = 0; k < g.instants; ++k) {
    // From rest to rest by the quintic law. Seen from the upper ring, the lower one comes nearer from below.
    const double x = static_cast<double>(k) / (g.instants - 1), start = upper ? g.low : -g.low - g.stride;
    const double a = g.stride * 60 * x * (1 - x) * (1 - 2 * x) / (g.duration * g.duration);
    move.height.push_back(start + g.stride * x * x * x * (10 + x * (6 * x - 15)));
    move.acceleration.push_back(a);
    const double v = g.stride * 30 * x * x * (1 - x) * (1 - x) / g.duration;
    poses.position.insert(poses.position.end(), {0, 0, move.height.back()});
    poses.quaternion.insert(poses.quaternion.end(), {1, 0, 0, 0});
    motion.velocity.insert(motion.velocity.end(), {0, 0, v, 0, 0, 0});
    motion.acceleration.insert(motion.acceleration.end(), {0, 0, a, 0, 0, 0});
  }
  platform::InverseOptions options;
  options.limits = options.conditioning = true;
  const Device host{Executor::kScalar, 1};
  const auto at = platform::inverse_kinematics({machine}, poses, {}, options, host);
  for (const std::uint32_t bits : at.mask) move.limit.push_back(bits != 0);
  move.sigma_min = at.sigma_min;
  const auto dynamics = [&](const std::vector<double>& wrench) {
    return platform::inverse_dynamics({machine}, poses, motion, wrench, platform::Form::kMinimal, host);
  };
  const platform::InverseDynamics own = dynamics({});
  move.force = own.force;
  move.wrench = base_wrench(machine, move.height, own);
  for (std::size_t k = 0; k < move.wrench.size(); ++k)
    if (k % 6 < 3) move.wrench[k] += (upper ? s.ring.mass : s.platform.mass) * machine.gravity[static_cast<int>(k % 6)];
  for (std::size_t c = 0; c < 6; ++c) {
    std::vector<double> unit(own.force.size());
    for (std::size_t k = c; k < unit.size(); k += 6) unit[k] = 1;
    move.force_of[c] = dynamics(unit).force;
    for (std::size_t k = 0; k < unit.size(); ++k) move.force_of[c][k] -= own.force[k];
  }
  return move;
}

Climber make_climber(const Scenario& s) {
  const auto require = [](bool good, const char* problem, const char* remedy) {
    if (!good) throw Error(ExitCode::kUsage, std::string("platform_climb: ") + problem, remedy);
  };
  require(s.ring.pads >= 3 && s.ring.pads <= kMostPads, "a ring holds with three to eight pads", "Change ring.pads.");
  require(s.gait.cycles >= 1 && s.gait.cycles <= kMostCycles, "a climb has 1 to 20 cycles", "Change gait.cycles.");
  require(s.gait.instants >= 2 && s.gait.instants <= kMostInstants, "a move has 2 to 1001 instants",
          "Change gait.instants.");
  require(s.platform.mass > 0, "the platform has no masses", "Give the masses of the platform and of its legs.");
  double inside = std::numeric_limits<double>::infinity();
  for (const platform::Leg& leg : s.platform.leg)
    inside = std::min({inside, std::hypot(leg.base[0], leg.base[1]), std::hypot(leg.anchor[0], leg.anchor[1])});
  require(s.ring.trunk_radius.nominal() < inside, "the trunk does not fit between the joints of the legs",
          "Change ring.trunk_radius, or the platform.");
  return {s, {make_move(s, true), make_move(s, false)}};
}

/// Wrenches of unit pad forces at the ring's frame, [6][3 pads].
std::vector<double> wrench_matrix(const Ring& ring, double radius) {
  const int columns = 3 * ring.pads;
  std::vector<double> W(to_size(6 * columns));
  for (int pad = 0; pad < ring.pads; ++pad) {
    const auto angle = sincos(2 * std::numbers::pi * pad / ring.pads);
    const Vec3<double> n{{angle.cos, angle.sin, 0}}, t = up(1), arm = radius * n + up(ring.height);
    const Vec3<double> axes[] = {n, t, cross(n, t)};
    for (int d = 0; d < 3; ++d) {
      const Vec3<double> moment = cross(arm, axes[d]);
      for (int r = 0; r < 6; ++r) W[to_size(r * columns + 3 * pad + d)] = r < 3 ? axes[d][r] : moment[r - 3];
    }
  }
  return W;
}

/// Pads of every hold and instant of some samples, in this order, with the forces that they bear.
struct Grips {
  std::vector<double> W;              ///< [sample][6][3k]
  std::vector<double> wrench, force;  ///< [row][6]
  contact::Problems problems;
  contact::Solutions solved;
};

/// Actuator forces and the wrench on the holding ring at an instant, appended.
void append_loads(const Climber& c, const Move& move, std::size_t t, const double* x, Grips& to) {
  const auto way = sincos(x[kDirection]);
  const Vec3<double> arm{{x[kCom], x[kCom + 1], x[kCom + 2]}};
  // The payload is on the upper ring, which may be the one that holds.
  const Vec3<double> weight = x[kPayload] * (c.of.platform.gravity - up(move.upper ? move.acceleration[t] : 0));
  const Vec3<double> force = weight + Vec3<double>{{x[kPush] * way.cos, x[kPush] * way.sin, 0}};
  const Vec3<double> moment = cross(arm, weight);
  for (std::size_t i = 6 * t; i < 6 * t + 6; ++i) {
    double f = move.force[i];
    for (std::size_t k = 0; k < 6 && move.upper; ++k)
      f += move.force_of[k][i] * (k < 3 ? force[static_cast<int>(k)] : moment[static_cast<int>(k) - 3]);
    to.force.push_back(f);
  }
  const Vec3<double> at_holder = moment + cross(up(move.upper ? move.height[t] : 0), force);
  for (int k = 0; k < 6; ++k)
    to.wrench.push_back(move.wrench[6 * t + to_size(k)] + (k < 3 ? force[k] : at_holder[k - 3]));
}

/// (1) of the page: b of the pads under the wrench w, for A = W' F W + C.
void append_problem(const Climber& c, const double* W, const double* w, double squeeze, contact::Problems& to) {
  const std::size_t n = 3 * c.pads();
  const double radius = c.of.ring.trunk_radius.nominal(), turn = kFree / (radius * radius);
  const auto free = [&](std::size_t r) { return r < 3 ? kFree : turn; };
  const auto give = [&](std::size_t i) {
    return 1 / (i % 3 == 0 ? c.of.ring.normal_stiffness : c.of.ring.tangential_stiffness);
  };
  for (std::size_t i = 0; i < n; ++i) {
    double b = i % 3 == 0 ? -give(i) * squeeze : 0;
    for (std::size_t r = 0; r < 6; ++r) b += W[r * n + i] * free(r) * w[r];
    to.b.push_back(b);
    for (std::size_t j = 0; j < n; ++j) {
      double a = i == j ? give(i) : 0;
      for (std::size_t r = 0; r < 6; ++r) a += W[r * n + i] * free(r) * W[r * n + j];
      to.A.push_back(a);
    }
  }
}

/// Pads of the first `holds` holds of samples with these inputs.
Grips grip(const Climber& c, const std::vector<double>& inputs, std::size_t holds, const Device& device) {
  Grips out;
  out.problems.contacts = c.of.ring.pads;
  for (const double* x = inputs.data(); x != inputs.data() + inputs.size(); x += c.inputs()) {
    const std::vector<double> W = wrench_matrix(c.of.ring, x[kRadius]);
    out.W.insert(out.W.end(), W.begin(), W.end());
    for (std::size_t hold = 0; hold < holds; ++hold) {
      const double* const drawn = x + kHolds + hold * (1 + c.pads());
      for (std::size_t t = 0; t < c.instants(); ++t) {
        append_loads(c, c.move[hold % 2], t, x, out);
        append_problem(c, W.data(), out.wrench.data() + out.wrench.size() - 6, drawn[0], out.problems);
        out.problems.mu.insert(out.problems.mu.end(), drawn + 1, drawn + 1 + c.pads());
      }
    }
  }
  out.problems.count = static_cast<std::int64_t>(out.wrench.size() / 6);
  contact::Options options;
  options.wanted.merit = options.wanted.diagnostics = false;
  contact::solve(out.problems, options, device, out.solved);
  return out;
}

/// State of the pads at a row.
struct Hold {
  bool solved, held;
  double margin;
};
Hold hold_at(const Climber& c, const Grips& g, std::size_t row) {
  Hold out{true, true, 1};
  for (std::size_t pad = 0; pad < c.pads(); ++pad) {
    const std::size_t at = row * c.pads() + pad;
    const double *f = g.solved.c.data() + 3 * at, *a = g.solved.a.data() + 3 * at;
    if (!std::isfinite(f[0])) return {false, false, NAN};
    const double slid = std::sqrt(a[1] * a[1] + a[2] * a[2]), tangential = std::sqrt(f[1] * f[1] + f[2] * f[2]);
    out.held = out.held && slid <= c.of.slip && f[0] <= c.of.ring.force_limit;
    out.margin = std::min(out.margin, f[0] > 0 ? 1 - tangential / (g.problems.mu[at] * f[0]) : 0);
  }
  out.margin = std::max(out.margin, 0.0);
  return out;
}

/// The smaller one; NaN if either is NaN.
double smaller(double a, double b) { return b < a ? b : a + (b - b); }

class ClimbStudy final : public study::RowStudy {
 public:
  ClimbStudy(Climber climber, study::SystemWords words)
      : RowStudy(std::move(words), static_cast<int>(climber.inputs()), kOutputs), c_(std::move(climber)) {
    for (const study::SystemInput& input : this->words().inputs) drawn_.push_back(input.distribution);
  }

 protected:
  void evaluate(Executor executor, std::int64_t first, std::int64_t count, double* rows) const override {
    evaluate_on({executor, 1}, first, count, kAtOnce, rows);
  }
  void count_on_gpu(const Device& device, const study::RowsToCount& task) const override {
    study::Tally& t = task.tally;
    t = study::count_blocks(shape(), {t.first, t.count, 1}, [&] {
      return [&, rows = std::vector<double>()](std::int64_t at, std::int64_t n, study::Tally& tally,
                                               double* sums) mutable {
        rows.resize(static_cast<std::size_t>(batch::tiles_for(n) * batch::kTile * (task.sizes.row - 1)));
        evaluate_on(device, at, n, kAtOnceOnGpu, rows.data());
        study::RowCounting counting = task.counting;
        counting.first = at;
        counting.rows = rows.data();
        count_samples(counting, n, task.sizes, tally, sums);
      };
    });
  }

 private:
  /// A field of sample i: the event, outputs, uniform numbers of the inputs.
  [[nodiscard]] double& field(double* rows, std::int64_t i, std::size_t f) const {
    const auto fields = static_cast<std::int64_t>(1 + kOutputs + c_.inputs());
    return rows[((i / batch::kTile) * fields + static_cast<std::int64_t>(f)) * batch::kTile + i % batch::kTile];
  }

  void evaluate_on(const Device& device, std::int64_t first, std::int64_t count, std::int64_t at_once,
                   double* rows) const {
    for (std::int64_t from = 0; from < count; from += at_once) {
      const auto n = static_cast<std::size_t>(std::min(at_once, count - from));
      std::vector<double> u(c_.inputs()), x(n * c_.inputs());
      for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t at = from + static_cast<std::int64_t>(i);
        const auto index = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(first + at));
        study::draw_inputs(plan().seed, index, drawn_.data(), static_cast<int>(c_.inputs()), u.data(),
                           x.data() + i * c_.inputs());
        for (std::size_t k = 0; k < u.size(); ++k) field(rows, at, 1 + kOutputs + k) = u[k];
      }
      const Grips grips = grip(c_, x, c_.holds(), device);
      for (std::size_t i = 0; i < n; ++i) {
        const std::vector<double> answer = judge(grips, x.data() + i * c_.inputs(), i);
        for (std::size_t k = 0; k < answer.size(); ++k) field(rows, from + static_cast<std::int64_t>(i), k) = answer[k];
      }
    }
  }

  /// Event and outputs of a sample of the grips.
  [[nodiscard]] std::vector<double> judge(const Grips& g, const double* x, std::size_t sample) const {
    double event = kClimbed, margin = 1, peak = 0, failed_at = NAN;
    for (std::size_t k = 0; k < c_.holds() * c_.instants(); ++k) {
      const std::size_t row = sample * c_.holds() * c_.instants() + k, hold = k / c_.instants(), t = k % c_.instants();
      const Move& move = c_.move[hold % 2];
      const Hold pads = hold_at(c_, g, row);
      double most = 0;
      for (std::size_t i = 0; i < kLegs; ++i) most = std::max(most, std::abs(g.force[row * kLegs + i]));
      margin = smaller(margin, pads.margin);
      peak = std::max(peak, most);
      if (event != kClimbed) continue;
      event = move.limit[t]                             ? kLimit
              : move.sigma_min[t] < c_.of.near_singular ? kSingular
              : most > c_.of.force_limit                ? kForce
              : pads.held                               ? kClimbed
              : is_beyond(g, x[kRadius], sample, row)   ? kNotResisted
              : pads.solved                             ? kSlips
                                                        : NAN;
      if (event != kClimbed)
        failed_at = static_cast<double>(hold) * c_.of.gait.duration + static_cast<double>(t) * c_.step();
    }
    return {event, margin, peak, failed_at};
  }

  /// No pad forces in their cones and limits balance the wrench.
  [[nodiscard]] bool is_beyond(const Grips& g, double length, std::size_t sample, std::size_t row) const {
    const std::size_t n = 3 * c_.pads();
    std::vector<double> W(g.W.data() + sample * 6 * n, g.W.data() + (sample + 1) * 6 * n),
        w(g.wrench.data() + row * 6, g.wrench.data() + (row + 1) * 6), limit(c_.pads(), c_.of.ring.force_limit);
    for (std::size_t k = 3 * n; k < W.size(); ++k) W[k] /= length;
    for (std::size_t k = 3; k < 6; ++k) w[k] /= length;
    const auto balance = contact::balance(
        {c_.of.ring.pads, 1, W, w, std::span(g.problems.mu).subspan(row * c_.pads(), c_.pads()), limit},
        {Executor::kScalar, 1});
    return balance.decision[0] == contact::ResistanceStatus::kImpossible;
  }

  Climber c_;
  std::vector<Distribution> drawn_;
};

std::vector<study::SystemInput> name_inputs(const Climber& c) {
  const Scenario& s = c.of;
  std::vector<study::SystemInput> out = {{"payload", "kg", s.payload}};
  for (int k = 0; k < 3; ++k) out.push_back({std::string("payload_") + "xyz"[k], "m", s.payload_com[to_size(k)]});
  out.push_back({"push", "N", s.push});
  out.push_back({"push_direction", "rad",
                 s.push.is_constant() && s.push.a == 0 ? Distribution::constant(0)
                                                       : Distribution::uniform(0, 2 * std::numbers::pi)});
  out.push_back({"trunk_radius", "m", s.ring.trunk_radius});
  for (std::size_t hold = 0; hold < c.holds(); ++hold) {
    out.push_back({"hold " + std::to_string(hold) + " grip_force", "N", s.ring.squeeze});
    for (std::size_t pad = 0; pad < c.pads(); ++pad)
      out.push_back({"contact " + std::to_string(hold * c.pads() + pad) + " friction", "1", s.ring.friction});
  }
  return out;
}

}  // namespace

platform::Platform inverted(const platform::Platform& platform, double mass) {
  platform::Platform out = platform;
  const Mat3<double> R = platform::rotation_matrix(platform.home_turn);
  out.home = -transpose_times(R, platform.home);
  out.home_turn = platform::conjugate(platform.home_turn);
  out.name += ", upside down";
  out.mass = mass;
  out.inertia = (mass / platform.mass) * platform.inertia;
  for (platform::Leg& leg : out.leg) {
    std::swap(leg.base, leg.anchor);
    std::swap(leg.lower, leg.upper);
    std::swap(leg.universal_cone, leg.spherical_cone);
  }
  return platform::checked(out);
}

std::unique_ptr<study::RowStudy> make_study(const Scenario& scenario) {
  Climber c = make_climber(scenario);
  double most = 1;
  for (const Move& move : c.move)
    for (const double f : move.force) most = std::max(most, std::abs(f));
  const Gait& g = scenario.gait;
  std::vector<study::SystemOutput> outputs = {
      {"friction_margin", "1", "Smallest friction margin", 0, 1, 200, "Of the pad nearest to slipping; at 0 it slips."},
      {"peak_force", "N", "Largest actuator force", 0, 4 * most, 200, "Of any actuator at any instant."},
      {"failed_at", "s", "First failure", 0, 2 * g.cycles * g.duration, 200, "Of the climbs that fail."}};
  study::SystemWords words{"platform_climb",
                           scenario.title,
                           "climbed",
                           name_inputs(c),
                           std::move(outputs),
                           scenario.plan,
                           {"limit", "singular", "force", "not_resisted", "slips"},
                           "every ring holds in every cycle, and the platform stays within its limits"};
  return std::make_unique<ClimbStudy>(std::move(c), std::move(words));
}

Series nominal(const Scenario& scenario) {
  const Climber c = make_climber(scenario);
  std::vector<double> x;
  for (const study::SystemInput& input : name_inputs(c)) x.push_back(input.distribution.nominal());
  x[kPush] = 0;
  Grips grips = grip(c, x, 2, {Executor::kScalar, 1});
  Series out;
  for (std::size_t k = 0; k < 2 * c.instants(); ++k) {
    const Move& move = c.move[k / c.instants()];
    const std::size_t t = k % c.instants();
    const double top = c.of.gait.low + c.of.gait.stride;
    out.time.push_back((move.upper ? 0 : c.of.gait.duration) + static_cast<double>(t) * c.step());
    out.lower.push_back(move.upper ? 0 : top + move.height[t]);
    out.upper.push_back(move.upper ? move.height[t] : top);
    out.friction_margin.push_back(hold_at(c, grips, k).margin);
    out.sigma_min.push_back(move.sigma_min[t]);
  }
  out.force = std::move(grips.force);
  out.wrench = std::move(grips.wrench);
  return out;
}

}  // namespace garra::climb
