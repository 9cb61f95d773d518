#include "grasp/propose/sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "garra/core/elementary.hpp"

namespace garra::grasp {

namespace {

/// Offset at which a ray from the surface begins, relative to the point's coordinates.
constexpr double kSkin = 1e-9;
constexpr double kBeside = 1e-5;  ///< [m]
/// Ways out of the object along one line that a pair is drawn from.
constexpr std::size_t kMostExits = 8;
/// Depth that a fingertip may reach into the object, relative to its radius, because of the facets of a round hollow.
constexpr double kDent = 0.02;
/// Separates the random numbers from those of a ranking with the same seed.
constexpr std::uint64_t kOwnSeed = 0x70726f706f736521u;

Vec3<double> tip(const mesh::Place& p, double radius) { return axpy(radius, p.normal, p.point); }

/// Draws uniformly among the directions whose angle with `axis` has at least this cosine.
Vec3<double> in_cone(const Vec3<double>& axis, const Vec3<double>& across, double least_cosine, mesh::Draws& draws) {
  const double c = 1 - draws.next() * (1 - least_cosine);
  const double s = std::sqrt(std::max(0.0, 1 - c * c));
  const auto turn = sincos(2 * M_PI * draws.next());
  return axpy(s * turn.cos, across, axpy(s * turn.sin, cross(axis, across), c * axis));
}

}  // namespace

Sampler::Sampler(const mesh::Surface& object, const ProposeOptions& options)
    : object_(object), options_(options), cone_cosine_(1 / std::sqrt(1 + options.friction * options.friction)) {
  const double length = norm(options.approach);
  if (length > 0) back_ = (-1 / length) * options.approach;
}

void Sampler::draw(std::int64_t number, ContactSample& out) const {
  mesh::Draws draws(options_.seed ^ kOwnSeed, static_cast<std::uint64_t>(number));
  if (options_.fingers == 2) {
    out.rejection = draw_pair(draws, out);
    if (out.rejection != RejectionReason::kAccepted) return;
  } else {
    for (int j = 0; j < options_.fingers; ++j) out.place[static_cast<std::size_t>(j)] = object_.draw(draws);
  }
  out.rejection = RejectionReason::kAccepted;
  if (too_wide(out))
    out.rejection = RejectionReason::kTooWide;
  else if (fingers_meet(out))
    out.rejection = RejectionReason::kFingersMeet;
}

RejectionReason Sampler::room(const ContactSample& s) const {
  const auto first = s.place.begin(), last = first + options_.fingers;
  if (std::any_of(first, last, [&](const mesh::Place& p) { return off_pad(p); })) return RejectionReason::kOffPad;
  if (std::any_of(first, last, [&](const mesh::Place& p) { return blocked(p); })) return RejectionReason::kBlocked;
  return RejectionReason::kAccepted;
}

bool Sampler::pad_of(const mesh::Place& place, std::array<mesh::Place, kPadContacts>& out) const {
  const double r = options_.pad_radius;
  for (int k = 0; k < kPadContacts; ++k) {
    const auto turn = sincos(2 * M_PI * k / kPadContacts);
    const Vec3<double> way = axpy(turn.cos, place.tangent, turn.sin * cross(place.normal, place.tangent));
    // The surface under the pad, seen from above it.
    const Vec3<double> above = axpy(r, way, axpy(r, place.normal, place.point));
    const auto at = object_.hit({above, -place.normal, r / 2, 3 * r / 2}, mesh::Crossing::kInto);
    if (!at || dot(at->place.normal, place.normal) < sincos(kPadLean).cos) return false;
    // The pad is flat: its points have one normal.
    mesh::Place& point = out[static_cast<std::size_t>(k)];
    point = at->place;
    point.normal = place.normal;
    point.tangent = place.tangent;
  }
  return true;
}

bool Sampler::off_pad(const mesh::Place& place) const {
  std::array<mesh::Place, kPadContacts> contacts;
  return options_.pad_radius > 0 && !pad_of(place, contacts);
}

/// Draws a pair with force closure: two point contacts with friction close if the line between them lies inside both
/// friction cones (V.-D. Nguyen, "Constructing force-closure grasps", IJRR 7(3), 1988). As in Dex-Net 2.0 (Mahler et
/// al., RSS 2017): a point, a direction in its cone, and the opposite point.
RejectionReason Sampler::draw_pair(mesh::Draws& draws, ContactSample& out) const {
  out.place[0] = object_.draw(draws);
  const mesh::Place& first = out.place[0];
  const Vec3<double> along = in_cone(-first.normal, first.tangent, cone_cosine_, draws);
  const double size = std::max({std::abs(first.point[0]), std::abs(first.point[1]), std::abs(first.point[2]), 1e-3});
  // Of a hollow object there are several: the wall is grasped, or the object across its hollow.
  std::array<mesh::Place, kMostExits> exits;
  std::size_t count = 0;
  mesh::Ray ray{first.point, along, kSkin * size};
  while (count < kMostExits) {
    const auto hit = object_.hit(ray, mesh::Crossing::kOutOf);
    if (!hit) break;
    exits[count++] = hit->place;
    ray.least = hit->distance + kSkin * size;
    ray.most = options_.max_opening;  // the first exit may be farther: it is counted as too wide
  }
  if (count == 0) return RejectionReason::kMissed;
  out.place[1] = exits[count > 1 ? static_cast<std::size_t>(static_cast<double>(count) * draws.next()) : 0];
  return dot(along, out.place[1].normal) >= cone_cosine_ ? RejectionReason::kAccepted : RejectionReason::kOutsideCone;
}

bool Sampler::too_wide(const ContactSample& s) const {
  const auto fingers = static_cast<std::size_t>(options_.fingers);
  for (std::size_t i = 0; i < fingers; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (norm(s.place[i].point - s.place[j].point) > options_.max_opening) return true;
  return false;
}

bool Sampler::fingers_meet(const ContactSample& s) const {
  const double r = options_.finger_radius;
  if (!(r > 0)) return false;
  const auto fingers = static_cast<std::size_t>(options_.fingers);
  for (std::size_t i = 0; i < fingers; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (norm(tip(s.place[i], r) - tip(s.place[j], r)) < 2 * r) return true;
  return false;
}

bool Sampler::blocked(const mesh::Place& p) const {
  const double r = options_.finger_radius;
  if (tip(p, r)[2] - r < options_.floor) return true;
  if (r > 0 && object_.is_within(tip(p, r), r * (1 - kDent))) return true;
  const double out = options_.clearance;
  if (out > 0 && object_.hit({p.point, p.normal, 1e-6 * out, out}, mesh::Crossing::kInto)) return true;
  // A fingertip of radius 0 begins beside the surface, so that a wall along its way does not contain it.
  return norm(back_) > 0 && object_.hit({tip(p, std::max(r, kBeside)), back_}, mesh::Crossing::kInto).has_value();
}

}  // namespace garra::grasp
