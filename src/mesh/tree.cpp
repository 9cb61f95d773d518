#include "mesh/tree.hpp"

#include <algorithm>
#include <cmath>

namespace garra::mesh {

namespace {
constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// Deeper than any tree of 2^31 faces.
constexpr int kDeepest = 64;
/// Tolerance of barycentric coordinates, so that an edge between two faces has no gap.
constexpr double kEdge = 1e-12;

/// The distance at which the ray crosses the triangle in this sense; infinity if it does not.
double find_crossing(const Corners& t, const Ray& ray, Crossing crossing) {
  const Vec3<double> ab = t.b - t.a, ac = t.c - t.a;
  const Vec3<double> p = cross(ray.along, ac);
  const double determinant = dot(ab, p);  // positive: against the outward normal
  if (determinant == 0) return kInfinite;
  if ((crossing == Crossing::kInto && determinant < 0) || (crossing == Crossing::kOutOf && determinant > 0))
    return kInfinite;
  const Vec3<double> s = ray.from - t.a;
  const double u = dot(s, p) / determinant;
  const Vec3<double> q = cross(s, ab);
  const double v = dot(ray.along, q) / determinant;
  if (!(u >= -kEdge && v >= -kEdge && u + v <= 1 + kEdge)) return kInfinite;
  const double distance = dot(ac, q) / determinant;
  return distance > ray.least ? distance : kInfinite;
}

}  // namespace

void Tree::Box::take(const Vec3<double>& p) {
  for (int i = 0; i < 3; ++i) {
    low[i] = std::min(low[i], p[i]);
    high[i] = std::max(high[i], p[i]);
  }
}

double Tree::Box::square_distance(const Vec3<double>& p) const {
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    const double off = std::max({low[i] - p[i], p[i] - high[i], 0.0});
    sum += off * off;
  }
  return sum;
}

double Tree::Box::entry(const Ray& ray, const Vec3<double>& inverse, double most) const {
  double in = ray.least, out = most;
  for (int i = 0; i < 3; ++i) {
    if (ray.along[i] == 0) {
      if (ray.from[i] < low[i] || ray.from[i] > high[i]) return kInfinite;
      continue;
    }
    const double a = (low[i] - ray.from[i]) * inverse[i], b = (high[i] - ray.from[i]) * inverse[i];
    in = std::max(in, std::min(a, b));
    out = std::min(out, std::max(a, b));
  }
  // Tolerance for rounding: a flat box has no thickness to lose.
  return in <= out + 1e-12 * std::abs(out) ? in : kInfinite;
}

Tree::Tree(const Mesh& mesh) {
  std::vector<Vec3<double>> middle(static_cast<std::size_t>(mesh.faces()));
  for (std::int64_t f = 0; f < mesh.faces(); ++f) {
    const Corners c = get_corners(mesh, f);
    if (!(c.area() > 0)) continue;
    order_.push_back(static_cast<std::int32_t>(f));
    middle[static_cast<std::size_t>(f)] = (1.0 / 3) * (c.a + c.b + c.c);
  }
  corners_.resize(middle.size());
  for (const std::int32_t f : order_) corners_[static_cast<std::size_t>(f)] = get_corners(mesh, f);
  if (order_.empty()) return;
  nodes_.reserve(order_.size());
  build(0, static_cast<std::int32_t>(order_.size()), middle);
  std::vector<Corners> sorted;
  sorted.reserve(order_.size());
  for (const std::int32_t f : order_) sorted.push_back(corners_[static_cast<std::size_t>(f)]);
  corners_ = std::move(sorted);
}

std::int32_t Tree::build(std::int32_t begin, std::int32_t end, const std::vector<Vec3<double>>& middle) {
  const auto at = static_cast<std::int32_t>(nodes_.size());
  const Vec3<double> most = vec3(kInfinite, kInfinite, kInfinite);
  Box box{most, -most}, middles{most, -most};
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    const Corners& c = corners_[static_cast<std::size_t>(order_[i])];
    for (const Vec3<double>& p : {c.a, c.b, c.c}) box.take(p);
    middles.take(middle[static_cast<std::size_t>(order_[i])]);
  }
  nodes_.push_back({box, begin, end - begin});
  if (end - begin <= kLeaf) return at;
  const Vec3<double> size = middles.high - middles.low;
  int axis = 0;
  for (int i = 1; i < 3; ++i)
    if (size[i] > size[axis]) axis = i;
  const std::int32_t half = begin + (end - begin) / 2;
  // By number if the middles are equal, so that the tree is the same on all machines.
  std::nth_element(order_.begin() + begin, order_.begin() + half, order_.begin() + end,
                   [&](std::int32_t a, std::int32_t b) {
                     const double x = middle[static_cast<std::size_t>(a)][axis];
                     const double y = middle[static_cast<std::size_t>(b)][axis];
                     return x < y || (x == y && a < b);
                   });
  build(begin, half, middle);
  const std::int32_t second = build(half, end, middle);
  nodes_[static_cast<std::size_t>(at)].first = second;
  nodes_[static_cast<std::size_t>(at)].count = 0;
  return at;
}

Tree::FaceHit Tree::hit(const Ray& ray, Crossing crossing) const {
  FaceHit best{ray.most, -1};
  if (nodes_.empty()) return best;
  const Vec3<double> inverse = vec3(1 / ray.along[0], 1 / ray.along[1], 1 / ray.along[2]);
  std::pair<std::int32_t, double> open[kDeepest + 1];
  int count = 0;
  const auto note = [&](std::int32_t node) {
    const double entry = nodes_[static_cast<std::size_t>(node)].box.entry(ray, inverse, best.distance);
    if (entry < kInfinite) open[count++] = {node, entry};
  };
  note(0);
  while (count > 0) {
    const auto [number, entry] = open[--count];
    if (entry > best.distance) continue;
    const Node& node = nodes_[static_cast<std::size_t>(number)];
    if (node.count == 0) {
      const int before = count;
      note(number + 1);
      note(node.first);
      // The nearer child is visited first.
      if (count == before + 2 && open[before].second < open[before + 1].second)
        std::swap(open[before], open[before + 1]);
    }
    for (auto i = static_cast<std::size_t>(node.first); i < static_cast<std::size_t>(node.first + node.count); ++i) {
      const double distance = find_crossing(corners_[i], ray, crossing);
      // The lower number if the ray hits an edge of two faces.
      if (distance < best.distance || (distance == best.distance && best.face >= 0 && order_[i] < best.face))
        best = {distance, order_[i]};
    }
  }
  return best;
}

namespace {

/// Coordinates in which ray (i, j) of a grid is the line (i, j, t).
struct GridAxes {
  explicit GridAxes(const RayGrid& g)
      : from(g.from), u((1 / dot(g.u, g.u)) * g.u), v((1 / dot(g.v, g.v)) * g.v), along(g.along) {}
  Vec3<double> from, u, v, along;

  [[nodiscard]] Vec3<double> operator()(const Vec3<double>& p) const {
    const Vec3<double> d = p - from;
    return vec3(dot(d, u), dot(d, v), dot(d, along));
  }
  /// Whether a box about `middle` with half sides h lies beside 0 to last along an axis.
  [[nodiscard]] static bool is_beside(const Vec3<double>& axis, double last, const Vec3<double>& middle,
                                      const Vec3<double>& h) {
    const double at = dot(middle, axis);
    const double reach = std::abs(axis[0]) * h[0] + std::abs(axis[1]) * h[1] + std::abs(axis[2]) * h[2];
    const double slack = 1e-9 * (1 + std::abs(at));  // rounding; a flat box has no thickness to lose
    return at + reach < -slack || at - reach > last + slack;
  }
};

/// Whole numbers from low to high, of 0 ... n - 1.
std::pair<int, int> whole_between(double low, double high, int n) {
  const double most = n;
  return {static_cast<int>(std::ceil(std::clamp(low - kEdge, -1.0, most))),
          static_cast<int>(std::floor(std::clamp(high + kEdge, -1.0, most)))};
}

}  // namespace

void Tree::hits(const RayGrid& grid, Crossing crossing, std::vector<FaceHit>& out, std::vector<FaceHit>* last) const {
  out.assign(static_cast<std::size_t>(grid.nu) * static_cast<std::size_t>(grid.nv), {grid.most, -1});
  if (last != nullptr) last->assign(out.size(), {0, -1});
  if (nodes_.empty()) return;
  const GridAxes axes(grid);
  const auto cover = [&](const Corners& c, std::int32_t face) {
    const double along = dot(c.area_vector(), grid.along);
    const bool leaves = last != nullptr && along > 0;
    if (last == nullptr && crossing != Crossing::kAny && (crossing == Crossing::kInto ? along >= 0 : along <= 0))
      return;
    const Vec3<double> a = axes(c.a), b = axes(c.b), d = axes(c.c);
    if (std::max({a[2], b[2], d[2]}) <= 0 || std::min({a[2], b[2], d[2]}) > grid.most) return;
    const auto [i0, i1] = whole_between(std::min({a[0], b[0], d[0]}), std::max({a[0], b[0], d[0]}), grid.nu);
    const auto [j0, j1] = whole_between(std::min({a[1], b[1], d[1]}), std::max({a[1], b[1], d[1]}), grid.nv);
    const Vec3<double> ab = b - a, ad = d - a;
    const double determinant = ab[0] * ad[1] - ad[0] * ab[1];
    if (determinant == 0) return;
    const double inverse = 1 / determinant;
    for (int i = std::max(i0, 0); i <= std::min(i1, grid.nu - 1); ++i)
      for (int j = std::max(j0, 0); j <= std::min(j1, grid.nv - 1); ++j) {
        const double x = i - a[0], y = j - a[1];
        const double p = (x * ad[1] - ad[0] * y) * inverse, q = (ab[0] * y - x * ab[1]) * inverse;
        if (!(p >= -kEdge && q >= -kEdge && p + q <= 1 + kEdge)) continue;
        const double distance = a[2] + p * ab[2] + q * ad[2];
        if (!(distance > 0 && distance <= grid.most)) continue;
        FaceHit& best = (leaves ? *last : out)[static_cast<std::size_t>(i * grid.nv + j)];
        // The lower number if the ray hits an edge of two faces.
        if ((leaves ? distance > best.distance : distance < best.distance) ||
            (distance == best.distance && best.face >= 0 && face < best.face))
          best = {distance, face};
      }
  };
  std::int32_t open[kDeepest + 1];
  int count = 0;
  open[count++] = 0;
  while (count > 0) {
    const std::int32_t number = open[--count];
    const Node& node = nodes_[static_cast<std::size_t>(number)];
    const Vec3<double> h = 0.5 * (node.box.high - node.box.low), middle = node.box.low + h - axes.from;
    if (GridAxes::is_beside(axes.u, grid.nu - 1.0, middle, h) ||
        GridAxes::is_beside(axes.v, grid.nv - 1.0, middle, h) || GridAxes::is_beside(axes.along, grid.most, middle, h))
      continue;
    if (node.count == 0) {
      open[count++] = node.first;
      open[count++] = number + 1;
    }
    for (auto i = static_cast<std::size_t>(node.first); i < static_cast<std::size_t>(node.first + node.count); ++i)
      cover(corners_[i], order_[i]);
  }
}

Tree::FaceNearest Tree::nearest(const Vec3<double>& p, double square_limit) const {
  FaceNearest best{square_limit, p, -1};
  if (nodes_.empty()) return best;
  std::pair<std::int32_t, double> open[kDeepest + 1];
  int count = 0;
  const auto note = [&](std::int32_t node) {
    open[count++] = {node, nodes_[static_cast<std::size_t>(node)].box.square_distance(p)};
  };
  note(0);
  while (count > 0) {
    const auto [number, square] = open[--count];
    if (square > best.square) continue;
    const Node& node = nodes_[static_cast<std::size_t>(number)];
    if (node.count == 0) {
      note(number + 1);
      note(node.first);
      if (open[count - 2].second < open[count - 1].second) std::swap(open[count - 2], open[count - 1]);
    }
    for (auto i = static_cast<std::size_t>(node.first); i < static_cast<std::size_t>(node.first + node.count); ++i) {
      const Vec3<double> q = nearest_on_triangle(corners_[i], p);
      const double distance = dot(q - p, q - p);
      if (distance < best.square || (distance == best.square && order_[i] < best.face)) best = {distance, q, order_[i]};
    }
  }
  return best;
}

Vec3<double> nearest_on_triangle(const Corners& t, const Vec3<double>& p) {
  const Vec3<double> ab = t.b - t.a, ac = t.c - t.a, ap = p - t.a, bp = p - t.b, cp = p - t.c;
  const double d1 = dot(ab, ap), d2 = dot(ac, ap);
  if (d1 <= 0 && d2 <= 0) return t.a;
  const double d3 = dot(ab, bp), d4 = dot(ac, bp);
  if (d3 >= 0 && d4 <= d3) return t.b;
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return axpy(d1 / (d1 - d3), ab, t.a);
  const double d5 = dot(ab, cp), d6 = dot(ac, cp);
  if (d6 >= 0 && d5 <= d6) return t.c;
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return axpy(d2 / (d2 - d6), ac, t.a);
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) return axpy((d4 - d3) / ((d4 - d3) + (d5 - d6)), t.c - t.b, t.b);
  const double scale = 1 / (va + vb + vc);
  return axpy(vb * scale, ab, axpy(vc * scale, ac, t.a));
}

}  // namespace garra::mesh
