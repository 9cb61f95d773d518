#include "base/scenario/field_writer.hpp"

#include <algorithm>

namespace garra::io {

void FieldWriter::key(const std::string& name, Value& value, const Words& words) {
  const std::string text = value.text();
  // A key of the file's choice is quoted, for it may hold any character.
  if (!text.empty()) w_.line(free_ ? io::text(name) : name, text, words.comment.empty() ? value.unit() : words.comment);
}

void FieldWriter::table(const std::string& name, const Words& /*words*/, const Visit& visit) {
  const std::string above = path_;
  path_ += (path_.empty() ? "" : ".") + name;
  w_.table(path_);
  visit();
  path_ = above;
}

void FieldWriter::tables(const std::string& name, const Words& /*words*/, const Items& items) {
  const std::string above = path_;
  path_ += (path_.empty() ? "" : ".") + name;
  for (std::size_t i = 0; i < items.count; ++i) {
    w_.table("[" + path_ + "]");
    items.visit(i);
  }
  path_ = above;
}

void FieldWriter::entries(const std::string& name, const Entries& entries) {
  if (entries.keys.empty()) return;
  free_ = true;
  table(name, {}, [&] { std::for_each(entries.keys.begin(), entries.keys.end(), entries.visit); });
  free_ = false;
}

void FieldWriter::when(const Case& of, const Visit& visit) {
  if (of.holds) visit();
}

}  // namespace garra::io
