// Between NumPy's arrays and garra's: inputs are read where they stand, outputs are handed over without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "garra/batch/interrupt.hpp"
#include "garra/core/error.hpp"

namespace garra::python {

namespace nb = nanobind;

/// C-contiguous numbers of the caller's on the host. Python has brought them into this form (garra/batch.py).
using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;

template <class Array>
auto to_span(const Array& a) {
  return std::span(a.data(), a.size());
}
template <class Array>
auto to_span(const std::optional<Array>& a) {
  return a ? to_span(*a) : decltype(to_span(*a)){};
}

inline std::vector<double> copied(const Numbers& a) { return {a.data(), a.data() + a.size()}; }

/// A vector as a NumPy array that owns it. Enums become their numbers. Throws Error(kInternal) for a shape of another
/// size.
template <class Number, class T>
nb::object taken_as(std::vector<T>&& values, std::vector<std::size_t> shape) {
  static_assert(sizeof(Number) == sizeof(T));
  std::size_t size = 1;
  for (const std::size_t extent : shape) size *= extent;
  if (size != values.size()) throw Error(ExitCode::kInternal, "an array of results has a wrong size");
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(
      nb::ndarray<nb::numpy, Number>(reinterpret_cast<Number*>(kept->data()), shape.size(), shape.data(), owner));
}
template <class T>
nb::object taken(std::vector<T>&& values, std::vector<std::size_t> shape) {
  return taken_as<T>(std::move(values), std::move(shape));
}

/// Raises what Python's handlers of signals raise: KeyboardInterrupt after Ctrl-C. In other threads than Python's main
/// one it does nothing, as everywhere in Python.
inline void check_signals() {
  const nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// A call of the library: while it lives, other threads have the GIL, and a signal ends the call.
class Computing {
 public:
  Computing() : interrupt_(check_signals) {}

 private:
  nb::gil_scoped_release released_;
  InterruptScope interrupt_;
};

/// What `work` returns; meanwhile other threads have the GIL, and a signal ends the call.
template <class Work>
auto compute(const Work& work) {
  const Computing computing;
  return work();
}

/// Names as a tuple of texts.
template <class Names>
nb::tuple to_tuple(const Names& names) {
  nb::list all;
  for (const char* name : names) all.append(name);
  return nb::tuple(all);
}
/// Those of the first values of an enum.
template <class Enum>
nb::tuple to_tuple(int count) {
  nb::list all;
  for (int i = 0; i < count; ++i) all.append(to_string(static_cast<Enum>(i)));
  return nb::tuple(all);
}

/// Device of a call on arrays: "auto", "cpu", "scalar", "cuda:0". `work` is its time on one core.
inline Device make_device(const std::string& name, int threads, double work) {
  return parse_device_for_arrays(name, threads, work);
}

// One per module, called by module.cpp.
void add_contact(nb::module_& m);
void add_contact_in_jax(nb::module_& m);
void add_contact_on_gpu(nb::module_& m);
void add_on_gpu(nb::module_& m);
void add_chain(nb::module_& m);
void add_grasp_set(nb::module_& m);
void add_grasp_matrices(nb::module_& m);
void add_grasp_propose(nb::module_& m);
void add_grasp_touch(nb::module_& m);
void add_mcp(nb::module_& m);
void add_mncp(nb::module_& m);
void add_singularity(nb::module_& m);
void add_platform(nb::module_& m);
void add_platform_dynamics(nb::module_& m);

}  // namespace garra::python
