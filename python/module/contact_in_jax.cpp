// Contact forces and their derivatives as functions that XLA calls by itself: what JAX compiles runs without Python.
#include "arrays.hpp"
#include "contact_options.hpp"
#include "garra/contact_gradient.hpp"
#include "xla_call.hpp"

namespace garra::python {

namespace {

using xla::Call;

Device device_in(const xla::Attributes& how, double work) {
  return make_device(how.text("device"), static_cast<int>(how.number<std::int64_t>("threads")), work);
}

/// A, b, mu -> c, a, state and, where it is asked for, margin.
void solve(const Call& call) {
  const auto* in = call.arguments.at;
  const auto* out = call.results.at;
  const auto& how = call.attributes;
  std::vector<double> room[3];
  const int contacts = static_cast<int>(in[2]->axis(0));
  const auto count = static_cast<std::int64_t>(in[2]->count()) / std::max(contacts, 1);
  const auto A = xla::numbers(*in[0], room[0]), b = xla::numbers(*in[1], room[1]), mu = xla::numbers(*in[2], room[2]);
  const contact::Options options =
      contact_options(how.text("method"), how.text("precision"), how.number<double>("tolerance"),
                      static_cast<int>(how.number<std::int64_t>("max_iterations")));
  const Device device = device_in(how, core_seconds::contacts(count, contacts));
  contact::Solutions found;
  contact::solve({contacts, count, A, b, mu, {}, {}}, options, device, found);
  xla::put(found.c, *out[0]);
  xla::put(found.a, *out[1]);
  static_assert(sizeof(contact::ContactState) == 1);
  std::memcpy(out[2]->data, found.state.data(), found.state.size());
  if (call.results.count < 4) return;
  const std::vector<double> nothing(b.size());
  const auto* regime = static_cast<const std::uint8_t*>(out[2]->data);
  xla::put(contact::gradients({contacts, count, A, mu, found.c, found.a, {regime, found.state.size()}, nothing}, device)
               .margin,
           *out[3]);
}

/// A, mu, c, a, state, dL/dc -> dL/db, dL/dmu.
void pull_back(const Call& call) {
  const auto* in = call.arguments.at;
  std::vector<double> room[5];
  const int contacts = static_cast<int>(in[1]->axis(0));
  const auto count = static_cast<std::int64_t>(in[1]->count()) / std::max(contacts, 1);
  const std::span regime(static_cast<const std::uint8_t*>(in[4]->data), in[4]->count());
  const auto& how = call.attributes;
  const Device device = device_in(how, core_seconds::kCopying);
  const auto found = contact::gradients(
      {contacts, count, xla::numbers(*in[0], room[0]), xla::numbers(*in[1], room[1]), xla::numbers(*in[2], room[2]),
       xla::numbers(*in[3], room[3]), regime, xla::numbers(*in[5], room[4])},
      device);
  xla::put(found.b, *call.results.at[0]);
  xla::put(found.mu, *call.results.at[1]);
}

void* solve_call(Call* call) { return xla::answer(call, solve); }
void* pull_back_call(Call* call) { return xla::answer(call, pull_back); }

}  // namespace

void add_contact_in_jax(nb::module_& m) {
  m.attr("contact_solve_call") = nb::capsule(reinterpret_cast<void*>(solve_call));
  m.attr("contact_gradients_call") = nb::capsule(reinterpret_cast<void*>(pull_back_call));
}

}  // namespace garra::python
