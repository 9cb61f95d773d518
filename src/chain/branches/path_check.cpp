// AllSolutions::check_path: solutions at samples of a path, linked to branches by Newton-Kantorovich
// (docs/theory/chain.md, "Paths").
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "chain/branches/prepared.hpp"
#include "chain/model/tool_poses.hpp"
#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"
#include "garra/math/extreme_singular_values.hpp"
#include "garra/math/rotation_vector.hpp"
#include "garra/math/screw_algebra.hpp"

namespace garra::chain {

namespace {

using branches::kLoop;
using Joints6 = Vec<double, kLoop>;

constexpr double kTurn = 2 * M_PI;

/// One piece of a path: from the first pose on by three motions in world axes, each by its own share. Only splines have
/// more than one.
struct Piece {
  using Motions = std::array<Vec3<double>, 3>;
  Pose<double> from;
  Motions turn, shift;  ///< rotation vectors; displacements, or linear part of the screw about the tool's first place
  ToolPath::Kind kind;

  [[nodiscard]] std::array<double, 3> shares(double u) const {
    const double v = 1 - u;
    if (kind == ToolPath::Kind::kSpline) return {1 - v * v * v, u * u * (3 - 2 * u), u * u * u};
    return {u, 0, 0};
  }
  [[nodiscard]] Pose<double> at(double u) const {
    if (kind == ToolPath::Kind::kScrew) {
      const Pose<double> moved = exp(Screw<double>{u * turn[0], u * shift[0]});
      return {moved.R * from.R, from.p + moved.p};
    }
    Pose<double> to = from;
    for (std::size_t k = 0; k < 3; ++k) {
      to.R = rotation_matrix(quaternion_of_turn(shares(u)[k] * turn[k])) * to.R;
      to.p = axpy(shares(u)[k], shift[k], to.p);
    }
    return to;
  }
  /// Bounds of the angle of the tool's turn and of the length of its way between u and v: shares grow with u.
  [[nodiscard]] double angle(double u, double v) const { return length(turn, u, v); }
  [[nodiscard]] double way(double u, double v) const { return length(shift, u, v); }

 private:
  [[nodiscard]] double length(const Motions& of, double u, double v) const {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += (shares(v)[k] - shares(u)[k]) * norm(of[k]);
    return sum;
  }
};

Pose<double> pose_at(std::span<const double> row) {
  Pose<double> out;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) out.R(r, c) = row[static_cast<std::size_t>(4 * r + c)];
    out.p[r] = row[static_cast<std::size_t>(4 * r + 3)];
  }
  out.R = branches::kernel::nearest_rotation(out.R);
  return out;
}

Quaternion<double> orientation(const Mat3<double>& R) {
  return to_quaternion(column(R, 0), column(R, 1), column(R, 2));
}

/// v with exp(w, v) = (R(w), p): p = V v, V^-1 = 1 - [w]/2 + c [w]^2.
Vec3<double> linear_part(const Vec3<double>& w, const Vec3<double>& p) {
  const double t = norm(w), c = t < 1e-4 ? 1.0 / 12 : (1 - 0.5 * t / std::tan(0.5 * t)) / (t * t);
  return axpy(c, cross(w, cross(w, p)), axpy(-0.5, cross(w, p), p));
}

/// The spline has at each pose the mean velocity from the pose before to the one after, and rests at both ends.
std::vector<Piece> make_pieces(const ToolPath& path) {
  std::vector<Pose<double>> pose;
  for (std::size_t k = 0; k < path.pose.size() / 16; ++k) pose.push_back(pose_at(path.pose.subspan(16 * k, 16)));
  const auto time = [&](std::size_t k) { return path.time.empty() ? static_cast<double>(k) : path.time[k]; };
  const auto turn = [&](std::size_t k) { return turn_between(orientation(pose[k].R), orientation(pose[k + 1].R)); };
  const std::size_t last = pose.size() - 1;
  std::vector<Piece> out;
  for (std::size_t k = 0; k < last; ++k) {
    const Vec3<double> shift = pose[k + 1].p - pose[k].p, none = Vec3<double>::zero();
    Piece piece{pose[k], {turn(k), none, none}, {shift, none, none}, path.kind};
    if (path.kind == ToolPath::Kind::kScrew) piece.shift[0] = linear_part(turn(k), shift);
    if (path.kind == ToolPath::Kind::kSpline) {
      const auto share =
          [&](std::size_t j) {  // third of the piece, in units of the time from the pose before to that after
            return j == 0 || j == last ? 0 : (time(k + 1) - time(k)) / (3 * (time(j + 1) - time(j - 1)));
          };
      const auto by = [&](std::size_t j, const auto& of) { return share(j) > 0 ? share(j) * of(j) : none; };
      const auto turned = [&](std::size_t j) { return turn(j - 1) + turn(j); };
      const auto moved = [&](std::size_t j) { return pose[j + 1].p - pose[j - 1].p; };
      const Vec3<double> first = by(k, turned), third = by(k + 1, turned);
      const Mat3<double> from = rotation_matrix(quaternion_of_turn(first)) * pose[k].R,
                         to = rotation_matrix(quaternion_of_turn(-third)) * pose[k + 1].R;
      piece.turn = {first, turn_between(orientation(from), orientation(to)), third};
      piece.shift = {by(k, moved), shift - by(k, moved) - by(k + 1, moved), by(k + 1, moved)};
    }
    out.push_back(piece);
  }
  return out;
}

/// A solution at a sample.
struct Node {
  Joints6 q;
  double sigma = 0, bend = 0;    ///< sigma_min; bound of the second derivatives of the pose next to q
  int next = -1, previous = -1;  ///< linked node of the neighboring sample
  double drift = 0;              ///< proven: |dq| of the branch in the interval behind the sample
  double bound = 0;              ///< proven sigma_min in that interval
  bool bridged = false;          ///< linked without a proof
};
using Sample = std::vector<Node>;

/// Roots of the Kantorovich polynomial for a step of the pose away from a solution.
struct Step {
  bool proven;
  double exists, unique;  ///< radii
};

class Follower {
 public:
  Follower(const AllSolutions& solver, const Robot& robot, const branches::AllSolutionsOp& op, const ToolPath& path,
           const PathOptions& options, const Device& device)
      : solver_(solver),
        robot_(robot),
        unit_(options.unit > 0 ? options.unit : op.way[0].unit),
        bend_(options.unit > 0 ? bend_bound(robot, options.unit) : op.rule.bend),
        op_(op),
        most_(std::any_of(op.model.prismatic, op.model.prismatic + kLoop, [](bool slides) { return slides; }) ? 1
                                                                                                              : M_PI),
        path_(path),
        options_(options),
        device_(device),
        pieces_(make_pieces(path)) {}

  PathCheck run() {
    sample_first();
    for (int round = 0; round <= options_.refinements; ++round) {
      std::vector<double> middles;
      for (auto a = samples_.begin(), b = std::next(a); b != samples_.end(); a = b++) {
        const Linked linked = link(*a, *b);
        if (linked == Linked::kNot || (linked != Linked::kProven && round < kBridgeRounds))
          middles.push_back(0.5 * (a->first + b->first));
      }
      if (middles.empty() || round == options_.refinements) break;
      add_samples(middles);
    }
    return collect();
  }

 private:
  enum class Linked { kProven, kBridged, kSingular, kNot };
  static constexpr int kBridgeRounds = 4;  ///< bisections of intervals that lack a proof only, or are singular
  static constexpr double kNear = 4;       ///< a link without proof is at most this many Newton steps long

  void sample_first() {
    std::vector<double> s;
    const auto pieces = static_cast<int>(pieces_.size());
    const int each = std::max(1, (options_.samples - 2 + pieces) / pieces);
    for (int k = 0; k < pieces; ++k)
      for (int i = 0; i < each; ++i) s.push_back(k + static_cast<double>(i) / each);
    s.push_back(pieces);
    add_samples(s);
  }

  void add_samples(const std::vector<double>& s) {
    std::vector<double> pose;
    for (const double x : s) {
      const auto k = std::min(static_cast<std::size_t>(x), pieces_.size() - 1);
      const Pose<double> X = pieces_[k].at(x - static_cast<double>(k));
      for (int r = 0; r < 3; ++r) pose.insert(pose.end(), {X.R(r, 0), X.R(r, 1), X.R(r, 2), X.p[r]});
      pose.insert(pose.end(), {0, 0, 0, 1});
    }
    const AllSolutionsResult found = solver_.solve(pose, {.limits = false}, device_);
    const auto count = static_cast<std::int64_t>(found.residual.size());
    const std::vector<double> jac =
        evaluate(robot_, StateView(count, found.q), Output::kJacobian, {}, device_).jacobian;
    for (std::size_t n = 0; n < s.size(); ++n) {
      Sample& to = samples_[s[n]];
      for (auto k = static_cast<std::size_t>(found.first[n]); k < static_cast<std::size_t>(found.first[n + 1]); ++k) {
        Node node;
        std::copy_n(&found.q[kLoop * k], kLoop, node.q.m);
        node.sigma = find_sigma(&jac[36 * k]);
        node.bend = branches::kernel::find_bend(node.q, op_.model.prismatic, unit_, bend_);
        to.push_back(node);
      }
    }
  }

  [[nodiscard]] bool is_slide(int i) const { return robot_.joint[static_cast<std::size_t>(i)].prismatic; }

  [[nodiscard]] double find_sigma(const double* jac) const {
    Mat<double, 6, 6> scaled;
    for (int r = 0; r < 6; ++r)
      for (int i = 0; i < 6; ++i) scaled(r, i) = jac[6 * r + i] * (r < 3 ? 1 / unit_ : 1) * (is_slide(i) ? unit_ : 1);
    return extreme_singular_values(scaled).smallest;
  }

  /// |dq| over the unit, turns by the shorter way.
  [[nodiscard]] double apart_by(const Joints6& a, const Joints6& b) const {
    double sum = 0;
    for (int i = 0; i < kLoop; ++i) {
      const double by = is_slide(i) ? (a[i] - b[i]) / unit_ : std::remainder(a[i] - b[i], kTurn);
      sum += by * by;
    }
    return std::sqrt(sum);
  }

  /// Kantorovich about a solution with sigma_min, for all poses within (way, angle). |X| = 1 / sigma, and |X F| is at
  /// most d / sigma. The derivative of the turn's error changes by half its angle: |1 - X F'| <= sqrt(6) angle / (2
  /// sigma).
  [[nodiscard]] Step step(const Node& at, double way, double angle) const {
    const double sigma = at.sigma, gap = 1 - 0.5 * std::sqrt(6.0) * angle / sigma, Z2 = at.bend / sigma;
    const double rest = gap * gap - 2 * Z2 * std::hypot(way / unit_, angle) / sigma;
    if (!(gap > 0) || !(rest > 1e-9)) return {false, 0, 0};
    const double root = std::sqrt(rest), exists = (gap - root) / Z2;
    return {exists <= most_, exists, std::min((gap + root) / Z2, most_)};
  }

  /// Links the solutions of neighboring samples, by proof where there is one.
  Linked link(std::pair<const double, Sample>& a, std::pair<const double, Sample>& b) const {
    const auto piece = std::min(static_cast<std::size_t>(a.first), pieces_.size() - 1);
    const double u = a.first - static_cast<double>(piece), v = b.first - static_cast<double>(piece);
    const double way = pieces_[piece].way(u, v), angle = pieces_[piece].angle(u, v);
    for (Node& node : a.second) node.next = -1;
    for (Node& node : b.second) node.previous = -1;
    for (std::size_t i = 0; i < a.second.size(); ++i)
      for (std::size_t j = 0; j < b.second.size(); ++j) {
        Node &from = a.second[i], &to = b.second[j];
        const double apart = apart_by(from.q, to.q);
        const Step forth = step(from, way, angle), back = step(to, way, angle);
        const bool by_forth = forth.proven && apart < forth.unique, by_back = back.proven && apart < back.unique;
        if (!by_forth && !by_back) continue;
        from.next = static_cast<int>(j), to.previous = static_cast<int>(i), from.bridged = false;
        const double bound_forth = by_forth ? from.sigma - from.bend * forth.exists : 0;
        const double bound_back = by_back ? to.sigma - to.bend * back.exists : 0;
        from.bound = std::max({bound_forth, bound_back, 0.0});
        from.drift = by_forth ? forth.exists : back.exists + apart;
      }
    const bool bridged = bridge(a.second, b.second, std::hypot(way / unit_, angle));
    bool open = false, singular = false;
    const auto visit = [&](const Node& node, int link) {
      if (link >= 0) return;
      (is_singular(node) ? singular : open) = true;
    };
    for (const Node& node : a.second) visit(node, node.next);
    for (const Node& node : b.second) visit(node, node.previous);
    return open ? Linked::kNot : singular ? Linked::kSingular : bridged ? Linked::kBridged : Linked::kProven;
  }
  [[nodiscard]] bool is_singular(const Node& node) const { return node.sigma <= options_.near_singular; }

  /// Links solutions without a proof that are next to each other both ways, and as near as Newton's step says. One of
  /// them may be near a singularity: a branch ends there.
  bool bridge(Sample& a, Sample& b, double step) const {
    bool any = false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i].next >= 0) continue;
      const std::size_t j = nearest(b, a[i].q);
      if (j == b.size() || b[j].previous >= 0 || (is_singular(a[i]) && is_singular(b[j]))) continue;
      const double apart = apart_by(a[i].q, b[j].q);
      const double sigma = leads_out(a[i], b[j]) ? std::max(a[i].sigma, b[j].sigma) : std::min(a[i].sigma, b[j].sigma);
      if (nearest(a, b[j].q) != i || apart > kNear * step / sigma) continue;
      a[i].next = static_cast<int>(j), b[j].previous = static_cast<int>(i);
      a[i].bridged = any = true;
      a[i].bound = 0;
      a[i].drift = std::numeric_limits<double>::infinity();
    }
    return any;
  }
  /// Whether one of two neighbors only is near a singularity.
  [[nodiscard]] bool leads_out(const Node& a, const Node& b) const { return is_singular(a) != is_singular(b); }
  [[nodiscard]] std::size_t nearest(const Sample& among, const Joints6& q) const {
    std::size_t best = among.size();
    for (std::size_t k = 0; k < among.size(); ++k)
      if (best == among.size() || apart_by(among[k].q, q) < apart_by(among[best].q, q)) best = k;
    return best;
  }

  PathCheck collect() {
    PathCheck out{.joints = kLoop, .unit = unit_, .s = {}, .branch = {}, .best = -1, .undecided = {}};
    std::vector<const Sample*> samples;
    for (const auto& [s, sample] : samples_) out.s.push_back(s), samples.push_back(&sample);
    const auto last = static_cast<std::int64_t>(samples.size()) - 1;
    for (std::int64_t n = 0; n <= last; ++n) {
      const Sample& here = *samples[static_cast<std::size_t>(n)];
      for (const Node& node : here) {
        if (!begins(samples, n, node)) continue;
        PathBranch branch = follow(samples, n, node);
        const bool whole = n == 0 && std::ssize(branch.sigma) == last + 1;
        // What is near a singularity all along is no branch.
        if (whole || *std::max_element(branch.sigma.begin(), branch.sigma.end()) > options_.near_singular)
          out.branch.push_back(std::move(branch));
      }
      const auto open = [&](const Node& node) { return node.next < 0 || node.bridged; };
      const bool behind = n < last && std::any_of(samples[static_cast<std::size_t>(n) + 1]->begin(),
                                                  samples[static_cast<std::size_t>(n) + 1]->end(),
                                                  [](const Node& node) { return node.previous < 0; });
      if (!(n < last && (behind || std::any_of(here.begin(), here.end(), open)))) continue;
      const double from = out.s[static_cast<std::size_t>(n)], to = out.s[static_cast<std::size_t>(n) + 1];
      if (!out.undecided.empty() && out.undecided.back() == from)
        out.undecided.back() = to;
      else
        out.undecided.insert(out.undecided.end(), {from, to});
    }
    for (PathBranch& branch : out.branch) finish(out, last, branch);
    choose_best(robot_, options_.q0.empty() ? PathCriterion::kSigma : PathCriterion::kStart, options_.q0, out);
    return out;
  }

  /// Whether a branch begins at this node: no branch passes a node near a singularity without a proof.
  [[nodiscard]] bool begins(const std::vector<const Sample*>& samples, std::int64_t n, const Node& node) const {
    if (n == 0 || node.previous < 0) return true;
    const Node& before = (*samples[static_cast<std::size_t>(n) - 1])[static_cast<std::size_t>(node.previous)];
    return is_singular(node) && (before.bridged || (node.next >= 0 && node.bridged));
  }

  [[nodiscard]] PathBranch follow(const std::vector<const Sample*>& samples, std::int64_t first,
                                  const Node& start) const {
    PathBranch branch;
    branch.first = first;
    branch.sigma_bound = std::numeric_limits<double>::infinity();
    const Node* node = &start;
    Joints6 q = start.q;
    bool bridged = false;
    for (auto n = static_cast<std::size_t>(first);; ++n) {
      for (int i = 0; i < kLoop; ++i) q[i] = is_slide(i) ? node->q[i] : q[i] + std::remainder(node->q[i] - q[i], kTurn);
      branch.q.insert(branch.q.end(), q.m, q.m + kLoop);
      branch.sigma.push_back(node->sigma);
      branch.sigma_bound = std::min(branch.sigma_bound, node->sigma);
      if (n + 1 == samples.size() || node->next < 0) break;
      if (is_singular(*node) && node != &start && (bridged || node->bridged)) break;
      bridged = node->bridged;
      branch.sigma_bound = std::min(branch.sigma_bound, node->bound);
      branch.limit_bound = std::max(branch.limit_bound, node->drift);  // largest drift, for now
      node = &(*samples[n + 1])[static_cast<std::size_t>(node->next)];
    }
    return branch;
  }

  /// Ends, turns within the limits, speeds.
  void finish(const PathCheck& of, std::int64_t last, PathBranch& branch) const {
    const auto end_of = [&](bool at_path_end, double sigma) {
      return at_path_end                       ? BranchEnd::kPathEnd
             : sigma <= options_.near_singular ? BranchEnd::kSingular
                                               : BranchEnd::kUndecided;
    };
    const auto count = static_cast<std::int64_t>(branch.sigma.size());
    branch.begin = end_of(branch.first == 0, branch.sigma.front());
    branch.end = end_of(branch.first + count - 1 == last, branch.sigma.back());
    const double drift = branch.limit_bound;
    branch.limit_distance = branch.limit_bound = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kLoop; ++i) {
      double low = branch.q[static_cast<std::size_t>(i)], high = low;
      for (std::size_t k = static_cast<std::size_t>(i); k < branch.q.size(); k += kLoop)
        low = std::min(low, branch.q[k]), high = std::max(high, branch.q[k]);
      const Joint& joint = robot_.joint[static_cast<std::size_t>(i)];
      const double turn = joint.prismatic ? 0 : choose_turn(i, low, high, branch.q[static_cast<std::size_t>(i)]);
      for (std::size_t k = static_cast<std::size_t>(i); k < branch.q.size(); k += kLoop) branch.q[k] += turn;
      const double room = std::min(low + turn - joint.lower, joint.upper - high - turn);
      if (room < branch.limit_distance) branch.limit_distance = room, branch.limit_joint = i;
      branch.limit_bound = std::min(branch.limit_bound, room - drift * (joint.prismatic ? unit_ : 1));
    }
    find_speed(of, branch);
  }

  /// Turn of a joint with values from `low` to `high` and `first` at the beginning: with q0 the one next to it that the
  /// limits allow, else the one that leaves the most room on both sides.
  [[nodiscard]] double choose_turn(int i, double low, double high, double first) const {
    const Joint& joint = robot_.joint[static_cast<std::size_t>(i)];
    if (!options_.q0.empty()) {
      const double least = std::ceil((joint.lower - low) / kTurn), most = std::floor((joint.upper - high) / kTurn);
      const double next = std::round((options_.q0[static_cast<std::size_t>(i)] - first) / kTurn);
      return kTurn * (least <= most ? std::clamp(next, least, most) : next);
    }
    if (!std::isfinite(joint.lower) || !std::isfinite(joint.upper)) return 0;
    return kTurn * std::round((0.5 * (joint.lower + joint.upper) - 0.5 * (low + high)) / kTurn);
  }

  void find_speed(const PathCheck& of, PathBranch& branch) const {
    if (path_.time.empty()) return;
    const auto time_at = [&](double s) {
      const auto k = std::min(static_cast<std::size_t>(s), pieces_.size() - 1);
      return std::lerp(path_.time[k], path_.time[k + 1], s - static_cast<double>(k));
    };
    for (std::size_t k = 0; k + 1 < branch.sigma.size(); ++k) {
      const std::size_t n = static_cast<std::size_t>(branch.first) + k;
      const double span = time_at(of.s[n + 1]) - time_at(of.s[n]);
      for (std::size_t i = 0; i < kLoop; ++i) {
        const double speed = std::abs(branch.q[kLoop * (k + 1) + i] - branch.q[kLoop * k + i]) / span;
        const double limit = robot_.joint[i].velocity_limit;
        if (std::isfinite(limit)) branch.speed_share = std::max(branch.speed_share, speed / limit);
      }
    }
  }

  const AllSolutions& solver_;
  const Robot& robot_;
  double unit_, bend_;  ///< of length [m]; bound of the second derivatives over it
  const branches::AllSolutionsOp& op_;
  double most_;  ///< bounds of second derivatives hold within this of a solution
  const ToolPath& path_;
  const PathOptions& options_;
  const Device& device_;
  std::vector<Piece> pieces_;
  std::map<double, Sample> samples_;  ///< by s
};

void check(const ToolPath& path, const PathOptions& options) {
  const auto refuse = [](const char* problem, const char* remedy) { throw Error(ExitCode::kUsage, problem, remedy); };
  const std::size_t poses = path.pose.size() / 16;
  if (path.pose.size() % 16 != 0 || poses < 2) refuse("path: fewer than two poses [k,16]", "Give at least two poses.");
  for (const double x : path.pose)
    if (!std::isfinite(x)) refuse("path: a pose has a number that is not finite", "");
  if (!path.time.empty() && path.time.size() != poses) refuse("path: times are not one for each pose", "");
  for (std::size_t k = 0; k + 1 < path.time.size(); ++k)
    if (!(path.time[k] < path.time[k + 1])) refuse("path: times do not ascend", "Give one time for each pose [s].");
  if (options.samples < 2) refuse("path: fewer than two samples", "");
  if (options.refinements < 0 || options.refinements > 30) refuse("path: refinements are not in 0 .. 30", "");
  if (!(options.near_singular >= 0)) refuse("path: near_singular is not a number >= 0", "");
  if (!options.q0.empty() && options.q0.size() != kLoop) refuse("path: q0 is not one value for each joint", "");
}

}  // namespace

PathCheck AllSolutions::check_path(const ToolPath& path, const PathOptions& options, const Device& device) const {
  check(path, options);
  check_tool_poses(path.pose);
  const Prepared& p = *prepared_;
  if (p.joints() != kLoop || !p.leader.empty() || p.task != ToolTask::kPose)
    throw Error(ExitCode::kUsage,
                "path: " + std::to_string(p.joints()) + " joints of \"" + p.robot.name +
                    "\" move, and a path needs six joints without followers",
                "Fix all joints but six of an arm of more.");
  return Follower(*this, p.robot, p.op, path, options, device).run();
}

}  // namespace garra::chain
