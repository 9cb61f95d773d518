// Sets of joint screws.
#include "fuzz.hpp"
#include "garra/io/screws_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace garra;
  fuzz::accepted([&] { (void)io::parse_screws(fuzz::to_text(data, size), "fuzz.toml"); });
  return 0;
}
