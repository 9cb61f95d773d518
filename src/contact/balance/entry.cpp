// contact::balance: sizes are checked here, then the instance for the number of contacts runs.
#include <limits>
#include <string>

#include "contact/balance/tiles.hpp"
#include "garra/batch/rows_run.hpp"
#include "garra/core/error.hpp"
#include "garra/wrench_balance.hpp"

namespace garra::contact {

namespace {

void check_sizes(const Wrenches& in) {
  if (in.contacts < 1 || in.contacts > kMaxOwnSize)
    throw Error(ExitCode::kUsage, "contacts = " + std::to_string(in.contacts) + " per wrench",
                "between 1 and " + std::to_string(kMaxOwnSize) + " contacts are supported");
  const auto n = static_cast<std::size_t>(in.count), k = static_cast<std::size_t>(in.contacts);
  if (in.count < 0 || in.W.size() != n * 18 * k || in.w.size() != n * 6 || in.mu.size() != n * k ||
      (!in.limit.empty() && in.limit.size() != n * k))
    throw Error(ExitCode::kUsage, "W, w, mu and limit do not have the sizes [n,6,3k], [n,6], [n,k], [n,k] of n = " +
                                      std::to_string(in.count) + ", k = " + std::to_string(in.contacts));
}

}  // namespace

template void balance_tiles<1>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<2>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<3>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<4>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<5>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<6>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<7>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<8>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<12>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<16>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<24>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<32>(Executor, std::int64_t, const double*, double*);

Balances balance(const Wrenches& in, const Device& device) {
  check_sizes(in);
  const auto n = static_cast<std::size_t>(in.count);
  const int k = in.contacts;
  Balances out;
  out.verdict.resize(n);
  out.force.resize(n * 3 * static_cast<std::size_t>(k));
  out.wrench.resize(n * 6);
  out.gap.resize(n);
  out.steps.resize(n);
  const std::vector<double> none(static_cast<std::size_t>(k), std::numeric_limits<double>::infinity());
  using batch::in_column, batch::out_column;
  const batch::Rows rows{in.count,
                         {in_column(in.W, 18 * k), in_column(in.w, 6), in_column(in.mu, k),
                          in.limit.empty() ? in_column(none, k, true) : in_column(in.limit, k)},
                         {out_column(out.verdict), out_column(out.force, 3 * k), out_column(out.wrench, 6),
                          out_column(out.gap), out_column(out.steps)},
                         device};
  batch::with_size<kMaxOwnSize>(k, [&](auto size) { batch::run_rows(BalanceOp<size>{}, rows); });
  return out;
}

}  // namespace garra::contact
