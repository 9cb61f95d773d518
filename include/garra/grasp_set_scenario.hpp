// A study of candidate grasps that names its set: what `garra run` takes with job = "grasp_set"
// (docs/theory/grasp-sets.md).
#pragma once

#include <string>

#include "garra/grasp_set.hpp"
#include "garra/study/study.hpp"

namespace garra::grasp {

struct SetScenario {
  std::string title;
  std::string file;      ///< of the set
  std::string checksum;  ///< "crc32:..." of the file that it was begun with; empty: any
  SetStudy study;
  study::Plan plan;  ///< counts grasps; chunk 0: as many as take a few seconds
};

}  // namespace garra::grasp
