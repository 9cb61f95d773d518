// Functions that wait in the middle for an answer of the caller: each runs on a stack of its own.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <exception>
#include <functional>

namespace garra::mcp {

/// Stacks of a number of fibers; pages that are never touched take no memory.
class Stacks {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 18;

  explicit Stacks(std::size_t count);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  std::byte* operator[](std::size_t k) const { return memory_ + k * kBytes; }

 private:
  std::size_t bytes_;
  std::byte* memory_;
};

/// A suspended function. resume() and the destructor belong to the thread that made the fiber.
class Fiber {
 public:
  /// Runs nothing yet.
  Fiber(std::byte* stack, std::function<void(Fiber&)> body);
  ~Fiber() { cancel(); }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the body until it waits or ends. Throws what the body throws.
  void resume();
  /// Ends the body where it waits; its local variables are destroyed.
  void cancel() noexcept;
  [[nodiscard]] bool done() const { return done_; }
  /// Called by the body: returns to the caller of resume().
  void wait();

 private:
  struct Cancelled {};
  static void enter(unsigned high, unsigned low);
  void run() noexcept;

  std::function<void(Fiber&)> body_;
  ucontext_t here_{}, caller_{};
  std::exception_ptr error_;
  bool started_ = false, done_ = false, cancelled_ = false;
};

}  // namespace garra::mcp
