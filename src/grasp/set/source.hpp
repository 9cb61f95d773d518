// Sets stretch by stretch: out of memory, and checked as they come.
#pragma once

#include "garra/grasp_set.hpp"

namespace garra::grasp {

/// A set in memory.
class SetInMemory final : public SetSource {
 public:
  /// The set stays as long.
  explicit SetInMemory(const Set& set) : set_(set) {}
  [[nodiscard]] std::int64_t count() const override { return set_.count(); }
  [[nodiscard]] Set read(std::int64_t first, std::int64_t count) const override;

 private:
  const Set& set_;
};

/// A source whose arrays are checked: that there is something to hold and a hand to hold it, and the sizes of what is
/// read.
class CheckedSet {
 public:
  /// Source and study stay as long. Throws Error as rank() does.
  CheckedSet(const SetSource& source, const SetStudy& study);

  [[nodiscard]] std::int64_t count() const { return source_.count(); }
  [[nodiscard]] const SetStudy& study() const { return study_; }
  [[nodiscard]] Hand hand() const { return hand_; }
  /// Grasps first ... Throws Error(kInvalidFile), which says where they lie.
  [[nodiscard]] Set read(std::int64_t first, std::int64_t count) const;

 private:
  const SetSource& source_;
  const SetStudy& study_;
  Hand hand_;
};

}  // namespace garra::grasp
