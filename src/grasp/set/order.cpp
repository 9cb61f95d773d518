#include "grasp/set/order.hpp"

#include <algorithm>
#include <queue>

namespace garra::grasp {

namespace {

constexpr std::size_t kMin = 16;  ///< least number of keys or places read or written at once, for any memory

}  // namespace

/// A sorted piece in scratch, read from front to back.
class RankOrder::Piece {
 public:
  Piece(study::Scratch& scratch, std::uint64_t begin, std::uint64_t end, std::size_t at_once)
      : scratch_(scratch), at_(begin), end_(end), some_(0, RankKey{}), at_once_(at_once) {
    read();
  }
  [[nodiscard]] const RankKey& key() const { return some_[next_]; }
  /// Advances; returns whether there is another key.
  [[nodiscard]] bool advance() { return ++next_ < some_.size() || read(); }

 private:
  bool read() {
    const std::uint64_t left = (end_ - at_) / sizeof(RankKey);
    some_.resize(std::min<std::uint64_t>(at_once_, left));
    if (some_.empty()) return false;
    const auto bytes = std::as_writable_bytes(std::span(some_));
    scratch_.read_at(at_, bytes);
    at_ += bytes.size();
    next_ = 0;
    return true;
  }

  study::Scratch& scratch_;
  std::uint64_t at_, end_;
  std::vector<RankKey> some_;
  std::size_t at_once_, next_ = 0;
};

RankOrder::RankOrder(std::int64_t grasps, std::size_t memory, study::Scratch& scratch)
    : memory_(memory), scratch_(scratch) {
  const auto room = static_cast<std::int64_t>(memory / (2 * sizeof(std::int64_t)));
  bucket_size_ = std::clamp<std::int64_t>(grasps, 1, std::max<std::int64_t>(room, kMin));
  buckets_.resize(static_cast<std::size_t>((grasps + bucket_size_ - 1) / bucket_size_));
}

void RankOrder::add(const RankKey& key) {
  if (keys_.size() >= std::max(memory_ / sizeof(RankKey), kMin)) put_piece_aside();
  if (keys_.size() == keys_.capacity())  // doubled, but never beyond the memory limit
    keys_.reserve(std::min(std::max(2 * keys_.size(), kMin), std::max(memory_ / sizeof(RankKey), kMin)));
  keys_.push_back(key);
}

void RankOrder::put_piece_aside() {
  std::sort(keys_.begin(), keys_.end());
  const auto bytes = std::as_bytes(std::span(keys_));
  scratch_.write_at(end_, bytes);
  end_ += bytes.size();
  pieces_.push_back(end_);
  keys_.clear();
}

void RankOrder::sort() {
  std::int64_t rank = 0;
  const auto hear = [&](const RankKey& key) { place(key.grasp, ++rank); };
  if (buckets_.size() == 1) rank_.assign(static_cast<std::size_t>(bucket_size_), 0);
  if (pieces_.empty()) {
    std::sort(keys_.begin(), keys_.end());
    std::for_each(keys_.begin(), keys_.end(), hear);
  } else {
    put_piece_aside();
    std::vector<RankKey>().swap(keys_);
    merge(hear);
  }
  std::vector<RankKey>().swap(keys_);
  for (std::size_t b = 0; b < buckets_.size() && buckets_.size() > 1; ++b) {
    put_aside(b);
    std::vector<Placed>().swap(buckets_[b].newest);
  }
  if (buckets_.size() > 1) load(0);
}

template <class Hear>
void RankOrder::merge(const Hear& hear) {
  std::vector<Piece> pieces;
  const std::size_t at_once = std::max(memory_ / 2 / sizeof(RankKey) / pieces_.size(), kMin);
  for (std::size_t k = 0; k < pieces_.size(); ++k)
    pieces.emplace_back(scratch_, k == 0 ? 0 : pieces_[k - 1], pieces_[k], at_once);
  const auto later = [&](std::size_t a, std::size_t b) { return pieces[b].key() < pieces[a].key(); };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> next(later);
  for (std::size_t k = 0; k < pieces.size(); ++k) next.push(k);
  while (!next.empty()) {
    const std::size_t first = next.top();
    next.pop();
    hear(pieces[first].key());
    if (pieces[first].advance()) next.push(first);
  }
}

void RankOrder::place(std::int64_t grasp, std::int64_t rank) {
  if (buckets_.size() == 1) {
    rank_[static_cast<std::size_t>(grasp)] = rank;
    return;
  }
  const auto b = static_cast<std::size_t>(grasp / bucket_size_);
  std::vector<Placed>& newest = buckets_[b].newest;
  newest.push_back({grasp, rank});
  if (newest.size() >= std::max(memory_ / 4 / sizeof(Placed) / buckets_.size(), kMin)) put_aside(b);
}

/// Each bucket has space for all of its grasps.
void RankOrder::put_aside(std::size_t b) {
  Bucket& bucket = buckets_[b];
  const std::uint64_t begin = static_cast<std::uint64_t>(bucket_size_) * b + bucket.count;
  scratch_.write_at(end_ + sizeof(Placed) * begin, std::as_bytes(std::span(bucket.newest)));
  bucket.count += bucket.newest.size();
  bucket.newest.clear();
}

void RankOrder::load(std::size_t b) {
  loaded_ = b;
  rank_.assign(static_cast<std::size_t>(bucket_size_), 0);
  std::vector<Placed> some;
  const std::size_t at_once = std::max(memory_ / 4 / sizeof(Placed), kMin);
  const std::uint64_t begin = static_cast<std::uint64_t>(bucket_size_) * b;
  for (std::uint64_t k = 0; k < buckets_[b].count; k += some.size()) {
    some.resize(std::min<std::uint64_t>(at_once, buckets_[b].count - k));
    scratch_.read_at(end_ + sizeof(Placed) * (begin + k), std::as_writable_bytes(std::span(some)));
    for (const Placed& p : some) rank_[static_cast<std::size_t>(p.grasp % bucket_size_)] = p.rank;
  }
}

std::int64_t RankOrder::find_rank(std::int64_t grasp) {
  const auto b = static_cast<std::size_t>(grasp / bucket_size_);
  if (b != loaded_) load(b);
  return rank_[static_cast<std::size_t>(grasp % bucket_size_)];
}

}  // namespace garra::grasp
