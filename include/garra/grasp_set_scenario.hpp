// Scenario of a study of candidate grasps with the file of its set: job = "grasp_set" of `garra
// run`.
// Units, frames and numbering as in grasp_set.hpp. Used by the program; in C++ call grasp::rank().
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
  std::string checksum;  ///< "crc32:..." of the file at the start of the run; empty: any
  SetStudy study;
  study::Plan plan;  ///< counts grasps; chunk 0: as many as take a few seconds
};

}  // namespace garra::grasp
