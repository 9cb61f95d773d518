// Ends a long call before its time: its loops check between two blocks whether to continue.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>

namespace garra {

/// A callback `ask` that can end the library calls of its thread while the scope lives. Their loops
/// call it in this thread, between two blocks of work, at most once a period. An exception from
/// `ask` leaves the call; its other threads stop at their next block, and its arrays are then
/// incomplete. The Python module checks for signals (Ctrl-C), a study for its run being canceled.
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
  InterruptScope* outer_;  ///< the thread's scope before; asked as well
  bool owns_outer_;        ///< it was made in this thread
  std::atomic<bool> ended_{false};
  std::exception_ptr error_ = {};  ///< set once `ended_`
};

/// Returns, or throws what the thread's innermost scope asks for. Between two calls of `ask` it
/// reads the clock: some 30 ns, or nothing without a scope. For the host.
void check_interrupt();

/// Installs the scope of a thread that starts a team in the team's other threads.
class InterruptShare {
 public:
  /// Call it in the thread that starts the team.
  [[nodiscard]] static InterruptScope* current();
  /// Call it in a thread of the team; in effect for its lifetime.
  explicit InterruptShare(InterruptScope* of_team);
  ~InterruptShare();
  InterruptShare(const InterruptShare&) = delete;
  InterruptShare& operator=(const InterruptShare&) = delete;

 private:
  InterruptScope* before_;
  bool owned_before_;
};

/// A check for a loop over steps of microseconds: every 64th call asks.
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
