// contact::merit: checks sizes, then runs the instance of the merit function.
#include <string>

#include "contact/batch/arrays.hpp"
#include "contact/batch/lanes.hpp"
#include "contact/merit/op.hpp"
#include "garra/batch/rows_run.hpp"
#include "garra/contact_gradient.hpp"
#include "garra/core/error.hpp"

namespace garra::contact {

namespace {

void check_points(const ProblemView& in, std::span<const double> at, Merit function) {
  check_sizes(in);
  const auto n = static_cast<std::size_t>(in.count), k = static_cast<std::size_t>(in.contacts);
  const auto variables = static_cast<std::size_t>(merit_variables(function, in.contacts));
  if (at.size() != n * 3 * k && at.size() != n * variables)
    throw Error(ExitCode::kUsage,
                "merit: " + std::to_string(at.size()) + " numbers for " + std::to_string(n) + " problems of " +
                    std::to_string(k) + " contacts",
                "give forces, " + std::to_string(3 * k) + " a problem, or variables, " + std::to_string(variables));
  if (!in.slip_velocity.empty())
    throw Error(ExitCode::kUsage, "merit: problems whose contacts slide",
                "eliminate the sliding contacts first (without_sliding), and leave mode and slip_velocity out");
}

/// Tiles of a thread, which has set the number of contacts.
template <class Op>
struct Tiles : private ContactsInUse,
               public batch::RowTiles<typename Op::template In<double>, typename Op::template Out<double>> {
  Tiles(int contacts, const batch::Rows& job)
      : ContactsInUse(contacts),
        batch::RowTiles<typename Op::template In<double>, typename Op::template Out<double>>(job, kRows, kRows) {}
  static constexpr int kRows = 8;  // as many as the widest lanes: all that they touch stays in the first cache
};

template <Merit M>
void evaluate_merit(const batch::Rows& job, int contacts, bool of_forces) {
  if (job.device.executor == Executor::kCuda)
    return batch::on_device(job.device, DeviceMerit<M>{contacts, of_forces}, job);
  using Any = MeritOp<M, kAnyContacts>;
  batch::run_tiles(
      job, contacts <= 4 ? 512 : 16, [&](std::int64_t) { return Tiles<Any>(contacts, job); },
      [&](Tiles<Any>& tiles, std::int64_t count) {
        dispatch_contacts<3>(job.device.executor, [&](auto n) {
          const batch::RowsKernel<MeritOp<M, n>> body{{of_forces}, tiles.in(), tiles.out()};
          if constexpr (n > 0)
            batch::for_each_lanes(count, body);
          else
            batch::for_each_scalar(count, body);
        });
      });
}

}  // namespace

int merit_variables(Merit function, int contacts) {
  constexpr int kEach[] = {8, 8, 4, 3};
  return kEach[static_cast<std::size_t>(function)] * contacts;
}

MeritValues merit(const ProblemView& in, std::span<const double> at, Merit function, const Device& device) {
  MeritValues out;
  merit(in, at, function, device, out);
  return out;
}

void merit(const ProblemView& in, std::span<const double> at, Merit function, const Device& device, MeritValues& out) {
  check_points(in, at, function);
  const auto n = static_cast<std::size_t>(in.count);
  const int k = in.contacts, v = merit_variables(function, k);
  out.variables = v;
  out.count = in.count;
  for (auto* numbers : {&out.value, &out.projected_gradient}) numbers->resize(n);
  for (auto* numbers : {&out.x, &out.gradient}) numbers->resize(n * static_cast<std::size_t>(v));
  if (in.count == 0) return;
  const bool of_forces = at.size() == n * 3 * static_cast<std::size_t>(k);
  using batch::in_column, batch::out_column;
  const std::span<const double> none;
  const batch::Rows job{
      in.count,
      {in_column(in.A, 9 * k * k), in_column(in.b, 3 * k), in_column(in.mu, k), in_column(of_forces ? at : none, 3 * k),
       in_column(of_forces ? none : at, v)},
      {out_column(out.value), out_column(out.projected_gradient), out_column(out.x, v), out_column(out.gradient, v)},
      device};
  constexpr void (*kRuns[])(const batch::Rows&, int, bool) = {
      evaluate_merit<Merit::kPapers>, evaluate_merit<Merit::kProducts>, evaluate_merit<Merit::kFischerBurmeister>,
      evaluate_merit<Merit::kSecondOrderCone>};
  kRuns[static_cast<std::size_t>(function)](job, k, of_forces);
}

}  // namespace garra::contact
