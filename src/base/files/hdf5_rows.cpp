// Rows of a dataset, piece by piece.
#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "base/files/hdf5.hpp"
#include "base/files/hdf5_errors.hpp"
#include "garra/core/error.hpp"

namespace garra::io {
namespace {

/// Offset of plain float64 numbers in the file; HADDR_UNDEF for any other storage.
haddr_t start_of_plain(hid_t set) {
  const Hdf5Id options(H5Dget_create_plist(set)), type(H5Dget_type(set));
  const bool plain = std::endian::native == std::endian::little && H5Pget_layout(options.get()) == H5D_CONTIGUOUS &&
                     H5Pget_external_count(options.get()) == 0 && H5Tequal(type.get(), H5T_IEEE_F64LE) > 0;
  return plain ? H5Dget_offset(set) : HADDR_UNDEF;
}

}  // namespace

Hdf5Rows::Hdf5Rows(const Hdf5Reader& file, std::string dataset) : file_(file), name_(std::move(dataset)) {
  set_ = file_.open_numbers(name_);
  shape_ = file_.shape(name_);
  for (std::size_t d = 1; d < shape_.size(); ++d) row_ *= shape_[d];
  const Hdf5Turn turn;
  const haddr_t start = start_of_plain(set_.get());
  if (start == HADDR_UNDEF) {
    keep_chunks_in_memory();
    return;
  }
  start_ = start;
  descriptor_ = ::open(file_.path().c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ >= 0) ::posix_fadvise(descriptor_, static_cast<off_t>(start_), 0, POSIX_FADV_SEQUENTIAL);
}

Hdf5Rows::~Hdf5Rows() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

/// Sizes HDF5's cache for three times all chunks that hold one row. Pieces are smaller than chunks, and a compressed
/// chunk must not be unpacked once per piece.
void Hdf5Rows::keep_chunks_in_memory() {
  const Hdf5Id options(H5Dget_create_plist(set_.get()));
  if (H5Pget_layout(options.get()) != H5D_CHUNKED) return;
  std::vector<hsize_t> chunk(shape_.size());
  H5Pget_chunk(options.get(), static_cast<int>(chunk.size()), chunk.data());
  std::size_t bytes = sizeof(double), chunks = 1;
  for (std::size_t d = 0; d < chunk.size(); ++d) {
    const std::size_t across = d == 0 ? 1 : static_cast<std::size_t>((shape_[d] + chunk[d] - 1) / chunk[d]);
    chunks *= across;
    bytes *= static_cast<std::size_t>(chunk[d]) * across;
  }
  const Hdf5Id access(H5Pcreate(H5P_DATASET_ACCESS));
  H5Pset_chunk_cache(access.get(), 300 * chunks + 1, 3 * bytes, H5D_CHUNK_CACHE_W0_DEFAULT);
  set_ = Hdf5Id(H5Dopen2(file_.file_.get(), name_.c_str(), access.get()));
}

void Hdf5Rows::read_plain(std::uint64_t first, std::span<double> to) const {
  auto bytes = std::as_writable_bytes(to);
  auto at = static_cast<off_t>(start_ + first * row_ * sizeof(double));
  while (!bytes.empty()) {
    const ssize_t n = ::pread(descriptor_, bytes.data(), bytes.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) file_.damaged(name_, n < 0 ? std::strerror(errno) : "the file ends too early");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    at += n;
  }
}

void Hdf5Rows::read(std::uint64_t first, std::uint64_t count, std::span<double> to) const {
  if (to.empty()) return;
  if (descriptor_ >= 0) return read_plain(first, to);
  const Hdf5Turn turn;
  std::vector<hsize_t> start(shape_.size(), 0), size(shape_.begin(), shape_.end());
  start[0] = first;
  size[0] = count;
  const Hdf5Id in_file(H5Dget_space(set_.get()));
  const Hdf5Id in_memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr));
  H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr);
  if (H5Dread(set_.get(), H5T_NATIVE_DOUBLE, in_memory.get(), in_file.get(), H5P_DEFAULT, to.data()) < 0)
    file_.damaged(name_, hdf5_reason());
}

}  // namespace garra::io
