// The measures of a grasp study, one row per number. Counts, results.h5, summary, replay, terminal and report all
// follow from this table. Formulas: docs/theory/grasp-model.md, sections 6 and 7. SI units.
#pragma once

#include <algorithm>
#include <iterator>

#include "study/columns.hpp"

namespace garra::grasp {

/// One measure: a row of kColumns.
template <class Value>
struct GraspColumn {
  study::ColumnWords words;
  study::Axis axis;
  bool in_pushes;  ///< the axis is in units of the largest commanded force
  Value value;     ///< value(metrics, decision), see grasp/sample/problem.hpp and grasp/sample/check.hpp; NaN:
                   ///< undefined
};
template <class Value>
GraspColumn(study::ColumnWords, study::Axis, bool, Value) -> GraspColumn<Value>;

/// In the order of results.h5, summary.json and the report.
inline constexpr std::tuple kColumns = {
    GraspColumn{
        {"friction_margin", "1", "Friction margin",
         "The part of its friction that the most loaded contact leaves unused: 1 is a pure normal force, at 0 it "
         "is about to slip, below it slips.",
         0},
        {-1, 1},
        false,
        [](const auto& metrics, const auto&) { return metrics.margin; }},
    GraspColumn{{"required_friction", "1", "Critical friction",
                 "The smallest friction coefficient, the same at every contact, with which every contact would stick."},
                {0, 2},
                false,
                [](const auto& metrics, const auto&) { return metrics.critical; }},
    GraspColumn{
        {"load_factor", "1", "Load factor",
         "How many times its own nominal weight the object could gain before a contact slips; 0 where one does "
         "already, or no forces balance it. Where limits or redundant contacts count, at least this: one way of "
         "balancing is followed, and others may carry several times more."},
        {0, 10},
        false,
        [](const auto& metrics, const auto&) { return metrics.load_factor; }},
    GraspColumn{
        {"resisted_force_radius", "N", "Certified resisted force radius",
         "Every additional push smaller than this, whatever its direction, leaves all contacts sticking, and "
         "forces in the cones can balance it; a torque counts as the force that makes it at the object's radius. "
         "0 where some direction cannot be resisted at all. Whether the command carries the push is not part of "
         "it."},
        {0, 4},
        true,
        [](const auto& metrics, const auto&) { return metrics.resisted_force_radius; }},
    GraspColumn{
        {"min_grip_force", "N", "Minimum grip force",
         "The smallest commanded normal force per contact with which every contact would still stick; undefined "
         "where one does not stick now."},
        {0, 4},
        true,
        [](const auto& metrics, const auto&) { return metrics.min_grip_force; }},
    GraspColumn{
        {"imbalance", "1", "Imbalance",
         "What the commanded contact forces leave unbalanced of weight and external wrench, as a share of it: 0 "
         "is all carried, at 1 nothing is."},
        {0, 2},
        false,
        [](const auto& metrics, const auto&) { return metrics.imbalance; }},
    GraspColumn{{"object_acceleration", "m/s^2", "Object acceleration",
                 "How fast the center of mass begins to move under the forces found: 0 where it is held fast. Heavy "
                 "fingers that move with the object make it small: see the imbalance."},
                {0, 10, 500},
                false,
                [](const auto&, const auto& sample_result) { return sample_result.acceleration; }},
    GraspColumn{{"largest_normal_force", "N", "Largest normal force", "Of the contact that is pressed hardest."},
                {0, 4},
                true,
                [](const auto&, const auto& sample_result) {
                  double most = sample_result.c.m[0];  // NaN if unsolved; largest over the contacts
                  for (int k = 3; k < count_numbers(sample_result.c); k += 3)
                    most = std::max(most, sample_result.c.m[k]);
                  return most;
                }},
    GraspColumn{{"smallest_singular_value", "1", "Smallest singular value of the grasp matrix",
                 "How much of a wrench the contact forces give in the direction that they reach worst, friction left "
                 "aside; moments are divided by the object's radius of gyration. 0 where some direction is out of "
                 "reach."},
                {0, 3},
                false,
                [](const auto& metrics, const auto&) { return metrics.least_singular_value; }},
};
inline constexpr int kMetrics = study::kRows<std::remove_const_t<decltype(kColumns)>>;

/// The number of a row: metric("imbalance").
consteval int metric(std::string_view name) { return study::find_row(kColumns, name); }

}  // namespace garra::grasp
