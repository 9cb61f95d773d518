// Contact problems whose arrays are on a GPU.
#include "contact_options.hpp"
#include "garra/contact_device.hpp"
#include "on_gpu.hpp"

namespace garra::python {

namespace {

/// Output arrays by name.
contact::DeviceSolutions solutions_in(const nb::dict& out) {
  contact::DeviceSolutions to;
  take<double>(out, "c", to.c);
  take<double>(out, "a", to.a);
  take<double>(out, "residual", to.residual);
  take<double>(out, "friction_margin", to.friction_margin);
  take<double>(out, "required_friction", to.required_friction);
  take<std::int32_t>(out, "status", to.status);
  take<std::int32_t>(out, "iterations", to.iterations);
  take<std::uint8_t>(out, "state", to.state);
  return to;
}

/// Queues the solve on the stream.
void solve(const OnGpu<const double>& A, const OnGpu<const double>& b, const OnGpu<const double>& mu,
           const nb::dict& out, const std::string& method, const std::string& precision, double tolerance,
           int max_iterations, const std::string& effort, std::uintptr_t stream, const nb::callable& allocate) {
  const contact::DeviceProblems problems{static_cast<int>(mu.shape(1)), static_cast<std::int64_t>(mu.shape(0)),
                                         make_view<const double>(A), make_view<const double>(b),
                                         make_view<const double>(mu)};
  const contact::Options options = contact_options(method, precision, tolerance, max_iterations, effort);
  const contact::DeviceSolutions to = solutions_in(out);
  run_gpu_call(
      {A.device_id(), stream, allocate},
      [&](const DeviceCall& call) { return contact::workspace_bytes(problems, options, to, call.device); },
      [&](const DeviceCall& call) { contact::solve(problems, options, to, call); });
}

}  // namespace

void add_contact_on_gpu(nb::module_& m) { m.def("contact_solve_on_gpu", solve); }

}  // namespace garra::python
