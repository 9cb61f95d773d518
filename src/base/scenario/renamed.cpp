#include "base/scenario/renamed.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/toml_reader.hpp"

namespace garra::io {

namespace {

constexpr unsigned kFile = kKeyName | kJsonName, kCall = kFlagName | kPythonName, kAll = kFile | kCall;

struct Warnings {
  std::mutex mutex;
  std::set<std::string, std::less<>> said;
  std::function<void(const std::string&)> take = [](const std::string& text) {
    std::fprintf(stderr, "warning: %s\n", text.c_str());
  };
};
Warnings& warnings() {
  static Warnings all;
  return all;
}

/// The row of a name that stands in `path`; null where it has not changed.
const RenamedName* find_row(unsigned kind, std::string_view path, std::string_view old) {
  for (const RenamedName& row : renamed_names())
    if ((row.kinds & kind) != 0 && row.old == old && (row.where == "*" || row.where == path)) return &row;
  return nullptr;
}

std::string inside(const std::string& path, const std::string& key) { return path.empty() ? key : path + "." + key; }

/// Keys of `[sweep]` are paths themselves.
bool is_path(const std::string& key) { return key.find('.') != std::string::npos; }

}  // namespace

const std::vector<RenamedName>& renamed_names() {
  // A table is renamed before what it holds: `where` is a path of new names.
  static const std::vector<RenamedName> all = {
      {kKeyName, "", "time", "simulation"},
      {kKeyName, "simulation", "until", "duration"},
      {kCall | kJsonName, "*", "until", "duration"},
      {kKeyName, "solver", "tol", "tolerance"},
      {kCall | kJsonName, "*", "tol", "tolerance"},
      {kAll, "*", "squeeze", "grip_force"},
      {kAll, "*", "squeeze_error", "grip_force_error"},
      {kFile | kPythonName, "*", "minimum_squeeze", "min_grip_force"},
      {kAll, "*", "from_within", "interior_grasp"},
      {kAll, "*", "any_gravity", "random_gravity_direction"},
      {kAll, "*", "com_ball", "com_radius"},
      {kAll, "*", "force_ball", "force_radius"},
      {kAll, "*", "torque_ball", "torque_radius"},
      {kAll, "*", "own_friction_factor", "per_contact_friction_factor"},
      {kPythonName | kJsonName, "*", "own_friction", "per_contact_friction_factor"},
      {kJsonName, "*", "own_friction_nominal", "per_contact_friction_factor_nominal"},
      {kJsonName | kPythonName, "*", "p_can_be_held", "p_resisted"},
      {kJsonName | kPythonName, "*", "can_be_held", "resisted"},
      {kJsonName | kPythonName, "*", "not_carried", "command_insufficient"},
      {kJsonName | kPythonName, "*", "several_solutions", "non_unique"},
      {kJsonName | kPythonName, "*", "critical_friction", "required_friction"},
      {kJsonName | kPythonName, "*", "wrench_radius", "resisted_force_radius"},
      {kJsonName | kPythonName, "*", "fails_first", "limiting_contact"},
      {kJsonName | kPythonName, "*", "responsible", "dependent_joints"},
      {kJsonName, "*", "locus_responsible", "locus_dependent_joints"},
      {kJsonName | kPythonName, "*", "landed", "converged"},
      {kJsonName, "nearest", "lost", "diverged"},
      {kJsonName, "*", "landing", "search_status"},
      {kPythonName, "*", "analyse", "analyze"},
      {kPythonName, "*", "Set", "GraspSet"},
      {kPythonName, "*", "judge", "check_solution"},
      {kPythonName, "*", "can_balance", "is_resisted"},
      {kPythonName, "*", "verdict", "status"},
      {kFlagName, "*", "every", "output_interval"},
      {kFlagName, "*", "share", "fraction"},
      {kFlagName, "*", "of", "shard"},
      {kFlagName, "*", "no_finish", "no_merge"},
      {kCall, "*", "most_samples", "max_samples"},
      {kFlagName, "*", "largest_set", "max_set_size"},
      {kFlagName, "*", "prove_mode", "certify_mode"},
  };
  return all;
}

std::string renamed_table(bool markdown) {
  constexpr std::pair<NameKind, const char*> kKinds[] = {
      {kKeyName, "key"}, {kFlagName, "flag"}, {kPythonName, "python"}, {kJsonName, "json"}};
  std::string rows = "| old | new | where |\n|---|---|---|\n";
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const RenamedName& row : renamed_names()) {
    std::vector<std::string> kinds;
    std::string words;
    for (const auto& [kind, name] : kKinds) {
      if ((row.kinds & kind) == 0) continue;
      kinds.emplace_back(name);
      words += (words.empty() ? "" : ", ") + kinds.back();
    }
    if (row.where != "*" && !row.where.empty()) words += " in `" + std::string(row.where) + "`";
    rows += "| `" + std::string(row.old) + "` | `" + std::string(row.now) + "` | " + words + " |\n";
    json.push_back({{"kinds", kinds}, {"where", row.where}, {"old", row.old}, {"now", row.now}});
  }
  return markdown ? rows : json.dump() + "\n";
}

std::string new_flag(std::string_view flag) {
  const bool dashes = flag.substr(0, 2) == "--";
  std::string old(flag.substr(dashes ? 2 : 0));
  std::replace(old.begin(), old.end(), '-', '_');
  const RenamedName* row = find_row(kFlagName, "*", old);
  if (row == nullptr) return "";
  std::string now(row->now);
  std::replace(now.begin(), now.end(), '_', '-');
  return (dashes ? "--" : "") + now;
}

void rename_keys(Node& node, const std::string& path) {
  for (Node& item : node.items) rename_keys(item, path);
  for (Node::Member& member : node.members) {
    if (const RenamedName* row = find_row(kKeyName, path, member.key)) {
      const std::string now(row->now);
      if (node.find(now) != nullptr)
        fail(member.value.place, inside(path, member.key), "is the old name of " + now + ", which is given too",
             "Leave out " + member.key + ".");
      warn_of_old_name(to_string(member.value.place), row->old, row->now);
      member.key = now;
    } else if (is_path(member.key)) {
      member.key = with_new_names(member.key);
    }
    rename_keys(member.value, inside(path, member.key));
  }
}

std::string with_new_names(const std::string& path) {
  std::string now, table;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    if (const RenamedName* row = find_row(kKeyName, table, part)) {
      warn_of_old_name("", row->old, row->now);
      part = row->now;
    }
    now = inside(now, part);
    // The number of an array's item is no part of a table's path.
    if (part.find_first_not_of("0123456789") != std::string::npos) table = inside(table, part);
    begin = end + 1;
  }
  return now;
}

void rename_json(nlohmann::ordered_json& value, const std::string& path) {
  if (value.is_string()) {
    const RenamedName* row = find_row(kJsonName, "*", value.get_ref<const std::string&>());
    if (row != nullptr) value = std::string(row->now);
  } else if (value.is_array()) {
    for (auto& item : value) rename_json(item, path);
  } else if (value.is_object()) {
    nlohmann::ordered_json now = nlohmann::ordered_json::object();
    for (auto& [key, member] : value.items()) {
      const RenamedName* row = find_row(kJsonName, path, key);
      const std::string name = row != nullptr && !value.contains(row->now) ? std::string(row->now) : key;
      rename_json(member, inside(path, name));
      now[name] = std::move(member);
    }
    value = std::move(now);
  }
}

void warn_of_old_name(const std::string& where, std::string_view old, std::string_view now) {
  Warnings& all = warnings();
  const std::lock_guard lock(all.mutex);
  if (!all.said.emplace(old).second) return;
  all.take((where.empty() ? "" : where + ": ") + "`" + std::string(old) + "` is now called `" + std::string(now) +
           "`. The old name is accepted until version 1.0.");
}

void set_name_warnings(std::function<void(const std::string& text)> take) {
  Warnings& all = warnings();
  const std::lock_guard lock(all.mutex);
  all.take = std::move(take);
}

}  // namespace garra::io
