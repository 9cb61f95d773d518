// A user's own mixed complementarity problem, and a million instances of it: a market with two suppliers.
//
// Supplier i makes u_i at the marginal cost a_i + b_i u_i and sells at the price v. It makes nothing where even the
// first piece costs more than the price, and at most its capacity h_i; the price is what clears the market:
//
//   0 <= u_i <= h_i,   a_i + b_i u_i - v >= 0 at u_i = 0, <= 0 at u_i = h_i, else = 0,   u_1 + u_2 - d exp(-v / s) = 0
//
// usage: example_mncp_market [COUNT]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "garra/mncp.hpp"

struct Market {
  static constexpr int kComplementary = 2, kFree = 1;
  template <class S>
  struct Data {
    S a1, b1, a2, b2, d, s, h1, h2;
  };
  template <class S>
  static GARRA_HD S upper(const Data<S>& m, int i) {
    return i == 0 ? m.h1 : m.h2;
  }
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
  for (auto& m : markets)
    m = {draw(1, 5), draw(.1, 2), draw(1, 5), draw(.1, 2), draw(1, 20), draw(1, 8), draw(0.5, 5), draw(0.5, 5)};

  const auto begin = std::chrono::steady_clock::now();
  const auto found = garra::mncp::solve<Market>(markets, {1, 1, 1}, {.starts = 3});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  std::size_t monopolies = 0;
  for (std::size_t i = 0; i < count; ++i) monopolies += found.x[3 * i] < 1e-6 || found.x[3 * i + 1] < 1e-6;
  std::printf("%zu markets, %.4f %% solved, %zu with one supplier or none, %.2f s, %.2f million per second\n", count,
              100 * found.solved_share(), monopolies, seconds, 1e-6 * static_cast<double>(count) / seconds);
  return found.solved_share() > 0.999 ? 0 : 1;
}
