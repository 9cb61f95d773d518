// Parsers of mesh files in memory.
#pragma once

#include <string>
#include <string_view>

#include "garra/mesh.hpp"

namespace garra::io {

/// Reads binary or text STL; every corner becomes a vertex.
[[nodiscard]] mesh::Mesh read_stl(const std::string& path, std::string_view bytes);
[[nodiscard]] mesh::Mesh read_obj(const std::string& path, std::string_view text);

/// Throws Error(kInvalidFile) if there are more than kMaxFaces.
void check_face_count(const std::string& path, std::int64_t faces);

}  // namespace garra::io
