// Lock of a run folder: one process at a time writes to it.
#pragma once

#include <string>

#include "garra/core/error.hpp"

namespace garra::io {

/// Error: another process holds the lock.
class RunLocked : public Error {
 public:
  using Error::Error;
};

/// Lock held from construction to destruction. The file RUN/garra.lock names the holder: host, process, start. The
/// kernel drops the lock of a process that dies, so one left on this host is taken over at once. Some file systems
/// share no locks between hosts, so the file's claim also counts: another host's claim holds
/// while its date is within an hour of now, past or future.
class RunLock {
 public:
  /// Throws RunLocked (kInputOutput), which names the holder, and Error(kInputOutput) if no lock can be made.
  explicit RunLock(const std::string& run);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// Renews the claim's date; call it regularly.
  void renew() const;

  static constexpr const char* kName = "garra.lock";

 private:
  [[nodiscard]] bool take();
  [[noreturn]] void refuse(const std::string& holder) const;

  std::string run_, path_;
  int descriptor_ = -1;
};

}  // namespace garra::io
