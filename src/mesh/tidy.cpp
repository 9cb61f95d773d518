// From a stranger's triangles to a mesh.
#include <algorithm>
#include <bit>
#include <cmath>

#include "garra/core/error.hpp"
#include "garra/mesh.hpp"

namespace garra::mesh {

namespace {

constexpr double kLargest = 1e6;  ///< [m]; products of four coordinates stay far from overflow
constexpr std::size_t kMostIndices = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(const std::string& problem, const std::string& remedy = {}) {
  throw Error(ExitCode::kInvalidFile, problem, remedy);
}

void check(const Mesh& m) {
  if (m.vertex.size() % 3 != 0 || m.face.size() % 3 != 0) refuse("vertices and faces are not [v,3] and [f,3]");
  if (m.vertex.size() > kMostIndices || m.face.size() > kMostIndices) refuse("more than 700 million vertices or faces");
  if (m.face.empty()) refuse("there is no face", "A mesh of triangles or polygons is needed, not points or curves.");
  for (std::size_t i = 0; i < m.vertex.size(); ++i)
    if (!(std::abs(m.vertex[i]) <= kLargest))
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

/// A table of points by their bits, open addressing.
class PointTable {
 public:
  explicit PointTable(std::size_t most) : slot_(std::bit_ceil(2 * most + 1), -1) {}

  /// The number of a point equal to this one, which is added to `points` where there is none.
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

/// Equal vertices become one; those of no face, and faces with two equal ones, go.
Mesh merged(const Mesh& in, Report& report) {
  Mesh out;
  out.face.reserve(in.face.size());
  PointTable table(std::min(in.vertex.size() / 3, in.face.size()));
  std::vector<std::int32_t> number(in.vertex.size() / 3, -1);
  for (std::size_t f = 0; f < in.face.size(); f += 3) {
    std::int32_t corner[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const auto old = static_cast<std::size_t>(in.face[f + k]);
      // + 0.0: -0 and 0 are one.
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
  report.merged = in.vertices() - out.vertices();
  if (out.face.empty()) refuse("every face has two equal vertices", "The file may be damaged.");
  return out;
}

/// Sides a -> b without just one b -> a, or that are there twice.
std::int64_t count_open_edges(const Mesh& m) {
  std::vector<std::uint64_t> edges;
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
  std::int64_t open = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const bool doubled = (i > 0 && edges[i - 1] == edges[i]) || (i + 1 < edges.size() && edges[i + 1] == edges[i]);
    open += doubled || times(std::rotl(edges[i], 32)) != 1;
  }
  return open;
}

void measure(const Mesh& m, Report& report) {
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
  check(mesh);
  report = {};
  mesh = merged(mesh, report);
  report.open_edges = count_open_edges(mesh);
  measure(mesh, report);
  if (report.volume < 0) {
    report.flipped = true;
    report.volume = -report.volume;
    for (std::size_t f = 0; f < mesh.face.size(); f += 3) std::swap(mesh.face[f + 1], mesh.face[f + 2]);
  }
  return mesh;
}

}  // namespace garra::mesh
