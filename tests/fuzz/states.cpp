// Files of states of a chain (HDF5).
#include "fuzz.hpp"
#include "garra/io/chain_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace garra;
  const fuzz::File file(data, size);
  fuzz::accepted([&] { (void)io::read_states(file.path(), 6); });
  return 0;
}
