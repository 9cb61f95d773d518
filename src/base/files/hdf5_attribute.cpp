#include "base/files/hdf5_attribute.hpp"

#include <vector>

#include "base/files/hdf5.hpp"
#include "garra/core/error.hpp"

namespace garra::io {

std::optional<std::string> root_attribute(const std::string& path, const std::string& name) {
  const Hdf5Turn turn;
  const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!file.valid())
    throw Error(ExitCode::kInputOutput, path + ": cannot be read as an HDF5 file", "Check the path and the file.");
  if (H5Aexists(file.get(), name.c_str()) <= 0) return {};
  const Hdf5Id attribute(H5Aopen(file.get(), name.c_str(), H5P_DEFAULT));
  const Hdf5Id type(attribute.valid() ? H5Aget_type(attribute.get()) : -1);
  const Hdf5Id space(attribute.valid() ? H5Aget_space(attribute.get()) : -1);
  if (!type.valid() || !space.valid() || H5Tget_class(type.get()) != H5T_STRING ||
      H5Sget_simple_extent_npoints(space.get()) != 1)
    return {};
  if (H5Tis_variable_str(type.get()) > 0) {
    char* text = nullptr;
    if (H5Aread(attribute.get(), type.get(), static_cast<void*>(&text)) < 0 || text == nullptr) return {};
    std::string out(text);
    H5free_memory(text);
    return out;
  }
  std::vector<char> text(H5Tget_size(type.get()) + 1, '\0');
  if (H5Aread(attribute.get(), type.get(), text.data()) < 0) return {};
  return std::string(text.data());
}

}  // namespace garra::io
