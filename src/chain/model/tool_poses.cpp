#include "chain/model/tool_poses.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "garra/core/error.hpp"
#include "garra/core/mat.hpp"

namespace garra::chain {

namespace {

constexpr double kDigits = 5e-4;

/// Sufficient and quick; false for numbers that are not finite.
bool is_pose(const double* p) {
  const auto along = [&](int i, int j) { return p[i] * p[j] + p[4 + i] * p[4 + j] + p[8 + i] * p[8 + j]; };
  const double volume =
      p[0] * (p[5] * p[10] - p[9] * p[6]) + p[4] * (p[9] * p[2] - p[1] * p[10]) + p[8] * (p[1] * p[6] - p[5] * p[2]);
  const double last = std::abs(p[12]) + std::abs(p[13]) + std::abs(p[14]) + std::abs(p[15] - 1);
  const double lengths = std::abs(along(0, 0) - 1) + std::abs(along(1, 1) - 1) + std::abs(along(2, 2) - 1);
  return last + lengths + std::abs(along(0, 1)) + std::abs(along(0, 2)) + std::abs(along(1, 2)) <= kDigits &&
         volume > 0;
}

}  // namespace

void check_tool_poses(std::span<const double> pose) {
  for (std::size_t n = 0; n < pose.size() / 16; ++n) {
    const double* p = &pose[16 * n];
    if (is_pose(p)) continue;
    Mat3<double> R;
    for (int k = 0; k < 9; ++k) R[k] = p[k / 3 * 4 + k % 3];
    const Mat3<double> gap = transpose_times(R, R) - Mat3<double>::identity();
    double worst = std::max({std::abs(p[12]), std::abs(p[13]), std::abs(p[14]), std::abs(p[15] - 1)});
    for (const double x : gap.m) worst = std::max(worst, std::abs(x));
    const bool mirrored = dot(column(R, 0), cross(column(R, 1), column(R, 2))) < 0;
    const bool finite = std::all_of(p, p + 16, [](double x) { return std::isfinite(x); });
    if (!finite || (worst <= kDigits && !mirrored)) continue;
    char text[160];
    std::snprintf(text, sizeof text, "pose %zu: its matrix is no rotation with [0, 0, 0, 1] below: off by %.2g", n,
                  mirrored ? 2.0 : worst);
    throw Error(ExitCode::kUsage, text, "Give homogeneous matrices [R p; 0 1] with R'R = 1 and det R = 1.");
  }
}

}  // namespace garra::chain
