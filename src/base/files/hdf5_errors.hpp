// What HDF5 says when something fails, for our own messages.
#pragma once

#include <hdf5.h>

#include <string>

namespace garra::io {

/// Keeps HDF5 from printing its error stack while our own message is on its way; gives the printer
/// back afterwards, because the process may be somebody else's.
class QuietHdf5 {
 public:
  QuietHdf5() {
    depth_ = depth_ + 1;
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;
  ~QuietHdf5() {
    H5Eset_auto2(H5E_DEFAULT, print_, data_);
    depth_ = depth_ - 1;
  }
  /// Whether this thread is within HDF5: a signal then tells of the file, since the library does not survive every one.
  [[nodiscard]] static bool is_at_work() { return depth_ > 0; }

 private:
  static inline thread_local volatile int depth_ = 0;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// The most specific line of HDF5's error stack. Any further HDF5 call empties the stack: ask at
/// once.
[[nodiscard]] std::string hdf5_reason();

/// Throws Error(kInputOutput) with HDF5's reason.
[[noreturn]] void fail_to_build(const std::string& what);

}  // namespace garra::io
