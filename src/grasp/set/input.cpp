// Checks a set and reads its grasps one by one.
#include "grasp/set/input.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "contact/balance/copies.hpp"
#include "garra/contact.hpp"
#include "garra/core/error.hpp"
#include "garra/mesh.hpp"
#include "grasp/set/pack_hand.hpp"
#include "grasp/study/setup_parts.hpp"

namespace garra::grasp {

namespace {

using study::Distribution;

// --- sizes ----------------------------------------------------------------------------------------------------------

void check_first(const std::vector<std::int64_t>& first) {
  if (first.empty())
    throw Error(ExitCode::kInvalidFile, "first is empty", "It has a number for each grasp and one more.");
  if (first[0] != 0) throw Error(ExitCode::kInvalidFile, "first[0] = " + std::to_string(first[0]) + ", not 0");
  for (std::size_t g = 1; g < first.size(); ++g)
    if (first[g] < first[g - 1])
      throw Error(ExitCode::kInvalidFile, "first[" + std::to_string(g) + "] = " + std::to_string(first[g]) +
                                              ", less than first[" + std::to_string(g - 1) +
                                              "] = " + std::to_string(first[g - 1]));
}

void check_sizes(const GraspSet& s, const SetStudy& study) {
  check_first(s.first);
  const std::int64_t m = s.first.back(), g = s.count(), nq = s.joints();
  for (const GraspSetArray& a : kGraspSetArrays) {
    const bool needed = a.values == &GraspSet::point || a.values == &GraspSet::normal ||
                        (a.values == &GraspSet::friction && study.friction_is_factor);
    const std::int64_t rows = a.per_contact ? m : g, size = std::ssize(s.*a.values);
    std::int64_t wanted = rows;
    std::string shape = a.per_contact ? "[m" : "[g";
    for (const int axis : a.axes) {
      if (axis == 0) continue;
      wanted *= axis == GraspSetArray::kJoints ? nq : axis;
      shape += axis == GraspSetArray::kJoints ? ",nq" : "," + std::to_string(axis);
    }
    // Without contacts nothing has joints.
    if (size == wanted || (size == 0 && !needed) || (a.or_number && size == rows) || (a.has_joints() && m == 0))
      continue;
    throw Error(ExitCode::kInvalidFile,
                std::string(a.name) + " has " + std::to_string(size) + " numbers, not " + std::to_string(wanted),
                "Its shape is " + shape + "]" + (a.or_number ? ", or [m]." : "."));
  }
  check_joints(s);
}

/// Methods other than auto have three numbers a contact.
void check_method(const GraspSet& s, const SetStudy& study) {
  static_cast<void>(contact::parse_effort(study.effort));  // throws for other names
  if (study.method == "auto") return;
  contact::Options options;
  contact::set_method(options, study.method);
  if (options.method == contact::Method::kLemke)
    throw Error(ExitCode::kUsage, "method = \"lemke\": contacts that may roll", "choose another method");
  if (std::ranges::any_of(s.torsion_radius, [](double r) { return r > 0; }))
    throw Error(ExitCode::kUsage, "method = \"" + study.method + "\": soft contacts",
                "the method auto takes them; the others take points: leave torsion_radius out");
}

/// Whether neighboring contacts of a grasp are of one pad.
bool shares_pads(const GraspSet& s) {
  for (std::size_t g = 0; !s.pad.empty() && g + 1 < s.first.size(); ++g)
    for (auto j = static_cast<std::size_t>(s.first[g]) + 1; j < static_cast<std::size_t>(s.first[g + 1]); ++j)
      if (s.pad[j] == s.pad[j - 1]) return true;
  return false;
}

void check_study(const GraspSet& s, const SetStudy& study) {
  const auto moves = [](const Distribution& d) { return !d.is_constant() || d.nominal() != 0; };
  if ((moves(study.slide_t) || moves(study.slide_o)) && shares_pads(s))
    throw Error(ExitCode::kUsage, "slide moves each contact by itself, and the set has pads of several contacts",
                "Give position_noise where the set is made (from_poses, `garra grasp touch`).");
  check_method(s, study);
  if (study.samples < 1) throw Error(ExitCode::kUsage, "samples = " + std::to_string(study.samples), "at least 1");
  if (study.best < 0)
    throw Error(ExitCode::kUsage, "best = " + std::to_string(study.best), "0, or how many are wanted");
  if (!(study.confidence > 0.5 && study.confidence < 1))
    throw Error(ExitCode::kUsage, "confidence = " + std::to_string(study.confidence), "between 0.5 and 1");
  const bool weight = !s.mass.empty() || !study.mass_is_factor;
  if (std::ssize(study.wrenches) > kMaxWrenches)
    throw Error(ExitCode::kUsage, "wrenches: " + std::to_string(study.wrenches.size()) + " of them",
                "at most " + std::to_string(kMaxWrenches) + " are drawn from");
  if (!weight && s.wrench.empty() && study.wrenches.empty() && !(study.force_radius > 0) && !(study.torque_radius > 0))
    throw Error(ExitCode::kUsage, "there is nothing that the grasps have to hold",
                "Give mass or wrench, or a disturbance by force_radius, torque_radius or wrenches.");
  if (!(study.held_imbalance > 0))
    throw Error(ExitCode::kUsage, "held_imbalance = " + std::to_string(study.held_imbalance), "above 0");
  if (!(study.held_acceleration > 0))
    throw Error(ExitCode::kUsage, "held_acceleration = " + std::to_string(study.held_acceleration), "above 0");
}

// --- one grasp ----

Vec3<double> three(const std::vector<double>& rows, std::int64_t i, const Vec3<double>& otherwise) {
  if (rows.empty()) return otherwise;
  const double* p = rows.data() + 3 * i;
  return vec3(p[0], p[1], p[2]);
}
double one(const std::vector<double>& rows, std::int64_t i, double otherwise) {
  return rows.empty() ? otherwise : rows[static_cast<std::size_t>(i)];
}

bool all_finite(const std::vector<double>& rows, std::int64_t first, std::int64_t count, int width) {
  if (rows.empty()) return true;
  const auto begin = rows.begin() + first * width;
  return std::all_of(begin, begin + count * width, [](double x) { return std::isfinite(x); });
}

/// A direction perpendicular to n: from the given one, or from the axis least aligned with n.
Vec3<double> choose_tangent(const Vec3<double>& n, const Vec3<double>& given, bool is_given) {
  Vec3<double> along = given;
  if (!is_given) {
    int least = 0;
    for (int i = 1; i < 3; ++i)
      if (std::abs(n[i]) < std::abs(n[least])) least = i;
    along = Vec3<double>::zero();
    along[least] = 1;
  }
  return axpy(-dot(along, n), n, along);
}

[[noreturn]] void refuse_load_cases(std::int64_t row, const std::string& is) {
  throw Error(ExitCode::kInvalidFile, "load_case: row " + std::to_string(row) + is,
              "It is 0, 1, ..., k - 1 again and again, with k at most " + std::to_string(kMaxLoadCases) + ".");
}

constexpr double kShortest = 1e-12;  ///< a shorter vector has no direction
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

}  // namespace

std::int64_t count_load_cases(const GraspSet& set) {
  const std::vector<double>& all = set.load_case;
  if (all.empty()) return 1;
  std::int64_t k = 1;
  while (k < std::ssize(all) && all[static_cast<std::size_t>(k)] != 0) ++k;
  if (k > kMaxLoadCases) refuse_load_cases(k - 1, " is one of " + std::to_string(k) + " cases");
  for (std::int64_t row = 0; row < std::ssize(all); ++row)
    if (all[static_cast<std::size_t>(row)] != static_cast<double>(row % k))
      refuse_load_cases(row, " is not " + std::to_string(row % k));
  if (std::ssize(all) % k != 0) refuse_load_cases(std::ssize(all) - 1, " is not the last of its grasp's cases");
  return k;
}

GraspStatus GraspReader::status(bool interior_grasp) const {
  if (contacts_ == 0) return GraspStatus::kNoContact;
  if (contacts_ > kMaxSetContacts) return GraspStatus::kTooManyContacts;
  if (!finite() || !hand_is_finite(set_, g_)) return GraspStatus::kNotFinite;
  if (!frames_exist()) return GraspStatus::kBadNormal;
  for (std::int64_t j = 0; j < contacts_; ++j)
    if (one(set_.friction, row_ + j, 0) < 0 || !(one(set_.force_limit, row_ + j, 0) >= 0) ||
        one(set_.torsion_radius, row_ + j, 0) < 0)
      return GraspStatus::kBadFriction;
  if (one(set_.mass, g_, 0) < 0 || !(length() > 0) || !is_body()) return GraspStatus::kBadMass;
  if (!hand_is_sound(set_, hand_, g_)) return GraspStatus::kBadHand;
  if (reach() > kMaxReach) return GraspStatus::kMillimeters;
  return !interior_grasp && outward() ? GraspStatus::kOutwardNormals : GraspStatus::kRanked;
}

template <int N>
SetGrasp<N> GraspReader::packed() const {
  SetGrasp<N> out{};
  out.com = com();
  out.gravity = three(set_.gravity, g_, vec3(0.0, 0.0, -9.81));
  for (int r = 0; r < 6; ++r) out.wrench[r] = one(set_.wrench, 6 * g_ + r, 0);
  out.mass = one(set_.mass, g_, 0);
  out.length = length();
  out.contacts = static_cast<int>(contacts_);
  for (int j = 0; j < extent<N>(); ++j) {
    const int source = j % out.contacts;
    const double limit = force_limit(source);
    out.contact[j] = surface(row_ + source);
    out.friction[j] = one(set_.friction, row_ + source, 0);
    out.torsion_radius[j] = one(set_.torsion_radius, row_ + source, 0);
    // The contacts of a hand with a command are not copied: those beyond its own are padding.
    out.limit[j] = hand_ == Hand::kIdeal ? limit / contact::count_copies(j, out.contacts, extent<N>())
                   : j < out.contacts    ? limit
                                         : kNoLimit;
  }
  std::vector<Vec3<double>> points;
  for (int j = 0; j < out.contacts; ++j) points.push_back(out.contact[j].point);
  out.rest = rest_factor(points, out.length);
  return out;
}

std::vector<int> GraspReader::pads() const {
  if (!has_pads(set_)) return {};
  const auto begin = set_.pad.begin() + row_, end = begin + contacts_;
  std::vector<int> out;
  for (auto at = begin; at != end; ++at) out.push_back(static_cast<int>(std::find(begin, end, *at) - begin));
  return out;
}

double GraspReader::force_limit(std::int64_t j) const {
  double least = one(set_.force_limit, row_ + j, kNoLimit);
  for (std::int64_t k = row_; !set_.pad.empty() && k < row_ + contacts_; ++k)
    if (one(set_.pad, k, 0) == one(set_.pad, row_ + j, 0)) least = std::min(least, one(set_.force_limit, k, kNoLimit));
  return least;
}

bool GraspReader::is_soft() const {
  for (std::int64_t j = 0; j < contacts_; ++j)
    if (one(set_.torsion_radius, row_ + j, 0) > 0) return true;
  return false;
}

Vec3<double> GraspReader::com() const { return three(set_.com, g_, Vec3<double>::zero()); }
Vec3<double> GraspReader::arm(std::int64_t row) const { return three(set_.point, row, Vec3<double>::zero()) - com(); }

bool GraspReader::finite() const {
  return all_finite(set_.point, row_, contacts_, 3) && all_finite(set_.normal, row_, contacts_, 3) &&
         all_finite(set_.tangent, row_, contacts_, 3) && all_finite(set_.friction, row_, contacts_, 1) &&
         all_finite(set_.curvature, row_, contacts_, 2) && all_finite(set_.torsion_radius, row_, contacts_, 1) &&
         all_finite(set_.pad, row_, contacts_, 1) && all_finite(set_.mass, g_, 1, 1) &&
         all_finite(set_.com, g_, 1, 3) && all_finite(set_.inertia, g_, 1, 9) && all_finite(set_.gravity, g_, 1, 3) &&
         all_finite(set_.moment_length, g_, 1, 1) && all_finite(set_.wrench, g_, 1, 6);
}

bool GraspReader::frames_exist() const {
  for (std::int64_t row = row_; row < row_ + contacts_; ++row) {
    const Vec3<double> n = three(set_.normal, row, {});
    if (!(norm(n) > kShortest)) return false;
    const Vec3<double> unit = (1 / norm(n)) * n;
    if (!(norm(choose_tangent(unit, three(set_.tangent, row, {}), !set_.tangent.empty())) > kShortest)) return false;
  }
  return true;
}

SurfacePoint GraspReader::surface(std::int64_t row) const {
  const Vec3<double> given = three(set_.normal, row, {});
  const Vec3<double> n = (1 / norm(given)) * given;
  const Vec3<double> across = choose_tangent(n, three(set_.tangent, row, {}), !set_.tangent.empty());
  const Vec3<double> t = (1 / norm(across)) * across;
  return {three(set_.point, row, {}),
          n,
          t,
          cross(n, t),
          significant_curvature(one(set_.curvature, 2 * row, 0)),
          significant_curvature(one(set_.curvature, 2 * row + 1, 0))};
}

double GraspReader::reach() const {
  double most = 0;
  for (std::int64_t j = 0; j < contacts_; ++j)
    most = std::max({most, norm(arm(row_ + j)), one(set_.torsion_radius, row_ + j, 0)});
  return most;
}

double GraspReader::length() const {
  if (!set_.moment_length.empty()) return one(set_.moment_length, g_, 0);
  if (!set_.inertia.empty() && one(set_.mass, g_, 0) > 0) {
    const double* I = set_.inertia.data() + 9 * g_;
    const double trace = I[0] + I[4] + I[8];
    const double largest = std::max({I[0], I[4], I[8]});
    // Each diagonal entry is at most the sum of the other two; for a flat body they are equal.
    return largest <= 0.5 * trace * (1 + 1e-9) ? std::sqrt(trace / (3 * set_.mass[static_cast<std::size_t>(g_)])) : 0;
  }
  double squares = 0;
  for (std::int64_t j = 0; j < contacts_; ++j) squares += dot(arm(row_ + j), arm(row_ + j));
  // All contacts are at the center of mass: any length works.
  return squares > 0 ? std::sqrt(squares / static_cast<double>(contacts_)) : 1;
}

bool GraspReader::is_body() const {
  if (hand_ == Hand::kIdeal) return true;
  if (!(one(set_.mass, g_, 0) > 0)) return false;
  if (set_.inertia.empty()) return true;
  Mat3<double> I;
  std::copy_n(set_.inertia.begin() + 9 * g_, 9, I.m);
  return factor_ldlt(I).bad_pivots == 0;
}

bool GraspReader::outward() const {
  for (std::int64_t row = row_; row < row_ + contacts_; ++row)
    if (dot(three(set_.normal, row, {}), arm(row)) <= 0) return false;
  if (!set_.object) return true;
  // At an edge a single one may be wrong: the majority decides.
  double into = 0;
  for (std::int64_t row = row_; row < row_ + contacts_; ++row)
    into -= dot(surface(row).n, set_.object->nearest(three(set_.point, row, {})).place.normal);
  return into <= 0;
}

template SetGrasp<kAnyContacts> GraspReader::packed() const;
// For kernels.
template SetGrasp<1> GraspReader::packed() const;
template SetGrasp<2> GraspReader::packed() const;
template SetGrasp<3> GraspReader::packed() const;
template SetGrasp<4> GraspReader::packed() const;
template SetGrasp<5> GraspReader::packed() const;
template SetGrasp<6> GraspReader::packed() const;
template SetGrasp<7> GraspReader::packed() const;
template SetGrasp<8> GraspReader::packed() const;
template SetGrasp<12> GraspReader::packed() const;
template SetGrasp<16> GraspReader::packed() const;
template SetGrasp<24> GraspReader::packed() const;
template SetGrasp<32> GraspReader::packed() const;

void check_input(const GraspSet& set, const SetStudy& study) {
  check_sizes(set, study);
  check_study(set, study);
}

// --- the study ------------------------------------------------------------------------------------------------------

SetModel make_model(const SetStudy& study) {
  const Distribution cosine = Distribution::uniform(-1, 1), azimuth = Distribution::uniform(0, 2 * M_PI);
  const auto ball = [&](Distribution* at, double radius) {
    if (radius == 0) return;  // constant zeros
    at[0] = Distribution::ball(radius);
    at[1] = cosine;
    at[2] = azimuth;
  };
  SetModel m{};
  for (const SetDraw& row : kSetDraws)
    if (row.radius != nullptr)
      ball(m.draw + row.slot, study.*row.radius);
    else
      m.draw[row.slot] = study.*row.drawn;
  for (const SetDraw& row : kSetContactDraws) m.contact_draw[row.slot] = study.*row.drawn;
  if (study.random_gravity_direction) {
    m.draw[kGravityCosine] = cosine;
    m.draw[kGravityAzimuth] = azimuth;
  }
  m.torque_error = study.torque_error;
  m.wrenches = static_cast<int>(study.wrenches.size());
  for (std::size_t k = 0; k < study.wrenches.size(); ++k) std::ranges::copy(study.wrenches[k], m.wrench[k]);
  if (!study.tilt.is_constant()) m.contact_draw[kSetTiltDirection] = azimuth;
  m.friction_is_factor = study.friction_is_factor;
  m.mass_is_factor = study.mass_is_factor;
  m.random_gravity_direction = study.random_gravity_direction;
  m.seed = study.seed;
  return m;
}

}  // namespace garra::grasp
