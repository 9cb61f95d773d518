// One process at a time writes to a run folder.
#pragma once

#include <string>

#include "garra/core/error.hpp"

namespace garra::io {

/// Another process holds the lock.
class RunLocked : public Error {
 public:
  using Error::Error;
};

/// Held from its construction to its destruction. The file RUN/garra.lock says who holds it: host, process, since when.
/// The kernel drops the lock of a process that dies, so one left on this host is taken over at once. A file system that
/// shares no locks between hosts is why the file's own word counts, too: another host's claim holds until its date is
/// an hour from now, in the past or, by a clock that is ahead, in the future.
class RunLock {
 public:
  /// Throws RunLocked (kInputOutput), which names the holder, and Error(kInputOutput) where no lock can be made.
  explicit RunLock(const std::string& run);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// To be called now and then.
  void renew() const;

  static constexpr const char* kName = "garra.lock";

 private:
  [[nodiscard]] bool take();
  [[noreturn]] void refuse(const std::string& holder) const;

  std::string run_, path_;
  int descriptor_ = -1;
};

}  // namespace garra::io
