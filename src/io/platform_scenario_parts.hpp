// What scenarios about a platform have in common.
#pragma once

#include <string>

#include "garra/platform.hpp"
#include "io/scenario_text.hpp"
#include "io/toml_reader.hpp"

namespace garra::io {

/// [platform]
struct ChosenPlatform {
  std::string model;  ///< as the scenario names it: a name in data/platforms, or a file
  std::string file;   ///< that it was read from
  platform::Platform platform;
};
/// `name` is the scenario's file: the platform is looked for in models/ beside it first.
[[nodiscard]] ChosenPlatform read_chosen_platform(TableReader& root, const std::string& name);
/// Written back.
void write(const ChosenPlatform& chosen, Writer& w);

}  // namespace garra::io
