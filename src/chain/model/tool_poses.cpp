#include "chain/model/tool_poses.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "garra/core/error.hpp"
#include "garra/core/mat.hpp"

namespace garra::chain {

void check_tool_poses(std::span<const double> pose) {
  constexpr double kDigits = 5e-4;
  for (std::size_t n = 0; n < pose.size() / 16; ++n) {
    const double* p = &pose[16 * n];
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
