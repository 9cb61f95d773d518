// Sets of candidate grasps in NumPy's archives (NPZ): HDF5, which it is not about, never sees these bytes.
#include "base/files/arrays/zip.hpp"
#include "fuzz.hpp"
#include "garra/io/grasp_set.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace garra;
  const fuzz::File file(data, size);
  if (!io::is_zip(file.path())) return -1;
  fuzz::accepted([&] { (void)io::read_grasp_set(file.path()); });
  return 0;
}
