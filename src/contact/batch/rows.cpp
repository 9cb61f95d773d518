// Copies between the plain arrays of contact.hpp and the tiles of a block.
#include "contact/batch/solve_batch.hpp"

namespace garra::contact {
namespace {

constexpr int kLanes = static_cast<int>(batch::kTile);

template <class T>
const double* tile_data(const double* tiles, std::int64_t t) {
  return tiles + t * batch::fields<double, T>() * kLanes;
}

/// Calls use(t, first, count) for the tiles of a block: `count` <= 32 problems, from `first` on, lie in tile t.
template <class Use>
void for_each_tile(const batch::RowRange& rows, const Use& use) {
  for (std::int64_t t = 0; t < batch::tiles_for(rows.count); ++t)
    use(t, rows.first + t * kLanes, std::min<std::int64_t>(kLanes, rows.count - t * kLanes));
}

/// Whether anything is to be stored.
bool any_wanted(const std::vector<batch::OutColumn>& columns) {
  return std::ranges::any_of(columns, [](const auto& c) { return c.data != nullptr || c.whole.data != nullptr; });
}

}  // namespace

Job make_job(const ProblemView& in, const Options& options, const Device& device, Solutions& out) {
  using batch::in_column, batch::out_column;
  const int k = in.contacts;
  Job job{in, options, device, out, {in.count, {}, {}, device}, {}};
  job.rows.in = {in_column(in.A, 9 * k * k), in_column(in.b, 3 * k), in_column(in.mu, k)};
  job.rows.out = {out_column(out.c, 3 * k),    out_column(out.a, 3 * k),
                  out_column(out.residual),    out_column(out.contact_residual),
                  out_column(out.minimum),     out_column(out.projected_gradient),
                  out_column(out.status),      out_column(out.iterations),
                  out_column(out.evaluations), out_column(out.inner),
                  out_column(out.products),    out_column(out.stage),
                  out_column(out.stalls)};
  job.diagnostics = {out_column(out.merit), out_column(out.friction_margin), out_column(out.required_friction),
                     out_column(out.state, k)};
  // Without a wanted column drain() skips the second pass.
  if (!any_wanted(job.diagnostics)) job.diagnostics.clear();
  return job;
}

std::vector<double> slip_directions(const ProblemView& in, int threads) {
  std::vector<double> all(in.slip_velocity.size());
  const auto contacts = static_cast<std::int64_t>(all.size() / 2);
  batch::for_blocks(threads, {contacts, 4096}, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t j = first; j < first + count; ++j)
      if (const auto at = static_cast<std::size_t>(j); in.mode[at] != 0)
        std::ranges::copy(unit_slip(in.slip_velocity.data() + 2 * at), all.data() + 2 * at);
  });
  return all;
}

Block::Block(const Job& job, std::int64_t most)
    : ContactsInUse(job.in.contacts),
      batch::RowTiles<Problem, Solution>(job.rows, most),
      job_(job),
      sliding_(job.in.slip_velocity.empty() ? 0 : most),  // memory for slips only if there are any
      candidates_(most) {}

void Block::fill(const batch::RowRange& rows) {
  batch::RowTiles<Problem, Solution>::fill(rows);
  // Slips are not a column of the rows: they are normalized on the way (sliding_at).
  if (slips() == nullptr) return;
  for_each_tile(rows, [&](std::int64_t t, std::int64_t first, std::int64_t count) {
    for (std::int64_t i = 0; i < kLanes; ++i)  // spare lanes repeat the last problem
      sliding_.set(t * kLanes + i, sliding_at(job_.in, first + std::min(i, count - 1)));
  });
}

void Block::drain(const batch::RowRange& rows) {
  using Diagnostics = ContactDiagnostics<double, kAnyContacts>;
  batch::RowTiles<Problem, Solution>::drain(rows);
  if (job_.diagnostics.empty()) return;
  const double *problems = this->in(), *solutions = this->out();
  for_each_tile(rows, [&](std::int64_t t, std::int64_t first, std::int64_t count) {
    // On the stack and aligned for a lane's load: the results live no longer than their tile.
    alignas(64) double diagnostics[sizeof(Diagnostics) / sizeof(double) * kLanes];
    with_contacts(job_.device.executor, [&](auto n) {
      for_each_problem<n>(job_.device.executor, count,
                          DiagnosticsKernel<n>{tile_data<Problem>(problems, t),
                                               slips() == nullptr ? nullptr : tile_data<Slips>(slips(), t),
                                               tile_data<Solution>(solutions, t), diagnostics, job_.in.contacts});
    });
    batch::scatter({diagnostics, batch::fields<double, Diagnostics>()}, {first, count}, job_.diagnostics);
  });
}

}  // namespace garra::contact
