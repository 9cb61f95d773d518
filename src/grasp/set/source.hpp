// Reads sets range by range, from memory or a file, and checks them while reading.
#pragma once

#include "garra/grasp_set.hpp"

namespace garra::grasp {

/// A set in memory.
class SetInMemory final : public SetSource {
 public:
  /// The set must outlive this object.
  explicit SetInMemory(const GraspSet& set) : set_(set) {}
  [[nodiscard]] std::int64_t count() const override { return set_.count(); }
  [[nodiscard]] GraspSet read(std::int64_t first, std::int64_t count) const override;

 private:
  const GraspSet& set_;
};

/// A source whose arrays are checked: there are grasps, a hand to hold them, and matching sizes in each range.
class CheckedSet {
 public:
  /// Source and study must outlive this object. Throws Error as rank() does.
  CheckedSet(const SetSource& source, const SetStudy& study);

  [[nodiscard]] std::int64_t count() const { return source_.count(); }
  [[nodiscard]] const SetStudy& study() const { return study_; }
  [[nodiscard]] Hand hand() const { return hand_; }
  /// Load cases of each grasp.
  [[nodiscard]] std::int64_t load_cases() const { return load_cases_; }
  /// Reads `count` grasps from `first` on. Throws Error(kInvalidFile), which names their range.
  [[nodiscard]] GraspSet read(std::int64_t first, std::int64_t count) const;

 private:
  const SetSource& source_;
  const SetStudy& study_;
  Hand hand_;
  std::int64_t load_cases_ = 1;
};

}  // namespace garra::grasp
