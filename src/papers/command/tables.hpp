// `garra papers tables`: the papers' Tables 1-4, recomputed on a hand of garra, beside the printed numbers.
#pragma once

#include <string>

#include "cli/command_line.hpp"

namespace garra::cli {

struct TablesArguments {
  std::string data, hand;        ///< empty: data next to the program's folder; the papers' hand
  std::string format = "human";  ///< or json
};

/// Prints the tables. Throws Error for missing data (kInputOutput) or a hand of another number of fingers.
void print_tables(const TablesArguments& arguments);
/// --data and --hand
void add_tables_options(Command command, TablesArguments& arguments);

}  // namespace garra::cli
