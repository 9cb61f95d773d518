// Sets of candidate grasps (HDF5).
#include "garra/io/grasp_set.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace garra;
  const fuzz::File file(data, size);
  fuzz::accepted([&] { (void)io::read_grasp_set(file.path()); });
  return 0;
}
