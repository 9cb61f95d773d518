#include "study/files/results_file.hpp"

#include <algorithm>

#include "garra/core/error.hpp"

namespace garra::io {

namespace {

using Type = study::RowColumn::Type;

Hdf5Stream::Type stored_type(Type type) {
  if (type == Type::kWhole) return Hdf5Stream::Type::kUint64;
  if (type == Type::kIndex) return Hdf5Stream::Type::kInt8;
  return type == Type::kSmall ? Hdf5Stream::Type::kUint8 : Hdf5Stream::Type::kFloat64;
}

/// Room for the descriptions of all columns and the names of their values.
std::size_t description_bytes(const std::vector<study::RowColumn>& columns) {
  std::size_t bytes = std::size_t{1} << 13;
  for (const study::RowColumn& c : columns) {
    bytes += std::size_t{1} << 10;
    for (const std::string& name : c.names) bytes += 2 * (name.size() + 32);
  }
  return bytes;
}

/// A full disk loses nothing of a run: its chunks are there.
template <class Work>
void with_remedy(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    const std::string text = error.what();
    throw Error(error.code(), text.substr(0, text.find('\n')),
                "Nothing is lost: make room or write access, then continue with `garra resume`.");
  }
}

}  // namespace

SampleTableWriter::SampleTableWriter(const std::string& path, const std::vector<study::RowColumn>& columns,
                                     const Rows& rows)
    : path_(path), rows_(rows), file_(path, description_bytes(columns)) {
  for (const study::RowColumn& c : columns) {
    rows_.numbers = std::max(rows_.numbers, c.first + c.width);
    const Shape shape = c.list ? Shape{rows.count} : Shape{rows.count, c.width};
    columns_.push_back({c, file_.add(c.name, shape, stored_type(c.type))});
    if (!c.names.empty() && c.width > 0) file_.attribute(c.name, "names", c.names);
  }
}

template <class T>
void SampleTableWriter::write(const Column& column, std::span<const double> rows) {
  std::vector<T> values;
  values.reserve(rows.size() / rows_.numbers * column.width);
  for (std::size_t at = column.first; at < rows.size(); at += rows_.numbers)
    for (std::size_t k = 0; k < column.width; ++k) values.push_back(static_cast<T>(rows[at + k]));
  file_.write(column.place, written_, std::span<const T>(values));
}

void SampleTableWriter::append(std::span<const double> rows) {
  const std::uint64_t count = rows.size() / rows_.numbers;
  if (rows.size() % rows_.numbers != 0 || written_ + count > rows_.count)
    throw Error(ExitCode::kInternal, path_ + ": more or other rows than were announced");
  with_remedy([&] {
    for (const Column& c : columns_) {
      if (c.width == 0) continue;
      if (c.type == Type::kWhole)
        write<std::uint64_t>(c, rows);
      else if (c.type == Type::kSmall)
        write<std::uint8_t>(c, rows);
      else if (c.type == Type::kIndex)
        write<std::int8_t>(c, rows);
      else
        write<double>(c, rows);
    }
  });
  written_ += count;
}

void SampleTableWriter::commit() {
  if (written_ != rows_.count) throw Error(ExitCode::kInternal, path_ + ": fewer rows than were announced");
  with_remedy([&] { file_.commit(); });
}

}  // namespace garra::io
