#include "contact/mcp/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <utility>

namespace garra::mcp {

Stacks::Stacks(std::size_t count) : bytes_(count * kBytes), memory_(nullptr) {
  if (count == 0) return;
  void* const memory =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(memory);
}

Stacks::~Stacks() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

Fiber::Fiber(std::byte* stack, std::function<void(Fiber&)> body) : body_(std::move(body)) {
  getcontext(&here_);
  here_.uc_stack.ss_sp = stack;
  here_.uc_stack.ss_size = Stacks::kBytes;
  here_.uc_link = &caller_;
  const auto self = reinterpret_cast<std::uintptr_t>(this);  // makecontext passes ints
  makecontext(&here_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self & 0xffffffffU));
}

void Fiber::enter(unsigned high, unsigned low) { reinterpret_cast<Fiber*>((std::uintptr_t{high} << 32) | low)->run(); }

void Fiber::run() noexcept {
  try {
    body_(*this);
  } catch (const Cancelled&) {
  } catch (...) {
    error_ = std::current_exception();
  }
  done_ = true;
}

void Fiber::resume() {
  started_ = true;
  swapcontext(&caller_, &here_);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Fiber::cancel() noexcept {
  if (!started_ || done_) return;
  cancelled_ = true;
  swapcontext(&caller_, &here_);
  error_ = nullptr;
}

void Fiber::wait() {
  swapcontext(&here_, &caller_);
  if (cancelled_) throw Cancelled{};
}

}  // namespace garra::mcp
