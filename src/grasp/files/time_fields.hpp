// Reads [simulation] of a grasp scenario. docs/theory/grasp-time.md.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/scenario/field_values.hpp"
#include "garra/grasp.hpp"

namespace garra::io {

/// The keys of [simulation], after the fingers. `scenario` is the file, beside which tables of numbers lie.
void time_fields(Fields& f, const std::string& scenario, std::vector<grasp::Finger>& fingers, grasp::InTime& time);

/// [simulation.drive]; `fingers` define the joints.
void drive_fields(Fields& f, const std::string& scenario, const std::vector<grasp::Finger>& fingers,
                  grasp::InTime& time);

/// A list of growing times [s].
[[nodiscard]] AnyValue growing_times(std::vector<double>& times, const std::string& example);

/// A table over time: two lists, "times" and `values`, or a "file" with both. `of_file` and `of_lists` define their
/// keys.
void lists_or_file(Fields& f, const char* values, const std::function<void()>& of_file,
                   const std::function<void()>& of_lists);

}  // namespace garra::io
