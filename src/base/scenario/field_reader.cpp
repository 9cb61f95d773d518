#include "base/scenario/field_reader.hpp"

#include <algorithm>

#include "base/files/suggest.hpp"

namespace garra::io {

namespace {

std::string joined(const std::vector<Error>& errors) {
  std::string out;
  const std::size_t shown = std::min(errors.size(), FileErrors::kMaxErrors);
  for (std::size_t i = 0; i < shown; ++i) out += (i == 0 ? "" : "\n") + std::string(errors[i].what());
  const std::size_t rest = errors.size() - shown;
  if (rest > 0) out += "\nand " + std::to_string(rest) + " more";
  return out;
}

/// First line of an error; two messages concern the same key if it agrees.
std::string first_line(const Error& error) {
  const std::string_view text = error.what();
  return std::string(text.substr(0, text.find('\n')));
}

/// The innermost existing part of "key", "list[2]" or "table.key"; null for none.
const Node* locate(TableReader& table, const std::string& path) {
  const std::size_t end = path.find_first_of(".[");
  const Node* node = table.find(path.substr(0, end));
  for (std::size_t at = end; node != nullptr && at < path.size();) {
    const std::size_t next = std::min(path.find_first_of(".[", at + 1), path.size());
    const std::string part = path.substr(at + 1, next - at - 1);
    const auto number = path[at] == '[' ? static_cast<std::size_t>(std::stoul(part)) : 0;
    const bool has_item = number < node->items.size();
    const Node* inner = path[at] == '.' ? node->find(part) : has_item ? &node->items[number] : nullptr;
    if (inner == nullptr) return node;
    node = inner;
    at = next;
  }
  return node;
}

}  // namespace

FileErrors::FileErrors(std::vector<Error> errors, std::size_t unknown)
    : Error(errors.front().code(), joined(errors)), each_(std::move(errors)), unknown_(unknown) {}

FieldReader::FieldReader(const Node& table, const std::string& path) {
  frames_.push_back({TableReader(table, path), table.place, nullptr});
}

void FieldReader::add(const Error& error, bool unknown) {
  frames_.back().good = false;
  if (said_[unknown ? 1 : 0].insert(first_line(error)).second) (unknown ? unknown_ : errors_).push_back(error);
}

void FieldReader::attempt(const Visit& step) {
  try {
    step();
  } catch (const FileErrors& errors) {
    for (std::size_t i = 0; i < errors.each().size(); ++i) add(errors.each()[i], i < errors.unknown());
  } catch (const UnknownKey& error) {
    add(error, true);
  } catch (const Error& error) {
    add(error, false);
  }
}

void FieldReader::refuse(const std::string& name) {
  for (Refused& r : frames_.back().refused)
    if (r.key == name) {
      r.labels += " or " + not_held_->label;
      return;
    }
  frames_.back().refused.push_back({name, not_held_->label, not_held_->problem, not_held_->remedy});
}

const Node* FieldReader::find(const std::string& name, const Words& words) {
  const Node* node = nullptr;
  attempt([&] { node = words.required.empty() ? here().find(name) : &here().require(name, words.required); });
  return node;
}

void FieldReader::key(const std::string& name, Value& value, const Words& words) {
  if (not_held_ != nullptr) return refuse(name);
  const Node* node = find(name, words);
  const bool in_quotes = frames_.back().free && name.find('.') != std::string::npos;
  if (node != nullptr) attempt([&] { value.read(*node, here().name(in_quotes ? quoted(name) : name)); });
}

void FieldReader::visit(const Node* node, const std::string& path, const Visit& visit_keys) {
  const std::size_t depth = frames_.size();
  auto missing = std::make_shared<Node>();
  missing->place = frames_.back().place;
  const Node& table = node == nullptr ? *missing : *node;
  attempt([&] { frames_.push_back({TableReader(table, path), table.place, missing}); });
  if (frames_.size() == depth) return;  // it is no table
  visit_keys();
  close();
  frames_.pop_back();
}

void FieldReader::table(const std::string& name, const Words& words, const Visit& visit_keys) {
  if (not_held_ != nullptr) return refuse(name);
  const Node* node = find(name, words);
  if (node != nullptr || words.required.empty()) visit(node, here().name(name), visit_keys);
}

void FieldReader::tables(const std::string& name, const Words& words, const Items& items) {
  if (not_held_ != nullptr) return refuse(name);
  const Node* node = find(name, words);
  if (node == nullptr) return;
  const std::string path = here().name(name);
  if (node->kind != Node::Kind::kArray)
    return attempt([&] {
      fail(node->place, path, "expected an array of tables, found " + describe(*node),
           "Write [[" + path + "]] above each one; with --set name it by its number from 0, " + path + ".0.KEY." +
               (here().is_known(name + "s") ? " Did you mean " + path + "s, which stands for all?" : ""));
    });
  items.resize(node->items.size());
  for (std::size_t i = 0; i < node->items.size(); ++i) visit(&node->items[i], item(path, i), [&] { items.visit(i); });
}

void FieldReader::entries(const std::string& name, const Entries& entries) {
  const Node* node = find(name, {});
  if (node == nullptr) return;
  visit(node, here().name(name), [&] {
    frames_.back().free = true;
    for (const Node::Member& member : node->members) attempt([&] { entries.visit(member.key); });
  });
}

Place FieldReader::find_place(const std::string& name) {
  const Node* node = here().find(name);
  return node == nullptr ? frames_.back().place : node->place;
}

void FieldReader::when(const Case& of, const Visit& visit_keys) {
  if (of.holds || not_held_ != nullptr) return visit_keys();
  not_held_ = &of;
  visit_keys();
  not_held_ = nullptr;
}

bool FieldReader::has(const std::string& name, bool /*now*/) {
  return not_held_ != nullptr || here().find(name) != nullptr;
}

void FieldReader::check(bool holds, const std::string& key, const std::string& problem, const std::string& remedy) {
  if (holds || not_held_ != nullptr) return;
  Frame& frame = frames_.back();
  const Node* node = key.empty() ? nullptr : locate(frame.table, key);
  try {
    fail(node == nullptr ? frame.place : node->place, key.empty() ? frame.table.path() : frame.table.name(key), problem,
         remedy);
  } catch (const Error& error) {
    frame.checks.push_back(error);
    frame.key_refused = frame.key_refused || !key.empty();
  }
}

void FieldReader::then(const Visit& visit) {
  if (not_held_ == nullptr && sound()) attempt(visit);
}

void FieldReader::close() {
  Frame& frame = frames_.back();
  const bool good = frame.good && !frame.key_refused;
  const auto of_another_case = [&](const std::string& key) {
    const auto is = [&](const Refused& r) { return r.key == key; };
    return std::any_of(frame.refused.begin(), frame.refused.end(), is);
  };
  if (!frame.given_up)
    for (const auto& [key, error] : frame.table.unknown())
      if (!of_another_case(key)) add(error, true);
  for (const Refused& r : frame.refused) {
    if (!good || frame.table.is_known(r.key)) continue;
    const Node* node = frame.table.find(r.key);
    const std::string belongs = r.labels.empty() ? "Leave it out." : "Leave it out; it belongs to " + r.labels + ".";
    if (node != nullptr)
      attempt([&] { fail(node->place, frame.table.name(r.key), r.problem, r.remedy.empty() ? belongs : r.remedy); });
  }
  if (!frame.good) return;
  for (const Error& error : frame.checks) add(error, false);
}

void FieldReader::finish() {
  close();
  const std::size_t unknown = unknown_.size();
  std::vector<Error> all = std::move(unknown_);
  all.insert(all.end(), errors_.begin(), errors_.end());
  if (!all.empty()) throw FileErrors(std::move(all), unknown);
}

}  // namespace garra::io
