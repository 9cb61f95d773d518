#include "study/files/results_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/files/atomic_file.hpp"
#include "base/files/hdf5.hpp"
#include "garra/core/error.hpp"

namespace garra::io {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw Error(ExitCode::kInputOutput, path + ": cannot write: " + reason,
              "Nothing is lost: make room or write access, then continue with `garra resume`.");
}

using Type = study::RowColumn::Type;

/// A dataset with its offset in the file.
struct Column : study::RowColumn {
  std::uint64_t offset = 0;  ///< [bytes]
};

hid_t stored_type(Type type) {
  if (type == Type::kWhole) return H5T_STD_U64LE;
  if (type == Type::kIndex) return H5T_STD_I8LE;
  return type == Type::kSmall ? H5T_STD_U8LE : H5T_IEEE_F64LE;
}

std::uint64_t column_bytes(const Column& c) {
  return (c.type == Type::kSmall || c.type == Type::kIndex ? 1 : 8) * c.width;
}

bool has_place(const Column& c, std::uint64_t rows) { return rows > 0 && c.width > 0; }

std::size_t row_width(const std::vector<study::RowColumn>& columns) {
  std::size_t row = 0;
  for (const study::RowColumn& c : columns) row = std::max(row, c.first + c.width);
  return row;
}

/// Creates a dataset with its place in the file fixed and nothing written to it.
Hdf5Id make_dataset(const Hdf5Id& file, const Column& c, std::uint64_t rows) {
  const hsize_t dims[2] = {rows, c.width};
  const Hdf5Id space(H5Screate_simple(c.list ? 1 : 2, dims, nullptr));
  const Hdf5Id options(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(options.get(), false);  // the same samples give the same bytes
  H5Pset_alloc_time(options.get(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(options.get(), H5D_FILL_TIME_NEVER);
  return Hdf5Id(H5Dcreate2(file.get(), c.name.c_str(), stored_type(c.type), space.get(), H5P_DEFAULT, options.get(),
                           H5P_DEFAULT));
}

bool name_values(const Hdf5Id& set, const std::vector<std::string>& names) {
  const hsize_t count = names.size();
  const Hdf5Id space(H5Screate_simple(1, &count, nullptr)), type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  std::vector<const char*> texts;
  for (const std::string& name : names) texts.push_back(name.c_str());
  const Hdf5Id id(H5Acreate2(set.get(), "names", type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT));
  return id.valid() && H5Awrite(id.get(), type.get(), texts.data()) >= 0;
}

/// Lays the file out and closes it, and fills in the offsets; false if HDF5 fails.
bool lay_out(const std::string& path, std::uint64_t rows, std::vector<Column>& columns) {
  const Hdf5Turn turn;
  Hdf5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  bool ok = file.valid();
  for (Column& c : columns) {
    if (!ok) return false;
    const Hdf5Id set = make_dataset(file, c, rows);
    ok = set.valid();
    if (!ok) return false;
    if (has_place(c, rows)) c.offset = H5Dget_offset(set.get());
    if (has_place(c, rows) && c.offset == HADDR_UNDEF) return false;
    if (!c.names.empty() && c.width > 0) ok = name_values(set, c.names);
  }
  return ok && H5Fflush(file.get(), H5F_SCOPE_GLOBAL) >= 0 && file.close();
}

/// Whether the closed file opens, and each dataset has its planned size and lies within the file.
bool is_as_laid_out(const std::string& path, std::uint64_t rows, const std::vector<Column>& columns) {
  const Hdf5Turn turn;
  struct stat status {};
  const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!file.valid() || ::stat(path.c_str(), &status) != 0) return false;
  for (const Column& c : columns) {
    const Hdf5Id set(H5Dopen2(file.get(), c.name.c_str(), H5P_DEFAULT));
    if (!set.valid()) return false;
    const Hdf5Id space(H5Dget_space(set.get()));
    const bool whole =
        H5Sget_simple_extent_npoints(space.get()) == static_cast<hssize_t>(rows * c.width) &&
        (!has_place(c, rows) || (H5Dget_offset(set.get()) == c.offset &&
                                 c.offset + rows * column_bytes(c) <= static_cast<std::uint64_t>(status.st_size)));
    if (!whole) return false;
  }
  return true;
}

template <class T>
std::vector<std::byte> convert(std::span<const double> rows, std::size_t row, const Column& c) {
  std::vector<std::byte> out(rows.size() / row * c.width * sizeof(T));
  std::byte* to = out.data();
  for (std::size_t at = 0; at < rows.size(); at += row)
    for (std::size_t k = 0; k < c.width; ++k, to += sizeof(T)) {
      const T value = static_cast<T>(rows[at + c.first + k]);
      std::memcpy(to, &value, sizeof(T));
    }
  return out;
}

std::vector<std::byte> convert_column(std::span<const double> rows, std::size_t row, const Column& c) {
  if (c.type == Type::kWhole) return convert<std::uint64_t>(rows, row, c);
  if (c.type == Type::kSmall) return convert<std::uint8_t>(rows, row, c);
  if (c.type == Type::kIndex) return convert<std::int8_t>(rows, row, c);
  return convert<double>(rows, row, c);
}

}  // namespace

struct SampleTableWriter::File {
  std::string path, temporary;
  std::size_t row;
  std::vector<Column> columns;
  int descriptor = -1;
  std::uint64_t rows, written = 0;

  ~File() {
    if (descriptor >= 0) ::close(descriptor);
    if (!temporary.empty()) ::unlink(temporary.c_str());
  }

  /// Reserves the space, so that a full disk is found before HDF5 writes: HDF5 cannot close a file that it cannot
  /// flush.
  void reserve() {
    ::unlink(temporary.c_str());
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0) fail(path, std::strerror(errno));
    constexpr std::uint64_t header = 1 << 16;
    const auto size = static_cast<off_t>(header + rows * (8 * row_width({columns.begin(), columns.end()})));
    int rc = 0;
    do rc = ::fallocate(descriptor, 0, 0, size);
    while (rc != 0 && errno == EINTR);
    if (rc != 0 && errno != EOPNOTSUPP && errno != ENOSYS) fail(path, std::strerror(errno));
    ::close(std::exchange(descriptor, -1));
  }

  void open() {
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) fail(path, std::strerror(errno));
  }

  void write(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(path, std::strerror(errno));
      bytes = bytes.subspan(static_cast<std::size_t>(n));
      offset += static_cast<std::uint64_t>(n);
    }
  }
};

SampleTableWriter::SampleTableWriter(const std::string& path, const std::vector<study::RowColumn>& columns,
                                     const Rows& rows)
    : file_(std::make_unique<File>()) {
  file_->path = path;
  file_->temporary = temporary_name(path);
  file_->row = std::max(row_width(columns), rows.numbers);
  file_->rows = rows.count;
  for (const study::RowColumn& c : columns) file_->columns.push_back({c});
  file_->reserve();
  if (!lay_out(file_->temporary, rows.count, file_->columns)) fail(path, "HDF5 cannot lay out the file");
  file_->open();
}

SampleTableWriter::~SampleTableWriter() = default;

void SampleTableWriter::append(std::span<const double> rows) {
  const std::uint64_t count = rows.size() / file_->row;
  if (rows.size() % file_->row != 0 || file_->written + count > file_->rows)
    throw Error(ExitCode::kInternal, file_->path + ": more or other rows than were announced");
  for (const Column& c : file_->columns)
    if (c.width > 0) file_->write(c.offset + file_->written * column_bytes(c), convert_column(rows, file_->row, c));
  file_->written += count;
}

void SampleTableWriter::commit() {
  if (file_->written != file_->rows) throw Error(ExitCode::kInternal, file_->path + ": fewer rows than were announced");
  if (::fsync(file_->descriptor) != 0 && errno != EINVAL && errno != EROFS) fail(file_->path, std::strerror(errno));
  if (::close(std::exchange(file_->descriptor, -1)) != 0) fail(file_->path, std::strerror(errno));
  if (!is_as_laid_out(file_->temporary, file_->rows, file_->columns))
    fail(file_->path, "what was written cannot be read back");
  if (::rename(file_->temporary.c_str(), file_->path.c_str()) != 0) fail(file_->path, std::strerror(errno));
  file_->temporary.clear();
}

}  // namespace garra::io
