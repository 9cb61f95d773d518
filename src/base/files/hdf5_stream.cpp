// Writes an HDF5 file whose numbers come piece by piece.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/files/hdf5.hpp"
#include "base/files/hdf5_errors.hpp"

namespace garra::io {

/// The file's image as HDF5 keeps it in memory. All metadata lie in one range at its beginning, so the numbers behind,
/// which HDF5 never sees, take no memory. The image is complete, and ours, only after closing.
struct Hdf5Stream::Image {
  void* bytes = nullptr;
  std::size_t size = 0;
  ~Image() { std::free(bytes); }
};

namespace {

constexpr std::size_t kGrowth = std::size_t{1} << 12;
/// HDF5 keeps all texts in one place, made with the first one, and counts it as numbers. A text therefore comes before
/// the numbers.
constexpr const char* kFirstText = "first text";

template <class Image>
H5FD_file_image_callbacks_t image_callbacks(Image& image) {
  const auto take = [](std::size_t size, H5FD_file_image_op_t, void* to) -> void* {
    static_cast<Image*>(to)->size = size;
    return std::malloc(size);
  };
  const auto copy = [](void* to, const void* from, std::size_t size, H5FD_file_image_op_t, void*) {
    return std::memcpy(to, from, size);
  };
  const auto resize = [](void* bytes, std::size_t size, H5FD_file_image_op_t, void* to) -> void* {
    static_cast<Image*>(to)->size = size;
    return std::realloc(bytes, size);
  };
  const auto keep = [](void* bytes, H5FD_file_image_op_t, void* to) -> herr_t {
    static_cast<Image*>(to)->bytes = bytes;
    return 0;
  };
  const auto same = [](void* to) { return to; };
  const auto leave = [](void*) -> herr_t { return 0; };
  return {take, copy, resize, keep, same, leave, &image};
}

struct Number {
  hid_t type;
  std::uint64_t bytes;
};
Number number_format(Hdf5Stream::Type type) {
  switch (type) {
    case Hdf5Stream::Type::kFloat64:
      return {H5T_IEEE_F64LE, 8};
    case Hdf5Stream::Type::kInt64:
      return {H5T_STD_I64LE, 8};
    case Hdf5Stream::Type::kUint64:
      return {H5T_STD_U64LE, 8};
    case Hdf5Stream::Type::kInt32:
      return {H5T_STD_I32LE, 4};
    case Hdf5Stream::Type::kInt8:
      return {H5T_STD_I8LE, 1};
    case Hdf5Stream::Type::kUint8:
      break;
  }
  return {H5T_STD_U8LE, 1};
}

}  // namespace

Hdf5Id Hdf5Stream::access_to(Image& image, std::size_t description) {
  const Hdf5Turn turn;
  Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fapl_core(access.get(), kGrowth, /*backing_store=*/0);
  H5FD_file_image_callbacks_t calls = image_callbacks(image);
  H5Pset_file_image_callbacks(access.get(), &calls);
  H5Pset_meta_block_size(access.get(), description);
  H5Pset_small_data_block_size(access.get(), description / 8);  // for the texts
  return access;
}

Hdf5Stream::Hdf5Stream(const std::string& path, std::size_t description)
    : image_(std::make_unique<Image>()), file_(path), writer_(access_to(*image_, description)) {
  writer_.attribute("/", kFirstText, std::string(kFirstText));
}

Hdf5Stream::~Hdf5Stream() = default;

Hdf5Stream::Place Hdf5Stream::add(const std::string& dataset, const Shape& shape, Type type) {
  const Hdf5Turn turn;
  const Number number = number_format(type);
  const auto [set, values] = writer_.create(dataset, shape, number.type, Hdf5Writer::Storage::kAtOnce);
  Place place{0, number.bytes};
  for (std::size_t d = 1; d < shape.size(); ++d) place.row_bytes *= shape[d];
  if (values == 0) return place;
  const haddr_t start = H5Dget_offset(set.get());
  if (start == HADDR_UNDEF) fail_to_build("dataset " + dataset);
  place.start = start;
  numbers_.push_back({place.start, place.start + values * number.bytes});
  return place;
}

void Hdf5Stream::commit() {
  const Hdf5Turn turn;
  hsize_t size = 0;
  // The placeholder has served its purpose: the file shall not hold it.
  if (H5Adelete(writer_.file_.get(), kFirstText) < 0) fail_to_build("an HDF5 file");
  if (H5Fget_filesize(writer_.file_.get(), &size) < 0 || H5Idec_ref(writer_.file_.release()) < 0 ||
      image_->bytes == nullptr)
    fail_to_build("an HDF5 file");
  std::sort(numbers_.begin(), numbers_.end(),
            [](const IndexRange& a, const IndexRange& b) { return a.begin < b.begin; });
  // The end as an empty range, so that bytes behind the last numbers are written, too.
  numbers_.push_back({size, size});
  const auto* bytes = static_cast<const std::byte*>(image_->bytes);
  std::uint64_t from = 0;
  for (const IndexRange& index_range : numbers_) {  // what lies between the numbers
    const std::uint64_t to = std::min<std::uint64_t>(index_range.begin, image_->size);
    if (to > from) file_.write_at(from, {bytes + from, to - from});
    from = index_range.end;
  }
  file_.commit(size);
}

}  // namespace garra::io
