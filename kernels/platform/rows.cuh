// Operations on rows of platforms (platform/batch/rows.hpp) on the GPU.
#pragma once

#include "garra/batch/rows.cuh"
#include "platform/batch/rows.hpp"

namespace garra::platform {

/// The function that batch::on_device() calls for an operation on rows of platforms.
template <class Op>
void run_kernels(const Device& device, const Op& op, const RowsJob& job) {
  with_models(op, job,
              [&](const auto& on_model, const batch::Rows& rows) { batch::run_kernels(device, on_model, rows); });
}

/// Runs the same kernels on rows that are already on the GPU.
template <class Op>
void run_kernels(const Device& device, const Op& op, const ResidentJob& job) {
  batch::run_kernels(device, OnSharedModel<Op>{op, job.model}, job.rows);
}

}  // namespace garra::platform
