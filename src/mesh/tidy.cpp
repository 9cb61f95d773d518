// Turns untrusted triangles into a mesh: merges vertices, removes degenerate faces, orients the bodies.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "garra/core/error.hpp"
#include "garra/mesh.hpp"
#include "mesh/corners.hpp"
#include "mesh/tree.hpp"

namespace garra::mesh {

namespace {

constexpr double kMax = 1e6;  ///< [m]; products of four coordinates stay far from overflow
constexpr std::size_t kMaxIndices = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(const std::string& problem, const std::string& remedy = {}) {
  throw Error(ExitCode::kInvalidFile, problem, remedy);
}

void check_mesh(const Mesh& m) {
  if (m.vertex.size() % 3 != 0 || m.face.size() % 3 != 0) refuse("vertices and faces are not [v,3] and [f,3]");
  if (m.vertex.size() > kMaxIndices || m.face.size() > kMaxIndices) refuse("more than 700 million vertices or faces");
  if (m.face.empty()) refuse("there is no face", "A mesh of triangles or polygons is needed, not points or curves.");
  for (std::size_t i = 0; i < m.vertex.size(); ++i)
    if (!(std::abs(m.vertex[i]) <= kMax))
      refuse("vertex " + std::to_string(i / 3) + " has a coordinate of " + std::to_string(m.vertex[i]),
             "Coordinates are finite numbers of at most 1e6.");
  const auto vertices = static_cast<std::int32_t>(m.vertices());
  for (std::size_t i = 0; i < m.face.size(); ++i)
    if (m.face[i] < 0 || m.face[i] >= vertices)
      refuse("face " + std::to_string(i / 3) + " has vertex " + std::to_string(m.face[i]) + " of " +
                 std::to_string(vertices),
             "Vertices count from 0.");
}

struct Point {
  double x[3];
  bool operator==(const Point&) const = default;
};

/// A hash table of points by their bits, with open addressing.
class PointTable {
 public:
  explicit PointTable(std::size_t most) : slot_(std::bit_ceil(2 * most + 1), -1) {}

  /// The number of an equal point; a new point is added to `points`.
  std::int32_t number(const Point& p, std::vector<double>& points) {
    const std::size_t mask = slot_.size() - 1;
    for (std::size_t at = hash(p) & mask;; at = (at + 1) & mask) {
      if (slot_[at] < 0) {
        slot_[at] = static_cast<std::int32_t>(points.size() / 3);
        points.insert(points.end(), p.x, p.x + 3);
        return slot_[at];
      }
      const double* known = points.data() + 3 * static_cast<std::size_t>(slot_[at]);
      if (Point{{known[0], known[1], known[2]}} == p) return slot_[at];
    }
  }

 private:
  /// Mixed as in MurmurHash3's finalizer, since coordinates are often round numbers.
  static std::size_t hash(const Point& p) {
    std::uint64_t h = 0;
    for (const double x : p.x) {
      h ^= std::bit_cast<std::uint64_t>(x);
      h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
      h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
      h ^= h >> 33;
    }
    return h;
  }

  std::vector<std::int32_t> slot_;
};

/// Merges equal vertices; drops vertices of no face, and faces with two equal ones.
Mesh merged(const Mesh& in, Report& report) {
  Mesh out;
  out.face.reserve(in.face.size());
  PointTable table(std::min(in.vertex.size() / 3, in.face.size()));
  std::vector<std::int32_t> number(in.vertex.size() / 3, -1);
  for (std::size_t f = 0; f < in.face.size(); f += 3) {
    std::int32_t corner[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const auto old = static_cast<std::size_t>(in.face[f + k]);
      // + 0.0: -0 and 0 are equal.
      if (number[old] < 0)
        number[old] = table.number(
            {{in.vertex[3 * old] + 0.0, in.vertex[3 * old + 1] + 0.0, in.vertex[3 * old + 2] + 0.0}}, out.vertex);
      corner[k] = number[old];
    }
    if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0])
      ++report.dropped;
    else
      out.face.insert(out.face.end(), corner, corner + 3);
  }
  if (out.face.empty()) refuse("every face has two equal vertices", "The file may be damaged.");
  return out;
}

/// Disjoint sets of numbers 0 ... n - 1.
class Sets {
 public:
  explicit Sets(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  /// The least number of the set that i is in.
  std::int32_t first(std::int32_t i) {
    while (up(i) != i) i = up(i) = up(up(i));
    return i;
  }
  void unite(std::int32_t i, std::int32_t j) {
    i = first(i), j = first(j);
    up(std::max(i, j)) = std::min(i, j);
  }

 private:
  std::int32_t& up(std::int32_t i) { return parent_[static_cast<std::size_t>(i)]; }
  std::vector<std::int32_t> parent_;
};

using Edges = std::vector<std::uint64_t>;  ///< sides a -> b of faces, a in the upper half

/// Sides a -> b without exactly one b -> a, or that occur twice.
Edges open_edges(const Mesh& m) {
  Edges edges;
  edges.reserve(m.face.size());
  const auto key = [](std::int32_t a, std::int32_t b) {
    return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint32_t>(b);
  };
  for (std::size_t f = 0; f < m.face.size(); f += 3)
    for (std::size_t k = 0; k < 3; ++k) edges.push_back(key(m.face[f + k], m.face[f + (k + 1) % 3]));
  std::sort(edges.begin(), edges.end());
  const auto times = [&](std::uint64_t e) {
    const auto range = std::equal_range(edges.begin(), edges.end(), e);
    return range.second - range.first;
  };
  Edges open;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const bool doubled = (i > 0 && edges[i - 1] == edges[i]) || (i + 1 < edges.size() && edges[i + 1] == edges[i]);
    if (doubled || times(std::rotl(edges[i], 32)) != 1) open.push_back(edges[i]);
  }
  return open;
}

void turn_over(Mesh& m, std::size_t face) { std::swap(m.face[face + 1], m.face[face + 2]); }

/// Turns faces over so that neighbors are wound alike, the fewest of each body. A mesh with an edge of one face or of
/// three, and a one-sided surface, stay as they are. Returns how many were turned.
std::int64_t wind_alike(Mesh& m) {
  struct Side {
    std::int32_t low, high;  ///< vertices of an edge
    std::size_t face;
    bool upward;  ///< the face goes from low to high
    auto operator<=>(const Side&) const = default;
  };
  const auto faces = static_cast<std::size_t>(m.faces());
  std::vector<Side> sides;
  sides.reserve(m.face.size());
  for (std::size_t f = 0; f < faces; ++f)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int32_t a = m.face[3 * f + k], b = m.face[3 * f + (k + 1) % 3];
      sides.push_back({std::min(a, b), std::max(a, b), f, a < b});
    }
  std::sort(sides.begin(), sides.end());
  const auto same_edge = [&](std::size_t i, std::size_t k) {
    return k < sides.size() && sides[i].low == sides[k].low && sides[i].high == sides[k].high;
  };
  std::vector<std::vector<std::pair<std::size_t, bool>>> next(faces);  // neighbors; true: wound otherwise
  for (std::size_t i = 0; i < sides.size(); i += 2) {
    if (!same_edge(i, i + 1) || same_edge(i, i + 2)) return 0;
    const bool otherwise = sides[i].upward == sides[i + 1].upward;
    next[sides[i].face].emplace_back(sides[i + 1].face, otherwise);
    next[sides[i + 1].face].emplace_back(sides[i].face, otherwise);
  }
  std::vector<int> way(faces, -1);  // 1: to be turned over; -1: not yet seen
  std::vector<std::size_t> body;
  std::int64_t turned = 0;
  for (std::size_t first = 0; first < faces; ++first) {
    if (way[first] >= 0) continue;
    way[first] = 0;
    body.assign(1, first);
    std::size_t over = 0;
    for (std::size_t k = 0; k < body.size(); ++k)
      for (const auto& [f, otherwise] : next[body[k]]) {
        const int its = way[body[k]] ^ int { otherwise };
        if (way[f] < 0) {
          way[f] = its;
          over += its == 1;
          body.push_back(f);
        } else if (way[f] != its) {
          return 0;  // one-sided
        }
      }
    const bool swap = 2 * over > body.size();
    for (const std::size_t f : body) way[f] ^= int{swap};
    turned += static_cast<std::int64_t>(swap ? body.size() - over : over);
  }
  for (std::size_t f = 0; f < faces; ++f)
    if (way[f] == 1) turn_over(m, 3 * f);
  return turned;
}

/// At least two, at most four units of float32 rounding at the largest coordinate, for any scale of the coordinates.
double vertex_rounding(const Mesh& m) {
  double largest = 0;
  for (const double x : m.vertex) largest = std::max(largest, std::abs(x));
  return largest * 0x1p-22;
}

/// Unites vertices that are closer than `distance` in each coordinate. Two such vertices share a cell in at least one
/// of eight grids of twice that width, shifted by half a cell.
void unite_near(const Mesh& m, const std::vector<std::int32_t>& vertices, double distance, Sets& sets) {
  if (!(distance > 1e-300)) return;
  constexpr std::ptrdiff_t kMaxOfCell = 32;  // compared with each other: more are no rounding
  std::vector<std::pair<std::array<double, 3>, std::int32_t>> at(vertices.size());
  for (int grid = 0; grid < 8; ++grid) {
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const Vec3<double> p = get_vertex(m, vertices[i]);
      for (int k = 0; k < 3; ++k)
        at[i].first[static_cast<std::size_t>(k)] = std::floor(p[k] / (2 * distance) + 0.5 * (grid >> k & 1));
      at[i].second = vertices[i];
    }
    std::sort(at.begin(), at.end());
    for (auto i = at.begin(); i != at.end(); ++i)
      for (auto j = i + 1; j != at.end() && j->first == i->first && j - i < kMaxOfCell; ++j) {
        const Vec3<double> d = get_vertex(m, i->second) - get_vertex(m, j->second);
        if (std::max({std::abs(d[0]), std::abs(d[1]), std::abs(d[2])}) < distance) sets.unite(i->second, j->second);
      }
  }
}

/// Merges vertices of open edges that differ by rounding, unless a face would collapse.
Mesh joined(const Mesh& in, const Edges& open) {
  std::vector<std::int32_t> ends;
  for (const std::uint64_t e : open)
    ends.insert(ends.end(), {static_cast<std::int32_t>(e >> 32), static_cast<std::int32_t>(e & 0xffffffffu)});
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  const auto vertices = static_cast<std::size_t>(in.vertices());
  Sets sets(vertices);
  unite_near(in, ends, vertex_rounding(in), sets);
  std::vector<bool> collapses(vertices, false);
  for (std::size_t f = 0; f < in.face.size(); f += 3)
    for (std::size_t k = 0; k < 3; ++k)
      if (const std::int32_t a = sets.first(in.face[f + k]); a == sets.first(in.face[f + (k + 1) % 3]))
        collapses[static_cast<std::size_t>(a)] = true;
  Mesh out = in;
  for (std::int32_t& v : out.face)
    if (const std::int32_t first = sets.first(v); !collapses[static_cast<std::size_t>(first)]) v = first;
  return out;
}

/// Whether the body's extreme point in this direction is inside of others: the ray from there crosses their faces an
/// odd number of times.
bool is_inside(const Tree& tree, Ray ray, double step) {
  constexpr int kMaxCrossings = 1000;
  ray.least = step;
  for (int crossings = 0; crossings < kMaxCrossings; ++crossings) {
    const Tree::FaceHit at = tree.hit(ray, Crossing::kAny);
    if (at.face < 0) return crossings % 2 == 1;
    ray.least = at.distance + step;
  }
  return true;  // not known: the body stays as it is
}

/// Flips the bodies of a watertight mesh that have a negative volume and are no cavity of another.
void turn_bodies(Mesh& m, Report& report) {
  const auto vertices = static_cast<std::size_t>(m.vertices());
  Sets sets(vertices);
  for (std::size_t f = 0; f < m.face.size(); f += 3)
    for (const std::size_t k : {1, 2}) sets.unite(m.face[f], m.face[f + k]);
  std::vector<double> volume(vertices, 0.0);  // six times, at the first vertex of each body
  const Vec3<double> middle =
      0.5 * (vec3(report.low[0], report.low[1], report.low[2]) + vec3(report.high[0], report.high[1], report.high[2]));
  for (std::int64_t f = 0; f < m.faces(); ++f) {
    const Corners c = get_corners(m, f).about(middle);
    volume[static_cast<std::size_t>(sets.first(m.face[static_cast<std::size_t>(3 * f)]))] += dot(c.a, cross(c.b, c.c));
  }
  // Each body's extreme vertex in a direction that no edge of a drawing has.
  const Vec3<double> along = vec3(0.8321, 0.4177, std::sqrt(1 - 0.8321 * 0.8321 - 0.4177 * 0.4177));
  std::vector<std::int32_t> last(vertices, -1);
  report.bodies = 0;
  bool any = false;
  const double least = -1e-13 * std::pow(report.extent(), 3);  // above it the sign may be rounding
  for (std::int32_t v = 0; v < static_cast<std::int32_t>(vertices); ++v) {
    const auto body = static_cast<std::size_t>(sets.first(v));
    report.bodies += last[body] < 0;
    any = any || volume[body] < least;
    if (last[body] < 0 || dot(along, get_vertex(m, v) - get_vertex(m, last[body])) > 0) last[body] = v;
  }
  if (!any) return;
  const Tree tree(m);
  std::vector<bool> turned(vertices, false);
  for (std::size_t body = 0; body < vertices; ++body) {
    if (!(volume[body] < least) || is_inside(tree, {get_vertex(m, last[body]), along}, 1e-9 * report.extent()))
      continue;
    turned[body] = true;
    if (++report.inverted == 1) report.inverted_at = get_vertex(m, last[body]);
  }
  for (std::size_t f = 0; f < m.face.size(); f += 3)
    if (turned[static_cast<std::size_t>(sets.first(m.face[f]))]) turn_over(m, f);
}

void measure_mesh(const Mesh& m, Report& report) {
  report.vertices = m.vertices();
  report.faces = m.faces();
  report.low.fill(std::numeric_limits<double>::infinity());
  report.high.fill(-std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < m.vertex.size(); ++i) {
    report.low[i % 3] = std::min(report.low[i % 3], m.vertex[i]);
    report.high[i % 3] = std::max(report.high[i % 3], m.vertex[i]);
  }
  report.area = shell(m, 1).mass;
  report.volume = solid(m, 1).mass;
}

}  // namespace

double Report::extent() const { return std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]}); }

Mesh tidy(Mesh mesh, Report& report) {
  check_mesh(mesh);
  report = {};
  const std::int64_t given = mesh.vertices();
  mesh = merged(mesh, report);
  Edges open = open_edges(mesh);
  if (!open.empty()) {
    Mesh closer = merged(joined(mesh, open), report);
    if (Edges fewer = open_edges(closer); fewer.size() < open.size()) {
      mesh = std::move(closer);
      open = std::move(fewer);
    }
    report.turned = wind_alike(mesh);
    if (report.turned > 0) open = open_edges(mesh);
  }
  report.merged = given - mesh.vertices();
  report.open_edges = std::ssize(open);
  measure_mesh(mesh, report);
  if (report.volume < 0) {
    report.flipped = true;
    report.volume = -report.volume;
    for (std::size_t f = 0; f < mesh.face.size(); f += 3) turn_over(mesh, f);
  }
  if (report.watertight()) {
    turn_bodies(mesh, report);
    if (report.inverted > 0) report.volume = solid(mesh, 1).mass;
  }
  return mesh;
}

}  // namespace garra::mesh
