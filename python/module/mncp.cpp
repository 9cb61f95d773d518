// Mixed complementarity problems of the built-in families.
#include <algorithm>
#include <iterator>

#include "arrays.hpp"
#include "contact/bench/mncp_arrays.hpp"
#include "garra/core/error.hpp"

namespace garra::python {

namespace {

/// The enum whose name it is.
template <class Enum, std::size_t N>
Enum named(const char* what, const char* const (&names)[N], const std::string& name) {
  const auto* at = std::find(std::begin(names), std::end(names), name);
  if (at != std::end(names)) return static_cast<Enum>(at - std::begin(names));
  std::string known;
  for (const char* n : names) known += (known.empty() ? "" : ", ") + std::string(n);
  throw Error(ExitCode::kUsage, std::string(what) + " = \"" + name + "\": no such one", "Use one of " + known + ".");
}

nb::dict to_arrays(mncp::Solutions&& s) {
  const auto n = static_cast<std::size_t>(s.count), k = static_cast<std::size_t>(s.unknowns);
  nb::dict out;
  out["x"] = taken(std::move(s.x), {n, k});
  out["FG"] = taken(std::move(s.FG), {n, k});
  out["residual"] = taken(std::move(s.residual), {n});
  out["minimum"] = taken(std::move(s.minimum), {n});
  out["status"] = taken_as<std::int32_t>(std::move(s.status), {n});
  out["iterations"] = taken(std::move(s.outer), {n});
  out["evaluations"] = taken(std::move(s.evaluations), {n});
  out["stage"] = taken(std::move(s.stage), {n});
  out["stalls"] = taken(std::move(s.stalls), {n});
  return out;
}

nb::dict solve(int family, const Numbers& numbers, const Numbers& start, const std::string& merit,
               const std::string& minimizer, const mncp::Options& options, const Device& device) {
  auto out = compute([&] {
    const mncp::Choice choice{named<mncp::Merit>("merit", mncp::kMerits, merit),
                              named<mncp::Minimizer>("minimizer", mncp::kMinimizers, minimizer)};
    return mncp::solve_arrays({family, static_cast<std::int64_t>(start.shape(0)), to_span(numbers), to_span(start)},
                              choice, options, device);
  });
  return to_arrays(std::move(out));
}

}  // namespace

void add_mncp(nb::module_& m) {
  nb::list families, cases;
  for (const mncp::Family& f : mncp::families())
    families.append(nb::make_tuple(f.name, f.complementary, f.free, f.numbers));
  for (const mncp::Case& c : mncp::cases())
    cases.append(nb::make_tuple(c.name, c.family, c.numbers, c.start, c.solutions));
  m.attr("mncp_families") = nb::tuple(families);
  m.attr("mncp_cases") = nb::tuple(cases);
  m.attr("mncp_merits") = to_tuple(mncp::kMerits);
  m.attr("mncp_minimizers") = to_tuple(mncp::kMinimizers);
  m.def("mncp_solve", [](int family, const Numbers& numbers, const Numbers& start, const std::string& merit,
                         const std::string& minimizer, double tolerance, int starts, int max_iterations,
                         const std::string& device, int threads) {
    return solve(
        family, numbers, start, merit, minimizer, {tolerance, starts, max_iterations},
        make_device(device, threads, core_seconds::complementarity(static_cast<std::int64_t>(start.shape(0)))));
  });
}

}  // namespace garra::python
