// Plain arrays through tiles to an operation and back: every width, size and kind of column, on every executor of the
// host; and what is said where an operation has no kernel.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "garra/batch/rows_run.hpp"
#include "garra/core/error.hpp"
#include "on_every_executor.hpp"

namespace garra {
namespace {

/// Widths around eight, which is how many numbers are transposed at once.
struct Mixed {
  template <class S>
  struct In {
    S one, seven[7], eight[8], twenty[20], absent[2], shared[3];
  };
  template <class S>
  struct Out {
    S twenty[20], eight[8], seven[7], one, absent[2], shared[3], sign, kind[2];
  };
  double scale;

  template <class S>
  GARRA_HD Out<S> operator()(const In<S>& in) const {
    Out<S> out;
    for (int k = 0; k < 20; ++k) out.twenty[k] = S(scale) * in.twenty[k];
    for (int k = 0; k < 8; ++k) out.eight[k] = S(scale) * in.eight[k];
    for (int k = 0; k < 7; ++k) out.seven[k] = S(scale) * in.seven[k];
    for (int k = 0; k < 2; ++k) out.absent[k] = in.absent[k];
    for (int k = 0; k < 3; ++k) out.shared[k] = in.shared[k] + in.one;
    out.one = S(scale) * in.one;
    out.sign = select(in.one > S(0), S(1), S(-1));
    out.kind[0] = out.kind[1] = select(in.one > S(0), S(255), S(2));
    return out;
  }
};

enum class Kind : std::uint8_t { kTwo = 2, kLast = 255 };

/// No two numbers are alike.
std::vector<double> numbers(std::int64_t rows, int width, double first) {
  std::vector<double> v(static_cast<std::size_t>(rows * width));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = first + static_cast<double>(i) * (i % 2 == 0 ? 1 : -1);
  return v;
}

struct Found {
  std::vector<double> one, seven, eight, twenty, absent, shared;
  std::vector<std::int32_t> sign;
  std::vector<Kind> kind;
};

Found run(std::int64_t n, const std::vector<std::vector<double>>& in, const Device& device) {
  const auto rows = static_cast<std::size_t>(n);
  Found f{std::vector<double>(rows),       std::vector<double>(7 * rows), std::vector<double>(8 * rows),
          std::vector<double>(20 * rows),  std::vector<double>(2 * rows), std::vector<double>(3 * rows),
          std::vector<std::int32_t>(rows), std::vector<Kind>(2 * rows)};
  using batch::in_column, batch::out_column;
  batch::run_rows(
      Mixed{3}, {n,
                 {in_column(in[0], 1), in_column(in[1], 7), in_column(in[2], 8), in_column(in[3], 20), in_column({}, 2),
                  in_column(in[4], 3, true)},
                 {out_column(f.twenty, 20), out_column(f.eight, 8), out_column(f.seven, 7), out_column(f.one),
                  out_column(f.absent, 2), out_column(f.shared, 3), out_column(f.sign), out_column(f.kind, 2)},
                 device});
  return f;
}

TEST(Rows, GoThereAndBackInEveryColumnAtEverySize) {
  // The outputs of the last fit into no cache: they take the way past them.
  for (const std::int64_t n : {0, 1, 7, 8, 9, 31, 32, 33, 512, 1003, 110003}) {
    SCOPED_TRACE(n);
    const std::vector<std::vector<double>> in = {numbers(n, 1, 0.5), numbers(n, 7, 2), numbers(n, 8, 3),
                                                 numbers(n, 20, 4), numbers(1, 3, 5)};
    const auto thrice = [](std::vector<double> v) {
      for (double& x : v) x *= 3;
      return v;
    };
    for (const Device& device : {Device{Executor::kScalar, 1, 0}, {Executor::kLanes, 1, 0}, {Executor::kLanes, 3, 0}}) {
      const Found f = run(n, in, device);
      EXPECT_EQ(f.one, thrice(in[0]));
      EXPECT_EQ(f.seven, thrice(in[1]));
      EXPECT_EQ(f.eight, thrice(in[2]));
      EXPECT_EQ(f.twenty, thrice(in[3]));
      EXPECT_EQ(f.absent, std::vector<double>(static_cast<std::size_t>(2 * n)));
      for (std::size_t i = 0; i < f.sign.size(); ++i) {
        for (std::size_t k = 0; k < 3; ++k) ASSERT_EQ(f.shared[3 * i + k], in[4][k] + in[0][i]);
        ASSERT_EQ(f.sign[i], in[0][i] > 0 ? 1 : -1);
        for (std::size_t k = 0; k < 2; ++k) ASSERT_EQ(f.kind[2 * i + k], in[0][i] > 0 ? Kind::kLast : Kind::kTwo);
      }
    }
  }
}

TEST(Rows, HoldOneNanWhicheverCameOut) {
  const double zero = 0, payload = std::bit_cast<double>(std::uint64_t{0xfff4000000000123});
  std::vector<std::vector<double>> in = {numbers(43, 1, 0.5), numbers(43, 7, 2), numbers(43, 8, 3), numbers(43, 20, 4),
                                         numbers(1, 3, 5)};
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t i = k; i < in[k].size(); i += 11) in[k][i] = i % 2 == 0 ? payload : -(zero / zero);
  for (const Device& device : {Device{Executor::kScalar, 1, 0}, {Executor::kLanes, 1, 0}}) {
    const Found f = run(43, in, device);
    int nans = 0;
    for (const auto* column : {&f.one, &f.seven, &f.eight, &f.twenty, &f.shared})
      for (const double x : *column) {
        if (!std::isnan(x)) continue;
        ++nans;
        ASSERT_EQ(std::bit_cast<std::uint64_t>(x), 0x7ff8000000000000u);
      }
    EXPECT_GT(nans, 100);
  }
}

TEST(Rows, OfAnOperationWithoutAKernelSaySoOnAGpu) {
  const std::vector<std::vector<double>> in = {{1}, numbers(1, 7, 2), numbers(1, 8, 3), numbers(1, 20, 4), {1, 2, 3}};
  try {
    static_cast<void>(run(1, in, {Executor::kCuda, 0, 0}));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kNoDevice);
    EXPECT_NE(std::string(e.what()).find("no CUDA kernels"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace garra
