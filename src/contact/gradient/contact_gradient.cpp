// contact::gradients: checks sizes, then runs the instance for the number of contacts.
#include "garra/contact_gradient.hpp"

#include <string>

#include "contact/gradient/op.hpp"
#include "garra/batch/rows_run.hpp"
#include "garra/core/error.hpp"

namespace garra::contact {

namespace {

void check_gradient_sizes(const Solved& in) {
  if (in.contacts < 1 || in.contacts > kMaxOwnSize)
    throw Error(ExitCode::kUsage, "contacts = " + std::to_string(in.contacts) + " per problem",
                "between 1 and " + std::to_string(kMaxOwnSize) + " contacts are supported");
  const auto n = static_cast<std::size_t>(in.count), k = static_cast<std::size_t>(in.contacts);
  if (in.count < 0 || in.A.size() != n * 9 * k * k || in.mu.size() != n * k || in.c.size() != n * 3 * k ||
      in.a.size() != n * 3 * k || in.cotangent.size() != n * 3 * k || in.regime.size() != n * k)
    throw Error(ExitCode::kUsage,
                "A, mu, c, a, regime and cotangent do not have the sizes [n,3k,3k], [n,k], [n,3k], [n,3k], [n,k], "
                "[n,3k] of n = " +
                    std::to_string(in.count) + ", k = " + std::to_string(in.contacts));
}

}  // namespace

Gradients gradients(const Solved& in, const Device& device) {
  check_gradient_sizes(in);
  const auto n = static_cast<std::size_t>(in.count), k = static_cast<std::size_t>(in.contacts);
  const int width = in.contacts;
  Gradients out;
  out.b.resize(n * 3 * k);
  out.mu.resize(n * k);
  out.margin.resize(n);
  // Rows hold numbers of one type.
  const std::vector<double> regime(in.regime.begin(), in.regime.end());
  using batch::in_column, batch::out_column;
  const batch::Rows rows{in.count,
                         {in_column(in.A, 9 * width * width), in_column(in.mu, width), in_column(in.c, 3 * width),
                          in_column(in.a, 3 * width), in_column(in.cotangent, 3 * width), in_column(regime, width)},
                         {out_column(out.b, 3 * width), out_column(out.mu, width), out_column(out.margin)},
                         device};
  batch::with_size<kMaxOwnSize>(width, [&](auto size) { batch::run_rows(GradientOp<size>{}, rows); });
  return out;
}

}  // namespace garra::contact
