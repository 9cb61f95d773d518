#include "places.hpp"

namespace garra::test {

std::string source_folder() { return GARRA_SOURCE_DIR; }

std::string program() { return GARRA_PROGRAM; }

}  // namespace garra::test
