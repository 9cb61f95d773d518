// Nanoseconds per value of the elementary functions and random numbers: lanes, scalar code, the C
// library. The counter "each" is what to read; 4096 values stay in the first-level cache.
#include "garra/core/elementary.hpp"

#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "garra/core/lanes.hpp"
#include "garra/core/normal.hpp"
#include "garra/core/philox.hpp"

namespace {

using garra::Lanes;
using garra::RealOf;
constexpr int kValues = 4096;

template <class R>
struct Buffers {
  alignas(64) R x[kValues];
  alignas(64) R y[kValues];
};

template <class S>
S load(const RealOf<S>* p) {
  if constexpr (garra::kWidth<S> == 1)
    return *p;
  else
    return S::load(p);
}
template <class S>
void store(const S& v, RealOf<S>* p) {
  if constexpr (garra::kWidth<S> == 1)
    *p = v;
  else
    v.store(p);
}

void report(benchmark::State& state) {
  state.counters["each"] = benchmark::Counter(static_cast<double>(state.iterations()) * kValues,
                                              benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// y = f(x) for arguments spread over (0, 1).
template <class S, class F>
void map_values(benchmark::State& state, F f) {
  static Buffers<RealOf<S>> data;
  for (int i = 0; i < kValues; ++i) data.x[i] = static_cast<RealOf<S>>((i * 2654435761u % 100003u + 0.5) / 100003.0);
  for (auto _ : state) {
    for (int i = 0; i < kValues; i += garra::kWidth<S>) store<S>(f(load<S>(data.x + i)), data.y + i);
    benchmark::DoNotOptimize(data.y);
    benchmark::ClobberMemory();
  }
  report(state);
}

template <class S>
void random_pairs(benchmark::State& state) {
  static Buffers<RealOf<S>> data;
  std::uint64_t first = 0;
  for (auto _ : state) {
    for (int i = 0; i < kValues; i += garra::kWidth<S>) {
      S u0, u1;
      garra::uniform_pair(42u, garra::SampleIndex<S>::consecutive(first + static_cast<unsigned>(i)), 0u, u0, u1);
      store<S>(u0 + u1, data.y + i);
    }
    first += kValues;
    benchmark::DoNotOptimize(data.y);
    benchmark::ClobberMemory();
  }
  report(state);
}

template <class F>
void add(const std::string& name, F f) {
  benchmark::RegisterBenchmark(name.c_str(), f);
}

template <class S, class F>
void add_map(const std::string& name, F f) {
  add(name, [f](benchmark::State& state) { map_values<S>(state, f); });
}

template <class F, class L>
void add_function(const std::string& name, F ours, L library) {
  add_map<Lanes<double>>(name + "/lanes_double", ours);
  add_map<Lanes<float>>(name + "/lanes_float", ours);
  add_map<double>(name + "/scalar_double", ours);
  add_map<double>(name + "/library_double", library);
}

void add_all() {
  add_function(
      "sincos",
      [](auto x) {
        const auto r = garra::sincos(x);
        return r.sin + r.cos;
      },
      [](double x) { return std::sin(x) + std::cos(x); });
  add_function(
      "atan2", [](auto x) { return garra::atan2(x, decltype(x)(0.5f) - x); },
      [](double x) { return std::atan2(x, 0.5 - x); });
  add_function(
      "asin", [](auto x) { return garra::asin(x); }, [](double x) { return std::asin(x); });
  add_function(
      "acos", [](auto x) { return garra::acos(x); }, [](double x) { return std::acos(x); });
  add_function(
      "exp", [](auto x) { return garra::exp(x); }, [](double x) { return std::exp(x); });
  add_function(
      "log", [](auto x) { return garra::log(x); }, [](double x) { return std::log(x); });
  add_map<Lanes<double>>("normal_quantile/lanes_double", [](auto x) { return garra::normal_quantile(x); });
  add_map<double>("normal_quantile/scalar_double", [](auto x) { return garra::normal_quantile(x); });
  add("uniform_pair/lanes_double", random_pairs<Lanes<double>>);
  add("uniform_pair/lanes_float", random_pairs<Lanes<float>>);
  add("uniform_pair/scalar_double", random_pairs<double>);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  add_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
