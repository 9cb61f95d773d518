// Configurations that stay on the GPU: the bits of the scalar executor, in any strides, on the caller's stream and in
// the caller's memory.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "answers.hpp"
#include "garra/core/error.hpp"
#include "garra/singularity_map.hpp"
#include "singularity_map_cases.hpp"

#ifdef GARRA_TESTS_CALL_CUDA
#include "device_array.hpp"

namespace garra::singularity {
namespace {

using test::Layout;
using test::OnGpu;

/// One of each size that kernels have: six joints, seven, and all others, padded to sixteen.
std::vector<chain::Robot> arms() {
  return {map_test::reference_arm("puma_wrist"), map_test::robot_file("iiwa14.urdf"), map_test::nine_joint_arm()};
}

std::vector<double> some_of(const chain::Robot& robot, int count) {
  std::vector<double> q = map_test::random_configurations(robot, count);
  q[static_cast<std::size_t>(3 * robot.joints)] = std::numeric_limits<double>::infinity();
  return q;
}

Measures measure_there(const chain::Robot& robot, const std::vector<double>& q, const MeasureOptions& options,
                       Layout layout) {
  const auto n = static_cast<std::int64_t>(q.size()) / robot.joints;
  const OnGpu<double> at(q, n, robot.joints, layout), sigma(n, 1, layout), ratio(n, 1, layout), volume(n, 1, layout),
      tool(n, 3, layout);
  const DeviceMeasures to{sigma, ratio, volume, tool};
  const test::Place place(workspace_bytes(robot, {n, at}, options, to));
  measure(robot, {n, at}, options, to, place.call());
  place.wait();
  return {sigma.rows(), ratio.rows(), volume.rows(), tool.rows()};
}

/// Room for all that a search finds.
struct Found {
  Found(const chain::Robot& robot, std::int64_t n, Layout layout)
      : search_status(n, 1, layout),
        q(n, robot.joints, layout),
        distance(n, 1, layout),
        rate(n, 1, layout),
        wrench(n, 6, layout),
        lost(n, 1, layout),
        subsets(n, 1, layout),
        last(n, robot.joints, layout),
        joint(n, 1, layout),
        order(n, 1, layout),
        sign(n, 1, layout),
        dependent_joints(n, 1, layout),
        joints(n, robot.joints, layout) {}
  [[nodiscard]] DeviceNearSingularities arrays() const {
    return {search_status, q,    distance, lost,  dependent_joints, subsets, last, joints, joint,
            order,         rate, sign,     wrench};
  }
  [[nodiscard]] NearSingularities results() const {
    return {search_status.rows(), q.rows(),    distance.rows(), lost.rows(),  dependent_joints.rows(),
            subsets.rows(),       last.rows(), joints.rows(),   joint.rows(), order.rows(),
            rate.rows(),          sign.rows(), wrench.rows()};
  }
  OnGpu<SearchStatus> search_status;
  OnGpu<double> q, distance, rate, wrench;
  OnGpu<int> lost, subsets, last, joint, order, sign;
  OnGpu<std::uint32_t> dependent_joints, joints;
};

NearSingularities nearest_there(const chain::Robot& robot, const std::vector<double>& q, const MeasureOptions& options,
                                Layout layout) {
  const auto n = static_cast<std::int64_t>(q.size()) / robot.joints;
  const OnGpu<double> at(q, n, robot.joints, layout);
  const Found found(robot, n, layout);
  const test::Place place(workspace_bytes(robot, {n, at}, options, found.arrays()));
  nearest_singularities(robot, {n, at}, options, found.arrays(), place.call());
  place.wait();
  return found.results();
}

template <class Answers>
void expect_same(const Answers& reference, const Answers& found) {
  EXPECT_EQ(test::make_answer(reference).difference(test::make_answer(found), true), "");
}

TEST(DeviceArrays, OfConfigurationsHaveTheScalarBitsOfTheirMeasures) {
  for (const chain::Robot& robot : arms())
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      SCOPED_TRACE(testing::Message() << robot.name << " in " << name_of(precision));
      const std::vector<double> q = some_of(robot, 67);
      MeasureOptions options;
      options.precision = precision;
      const Measures reference = measure(robot, q, options, test::kReference);
      ASSERT_TRUE(std::isnan(reference.sigma_min[3]));
      for (const Layout layout : {Layout::kRows, Layout::kFields, Layout::kWithGaps})
        expect_same(reference, measure_there(robot, q, options, layout));
    }
}

TEST(DeviceArrays, OfConfigurationsHaveTheScalarBitsOfTheNearestSingularity) {
  for (const chain::Robot& robot : arms()) {
    SCOPED_TRACE(robot.name);
    const std::vector<double> q = some_of(robot, 35);
    MeasureOptions options;
    options.near = 0.9;  // searches that are lost are made again, for two at once
    const NearSingularities reference = nearest_singularities(robot, q, options, test::kReference);
    ASSERT_EQ(reference.search_status[3], SearchStatus::kNonFinite);
    expect_same(reference, nearest_there(robot, q, options, Layout::kWithGaps));
  }
}

TEST(DeviceArrays, OfConfigurationsNeedTheirWorkspaceAndNothingElse) {
  const chain::Robot robot = map_test::reference_arm("puma_wrist");
  const std::vector<double> q = some_of(robot, 33);
  const OnGpu<double> at(q, 33, 6);
  const Found found(robot, 33, Layout::kRows);
  const DeviceConfigurations configurations{33, at};
  DeviceNearSingularities to;
  to.search_status = found.search_status;
  to.distance = found.distance;
  const std::size_t bytes = workspace_bytes(robot, configurations, {}, to);
  EXPECT_THROW(nearest_singularities(robot, configurations, {}, to, test::Place(bytes - 1).call()), Error);
  const test::Place place(bytes);
#ifdef GARRA_CUDA_SIMULATED
  simulated_gpu::fail(simulated_gpu::Failure::kAllocation, 1);
#endif
  nearest_singularities(robot, configurations, {}, to, place.call());
#ifdef GARRA_CUDA_SIMULATED
  simulated_gpu::recover();  // forgets what was queued, too
  nearest_singularities(robot, configurations, {}, to, place.call());
  for (const double x : found.distance.rows()) EXPECT_TRUE(std::isnan(x)) << "ran in the default stream";
#endif
  place.wait();
  const NearSingularities reference = nearest_singularities(robot, q, {}, test::kReference);
  EXPECT_EQ(found.search_status.rows(), reference.search_status);
  EXPECT_EQ(test::Answer()
                .add("distance", reference.distance)
                .difference(test::Answer().add("distance", found.distance.rows()), true),
            "");
}

TEST(DeviceArrays, OfNoConfigurationsNeedNothingAndOfNullSaySo) {
  const chain::Robot robot = map_test::reference_arm("puma_wrist");
  EXPECT_EQ(workspace_bytes(robot, {}, {}, DeviceMeasures()), 0u);
  measure(robot, {}, {}, DeviceMeasures(), {});
  EXPECT_THROW(measure(robot, {3, {}}, {}, DeviceMeasures(), {}), Error);
}

}  // namespace
}  // namespace garra::singularity
#else
namespace garra {
TEST(DeviceArrays, OfConfigurationsHaveTheScalarBitsOfTheirMeasures) { GTEST_SKIP() << "built without CUDA"; }
}  // namespace garra
#endif
