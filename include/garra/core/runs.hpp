// Visits the numbers of a struct of S, run after run of adjacent numbers.
#pragma once

#include <tuple>
#include <type_traits>

#include "garra/core/mat.hpp"

namespace garra {

/// Calls f(count, pointers to S) for the numbers of each of some objects of type T, run after run
/// of adjacent numbers: all at once, or part after part if parts are sized at run time.
template <class S, class F, class... T>
GARRA_HD void for_each_scalar_run(const F& f, T&... objects) {
  using First = std::remove_const_t<std::tuple_element_t<0, std::tuple<T...>>>;
  if constexpr (!kSizedAtRunTime<First>) {
    f(static_cast<int>(sizeof(First) / sizeof(S)),
      reinterpret_cast<std::conditional_t<std::is_const_v<T>, const S, S>*>(&objects)...);
  } else if constexpr (requires { First::parts(); }) {
    const auto visit = [&](auto part) { for_each_scalar_run<S>(f, (objects.*part)...); };
    std::apply([&](auto... part) { (visit(part), ...); }, First::parts());
  } else {
    f(count_numbers(std::get<0>(std::tie(objects...))), objects.m...);
  }
}

}  // namespace garra
