// Reads mesh files by their names, and objects by the words of the command line.
#include <algorithm>
#include <filesystem>
#include <map>
#include <span>

#include "base/files/text_file.hpp"
#include "garra/io/mesh_file.hpp"
#include "mesh/files/formats.hpp"
#include "mesh/files/words.hpp"

namespace garra::io {

namespace {

constexpr std::size_t kMaxMeshFile = 2'000'000'000;

std::string read_bytes(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > kMaxMeshFile)
    throw Error(ExitCode::kInvalidFile, path + ": " + std::to_string(size) + " bytes, more than 2e9",
                "Simplify the mesh; a few thousand triangles are enough for most objects.");
  return read_file(path, kMaxMeshFile);
}

/// Rethrows the error with the file's path.
[[noreturn]] void rethrow_of(const std::string& path, const Error& e) { throw Error(e.code(), path + ": " + e.what()); }

std::string to_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

/// Parses "0.1,0.05,0.2".
std::vector<double> parse_numbers(const std::string& shape, std::string_view text) {
  std::vector<double> out;
  while (true) {
    const std::string_view one = text.substr(0, text.find(','));
    double x = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), x);
    if (error != std::errc() || end != one.data() + one.size())
      throw Error(ExitCode::kUsage, shape + ": \"" + WordReader::shown(one) + "\" is no number");
    out.push_back(x);
    if (one.size() == text.size()) return out;
    text.remove_prefix(one.size() + 1);
  }
}

struct Shape {
  const char* numbers;
  std::size_t count, lengths;  ///< of the numbers the first are lengths
  std::unique_ptr<mesh::Surface> (*make)(const std::vector<double>& x);
};
const std::map<std::string, Shape>& shapes() {
  using V = const std::vector<double>&;
  static const std::map<std::string, Shape> all = {
      {"sphere", {"radius", 1, 1, [](V x) { return mesh::make_sphere(x[0]); }}},
      {"box", {"x,y,z", 3, 3, [](V x) { return mesh::make_box(vec3(x[0], x[1], x[2])); }}},
      {"cylinder", {"radius,height", 2, 2, [](V x) { return mesh::make_cylinder(x[0], x[1]); }}},
      {"capsule", {"radius,height", 2, 2, [](V x) { return mesh::make_capsule(x[0], x[1]); }}},
      {"ellipsoid", {"a,b,c", 3, 3, [](V x) { return mesh::make_ellipsoid(vec3(x[0], x[1], x[2])); }}},
      {"superquadric",
       {"a,b,c,e1,e2", 5, 3, [](V x) { return mesh::make_superquadric(vec3(x[0], x[1], x[2]), x[3], x[4]); }}},
  };
  return all;
}

std::string length_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

/// Size of an object without a given scale: length and mass if its numbers are meters.
struct Size {
  std::string name;
  std::vector<double> lengths;
  double mass = 0;  ///< of kAssumedDensity [kg]; 0: not known

  [[nodiscard]] double longest() const { return *std::max_element(lengths.begin(), lengths.end()); }
  /// "0.08 x 0.1 x 0.12 m, 0.96 kg"
  [[nodiscard]] std::string text(double scale) const {
    std::string out;
    for (const double x : lengths) out += (out.empty() ? "" : " x ") + length_text(scale * x);
    return out + " m" + (mass > 0 ? ", " + length_text(scale * scale * scale * mass) + " kg" : "");
  }
  /// The units that the numbers may have.
  [[nodiscard]] std::string candidates() const {
    std::string out;
    for (const auto& [unit, scale] : {std::pair{"mm", 0.001}, {"cm", 0.01}, {"inches", 0.0254}})
      out +=
          std::string(out.empty() ? "" : "; in ") + unit + ", --scale " + length_text(scale) + " (" + text(scale) + ")";
    return out + (mass > 0 ? "; kg at 1000 kg/m^3" : "");
  }
};
constexpr double kAssumedDensity = 1000;  ///< [kg/m^3]

/// Checks that unscaled lengths fit an object that can be grasped. Returns a warning on unusual ones.
std::string check_units(const Size& size, ExitCode code) {
  if (size.longest() > kMaxObject)
    throw Error(
        code,
        size.name + ": it measures " + length_text(size.longest()) +
            " m if its numbers are meters, and the file's unit is not known",
        "Choose the unit. In " + size.candidates() + "; --scale 1 where it really is as large (Python: scale=0.001).");
  if (size.longest() <= kWarnedSize && size.mass <= kWarnedMass) return "";
  return "the object is large for a hand, " + size.text(1) + ": is its unit the meter? In " + size.candidates();
}

/// The shape of "name:numbers"; null if the text is none. `scale` 0: not given.
std::shared_ptr<const mesh::Surface> parse_shape(const std::string& words, double scale) {
  const std::size_t colon = words.find(':');
  const auto found = shapes().find(words.substr(0, colon));
  if (colon == std::string::npos || found == shapes().end()) return nullptr;
  std::vector<double> x = parse_numbers(found->first, std::string_view(words).substr(colon + 1));
  if (x.size() != found->second.count)
    throw Error(ExitCode::kUsage, words + ": " + std::to_string(x.size()) + " numbers",
                "Write " + found->first + ":" + found->second.numbers + " in meters.");
  const auto lengths = std::span(x).first(found->second.lengths);
  for (double& length : lengths) length *= scale > 0 ? scale : 1;
  if (scale == 0) (void)check_units({words, {lengths.begin(), lengths.end()}}, ExitCode::kUsage);
  return found->second.make(x);
}

void check_scale(double scale) {
  if (!(scale >= 0) || scale > 1e9)
    throw Error(ExitCode::kUsage, "scale = " + std::to_string(scale), "It is positive.");
}

}  // namespace

void check_face_count(const std::string& path, std::int64_t faces) {
  if (faces > kMaxFaces)
    throw Error(ExitCode::kInvalidFile, path + ": more than " + std::to_string(kMaxFaces) + " triangles",
                "Simplify the mesh; a few thousand triangles are enough for most objects.");
}

mesh::Mesh read_mesh(const std::string& path, mesh::Report& report, double scale) {
  const std::string ending = to_lower_case(std::filesystem::path(path).extension().string());
  if (ending != ".stl" && ending != ".obj")
    throw Error(ExitCode::kUsage, path + ": is neither .stl nor .obj",
                "Objects are STL and OBJ files, or sphere:radius, box:x,y,z, cylinder:radius,height, "
                "capsule:radius,height, ellipsoid:a,b,c, superquadric:a,b,c,e1,e2.");
  const std::string bytes = read_bytes(path);
  mesh::Mesh m = ending == ".stl" ? read_stl(path, bytes) : read_obj(path, bytes);
  for (double& x : m.vertex) x *= scale;
  try {
    return mesh::tidy(std::move(m), report);
  } catch (const Error& e) {
    rethrow_of(path, e);
  }
}

namespace {

Object finished(mesh::Mesh mesh, const mesh::Report& report, const std::string& name, double scale) {
  Object out;
  out.report = report;
  const bool has_volume = report.watertight() && report.volume > 0;
  Size size{name, {}, has_volume ? kAssumedDensity * report.volume : 0};
  for (std::size_t k = 0; k < 3; ++k) size.lengths.push_back(report.high[k] - report.low[k]);
  const auto warn = [&](const std::string& of) {
    if (!of.empty()) out.warning += (out.warning.empty() ? name + ": " : "; ") + of;
  };
  if (scale == 0) warn(check_units(size, ExitCode::kInvalidFile));
  if (report.extent() < kSmallestObject || (has_volume && size.mass < kLightestObject))
    warn("the object is only " + size.text(1) + ": is the scale right?");
  if (!report.watertight())
    warn("the mesh is not watertight (" + std::to_string(report.open_edges) + " open or doubled edges of " +
         std::to_string(3 * report.faces) + ")");
  if (report.turned > 0)
    warn(std::to_string(report.turned) + " of " + std::to_string(report.faces) +
         " faces were wound otherwise than their neighbors: they were turned over");
  if (report.inverted > 0)
    warn(std::to_string(report.inverted) + " of " + std::to_string(report.bodies) +
         " bodies were inside out, the first at (" + length_text(report.inverted_at[0]) + ", " +
         length_text(report.inverted_at[1]) + ", " + length_text(report.inverted_at[2]) +
         ") m: their faces were turned over");
  try {
    out.surface = mesh::make_surface(std::move(mesh), has_volume);
  } catch (const Error& e) {
    rethrow_of(name, e);
  }
  return out;
}

}  // namespace

Object make_object(mesh::Mesh mesh, const std::string& name, double scale) {
  check_scale(scale);
  if (scale > 0)
    for (double& x : mesh.vertex) x *= scale;
  mesh::Report report;
  try {
    mesh = mesh::tidy(std::move(mesh), report);
  } catch (const Error& e) {
    rethrow_of(name, e);
  }
  return finished(std::move(mesh), report, name, scale);
}

Object read_object(const std::string& words, double scale) {
  check_scale(scale);
  if (auto shape = parse_shape(words, scale)) return {std::move(shape), {}, {}};
  mesh::Report report;
  mesh::Mesh m = read_mesh(words, report, scale > 0 ? scale : 1);
  return finished(std::move(m), report, words, scale);
}

}  // namespace garra::io
