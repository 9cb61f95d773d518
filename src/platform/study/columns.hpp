// Measured quantities of each sample of a platform study, one row each. Counts, results.h5,
// summary.json, answer and report follow from them. docs/reference/platform-study.md.
#pragma once

#include "garra/platform_study.hpp"
#include "platform/study/platform_samples.hpp"
#include "study/columns.hpp"

namespace garra::platform {

struct StudyColumn {
  study::ColumnWords words;                        ///< name, unit and description
  double StudyMeasured<double>::*measured;         ///< in what a sample has measured
  double (*reference)(const Scenario&) = nullptr;  ///< in place of the words' own
  bool simulated = false;                          ///< of simulations alone
  bool force = false;                              ///< of platforms with masses
  [[nodiscard]] bool is_in(const Scenario& s) const {
    return (!simulated || s.simulation.on) && (!force || s.platform.mass > 0);
  }
  [[nodiscard]] double value(const StudyMeasured<double>& m) const { return m.*measured; }
  [[nodiscard]] study::ColumnWords words_in(const Scenario& s) const {
    study::ColumnWords w = words;
    if (reference != nullptr) w.reference = reference(s);
    return w;
  }
};

inline constexpr std::tuple kStudyColumns = {
    StudyColumn{{"peak_force", "N", "Peak force", "The largest force that any actuator gives."},
                &StudyMeasured<double>::peak_force,
                [](const Scenario& s) { return s.allowed.force > 0 ? s.allowed.force : std::nan(""); },
                false,
                true},
    StudyColumn{
        {"stroke_margin", "m", "Stroke left", "From the leg nearest to an end of its stroke; negative beyond it.", 0},
        &StudyMeasured<double>::stroke},
    StudyColumn{{"universal_margin", "rad", "Angle left, lower joints",
                 "In the universal joint nearest to its cone's edge.", 0},
                &StudyMeasured<double>::universal},
    StudyColumn{{"spherical_margin", "rad", "Angle left, upper joints",
                 "In the spherical joint nearest to its cone's edge.", 0},
                &StudyMeasured<double>::spherical},
    StudyColumn{{"clearance", "m", "Clearance",
                 "Between the two nearest legs, less their thickness; negative where they overlap.", 0},
                &StudyMeasured<double>::clearance},
    StudyColumn{{"sigma_min", "1", "Smallest singular value",
                 "How near a pose is to one in which the legs no longer hold the platform (0), after scaling lengths."},
                &StudyMeasured<double>::sigma,
                [](const Scenario& s) { return s.allowed.near_singular; }},
    StudyColumn{
        {"position_error", "m", "Largest distance from the path",
         "Of the platform's own frame, at any controller period."},
        &StudyMeasured<double>::position_error,
        [](const Scenario& s) { return s.allowed.position_error > 0 ? s.allowed.position_error : std::nan(""); },
        true},
    StudyColumn{
        {"rms_position_error", "m", "Distance from the path", "Root mean square over the controller's periods."},
        &StudyMeasured<double>::rms_error,
        nullptr,
        true},
    StudyColumn{{"angle_error", "rad", "Largest angle from the path",
                 "Of the platform's orientation, at any controller period."},
                &StudyMeasured<double>::angle_error,
                [](const Scenario& s) { return s.allowed.angle_error > 0 ? s.allowed.angle_error : std::nan(""); },
                true},
    StudyColumn{{"saturated", "1", "Saturated", "Share of leg forces at the controller's limit."},
                &StudyMeasured<double>::saturated,
                nullptr,
                true},
};
inline constexpr int kStudyMetrics = study::kRows<std::remove_const_t<decltype(kStudyColumns)>>;

}  // namespace garra::platform
