// Files of contact problems: ours and FCLIB's (HDF5).
#include "fuzz.hpp"
#include "garra/io/problem_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace garra;
  const fuzz::File file(data, size);
  fuzz::accepted([&] { (void)io::read_problems(file.path()); });
  return 0;
}
