// garra/core/single.hpp for SIMD lanes, for the host only: a register of floats goes with two of doubles.
#pragma once

#include "garra/core/lanes.hpp"
#include "garra/core/single.hpp"

namespace garra {

namespace registers {
typedef float HalfOfFloats __attribute__((vector_size(kBytes / 2)));
struct Floats {
  HalfOfFloats low, high;
};
}  // namespace registers

template <>
struct DoublesOf<Lanes<float>> {
  using type = Lanes<double>;
};
GARRA_HD Lanes<float> narrow(const Lanes<double> (&a)[2]) {
  using registers::HalfOfFloats;
  return std::bit_cast<Lanes<float>>(
      registers::Floats{__builtin_convertvector(a[0].v, HalfOfFloats), __builtin_convertvector(a[1].v, HalfOfFloats)});
}
GARRA_HD void widen(Lanes<float> a, Lanes<double> (&to)[2]) {
  const auto halves = std::bit_cast<registers::Floats>(a);
  to[0] = __builtin_convertvector(halves.low, registers::Vector<double>);
  to[1] = __builtin_convertvector(halves.high, registers::Vector<double>);
}

}  // namespace garra
