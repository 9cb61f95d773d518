// contact::balance: checks sizes, then runs the instance for the number of contacts, or the next larger one.
#include <algorithm>
#include <limits>
#include <string>

#include "contact/balance/copies.hpp"
#include "contact/balance/tiles.hpp"
#include "contact/batch/padded.hpp"
#include "garra/batch/rows_run.hpp"
#include "garra/core/error.hpp"
#include "garra/wrench_balance.hpp"

namespace garra::contact {

namespace {

void check_sizes(const Wrenches& in) {
  if (in.contacts < 1 || in.contacts > kMaxContacts)
    throw Error(ExitCode::kUsage, "contacts = " + std::to_string(in.contacts) + " per wrench",
                "between 1 and " + std::to_string(kMaxContacts) + " contacts are supported");
  const auto n = static_cast<std::size_t>(in.count), k = static_cast<std::size_t>(in.contacts);
  if (in.count < 0 || in.W.size() != n * 18 * k || in.w.size() != n * 6 || in.mu.size() != n * k ||
      (!in.limit.empty() && in.limit.size() != n * k))
    throw Error(ExitCode::kUsage, "W, w, mu and limit do not have the sizes [n,6,3k], [n,6], [n,k], [n,k] of n = " +
                                      std::to_string(in.count) + ", k = " + std::to_string(in.contacts));
}

std::size_t to_size(std::int64_t n) { return static_cast<std::size_t>(n); }

/// Rows for the operation, in a thread that has set its number of contacts (ContactsInUse).
using Op = BalanceOp<kAnyContacts>;
struct Tiles : private ContactsInUse, public batch::RowTiles<Op::In<double>, Op::Out<double>> {
  Tiles(int contacts, const batch::Rows& rows, std::int64_t most)
      : ContactsInUse(contacts), batch::RowTiles<Op::In<double>, Op::Out<double>>(rows, most) {}
};

void balance_on_host(int contacts, const batch::Rows& rows) {
  constexpr std::int64_t kRows = 512;  // at once, so that their tiles stay in the cache
  batch::run_tiles(
      rows, kRows, [&](std::int64_t most) { return Tiles(contacts, rows, most); },
      [&](Tiles& tiles, std::int64_t count) {
        balance_tiles<3>(rows.device.executor, count, tiles.in(), tiles.out());
      });
}

/// On a GPU, for numbers of contacts that have kernels.
Balances balance_as_given(const Wrenches& in, const Device& device) {
  const std::size_t n = to_size(in.count);
  const int k = in.contacts;
  Balances out;
  out.decision.resize(n);
  out.force.resize(n * 3 * to_size(k));
  out.wrench.resize(n * 6);
  out.gap.resize(n);
  out.steps.resize(n);
  if (in.count == 0) return out;
  const std::vector<double> none(to_size(k), std::numeric_limits<double>::infinity());
  using batch::in_column, batch::out_column;
  const batch::Rows rows{in.count,
                         {in_column(in.W, 18 * k), in_column(in.w, 6), in_column(in.mu, k),
                          in.limit.empty() ? in_column(none, k, true) : in_column(in.limit, k)},
                         {out_column(out.decision), out_column(out.force, 3 * k), out_column(out.wrench, 6),
                          out_column(out.gap), out_column(out.steps)},
                         device};
  if (device.executor != Executor::kCuda)
    balance_on_host(k, rows);
  else
    for_contacts(k, [&](auto contacts) { batch::on_device(device, BalanceOp<contacts>{}, rows); });
  return out;
}

/// Replaces wrenches of fewer contacts by ones of `many`, for kernels (copies.hpp).
class Copied {
 public:
  Copied(const Wrenches& in, std::int64_t first, std::int64_t count, int many)
      : in_(in), first_(first), count_(count), many_(many) {
    const std::size_t n = to_size(count), m = to_size(many);
    W_.reserve(n * 18 * m);
    mu_.reserve(n * m);
    limit_.reserve(in.limit.empty() ? 0 : n * m);
    for (std::int64_t i = first; i < first + count; ++i) copy(to_size(i));
  }

  [[nodiscard]] Wrenches wrenches() const {
    return {many_, count_, W_, in_.w.subspan(6 * to_size(first_), 6 * to_size(count_)), mu_, limit_};
  }
  /// Appends the answers for the copies, with the copies' forces added up.
  void append(const Balances& found, Balances& to) const {
    const std::size_t n = to_size(count_), k = to_size(in_.contacts), m = to_size(many_), before = to.force.size();
    to.force.resize(before + n * 3 * k, 0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < 3 * m; ++j) to.force[before + 3 * k * i + j % (3 * k)] += found.force[3 * m * i + j];
    const auto join = [](const auto& from, auto& into) { into.insert(into.end(), from.begin(), from.end()); };
    join(found.decision, to.decision);
    join(found.wrench, to.wrench);
    join(found.gap, to.gap);
    join(found.steps, to.steps);
  }

 private:
  void copy(std::size_t i) {
    const std::size_t k = to_size(in_.contacts), m = to_size(many_);
    for (std::size_t row = 0; row < 6; ++row)
      for (std::size_t j = 0; j < 3 * m; ++j) W_.push_back(in_.W[(6 * i + row) * 3 * k + j % (3 * k)]);
    for (int j = 0; j < many_; ++j) {
      const std::size_t given = k * i + to_size(j) % k;
      mu_.push_back(in_.mu[given]);
      if (!in_.limit.empty()) limit_.push_back(in_.limit[given] / count_copies(j, in_.contacts, many_));
    }
  }

  const Wrenches& in_;
  std::int64_t first_, count_;
  int many_;
  std::vector<double> W_, mu_, limit_;
};

}  // namespace

template void balance_tiles<3>(Executor, std::int64_t, const double*, double*, const int*);

Balances balance(const Wrenches& in, const Device& device) {
  constexpr std::int64_t kAtOnce = 1 << 14;  // copies of 32 contacts take 75 MB
  check_sizes(in);
  int many = 0;
  if (device.executor == Executor::kCuda) for_contacts(in.contacts, [&](auto contacts) { many = contacts; });
  if (many == in.contacts || device.executor != Executor::kCuda) return balance_as_given(in, device);
  Balances out;
  for (std::int64_t first = 0; first < in.count; first += kAtOnce) {
    const Copied copied(in, first, std::min(kAtOnce, in.count - first), many);
    copied.append(balance_as_given(copied.wrenches(), device), out);
  }
  return out;
}

}  // namespace garra::contact
