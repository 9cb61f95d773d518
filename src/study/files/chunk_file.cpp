#include "study/files/chunk_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <variant>

#include "base/files/sha256.hpp"
#include "garra/core/version.hpp"
#include "garra/study/study.hpp"

namespace garra::io {

namespace {

using nlohmann::json;
using study::Total;

constexpr std::size_t kCrc = 4;  ///< bytes of the checksum at the end

std::uint32_t crc(const void* data, std::size_t size) {
  return static_cast<std::uint32_t>(
      crc32_z(crc32_z(0, nullptr, 0), static_cast<const Bytef*>(data), static_cast<z_size_t>(size)));
}

json to_json(const study::Ranking& ranking) {
  json list = json::array();
  for (const auto& e : ranking.list()) list.push_back({e.key, e.sample, e.outcome, e.value});
  return list;
}

/// Bytes: CBOR numbers would be larger and slower, and NaN in kept rows keeps its bits.
json to_binary(const std::vector<double>& v) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(v.data());
  return json::binary(std::vector<std::uint8_t>(p, p + v.size() * sizeof(double)));
}

/// Content that bypasses nlohmann's reader, which copies strings byte by byte and makes a typed value of each number.
/// The copies took a twentieth of the time of a worker, and of a study that keeps rows.
using Leaf = std::variant<std::string_view, std::vector<std::int64_t>>;

/// A chunk's document as CBOR, with each byte string and each list of whole numbers replaced by its index in `leaves`.
struct Outline {
  std::string bytes;
  std::vector<Leaf> leaves;
};

/// Scanner that outlines `bytes` if its CBOR items are complete, of the kinds that garra writes, and nested no deeper
/// than maps of lists of lists of lists. The depth must be checked first, because nlohmann's reader is recursive.
class Skimmer {
 public:
  explicit Skimmer(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] std::optional<Outline> outline() {
    if (!sound()) return std::nullopt;
    return std::move(outline_);
  }

 private:
  static constexpr std::size_t kDepth = 6;

  [[nodiscard]] bool sound() {
    // A stack on the heap: a file must not control our recursion depth.
    std::vector<std::uint64_t> open = {1};  // items that are still to come, on each level
    while (!open.empty()) {
      if (open.back() == 0) {
        open.pop_back();
        continue;
      }
      --open.back();
      const std::size_t begin = at_;
      const auto items = item();
      if (!items) return false;
      take(begin);
      if (*items > 0) open.push_back(*items);
      if (open.size() > kDepth) return false;
    }
    return at_ == bytes_.size();
  }

  /// Appends the item that began at `begin` to the outline: unchanged, or a leaf as its index.
  void take(std::size_t begin) {
    if (!leaf_) {
      outline_.bytes += bytes_.substr(begin, at_ - begin);
      return;
    }
    const std::uint64_t place = outline_.leaves.size();
    outline_.leaves.push_back(std::move(*leaf_));
    outline_.bytes += static_cast<char>(2 << 5 | sizeof place);  // a string of eight bytes
    outline_.bytes.append(reinterpret_cast<const char*>(&place), sizeof place);
    leaf_.reset();
  }

  struct Head {
    int major;
    std::uint64_t value;
  };
  std::optional<Head> head() {
    if (at_ >= bytes_.size()) return std::nullopt;
    const auto byte = static_cast<std::uint8_t>(bytes_[at_++]);
    const auto value = argument(byte & 31);
    return value ? std::optional(Head{byte >> 5, *value}) : std::nullopt;
  }

  /// Skips one item's head, and the bytes of a text; returns the number of items within it.
  std::optional<std::uint64_t> item() {
    const auto passed = head();
    if (!passed) return std::nullopt;
    const auto [major, value] = *passed;
    const std::uint64_t left = bytes_.size() - at_;
    switch (major) {
      case 0:
      case 1:
      case 7:
        return 0;
      case 2:
      case 3:
        if (value > left) return std::nullopt;
        if (major == 2) leaf_ = bytes_.substr(at_, static_cast<std::size_t>(value));
        at_ += static_cast<std::size_t>(value);
        return 0;
      case 4:
        // An item takes at least a byte: reject a number of items beyond the bytes left before memory is allocated.
        if (value > left) return std::nullopt;
        return whole_numbers(value) ? 0 : value;
      case 5:
        // A map's items are pairs.
        return value <= left / 2 ? std::optional(2 * value) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  /// Skips `count` whole numbers as a leaf; skips nothing if the list is empty or has other items.
  bool whole_numbers(std::uint64_t count) {
    const std::size_t begin = at_;
    std::vector<std::int64_t> numbers;
    while (numbers.size() < count) {
      const auto passed = head();
      if (!passed || passed->major > 1 || passed->value > INT64_MAX) break;
      const auto value = static_cast<std::int64_t>(passed->value);
      numbers.push_back(passed->major == 0 ? value : -1 - value);
    }
    const bool all = count > 0 && numbers.size() == count;
    if (all)
      leaf_ = std::move(numbers);
    else
      at_ = begin;
    return all;
  }

  std::optional<std::uint64_t> argument(int info) {
    if (info < 24) return static_cast<std::uint64_t>(info);
    if (info > 27) return std::nullopt;  // of no fixed length
    const std::size_t size = std::size_t{1} << (info - 24);
    if (bytes_.size() - at_ < size) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t k = 0; k < size; ++k) value = value << 8 | static_cast<std::uint8_t>(bytes_[at_++]);
    return value;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::optional<Leaf> leaf_;  ///< the last item, if it is a leaf
  Outline outline_;
};

// Thrown below, like json::exception, if the content is not as garra writes it.
struct Unsound {};
void require(bool holds) {
  if (!holds) throw Unsound{};
}

std::int64_t integer(const json& j, std::int64_t low, std::int64_t high) {
  require(j.is_number_integer());
  // get<int64> would wrap for a larger unsigned number.
  require(!j.is_number_unsigned() || j.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
  const auto x = j.get<std::int64_t>();
  require(x >= low && x <= high);
  return x;
}

double number(const json& j) {
  require(j.is_number());
  const auto x = j.get<double>();
  require(!std::isnan(x));
  return x;
}

class Reader {
 public:
  Reader(const json& document, const std::vector<Leaf>& leaves, const ChunkRules& rules)
      : document_(document), leaves_(leaves), rules_(rules) {}

  Total chunk() {
    Total t;
    // Half of the range, so that first + count cannot overflow.
    t.first = integer(document_.at("first"), 0, INT64_MAX / 2);
    t.count = integer(document_.at("count"), 1, INT64_MAX / 2);
    first_ = t.first;
    count_ = t.count;
    t.counts = counts();
    t.exact = sums();
    for (const study::ExactSum& sum : t.exact) t.sums.push_back(sum.value());
    t.curve = curve();
    t.closest = ranking(document_.at("closest"));
    t.worst = ranking(document_.at("worst"));
    t.kept = kept();
    t.groups = groups();
    t.buckets = buckets();
    if (rules_.shape.least > 0) t.least = read_doubles("least", rules_.shape.least);
    // Even ignored content is rejected, because verify compares whole files.
    require(rules_.shape.least > 0 || !document_.contains("least"));
    return t;
  }

 private:
  /// A leaf: the outline holds its index, which no byte string does.
  template <class T>
  const T& leaf(const json& j) const {
    std::uint64_t place = 0;
    const auto& bytes = j.get_binary();
    std::memcpy(&place, bytes.data(), sizeof place);
    const T* const found = std::get_if<T>(&leaves_.at(place));
    require(found != nullptr);
    return *found;
  }

  std::string_view binary(const char* key) const { return leaf<std::string_view>(document_.at(key)); }

  const std::vector<std::int64_t>& whole_numbers(const json& j) const {
    static const std::vector<std::int64_t> none;
    return j.is_array() && j.empty() ? none : leaf<std::vector<std::int64_t>>(j);
  }

  std::vector<double> read_doubles(const char* key, std::size_t size) const {
    const std::string_view bytes = binary(key);
    require(bytes.size() == size * sizeof(double));
    std::vector<double> v(size);
    if (!v.empty()) std::memcpy(v.data(), bytes.data(), bytes.size());
    return v;
  }

  std::vector<std::int64_t> counts() const {
    std::vector<std::int64_t> counts = whole_numbers(document_.at("counts"));
    require(counts.size() == rules_.shape.counts);
    require(std::ranges::all_of(counts, [](std::int64_t n) { return 0 <= n && n <= INT64_MAX / 4; }));
    std::int64_t ended = 0;
    for (const study::IndexRange& s : rules_.shape.outcomes)
      for (std::size_t k = 0; k < s.size; ++k) {
        // Before the addition, so that no file can overflow the sum.
        require(counts[s.first + k] <= count_ - ended);
        ended += counts[s.first + k];
      }
    require(rules_.shape.outcomes.empty() || ended == count_);
    return counts;
  }

  std::vector<study::ExactSum> sums() const {
    const json& list = document_.at("sums");
    require(list.is_array() && list.size() == rules_.shape.sums);
    std::vector<study::ExactSum> sums;
    for (const json& words : list) {
      const auto sum = study::ExactSum::of(whole_numbers(words));
      // One NaN in a stored sum would make every mean of the study NaN.
      require(sum && !std::isnan(sum->value()));
      sums.push_back(*sum);
    }
    return sums;
  }

  /// The curve's values for the ranges of blocks that the chunk covers.
  std::map<std::int64_t, std::vector<double>> curve() const {
    std::map<std::int64_t, std::vector<double>> curve;
    if (rules_.shape.sums > 0)
      for (std::int64_t b = first_ / study::kBlock; b * study::kBlock < first_ + count_;) {
        b = study::curve_point(b);
        curve[b] = {};
      }
    const std::size_t n = rules_.shape.tracked;
    const std::vector<double> all = read_doubles("curve", n * curve.size());
    auto from = all.begin();
    for (auto& [point, index_range] : curve) {
      index_range.assign(from, from + static_cast<std::ptrdiff_t>(n));
      from += static_cast<std::ptrdiff_t>(n);
      require(std::all_of(index_range.begin(), index_range.end(),
                          [&](double x) { return x >= 0 && x <= static_cast<double>(count_); }));
    }
    return curve;
  }

  study::Ranking ranking(const json& list) const {
    require(list.is_array() && list.size() <= study::Ranking::kLimit);
    study::Ranking ranking;
    for (const json& e : list) {
      require(e.is_array() && e.size() == 4);
      const std::int64_t sample = integer(e[1], first_, first_ + count_ - 1);
      ranking.add({number(e[0]), sample, static_cast<int>(integer(e[2], 0, rules_.outcomes - 1)), number(e[3])});
    }
    return ranking;
  }

  std::vector<study::Ranking> groups() const {
    std::vector<study::Ranking> groups;
    if (rules_.shape.groups > 0)
      for (const json& list : document_.at("groups")) groups.push_back(ranking(list));
    require(groups.size() == rules_.shape.groups && (rules_.shape.groups > 0 || !document_.contains("groups")));
    return groups;
  }

  study::Buckets buckets() const {
    const json& list = document_.at("buckets");
    require(list.is_array() && list.size() <= rules_.shape.buckets);
    study::Buckets buckets;
    int number = 0;
    for (const json& runs : list) {
      const std::vector<std::int64_t>& numbers = whole_numbers(runs);
      std::int64_t values = 0;
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        require(0 <= numbers[k] && numbers[k] <= std::max<std::int64_t>(count_, study::BucketGrid::kPlaces));
        // Every second number is a count, and their total is at most the number of samples. The sum cannot overflow.
        if (k % 2 == 1) values += numbers[k];
        require(values <= count_);
      }
      require(buckets.add_runs(number++, numbers));
    }
    // Trailing empty lists would be lost, which gives other bytes for the same chunk.
    require(static_cast<std::size_t>(buckets.numbers()) == list.size());
    return buckets;
  }

  /// Rows of samples of this chunk, in their order.
  std::vector<double> kept() const {
    const std::size_t size = binary("kept").size() / sizeof(double), row = rules_.shape.row;
    require(size % row == 0 && size / row <= static_cast<std::size_t>(count_));
    std::vector<double> kept = read_doubles("kept", size);
    double last = static_cast<double>(first_) - 1;
    for (std::size_t k = 0; k < size; k += row) {
      require(kept[k] > last && kept[k] < static_cast<double>(first_ + count_) && kept[k] == std::floor(kept[k]));
      last = kept[k];
    }
    return kept;
  }

  const json& document_;
  const std::vector<Leaf>& leaves_;
  const ChunkRules& rules_;
  std::int64_t first_ = 0, count_ = 0;
};

/// The document's outline, or none if checksum or form are wrong.
std::optional<Outline> read_outline(const std::string& bytes) {
  if (bytes.size() < kCrc + 1) return std::nullopt;
  const std::size_t size = bytes.size() - kCrc;
  std::uint32_t sum = 0;
  for (std::size_t k = 0; k < kCrc; ++k)
    // Byte by byte, least significant first, so that a file reads the same on any machine.
    sum |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[size + k])) << (8 * k);
  if (sum != crc(bytes.data(), size)) return std::nullopt;
  return Skimmer({bytes.data(), size}).outline();
}

bool has_origin(const json& document, const ChunkOrigin& origin) {
  const auto text = [&](const char* key) -> std::string {
    const auto found = document.find(key);
    return found != document.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  return text("scenario") == origin.scenario && text("layout") == origin.layout &&
         same_results(text("garra"), origin.program);
}

}  // namespace

std::string layout_checksum(const study::Shape& s, const std::vector<study::RowColumn>& columns) {
  // Everything that a change of the program could shift; a chunk of another layout would be misread. The first number
  // is the version of chunk files.
  json all = {3, s.sums, s.tracked, s.row, s.counts, s.groups, s.least, s.buckets};
  for (const study::IndexRange& o : s.outcomes) all.push_back({o.first, o.size});
  for (const study::RowColumn& c : columns)
    all.push_back({c.name, static_cast<int>(c.type), c.first, c.width, c.list, c.names});
  return sha256(all.dump());
}

std::size_t largest_chunk(const study::Shape& s, std::int64_t count) {
  const auto samples = static_cast<std::size_t>(count);
  // Upper bounds: the longest CBOR whole number; four of them and some bytes for an entry of a ranking; the words of a
  // sum; points of the curve for 2^63 samples.
  constexpr std::size_t kWord = 9, kBuckets = 2 * kWord * study::BucketGrid::kPlaces,
                        kRanking = study::Ranking::kLimit * 40 + kWord, kTexts = 4096, kSum = 70 * kWord, kPoints = 600;
  return kTexts + kWord * s.counts + kSum * s.sums + 8 * (s.tracked * kPoints + s.row * samples + s.least) +
         kRanking * (s.groups + 2) + kBuckets * s.buckets;
}

namespace {

/// Most bytes of a chunk of usual size besides its rows; others take a second allocation.
constexpr std::size_t kOtherBytes = std::size_t{1} << 20;

/// Appends the head of a CBOR item in its shortest form.
void put_head(int major, std::uint64_t value, std::vector<std::uint8_t>& to) {
  const int size = value < 24 ? 0 : value <= UINT8_MAX ? 1 : value <= UINT16_MAX ? 2 : value <= UINT32_MAX ? 4 : 8;
  const auto info = size == 0 ? value : static_cast<std::uint64_t>(24 + std::countr_zero(static_cast<unsigned>(size)));
  to.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(major) << 5 | info));
  for (int k = size; k-- > 0;) to.push_back(static_cast<std::uint8_t>(value >> (8 * k)));
}

}  // namespace

std::vector<std::uint8_t> encode_chunk(const Total& t, const ChunkOrigin& origin) {
  json sums = json::array();
  for (const study::ExactSum& sum : t.exact) sums.push_back(sum.words());
  json buckets = json::array();
  for (int k = 0; k < t.buckets.numbers(); ++k) buckets.push_back(t.buckets.runs(k));
  std::vector<double> curve;
  for (const auto& [point, index_range] : t.curve) curve.insert(curve.end(), index_range.begin(), index_range.end());
  json j = {{"scenario", origin.scenario},
            {"layout", origin.layout},
            {"garra", origin.program},
            {"first", t.first},
            {"count", t.count},
            {"counts", t.counts},
            {"sums", std::move(sums)},
            {"buckets", std::move(buckets)},
            {"curve", to_binary(curve)},
            {"closest", to_json(t.closest)},
            {"worst", to_json(t.worst)},
            {"kept", nullptr}};
  for (const study::Ranking& ranking : t.groups) j["groups"].push_back(to_json(ranking));
  if (!t.least.empty()) j["least"] = to_binary(t.least);
  // CBOR, not JSON: doubles come back to the bit. The rows bypass nlohmann's writer, which would copy them.
  const auto rows = std::as_bytes(std::span(t.kept));
  std::vector<std::uint8_t> bytes;
  bytes.reserve(rows.size() + kOtherBytes);
  put_head(5, j.size(), bytes);
  for (const auto& [key, value] : j.items()) {
    json::to_cbor(key, bytes);
    if (!value.is_null()) {
      json::to_cbor(value, bytes);
      continue;
    }
    put_head(2, rows.size(), bytes);
    const auto* const first = reinterpret_cast<const std::uint8_t*>(rows.data());
    bytes.insert(bytes.end(), first, first + rows.size());
  }
  const std::uint32_t sum = crc(bytes.data(), bytes.size());
  for (std::size_t k = 0; k < kCrc; ++k) bytes.push_back(static_cast<std::uint8_t>(sum >> (8 * k)));
  return bytes;
}

DecodedChunk decode_chunk(const std::string& bytes, const ChunkOrigin& origin, const ChunkRules& rules) {
  try {
    const auto outline = read_outline(bytes);
    if (!outline) return {};
    const json document = json::from_cbor(outline->bytes, true, false);
    if (!document.is_object()) return {};
    // Foreign differs from damaged: a newer scenario explains it, not a bad disk.
    if (!has_origin(document, origin)) return {ChunkState::kForeign, {}};
    return {ChunkState::kSound, Reader(document, outline->leaves, rules).chunk()};
  } catch (const json::exception&) {
    return {};
  } catch (const Unsound&) {
    return {};
  }
}

}  // namespace garra::io
