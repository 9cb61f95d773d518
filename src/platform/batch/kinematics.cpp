// Forward kinematics of garra/platform_kinematics.hpp.
#include <algorithm>

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
  to.iterations[row] = from.iterations[k];
}

/// Leads the few rows that Newton's method did not bring from the guess to the lengths at once.
void lead(const Platforms& platforms, const std::vector<double>& lengths, const Poses& guess,
          const ForwardOptions& options, const Device& device, ForwardKinematics& to) {
  const LedForwardOp op = led_forward_op(options);
  std::vector<std::size_t> slow;
  for (std::size_t i = 0; i < to.status.size(); ++i)
    if (op.is_slow<double>(to.iterations[i], to_number<double>(to.status[i]))) slow.push_back(i);
  if (slow.empty()) return;
  const Subset of = select_subset(platforms, lengths, guess, std::move(slow));
  const ForwardKinematics led = run_forward(op, forward_job(of.platforms, of.lengths, of.guess, device));
  for (std::size_t k = 0; k < of.row.size(); ++k) copy_row(led, k, of.row[k], to);
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
  lead(platforms, lengths, guess, options, device, to);
  if (options.certify) certify(job, options, to);
  return to;
}

}  // namespace garra::platform
