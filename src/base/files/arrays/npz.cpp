#include "base/files/arrays/npz.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/files/arrays/npy.hpp"
#include "garra/batch/device.hpp"
#include "garra/core/error.hpp"

namespace garra::io {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are taken as they lie in the file");

constexpr std::string_view kSuffix = ".npy", kMagic = "\x93NUMPY";
constexpr std::uint64_t kLongestHeader = 65536;
constexpr std::size_t kAtOnce = std::size_t{1} << 16;  ///< numbers that are converted at once

template <class From, class To>
void convert(std::span<const std::byte> bytes, std::span<To> to) {
  for (std::size_t k = 0; k < to.size(); ++k) {
    From x;
    std::memcpy(&x, bytes.data() + k * sizeof x, sizeof x);
    // As HDF5 does: values beyond int64 become the largest int64.
    if constexpr (std::is_same_v<From, std::uint64_t> && std::is_same_v<To, std::int64_t>)
      x = std::min<std::uint64_t>(x, INT64_MAX);
    to[k] = static_cast<To>(x);
  }
}

template <class To>
void convert(const NpyHeader& h, std::span<const std::byte> bytes, std::span<To> to) {
  const auto is = [&](char kind, std::uint64_t width) { return h.kind == kind && h.bytes == width; };
  if (is('f', 8)) return convert<double>(bytes, to);
  if (is('f', 4)) return convert<float>(bytes, to);
  if (is('i', 8)) return convert<std::int64_t>(bytes, to);
  if (is('i', 4)) return convert<std::int32_t>(bytes, to);
  if (is('i', 2)) return convert<std::int16_t>(bytes, to);
  if (is('i', 1)) return convert<std::int8_t>(bytes, to);
  if (is('u', 8)) return convert<std::uint64_t>(bytes, to);
  if (is('u', 4)) return convert<std::uint32_t>(bytes, to);
  if (is('u', 2)) return convert<std::uint16_t>(bytes, to);
  convert<std::uint8_t>(bytes, to);  // and truth values
}

}  // namespace

std::uint64_t NpyHeader::row_bytes() const {
  std::uint64_t n = bytes;
  for (std::size_t d = 1; d < shape.size(); ++d) n *= shape[d];
  return n;
}

/// Rows of an array, converted to the requested type.
class NpzReader::Rows final : public ArrayRows {
 public:
  Rows(const NpzReader& reader, const std::string& name)
      : reader_(reader), name_(name), header_(reader.header(name)), content_(reader.file_, *reader.members_.at(name)) {}

  void require_memory() const override { reader_.require_memory(name_); }
  void read(std::uint64_t first, std::uint64_t /*count*/, std::span<double> to) override {
    if (!to.empty()) numbers(header_.start + first * header_.row_bytes(), to);
  }
  /// From this byte on.
  template <class T>
  void numbers(std::uint64_t at, std::span<T> to) {
    if (std::is_same_v<T, double> && header_.kind == 'f' && header_.bytes == 8)
      return bytes(at, std::as_writable_bytes(to));
    while (!to.empty()) {
      const std::span<T> some = to.first(std::min(to.size(), kAtOnce));
      buffer_.resize(some.size() * header_.bytes);
      bytes(at, buffer_);
      convert(header_, buffer_, some);
      at += buffer_.size();
      to = to.subspan(some.size());
    }
  }

 private:
  void bytes(std::uint64_t at, std::span<std::byte> to) {
    const std::string wrong = content_.read(at, to);
    if (wrong.empty()) return;
    const std::uint64_t row = std::max<std::uint64_t>(header_.row_bytes(), 1);
    reader_.refuse(name_,
                   "rows " + std::to_string((at - header_.start) / row) + " to " +
                       std::to_string((at + to.size() - 1 - header_.start) / row) + " cannot be read: " + wrong,
                   "Write or copy the file again.");
  }

  const NpzReader& reader_;
  std::string name_;
  const NpyHeader& header_;
  ZipContent content_;
  std::vector<std::byte> buffer_;
};

NpzReader::NpzReader(const std::string& path, std::string expectation)
    : expectation_(std::move(expectation)), file_(path) {
  for (const ZipMember& m : file_.members())
    if (m.name.ends_with(kSuffix)) members_[m.name.substr(0, m.name.size() - kSuffix.size())] = &m;
}

void NpzReader::refuse(const std::string& name, const std::string& problem, const std::string& remedy) const {
  throw Error(ExitCode::kInvalidFile, file_.path() + ": member " + name + std::string(kSuffix) + ": " + problem,
              remedy.empty() ? expectation_ : remedy);
}

const NpyHeader& NpzReader::header(const std::string& name) const {
  const auto member = members_.find(name);
  if (member == members_.end()) refuse(name, "is missing", {});
  const auto known = headers_.find(name);
  return known != headers_.end() ? known->second : headers_[name] = read_header(name, *member->second);
}

NpyHeader NpzReader::read_header(const std::string& name, const ZipMember& member) const {
  const char* const again = "Write it again by numpy.savez.";
  if (member.is_encrypted()) refuse(name, "is encrypted", "Write it without a password.");
  if (member.method != ZipMember::kStored && member.method != ZipMember::kDeflated)
    refuse(name, "is compressed by a method that is not deflate", again);
  ZipContent content(file_, member);
  std::string text;
  const auto take = [&](std::uint64_t at, std::uint64_t count) {
    if (at > member.size || count > member.size - at) refuse(name, "ends within its header", again);
    text.assign(count, '\0');
    if (const std::string wrong = content.read(at, std::as_writable_bytes(std::span(text))); !wrong.empty())
      refuse(name, "its header cannot be read: " + wrong, "Write or copy the file again.");
  };
  const auto byte = [&](std::size_t at) { return static_cast<std::uint64_t>(static_cast<unsigned char>(text[at])); };
  take(0, 10);
  if (!text.starts_with(kMagic)) refuse(name, "is no NumPy array", again);
  if (byte(6) < 1 || byte(6) > 3 || byte(7) != 0)
    refuse(name, "has the format version " + std::to_string(byte(6)) + "." + std::to_string(byte(7)), again);
  std::uint64_t begin = 10, length = byte(8) | byte(9) << 8;
  if (byte(6) > 1) {
    take(8, 4);
    begin = 12;
    length = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
  }
  if (length > kLongestHeader) refuse(name, "has a header of " + std::to_string(length) + " bytes", again);
  take(begin, length);
  NpyHeader h;
  if (const NpyProblem wrong = parse_npy_header(text, h); !wrong.problem.empty())
    refuse(name, wrong.problem, wrong.remedy);
  h.start = begin + length;
  if (h.count * h.bytes != member.size - h.start)
    refuse(name,
           "is " + to_string(h.shape) + ", " + std::to_string(h.count * h.bytes) + " bytes of numbers, but has " +
               std::to_string(member.size - h.start),
           again);
  return h;
}

void NpzReader::require_whole_numbers(const std::string& name) const {
  if (header(name).kind == 'f')
    refuse(name, "expected whole numbers, found floating-point numbers", "Write it with .astype('<i8').");
}

void NpzReader::require_memory(const std::string& name) const {
  const std::uint64_t count = header(name).count;
  if (count > free_memory({}) / sizeof(double))
    throw Error(ExitCode::kInputOutput,
                file_.path() + ": member " + name + std::string(kSuffix) +
                    ": needs more memory than this machine has free (" +
                    std::to_string(static_cast<double>(count) * 8e-9) + " GB)",
                "Split the file, or write it again if it is not meant to be this large.");
}

template <class T>
std::vector<T> NpzReader::all(const std::string& name) const {
  require_memory(name);
  std::vector<T> numbers(header(name).count);
  if (!numbers.empty()) Rows(*this, name).numbers(header(name).start, std::span<T>(numbers));
  return numbers;
}

std::vector<double> NpzReader::doubles(const std::string& name) const { return all<double>(name); }

std::vector<std::int64_t> NpzReader::integers(const std::string& name) const {
  require_whole_numbers(name);
  return all<std::int64_t>(name);
}

std::unique_ptr<ArrayRows> NpzReader::rows(const std::string& name) const {
  (void)header(name);
  return std::make_unique<Rows>(*this, name);
}

}  // namespace garra::io
