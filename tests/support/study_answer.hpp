// What a study of any system answers, for comparisons of executors.
#pragma once

#include <algorithm>

#include "garra/study/engine.hpp"
#include "on_every_executor.hpp"

namespace garra::test {

/// All chunks of a study added up, their kept rows one after another.
[[nodiscard]] inline study::Total total_of(const study::Study& study, const Device& device, std::int64_t chunk) {
  study::Total total{};
  const study::Shape shape = study.shape();
  for (std::int64_t first = 0; first < study.plan().samples; first += chunk) {
    const study::Tally t = study.run(first, std::min(chunk, study.plan().samples - first), device);
    total.add(t, shape);
    total.kept.insert(total.kept.end(), t.kept.begin(), t.kept.end());
  }
  return total;
}

[[nodiscard]] inline Answer make_answer(const study::Study& study, const study::Total& total) {
  Answer out;
  out.add("summary", study.summary(total, "samples")).add("counts", total.counts).add("sums", total.sums);
  out.add("kept", total.kept).add("least", total.least);
  for (const auto& [point, index_range] : total.curve) out.add("curve", index_range);
  return out;
}

/// Its summary, counts, sums and kept rows, on these devices and in chunks of all these sizes.
inline void expect_study_same_on(const std::vector<Device>& devices, const study::Study& study,
                                 const std::vector<std::int64_t>& chunks) {
  const Answer reference = make_answer(study, total_of(study, kReference, chunks.front()));
  for (const std::int64_t chunk : chunks) {
    SCOPED_TRACE("in chunks of " + std::to_string(chunk));
    expect_same_on(devices, [&](const Device& device) {
      const Answer found = make_answer(study, total_of(study, device, chunk));
      EXPECT_EQ(reference.difference(found, device.executor == Executor::kCuda), "") << "against the first chunks";
      return found;
    });
  }
}
inline void expect_study_same_on_every_executor(const study::Study& study, const std::vector<std::int64_t>& chunks) {
  expect_study_same_on(other_executors(), study, chunks);
}

}  // namespace garra::test
