// Inverse kinematics of garra/platform_kinematics.hpp.
#include <algorithm>
#include <functional>
#include <numeric>

#include "garra/platform_kinematics.hpp"
#include "garra/systems/platform/inverse_ops.hpp"
#include "platform/batch/poses.hpp"
#include "platform/batch/rows_run.hpp"

namespace garra::platform {

namespace {

/// Sets the computed outputs of a row to NaN and its mask to 0.
void blank_row(InverseKinematics& to, std::int64_t row) {
  each_array(to, [&]<class T>(const char*, std::vector<T>& values, Axes axes) {
    if constexpr (std::is_same_v<T, double>)
      blank(values, row,
            static_cast<int>(std::accumulate(axes.begin(), axes.end(), std::size_t{1}, std::multiplies<>())));
  });
  if (!to.mask.empty()) to.mask[static_cast<std::size_t>(row)] = 0;
}

constexpr int kLimitNumbers = sizeof(Limits<double>) / sizeof(double);

/// Limits of one row. `apart` is the distance of each leg to the nearest other leg.
std::uint32_t row_limit_mask(const Limits<double>& limits, const InverseKinematics& of,
                             const std::vector<double>& apart, std::size_t row) {
  const auto six = [row](const std::vector<double>& all) {
    Vec<double, 6> v;
    std::copy_n(all.data() + 6 * row, 6, v.m);
    return v;
  };
  const LimitMargins<double> margins{{}, six(of.universal_margin), six(of.spherical_margin), six(apart), 0};
  return static_cast<std::uint32_t>(limit_mask(limits, six(of.lengths), margins));
}

void fill_masks(const std::vector<Limits<double>>& limits, const std::vector<double>& apart, InverseKinematics& to) {
  to.mask.resize(to.clearance.size());
  for (std::size_t row = 0; row < to.mask.size(); ++row) {
    const Limits<double>& own = limits.size() == 1 ? limits.front() : limits[row];
    // Legs without thickness cannot collide: no distance is too small.
    if (!(own.clearance > 0)) to.clearance[row] = std::numeric_limits<double>::infinity();
    to.mask[row] = row_limit_mask(own, to, apart, row);
  }
}

/// The outputs that options ask for.
void fill_details(const Platforms& platforms, const InverseOptions& options, RowsJob job, InverseKinematics& to) {
  const std::int64_t n = job.count;
  std::vector<Limits<double>> limits;
  for (const Platform& p : platforms) limits.push_back(make_limits(p));
  std::vector<double> apart, sigma_max;
  // One pass for all details: the leg vectors are their common part.
  const bool f = options.frames, c = options.conditioning, l = options.limits;
  // The limits go in as a column of plain numbers, shared where the platforms are.
  job.in.push_back({reinterpret_cast<const double*>(limits.data()), kLimitNumbers, limits.size() == 1});
  job.out = {room_if(f, to.leg_vector, n, 18),      room_if(f, to.leg_quaternion, n, 24),
             room_if(f, to.leg_euler313, n, 18),    room_if(f, to.universal_angles, n, 12),
             room_if(c, to.determinant, n, 1),      room_if(c, to.sigma_min, n, 1),
             room_if(c, sigma_max, n, 1),           room_if(c, to.free_motion, n, 6),
             room_if(l, to.stroke_margin, n, 6),    room_if(l, to.universal_margin, n, 6),
             room_if(l, to.spherical_margin, n, 6), room_if(l, apart, n, 6),
             room_if(l, to.clearance, n, 1)};
  run_rows(DetailOp{characteristic_length(platforms, options.characteristic_length)}, job);
  for (std::size_t row = 0; row < sigma_max.size(); ++row) to.condition.push_back(sigma_max[row] / to.sigma_min[row]);
  if (l) fill_masks(limits, apart, to);
}

}  // namespace

InverseKinematics inverse_kinematics(const Platforms& platforms, const Poses& poses, const Motion& motion,
                                     const InverseOptions& options, const Device& device) {
  const std::int64_t n = count_rows(poses);
  check_rows("position", poses.position, n, 3);
  check_rows("quaternion", poses.quaternion, n, 4);
  check_rows("velocity", motion.velocity, n, 6, true);
  check_rows("acceleration", motion.acceleration, n, 6, true);
  InverseKinematics to;
  RowsJob job{n, models_for(platforms, n), {column(poses.position, 3), column(poses.quaternion, 4)}, {}, device};
  job.out = {room(to.lengths, n, 6)};
  run_rows(LengthsOp{}, job);
  if (!motion.velocity.empty()) {
    RowsJob moving = job;
    moving.in.insert(moving.in.end(), {column(motion.velocity, 6), column(motion.acceleration, 6)});
    moving.out = {room(to.rates, n, 6), room_if(!motion.acceleration.empty(), to.accelerations, n, 6)};
    run_rows(RatesOp{}, moving);
  }
  if (options.frames || options.conditioning || options.limits) fill_details(platforms, options, job, to);
  to.status.assign(static_cast<std::size_t>(n), PoseStatus::kConverged);
  for (std::int64_t i = 0; i < n; ++i) {
    // The kernels also compute invalid rows; their outputs are overwritten here.
    const auto row = static_cast<std::size_t>(i);
    if (!to.sigma_min.empty() && to.sigma_min[row] <= options.near_singular) to.status[row] = PoseStatus::kNearSingular;
    if (usable(poses, i) && finite_row(motion.velocity, i, 6) && finite_row(motion.acceleration, i, 6)) continue;
    to.status[row] = PoseStatus::kInvalidInput;
    blank_row(to, i);
  }
  return to;
}

}  // namespace garra::platform
