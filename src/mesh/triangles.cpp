// The surface of a mesh, and the random numbers of a sample.
#include <algorithm>
#include <cmath>

#include "garra/core/error.hpp"
#include "mesh/curvature.hpp"
#include "mesh/tree.hpp"

namespace garra::mesh {

namespace {

class Triangles final : public Surface {
 public:
  Triangles(Mesh mesh, bool watertight) : mesh_(std::move(mesh)), tree_(mesh_), watertight_(watertight) {
    double sum = 0;
    for (std::int64_t f = 0; f < mesh_.faces(); ++f) {
      const Vec3<double> twice = get_corners(mesh_, f).area_vector();
      const double length = norm(twice);
      normals_.push_back(length > 0 ? (1 / length) * twice : Vec3<double>::zero());
      up_to_.push_back(sum += 0.5 * length);
    }
    if (!(sum > 0)) throw Error(ExitCode::kInvalidFile, "no face of the mesh has an area");
    bends_ = compute_bends(mesh_, normals_);
  }

  [[nodiscard]] Place draw(Draws& draws) const override {
    // A face by its share of the area; in it, a square folded onto a triangle.
    const double at = draws.next() * up_to_.back();
    auto face = std::upper_bound(up_to_.begin(), up_to_.end(), at) - up_to_.begin();
    // Guards against rounding: at most the last face that has an area.
    face = std::min(face, std::lower_bound(up_to_.begin(), up_to_.end(), up_to_.back()) - up_to_.begin());
    double u = draws.next(), v = draws.next();
    if (u + v > 1) {
      u = 1 - u;
      v = 1 - v;
    }
    const Corners c = get_corners(mesh_, face);
    return place(axpy(u, c.b - c.a, axpy(v, c.c - c.a, c.a)), face);
  }
  [[nodiscard]] std::optional<Hit> hit(const Ray& ray, Crossing crossing) const override {
    const Tree::FaceHit at = tree_.hit(ray, crossing);
    if (at.face < 0) return std::nullopt;
    return Hit{at.distance, place(axpy(at.distance, ray.along, ray.from), at.face)};
  }
  void hits(const RayGrid& grid, Crossing crossing, std::vector<GridHit>& out) const override {
    std::vector<Tree::FaceHit> faces;
    tree_.hits(grid, crossing, faces);
    to_hits(faces, out);
  }
  void spans(const RayGrid& grid, std::vector<GridHit>& into, std::vector<GridHit>& out_of) const override {
    std::vector<Tree::FaceHit> first, last;
    tree_.hits(grid, Crossing::kAny, first, &last);
    to_hits(first, into);
    to_hits(last, out_of);
  }
  [[nodiscard]] Nearest nearest(const Vec3<double>& point) const override {
    const Tree::FaceNearest at = tree_.nearest(point);
    return {std::sqrt(at.square), place(at.point, at.face)};
  }
  [[nodiscard]] std::optional<Nearest> nearest_within(const Vec3<double>& point, double distance) const override {
    const Tree::FaceNearest at = tree_.nearest(point, distance * distance);
    if (at.face < 0) return std::nullopt;
    return Nearest{std::sqrt(at.square), place(at.point, at.face)};
  }
  [[nodiscard]] bool is_within(const Vec3<double>& point, double distance) const override {
    return tree_.nearest(point, distance * distance).face >= 0;
  }
  [[nodiscard]] Body body(double density) const override {
    return encloses() ? solid(mesh_, density) : shell(mesh_, 0.001 * density);
  }
  [[nodiscard]] bool encloses() const override { return watertight_; }
  [[nodiscard]] Mesh picture() const override { return mesh_; }

 private:
  void to_hits(const std::vector<Tree::FaceHit>& faces, std::vector<GridHit>& out) const {
    out.clear();
    for (const Tree::FaceHit& at : faces)
      out.push_back(at.face < 0 ? GridHit{std::numeric_limits<double>::infinity(), Vec3<double>::zero()}
                                : GridHit{at.distance, normals_[static_cast<std::size_t>(at.face)]});
  }
  [[nodiscard]] Place place(const Vec3<double>& point, std::int64_t face) const {
    const Bend& bend = bends_[static_cast<std::size_t>(face)];
    return {point, normals_[static_cast<std::size_t>(face)], bend.tangent, bend.curvature};
  }

  Mesh mesh_;
  Tree tree_;
  bool watertight_;
  std::vector<Vec3<double>> normals_;
  std::vector<double> up_to_;  ///< area of this face and all before it
  std::vector<Bend> bends_;
};

}  // namespace

std::unique_ptr<Surface> make_surface(Mesh mesh, bool watertight) {
  return std::make_unique<Triangles>(std::move(mesh), watertight);
}

void Surface::hits(const RayGrid& grid, Crossing crossing, std::vector<GridHit>& out) const {
  out.clear();
  for (int i = 0; i < grid.nu; ++i)
    for (int j = 0; j < grid.nv; ++j) {
      const auto found =
          hit({axpy(double(i), grid.u, axpy(double(j), grid.v, grid.from)), grid.along, 0, grid.most}, crossing);
      out.push_back(found ? GridHit{found->distance, found->place.normal}
                          : GridHit{std::numeric_limits<double>::infinity(), Vec3<double>::zero()});
    }
}

void Surface::spans(const RayGrid& grid, std::vector<GridHit>& into, std::vector<GridHit>& out_of) const {
  hits(grid, Crossing::kInto, into);
  RayGrid back = grid;  // the last crossing out is the first one into from the other end
  back.from = axpy(grid.most, grid.along, grid.from);
  back.along = -grid.along;
  hits(back, Crossing::kInto, out_of);
  for (GridHit& hit : out_of)
    if (std::isfinite(hit.distance)) hit.distance = grid.most - hit.distance;
}

std::optional<Nearest> signed_nearest(const Surface& surface, const Vec3<double>& point, double most) {
  const auto inside = [&](const Vec3<double>& along) {
    const auto hit = surface.hit({point, along}, Crossing::kAny);
    return hit && dot(hit->place.normal, along) > 0;
  };
  constexpr double kAligned = 0.99;  // cosine: the nearest place is not on an edge
  const Vec3<double> any = vec3(0.48, 0.6, 0.64);
  std::optional<Nearest> found = surface.nearest_within(point, most);
  if (!found) {
    if (!surface.encloses() || !inside(any)) return std::nullopt;
    found = surface.nearest(point);
    found->distance = -found->distance;
    return found;
  }
  const double height = dot(point - found->place.point, found->place.normal);
  const bool clear = std::abs(height) >= kAligned * found->distance || !surface.encloses();
  if (found->distance > 0 && (clear ? height < 0 : inside(any))) found->distance = -found->distance;
  return found;
}

double Draws::next() {
  if (has_second_) {
    has_second_ = false;
    return second_;
  }
  double first = 0;
  uniform_pair<double>(seed_, SampleIndex<double>::consecutive(sample_), block_++, first, second_);
  has_second_ = true;
  return first;
}

}  // namespace garra::mesh
