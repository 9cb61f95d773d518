// Reads bodies from STL and OBJ files, and from words such as "sphere:0.03" (docs/howto/grasp-propose.md). Meters.
#pragma once

#include <memory>
#include <string>

#include "garra/mesh.hpp"

namespace garra::io {

inline constexpr std::int64_t kMaxFaces = 10'000'000;

/// Reads a mesh by the file's name: .stl (binary or text) or .obj (v and f; polygons become fans, other records are
/// ignored). Throws Error, naming file and line, triangle or vertex (kInvalidFile; kInputOutput for a missing file).
/// Coordinates are multiplied by `scale`.
[[nodiscard]] mesh::Mesh read_mesh(const std::string& path, mesh::Report& report, double scale = 1);

/// A body to be grasped, with the checks of its mesh.
struct Object {
  std::shared_ptr<const mesh::Surface> surface;
  mesh::Report report;  ///< of a mesh; else no faces
  std::string warning;  ///< unusual size or mass; mostly empty
  [[nodiscard]] bool is_mesh() const { return report.faces > 0; }
};

/// A file, or a shape in meters: sphere:radius, box:x,y,z (whole sides), cylinder:radius,height, capsule:radius,height,
/// ellipsoid:a,b,c (half axes), superquadric:a,b,c,e1,e2 (and exponents). `scale` 0 means not given: a body larger than
/// kMaxObject is then rejected, with the units that it may be in. Throws Error (kUsage for words that are no shape,
/// else as read_mesh).
[[nodiscard]] Object read_object(const std::string& words, double scale = 0);
/// The same for a given mesh; `name` is for messages.
[[nodiscard]] Object make_object(mesh::Mesh mesh, const std::string& name, double scale = 0);
inline constexpr double kMaxObject = 2;          ///< [m]
inline constexpr double kWarnedSize = 0.6;       ///< [m]; larger ones are warned of
inline constexpr double kWarnedMass = 30;        ///< [kg] at 1000 kg/m^3; heavier ones are warned of
inline constexpr double kSmallestObject = 5e-4;  ///< [m]; smaller ones are warned of
inline constexpr double kLightestObject = 1e-4;  ///< [kg] at 1000 kg/m^3; lighter ones are warned of

}  // namespace garra::io
