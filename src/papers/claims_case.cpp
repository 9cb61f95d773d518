#include "papers/claims_case.hpp"

#include <algorithm>
#include <cmath>

namespace garra::papers {

namespace {

// The paper's rule (11) considers subsets of at most six screws: more are dependent in any arm.
constexpr int kMaxSubset = 6;
/// Tolerance at which directions of four digits are unit vectors, and pitches zero.
constexpr double kDigits = 2e-3;

int dimension(const Screws& screws, double tolerance) {
  return screws.empty() ? 0 : numerical_rank(jacobian(screws), tolerance);
}

Joints from_one(std::vector<int> joints) {
  for (int& j : joints) ++j;
  return joints;
}

Joints range(int first, int last) {
  Joints out;
  for (int j = first; j <= last; ++j) out.push_back(j);
  return out;
}

}  // namespace

Screwed::Screwed(const Data& data)
    : given_(data.screws),
      // Ranks need a length that makes moments and directions comparable; the paper gives none.
      scaling_(natural_scaling(data.screws)),
      screws_(scaled_screws(data.screws.screw, scaling_)),
      tolerance_(data.tolerance) {}

Joints Screwed::all() const { return range(1, static_cast<int>(screws_.size())); }

Screws Screwed::selected(const Joints& joints) const {
  Screws out;
  for (const int j : joints) out.push_back(at(j));
  return out;
}

int Screwed::dim(const Joints& screws) const { return dimension(selected(screws), tolerance_); }

bool Screwed::outside(Product product, const Joints& span) const {
  Screws with = selected(span);
  with.push_back(cross(at(product.actuator), at(product.receptor)));
  return dimension(with, tolerance_) > dim(span);
}

Analysis Screwed::analyzed() const {
  AnalyzeOptions options;
  options.tolerance = tolerance_;
  // The paper's own rule, which is under test here.
  options.rule = IntervalRule::kCardinality;
  options.generic_rank = 6;  // the paper's: all six degrees of freedom of a body
  options.step = kStep;
  return analyze(given_, options);
}

std::vector<Joints> Screwed::minimal_subsets() const {
  std::vector<Joints> out;
  for (const Interval& i : analyzed().intervals) out.push_back(range(i.first + 1, i.last + 1));
  return out;
}

bool Screwed::is_minimal(int first, int last) const {
  const std::vector<Joints> subsets = minimal_subsets();
  return std::find(subsets.begin(), subsets.end(), range(first, last)) != subsets.end();
}

Joints Screwed::dependent_joints_in(int first, int last) const {
  for (const Interval& i : analyzed().intervals)
    if (i.first + 1 == first && i.last + 1 == last) return from_one(i.dependent_joints);
  return {};
}

int Screwed::singular_count() const {
  int count = 0;
  const int n = static_cast<int>(screws_.size());
  for (int first = 1; first <= n; ++first)
    for (int last = first + 1; last <= std::min(n, first + kMaxSubset - 1); ++last)
      count += dim(range(first, last)) < last - first + 1;
  return count;
}

Screwed Screwed::substituted(const std::vector<Product>& products) const {
  Screwed out = *this;
  for (const auto& [f, h] : products) {
    const auto k = static_cast<std::size_t>(h - 1);
    // Both forms: scaled for ranks, as given for distances and pitches.
    out.screws_[k] = at(h) + kStep * cross(at(f), at(h));
    out.given_.screw[k] =
        given_.screw[k] + kStep * cross(given_.screw[static_cast<std::size_t>(f - 1)], given_.screw[k]);
  }
  return out;
}

Screwed Screwed::moved(const Joints& joints) const {
  Joints from_zero = joints;
  for (int& j : from_zero) --j;
  std::vector<double> dq = set_direction(static_cast<int>(screws_.size()), from_zero, 0);
  for (double& x : dq) x *= kStep;
  Screwed out = *this;
  out.screws_ = singularity::moved(screws_, dq);
  out.given_.screw = singularity::moved(given_.screw, dq);
  return out;
}

Value Screwed::restoring() const {
  // Full rank, so no joint can restore it.
  if (rank() == 6) return {};
  Joints out;
  for (const int j : all())
    if (moved({j}).rank() == 6) out.push_back(j);
  return out;
}

Value Screwed::escape_order(int j) const {
  const Analysis a = analyzed();
  if (!a.arm_singular) return {};
  return a.escape[static_cast<std::size_t>(j - 1)].order;
}

Joints Screwed::dependent_joints() const { return from_one(analyzed().dependent_joints); }

Joints Screwed::clearing() const {
  Joints out;
  for (const std::vector<int>& set : analyzed().clearing_sets)
    for (const int j : set) out.push_back(j + 1);
  return out;
}

bool Screwed::is_joint(int j) const {
  const Screw<double>& s = given_.screw[static_cast<std::size_t>(j - 1)];
  if (norm(s.w) == 0) return std::abs(norm(s.v) - 1) <= kDigits;
  return std::abs(norm(s.w) - 1) <= kDigits && std::abs(screw_pitch(s)) <= kDigits;
}

Value Screwed::distance(int j, int k) const {
  // Lines s, s' with moments: the Klein form is the distance times the sine of the angle between them.
  const Screw<double>&a = given_.screw[static_cast<std::size_t>(j - 1)],
        &b = given_.screw[static_cast<std::size_t>(k - 1)];
  const double sine = norm(cross(a.w, b.w));
  // Parallel within the digits of the data: the quotient would be noise.
  if (sine <= kDigits) return {};
  return std::abs(klein_form(a, b)) / sine;
}

Value Screwed::angle(int j, int k) const {
  const Vec3<double>&a = given_.screw[static_cast<std::size_t>(j - 1)].w,
        &b = given_.screw[static_cast<std::size_t>(k - 1)].w;
  return std::acos(dot(a, b) / (norm(a) * norm(b))) * 180 / M_PI;
}

Value Screwed::offset(int i, int j, int k) const {
  const auto line = [&](int joint) { return screw_axis(given_.screw[static_cast<std::size_t>(joint - 1)]); };
  const ScrewAxis<double> axis = line(j);
  for (const int other : {i, k})
    if (norm(cross(axis.direction, line(other).direction)) <= kDigits) return {};
  // Where the common normal with another axis meets this one, along it.
  const auto foot = [&](int other) {
    const ScrewAxis<double> o = line(other);
    const Vec3<double> normal = cross(axis.direction, o.direction), away = cross(o.direction, normal);
    return dot(o.point - axis.point, away) / dot(axis.direction, away);
  };
  return std::abs(foot(k) - foot(i));
}

bool Screwed::is_nilpotent(Product product) const {
  const Screw<double>& f = at(product.actuator);
  const Screw<double> twice = cross(f, cross(f, at(product.receptor)));
  return dot(twice, twice) <= tolerance_ * tolerance_;
}

bool Screwed::is_subalgebra(const Joints& screws) const {
  for (const int f : screws)
    for (const int h : screws)
      // The product is antisymmetric: each pair once.
      if (f < h && outside({f, h}, screws)) return false;
  return true;
}

int Screwed::regular_subalgebras() const {
  int count = 0;
  const int n = static_cast<int>(screws_.size());
  for (int first = 1; first <= n; ++first)
    for (int last = first + 1; last <= std::min(n, first + kMaxSubset - 1); ++last)
      count += dim(range(first, last)) == last - first + 1 && is_subalgebra(range(first, last));
  return count;
}

Screwed::Substitutions Screwed::substitutions() const {
  Substitutions out;
  for (const Joints& subset : minimal_subsets()) {
    bool some = false;
    for (const int h : dependent_joints_in(subset.front(), subset.back()))
      for (int f = subset.front(); f < h; ++f) {
        if (!outside({f, h}, subset)) continue;
        some = true;
        out.without_effect += substituted({{f, h}}).dim(subset) < static_cast<int>(subset.size());
      }
    out.some_outside = out.some_outside && some;
  }
  return out;
}

int Screwed::most_restored() const {
  const std::vector<Joints> subsets = minimal_subsets();
  int most = 0;
  for (const int j : all()) {
    const Screwed after = moved({j});
    most = std::max(most, static_cast<int>(std::count_if(subsets.begin(), subsets.end(), [&](const Joints& subset) {
                      return after.dim(subset) == static_cast<int>(subset.size());
                    })));
  }
  return most;
}

int Screwed::others_changed() const {
  int count = 0;
  const int n = static_cast<int>(screws_.size());
  for (const int j : all()) {
    const Screwed after = moved({j});
    for (int first = 1; first <= n; ++first)
      for (int last = first; last <= n; ++last)
        count += (j < first || j > last) && after.dim(range(first, last)) != dim(range(first, last));
  }
  return count;
}

}  // namespace garra::papers
