// Forward kinematics of garra/platform_kinematics.hpp.
#include <algorithm>

#include "garra/core/philox.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/systems/platform/modes_ops.hpp"
#include "platform/batch/forward_ops.hpp"
#include "platform/batch/forward_rows.hpp"
#include "platform/batch/modes.hpp"

namespace garra::platform {

namespace {

/// Applies the proofs to converged poses; they override the sign of the determinant.
void certify(const RowsJob& job, const ForwardOptions& options, ForwardKinematics& to) {
  const ModeProofs proofs = mode_proofs(job, to.pose, options);
  to.uniqueness.assign(to.status.size(), 0.0);
  for (std::size_t i = 0; i < to.status.size(); ++i) {
    PoseStatus& status = to.status[i];
    if (status == PoseStatus::kInvalidInput || !(to.residual[i] <= options.tolerance)) continue;
    to.uniqueness[i] = proofs.unique[i];
    status = static_cast<PoseStatus>(static_cast<int>(
        certified_status<double>(static_cast<double>(status), proofs.proven[i] > 0, options.certify_mode)));
  }
}

/// Some rows of a job of forward kinematics, with guesses of their own.
struct Subset {
  std::vector<std::size_t> row;
  Platforms platforms;
  std::vector<double> lengths;
  Poses guess;
};

Subset select_subset(const Platforms& platforms, const std::vector<double>& lengths, const Poses& guess,
                     std::vector<std::size_t> row) {
  Subset to;
  if (platforms.size() == 1) to.platforms = platforms;
  for (const std::size_t i : row) {
    if (platforms.size() > 1) to.platforms.push_back(platforms[i]);
    const std::size_t at = guess.position.size() == 3 ? 0 : i;
    const auto copy = [](const std::vector<double>& from, std::size_t width, std::size_t k, std::vector<double>& into) {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(width * k);
      into.insert(into.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    };
    copy(lengths, 6, i, to.lengths);
    copy(guess.position, 3, at, to.guess.position);
    copy(guess.quaternion, 4, at, to.guess.quaternion);
  }
  to.row = std::move(row);
  return to;
}

void copy_row(const ForwardKinematics& from, std::size_t k, std::size_t row, ForwardKinematics& to) {
  std::copy_n(from.pose.position.begin() + static_cast<std::ptrdiff_t>(3 * k), 3,
              to.pose.position.begin() + static_cast<std::ptrdiff_t>(3 * row));
  std::copy_n(from.pose.quaternion.begin() + static_cast<std::ptrdiff_t>(4 * k), 4,
              to.pose.quaternion.begin() + static_cast<std::ptrdiff_t>(4 * row));
  to.residual[row] = from.residual[k];
  to.sigma_min[row] = from.sigma_min[k];
  to.status[row] = from.status[k];
  to.iterations[row] += from.iterations[k];
}

bool has_lengths(const ForwardKinematics& of, std::size_t row, double tolerance) {
  return of.status[row] != PoseStatus::kInvalidInput && of.residual[row] <= tolerance;
}

/// Continues rows from their guesses along the lengths. The end of a proven path replaces the pose
/// found by Newton's method from far away; without such a path, a pose with the lengths is only one
/// of several.
void follow(const Subset& of, const ForwardOptions& options, const Device& device, ForwardKinematics& to) {
  RowsJob job = forward_job(of.platforms, of.lengths, of.guess, device);
  ForwardKinematics led;
  std::vector<double> iterations, status, follows;
  const std::int64_t n = job.count;
  job.out = {room(led.pose.position, n, 3),
             room(led.pose.quaternion, n, 4),
             room(led.residual, n, 1),
             room(led.sigma_min, n, 1),
             room(iterations, n, 1),
             room(status, n, 1),
             room(follows, n, 1)};
  run_rows(follow_op(options), job);
  led.status = statuses(status);
  led.iterations.assign(iterations.begin(), iterations.end());
  for (std::size_t k = 0; k < of.row.size(); ++k) {
    const std::size_t row = of.row[k];
    if (follows[k] > 0)
      copy_row(led, k, row, to);
    else if (to.status[row] == PoseStatus::kConverged)
      to.status[row] = PoseStatus::kModeSuspect;
  }
}

constexpr int kRestarts = 24;              ///< of a row whose lengths were not met
constexpr std::uint64_t kRestartSeed = 1;  // fixed: the same answer in every call

/// Guesses about those of the rows: attempt k is off by up to (k + 1) / kRestarts of the platform's size, and of a half
/// turn.
Poses guesses_about(const Subset& of, int attempt, double length) {
  Poses to = of.guess;
  const double part = (attempt + 1.0) / kRestarts;
  for (std::size_t k = 0; k < of.row.size(); ++k) {
    const auto index = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(attempt));
    double u[6];
    for (std::uint32_t d = 0; d < 3; ++d) uniform_pair<double>(kRestartSeed, index, d, u[2 * d], u[2 * d + 1]);
    for (std::size_t j = 0; j < 3; ++j) to.position[3 * k + j] += 2 * length * part * (2 * u[j] - 1);
    double* p = to.quaternion.data() + 4 * k;
    const Vec3<double> turn = vec3(2 * u[3] - 1, 2 * u[4] - 1, 2 * u[5] - 1);
    const Quaternion<double> turned = turned_by<double>({{p[0], p[1], p[2], p[3]}}, 2 * part * turn);
    for (int j = 0; j < 4; ++j) p[j] = turned[j];
  }
  return to;
}

/// Restarts rows without the lengths from other initial guesses. The poses found have the lengths,
/// but may be in another mode than the guess.
void restart(const Platforms& platforms, const std::vector<double>& lengths, const Poses& guess,
             const ForwardOptions& options, const Device& device, ForwardKinematics& to) {
  for (int attempt = 0; attempt < kRestarts; ++attempt) {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < to.status.size(); ++i)
      if (to.status[i] == PoseStatus::kStalled || to.status[i] == PoseStatus::kIterationLimit) left.push_back(i);
    if (left.empty()) return;
    const Subset of = select_subset(platforms, lengths, guess, std::move(left));
    const ForwardKinematics again = run_forward(
        forward_op(options),
        forward_job(of.platforms, of.lengths, guesses_about(of, attempt, options.characteristic_length), device));
    for (std::size_t k = 0; k < of.row.size(); ++k) {
      if (!has_lengths(again, k, options.tolerance)) continue;
      const std::size_t row = of.row[k];
      copy_row(again, k, row, to);
      if (to.status[row] == PoseStatus::kConverged) to.status[row] = PoseStatus::kModeSuspect;
    }
  }
}

/// Treats the few rows that Newton's method did not bring from the guess to the lengths at once.
void settle(const Platforms& platforms, const std::vector<double>& lengths, const Poses& guess,
            const ForwardOptions& options, const Device& device, ForwardKinematics& to) {
  // A smaller iteration limit bounds the effort.
  if (options.plain_iterations < 0 || options.max_iterations <= options.plain_iterations) return;
  std::vector<std::size_t> slow;
  for (std::size_t i = 0; i < to.status.size(); ++i)
    if (to.status[i] != PoseStatus::kInvalidInput &&
        (to.iterations[i] > options.plain_iterations || to.status[i] != PoseStatus::kConverged))
      slow.push_back(i);
  if (slow.empty()) return;
  follow(select_subset(platforms, lengths, guess, std::move(slow)), options, device, to);
  restart(platforms, lengths, guess, options, device, to);
}

}  // namespace

const char* to_string(PoseStatus status) {
  constexpr const char* kNames[] = {"converged", "certified",       "mode_suspect", "near_singular",
                                    "stalled",   "iteration_limit", "invalid_input"};
  return kNames[static_cast<int>(status)];
}

ForwardKinematics forward_kinematics(const Platforms& platforms, const std::vector<double>& lengths, const Poses& guess,
                                     const ForwardOptions& given, const Device& device) {
  check_proofs(given);
  const ForwardOptions options = scaled_options(given, platforms);
  const RowsJob job = forward_job(platforms, lengths, guess, device);
  ForwardKinematics to = run_forward(forward_op(options), job);
  settle(platforms, lengths, guess, options, device, to);
  if (options.certify) certify(job, options, to);
  return to;
}

}  // namespace garra::platform
