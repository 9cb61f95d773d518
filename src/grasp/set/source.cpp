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

using Array = std::vector<double> Set::*;
constexpr Array kOfContacts[] = {&Set::point,     &Set::normal,          &Set::tangent,        &Set::friction,
                                 &Set::curvature, &Set::force_limit,     &Set::torsion_radius, &Set::force,
                                 &Set::torsion,   &Set::drift,           &Set::mobility,       &Set::angular_mobility,
                                 &Set::jacobian,  &Set::angular_jacobian};
constexpr Array kOfGrasps[] = {&Set::mass,        &Set::com,    &Set::inertia, &Set::gravity,     &Set::wrench,
                               &Set::mass_matrix, &Set::torque, &Set::bias,    &Set::torque_limit};
constexpr Array kOfHands[] = {&Set::mass_matrix, &Set::torque, &Set::bias, &Set::torque_limit};

static_assert(sizeof(Set) == (1 + std::size(kOfContacts) + std::size(kOfGrasps)) * sizeof(std::vector<double>) +
                                 sizeof(std::shared_ptr<const mesh::Surface>),
              "an array of sets is missing in these lists");

/// Rows first .. first + count - 1 of `all`.
std::vector<double> slice_rows(const std::vector<double>& numbers, std::int64_t all, std::int64_t first,
                               std::int64_t count) {
  if (numbers.empty() || all == 0) return {};
  const std::int64_t width = std::ssize(numbers) / all;
  return {numbers.begin() + first * width, numbers.begin() + (first + count) * width};
}

}  // namespace

Set SetInMemory::read(std::int64_t first, std::int64_t count) const {
  Set out;
  const auto begin = set_.first.begin() + first;
  const std::int64_t row = *begin, rows = *(begin + count) - row;
  out.first.assign(begin, begin + count + 1);
  for (std::int64_t& at : out.first) at -= row;
  for (const Array array : kOfContacts) out.*array = slice_rows(set_.*array, set_.first.back(), row, rows);
  for (const Array array : kOfGrasps) out.*array = slice_rows(set_.*array, set_.count(), first, count);
  out.object = set_.object;
  // Without a jacobian the number of joints would be unknown.
  if (rows == 0)
    for (const Array array : kOfHands) (out.*array).clear();
  return out;
}

CheckedSet::CheckedSet(const SetSource& source, const SetStudy& study)
    : source_(source), study_(study), hand_(study.hand) {
  // Grasps with contacts show which arrays exist.
  constexpr std::int64_t kAtOnce = 64;
  std::int64_t first = 0, count = 0;
  Set some;
  do {
    first += count;
    count = std::min(kAtOnce, source.count() - first);
    some = source.read(first, count);
  } while (some.first.back() == 0 && first + count < source.count());
  check_input(some, study);
  hand_ = choose_hand(some, study.hand);
}

Set CheckedSet::read(std::int64_t first, std::int64_t count) const {
  Set set = source_.read(first, count);
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
