// Reads STL: triangles with a vertex per corner. Binary files have 80 bytes, the number of triangles, then 50 bytes
// each: normal, three corners as little-endian float32, two bytes. The other form is text.
#include <bit>
#include <cstring>

#include "mesh/files/formats.hpp"
#include "mesh/files/words.hpp"

namespace garra::io {

namespace {

static_assert(std::endian::native == std::endian::little, "STL is little-endian");
constexpr std::size_t kHeader = 84, kTriangle = 50;

std::uint32_t read_triangle_count(std::string_view bytes) {
  std::uint32_t count = 0;
  std::memcpy(&count, bytes.data() + 80, sizeof count);
  return count;
}
bool has_binary_size(std::string_view bytes) {
  return bytes.size() >= kHeader &&
         bytes.size() == kHeader + kTriangle * static_cast<std::size_t>(read_triangle_count(bytes));
}

mesh::Mesh read_binary(const std::string& path, std::string_view bytes) {
  const std::size_t count = read_triangle_count(bytes);
  check_face_count(path, static_cast<std::int64_t>(count));
  mesh::Mesh m;
  m.vertex.reserve(9 * count);
  m.face.reserve(3 * count);
  for (std::size_t t = 0; t < count; ++t) {
    float corner[9];
    std::memcpy(corner, bytes.data() + kHeader + kTriangle * t + 12, sizeof corner);
    for (const float x : corner) {
      if (!(x - x == 0))
        throw Error(ExitCode::kInvalidFile,
                    path + ": triangle " + std::to_string(t) + " has a corner that is not finite",
                    "Export the mesh again.");
      m.vertex.push_back(x);
    }
    for (std::size_t k = 0; k < 3; ++k) m.face.push_back(static_cast<std::int32_t>(3 * t + k));
  }
  return m;
}

/// Reader of text files: "vertex x y z"; other lines begin or end a facet, and must come in their order.
class TextReader {
 public:
  TextReader(const std::string& path, std::string_view text) : path_(path), words_(path, text) {}

  mesh::Mesh read() {
    while (words_.next_line()) {
      const std::string_view word = words_.word();
      if (word.empty()) continue;
      if (word == "vertex" || word == "VERTEX")
        take_vertex();
      else if (word == "facet" || word == "FACET")
        begin_facet();
      else if (word == "endfacet" || word == "ENDFACET")
        end_facet();
      else if (!is_frame(word))
        words_.refuse("\"" + WordReader::shown(word) + "\" is no word of a text STL",
                      "Binary files are taken, too, where their size is that of their triangles.");
    }
    if (open_) words_.refuse("the file ends inside a facet", "It may be cut short.");
    return std::move(mesh_);
  }

 private:
  static bool is_frame(std::string_view word) {
    for (const char* known : {"solid", "endsolid", "outer", "endloop", "SOLID", "ENDSOLID", "OUTER", "ENDLOOP"})
      if (word == known) return true;
    return false;
  }
  void begin_facet() {
    if (open_) words_.refuse("a facet inside a facet");
    open_ = true;
    corners_ = 0;
  }
  void take_vertex() {
    if (!open_ || corners_ == 3) words_.refuse(open_ ? "a fourth vertex of a facet" : "a vertex outside of a facet");
    for (int i = 0; i < 3; ++i) mesh_.vertex.push_back(words_.number("coordinate"));
    ++corners_;
  }
  void end_facet() {
    if (!open_ || corners_ != 3) words_.refuse("a facet with " + std::to_string(corners_) + " vertices");
    open_ = false;
    const std::int64_t faces = mesh_.faces() + 1;
    check_face_count(path_, faces);
    for (std::int64_t k = 3 * faces - 3; k < 3 * faces; ++k) mesh_.face.push_back(static_cast<std::int32_t>(k));
  }

  const std::string& path_;
  WordReader words_;
  mesh::Mesh mesh_;
  bool open_ = false;
  int corners_ = 0;
};

}  // namespace

mesh::Mesh read_stl(const std::string& path, std::string_view bytes) {
  // The size decides, because headers of binary files may begin with "solid", too.
  if (has_binary_size(bytes)) return read_binary(path, bytes);
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool says_solid =
      begin != bytes.npos && (bytes.substr(begin, 5) == "solid" || bytes.substr(begin, 5) == "SOLID");
  if (says_solid && bytes.substr(0, 1000).find('\0') == bytes.npos) return TextReader(path, bytes).read();
  if (bytes.size() < kHeader)
    throw Error(ExitCode::kInvalidFile, path + ": is no STL file: it has " + std::to_string(bytes.size()) +
                                            " bytes and does not begin with \"solid\"");
  throw Error(ExitCode::kInvalidFile,
              path + ": a binary STL file of " + std::to_string(read_triangle_count(bytes)) + " triangles has " +
                  std::to_string(kHeader + kTriangle * static_cast<std::size_t>(read_triangle_count(bytes))) +
                  " bytes, this one " + std::to_string(bytes.size()),
              "It may be cut short, or no STL file.");
}

}  // namespace garra::io
