// path.h5 and map.h5 in the run folders of platform studies and experiments (docs/reference/run-folder.md).
#pragma once

#include <string>

#include "platform/experiment/experiment_study.hpp"
#include "platform/study/platform_study.hpp"

namespace garra::cli {

/// The series of a machine, with the envelope of forces over all samples where there is one (`total` not null).
void write_platform_path(const std::string& path, const platform::PlatformStudy& study,
                         const platform::StudySeries& series, const study::Total* total);
void write_platform_map(const std::string& path, const platform::PlatformStudy& study,
                        const platform::MapValues& values);
/// The finest path of a move or stroke: `segment` 0 is the start.
void write_experiment_path(const std::string& path, const platform::ExperimentStudy& study);

}  // namespace garra::cli
