#include "garra/batch/interrupt.hpp"

#include <utility>

namespace garra {

namespace {

// Scope that this thread polls. `is_owner`: it was made in this thread; else in the thread that has started its team.
thread_local InterruptScope* current_scope = nullptr;
thread_local bool is_owner = false;

}  // namespace

InterruptScope::InterruptScope(std::function<void()> ask, std::chrono::milliseconds period)
    : ask_(std::move(ask)),
      period_(period),
      next_(Clock::now() + period),
      outer_(current_scope),
      owns_outer_(is_owner) {
  current_scope = this;
  is_owner = true;
}

InterruptScope::~InterruptScope() {
  current_scope = outer_;
  is_owner = owns_outer_;
}

void InterruptScope::check_outer() const {
  if (outer_ == nullptr) return;
  if (owns_outer_)
    outer_->check_in_owner();
  else
    outer_->check_in_team();
}

void InterruptScope::check_in_owner() {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  try {
    check_outer();
    ask_();
  } catch (...) {
    error_ = std::current_exception();
    ended_.store(true, std::memory_order_release);
    throw;
  }
  // Counted from the end, because polling may wait for the interpreter.
  next_ = Clock::now() + period_;
}

void InterruptScope::check_in_team() const {
  // The same exception: the first one of a team is the call's.
  if (ended_.load(std::memory_order_acquire)) std::rethrow_exception(error_);
}

void check_interrupt() {
  InterruptScope* const scope = current_scope;
  if (scope == nullptr) return;
  if (is_owner)
    scope->check_in_owner();
  else
    scope->check_in_team();
}

InterruptScope* InterruptShare::current() { return current_scope; }

InterruptShare::InterruptShare(InterruptScope* of_team) : before_(current_scope), owned_before_(is_owner) {
  // The thread that starts a team is a member of it.
  if (of_team == before_) return;
  current_scope = of_team;
  is_owner = false;
}

InterruptShare::~InterruptShare() {
  current_scope = before_;
  is_owner = owned_before_;
}

}  // namespace garra
