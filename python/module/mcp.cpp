// Mixed complementarity problems of the caller's own functions.
#include <algorithm>

#include "arrays.hpp"
#include "contact/mcp/affine.hpp"

namespace garra::python {

namespace {

/// Calls a Python function with the points [count, n]; it returns an array of `width` numbers a row.
mcp::Function called(const nb::object& function, std::size_t count, std::size_t size, std::size_t width) {
  return [=](const double* x, double* out) {
    const nb::gil_scoped_acquire held;
    nb::object points = taken(std::vector<double>(x, x + count * size), {count, size});
    const auto values = nb::cast<Numbers>(function(points));
    if (values.size() != count * width) throw Error(ExitCode::kInternal, "mcp: a function's values have a wrong size");
    std::copy_n(values.data(), values.size(), out);
  };
}

nb::dict solve(const Numbers& lower, const Numbers& upper, const Numbers& start, const nb::object& value,
               const nb::object& jacobian, const std::vector<std::vector<int>>& stages, double tolerance,
               int max_iterations) {
  const std::size_t count = start.shape(0), size = start.shape(1);
  mcp::Options options{{}, tolerance, max_iterations};
  for (const auto& s : stages)
    options.stages.push_back(
        {static_cast<mcp::Stage::Merit>(s.at(0)), static_cast<mcp::Stage::Minimizer>(s.at(1)), s.at(2)});
  const mcp::Problems problems{static_cast<int>(size),
                               static_cast<std::int64_t>(count),
                               to_span(lower),
                               to_span(upper),
                               to_span(start),
                               called(value, count, size, size),
                               called(jacobian, count, size, size * size)};
  auto s = compute([&] { return mcp::solve(problems, options); });
  nb::dict out;
  out["x"] = taken(std::move(s.x), {count, size});
  out["F"] = taken(std::move(s.FG), {count, size});
  out["residual"] = taken(std::move(s.residual), {count});
  out["minimum"] = taken(std::move(s.minimum), {count});
  out["status"] = taken_as<std::int32_t>(std::move(s.status), {count});
  out["iterations"] = taken(std::move(s.outer), {count});
  out["evaluations"] = taken(std::move(s.evaluations), {count});
  out["stage"] = taken(std::move(s.stage), {count});
  out["method"] = taken(std::move(s.method), {count});
  out["calls"] = s.value_calls;
  out["jacobian_calls"] = s.jacobian_calls;
  return out;
}

nb::dict solve_affine(const Numbers& M, const Numbers& q, const Numbers& lower, const Numbers& upper,
                      const Numbers& start, int method, double tolerance, int max_iterations, const std::string& device,
                      int threads) {
  const std::size_t count = q.shape(0), size = q.shape(1);
  const double cube = static_cast<double>(size * size * size);
  const Device where = make_device(device, threads, 1e-8 * static_cast<double>(count) * cube);
  auto s = compute([&] {
    return mcp::solve_affine({static_cast<int>(size), static_cast<std::int64_t>(count), to_span(M), to_span(q),
                              to_span(lower), to_span(upper), to_span(start)},
                             {static_cast<mcp::AffineMethod>(method), tolerance, max_iterations}, where);
  });
  nb::dict out;
  out["x"] = taken(std::move(s.x), {count, size});
  out["F"] = taken(std::move(s.FG), {count, size});
  out["residual"] = taken(std::move(s.residual), {count});
  out["status"] = taken_as<std::int32_t>(std::move(s.status), {count});
  out["iterations"] = taken(std::move(s.outer), {count});
  out["method"] = taken(std::move(s.method), {count});
  return out;
}

}  // namespace

void add_mcp(nb::module_& m) {
  nb::list stages;
  for (const mcp::Stage& s : mcp::auto_stages())
    stages.append(nb::make_tuple(static_cast<int>(s.merit), static_cast<int>(s.minimizer), s.starts));
  m.attr("mcp_affine_methods") = to_tuple(mcp::kAffineMethods);
  m.attr("mcp_merits") = to_tuple(mcp::kMerits);
  m.attr("mcp_minimizers") = to_tuple(mcp::kMinimizers);
  m.attr("mcp_auto") = nb::tuple(stages);
  m.def("mcp_solve", &solve);
  m.def("mcp_solve_affine", &solve_affine);
}

}  // namespace garra::python
