// The measures of a grasp study in time, one row per number of a trajectory; levels, quantiles, summary.json and report
// follow. For contacts and fingers the largest value counts. SI units. docs/theory/grasp-time.md.
#pragma once

#include <algorithm>
#include <cmath>

#include "garra/grasp.hpp"
#include "grasp/sample/finger_command.hpp"
#include "grasp/time/bands.hpp"
#include "study/columns.hpp"

namespace garra::grasp {

/// Range of the bins of a band.
struct TimeRange {
  double low, high;  ///< [unit of the column]
  bool decades;      ///< bins of the decadic logarithm
  double shown = 1;  ///< the histogram that is shown reaches to this share of `high`
};

/// One measure of a trajectory.
struct TimeColumn {
  study::ColumnWords words;
  TimeRange (*range)(const Scenario&);
  double (*value)(const Trajectory&, int contacts);
  double (*reference)(const Scenario&) = nullptr;  ///< in place of the words' own
  [[nodiscard]] study::ColumnWords words_in(const Scenario& s) const {
    study::ColumnWords w = words;
    if (reference != nullptr) w.reference = reference(s);
    return w;
  }
};

/// In the order of summary.json and the report.
inline constexpr std::tuple kTimeColumns = {
    TimeColumn{{"slip_path", "m", "Slip path", "Of the contact that slides farthest on the object."},
               [](const Scenario& s) {
                 const double slip = 4 * std::max(s.time->drop, s.time->slip);
                 return TimeRange{1e-4 * slip, slip, true};
               },
               [](const Trajectory& t, int contacts) { return largest(t.slip, contacts); },
               [](const Scenario& s) { return s.time->slip; }},
    TimeColumn{{"peak_drift", "m", "Drift", "Largest displacement of the center of mass."},
               [](const Scenario& s) {
                 const double drift = 1.5 * s.time->drop;
                 return TimeRange{1e-4 * drift, drift, true};
               },
               [](const Trajectory& t, int) { return t.peak_drift; },
               [](const Scenario& s) { return s.time->drop; }},
    TimeColumn{{"peak_turn", "rad", "Turn", "Largest angle by which the object has turned."},
               [](const Scenario&) {
                 return TimeRange{1e-4 * M_PI, M_PI, true};
               },
               [](const Trajectory& t, int) { return t.peak_turn; },
               [](const Scenario& s) { return s.time->drop_turn; }},
    TimeColumn{{"peak_force", "N", "Peak force",
                "Largest normal force of any contact; an impact counts as impulse over the step."},
               [](const Scenario& s) {
                 // At least 1 mN, because bins for a weightless, unsqueezed object would have no width.
                 const double load = std::max({largest_push(s), s.object.mass.nominal() * norm(s.gravity), 1e-3});
                 return TimeRange{0.05 * load, 20 * load, true, 0.3};
               },
               [](const Trajectory& t, int contacts) { return largest(t.peak_force, contacts); }},
    TimeColumn{
        {"peak_torque", "1", "Peak torque", "Largest joint torque over its limit, before it is cut off at 1.", 1},
        [](const Scenario&) {
          return TimeRange{0, 2, false};
        },
        [](const Trajectory& t, int contacts) { return largest(t.peak_torque, contacts); }},
    TimeColumn{{"least_margin", "1", "Friction left",
                "Smallest unused part of the friction of a closed contact; 0 where one slid."},
               [](const Scenario&) {
                 return TimeRange{0, 1, false};
               },
               [](const Trajectory& t, int) { return margin_within(t.least_margin); }},
};
inline constexpr int kTimeMetrics = study::kRows<std::remove_const_t<decltype(kTimeColumns)>>;

/// The number of a row: time_metric("peak_force").
consteval int time_metric(std::string_view name) { return study::find_row(kTimeColumns, name); }

}  // namespace garra::grasp
