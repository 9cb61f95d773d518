// What the fuzz targets have in common (tests/fuzz/README.md). A target reads bytes; whatever they are, it may end well
// or throw garra::Error with a message. Anything else ends the program, and is a finding.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "garra/core/error.hpp"

namespace garra::fuzz {

[[noreturn]] inline void finding(const std::string& what) {
  std::fprintf(stderr, "finding: %s\n", what.c_str());
  std::abort();
}

/// Reads; whether it was accepted. A refusal names its reason and never our own bug.
template <class Read>
bool accepted(const Read& read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    if (*error.what() == '\0') finding("refused without a message");
    if (error.code() == ExitCode::kInternal) finding(error.what());
    return false;
  }
}

/// What was accepted and written out is accepted again, and is then written the same.
template <class Print>
void round_trip(const std::string& text, const Print& print_of) {
  std::string first;
  if (!accepted([&] { first = print_of(text); })) return;
  std::string again;
  if (!accepted([&] { again = print_of(first); })) finding("what we have written is refused:\n" + first);
  if (again != first) finding("written twice, it differs:\n" + first + "\n--- and\n" + again);
}

/// The bytes as a file in memory.
class File {
 public:
  File(const std::uint8_t* data, std::size_t size) : descriptor_(::memfd_create("fuzz", 0)) {
    if (descriptor_ < 0 || ::write(descriptor_, data, size) != static_cast<ssize_t>(size)) std::abort();
    path_ = "/proc/self/fd/" + std::to_string(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(descriptor_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace garra::fuzz
