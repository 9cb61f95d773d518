// The registry of all jobs of garra. A job's module defines the fields of its scenario, and its command as a JobKind
// that registers itself (cli/jobs.hpp).
#pragma once

#include "base/scenario/fields.hpp"

namespace garra::io {

/// A job with the fields of its scenario.
struct JobFields {
  const char* name;             ///< as in the scenario
  void (*describe)(Fields& f);  ///< visits its fields, with everything at its default
};

void describe_grasp(Fields& f);
void describe_grasp_set(Fields& f);
void describe_chain(Fields& f);
void describe_singularity(Fields& f);
void describe_platform(Fields& f);
void describe_platform_experiment(Fields& f);
void describe_accuracy(Fields& f);
void describe_platform_climb(Fields& f);

inline constexpr JobFields kJobs[] = {
    {"grasp", describe_grasp},       {"grasp_set", describe_grasp_set},
    {"chain", describe_chain},       {"singularity", describe_singularity},
    {"platform", describe_platform}, {"platform_experiment", describe_platform_experiment},
    {"accuracy", describe_accuracy}, {"platform_climb", describe_platform_climb},
};

// Files that scenarios name, which `garra check --schema` also describes.
void describe_robot_file(Fields& f);
void describe_platform_file(Fields& f);

inline constexpr JobFields kFiles[] = {
    {"robot_file", describe_robot_file},
    {"platform_file", describe_platform_file},
};

}  // namespace garra::io
