// Singular intervals of neighboring joints, which of their joints are dependent, and which joints mend them.
#include <algorithm>
#include <cmath>

#include "singularity/exact/parts.hpp"

namespace garra::singularity {

namespace {

// Seven screws are dependent in any arm: longer intervals are singular by number alone.
constexpr int kMaxInterval = 6;
constexpr double kTie = 1e-9;  ///< relative; the first of the largest entries is the one that becomes 1

const Screw<double>& at(const Screws& screws, int k) { return screws[static_cast<std::size_t>(k)]; }

/// Length of the part of a screw that a span does not contain; `beyond`: orthonormal basis of what is beyond it.
double outside(const Matrix& beyond, const Screw<double>& s) {
  double squares = 0;
  for (int k = 0; k < beyond.cols(); ++k) {
    double along = 0;
    for (int i = 0; i < 3; ++i) along += beyond(i, k) * s.w[i] + beyond(i + 3, k) * s.v[i];
    squares += along * along;
  }
  return std::sqrt(squares);
}

/// sum_h v_h [$f $h], h > f, for one null vector of the interval.
Screw<double> weighted_product(const Screws& screws, const Interval& interval, int f, const Matrix& nulls, int which) {
  Screw<double> sum{Vec3<double>::zero(), Vec3<double>::zero()};
  for (int h = f + 1; h <= interval.last; ++h)
    sum = sum + nulls(h - interval.first, which) * cross(at(screws, f), at(screws, h));
  return sum;
}

std::vector<double> null_vector(const Case& c, const Interval& interval, const Matrix& nulls) {
  std::vector<double> v;
  // Only a single null vector is a statement about the joints; of several any mixture would be.
  if (nulls.cols() != 1) return v;
  double largest = 0;
  for (int k = 0; k < nulls.rows(); ++k) {
    // Back in rad and m.
    v.push_back(nulls(k, 0) * c.unit(interval.first + k));
    if (std::abs(v.back()) > (1 + kTie) * std::abs(largest)) largest = v.back();
  }
  // The largest entry becomes 1: length and sign of a null vector mean nothing.
  for (double& x : v) x /= largest;
  return v;
}

Actuator actuator(const Case& c, const Interval& interval, int f, const Svd& span) {
  const int card = interval.last - interval.first + 1;
  const Matrix beyond = span.matrixU().rightCols(6 - interval.dim);
  const Matrix nulls = span.matrixV().rightCols(card - interval.dim);
  Actuator out;
  out.joint = f;
  for (const int h : interval.dependent_joints)
    if (h > f) out.products.push_back({h, outside(beyond, cross(at(c.screw, f), at(c.screw, h))) > c.zero});
  for (int k = 0; k < nulls.cols(); ++k)
    if (outside(beyond, weighted_product(c.screw, interval, f, nulls, k)) > c.zero) out.weighted_outside = true;
  const Screws after = moved(c.screw, f, c.step);
  out.restores = numerical_rank(jacobian(after, interval.first, interval.last), c.tolerance) >=
                 c.expected(interval.first, interval.last);
  return out;
}

void describe_interval(const Case& c, Interval& interval) {
  const int card = interval.last - interval.first + 1;
  const Svd span = svd(jacobian(c.screw, interval.first, interval.last));
  const Matrix nulls = span.matrixV().rightCols(card - interval.dim);
  for (int k = 0; k < card; ++k)
    // A joint takes part if some null vector moves it, in whatever basis.
    if (nulls.row(k).norm() > c.zero) interval.dependent_joints.push_back(interval.first + k);
  interval.null_vector = null_vector(c, interval, nulls);
  interval.reciprocal = world_wrenches(unique_basis(span.matrixU().rightCols(6 - interval.dim)), c.scaling);
  // Not the last one: it carries no screw of the interval.
  for (int f = interval.first; f < interval.last; ++f) interval.actuators.push_back(actuator(c, interval, f, span));
}

/// Shortest singular interval that starts at `first`; last = -1: none.
Interval shortest_from(const Screws& screws, const Case& c, int first) {
  const int end = std::min(first + kMaxInterval, c.joints());
  for (int last = first + 1; last < end; ++last) {
    const int dim = numerical_rank(jacobian(screws, first, last), c.tolerance);
    if (dim < c.expected(first, last)) return {first, last, dim, {}, {}, {}, {}};
  }
  return {first, -1, 0, {}, {}, {}, {}};
}

bool contains(const std::vector<int>& set, const std::vector<int>& part) {
  return std::includes(set.begin(), set.end(), part.begin(), part.end());
}

/// All subsets of 0 ... n-1 of one size, in lexicographic order.
template <class Use>
void for_each_subset(int n, int size, Use use) {
  if (size > n) return;
  std::vector<int> set;
  for (int k = 0; k < size; ++k) set.push_back(k);
  while (true) {
    use(set);
    int k = size - 1;
    while (k >= 0 && set[static_cast<std::size_t>(k)] == n - size + k) --k;
    if (k < 0) return;
    ++set[static_cast<std::size_t>(k)];
    for (int i = k + 1; i < size; ++i) set[static_cast<std::size_t>(i)] = set[static_cast<std::size_t>(i - 1)] + 1;
  }
}

}  // namespace

std::vector<Interval> minimal_intervals(const Screws& screws, const Case& c) {
  std::vector<Interval> out;
  // From the tip inwards: an interval is minimal if it ends before all that start behind it.
  int nearest_end = c.joints();
  for (int first = c.joints() - 2; first >= 0; --first) {
    const Interval found = shortest_from(screws, c, first);
    if (found.last < 0 || found.last >= nearest_end) continue;
    nearest_end = found.last;
    out.insert(out.begin(), found);
  }
  return out;
}

std::vector<Interval> analyzed_intervals(const Case& c) {
  std::vector<Interval> out = minimal_intervals(c.screw, c);
  for (Interval& interval : out) describe_interval(c, interval);
  return out;
}

std::vector<std::vector<int>> circuits(const ScrewSet& set, double tolerance, int largest) {
  const Screws screws = scaled_screws(set.screw, natural_scaling(set));
  std::vector<std::vector<int>> found;
  for (int size = 2; size <= largest; ++size) {
    const std::size_t smaller = found.size();
    for_each_subset(static_cast<int>(screws.size()), size, [&](const std::vector<int>& subset) {
      for (std::size_t i = 0; i < smaller; ++i)
        // A circuit is minimal: no smaller dependent set within.
        if (contains(subset, found[i])) return;
      Screws part;
      for (const int k : subset) part.push_back(at(screws, k));
      if (numerical_rank(jacobian(part), tolerance) < size) found.push_back(subset);
    });
  }
  return found;
}

std::vector<std::vector<int>> inner_sets(int joints, int size) {
  std::vector<std::vector<int>> out;
  for_each_subset(joints - 2, size, [&](std::vector<int> set) {
    // The first joint carries all screws and the last one none: neither changes a rank.
    for (int& k : set) ++k;
    out.push_back(std::move(set));
  });
  return out;
}

std::vector<double> set_direction(int joints, const std::vector<int>& set, unsigned negative) {
  std::vector<double> dq(static_cast<std::size_t>(joints), 0.0);
  double amount = 1;
  for (std::size_t k = 0; k < set.size(); ++k) {
    dq[static_cast<std::size_t>(set[k])] = (negative >> k) & 1u ? -amount : amount;
    amount *= 0.83;  // equal motions can compensate each other
  }
  return dq;
}

std::vector<std::vector<int>> find_clearing_sets(const Case& c, int max_set_size) {
  std::vector<std::vector<int>> found;
  for (int size = 1; size <= max_set_size && found.empty(); ++size) {
    for (const std::vector<int>& set : inner_sets(c.joints(), size)) {
      std::vector<double> dq = set_direction(c.joints(), set, 0);
      for (double& x : dq) x *= c.step;
      if (minimal_intervals(moved(c.screw, dq), c).empty()) found.push_back(set);
    }
  }
  return found;
}

}  // namespace garra::singularity
