// Mesh files, as they stand in memory.
#pragma once

#include <string>
#include <string_view>

#include "garra/mesh.hpp"

namespace garra::io {

/// Binary or text; a vertex for each corner.
[[nodiscard]] mesh::Mesh read_stl(const std::string& path, std::string_view bytes);
[[nodiscard]] mesh::Mesh read_obj(const std::string& path, std::string_view text);

/// Throws Error(kInvalidFile) where there are more than kMostFaces.
void check_face_count(const std::string& path, std::int64_t faces);

}  // namespace garra::io
