// Rows of states into tiles and back: padding on the way in, out of the way again on the way out, and who is invalid.
#include "chain/eval/buffer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/row_tiles.hpp"

namespace garra::chain {

namespace {

constexpr std::int64_t kLanes = batch::kTile;

int input_fields(const EvalJob& job, int J) {
  const Needs n = collect_needs(job.wanted);
  return J * (1 + n.qd + n.qdd + n.tau) + (n.wrench ? 6 : 0) + static_cast<int>(job.in.parameters.size());
}
int output_fields(const EvalJob& job, int J) {
  int fields = 0;
  for (int i = 0; i < kOutputCount; ++i)
    if (job.wanted.has(static_cast<Output>(i))) fields += output_size(static_cast<Output>(i), J);
  return fields;
}
// Angles are 3 J (sine, cosine, slide), then `singular` and `invalid`.
int count_fields(const EvalJob& job, int J) { return input_fields(job, J) + output_fields(job, J) + 3 * J + 2; }

/// Moves the fields of a padded array to where those of an array without padding are.
void leave_padding_out(Output output, int joints, int J, double* tile) {
  if (joints == J) return;
  const int size = output_size(output, joints);
  for (int f = 0; f < output_size(output, J); ++f)
    // Fields only move forward, so the tile serves as source and target.
    if (const int to = without_padding(output, f, J, joints, size); to >= 0 && to != f)
      std::copy_n(tile + f * kLanes, kLanes, tile + to * kLanes);
}

}  // namespace

Needs collect_needs(const Outputs& wanted) {
  Needs all;
  for (int i = 0; i < kOutputCount; ++i) {
    const auto output = static_cast<Output>(i);
    if (!wanted.has(output)) continue;
    const Needs n = needs(output);
    all.qd |= n.qd;
    all.qdd |= n.qdd;
    all.tau |= n.tau;
    all.wrench |= n.wrench;
  }
  return all;
}

EvalBuffer::EvalBuffer(const EvalJob& job, int J, std::int64_t tiles)
    : job_(job), joints_(job.robot.joints), J_(J), count_(tiles) {
  const auto doubles = static_cast<std::size_t>(count_fields(job, J) * tiles * kLanes);
  // Aligned for the widest register; zeroed, so that spare lanes compute on ordinary numbers.
  data_.reset(new (std::align_val_t(64)) double[doubles]());
  const Needs n = collect_needs(job.wanted);
  const auto add = [&](StateInput input, std::span<const double> rows, bool needed, int given, int padded) {
    tiles_.in[static_cast<int>(input)] = add_input(rows, needed, given, padded);
  };
  add(StateInput::kQ, job.in.q, true, joints_, J);
  add(StateInput::kQd, job.in.qd, n.qd, joints_, J);
  add(StateInput::kQdd, job.in.qdd, n.qdd, joints_, J);
  add(StateInput::kTau, job.in.tau, n.tau, joints_, J);
  add(StateInput::kWrench, job.in.wrench, n.wrench, 6, 6);
  const auto columns = static_cast<std::int64_t>(job.in.parameters.size());
  if (columns > 0) tiles_.parameters = parameters_ = take(columns);
  tiles_.angles = take(3 * J);
  tiles_.singular = take(1);
  invalid_ = take(1);
  for (int i = 0; i < kOutputCount; ++i)
    if (job.wanted.has(static_cast<Output>(i))) tiles_.out[i] = take(output_size(static_cast<Output>(i), J));
}

double* EvalBuffer::take(std::int64_t fields) {
  double* start = data_.get() + used_;
  used_ += fields * count_ * kLanes;
  return start;
}

const double* EvalBuffer::add_input(std::span<const double> rows, bool needed, int given, int padded) {
  if (!needed) return nullptr;
  inputs_.push_back({rows.data(), take(padded), given, padded});
  return inputs_.back().tile;
}

void EvalBuffer::fill(std::int64_t t, std::int64_t first, int count) {
  double* invalid = invalid_ + t * kLanes;
  std::fill_n(invalid, kLanes, 0.0);
  const auto probe = [&](const double* fields, int how_many) {  // 0 * x is NaN where x is not finite
    for (int f = 0; f < how_many; ++f)
      // A sum instead of a comparison: it vectorizes, and one NaN among the fields is enough.
      for (int l = 0; l < kLanes; ++l) invalid[l] += 0 * fields[f * kLanes + l];
  };
  for (const Given& in : inputs_) {
    double* tile = in.tile + t * in.padded * kLanes;
    rows::to_tile(in.rows + first * in.given, in.given, count, tile);
    probe(tile, in.given);
  }
  const auto columns = static_cast<int>(job_.in.parameters.size());
  for (int c = 0; c < columns; ++c) {
    double* lanes = parameters_ + (t * columns + c) * kLanes;
    rows::to_tile(job_.in.parameters[static_cast<std::size_t>(c)].value.data() + first, 1, count, lanes);
    probe(lanes, 1);
  }
}

void EvalBuffer::drain(std::int64_t t, std::int64_t first, int count) {
  for (int i = 0; i < kOutputCount; ++i) {
    const auto output = static_cast<Output>(i);
    if (tiles_.at(output) == nullptr) continue;
    double* tile = tiles_.at(output) + t * output_size(output, J_) * kLanes;
    leave_padding_out(output, joints_, J_, tile);
    const int fields = output_size(output, joints_);
    rows::from_tile(tile, fields, count, job_.out[output].data() + first * fields);
  }
  check_rows(t, first, count);
}

void EvalBuffer::check_rows(std::int64_t t, std::int64_t first, int count) {
  const bool solves = job_.wanted.has(Output::kForwardDynamics);
  // Spare lanes have no status.
  for (int l = 0; l < count; ++l) {
    Status& status = job_.out.status[static_cast<std::size_t>(first + l)];
    if (solves && tiles_.singular[t * kLanes + l] > 0) status = Status::kNoSolution;
    if (!std::isnan(invalid_[t * kLanes + l])) continue;
    status = Status::kInvalidInput;
    // All of its outputs, though some may not depend on the bad number: no rule has to be known for reading them.
    for (int i = 0; i < kOutputCount; ++i) {
      const auto output = static_cast<Output>(i);
      const int fields = output_size(output, joints_);
      if (job_.wanted.has(output))
        std::fill_n(job_.out[output].data() + (first + l) * fields, fields, std::numeric_limits<double>::quiet_NaN());
    }
  }
}

}  // namespace garra::chain
