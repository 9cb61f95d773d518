// path.h5 and map.h5 in the run folder of a platform study (docs/run-folder.md).
#pragma once

#include <string>

#include "systems/platform_study.hpp"

namespace garra::cli {

/// The series of a machine, with the envelope of forces over all samples where there is one (`total` not null).
void write_platform_path(const std::string& path, const platform::PlatformStudy& study,
                         const platform::StudySeries& series, const study::Total* total);
void write_platform_map(const std::string& path, const platform::PlatformStudy& study,
                        const platform::MapValues& values);

}  // namespace garra::cli
