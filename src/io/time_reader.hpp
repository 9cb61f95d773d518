// [time] of a grasp scenario: read, and written back. docs/grasp-time.md.
#pragma once

#include <string>
#include <vector>

#include "garra/grasp.hpp"
#include "io/scenario_text.hpp"
#include "io/toml_reader.hpp"

namespace garra::io {

/// Where the document has [time]: fills `scenario.time` and sets the number of samples that is meant where [sampling]
/// gives none. The fingers must have been read. `name` is the scenario's file, beside which a table of torques lies.
void read_time(TableReader& root, const std::string& name, grasp::Scenario& scenario);

/// After [sampling] has been read: unless it gives a chunk, a tenth of the samples, because there is progress to show
/// and to resume from only between chunks.
void set_chunk_of_time(TableReader& root, study::Plan& plan);

/// [time.drive] into `time`; `fingers` tell which joints there are.
void read_drive(const Node& node, const std::string& name, const std::vector<grasp::Finger>& fingers,
                grasp::InTime& time);

/// The table written back.
void write_time(const grasp::InTime& time, Writer& w);

}  // namespace garra::io
