// Scenario files (TOML): the specification of a study, in units that people write. The format is in
// docs/reference/scenario.md; data/scenarios holds commented examples.
//
// Every quantity is a plain SI number or a string with a unit ("50 mm"); most are a value or a
// distribution. With model = "three_puma" the contacts stand at the azimuths -sigma, +sigma and 180 deg, where
// the nominal sigma is the median of contacts.angle. The bases stand at the nominal azimuths: a drawn deviation
// of sigma moves the contacts, not the bases.
#pragma once

#include <string>
#include <vector>

#include "garra/grasp.hpp"
#include "garra/io/scenario_document.hpp"

namespace garra::io {

/// Reads a scenario file with job = "grasp". Each override is "key.path=value" as given to --set:
/// TOML, or a bare word or quantity; items of arrays are counted from 0 ("contact.1.friction=0.4").
/// Throws Error: kInputOutput for a file that cannot be read; kInvalidFile ("file:line:column: key:
/// what is wrong", then the remedy) for wrong content; kUsage where an override is what is wrong.
[[nodiscard]] grasp::Scenario read_scenario(const std::string& path, const std::vector<std::string>& overrides = {});

/// The same for a parsed document with its overrides.
[[nodiscard]] grasp::Scenario read_scenario(const ScenarioDocument& document);

/// The same from a text; `name` stands in messages for the file.
[[nodiscard]] grasp::Scenario parse_scenario(const std::string& text, const std::string& name,
                                             const std::vector<std::string>& overrides = {});

/// The scenario with every default filled in and every place resolved to a point and a frame: a
/// scenario file that reads back to the same model (contact frames, finger bases and truncation
/// limits to rounding).
[[nodiscard]] std::string resolved_toml(const grasp::Scenario& scenario);

}  // namespace garra::io
