// Bounding volume hierarchy over the triangles of a mesh. Boxes are halved along their longest side at the median, so
// its depth is the logarithm of the number of triangles for any mesh.
#pragma once

#include <utility>

#include "mesh/corners.hpp"

namespace garra::mesh {

/// Tree of boxes over the faces of a mesh.
class Tree {
 public:
  /// Builds the tree of the faces that have an area.
  explicit Tree(const Mesh& mesh);

  struct FaceHit {
    double distance;
    std::int64_t face;  ///< -1: none
  };
  /// The first face that the ray crosses in this sense (T. Moeller and B. Trumbore, JGT 2(1), 1997).
  [[nodiscard]] FaceHit hit(const Ray& ray, Crossing crossing) const;

  /// The same for the rays of a grid: out[i nv + j] of ray (i, j). With `last`, `out` has the first crossings into the
  /// body and `last` the last ones out of it.
  void hits(const RayGrid& grid, Crossing crossing, std::vector<FaceHit>& out,
            std::vector<FaceHit>* last = nullptr) const;

  struct FaceNearest {
    double square;  ///< of the distance
    Vec3<double> point;
    std::int64_t face;
  };
  /// The nearest face with a squared distance below the limit; face -1 if there is none.
  [[nodiscard]] FaceNearest nearest(const Vec3<double>& p,
                                    double square_limit = std::numeric_limits<double>::infinity()) const;

 private:
  struct Box {
    Vec3<double> low, high;
    void take(const Vec3<double>& p);
    [[nodiscard]] double square_distance(const Vec3<double>& p) const;
    /// Distance at which the ray enters; infinity if not before `most`.
    [[nodiscard]] double entry(const Ray& ray, const Vec3<double>& inverse, double most) const;
  };
  struct Node {
    Box box;
    std::int32_t
        first;  ///< a leaf's first entry of order_; else the second child (the first stands next to its parent)
    std::int32_t count;  ///< 0: no leaf
  };
  static constexpr std::int32_t kLeaf = 4;

  std::int32_t build(std::int32_t begin, std::int32_t end, const std::vector<Vec3<double>>& middle);

  std::vector<Corners> corners_;     ///< in the order of order_, once it is built
  std::vector<std::int32_t> order_;  ///< faces
  std::vector<Node> nodes_;
};

/// The point of a triangle nearest to p (C. Ericson, Real-Time Collision Detection, 2005, section 5.1.5).
[[nodiscard]] Vec3<double> nearest_on_triangle(const Corners& c, const Vec3<double>& p);

}  // namespace garra::mesh
