// grasp::propose: draws samples, keeps those with force closure, and makes a set of them.
#include <algorithm>
#include <cmath>

#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"
#include "garra/wrench_balance.hpp"
#include "grasp/propose/sample.hpp"
#include "grasp/set/input.hpp"

namespace garra::grasp {

namespace {

constexpr std::int64_t kMaxGrasps = 100'000'000;  ///< far more than fit into memory
constexpr int kMaxFingers = contact::kMaxOwnSize;
/// Samples per round: enough for the threads, few enough that the last round wastes little.
constexpr std::int64_t kFirstRound = 1024, kMaxRound = 1 << 16;

// --- options
// ----------------------------------------------------------------------------------------------------------

void require(bool holds, const std::string& problem, const std::string& remedy = {}) {
  if (!holds) throw Error(ExitCode::kUsage, problem, remedy);
}
void require_number(const char* name, double value, bool holds) {
  require(holds, std::string(name) + " = " + std::to_string(value) + " is out of range");
}

void check_options(const ProposeOptions& o) {
  require(o.fingers >= 2 && o.fingers <= kMaxFingers, "fingers = " + std::to_string(o.fingers), "2 to 8 are possible.");
  require(o.count >= 1 && o.count <= kMaxGrasps, "count = " + std::to_string(o.count), "1 to 1e8 are possible.");
  require(o.max_samples >= 0, "max_samples = " + std::to_string(o.max_samples), "At least 1, or 0 for many.");
  require_number("friction", o.friction, o.friction > 0 && o.friction <= kMaxFriction);
  require_number("mass", o.mass, o.mass >= 0 && std::isfinite(o.mass));
  require_number("density", o.density, o.density > 0 && std::isfinite(o.density));
  require_number("force_limit", o.force_limit, o.force_limit > 0);
  require_number("torsion_radius", o.torsion_radius, o.torsion_radius >= 0 && o.torsion_radius <= kMaxReach);
  require(o.torsion_radius == 0 || o.pad_radius == 0, "torsion_radius and pad_radius together",
          "A finger is one soft contact, or a pad of several points.");
  require_number("max_opening", o.max_opening, o.max_opening > 0);
  require_number("pad_radius", o.pad_radius, o.pad_radius >= 0 && std::isfinite(o.pad_radius));
  require_number("finger_radius", o.finger_radius, o.finger_radius >= 0 && std::isfinite(o.finger_radius));
  require_number("clearance", o.clearance, o.clearance >= 0 && std::isfinite(o.clearance));
  for (const double x : o.approach.m) require_number("approach", x, std::isfinite(x));
  require_number("floor", o.floor, o.floor < std::numeric_limits<double>::infinity());
}

// --- closing
// ----------------------------------------------------------------------------------------------------------

/// Wrench problems that test samples for force closure. k contacts have force closure if forces strictly inside all
/// cones balance one another (Murray, Li, Sastry, A Mathematical Introduction to Robotic Manipulation, 1994,
/// proposition 5.3). With unit normal forces e and forces c' of the cones this is sum W (e + c') = 0, so one wrench is
/// tested, that of the unit normal forces.
class ClosingProblems {
 public:
  ClosingProblems(int fingers, double friction, std::size_t count)
      : k_(static_cast<std::size_t>(fingers)), W_(count * 18 * k_), w_(count * 6), mu_(count * k_, friction) {}

  void set(std::size_t number, const ContactSample& s) {
    const Vec3<double> middle = compute_centroid(s);
    const double length = contact_extent(s, middle);
    const std::size_t columns = 3 * k_, at = number * 6 * columns;
    double* sum = w_.data() + 6 * number;
    for (std::size_t j = 0; j < k_; ++j) {
      const mesh::Place& p = s.place[j];
      const Vec3<double> n = -p.normal, axes[3] = {n, p.tangent, cross(n, p.tangent)};
      for (std::size_t c = 0; c < 3; ++c) {
        const Vec3<double> moment = cross(p.point - middle, axes[c]);
        for (int r = 0; r < 3; ++r) {
          const auto row = static_cast<std::size_t>(r);
          W_[at + row * columns + 3 * j + c] = axes[c][r];
          W_[at + (row + 3) * columns + 3 * j + c] = moment[r] / length;
          if (c == 0) sum[r] += axes[c][r];
          if (c == 0) sum[r + 3] += moment[r] / length;
        }
      }
    }
  }
  [[nodiscard]] std::vector<contact::ResistanceStatus> solve_balances(const Device& device) const {
    const auto count = static_cast<std::int64_t>(mu_.size() / k_);
    if (count == 0) return {};
    return contact::balance({static_cast<int>(k_), count, W_, w_, mu_}, device).decision;
  }

 private:
  [[nodiscard]] Vec3<double> compute_centroid(const ContactSample& s) const {
    Vec3<double> sum = Vec3<double>::zero();
    for (std::size_t j = 0; j < k_; ++j) sum += s.place[j].point;
    return (1 / static_cast<double>(k_)) * sum;
  }
  [[nodiscard]] double contact_extent(const ContactSample& s, const Vec3<double>& middle) const {
    double squares = 0;
    for (std::size_t j = 0; j < k_; ++j) squares += dot(s.place[j].point - middle, s.place[j].point - middle);
    return squares > 0 ? std::sqrt(squares / static_cast<double>(k_)) : 1;
  }

  std::size_t k_;
  std::vector<double> W_, w_, mu_;
};

/// Tests the samples that passed the geometric checks for force closure.
void keep_closing(const ProposeOptions& o, const Device& device, std::vector<ContactSample>& samples) {
  if (o.fingers == 2) return;  // draw_pair() has tested the cones
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i].rejection == RejectionReason::kAccepted) left.push_back(i);
  ClosingProblems problems(o.fingers, o.friction, left.size());
  batch::for_blocks(study_threads(device), {std::ssize(left), 256}, [&](std::int64_t first, std::int64_t count) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(first + count); ++i)
      problems.set(i, samples[left[i]]);
  });
  const auto decisions = problems.solve_balances(device);
  for (std::size_t i = 0; i < left.size(); ++i) {
    RejectionReason& rejection = samples[left[i]].rejection;
    if (decisions[i] == contact::ResistanceStatus::kImpossible) rejection = RejectionReason::kOpen;
    if (decisions[i] == contact::ResistanceStatus::kUndecided) rejection = RejectionReason::kUndecided;
  }
}

/// Rejects samples whose fingers collide or have no space.
void keep_free(const Sampler& sampler, int threads, std::vector<ContactSample>& samples) {
  batch::for_blocks(threads, {std::ssize(samples), 64}, [&](std::int64_t first, std::int64_t count) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(first + count); ++i)
      if (samples[i].rejection == RejectionReason::kAccepted) samples[i].rejection = sampler.room(samples[i]);
  });
}

// --- the set
// ----------------------------------------------------------------------------------------------------------

void append_contact(const mesh::Place& p, GraspSet& set) {
  const auto put = [](std::vector<double>& to, const Vec3<double>& v) { to.insert(to.end(), v.m, v.m + 3); };
  put(set.point, p.point);
  put(set.normal, -p.normal);
  put(set.tangent, p.tangent);
  set.curvature.insert(set.curvature.end(), p.curvature.begin(), p.curvature.end());
}

void append_contact(const ContactSample& s, const Sampler& sampler, const ProposeOptions& o, GraspSet& set) {
  std::array<mesh::Place, kPadContacts> pad;
  for (std::size_t j = 0; j < static_cast<std::size_t>(o.fingers); ++j) {
    if (o.pad_radius > 0 && sampler.pad_of(s.place[j], pad))
      for (const mesh::Place& p : pad) append_contact(p, set);
    else
      append_contact(s.place[j], set);
  }
  set.first.push_back(std::ssize(set.point) / 3);
}

/// Sets the data that all grasps have in common.
void finish(const ProposeOptions& o, Proposal& out) {
  GraspSet& set = out.set;
  const auto contacts = static_cast<std::size_t>(set.first.back()), grasps = out.sample.size();
  set.friction.assign(contacts, o.friction);
  if (std::isfinite(o.force_limit))
    set.force_limit.assign(contacts, o.force_limit / (o.pad_radius > 0 ? kPadContacts : 1));
  if (o.torsion_radius > 0) set.torsion_radius.assign(contacts, o.torsion_radius);
  set.mass.assign(grasps, out.body.mass);
  for (std::size_t g = 0; g < grasps; ++g) {
    set.com.insert(set.com.end(), out.body.com.m, out.body.com.m + 3);
    set.inertia.insert(set.inertia.end(), out.body.inertia.m, out.body.inertia.m + 9);
  }
}

/// Stores the object if needed: without it, grasps from within would be taken for outward normals.
void keep_object(const mesh::Surface& object, GraspSet& set) {
  for (std::int64_t g = 0; g < set.count(); ++g)
    if (GraspReader(set, Hand::kIdeal, g).status(false) == GraspStatus::kOutwardNormals) {
      set.object = mesh::make_surface(object.picture(), object.encloses());
      return;
    }
}

[[noreturn]] void found_none(const Proposal& p) {
  const char* const remedies[kRejectionReasons] = {
      "",
      "The mesh may have holes, or its faces look inwards.",
      "Raise friction: no two sides face each other closely enough.",
      "Raise max_opening: the object is too large for this hand.",
      "Lower finger_radius: the fingertips do not find room beside each other.",
      "Lower finger_radius, clearance or floor, or take another approach: the object is in the way.",
      "Raise friction or the number of fingers.",
      "Raise friction: the grasps are all at the limit.",
      "Lower pad_radius: the object has no place as flat and as large."};
  const auto worst =
      static_cast<std::size_t>(std::max_element(p.rejection.begin() + 1, p.rejection.end()) - p.rejection.begin());
  std::string why;
  const auto names = names_of(RejectionReason{});
  for (std::size_t k = 1; k < kRejectionReasons; ++k)
    if (p.rejection[k] > 0) why += (why.empty() ? "" : ", ") + std::to_string(p.rejection[k]) + " " + names[k];
  throw Error(ExitCode::kUsage, "no grasp among " + std::to_string(p.samples) + " samples: " + why, remedies[worst]);
}

/// Draws all samples of the vector, from number `first` on.
void draw_all(const Sampler& sampler, std::int64_t first, int threads, std::vector<ContactSample>& samples) {
  batch::for_blocks(threads, {std::ssize(samples), 64}, [&](std::int64_t at, std::int64_t n) {
    for (std::int64_t i = at; i < at + n; ++i) sampler.draw(first + i, samples[static_cast<std::size_t>(i)]);
  });
}

}  // namespace

Proposal propose(const mesh::Surface& object, const ProposeOptions& o, const Device& device,
                 const ProposeProgress& progress) {
  check_options(o);
  Proposal out;
  out.set.first = {0};
  out.body = mesh::weigh(object, o.mass, o.density);
  const Sampler sampler(object, o);
  // If a million samples find nothing, more would not help.
  const auto most = [&] {
    if (o.max_samples > 0) return o.max_samples;
    return 1'000'000 + (out.sample.empty() ? 0 : 1000 * o.count);
  };
  // Samples are drawn on the host, even if a GPU tests their forces.
  const int threads = study_threads(device);
  std::vector<ContactSample> samples;
  for (std::int64_t round = kFirstRound; out.samples < most() && std::ssize(out.sample) < o.count;
       round = std::min(2 * round, kMaxRound)) {
    samples.resize(static_cast<std::size_t>(std::min(round, most() - out.samples)));
    draw_all(sampler, out.samples, threads, samples);
    keep_closing(o, device, samples);
    keep_free(sampler, threads, samples);
    for (const ContactSample& s : samples) {
      ++out.rejection[static_cast<std::size_t>(s.rejection)];
      if (s.rejection == RejectionReason::kAccepted) {
        append_contact(s, sampler, o, out.set);
        out.sample.push_back(out.samples);
      }
      ++out.samples;
      if (std::ssize(out.sample) == o.count) break;
    }
    if (progress) progress(std::ssize(out.sample), out.samples);
  }
  if (out.sample.empty()) found_none(out);
  finish(o, out);
  keep_object(object, out.set);
  return out;
}

}  // namespace garra::grasp
