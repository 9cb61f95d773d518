// Describes the scenario of a study of candidate grasps with the file of its set: job = "grasp_set"
// of `garra run`.
// Takes: nothing: a struct of title, set file with checksum, SetStudy and Plan.
// Gives: the input of the run, whose samples are the grasps.
// Units and frames: as in grasp_set.hpp: SI, object axes, grasps and contacts count from 0.
// Bad input: not checked here. The run rejects a missing file, another checksum, an empty set, and
// SetStudy::best above 0 with Error.
// Not for: C++ programs, which call grasp::rank().
// Docs: docs/theory/grasp-sets.md, docs/reference/scenario.md.
#pragma once

#include <string>

#include "garra/grasp_set.hpp"
#include "garra/study/study.hpp"

namespace garra::grasp {

/// Study, plan and set file of one run.
struct SetScenario {
  std::string title;
  std::string file;      ///< file of the set
  std::string checksum;  ///< "crc32:..." that the file must have; empty: not checked. The run stores it for resumption
  SetStudy study;
  study::Plan plan;  ///< counts grasps; chunk 0: as many as take a few seconds
};

}  // namespace garra::grasp
