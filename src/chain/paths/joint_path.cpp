// check_path of joint values: singular values at samples, bounds between them (docs/theory/chain.md, "Paths").
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "garra/chain_eval.hpp"
#include "garra/chain_generate.hpp"
#include "garra/core/error.hpp"

namespace garra::chain {

namespace {

/// A joint's values along one piece, as a cubic of u in [0, 1] by its Bernstein coefficients.
using Cubic = std::array<double, 4>;

double at(const Cubic& b, double u) {
  const double v = 1 - u;
  return v * v * v * b[0] + 3 * u * v * (v * b[1] + u * b[2]) + u * u * u * b[3];
}

/// Bound of the speed dq/du between u and v: largest coefficient of the quadratic on this interval.
double fastest(const Cubic& b, double u, double v) {
  const double first = b[1] - b[0], second = b[2] - b[1], third = b[3] - b[2];
  const auto blossom = [&](double x, double y) {
    return std::abs((1 - x) * (1 - y) * first + (x * (1 - y) + y * (1 - x)) * second + x * y * third);
  };
  return 3 * std::max({blossom(u, u), blossom(u, v), blossom(v, v)});
}

/// Least and largest value between u and v.
std::pair<double, double> extremes(const Cubic& b, double u, double v) {
  constexpr double kRounding = 1e-12;                              // of a value between, beyond both ends
  const auto [low, high] = std::minmax({b[0], b[1], b[2], b[3]});  // no value is beyond them, rounding aside
  std::pair<double, double> out = std::minmax({std::clamp(at(b, u), low, high), std::clamp(at(b, v), low, high)});
  const double first = b[1] - b[0], second = b[2] - b[1], third = b[3] - b[2];
  // Roots of the derivative: first (1 - x)^2 + 2 second x (1 - x) + third x^2.
  const double square = first - 2 * second + third, half = second - first, rest = half * half - square * first;
  if (!(rest >= 0)) return out;
  const double far = -(half + std::copysign(std::sqrt(rest), half));
  for (const double x : {far / square, first / far}) {
    if (!(x > u && x < v)) continue;
    const double value = at(b, x);
    if (value < out.first - kRounding) out.first = value;
    if (value > out.second + kRounding) out.second = value;
  }
  return out;
}

class JointFollower {
 public:
  JointFollower(const Robot& robot, const JointPath& path, const PathOptions& options, const Device& device)
      : scaled_(robot),
        joints_(static_cast<std::size_t>(robot.joints)),
        pieces_(path.q.size() / joints_ - 1),
        time_(path.time),
        options_(options),
        device_(device) {
    make_pieces(path);
    take_unit();
  }

  PathCheck run() {
    std::vector<double> s;
    const auto pieces = static_cast<int>(pieces_);
    const int each = std::max(1, (options_.samples - 2 + pieces) / pieces);
    for (int k = 0; k < pieces; ++k)
      for (int i = 0; i < each; ++i) s.push_back(k + static_cast<double>(i) / each);
    s.push_back(pieces);
    for (int round = 0; !s.empty(); ++round) {
      add_samples(s);
      s.clear();
      if (round == options_.refinements) break;
      for (auto a = samples_.begin(), b = std::next(a); b != samples_.end(); a = b++) {
        const auto [low, high] = std::minmax(a->second.sigma, b->second.sigma);
        if (high > kNone && bound(*a, *b) < 0.5 * low) s.push_back(0.5 * (a->first + b->first));
      }
    }
    return collect();
  }

 private:
  static constexpr double kNone = 1e-9;  ///< intervals with less at both ends are singular all along

  struct Sample {
    std::vector<double> q;
    double sigma;
  };
  using Place = std::pair<const double, Sample>;

  void make_pieces(const JointPath& path) {
    const auto time = [&](std::size_t k) { return time_.empty() ? static_cast<double>(k) : time_[k]; };
    const auto q = [&](std::size_t k, std::size_t i) { return path.q[k * joints_ + i]; };
    const auto velocity = [&](std::size_t k, std::size_t i) {
      if (k == 0 || k == pieces_) return 0.0;
      return (q(k + 1, i) - q(k - 1, i)) / (time(k + 1) - time(k - 1));
    };
    for (std::size_t k = 0; k < pieces_; ++k)
      for (std::size_t i = 0; i < joints_; ++i) {
        const double a = q(k, i), b = q(k + 1, i), third = (time(k + 1) - time(k)) / 3;
        const bool straight = path.kind == JointPath::Kind::kStraight;
        cubics_.push_back({a, straight ? a + (b - a) / 3 : a + third * velocity(k, i),
                           straight ? b - (b - a) / 3 : b - third * velocity(k + 1, i), b});
      }
  }

  /// Lengths over the unit, which is that of AllSolutions::check_path; how far the tool is from each axis at most.
  void take_unit() {
    std::vector<double> length(joints_ + 1, norm(scaled_.tool.p));
    for (std::size_t i = 0; i < joints_; ++i) {
      const JointForm<double>& link = scaled_.form[i];
      length[i] = norm(vec3(link.a, link.b, link.d));
    }
    double sum = 0;
    for (const double x : length) sum += x;
    unit_ = sum > 0 ? sum / static_cast<double>(joints_ + 1) : 1;
    for (JointForm<double>& link : scaled_.form) link.a /= unit_, link.b /= unit_, link.d /= unit_;
    scaled_.tool.p = (1 / unit_) * scaled_.tool.p;
    reach_.resize(joints_);
    double reach = length[joints_] / unit_;
    for (std::size_t i = joints_; i-- > 0;) {
      double travel = 0;
      for (std::size_t k = i; is_slide(i) && k < cubics_.size(); k += joints_)
        for (const double x : cubics_[k]) travel = std::max(travel, std::abs(x) / unit_);
      reach += travel;
      reach_[i] = is_slide(i) ? 1 : reach;
      reach += length[i] / unit_;
    }
  }
  [[nodiscard]] bool is_slide(std::size_t i) const { return scaled_.joint[i].prismatic; }
  [[nodiscard]] std::size_t piece(double s) const { return std::min(static_cast<std::size_t>(s), pieces_ - 1); }

  void add_samples(const std::vector<double>& s) {
    std::vector<double> q;
    for (const double x : s)
      for (std::size_t i = 0; i < joints_; ++i) {
        const double value = at(cubics_[piece(x) * joints_ + i], x - static_cast<double>(piece(x)));
        samples_[x].q.push_back(value);
        q.push_back(is_slide(i) ? value / unit_ : value);
      }
    const auto count = static_cast<std::int64_t>(s.size());
    const Results found = evaluate(scaled_, StateView(count, q), Output::kSmallestSingularValue, {}, device_);
    for (std::size_t n = 0; n < s.size(); ++n) samples_[s[n]].sigma = found.smallest_singular_value[n];
  }

  /// Bound of |dq_i/ds| between samples.
  [[nodiscard]] double speed(double from, double to, std::size_t i) const {
    const auto k = static_cast<double>(piece(from));
    return fastest(cubics_[piece(from) * joints_ + i], from - k, to - k);
  }

  /// sigma between samples is at least this: it falls no faster than the Jacobian changes, column by column.
  [[nodiscard]] double bound(const Place& a, const Place& b) const {
    std::vector<double> fast(joints_);
    double behind = 0;  // of joint k and those behind it, sum of |d(place of the tool)| per angle of k
    for (std::size_t i = 0; i < joints_; ++i) {
      fast[i] = speed(a.first, b.first, i) / (is_slide(i) ? unit_ : 1);
      behind += fast[i] * reach_[i];
    }
    double turn = 0, squares = 0;  // turn: rate of the joints before
    for (std::size_t k = 0; k < joints_; ++k) {
      const double moved = turn * reach_[k] + (is_slide(k) ? 0 : behind), turned = is_slide(k) ? 0 : turn;
      squares += moved * moved + turned * turned;
      behind -= fast[k] * reach_[k];
      if (!is_slide(k)) turn += fast[k];
    }
    const double both = a.second.sigma + b.second.sigma, fall = std::sqrt(squares) * (b.first - a.first);
    return std::min({0.5 * (both - fall), a.second.sigma, b.second.sigma});
  }

  PathCheck collect() const {
    PathCheck out{.joints = scaled_.joints, .unit = unit_, .s = {}, .branch = {PathBranch{}}, .undecided = {}};
    PathBranch& branch = out.branch.front();
    branch.sigma_bound = branch.limit_distance = std::numeric_limits<double>::infinity();
    for (auto a = samples_.begin(), b = std::next(a);; a = b++) {
      out.s.push_back(a->first);
      branch.q.insert(branch.q.end(), a->second.q.begin(), a->second.q.end());
      branch.sigma.push_back(a->second.sigma);
      if (b == samples_.end()) break;
      pass(*a, *b, out);
    }
    branch.sigma_bound = std::max(branch.sigma_bound, 0.0);
    branch.limit_bound = branch.limit_distance;
    choose_best(scaled_, PathCriterion::kSigma, {}, out);
    return out;
  }

  /// Bounds and speeds of an interval.
  void pass(const Place& a, const Place& b, PathCheck& out) const {
    PathBranch& branch = out.branch.front();
    const double sigma = bound(a, b);
    branch.sigma_bound = std::min(branch.sigma_bound, sigma);
    if (!(sigma > 0)) {
      if (!out.undecided.empty() && out.undecided.back() == a.first)
        out.undecided.back() = b.first;
      else
        out.undecided.insert(out.undecided.end(), {a.first, b.first});
    }
    for (std::size_t i = 0; i < joints_; ++i) {
      const Joint& joint = scaled_.joint[i];
      const auto k = piece(a.first);
      const double start = static_cast<double>(k), fast = speed(a.first, b.first, i);
      const auto [low, high] = extremes(cubics_[k * joints_ + i], a.first - start, b.first - start);
      const double room = std::min(low - joint.lower, joint.upper - high);
      if (room < branch.limit_distance) branch.limit_distance = room, branch.limit_joint = static_cast<int>(i);
      if (time_.empty() || !std::isfinite(joint.velocity_limit)) continue;
      const double seconds = time_[piece(a.first) + 1] - time_[piece(a.first)];
      branch.speed_share = std::max(branch.speed_share, fast / seconds / joint.velocity_limit);
    }
  }

  Robot scaled_;  ///< lengths over the unit
  std::size_t joints_, pieces_;
  std::span<const double> time_;
  const PathOptions& options_;
  const Device& device_;
  std::vector<Cubic> cubics_;  ///< [piece][joint]
  double unit_ = 1;
  std::vector<double> reach_;         ///< of turning joints, over the unit; 1 of slides
  std::map<double, Sample> samples_;  ///< by s
};

void check(const Robot& robot, const JointPath& path, const PathOptions& options) {
  const auto refuse = [](const std::string& problem) { throw Error(ExitCode::kUsage, "path: " + problem, ""); };
  const auto joints = static_cast<std::size_t>(robot.joints), rows = path.q.size() / joints;
  require_uncoupled(robot, "a path of joint values");
  if (path.q.size() % joints != 0 || rows < 2) refuse("fewer than two rows of joint values [k,j]");
  for (const double x : path.q)
    if (!std::isfinite(x)) refuse("a joint value is not finite");
  if (!path.time.empty() && path.time.size() != rows) refuse("times are not one for each row of joint values");
  if (std::adjacent_find(path.time.begin(), path.time.end(), [](double a, double b) { return !(a < b); }) !=
      path.time.end())
    refuse("times do not ascend");
  if (options.samples < 2) refuse("fewer than two samples");
  if (options.refinements < 0 || options.refinements > 30) refuse("refinements are not in 0 .. 30");
  if (!options.q0.empty()) refuse("joint values have one branch: leave out q0");
}

}  // namespace

PathCheck check_path(const Robot& robot, const JointPath& path, const PathOptions& options, const Device& device) {
  check(robot, path, options);
  return JointFollower(robot, path, options, device).run();
}

}  // namespace garra::chain
