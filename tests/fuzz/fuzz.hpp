// What the fuzz targets have in common (tests/fuzz/README.md). A target reads bytes; whatever they are, it may end well
// or throw garra::Error with a message. Anything else ends the program, and is a finding.
#pragma once

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

/// The bytes as a file, in memory; HDF5 asks where a file really lies, so one without a name does not do.
class File {
 public:
  File(const std::uint8_t* data, std::size_t size) : path_("/dev/shm/garra-fuzz-" + std::to_string(::getpid())) {
    std::FILE* file = std::fopen(path_.c_str(), "wb");
    if (file == nullptr || std::fwrite(data, 1, size, file) != size || std::fclose(file) != 0) std::abort();
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string to_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace garra::fuzz
