// Serializes access to HDF5 and takes its error reasons for garra's own messages.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>

namespace garra::io {

/// Lock around every use of HDF5, which is not always built for threads: other threads wait. It also silences HDF5's
/// error stack while our own message is on its way. The printer is restored afterwards, because the process may belong
/// to another program.
class Hdf5Turn {
 public:
  Hdf5Turn() : alone_(mutex()) {
    depth_ = depth_ + 1;
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  Hdf5Turn(const Hdf5Turn&) = delete;
  Hdf5Turn& operator=(const Hdf5Turn&) = delete;
  ~Hdf5Turn() {
    H5Eset_auto2(H5E_DEFAULT, print_, data_);
    depth_ = depth_ - 1;
  }
  /// Whether this thread is within HDF5: a signal handler then reports the file, since HDF5 may crash on it.
  [[nodiscard]] static bool is_at_work() { return depth_ > 0; }

 private:
  /// Recursive, as turns nest. Never destroyed: a file may be closed when the program ends.
  static std::recursive_mutex& mutex() {
    static auto* const only = new std::recursive_mutex;
    return *only;
  }

  static inline thread_local volatile int depth_ = 0;
  std::scoped_lock<std::recursive_mutex> alone_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// The most specific line of HDF5's error stack. Call it immediately: any further HDF5 call empties the stack.
[[nodiscard]] std::string hdf5_reason();

/// Throws Error(kInputOutput) with HDF5's reason.
[[noreturn]] void fail_to_build(const std::string& what);

}  // namespace garra::io
