#include "mesh/curvature.hpp"

#include <cmath>

#include "garra/core/elementary.hpp"

namespace garra::mesh {

namespace {

/// A vertex with more faces, like the tip of a finely cut cone, counts as an edge, to bound the time.
constexpr std::int32_t kMaxNeighbors = 256;

/// Index of the faces around each vertex.
class Around {
 public:
  explicit Around(const Mesh& m) : first_(static_cast<std::size_t>(m.vertices()) + 1), face_(m.face.size()) {
    for (const std::int32_t v : m.face) ++first_[static_cast<std::size_t>(v) + 1];
    for (std::size_t v = 1; v < first_.size(); ++v) first_[v] += first_[v - 1];
    std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t i = 0; i < m.face.size(); ++i)
      face_[static_cast<std::size_t>(next[static_cast<std::size_t>(m.face[i])]++)] = static_cast<std::int32_t>(i / 3);
  }
  struct Range {
    const std::int32_t *begin, *end;
  };
  [[nodiscard]] Range of(std::int32_t vertex) const {
    const auto v = static_cast<std::size_t>(vertex);
    return {face_.data() + first_[v], face_.data() + first_[v + 1]};
  }

 private:
  std::vector<std::int32_t> first_, face_;
};

/// N. Max: the corner's cross product over the squares of its two sides. On a sphere the sum is the exact normal.
double weight_at(const Mesh& m, std::int32_t face, std::int32_t vertex) {
  const std::int32_t* v = m.face.data() + 3 * static_cast<std::size_t>(face);
  const int k = v[0] == vertex ? 0 : v[1] == vertex ? 1 : 2;
  const Vec3<double> p = get_vertex(m, vertex), a = get_vertex(m, v[(k + 1) % 3]) - p,
                     b = get_vertex(m, v[(k + 2) % 3]) - p;
  const double squares = dot(a, a) * dot(b, b);
  return squares > 0 ? norm(cross(a, b)) / squares : 0;
}

/// The normal at a corner of the face, from the neighbors that continue without a crease.
Vec3<double> corner_normal(const Mesh& m, const std::vector<Vec3<double>>& normals, const Around::Range& around,
                           const std::array<std::int32_t, 2>& face_and_vertex) {
  const Vec3<double>& own = normals[static_cast<std::size_t>(face_and_vertex[0])];
  if (around.end - around.begin > kMaxNeighbors) return own;
  const double least = sincos(kCrease).cos;
  Vec3<double> sum = Vec3<double>::zero();
  for (const std::int32_t* f = around.begin; f != around.end; ++f) {
    const Vec3<double>& n = normals[static_cast<std::size_t>(*f)];
    if (dot(n, own) > least) sum = axpy(weight_at(m, *f, face_and_vertex[1]), n, sum);
  }
  const double length = norm(sum);
  return length > 0 ? (1 / length) * sum : own;
}

/// Least-squares fit of the second form, which maps the sides of a face to the differences of the normals at their
/// ends. For a side e and a difference d: a e_u + b e_v = d_u and b e_u + c e_v = d_v (Rusinkiewicz, equation (5)).
struct Fit {
  double uu = 0, uv = 0, vv = 0, right_a = 0, right_b = 0, right_c = 0;

  void add(const std::array<double, 2>& e, const std::array<double, 2>& d) {
    uu += e[0] * e[0];
    uv += e[0] * e[1];
    vv += e[1] * e[1];
    right_a += e[0] * d[0];
    right_b += e[1] * d[0] + e[0] * d[1];
    right_c += e[1] * d[1];
  }
  /// Solves [[uu, uv, 0], [uv, uu + vv, uv], [0, uv, vv]] (a, b, c) = right.
  [[nodiscard]] Form solved() const {
    if (!(uu > 0 && vv > 0)) return {0, 0, 0};
    const double pivot = uu + vv - uv * uv / uu - uv * uv / vv;
    if (!(pivot > 1e-12 * (uu + vv))) return {0, 0, 0};
    const double b = (right_b - uv / uu * right_a - uv / vv * right_c) / pivot;
    return {(right_a - uv * b) / uu, b, (right_c - uv * b) / vv};
  }
};

}  // namespace

Bend principal(const Form& form, const Vec3<double>& u, const Vec3<double>& n) {
  const double half = 0.5 * (form.a - form.c), middle = 0.5 * (form.a + form.c);
  const double radius = std::sqrt(half * half + form.b * form.b);
  if (!(radius > 1e-9 * std::abs(middle))) return {u, {middle, middle}};
  const SinCos<double> turn = sincos(0.5 * atan2(form.b, half));
  return {turn.cos * u + turn.sin * cross(n, u), {middle + radius, middle - radius}};
}

std::vector<Bend> compute_bends(const Mesh& mesh, const std::vector<Vec3<double>>& normals) {
  const Around around(mesh);
  std::vector<Bend> out(normals.size());
  for (std::size_t f = 0; f < out.size(); ++f) {
    const Vec3<double>& n = normals[f];
    if (!(norm(n) > 0)) {
      out[f] = {vec3(1.0, 0.0, 0.0), {0, 0}};
      continue;
    }
    const Vec3<double> u = across(n), v = cross(n, u);
    const std::int32_t* corner = mesh.face.data() + 3 * f;
    Vec3<double> point[3], normal[3];
    for (int k = 0; k < 3; ++k) {
      point[k] = get_vertex(mesh, corner[k]);
      normal[k] = corner_normal(mesh, normals, around.of(corner[k]), {static_cast<std::int32_t>(f), corner[k]});
    }
    Fit fit;
    for (int k = 0; k < 3; ++k) {
      const Vec3<double> e = point[(k + 1) % 3] - point[k], d = normal[(k + 1) % 3] - normal[k];
      fit.add({dot(e, u), dot(e, v)}, {dot(d, u), dot(d, v)});
    }
    out[f] = principal(fit.solved(), u, n);
  }
  return out;
}

}  // namespace garra::mesh
