// Trajectories of a grasp scenario with [simulation], for consecutive samples. The study (study.hpp), replay and the
// C++ entry use it; model.hpp has the steps. SI units, palm frame P. Host only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/numbers.hpp"
#include "garra/batch/device.hpp"
#include "garra/grasp.hpp"
#include "garra/systems/grasp/object_step.hpp"
#include "grasp/time/loads.hpp"

namespace garra::grasp {

/// Measures of one trajectory. If it stopped before `duration`, they cover the time until then.
struct Trajectory {
  MotionEnd end = MotionEnd::kHeld;
  double end_time = 0;                  ///< [s]
  double slip_time = 0;                 ///< first time at which a contact had slid by InTime::slip [s]; infinite: never
  double open_time = 0;                 ///< first time at which a contact carried no force; infinite: never
  double slip[kMaxGroupContacts] = {};  ///< path of each contact on the object [m]
  double peak_force[kMaxGroupContacts] = {};  ///< largest normal force [N]; an impact counts as impulse over the step
  double peak_torque[kMaxGroupContacts] =
      {};                          ///< largest |tau| / limit of the finger's joints, before the clamp; NaN: no limits
  double peak_drift = 0;           ///< largest displacement of the center of mass [m]
  double peak_turn = 0;            ///< largest turn of the object [rad]
  double least_margin = 0;         ///< smallest 1 - |c_T| / (mu c_n) of a closed contact; 0: one slid
  double energy_balance = 0;       ///< largest |kinetic energy gained - work| [J]
  double momentum_balance = 0;     ///< largest |m v gained - sum of all impulses| [N s]
  double worst_gap = 0;            ///< largest |gap| of a contact that carried force [m]
  double worst_cone = 0;           ///< largest |c_T| - mu c_n of a contact [N]
  double worst_residual = 0;       ///< largest residual of a solved step (contact-solver.md)
  double iterations = 0;           ///< Newton steps in all
  double steps = 0;                ///< taken
  double unstable_steps = 0;       ///< kExplicit: steps above the stability bound
  double worst_ratio = 0;          ///< kExplicit: largest step over its stability bound
  std::uint32_t objects_lost = 0;  ///< of a group: bits of the objects that had been dropped or turned
  int slipped_first = -1;          ///< contact of slip_time (of several the one that had slid farthest); -1: none
};

/// Quantities recorded at each instant, one number each. After a trajectory has stopped: NaN.
enum Look : int { kDrift, kTurn, kMinMargin, kSlipPath, kLooks };  // then the normal force of each contact [N]
[[nodiscard]] constexpr int looks(int contacts) { return kLooks + contacts; }

/// Results of consecutive samples.
struct Motions {
  int contacts = 0, instants = 0, draws = 0;
  std::vector<Trajectory> trajectory;  ///< [sample]
  Numbers looks;                       ///< [instant][look][sample]
  std::vector<double> uniforms;        ///< [sample][draw]: the uniform number of each uncertain input
};

/// Poses of a further object of a group.
struct ObjectSeries {
  double scale = 1;                          ///< factor on its lengths
  std::vector<double> position, quaternion;  ///< [t,3], [t,4] in P
};

/// One trajectory in full, for replay, plots and the animation: after the first step, then after evenly spaced ones,
/// and at its end. As many rows as `time` has; row-major, [instant][...].
struct MotionSeries {
  Trajectory trajectory;
  std::vector<double> inputs;                   ///< values of the uncertain inputs
  std::vector<double> friction;                 ///< [contacts]
  double scale = 1;                             ///< factor on the object's lengths
  std::vector<double> time;                     ///< [t]
  std::vector<double> position, quaternion;     ///< of the object in P: [t,3] (center of mass), [t,4]
  std::vector<double> first;                    ///< position, then quaternion at time 0
  std::vector<double> velocity, spin;           ///< [t,3] each [m/s, rad/s], palm axes
  std::vector<double> load, gravity;            ///< [t,6] external wrench without weight, [t,3] as the object feels it
  std::vector<std::vector<double>> q, qd, tau;  ///< of each finger: [t,joints]
  std::vector<std::vector<double>> links;       ///< of each finger: [t,joints+2,3]: base, link origins, fingertip, in P
  std::vector<double> gap;                      ///< [t,contacts] [m]
  std::vector<double> point;                    ///< [t,contacts,3] in P, of a group; empty: the fingertips
  std::vector<double> normal;                   ///< [t,contacts,3] inward normal, P axes
  std::vector<double> force;                    ///< [t,contacts,3] on the object (n, t, o) [N]
  std::vector<double> force_palm;               ///< [t,contacts,3] the same in P axes
  std::vector<double> slip_speed;               ///< [t,contacts] [m/s]
  std::vector<int> state;                       ///< [t,contacts] grasp::ContactState
  std::vector<double> kinetic, balance;         ///< [t] [J]
  std::vector<double> palm;                     ///< [t,3] acceleration of the palm [m/s^2]; empty: it stays at rest
  /// [k], [k,3] the same at time 0, in the middle of every step, as the steps use it, and at the end of the last one.
  std::vector<double> palm_step_time, palm_step;
  std::optional<ShakeTones> tones = {};
  std::vector<ObjectSeries> others = {};  ///< of a group, after its first object
};

/// Keeps where the object is at time 0.
void set_first(const ObjectMotion<double>& object, MotionSeries& out);

/// Whether a series shows the step: `instants` evenly spaced ones, always with the first and the last.
[[nodiscard]] bool is_shown(std::int64_t step, std::int64_t steps, int instants);
struct Steps {
  double length;  ///< [s]
  std::int64_t count;
};
/// Appends the acceleration of a palm that moves.
void append_palm(const LoadClock& clock, const ShakePhases<double>& shake, const Steps& steps, MotionSeries& out);

/// Throws Error for a duration that is no whole number of steps, or instants that do not fit.
void check_times(const InTime& time);

struct MotionModel;  // model.hpp
struct BandCounts;   // bands.hpp

/// The samples of a scenario with [simulation].
class Motion {
 public:
  /// Throws Error if the nominal grasp is impossible or `time` is invalid (kInvalidFile).
  explicit Motion(const Scenario& scenario);
  ~Motion();
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const MotionModel& model() const { return *model_; }
  /// Number of contacts, as many as fingers.
  [[nodiscard]] int contacts() const;
  /// Number of uncertain inputs.
  [[nodiscard]] int draws() const;
  /// Number of levels of InTime::friction, 1 without levels; sample i is at level i mod levels().
  [[nodiscard]] int levels() const;
  /// Runs samples first ... first + count - 1 on this thread, or on the GPU. The bits do not depend on executor or
  /// block.
  [[nodiscard]] Motions run(std::int64_t first, std::int64_t count, const Device& device) const;
  /// The same on the GPU, which also counts the recorded quantities: Motions::looks is empty.
  [[nodiscard]] Motions run_counted(std::int64_t first, std::int64_t count, const Device& device,
                                    BandCounts& bands) const;
  /// Recomputes one sample with the scalar executor, at about `instants` evenly spaced steps of its duration.
  [[nodiscard]] MotionSeries series(std::int64_t sample, int instants) const;
  /// The trajectory with every input at its median and the nominal friction (or the given one). Its only random load is
  /// the shaking of sample 0.
  [[nodiscard]] MotionSeries nominal(int instants) const;

 private:
  Scenario scenario_;
  std::unique_ptr<MotionModel> model_;
};

}  // namespace garra::grasp
