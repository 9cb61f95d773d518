// Runs an operation (rows.hpp) on every executor, and checks its input arrays.
#pragma once

#include "garra/batch/rows_run.hpp"
#include "garra/core/error.hpp"
#include "garra/systems/platform/status.hpp"
#include "platform/batch/rows.hpp"

namespace garra::platform {

/// Throws Error(kUsage) unless an array holds `rows` x `width` numbers; an `optional` array may be
/// empty.
inline void check_rows(const char* name, const std::vector<double>& array, std::int64_t rows, int width,
                       bool optional = false) {
  if (optional && array.empty()) return;
  if (static_cast<std::int64_t>(array.size()) == rows * width) return;
  throw Error(ExitCode::kUsage,
              std::string(name) + " holds " + std::to_string(array.size()) + " numbers, not " + std::to_string(rows) +
                  " x " + std::to_string(width),
              "Give one row per sample.");
}

/// The kernel forms of one platform for all, or of one for each of `rows` samples.
inline std::vector<Model<double>> models_for(const Platforms& platforms, std::int64_t rows) {
  if (platforms.size() != 1 && static_cast<std::int64_t>(platforms.size()) != rows)
    throw Error(ExitCode::kUsage,
                std::to_string(platforms.size()) + " platforms for " + std::to_string(rows) + " samples",
                "Give one platform for all samples, or one for each.");
  std::vector<Model<double>> models;
  models.reserve(platforms.size());
  for (const Platform& p : platforms) models.push_back(make_model(p));
  return models;
}

/// `width` numbers per row, read where they are.
inline InColumn column(const std::vector<double>& array, int width) { return batch::in_column(array, width); }
/// Makes room for `width` numbers per row.
inline OutColumn room(std::vector<double>& array, std::int64_t rows, int width) {
  array.resize(static_cast<std::size_t>(rows * width));
  return {array.data(), width};
}
/// Output column if `wanted`; otherwise the runner of the operation omits the output.
inline OutColumn room_if(bool wanted, std::vector<double>& array, std::int64_t rows, int width) {
  return wanted ? room(array, rows, width) : OutColumn{nullptr, width};
}

/// Status of each row, from the numbers of a kernel.
inline std::vector<PoseStatus> statuses(const std::vector<double>& numbers) {
  std::vector<PoseStatus> out;
  out.reserve(numbers.size());
  for (const double number : numbers) out.push_back(static_cast<PoseStatus>(static_cast<int>(number)));
  return out;
}

template <class Op>
void run_rows(const Op& op, const RowsJob& job) {
  // An empty batch needs no GPU and no threads.
  if (job.count == 0) return;
  // The kernels are announced for the job, not for Rows: with_models() runs there, so that host code names no device
  // type.
  if (job.device.executor == Executor::kCuda) return batch::on_device(job.device, op, job);
  with_models(op, job, [](const auto& on_model, const batch::Rows& rows) { batch::run_rows_on_host(on_model, rows); });
}

}  // namespace garra::platform
