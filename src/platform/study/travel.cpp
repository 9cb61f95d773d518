// Travel along and about each axis (docs/reference/platform-study.md, "A map").
#include <cmath>

#include "platform/study/platform_study.hpp"

namespace garra::platform {

namespace {

constexpr double kStepLength = 2e-3;  // [m]; a gap in the workspace that is narrower may be passed over
constexpr double kStepAngle = 5e-3;   // [rad]
constexpr int kMaxSteps = 1000;
constexpr int kHalvings = 30;
constexpr int kPasses = 8;  // of centering

/// The pose after a motion of `by` along an axis of the base, or about it through the point itself.
Place<double> moved(const Place<double>& from, int axis, double by) {
  Place<double> to = from;
  if (axis < 3) {
    to.r[axis] += by;
    return to;
  }
  Quaternion<double> turn{{std::cos(by / 2), 0, 0, 0}};
  turn[axis - 2] = std::sin(by / 2);
  to.p = product(turn, from.p);
  return to;
}

}  // namespace

bool PlatformStudy::is_within(const StudyMachine<double>& machine, const Place<double>& tool) const {
  const Vec3<double> zero = Vec3<double>::zero();
  const PathPoint<double> own{{tool.r - rotation_matrix(tool.p) * scenario_.tool, tool.p}, {zero, zero}, {zero, zero}};
  StudyMeasured<double> m = nothing_measured<double>();
  measure_instant(rules_, study_instant(rules_, machine, own), 0, m);
  return m.outcome == 0;
}

double PlatformStudy::way(const StudyMachine<double>& machine, const Place<double>& from, int axis, double sign) const {
  if (!is_within(machine, from)) return NAN;
  const double step = axis < 3 ? kStepLength : kStepAngle;
  double good = 0, bad = 0;
  for (int k = 1; k <= kMaxSteps && bad == 0; ++k) {
    // A turn ends at half a turn, from where the other direction is shorter.
    const double by = axis < 3 ? k * step : std::min(k * step, M_PI);
    if (is_within(machine, moved(from, axis, sign * by)))
      good = by;
    else
      bad = by;
    if (axis >= 3 && by >= M_PI) break;
  }
  for (int k = 0; k < kHalvings && bad > 0; ++k) {
    const double middle = 0.5 * (good + bad);
    (is_within(machine, moved(from, axis, sign * middle)) ? good : bad) = middle;
  }
  return good;
}

Travel PlatformStudy::travel_from(const StudyMachine<double>& machine, const Place<double>& from) const {
  Travel t{from, {}, {}};
  for (int axis = 0; axis < 6; ++axis) {
    t.backward[axis] = way(machine, from, axis, -1);
    t.forward[axis] = way(machine, from, axis, 1);
  }
  return t;
}

Place<double> PlatformStudy::home_of_tool() const {
  const Place<double>& home = rules_.home;
  return {home.r + rotation_matrix(home.p) * scenario_.tool, home.p};
}

Travel PlatformStudy::travel_at_home() const {
  return travel_from(study_machine(rules_, medians(rules_)), home_of_tool());
}

Travel PlatformStudy::travel_centered() const {
  const StudyMachine<double> machine = study_machine(rules_, medians(rules_));
  Place<double> at = home_of_tool();
  for (int pass = 0; pass < kPasses; ++pass)
    for (int axis = 0; axis < 6; ++axis) {
      const double middle = 0.5 * (way(machine, at, axis, 1) - way(machine, at, axis, -1));
      // NaN: home itself breaks a limit, and there is nothing to center.
      if (std::isfinite(middle)) at = moved(at, axis, middle);
    }
  return travel_from(machine, at);
}

}  // namespace garra::platform
