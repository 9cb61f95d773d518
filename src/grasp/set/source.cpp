#include "grasp/set/source.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "garra/core/error.hpp"
#include "grasp/set/input.hpp"
#include "grasp/set/pack_hand.hpp"

namespace garra::grasp {

namespace {

static_assert(sizeof(GraspSet) == (1 + std::size(kGraspSetArrays)) * sizeof(std::vector<double>) +
                                      sizeof(std::shared_ptr<const mesh::Surface>),
              "an array of sets is missing in the table");

/// Rows first .. first + count - 1 of `all`.
std::vector<double> slice_rows(const std::vector<double>& numbers, std::int64_t all, std::int64_t first,
                               std::int64_t count) {
  if (numbers.empty() || all == 0) return {};
  const std::int64_t width = std::ssize(numbers) / all;
  return {numbers.begin() + first * width, numbers.begin() + (first + count) * width};
}

}  // namespace

GraspSet SetInMemory::read(std::int64_t first, std::int64_t count) const {
  GraspSet out;
  const auto begin = set_.first.begin() + first;
  const std::int64_t row = *begin, rows = *(begin + count) - row;
  out.first.assign(begin, begin + count + 1);
  for (std::int64_t& at : out.first) at -= row;
  for (const GraspSetArray& a : kGraspSetArrays) {
    // Without a jacobian the number of joints would be unknown.
    if (a.has_joints() && rows == 0) continue;
    out.*a.values = a.per_contact ? slice_rows(set_.*a.values, set_.first.back(), row, rows)
                                  : slice_rows(set_.*a.values, set_.count(), first, count);
  }
  out.object = set_.object;
  return out;
}

CheckedSet::CheckedSet(const SetSource& source, const SetStudy& study)
    : source_(source), study_(study), hand_(study.hand) {
  // Grasps with contacts show which arrays exist.
  constexpr std::int64_t kAtOnce = 64;
  std::int64_t first = 0, count = 0;
  GraspSet some;
  do {
    first += count;
    count = std::min(kAtOnce, source.count() - first);
    some = source.read(first, count);
  } while (some.first.back() == 0 && first + count < source.count());
  check_input(some, study);
  hand_ = choose_hand(some, study.hand);
  if (hand_ == Hand::kIdeal && study.method != "auto")
    throw Error(ExitCode::kUsage, "method = \"" + study.method + "\": the hand is ideal and solves no contact problem",
                "leave the method out, or give the set a hand with a command");
  if (some.load_case.empty()) return;
  const std::vector<double> head = source.read(0, std::min(kMaxLoadCases + 1, source.count())).load_case;
  load_cases_ = std::find(head.begin() + 1, head.end(), 0.0) - head.begin();
}

GraspSet CheckedSet::read(std::int64_t first, std::int64_t count) const {
  GraspSet set = source_.read(first, count);
  if (set.force_limit.empty() && std::isfinite(study_.force_limit))
    set.force_limit.assign(static_cast<std::size_t>(set.first.back()), study_.force_limit);
  try {
    check_input(set, study_);
    (void)choose_hand(set, hand_);
  } catch (const Error& error) {
    if (first == 0) throw;
    throw Error(error.code(), "grasps from " + std::to_string(first) + " on, rows counted from there: " + error.what());
  }
  return set;
}

}  // namespace garra::grasp
