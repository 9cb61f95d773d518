// The exact analysis of one configuration, step by step.
#include <algorithm>
#include <cmath>
#include <limits>

#include "garra/core/names.hpp"
#include "garra/singularity.hpp"
#include "singularity/exact/parts.hpp"

namespace garra::singularity {

namespace {

[[noreturn]] void refuse(const std::string& problem, const std::string& remedy = {}) {
  throw Error(ExitCode::kUsage, problem, remedy);
}

bool all_finite(const Vec3<double>& v) { return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]); }

void check_screws(const ScrewSet& set) {
  const std::size_t n = set.screw.size();
  if (n < 1 || n > static_cast<std::size_t>(kMaxJoints))
    refuse("a set of " + std::to_string(n) + " screws", "It must have 1 to " + std::to_string(kMaxJoints) + ".");
  for (std::size_t i = 0; i < n; ++i) {
    const Screw<double>& s = set.screw[i];
    if (!all_finite(s.w) || !all_finite(s.v)) refuse("screw " + std::to_string(i) + " is not finite");
    if (dot(s, s) == 0) refuse("screw " + std::to_string(i) + " is zero", "A prismatic joint has its axis as moment.");
  }
}

void check_screws(const AnalyzeOptions& o, int joints) {
  if (!(o.tolerance > 0 && o.tolerance < 0.1)) refuse("tolerance: must be between 0 and 0.1");
  if (!(o.step > 0 && std::isfinite(o.step))) refuse("step: must be positive");
  if (o.length && !(*o.length > 0 && std::isfinite(*o.length))) refuse("length: must be positive");
  if (o.origin && !all_finite(*o.origin)) refuse("origin: not finite");
  if (o.max_set_size < 1 || o.max_set_size > kMaxJoints) refuse("max_set_size: must be 1 to 16");
  if (o.generic_rank && (*o.generic_rank < 1 || *o.generic_rank > std::min(6, joints)))
    refuse("generic_rank: must be 1 to " + std::to_string(std::min(6, joints)));
  if (o.generic && (o.generic->joints != joints ||
                    o.generic->dim.size() != static_cast<std::size_t>(joints) * static_cast<std::size_t>(joints)))
    refuse("generic: dimensions of another chain");
}

/// The dimension below which each interval is singular.
GenericDims expected_dims(const GenericDims& generic, IntervalRule rule) {
  GenericDims out = generic;
  if (rule == IntervalRule::kGeneric) return out;
  for (int a = 0; a < out.joints; ++a)
    for (int b = a; b < out.joints; ++b) out.dim[static_cast<std::size_t>(a * out.joints + b)] = std::min(6, b - a + 1);
  return out;
}

Case prepare(const ScrewSet& set, const AnalyzeOptions& o) {
  Case c;
  const Scaling natural = natural_scaling(set);
  c.scaling.origin = o.origin.value_or(natural.origin);
  c.scaling.length = o.length.value_or(natural.length);
  c.screw = scaled_screws(set.screw, c.scaling);
  for (const Screw<double>& s : set.screw) c.slides.push_back(norm(s.w) == 0);
  const GenericDims generic = o.generic ? *o.generic : generic_dims(set, o.tolerance);
  c.expected = expected_dims(generic, o.rule);
  c.generic_rank = o.generic_rank.value_or(generic.rank());
  c.tolerance = o.tolerance;
  c.step = o.step;
  return c;
}

double gap_after(const std::vector<double>& sigma, int rank) {
  const double next = sigma_at(sigma, rank + 1);
  return next > 0 ? sigma_at(sigma, rank) / next : std::numeric_limits<double>::infinity();
}

void describe_rank(const Case& c, const Svd& jac, Analysis& out) {
  out.joints = c.joints();
  out.scaling = c.scaling;
  out.singular_values = singular_values(jac);
  out.rank = numerical_rank(out.singular_values, c.tolerance);
  out.generic_rank = c.generic_rank;
  out.lost_freedoms = std::max(0, c.generic_rank - out.rank);
  out.arm_singular = out.lost_freedoms > 0;
  out.gap = gap_after(out.singular_values, out.rank);
  out.lost_wrenches = world_wrenches(unique_basis(jac.matrixU().rightCols(6 - out.rank)), c.scaling);
}

void describe_null_space(const Case& c, const Svd& jac, Analysis& out) {
  const Matrix nulls = unique_basis(jac.matrixV().rightCols(c.joints() - out.rank));
  for (int k = 0; k < nulls.cols(); ++k) {
    out.null_space.emplace_back();
    for (int j = 0; j < c.joints(); ++j) out.null_space.back().push_back(nulls(j, k) * c.unit(j));
  }
  for (int j = 0; j < c.joints(); ++j)
    if (out.arm_singular && nulls.row(j).norm() > c.zero) out.dependent_joints.push_back(j);
}

void describe_intervals(const Case& c, Analysis& out) {
  for (int a = 0; a < c.joints(); ++a)
    for (int b = a; b < c.joints(); ++b)
      out.dims.push_back({a, b, numerical_rank(jacobian(c.screw, a, b), c.tolerance)});
  out.intervals = analyzed_intervals(c);
  out.subchain_singular = !out.intervals.empty();
}

}  // namespace

constexpr auto names_of(SelfMotion) { return names("not checked", "none", "escapes", "undecided"); }

const char* to_string(SelfMotion decision) { return name_of(decision); }

Analysis analyze(const ScrewSet& set, const AnalyzeOptions& options) {
  check_screws(set);
  check_screws(options, static_cast<int>(set.screw.size()));
  Case c = prepare(set, options);
  const Svd jac = svd(jacobian(c.screw));
  // Products, null vectors and projections carry the errors of the singular vectors, a few times those of the values.
  c.zero = 10 * c.tolerance * std::max(1.0, jac.singularValues()[0]);
  Analysis out;
  describe_rank(c, jac, out);
  describe_null_space(c, jac, out);
  describe_intervals(c, out);
  if (out.arm_singular) analyze_escape(c, options.max_set_size, jac, out);
  if (options.clearing_sets && out.subchain_singular) out.clearing_sets = find_clearing_sets(c, options.max_set_size);
  return out;
}

Analysis analyze(const chain::Robot& robot, const std::vector<double>& q, const AnalyzeOptions& options) {
  return analyze(make_screws(robot, q), options);
}

}  // namespace garra::singularity
