// Arrays that several threads fill. They are not zeroed first: one thread would take longer to do that than a GPU to
// fill them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace garra {

/// Allocator that leaves elements without a value uninitialized.
template <class T>
struct Uninitialized : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Uninitialized<U>;
  };
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Values>
  void construct(U* at, Values&&... values) {
    ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
  }
};
/// resize() leaves new numbers as they are; assign(n, x) does not.
using Numbers = std::vector<double, Uninitialized<double>>;

}  // namespace garra
