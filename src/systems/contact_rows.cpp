// Between the plain arrays of contact.hpp and the tiles of a block: whole tiles at a time, transposed in registers.
#include <cstddef>

#include "systems/contact_run.hpp"
#include "systems/row_tiles.hpp"

namespace garra::contact {
namespace {

constexpr int kLanes = static_cast<int>(batch::kTile);

/// Tile t of a field or of several that lie side by side: the field at `offset` bytes within the problem T.
template <class T>
double* fields_at(double* tiles, std::int64_t t, std::size_t offset) {
  return tiles + (t * batch::kFields<double, T> + static_cast<std::int64_t>(offset / sizeof(double))) * kLanes;
}
template <class T>
const double* fields_at(const double* tiles, std::int64_t t, std::size_t offset) {
  return fields_at<T>(const_cast<double*>(tiles), t, offset);
}

/// The part of tile t that holds problems: where it begins in the arrays and how many there are.
struct Span {
  std::int64_t tile, first;
  int count;
};

template <class Use>
void for_each_tile(std::int64_t first, std::int64_t count, int threads, const Use& use) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (std::int64_t t = 0; t < batch::tiles_for(count); ++t)
    use(Span{t, first + t * batch::kTile, static_cast<int>(std::min(batch::kTile, count - t * batch::kTile))});
}

template <int N>
void fill_tile(const Problems& in, const Span& at, Block<N>& block) {
  using Problem = solvers::FrictionProblem<double, N>;
  double* tiles = block.problems.data();
  rows::to_tile(in.A.data() + at.first * 9 * N * N, 9 * N * N, at.count,
                fields_at<Problem>(tiles, at.tile, offsetof(Problem, A)));
  rows::to_tile(in.b.data() + at.first * 3 * N, 3 * N, at.count,
                fields_at<Problem>(tiles, at.tile, offsetof(Problem, b)));
  rows::to_tile(in.mu.data() + at.first * N, N, at.count, fields_at<Problem>(tiles, at.tile, offsetof(Problem, mu)));
  if (block.slips() == nullptr) return;
  for (int i = 0; i < kLanes; ++i)  // spare lanes repeat the last problem
    block.sliding.set(at.tile * kLanes + i, sliding_at<N>(in, at.first + std::min(i, at.count - 1)));
}

/// verdict_of() of a tile.
template <int N>
struct VerdictBody {
  const double* problems;
  const double* sliding;
  const double* solutions;
  double* verdicts;

  template <class S>
  void operator()(std::int64_t i) const {
    const auto slips = sliding == nullptr ? solvers::SlidingContacts<S, N>{Vec<S, 2 * N>::zero()}
                                          : batch::load<S, solvers::SlidingContacts<S, N>>(sliding, i);
    batch::store<S>(verdicts, i,
                    verdict_of<S, N>(batch::load<S, solvers::FrictionProblem<S, N>>(problems, i), slips,
                                     batch::load<S, solvers::FrictionSolution<S, N>>(solutions, i)));
  }
};

/// One number per problem lies in a tile as in an array.
template <class T>
void store_field(const double* tile, const Span& at, std::vector<T>& out) {
  const auto whole = [](double x) { return static_cast<T>(static_cast<int>(x)); };
  T* to = out.data() + at.first;
  if constexpr (std::is_same_v<T, double>)
    std::copy_n(tile, at.count, to);
  else
    std::transform(tile, tile + at.count, to, whole);
}

template <int N>
void store_verdicts(const Span& at, const double* tile, Solutions& out) {
  using Verdict = SolutionVerdict<double, N>;
  if (!out.merit.empty()) store_field(fields_at<Verdict>(tile, 0, offsetof(Verdict, merit)), at, out.merit);
  if (out.state.empty()) return;
  store_field(fields_at<Verdict>(tile, 0, offsetof(Verdict, friction_margin)), at, out.friction_margin);
  store_field(fields_at<Verdict>(tile, 0, offsetof(Verdict, critical_friction)), at, out.critical_friction);
  const double* state = fields_at<Verdict>(tile, 0, offsetof(Verdict, state));
  for (int i = 0; i < at.count; ++i)
    for (int j = 0; j < N; ++j)
      out.state[static_cast<std::size_t>((at.first + i) * N + j)] =
          static_cast<ContactState>(static_cast<int>(state[j * kLanes + i]));
}

template <int N>
void store_tile(const Span& at, const Block<N>& block, Solutions& out) {
  using Solution = solvers::FrictionSolution<double, N>;
  using Effort = solvers::Effort<double>;
  const auto field = [&](std::size_t offset) { return fields_at<Solution>(block.solutions.data(), at.tile, offset); };
  const auto effort = [&](std::size_t offset) { return field(offsetof(Solution, effort) + offset); };
  if (!out.c.empty()) rows::from_tile(field(offsetof(Solution, c)), 3 * N, at.count, out.c.data() + at.first * 3 * N);
  if (!out.a.empty()) rows::from_tile(field(offsetof(Solution, a)), 3 * N, at.count, out.a.data() + at.first * 3 * N);
  store_field(field(offsetof(Solution, residual)), at, out.residual);
  store_field(field(offsetof(Solution, residual_raw)), at, out.residual_raw);
  store_field(field(offsetof(Solution, minimum)), at, out.minimum);
  store_field(field(offsetof(Solution, projected_gradient)), at, out.projected_gradient);
  store_field(field(offsetof(Solution, status)), at, out.status);
  store_field(effort(offsetof(Effort, outer)), at, out.iterations);
  store_field(effort(offsetof(Effort, evaluations)), at, out.evaluations);
  store_field(effort(offsetof(Effort, inner)), at, out.inner);
  store_field(effort(offsetof(Effort, products)), at, out.products);
  store_field(effort(offsetof(Effort, stage)), at, out.stage);
  store_field(effort(offsetof(Effort, stalls)), at, out.stalls);
}

}  // namespace

template <int N>
void fill_block(const Problems& in, std::int64_t first, std::int64_t count, Block<N>& block, int threads) {
  for_each_tile(first, count, threads, [&](const Span& at) { fill_tile<N>(in, at, block); });
}

template <int N>
void store_block(const Job& job, std::int64_t first, std::int64_t count, const Block<N>& block, int threads) {
  const bool judged = !job.out.merit.empty() || !job.out.state.empty();
  // The host judges what a GPU solved, too: in lanes, as they have the same bits.
  const Executor executor = job.device.executor == Executor::kScalar ? Executor::kScalar : Executor::kLanes;
  for_each_tile(first, count, threads, [&](const Span& at) {
    store_tile<N>(at, block, job.out);
    if (!judged) return;
    alignas(64) double verdicts[batch::kFields<double, SolutionVerdict<double, N>> * kLanes];
    const double* slips = block.slips();
    batch::for_each(
        executor, at.count,
        VerdictBody<N>{fields_at<solvers::FrictionProblem<double, N>>(block.problems.data(), at.tile, 0),
                       slips == nullptr ? nullptr : fields_at<solvers::SlidingContacts<double, N>>(slips, at.tile, 0),
                       fields_at<solvers::FrictionSolution<double, N>>(block.solutions.data(), at.tile, 0), verdicts});
    store_verdicts<N>(at, verdicts, job.out);
  });
}

template void fill_block(const Problems&, std::int64_t, std::int64_t, Block<1>&, int);
template void fill_block(const Problems&, std::int64_t, std::int64_t, Block<2>&, int);
template void fill_block(const Problems&, std::int64_t, std::int64_t, Block<3>&, int);
template void fill_block(const Problems&, std::int64_t, std::int64_t, Block<4>&, int);
template void fill_block(const Problems&, std::int64_t, std::int64_t, Block<5>&, int);
template void fill_block(const Problems&, std::int64_t, std::int64_t, Block<6>&, int);
template void fill_block(const Problems&, std::int64_t, std::int64_t, Block<7>&, int);
template void fill_block(const Problems&, std::int64_t, std::int64_t, Block<8>&, int);
template void store_block(const Job&, std::int64_t, std::int64_t, const Block<1>&, int);
template void store_block(const Job&, std::int64_t, std::int64_t, const Block<2>&, int);
template void store_block(const Job&, std::int64_t, std::int64_t, const Block<3>&, int);
template void store_block(const Job&, std::int64_t, std::int64_t, const Block<4>&, int);
template void store_block(const Job&, std::int64_t, std::int64_t, const Block<5>&, int);
template void store_block(const Job&, std::int64_t, std::int64_t, const Block<6>&, int);
template void store_block(const Job&, std::int64_t, std::int64_t, const Block<7>&, int);
template void store_block(const Job&, std::int64_t, std::int64_t, const Block<8>&, int);

}  // namespace garra::contact
