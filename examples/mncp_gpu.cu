// The problem of mncp_market.cpp on a GPU: the same struct, compiled by nvcc (flags in examples/CMakeLists.txt).
//
// usage: example_mncp_gpu [COUNT]
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "garra/mncp_cuda.cuh"

struct Market {
  static constexpr int kComplementary = 2, kFree = 1;
  template <class S>
  struct Data {
    S a1, b1, a2, b2, d, s;
  };
  template <class S, class X>
  static GARRA_HD garra::Vec<X, 3> evaluate(const Data<S>& m, const garra::Vec<X, 3>& x) {
    const X &u1 = x[0], &u2 = x[1], &price = x[2];
    return {{m.a1 + m.b1 * u1 - price, m.a2 + m.b2 * u2 - price, u1 + u2 - m.d * garra::exp(-(price / m.s))}};
  }
};

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000000;
  std::mt19937_64 generator(1);
  const auto draw = [&](double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(generator); };
  std::vector<Market::Data<double>> markets(count);
  for (auto& m : markets) m = {draw(1, 5), draw(.1, 2), draw(1, 5), draw(.1, 2), draw(1, 20), draw(1, 8)};

  const auto values = garra::mncp::evaluate_on_gpu<Market>(markets, {1, 1, 1});
  const auto found = garra::mncp::solve_on_gpu<Market>(markets, {1, 1, 1}, {.starts = 3});

  // The same bits as one problem at a time on the CPU.
  std::size_t differ = 0;
  for (std::size_t i = 0; i < count; i += 997) {
    using Merit = garra::solvers::ComponentwiseMerit;
    const auto alone =
        garra::mncp::solve_one<Market, Merit, garra::solvers::ProjectedLm>(markets[i], {{1, 1, 1}}, {.starts = 3});
    for (int k = 0; k < 3; ++k) differ += alone.x[k] != found.x[3 * i + static_cast<std::size_t>(k)];
  }
  std::printf("%zu markets, merit of the first start %.3g, %.4f %% solved, %zu numbers differ from the CPU\n", count,
              values.f[0], 100 * found.solved_share(), differ);
  return found.solved_share() > 0.999 && differ == 0 ? 0 : 1;
}
