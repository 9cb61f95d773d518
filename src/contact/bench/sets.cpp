// Reads the problems of a benchmark: drawn, or gathered from files by their number of contacts.
#include "contact/bench/sets.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include "base/files/suggest.hpp"
#include "contact/files/problem_count.hpp"
#include "contact/problems/sets.hpp"
#include "garra/core/error.hpp"
#include "garra/io/problem_file.hpp"

namespace garra::cli {
namespace {

namespace fs = std::filesystem;

using FileSets = std::map<int, SetRecord>;  // by number of contacts; 0: rejected files

SetRecord built_in(const contact::ProblemSet& set, const SetRequest& request) {
  return {.name = set.name, .description = set.description, .problems = set.draw({request.problems, request.seed})};
}

std::vector<std::string> known_names() {
  std::vector<std::string> names{kMncpSet};
  for (const contact::ProblemSet& set : contact::problem_sets()) names.emplace_back(set.name);
  return names;
}

/// The file itself, or every HDF5 file of a folder, by name.
std::vector<std::string> list_files(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return {path};
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    const std::string kind = entry.path().extension().string();
    if (entry.is_regular_file() && (kind == ".h5" || kind == ".hdf5")) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw Error(ExitCode::kUsage, path + ": no problem files (.h5, .hdf5) in this folder",
                "tools/problems_from_npz makes them of NumPy archives.");
  return files;
}

template <class T>
void append_values(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void add_modes(contact::Problems& all, const contact::Problems& more) {
  if (all.mode.empty() && more.mode.empty()) return;
  // Files without modes say that all contacts may roll: zeros are filled in once some file has modes.
  all.mode.resize(static_cast<std::size_t>(all.count * all.contacts));
  all.slip_velocity.resize(2 * all.mode.size());
  append_values(all.mode, more.mode);
  append_values(all.slip_velocity, more.slip_velocity);
  all.mode.resize(static_cast<std::size_t>((all.count + more.count) * all.contacts));
  all.slip_velocity.resize(2 * all.mode.size());
}

void add_problems(contact::Problems& all, const contact::Problems& more) {
  all.contacts = more.contacts;
  add_modes(all, more);
  append_values(all.A, more.A);
  append_values(all.b, more.b);
  append_values(all.mu, more.mu);
  all.count += more.count;
}

void read_file(const std::string& file, FileSets& sets) {
  try {
    const contact::Problems problems = io::read_problems(file);
    // By number of contacts, which is one per batch.
    add_problems(sets[problems.contacts].problems, problems);
  } catch (const Error& error) {
    const std::string text = error.what();
    // A missing file is a wrong argument; a bad one is a finding.
    if (error.code() == ExitCode::kInputOutput && !fs::exists(file)) throw;
    sets[0].refused.push_back({file, text.substr(0, text.find('\n')), io::count_problems(file)});
  }
}

/// The first `most` (0: all) of the problems in an order drawn from the seed.
contact::Problems shuffled(const contact::Problems& all, std::int64_t most, std::uint64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(all.count));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 engine(seed);
  // Fisher-Yates by hand, because std::shuffle gives other orders with other libraries.
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[engine() % i]);
  if (most > 0 && most < all.count) order.resize(static_cast<std::size_t>(most));
  contact::Problems out;
  for (const std::int64_t k : order) add_problems(out, slice(all, k, 1));
  return out;
}

/// Name of a set of files: the one file or folder, in letters and digits; "files" for several.
std::string name_of_files(const SetRequest& request) {
  std::string only;
  for (const std::string& name : request.names) {
    if (name == kMncpSet || contact::find_problem_set(name) != nullptr) continue;
    if (!only.empty()) return "files";
    only = fs::path(name).stem().string();
  }
  std::replace_if(
      only.begin(), only.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return only.empty() ? "files" : only;
}

std::vector<SetRecord> named_sets(FileSets& found, const SetRequest& request) {
  std::vector<SetRecord> sets;
  for (auto& [contacts, set] : found) {
    if (contacts == 0) continue;
    const std::string n = std::to_string(contacts);
    set.name = name_of_files(request) + "_n" + n;
    set.description = "problems of " + n + (contacts == 1 ? " contact" : " contacts") + " from files";
    set.problems = shuffled(set.problems, request.most, request.seed);
    sets.push_back(std::move(set));
  }
  if (!found[0].refused.empty())
    sets.push_back({.name = "refused", .description = "files that were not tried", .refused = found[0].refused});
  return sets;
}

}  // namespace

std::vector<SetRecord> read_sets(const SetRequest& request) {
  std::vector<SetRecord> sets;
  if (request.names.empty())
    for (const contact::ProblemSet& set : contact::problem_sets()) sets.push_back(built_in(set, request));
  FileSets from_files;
  for (const std::string& name : request.names) {
    std::error_code ignored;
    if (name == kMncpSet) continue;
    if (const contact::ProblemSet* set = contact::find_problem_set(name)) {
      sets.push_back(built_in(*set, request));
    } else if (fs::exists(name, ignored)) {
      for (const std::string& file : list_files(name)) read_file(file, from_files);
    } else {
      throw Error(ExitCode::kUsage, name + ": neither a problem set nor a file",
                  io::suggest(name, known_names(), "Built-in sets"));
    }
  }
  for (SetRecord& set : named_sets(from_files, request)) sets.push_back(std::move(set));
  return sets;
}

bool wants_mncp(const SetRequest& request) {
  return request.names.empty() || std::count(request.names.begin(), request.names.end(), kMncpSet) > 0;
}

}  // namespace garra::cli
