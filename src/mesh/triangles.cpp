// The surface of a mesh, and the random numbers of a sample.
#include <algorithm>

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
  [[nodiscard]] Nearest nearest(const Vec3<double>& point) const override {
    const Tree::FaceNearest at = tree_.nearest(point);
    return {std::sqrt(at.square), place(at.point, at.face)};
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
