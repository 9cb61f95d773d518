// Reads OBJ: vertices and polygons of Wavefront's format. Textures, normals, groups and materials are ignored.
#include "mesh/files/formats.hpp"
#include "mesh/files/words.hpp"

namespace garra::io {

namespace {

class ObjReader {
 public:
  ObjReader(const std::string& path, std::string_view text)
      : path_(path), words_(path, text, WordReader::Lines::kGoOn) {}

  mesh::Mesh read() {
    while (words_.next_line()) {
      const std::string_view word = words_.word();
      if (word == "v")
        for (int i = 0; i < 3; ++i) mesh_.vertex.push_back(words_.number("coordinate"));
      else if (word == "f" || word == "fo")
        take_face();
      else if (!word.empty() && word[0] != '#')
        leave_alone(word);
    }
    // Vertices may come after the faces that name them.
    if (largest_ > mesh_.vertices())
      throw Error(ExitCode::kInvalidFile,
                  path_ + ":" + std::to_string(largest_line_) + ": vertex " + std::to_string(largest_) + " of " +
                      std::to_string(mesh_.vertices()),
                  "Vertices count from 1; the file may be cut short.");
    return std::move(mesh_);
  }

 private:
  /// Skips a statement of the format that does not concern triangles.
  void leave_alone(std::string_view word) {
    constexpr std::string_view kKnown =
        " vt vn vp g o s l p mg usemtl mtllib usemap maplib lod bevel c_interp d_interp shadow_obj trace_obj cstype "
        "deg "
        "bmat step curv curv2 surf parm trim hole scrv sp end con ctech stech call csh scmp cdc cdp bzp bsp res ";
    if (kKnown.find(" " + std::string(word) + " ") == kKnown.npos)
      words_.refuse("\"" + WordReader::shown(word) + "\" is no word of the OBJ format",
                    "Vertices are \"v x y z\", faces \"f 1 2 3\", comments begin with #.");
    words_.skip();
  }
  /// Reads a polygon as a fan of triangles about its first vertex.
  void take_face() {
    std::int64_t first = 0, before = 0, corners = 0;
    for (std::string_view word = words_.word(); !word.empty(); word = words_.word()) {
      if (word[0] == '#') break;  // a comment, which does not go on in the next line
      const std::int64_t vertex = parse_vertex(word);
      if (++corners == 1) first = vertex;
      if (corners >= 3) add(first, before, vertex);
      before = vertex;
    }
    if (corners < 3) words_.refuse("a face with " + std::to_string(corners) + " vertices", "It needs three or more.");
  }
  void add(std::int64_t a, std::int64_t b, std::int64_t c) {
    check_face_count(path_, mesh_.faces() + 1);
    for (const std::int64_t v : {a, b, c}) mesh_.face.push_back(static_cast<std::int32_t>(v - 1));
  }
  /// Vertex index of "7", "7/1", "7//3", "7/1/3", or "-1", counted from the last vertex so far.
  std::int64_t parse_vertex(std::string_view word) {
    std::int64_t v = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), v);
    const bool whole = error == std::errc() && (end == word.data() + word.size() || *end == '/');
    if (!whole || v == 0)
      words_.refuse("\"" + WordReader::shown(word) + "\" is no vertex of a face",
                    "Vertices count from 1, or back from -1.");
    if (v < 0) v += mesh_.vertices() + 1;
    if (v < 1 || v > std::numeric_limits<std::int32_t>::max())
      words_.refuse("vertex " + WordReader::shown(word) + " of " + std::to_string(mesh_.vertices()) + " so far");
    if (v > largest_) {
      largest_ = v;
      largest_line_ = words_.line();
    }
    return v;
  }

  const std::string& path_;
  WordReader words_;
  mesh::Mesh mesh_;
  std::int64_t largest_ = 0, largest_line_ = 0;  ///< vertex that a face names
};

}  // namespace

mesh::Mesh read_obj(const std::string& path, std::string_view text) { return ObjReader(path, text).read(); }

}  // namespace garra::io
