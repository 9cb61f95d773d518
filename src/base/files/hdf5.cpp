#include "base/files/hdf5.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "base/files/atomic_file.hpp"
#include "base/files/hdf5_errors.hpp"
#include "garra/batch/device.hpp"
#include "garra/core/error.hpp"

namespace garra::io {
namespace {

/// Disables HDF5's check of all files at exit, which crashes if writes to one have failed. Files of garra are closed by
/// then. Must precede any other call.
[[maybe_unused]] const herr_t kNoWorkAtExit = H5dont_atexit();

const char* plural_of_class(H5T_class_t type) {
  switch (type) {
    case H5T_INTEGER:
      return "whole numbers";
    case H5T_FLOAT:
      return "floating-point numbers";
    case H5T_STRING:
      return "strings";
    case H5T_COMPOUND:
      return "compound values (complex numbers?)";
    case H5T_ENUM:
      return "enumeration or boolean values";
    default:
      return "values that are no numbers";
  }
}

void require_readable(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(ExitCode::kInputOutput, path + ": cannot read: it is a folder", "Give the name of a file in it.");
  }
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    throw Error(ExitCode::kInputOutput, path + ": cannot read: it is a pipe or a device", "Give the name of a file.");
  }
  // Asks the system, because HDF5 does not tell these reasons apart.
  if (::access(path.c_str(), R_OK) != 0) {
    const int error = errno;
    throw Error(ExitCode::kInputOutput, path + ": cannot read: " + std::strerror(error),
                error == EACCES ? "Ask for the right to read this file." : "Check the path for a typing error.");
  }
}

[[noreturn]] void fail_to_open(const std::string& path) {
  const std::string reason = hdf5_reason();
  if (reason.find("lock file") != std::string::npos) {
    throw Error(ExitCode::kInputOutput, path + ": cannot read: another program has it open (" + reason + ")",
                "Close the file there, then run the command again.");
  }
  throw Error(ExitCode::kInputOutput, path + ": the file is damaged or truncated (" + reason + ")",
              "Write or copy the file again.");
}

Hdf5Id fixed_space(const Shape& shape) {
  const std::vector<hsize_t> dims(shape.begin(), shape.end());
  return Hdf5Id(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
}

/// Strings of any length, UTF-8: what NumPy users get back as `str`.
Hdf5Id string_type() {
  Hdf5Id type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

struct AttributeValue {
  hid_t space, type;
  const void* data;
};

void write_attribute(hid_t object, const std::string& name, const AttributeValue& value) {
  const Hdf5Id id(H5Acreate2(object, name.c_str(), value.type, value.space, H5P_DEFAULT, H5P_DEFAULT));
  if (!id.valid() || H5Awrite(id.get(), value.type, value.data) < 0) fail_to_build("attribute " + name);
}

Hdf5Id open_object(const Hdf5Id& file, const std::string& name) {
  Hdf5Id object(H5Oopen(file.get(), name.c_str(), H5P_DEFAULT));
  if (!object.valid()) fail_to_build(name);
  return object;
}

}  // namespace

std::string hdf5_reason() {
  std::string reason;
  const auto keep_first = [](unsigned depth, const H5E_error2_t* error, void* out) -> herr_t {
    // Upward, the first entry is the innermost call: the most specific one.
    if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  return reason.empty() ? "no reason given" : reason;
}

void fail_to_build(const std::string& what) {
  const std::string reason = hdf5_reason();
  throw Error(ExitCode::kInputOutput, "cannot build " + what + " in memory (" + reason + ")",
              "Write fewer problems per file.");
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

Hdf5Reader::Hdf5Reader(std::string path, std::string expectation)
    : path_(std::move(path)), expectation_(std::move(expectation)) {
  const Hdf5Turn turn;
  require_readable(path_);
  // Before opening: tells another kind of file from a damaged one.
  if (H5Fis_hdf5(path_.c_str()) == 0) {
    throw Error(ExitCode::kInvalidFile, path_ + ": this is not an HDF5 file", expectation_);
  }
  file_ = Hdf5Id(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!file_.valid()) fail_to_open(path_);
}

/// Rejects datasets whose data lie in other files (external links, external raw data, virtual datasets): an untrusted
/// file could expose the content of other files.
void Hdf5Reader::require_inside(const std::string& name, hid_t set) const {
  const auto file_of = [](hid_t object) {
    std::string file(static_cast<std::size_t>(std::max<ssize_t>(H5Fget_name(object, nullptr, 0), 0)), '\0');
    H5Fget_name(object, file.data(), file.size() + 1);
    return file;
  };
  const Hdf5Id options(H5Dget_create_plist(set));
  const bool outside = file_of(set) != file_of(file_.get()) || H5Pget_external_count(options.get()) != 0 ||
                       H5Pget_layout(options.get()) == H5D_VIRTUAL;
  if (outside) refuse(name, "lies in another file", "Copy the data into this file.");
}

bool Hdf5Reader::has(const std::string& name) const {
  const Hdf5Turn turn;
  // H5Lexists fails if a group on the path is missing, so check each of them in turn.
  for (std::size_t end = name.find('/');; end = name.find('/', end + 1)) {
    const htri_t exists = H5Lexists(file_.get(), name.substr(0, end).c_str(), H5P_DEFAULT);
    if (exists < 0) fail_to_open(path_);
    H5L_info_t link{};
    if (exists > 0 && H5Lget_info(file_.get(), name.substr(0, end).c_str(), &link, H5P_DEFAULT) >= 0 &&
        link.type > H5L_TYPE_SOFT)
      refuse(name, "lies in another file", "Copy the data into this file.");
    if (exists == 0 || end == std::string::npos) return exists > 0;
  }
}

std::vector<std::string> Hdf5Reader::names(const std::string& group) const {
  std::vector<std::string> found;
  if (group != "/" && !has(group)) return found;
  const Hdf5Turn turn;
  const Hdf5Id id(H5Gopen2(file_.get(), group.c_str(), H5P_DEFAULT));
  if (!id.valid()) refuse(group, "is a dataset or a type, expected a group");
  const auto keep = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  if (H5Literate(id.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, keep, &found) < 0) fail_to_open(path_);
  return found;
}

void Hdf5Reader::refuse(const std::string& dataset, const std::string& problem, const std::string& remedy) const {
  throw Error(ExitCode::kInvalidFile, path_ + ": dataset " + dataset + ": " + problem,
              remedy.empty() ? expectation_ : remedy);
}

Hdf5Id Hdf5Reader::open_dataset(const std::string& name) const {
  if (!has(name)) refuse(name, "is missing");
  const Hdf5Turn turn;
  H5O_info_t info{};
  if (H5Oget_info_by_name(file_.get(), name.c_str(), &info, H5P_DEFAULT) < 0) fail_to_open(path_);
  if (info.type != H5O_TYPE_DATASET) refuse(name, "is a group or a type, expected a dataset");
  Hdf5Id set(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT));
  if (!set.valid()) fail_to_open(path_);
  require_inside(name, set.get());
  require_credible_size(name, set.get());
  return set;
}

Shape Hdf5Reader::shape(const std::string& dataset) const {
  const Hdf5Turn turn;
  const Hdf5Id set = open_dataset(dataset);
  const Hdf5Id space(H5Dget_space(set.get()));
  const int rank = H5Sget_simple_extent_ndims(space.get());
  std::vector<hsize_t> dims(rank > 0 ? static_cast<std::size_t>(rank) : 0);
  H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  return {dims.begin(), dims.end()};
}

void Hdf5Reader::require_shape(const std::string& dataset, const Shape& expected) const {
  const Shape found = shape(dataset);
  if (found != expected) refuse(dataset, "expected shape " + to_string(expected) + ", found " + to_string(found));
}

std::uint64_t Hdf5Reader::rows(const std::string& dataset, const Shape& row) const {
  const Shape found = shape(dataset);
  if (!found.empty() && Shape(found.begin() + 1, found.end()) == row) return found[0];
  refuse(dataset, "expected shape [n, " + to_string(row).substr(1) + ", found " + to_string(found));
}

void Hdf5Reader::require_credible_size(const std::string& dataset, hid_t set) const {
  const Hdf5Id space(H5Dget_space(set)), type(H5Dget_type(set)), options(H5Dget_create_plist(set));
  // A damaged header can claim any size: reject it before the machine works or swaps for nothing. No filter of HDF5
  // packs more than 1,032 bytes into one, so a small file holds no large data.
  constexpr std::uint64_t kPacked = 1100, kSmall = std::uint64_t{1} << 26;
  std::error_code ignored;
  const std::uint64_t file = std::filesystem::file_size(path_, ignored);
  const auto require_credible = [&](double bytes) {
    if (!ignored && bytes > static_cast<double>(kSmall) &&
        bytes > static_cast<double>(kPacked) * static_cast<double>(file))
      refuse(dataset,
             "claims " + std::to_string(bytes * 1e-9) + " GB, which a file of " + std::to_string(file) +
                 " bytes cannot hold",
             "Write the file again.");
  };
  // The larger of the sizes in the file and as doubles. HDF5 allocates a whole chunk, with its numbers as in the file.
  const auto each = static_cast<double>(std::max(H5Tget_size(type.get()), sizeof(double)));
  require_credible(each * static_cast<double>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space.get()), 1)));
  if (H5Pget_layout(options.get()) != H5D_CHUNKED) return;
  std::vector<hsize_t> chunk(static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space.get()), 0)));
  H5Pget_chunk(options.get(), static_cast<int>(chunk.size()), chunk.data());
  require_credible(std::accumulate(chunk.begin(), chunk.end(), each,
                                   [](double product, hsize_t side) { return product * static_cast<double>(side); }));
}

std::size_t Hdf5Reader::size_in_memory(const std::string& dataset, hid_t set) const {
  const Hdf5Turn turn;
  const Hdf5Id space(H5Dget_space(set));
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  const std::uint64_t bytes = static_cast<std::uint64_t>(std::max<hssize_t>(count, 0)) * sizeof(double);
  if (count < 0 || bytes > free_memory({})) {
    throw Error(ExitCode::kInputOutput,
                path_ + ": dataset " + dataset + ": needs more memory than this machine has free (" +
                    std::to_string(static_cast<double>(count) * 8e-9) + " GB)",
                "Split the file, or write it again if it is not meant to be this large.");
  }
  return static_cast<std::size_t>(count);
}

void Hdf5Reader::read(const std::string& dataset, hid_t set, hid_t type, void* values) const {
  const Hdf5Turn turn;
  if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) return;
  damaged(dataset, hdf5_reason());
}

void Hdf5Reader::damaged(const std::string& dataset, const std::string& reason) const {
  throw Error(ExitCode::kInputOutput, path_ + ": dataset " + dataset + ": the data are damaged (" + reason + ")",
              "Write or copy the file again.");
}

Hdf5Id Hdf5Reader::open_numbers(const std::string& name) const {
  const Hdf5Turn turn;
  Hdf5Id set = open_dataset(name);
  const Hdf5Id type(H5Dget_type(set.get()));
  const H5T_class_t kind = H5Tget_class(type.get());
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) {
    refuse(name, std::string("expected numbers (float64), found ") + plural_of_class(kind));
  }
  return set;
}

std::vector<double> Hdf5Reader::doubles(const std::string& dataset) const {
  const Hdf5Id set = open_numbers(dataset);
  std::vector<double> values(size_in_memory(dataset, set.get()));
  if (!values.empty()) read(dataset, set.get(), H5T_NATIVE_DOUBLE, values.data());
  return values;
}

Hdf5Id Hdf5Reader::open_whole_numbers(const std::string& name) const {
  const Hdf5Turn turn;
  Hdf5Id set = open_dataset(name);
  const Hdf5Id type(H5Dget_type(set.get()));
  const H5T_class_t kind = H5Tget_class(type.get());
  if (kind != H5T_INTEGER && kind != H5T_ENUM)  // h5py stores truth values as an enumeration
    refuse(name, std::string("expected whole numbers, found ") + plural_of_class(kind));
  return set;
}

void Hdf5Reader::require_whole_numbers(const std::string& dataset) const { (void)open_whole_numbers(dataset); }

std::vector<std::int64_t> Hdf5Reader::integers(const std::string& dataset) const {
  const Hdf5Id set = open_whole_numbers(dataset);
  std::vector<std::int64_t> values(size_in_memory(dataset, set.get()));
  if (!values.empty()) read(dataset, set.get(), H5T_NATIVE_INT64, values.data());
  return values;
}

void Hdf5Writer::group(const std::string& name) {
  const Hdf5Turn turn;
  const Hdf5Id id(H5Gcreate2(file_.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  if (!id.valid()) fail_to_build("group " + name);
}

namespace {

Hdf5Id memory_access() {
  const Hdf5Turn turn;
  constexpr std::size_t kGrowth = std::size_t{1} << 20;
  Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS));
  // In memory only; closing writes nothing, so a full disk cannot keep the file open.
  H5Pset_fapl_core(access.get(), kGrowth, /*backing_store=*/0);
  return access;
}

}  // namespace

Hdf5Writer::Hdf5Writer() : Hdf5Writer(memory_access()) {}

Hdf5Writer::Hdf5Writer(const Hdf5Id& access) {
  const Hdf5Turn turn;
  file_ = Hdf5Id(H5Fcreate("in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
  if (!file_.valid()) fail_to_build("an HDF5 file");
}

Hdf5Writer::Created Hdf5Writer::create(const std::string& dataset, const Shape& shape, hid_t stored_type,
                                       Storage storage) {
  const Hdf5Id space = fixed_space(shape);
  const Hdf5Id options(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(options.get(), false);  // the same solutions give the same bytes
  if (storage == Storage::kAtOnce) {
    H5Pset_alloc_time(options.get(), H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(options.get(), H5D_FILL_TIME_NEVER);
  }
  Hdf5Id set(
      H5Dcreate2(file_.get(), dataset.c_str(), stored_type, space.get(), H5P_DEFAULT, options.get(), H5P_DEFAULT));
  if (!set.valid()) fail_to_build("dataset " + dataset);
  return {std::move(set), static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space.get()))};
}

void Hdf5Writer::write_values(const std::string& dataset, const Values& values) {
  const auto [set, count] = create(dataset, values.shape, values.stored_type, Storage::kWhenWritten);
  if (count != values.count) {
    throw Error(ExitCode::kInternal, "dataset " + dataset + ": " + std::to_string(values.count) +
                                         " values do not fill shape " + to_string(values.shape));
  }
  if (values.count == 0) return;
  if (H5Dwrite(set.get(), values.memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data) < 0) {
    fail_to_build("dataset " + dataset);
  }
}

void Hdf5Writer::write(const std::string& dataset, const Shape& shape, std::span<const double> values) {
  const Hdf5Turn turn;
  write_values(dataset, {shape, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(), values.size()});
}
void Hdf5Writer::write(const std::string& dataset, const Shape& shape, std::span<const std::int32_t> values) {
  const Hdf5Turn turn;
  write_values(dataset, {shape, H5T_STD_I32LE, H5T_NATIVE_INT32, values.data(), values.size()});
}
void Hdf5Writer::write(const std::string& dataset, const Shape& shape, std::span<const std::uint8_t> values) {
  const Hdf5Turn turn;
  write_values(dataset, {shape, H5T_STD_U8LE, H5T_NATIVE_UINT8, values.data(), values.size()});
}
void Hdf5Writer::write(const std::string& dataset, const Shape& shape, std::span<const std::uint32_t> values) {
  const Hdf5Turn turn;
  write_values(dataset, {shape, H5T_STD_U32LE, H5T_NATIVE_UINT32, values.data(), values.size()});
}
void Hdf5Writer::write(const std::string& dataset, const Shape& shape, std::span<const std::int64_t> values) {
  const Hdf5Turn turn;
  write_values(dataset, {shape, H5T_STD_I64LE, H5T_NATIVE_INT64, values.data(), values.size()});
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name, double value) {
  const Hdf5Turn turn;
  const Hdf5Id space(H5Screate(H5S_SCALAR));
  write_attribute(open_object(file_, object).get(), name, {space.get(), H5T_NATIVE_DOUBLE, &value});
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name, const std::string& value) {
  const Hdf5Turn turn;
  const Hdf5Id space(H5Screate(H5S_SCALAR));
  const Hdf5Id type = string_type();
  const char* text = value.c_str();
  write_attribute(open_object(file_, object).get(), name, {space.get(), type.get(), &text});
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name, std::int64_t value) {
  const Hdf5Turn turn;
  const Hdf5Id space(H5Screate(H5S_SCALAR));
  write_attribute(open_object(file_, object).get(), name, {space.get(), H5T_NATIVE_INT64, &value});
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name, const std::vector<double>& values) {
  const Hdf5Turn turn;
  const Hdf5Id space = fixed_space({values.size()});
  write_attribute(open_object(file_, object).get(), name, {space.get(), H5T_NATIVE_DOUBLE, values.data()});
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name, const std::vector<std::string>& values) {
  const Hdf5Turn turn;
  const Hdf5Id space = fixed_space({values.size()});
  const Hdf5Id type = string_type();
  std::vector<const char*> texts;
  for (const std::string& value : values) texts.push_back(value.c_str());
  write_attribute(open_object(file_, object).get(), name, {space.get(), type.get(), texts.data()});
}

void Hdf5Writer::commit(const std::string& path) {
  const Hdf5Turn turn;
  void* image = nullptr;
  // The image is complete only after the flush.
  if (H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) < 0) fail_to_build(path);
  const ssize_t size = H5Fget_file_image(file_.get(), nullptr, 0);
  // The driver's own memory, not H5Fget_file_image's copy: a large result must not need its size
  // twice.
  if (size < 0 || H5Fget_vfd_handle(file_.get(), H5P_DEFAULT, &image) < 0) fail_to_build(path);
  const std::byte* bytes = *static_cast<std::byte**>(image);
  write_file_atomically(path, {bytes, static_cast<std::size_t>(size)});
}

}  // namespace garra::io
