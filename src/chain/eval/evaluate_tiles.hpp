// Runs the bodies over a batch on the host: one tile after another, from plain arrays and back, so that a tile's
// numbers never leave the cache. Instances are in chain/instances.
#pragma once

#include <algorithm>

#include "chain/eval/buffer.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/parallel.hpp"

namespace garra::chain {

/// All states of a job by one source on one executor of the host.
template <class Source, Executor E>
void evaluate_tiles(const Source& source, const EvalJob& job) {
  const Source pointed = moved_to(job.options.point, source);
  const auto run = [&](EvalBuffer& buffer, std::int64_t begin, std::int64_t states) {
    const JointsInUse all(job.robot.joints);
    const EvalKernel<Source, EvalTiles> at_tool{source, buffer.tiles(), job.options},
        at_point{pointed, buffer.tiles(), job.options};
    for (std::int64_t first = begin; first < begin + states; first += batch::kTile) {
      const auto count = static_cast<int>(std::min(batch::kTile, job.in.count - first));
      // One tile at a time: the bodies' numbers stay in the cache from the inputs to the outputs.
      buffer.fill(0, first, count);
      for_each_body(at_tool, at_point, [&](const auto& body) {
        if constexpr (E == Executor::kScalar)
          batch::for_each_scalar(count, body);
        else
          batch::for_each_lanes(count, body);
      });
      buffer.drain(0, first, count);
    }
  };
  batch::for_blocks(
      solve_threads(job.device), {job.in.count, 64 * batch::kTile},
      [&] { return EvalBuffer(job, Source::J < 0 ? job.robot.joints : Source::J, 1); }, run);
}

// Joints that slide cost the lanes something, so they have their own instance.
template <int J>
void evaluate_on_lanes(const EvalJob& job) {
  using Revolute = SharedModel<J, Joints::kRevolute>;
  using Mixed = SharedModel<J, Joints::kMixed>;
  const JointsInUse all(job.robot.joints);
  const auto mixed = make_source<Mixed>(job.robot);
  if constexpr (kLanesPay)
    if (fits_revolute(mixed.model))
      return evaluate_tiles<Revolute, Executor::kLanes>(make_source<Revolute>(job.robot), job);
  evaluate_tiles<Mixed, Executor::kLanes>(mixed, job);
}

}  // namespace garra::chain
