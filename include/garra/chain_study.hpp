// Simulates a serial chain under uncertain inputs, for one or many designs, and estimates the
// probability that it settles in time.
// Takes: a Scenario: robot, designs with distributions, torque law, plan.
// Gives: a Study for study::run, which counts the StudyOutcome of each design and estimates
// P(settled in time).
// Units and frames: SI, rad; joints, designs and samples count from 0, also in input names.
// Bad input: wrong options and torques throw Error when samples run; sizes of the arrays of a
// Design are not checked. A sample that fails is counted as unsolved.
// Not for: a single batch of trajectories (chain_simulate.hpp), more than kMaxDesigns (1000)
// designs.
// Docs: docs/reference/scenario.md (job = "chain"), docs/theory/chain-simulation.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "garra/chain_simulate.hpp"
#include "garra/study/distribution.hpp"
#include "garra/study/study.hpp"

namespace garra::chain {

inline constexpr int kMaxDesigns = 1000;

/// Uncertain number per joint, drawn independently or once for all joints.
struct JointInputs {
  std::vector<study::Distribution> value;  ///< [j], not empty; equal for all joints if `common`
  bool common = true;
};

/// Data that may differ between designs. Vectors hold one number per joint.
struct Design {
  std::vector<double> values;                                   ///< of the swept keys, in the order of Scenario::sweep
  JointInputs q, qd;                                            ///< initial state [rad or m, per s]
  JointInputs damping;                                          ///< [N m s/rad or N s/m]
  study::Distribution mass = study::Distribution::constant(1);  ///< factor on masses and inertias of all links
  study::Distribution size = study::Distribution::constant(1);  ///< factor on all lengths of a similar body
  study::Distribution amplitude = study::Distribution::constant(1);  ///< factor on the torque input's amplitude
  TorqueInput torque;
  SimulateOptions options;  ///< without `times`
  double within = 0;        ///< settled in time: settling time <= this [s]; 0: not asked, the end is the aim
  int outputs = 200;        ///< output times of the nominal trajectory, from 0 to options.duration

  [[nodiscard]] bool settles() const { return within > 0; }
};

/// Swept key of the scenario file.
struct Sweep {
  std::string key;
  std::string unit;            ///< "": unknown
  std::string scale = "list";  ///< "log", "linear" or "list"
  std::vector<double> values;
};

/// Scenario of a chain study with d designs. Sample i of the run is sample number i / d (integer
/// division) of design i mod d.
struct Scenario {
  std::string title;
  std::string note;        ///< shown beside the answer
  std::string model;       ///< name or file of the robot as the scenario gives it
  std::string model_file;  ///< the file that it was read from
  std::string base, tip;   ///< URDF: links the chain is between
  Robot robot;
  std::vector<Sweep> sweep;
  std::vector<Design> designs;  ///< every combination of swept values, the last key running fastest
  study::Plan plan;             ///< `samples` of all designs together
};

/// Scalar uncertain input.
struct Input {
  std::string name;  ///< "start q 2", "damping", "mass factor"
  std::string unit;
  int slot;  ///< number of its uniform random draw
};
/// Inputs that are drawn in at least one design, in the order of their slots.
[[nodiscard]] std::vector<Input> uncertain_inputs(const Scenario& scenario);

/// Outcome of a sample.
enum class StudyOutcome : int {
  kSettled = 0,   ///< in time
  kLate,          ///< later, or not by the end
  kJointLimit,    ///< ended at a joint's limit
  kNonFinite,     ///< unsolved: the state left the finite numbers
  kStepLimit,     ///< unsolved: more steps than allowed
  kInvalidInput,  ///< unsolved: a drawn number is not finite
  kCompleted,     ///< reached the end, where settling is not asked for
};
inline constexpr int kStudyOutcomes = 7;
/// "settled", "late", "joint_limit", "non_finite", "step_limit", "invalid_input", "completed"
[[nodiscard]] const char* to_string(StudyOutcome outcome);

/// Trajectories of d designs with nominal inputs, at t times, for j joints. A run writes them to
/// nominal.h5.
struct NominalTrajectories {
  Trajectories motion;         ///< count = d
  std::vector<double> torque;  ///< [d,t,j]
  std::vector<double> points;  ///< [d,t,j+2,3] base, origins of the link frames, tool tip: world axes [m]
  std::vector<int> design;     ///< [d] numbers of the designs
};

/// Study for study::run (study/engine.hpp), which throws the errors of simulate(). Throws Error(kUsage) for other
/// numbers of inputs than the joints need.
[[nodiscard]] std::unique_ptr<study::Study> make_study(const Scenario& scenario);

}  // namespace garra::chain
