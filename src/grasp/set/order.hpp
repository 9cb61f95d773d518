// Sorts more grasps than fit into memory: in pieces that are written to scratch and merged (D. E. Knuth, The Art of
// Computer Programming 3, 5.4). Their places are then brought back into the order of the set.
#pragma once

#include <vector>

#include "grasp/set/compare.hpp"
#include "study/scratch.hpp"

namespace garra::grasp {

/// Sorter of rank keys in bounded memory.
class RankOrder {
 public:
  /// Grasps are numbered from 0 to `grasps` - 1. `memory`: bytes, about; the excess goes into `scratch`, which must
  /// outlive this object and is not used if all fits.
  RankOrder(std::int64_t grasps, std::size_t memory, study::Scratch& scratch);

  /// Adds a grasp to be ranked; once each, in any order.
  void add(const RankKey& key);
  /// Sorts, once all grasps were added.
  void sort();
  /// The place of a grasp, from 1; 0 if it was not added. Grasps must be asked in ascending order.
  [[nodiscard]] std::int64_t find_rank(std::int64_t grasp);

 private:
  struct Placed {
    std::int64_t grasp, rank;
  };
  class Piece;
  /// Consecutive grasps whose ranks are in memory together.
  struct Bucket {
    std::uint64_t count = 0;     ///< of those put aside
    std::vector<Placed> newest;  ///< not put aside yet
  };

  void put_piece_aside();
  template <class Hear>
  void merge(const Hear& hear);
  void place(std::int64_t grasp, std::int64_t rank);
  void put_aside(std::size_t bucket);
  void load(std::size_t bucket);

  std::size_t memory_;
  study::Scratch& scratch_;
  std::uint64_t end_ = 0;              ///< of the pieces in scratch_; the buckets' places follow
  std::vector<RankKey> keys_;          ///< the newest piece
  std::vector<std::uint64_t> pieces_;  ///< ends of the other pieces in scratch_
  std::int64_t bucket_size_;           ///< grasps
  std::vector<Bucket> buckets_;
  std::size_t loaded_ = 0;  ///< the bucket whose ranks are in rank_
  std::vector<std::int64_t> rank_;
};

}  // namespace garra::grasp
