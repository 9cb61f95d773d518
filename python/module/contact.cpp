// Friction contact problems, wrenches to be balanced, linear complementarity problems.
#include "arrays.hpp"
#include "contact/batch/equivalence.hpp"
#include "contact_options.hpp"
#include "garra/contact_gradient.hpp"
#include "garra/lcp.hpp"
#include "garra/wrench_balance.hpp"

namespace garra::python {

namespace {

using contact::ProblemView;
using contact::Solutions;

/// View of the arrays; contact::solve checks their sizes.
ProblemView make_view(const Numbers& A, const Numbers& b, const Numbers& mu, const std::optional<Bytes>& mode,
                      const std::optional<Numbers>& slip_velocity) {
  return {static_cast<int>(mu.shape(1)),
          static_cast<std::int64_t>(mu.shape(0)),
          to_span(A),
          to_span(b),
          to_span(mu),
          to_span(mode),
          to_span(slip_velocity)};
}

nb::dict to_arrays(Solutions&& s) {
  const auto n = static_cast<std::size_t>(s.count), k = static_cast<std::size_t>(s.contacts);
  nb::dict out;
  const auto add = [&](const char* name, auto&& values, std::vector<std::size_t> shape) {
    if (!values.empty() || n == 0) out[name] = taken(std::move(values), std::move(shape));
  };
  add("c", s.c, {n, 3 * k});
  add("a", s.a, {n, 3 * k});
  add("residual", s.residual, {n});
  add("iterations", s.iterations, {n});
  add("friction_margin", s.friction_margin, {n});
  add("required_friction", s.required_friction, {n});
  out["status"] = taken_as<std::int32_t>(std::move(s.status), {n});
  if (!s.state.empty() || n == 0) out["state"] = taken_as<std::uint8_t>(std::move(s.state), {n, k});
  return out;
}

/// Solution of a single problem as three arrays: c, a, residual, friction margin, critical
/// friction; status and iterations; states.
nb::tuple arrays_of_one(const Solutions& s) {
  std::vector<double> numbers;
  numbers.reserve(s.c.size() + s.a.size() + 3);
  for (const auto* part : {&s.c, &s.a, &s.residual, &s.friction_margin, &s.required_friction})
    numbers.insert(numbers.end(), part->begin(), part->end());
  const std::size_t size = numbers.size();
  std::vector<std::int32_t> wholes{static_cast<std::int32_t>(s.status[0]), s.iterations[0]};
  std::vector<contact::ContactState> state = s.state;
  return nb::make_tuple(taken(std::move(numbers), {size}), taken(std::move(wholes), {2}),
                        taken_as<std::uint8_t>(std::move(state), {s.state.size()}));
}

struct How {
  std::string method, precision, effort, start;
  double tolerance;
  int max_iterations, starts;
  std::string device;
  int threads;
};

Solutions solve(const Numbers& A, const Numbers& b, const Numbers& mu, const std::optional<Bytes>& mode,
                const std::optional<Numbers>& slip_velocity, const How& how) {
  return compute([&] {
    Solutions out;
    auto options = contact_options(how.method, how.precision, how.tolerance, how.max_iterations, how.effort);
    options.start = contact::parse_start(how.start);
    options.starts = how.starts;
    const double work = core_seconds::contacts(static_cast<std::int64_t>(mu.shape(0)), static_cast<int>(mu.shape(1)));
    contact::solve(make_view(A, b, mu, mode, slip_velocity), options, make_device(how.device, how.threads, work), out);
    return out;
  });
}

nb::dict check_solution(const Numbers& A, const Numbers& b, const Numbers& mu, const std::optional<Bytes>& mode,
                        const std::optional<Numbers>& slip_velocity, const Numbers& c, double tolerance) {
  auto out =
      compute([&] { return contact::check_solution(make_view(A, b, mu, mode, slip_velocity), to_span(c), tolerance); });
  return to_arrays(std::move(out));
}

nb::dict equivalence(const Numbers& A, const Numbers& b, const Numbers& mu, const std::string& merit,
                     const std::string& start, double tolerance) {
  auto out = compute([&] {
    return contact::equivalence(make_view(A, b, mu, std::nullopt, std::nullopt), contact::parse_merit(merit),
                                contact::parse_start(start), tolerance);
  });
  const std::size_t n = mu.shape(0);
  nb::dict arrays;
  arrays["hypothesis"] = taken_as<std::uint8_t>(std::move(out.hypothesis), {n});
  arrays["stationary"] = taken_as<std::uint8_t>(std::move(out.stationary), {n});
  arrays["minimum"] = taken(std::move(out.minimum), {n});
  arrays["status"] = taken_as<std::int32_t>(std::move(out.status), {n});
  return arrays;
}

nb::dict internal_forces(const Numbers& A, const Numbers& b, const Numbers& mu, int threads) {
  const std::size_t n = mu.shape(0), k = mu.shape(1);
  auto out =
      compute([&] { return contact::internal_forces(make_view(A, b, mu, std::nullopt, std::nullopt), threads); });
  nb::dict arrays;
  arrays["found"] = taken_as<std::uint8_t>(std::move(out.found), {n});
  arrays["z"] = taken(std::move(out.z), {n, 3 * k});
  return arrays;
}

nb::dict balance(const Numbers& W, const Numbers& w, const Numbers& mu, const std::optional<Numbers>& limit,
                 const std::string& device, int threads) {
  const std::size_t n = mu.shape(0), k = mu.shape(1);
  auto out = compute([&] {
    return contact::balance(
        {static_cast<int>(k), static_cast<std::int64_t>(n), to_span(W), to_span(w), to_span(mu), to_span(limit)},
        make_device(device, threads, core_seconds::balances(static_cast<std::int64_t>(n), static_cast<int>(k))));
  });
  nb::dict arrays;
  arrays["status"] = taken_as<std::uint8_t>(std::move(out.decision), {n});
  arrays["force"] = taken(std::move(out.force), {n, 3 * k});
  arrays["wrench"] = taken(std::move(out.wrench), {n, 6});
  arrays["gap"] = taken(std::move(out.gap), {n});
  return arrays;
}

nb::dict rest(const Numbers& A, const Numbers& b, const Numbers& mu, const Numbers& c,
              const std::optional<Numbers>& limit, const std::optional<Numbers>& least,
              const std::optional<Bytes>& left_out, double most, int threads) {
  const std::size_t n = mu.shape(0), k = mu.shape(1);
  auto out = compute([&] {
    return contact::rest({static_cast<int>(k), static_cast<std::int64_t>(n), to_span(A), to_span(b), to_span(mu),
                          to_span(c), to_span(limit), to_span(least), to_span(left_out), most},
                         threads);
  });
  nb::dict arrays;
  arrays["status"] = taken_as<std::uint8_t>(std::move(out.decision), {n});
  arrays["force"] = taken(std::move(out.force), {n, 3 * k});
  return arrays;
}

nb::dict gradients(const Numbers& A, const Numbers& mu, const Numbers& c, const Numbers& a, const Bytes& regime,
                   const Numbers& cotangent, const std::string& device, int threads) {
  const std::size_t n = mu.shape(0), k = mu.shape(1);
  auto out = compute([&] {
    return contact::gradients({static_cast<int>(k), static_cast<std::int64_t>(n), to_span(A), to_span(mu), to_span(c),
                               to_span(a), to_span(regime), to_span(cotangent)},
                              make_device(device, threads, core_seconds::kCopying));
  });
  nb::dict arrays;
  arrays["b"] = taken(std::move(out.b), {n, 3 * k});
  arrays["mu"] = taken(std::move(out.mu), {n, k});
  arrays["margin"] = taken(std::move(out.margin), {n});
  return arrays;
}

nb::dict merit_values(const Numbers& A, const Numbers& b, const Numbers& mu, const Numbers& at, const std::string& name,
                      const std::string& device, int threads) {
  const std::size_t n = mu.shape(0);
  auto out = compute([&] {
    return contact::merit(make_view(A, b, mu, std::nullopt, std::nullopt), to_span(at), contact::parse_merit(name),
                          make_device(device, threads, core_seconds::kCopying));
  });
  const auto v = static_cast<std::size_t>(out.variables);
  nb::dict arrays;
  arrays["value"] = taken(std::move(out.value), {n});
  arrays["projected_gradient"] = taken(std::move(out.projected_gradient), {n});
  arrays["x"] = taken(std::move(out.x), {n, v});
  arrays["gradient"] = taken(std::move(out.gradient), {n, v});
  return arrays;
}

nb::dict lcp_solve(const Numbers& M, const Numbers& q, double tolerance, const std::string& device, int threads) {
  const std::size_t n = q.shape(0), k = q.shape(1);
  auto out = compute([&] {
    const auto matrix = to_span(M), vector = to_span(q);
    lcp::Problems in{static_cast<int>(k),
                     static_cast<std::int64_t>(n),
                     {matrix.begin(), matrix.end()},
                     {vector.begin(), vector.end()}};
    return lcp::solve(in, {tolerance, 0}, make_device(device, threads, core_seconds::kCopying));
  });
  nb::dict arrays;
  arrays["z"] = taken(std::move(out.z), {n, k});
  arrays["w"] = taken(std::move(out.w), {n, k});
  arrays["residual"] = taken(std::move(out.residual), {n});
  arrays["pivots"] = taken(std::move(out.pivots), {n});
  arrays["status"] = taken_as<std::int32_t>(std::move(out.status), {n});
  return arrays;
}

}  // namespace

void add_contact(nb::module_& m) {
  m.attr("most_contacts") = contact::kMaxContacts;
  m.attr("contact_methods") = to_tuple<contact::Method>(contact::kMethodCount);
  m.attr("contact_merits") = to_tuple(names_of(contact::Merit{}));
  m.attr("contact_minimizers") = to_tuple(names_of(contact::Minimizer{}));
  m.attr("contact_starts") = to_tuple(names_of(contact::Start{}));
  const auto add_solve = [&m](const char* name, auto answer) {
    m.def(name, [answer](const Numbers& A, const Numbers& b, const Numbers& mu, const std::optional<Bytes>& mode,
                         const std::optional<Numbers>& slip_velocity, const std::string& method,
                         const std::string& precision, double tolerance, int max_iterations, const std::string& effort,
                         const std::string& start, int starts, const std::string& device, int threads) {
      return answer(solve(A, b, mu, mode, slip_velocity,
                          {method, precision, effort, start, tolerance, max_iterations, starts, device, threads}));
    });
  };
  add_solve("contact_solve", [](Solutions&& s) { return to_arrays(std::move(s)); });
  add_solve("contact_solve_one", [](Solutions&& s) { return arrays_of_one(s); });
  m.def("contact_check_solution", check_solution);
  m.def("contact_equivalence", equivalence);
  m.def("contact_internal_forces", internal_forces);
  m.def("contact_balance", balance);
  m.def("contact_rest", rest);
  m.def("contact_gradients", gradients);
  m.def("contact_merit", merit_values);
  m.def("contact_merit_variables", [](const std::string& name, int contacts) {
    return contact::merit_variables(contact::parse_merit(name), contacts);
  });
  m.def("lcp_solve", lcp_solve);
}

}  // namespace garra::python
