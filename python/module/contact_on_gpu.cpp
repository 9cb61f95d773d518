// Contact problems whose arrays are on a GPU (docs/gpu-arrays.md): what DLPack says of them, and nothing is copied.
#include "arrays.hpp"
#include "garra/contact_device.hpp"

namespace garra::python {

namespace {

/// [count][width], whatever its strides.
template <class T>
using OnGpu = nb::ndarray<T, nb::ndim<2>, nb::device::cuda>;

template <class T, class Number>
DeviceArray<T> view_of(const OnGpu<Number>& a) {
  static_assert(sizeof(T) == sizeof(Number));
  return {reinterpret_cast<T*>(a.data()), a.stride(0), a.stride(1)};
}

/// Where the answers go: an array for each name, which the caller keeps.
contact::DeviceSolutions solutions_in(const nb::dict& out) {
  const auto view = [&]<class Number, class T>(const char* name, DeviceArray<T>& to) {
    to = view_of<T>(nb::cast<OnGpu<Number>>(out[name]));
  };
  contact::DeviceSolutions to;
  view.operator()<double>("c", to.c);
  view.operator()<double>("a", to.a);
  view.operator()<double>("residual", to.residual);
  view.operator()<double>("friction_margin", to.friction_margin);
  view.operator()<double>("critical_friction", to.critical_friction);
  view.operator()<std::int32_t>("status", to.status);
  view.operator()<std::int32_t>("iterations", to.iterations);
  view.operator()<std::uint8_t>("state", to.state);
  return to;
}

/// Queues the solve on the stream. workspace(bytes) gives an array of the GPU that the stream may use.
void solve(const OnGpu<const double>& A, const OnGpu<const double>& b, const OnGpu<const double>& mu,
           const nb::dict& out, const std::string& method, const std::string& precision, double tol, int max_iterations,
           std::uintptr_t stream, const nb::callable& workspace) {
  const contact::DeviceProblems problems{static_cast<int>(mu.shape(1)), static_cast<std::int64_t>(mu.shape(0)),
                                         view_of<const double>(A), view_of<const double>(b), view_of<const double>(mu)};
  contact::Options options;
  options.method = contact::parse_method(method);
  options.precision = contact::parse_precision(precision);
  options.tol = tol;
  options.max_iterations = max_iterations;
  const contact::DeviceSolutions to = solutions_in(out);
  DeviceCall call{A.device_id(), reinterpret_cast<void*>(stream), nullptr, 0};
  call.bytes = contact::workspace_bytes(problems, options, to, call.device);
  const auto memory = nb::cast<nb::ndarray<std::uint8_t, nb::ndim<1>, nb::device::cuda>>(workspace(call.bytes));
  call.workspace = memory.data();
  const nb::gil_scoped_release released;
  contact::solve(problems, options, to, call);
}

}  // namespace

void add_contact_on_gpu(nb::module_& m) { m.def("contact_solve_on_gpu", solve); }

}  // namespace garra::python
