#include "base/files/arrays/zip.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <set>
#include <utility>

#include "garra/core/error.hpp"

namespace garra::io {

namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kLargeEnd = 0x06064b50,
                        kLocator = 0x07064b50;
constexpr std::uint64_t kEndSize = 22, kLocatorSize = 20, kLargeEndSize = 56, kLocalSize = 30, kCentralSize = 46;
constexpr std::uint64_t kMaxMembers = 1000, kMaxDirectory = 1'000'000;
constexpr std::uint64_t kDataDescriptor = 8;  ///< flag: sizes come behind the content
constexpr std::uint32_t kIn64 = 0xffffffff;   ///< said by the zip64 field
/// Deflate makes at most 1032 bytes of one (a length of 258 in two bits).
constexpr std::uint64_t kMaxOfOneByte = 1032, kFree = 65536;

class Descriptor {
 public:
  /// Non-blocking: opening a pipe would wait for a writer.
  explicit Descriptor(const std::string& path) : id_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    struct stat status {};
    if (id_ < 0 || ::fstat(id_, &status) != 0 || !S_ISREG(status.st_mode)) return;
    size_ = static_cast<std::uint64_t>(status.st_size);
    regular_ = true;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (id_ >= 0) ::close(id_);
  }
  [[nodiscard]] bool is_regular() const { return regular_; }
  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] int release() { return std::exchange(id_, -1); }

 private:
  int id_ = -1;
  std::uint64_t size_ = 0;
  bool regular_ = false;
};

bool read_all(int descriptor, std::uint64_t offset, std::span<std::byte> to) {
  while (!to.empty()) {
    const ssize_t n = ::pread(descriptor, to.data(), to.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to = to.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return true;
}

}  // namespace

bool is_zip(const std::string& path) {
  const Descriptor file(path);
  std::array<std::byte, 4> begin{};
  if (!file.is_regular() || !read_all(file.id(), 0, begin)) return false;
  const auto is = [&](std::uint32_t signature) {
    for (std::size_t k = 0; k < 4; ++k)
      if (std::to_integer<std::uint32_t>(begin[k]) != (signature >> 8 * k & 0xff)) return false;
    return true;
  };
  return is(kLocal) || is(kEnd);  // an archive of nothing is one, too
}

/// Little-endian numbers out of a piece of the file, one after another; 0 beyond its end.
class ZipFile::Fields {
 public:
  explicit Fields(std::string_view bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {}
  [[nodiscard]] std::uint64_t number(std::size_t width) {
    std::uint64_t x = 0;
    for (std::size_t k = 0; k < width && at_ + k < bytes_.size(); ++k)
      x |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at_ + k])) << 8 * k;
    at_ += width;
    return x;
  }
  [[nodiscard]] std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  [[nodiscard]] std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  [[nodiscard]] std::uint64_t u64() { return number(8); }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - std::min(at_, bytes_.size()); }
  [[nodiscard]] std::string_view text(std::size_t n) {
    const std::string_view part = bytes_.substr(std::min(at_, bytes_.size()), n);
    at_ += n;
    return part;
  }
  void skip(std::size_t n) { at_ += n; }

 private:
  std::string_view bytes_;
  std::size_t at_;
};

struct ZipFile::Directory {
  std::uint64_t start, size, members;
};

namespace {

/// Sizes and offset in a header: 32 bits each, or in the zip64 field for those that are kIn64.
struct Sizes {
  std::uint64_t size, packed, header;
};

/// Returns whether the field was valid.
template <class Fields>
bool take_large_sizes(Fields extra, Sizes& sizes) {
  std::uint64_t* const wanted[] = {&sizes.size, &sizes.packed, &sizes.header};
  const bool any = std::any_of(std::begin(wanted), std::end(wanted), [](auto* x) { return *x == kIn64; });
  while (extra.left() >= 4) {
    const std::uint16_t kind = extra.u16(), length = extra.u16();
    if (length > extra.left()) return false;
    Fields field(extra.text(length));
    if (kind != 1 || !any) continue;
    for (std::uint64_t* x : wanted) {
      if (*x != kIn64) continue;
      if (field.left() < 8) return false;
      *x = field.u64();
    }
    return true;
  }
  return !any;
}

}  // namespace

ZipFile::ZipFile(std::string path) : path_(std::move(path)) {
  Descriptor file(path_);
  if (!file.is_regular())
    throw Error(ExitCode::kInputOutput, path_ + ": cannot be read",
                "Check the path and its permissions; it must be a file.");
  size_ = file.size();
  descriptor_ = file.id();  // owned only once nothing can throw, because then no destructor runs
  const Directory directory = find_directory();
  read_directory(directory);
  for (ZipMember& member : members_) take_local_header(member);
  require_apart(directory);
  descriptor_ = file.release();
}

ZipFile::~ZipFile() { ::close(descriptor_); }

void ZipFile::refuse(const std::string& problem) const {
  throw Error(ExitCode::kInvalidFile, path_ + ": as a zip archive (NPZ) it is damaged or truncated: " + problem,
              "Write or copy the file again.");
}

bool ZipFile::read_at(std::uint64_t offset, std::span<std::byte> to) const { return read_all(descriptor_, offset, to); }

std::string ZipFile::bytes_at(std::uint64_t offset, std::uint64_t count, const char* what) const {
  std::string bytes;
  if (offset <= size_ && count <= size_ - offset) {
    bytes.resize(count);
    if (read_all(descriptor_, offset, std::as_writable_bytes(std::span(bytes)))) return bytes;
  }
  refuse(std::string(what) + " lies beyond the end of the file");
}

/// Reads the end record, which a comment of at most 64 KiB may follow.
ZipFile::Directory ZipFile::find_directory() const {
  const std::uint64_t most = std::min(size_, kEndSize + 0xffff);
  const std::string tail = bytes_at(size_ - most, most, "its end");
  for (std::uint64_t at = most >= kEndSize ? most - kEndSize + 1 : 0; at-- > 0;) {
    Fields f(tail, at);
    if (f.u32() != kEnd) continue;
    const std::uint16_t disk = f.u16(), first_disk = f.u16(), here = f.u16(), all = f.u16();
    const std::uint32_t size = f.u32(), start = f.u32();
    if (f.u16() != most - at - kEndSize) continue;  // a comment that looks like a record
    const std::uint64_t end = size_ - most + at;
    const bool large = here == 0xffff || all == 0xffff || size == kIn64 || start == kIn64;
    const Directory found = large ? find_large_directory(end) : Directory{start, size, all};
    const std::uint64_t behind = large ? end - kLocatorSize - kLargeEndSize : end;
    if (!large && (disk != 0 || first_disk != 0 || here != all)) refuse("it is one of several parts");
    if (found.members > kMaxMembers || found.size > kMaxDirectory)
      refuse("its list says " + std::to_string(found.members) + " members, at most " + std::to_string(kMaxMembers) +
             " are read");
    if (found.size > behind || found.start != behind - found.size)
      refuse("the list of members is not where it should be");
    return found;
  }
  refuse("the list of members at its end is missing");
}

/// The same with 64 bits: a separate record, located by another one behind it.
ZipFile::Directory ZipFile::find_large_directory(std::uint64_t end) const {
  if (end < kLocatorSize + kLargeEndSize) refuse("there is no room for its zip64 record");
  const std::string bytes = bytes_at(end - kLocatorSize - kLargeEndSize, kLocatorSize + kLargeEndSize, "zip64");
  Fields f(bytes);
  if (f.u32() != kLargeEnd || f.u64() != kLargeEndSize - 12) refuse("its zip64 record is missing");
  f.skip(4);
  const std::uint32_t disk = f.u32(), first_disk = f.u32();
  const std::uint64_t here = f.u64(), all = f.u64(), size = f.u64(), start = f.u64();
  if (f.u32() != kLocator) refuse("the place of its zip64 record is missing");
  const std::uint32_t record_disk = f.u32();
  const std::uint64_t record = f.u64();
  const std::uint32_t disks = f.u32();
  if (disk != 0 || first_disk != 0 || record_disk != 0 || disks > 1 || here != all)
    refuse("it is one of several parts");
  if (record != end - kLocatorSize - kLargeEndSize) refuse("its zip64 record is not where it should be");
  return {start, size, all};
}

void ZipFile::read_directory(const Directory& directory) {
  const std::string bytes = bytes_at(directory.start, directory.size, "the list of members");
  Fields f(bytes);
  std::set<std::string> names;
  for (std::uint64_t k = 0; k < directory.members; ++k) {
    if (f.left() < kCentralSize || f.u32() != kCentral) refuse("its list of members ends too early");
    ZipMember m;
    f.skip(4);
    m.flags = f.u16();
    m.method = f.u16();
    f.skip(4);
    m.crc = f.u32();
    Sizes sizes{};
    sizes.packed = f.u32();
    sizes.size = f.u32();
    const std::uint16_t name = f.u16(), extra = f.u16(), comment = f.u16();
    f.skip(8);
    sizes.header = f.u32();
    if (f.left() < std::size_t{name} + extra + comment) refuse("its list of members ends too early");
    m.name = f.text(name);
    if (!take_large_sizes(Fields(f.text(extra)), sizes)) refuse(m.name + ": its zip64 field is not sound");
    f.skip(comment);
    m.size = sizes.size;
    m.packed = sizes.packed;
    m.header = sizes.header;
    if (!names.insert(m.name).second) refuse(m.name + " is there twice");
    members_.push_back(m);
  }
  if (f.left() > 0) refuse("its list has more than its members");
}

/// Checks that the member's own header agrees with the directory, except for sizes that follow the content.
void ZipFile::take_local_header(ZipMember& m) const {
  const std::string fixed = bytes_at(m.header, kLocalSize, m.name.c_str());
  Fields f(fixed);
  if (f.u32() != kLocal) refuse(m.name + " is not where the list says");
  f.skip(2);
  const std::uint16_t flags = f.u16(), method = f.u16();
  f.skip(4);
  const std::uint32_t crc = f.u32();
  Sizes sizes{};
  sizes.packed = f.u32();
  sizes.size = f.u32();
  const std::uint16_t name = f.u16(), extra = f.u16();
  const std::string words = bytes_at(m.header + kLocalSize, std::uint64_t{name} + extra, m.name.c_str());
  const bool behind = (flags & kDataDescriptor) != 0;
  if (!take_large_sizes(Fields(words, name), sizes)) refuse(m.name + ": its zip64 field is not sound");
  const auto differs = [&](std::uint64_t local, std::uint64_t listed) {
    return local != listed && !(behind && local == 0);
  };
  if (std::string_view(words).substr(0, name) != m.name || flags != m.flags || method != m.method ||
      differs(crc, m.crc) || differs(sizes.size, m.size) || differs(sizes.packed, m.packed))
    refuse(m.name + ": the member and the list of members contradict one another");
  m.start = m.header + kLocalSize + name + extra;
  if (m.packed > size_ || m.start > size_ - m.packed) refuse(m.name + " lies beyond the end of the file");
  if (m.method == ZipMember::kStored && m.size != m.packed) refuse(m.name + " has two sizes");
  if (m.method == ZipMember::kDeflated && m.size > kFree && m.size / kMaxOfOneByte > m.packed)
    refuse(m.name + " claims " + std::to_string(m.size) + " bytes, which " + std::to_string(m.packed) + " cannot hold");
}

/// Checks that no byte belongs to two members, or to a member and the directory.
void ZipFile::require_apart(const Directory& directory) const {
  std::vector<const ZipMember*> order;
  for (const ZipMember& m : members_) order.push_back(&m);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->header < b->header; });
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::uint64_t end = k + 1 < order.size() ? order[k + 1]->header : directory.start;
    if (order[k]->start + order[k]->packed > end) refuse(order[k]->name + " lies within another member");
  }
}

// --- deflated content -----------------------------------------------------------------------------------------------

/// State of zlib's stream, and the last bytes of its output.
class ZipContent::Inflation {
 public:
  Inflation(const ZipFile& file, const ZipMember& member) : file_(file), member_(member) { begin(); }
  ~Inflation() { inflateEnd(&stream_); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;

  [[nodiscard]] std::string read(std::uint64_t at, std::span<std::byte> to) {
    if (at < made_ - kept_) {
      inflateEnd(&stream_);
      begin();
    }
    while (!to.empty()) {
      if (at < made_) {
        const std::uint64_t from = kept_ - (made_ - at);
        const std::size_t n = std::min<std::uint64_t>(to.size(), made_ - at);
        std::memcpy(to.data(), out_.data() + from, n);
        to = to.subspan(n);
        at += n;
      } else if (std::string wrong = next(); !wrong.empty()) {
        begin_again_ = true;
        return wrong;
      }
    }
    return {};
  }

 private:
  static constexpr std::uint64_t kBlock = 1 << 16;

  void begin() {
    stream_ = {};
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
    made_ = kept_ = taken_ = 0;
    crc_ = crc32_z(0, nullptr, 0);
    begin_again_ = false;
  }
  /// Inflates one more block, or the remainder; the previous block is kept.
  [[nodiscard]] std::string next() {
    if (begin_again_) return "it was damaged before";
    if (kept_ > kBlock) {
      std::memmove(out_.data(), out_.data() + (kept_ - kBlock), kBlock);
      kept_ = kBlock;
    }
    const std::uint64_t wanted = std::min(kBlock, member_.size - made_);
    const bool last = made_ + wanted == member_.size;
    // The last block asks for one byte more, to detect content that is too long.
    stream_.next_out = reinterpret_cast<Bytef*>(out_.data() + kept_);
    stream_.avail_out = static_cast<uInt>(wanted + (last ? 1 : 0));
    int result = Z_OK;
    while (stream_.avail_out > 0 && result != Z_STREAM_END) {
      if (stream_.avail_in == 0 && !feed()) return "its bytes end too early";
      result = inflate(&stream_, Z_NO_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END) return "its deflated bytes are damaged";
    }
    const std::uint64_t got = wanted + (last ? 1 : 0) - stream_.avail_out;
    if (got != wanted || last != (result == Z_STREAM_END)) return "it holds more or less than it says";
    crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(out_.data() + kept_), wanted);
    made_ += wanted;
    kept_ += wanted;
    if (last && (crc_ != member_.crc || stream_.avail_in > 0 || taken_ < member_.packed))
      return "its checksum (CRC-32) is another one";
    return {};
  }
  /// Reads packed bytes from the file; false if none are left.
  [[nodiscard]] bool feed() {
    const std::uint64_t n = std::min<std::uint64_t>(in_.size(), member_.packed - taken_);
    if (n == 0 || !file_.read_at(member_.start + taken_, std::span(in_).first(n))) return false;
    taken_ += n;
    stream_.next_in = reinterpret_cast<Bytef*>(in_.data());
    stream_.avail_in = static_cast<uInt>(n);
    return true;
  }

  const ZipFile& file_;
  const ZipMember& member_;
  z_stream stream_{};
  std::uint64_t made_ = 0, kept_ = 0;  ///< bytes of the content so far, and of these in out_
  std::uint64_t taken_ = 0;            ///< packed bytes
  uLong crc_ = 0;
  bool begin_again_ = false;
  std::vector<std::byte> in_ = std::vector<std::byte>(kBlock), out_ = std::vector<std::byte>(2 * kBlock + 1);
};

ZipContent::ZipContent(const ZipFile& file, const ZipMember& member) : file_(file), member_(member) {
  if (member.method == ZipMember::kDeflated) inflation_ = std::make_unique<Inflation>(file, member);
}

ZipContent::~ZipContent() = default;

std::string ZipContent::read(std::uint64_t at, std::span<std::byte> to) {
  if (inflation_) return inflation_->read(at, to);
  return file_.read_at(member_.start + at, to) ? std::string() : "the file ends too early";
}

}  // namespace garra::io
