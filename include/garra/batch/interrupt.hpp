// Ends a long call before its time: loops over blocks of work ask between two blocks whether to go on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>

namespace garra {

/// While it lives, `ask` can end the calls of this library that its thread makes. Their loops call it in this thread,
/// between two blocks of work and at most once a period. What `ask` throws, the call throws, and the other threads of
/// the call stop at their next block; the arrays of the call are then incomplete. The Python module asks for signals
/// (Ctrl-C), a study whether its run is cancelled.
class InterruptScope {
 public:
  explicit InterruptScope(std::function<void()> ask, std::chrono::milliseconds period = std::chrono::milliseconds(50));
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  friend void check_interrupt();
  friend class InterruptShare;
  using Clock = std::chrono::steady_clock;

  void check_in_owner();
  void check_in_team() const;
  void check_outer() const;

  std::function<void()> ask_;
  std::chrono::milliseconds period_;
  Clock::time_point next_;
  InterruptScope* outer_;  ///< that the thread had before; asked as well
  bool owns_outer_;        ///< it was made in this thread
  std::atomic<bool> ended_{false};
  std::exception_ptr error_ = {};  ///< once `ended_`
};

/// Goes on, or throws what the innermost scope of the thread asks for. Between two asks it reads the clock: some 30 ns,
/// nothing without a scope. For the host.
void check_interrupt();

/// The scope of a thread that starts a team, in the other threads of that team.
class InterruptShare {
 public:
  /// In the thread that starts the team.
  [[nodiscard]] static InterruptScope* current();
  /// In a thread of the team, for as long as it lives.
  explicit InterruptShare(InterruptScope* of_team);
  ~InterruptShare();
  InterruptShare(const InterruptShare&) = delete;
  InterruptShare& operator=(const InterruptShare&) = delete;

 private:
  InterruptScope* before_;
  bool owned_before_;
};

/// For a loop over steps of microseconds: every 64th call asks.
class EverySoOften {
 public:
  void operator()() const {
    if ((++calls_ & 63) == 0) check_interrupt();
  }

 private:
  mutable unsigned calls_ = 0;
};

/// A body of long problems for the loops of the host (for_each.hpp): body.run<S>(i, between) calls between() after each
/// of its steps.
template <class Body>
struct Interruptible {
  Body body;
  EverySoOften between{};

  template <class S>
  void operator()(std::int64_t i) const {
    body.template run<S>(i, between);
  }
};

}  // namespace garra
