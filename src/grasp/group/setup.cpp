// The data that all samples of a group share, and what makes a group impossible.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "garra/core/error.hpp"
#include "garra/grasp_analysis.hpp"
#include "garra/math/rotation.hpp"
#include "garra/systems/grasp/contact.hpp"
#include "grasp/group/shape_gap.hpp"
#include "grasp/group/stand.hpp"
#include "grasp/sample/finger_command.hpp"
#include "grasp/study/setup_parts.hpp"

namespace garra::grasp {

namespace {

using Kind = Partner::Kind;

bool slips_by_motion(const Contact& c) { return c.slides && dot(c.slip, c.slip) == 0; }

GroupContact make_contact(const Scenario& s, std::size_t j) {
  const Contact& c = s.contacts[j];
  GroupContact out{};
  out.surface = surface_point(c);
  out.angle_sign = c.angle_sign;
  out.common_friction = c.common_friction;
  const bool own = c.grip_force || c.force;
  out.grip_force_slot = own ? contact_slot(static_cast<int>(j), kOwnGripForce) : static_cast<int>(kGripForce);
  out.object = c.object;
  out.partner = c.partner;
  if (c.partner.kind == Kind::kFinger) out.partner.number = contact_finger(s, j);
  out.body[0] = c.object;
  out.bodies = 1;
  if (c.partner.kind == Kind::kObject) {
    out.body[out.bodies++] = c.partner.number;
    std::sort(out.body, out.body + 2);
  }
  out.law = c.law;
  out.slides = c.slides;
  out.slip = c.slip;
  out.slips_by_motion = slips_by_motion(c);
  out.torsion_radius = c.law == ContactLaw::kSoft ? c.torsion_radius : 0;
  out.force_limit = c.force_limit;
  if (c.partner.kind == Kind::kObject) {
    const Object& second = nth_object(s, c.partner.number);
    const ContactPlace<double> place =
        nominal_pose(nth_object(s, c.object)) * place_on_surface<double>(out.surface, {0, 0, 0, 0, 1});
    const Vec<double, 2> curvature = find_curvatures(second, place.E);
    if (second.shape != Shape::kPoints) {
      out.partner.curvature_t = curvature[0];
      out.partner.curvature_o = curvature[1];
    }
  }
  return out;
}

/// Force of contact j before anything is balanced (n, t, o); 0 without a finger.
Vec3<double> told_before(const Scenario& s, const GroupModel& m, const GroupSample& nominal, std::size_t j) {
  const int finger = contact_finger(s, j);
  if (finger < 0) return Vec3<double>::zero();
  if (s.contacts[j].force) return *s.contacts[j].force;
  const bool torques = !s.fingers[static_cast<std::size_t>(finger)].tau.empty();
  return {{torques ? 0 : nominal.inputs[static_cast<std::size_t>(m.contacts[j].grip_force_slot)], 0, 0}};
}

/// W of the nominal grasp with the columns of some contacts only; without friction only that of n.
Dense select_columns(const GroupModel& m, const GroupSample& s, const std::vector<bool>& there) {
  Dense W(s.W.rows, s.W.cols);
  for (int c = 0; c < W.cols; ++c) {
    const auto j = static_cast<std::size_t>(c / m.numbers);
    if (!there[j] || (c % m.numbers != 0 && !(s.mu[j] > 0))) continue;
    for (int r = 0; r < W.rows; ++r) W(r, c) = s.W(r, c);
  }
  return W;
}

void add_to(Column& to, const Column& x, double factor) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] += factor * x[k];
}

/// The finger's chain in code for any number of joints.
FingerChain<chain::kAnyJoints> chain_of_any(const FingerModel& finger) {
  FingerChain<chain::kAnyJoints> out{};
  with_finger_size(finger.size, [&](auto, auto size) {
    const FingerChain<size>& from = finger_chain<size>(finger);
    out.joints = from.joints;
    out.followers = from.followers;
    std::copy_n(from.model.joint, from.joints, out.model.joint);
    std::copy_n(from.model.prismatic, from.joints, out.model.prismatic);
    out.model.base = from.model.base;
    out.model.tool = from.model.tool;
    out.model.gravity = from.model.gravity;
  });
  return out;
}

/// Contacts of each of `count` fingers or objects: those that `belongs` to it.
template <class Belongs>
IndexLists<Owned> list_contacts(const GroupModel& m, std::size_t count, const Belongs& belongs) {
  IndexLists<Owned> out{{0}, {}};
  for (int k = 0; k < static_cast<int>(count); ++k) {
    for (std::size_t j = 0; j < m.contacts.size(); ++j)
      if (belongs(m.contacts[j], k)) out.all.push_back(static_cast<int>(j));
    out.first.push_back(static_cast<int>(out.all.size()));
  }
  return out;
}

/// Contacts of each finger and object, and the pairs of contacts that share something.
void couple_contacts(GroupModel& m) {
  m.of_finger = list_contacts(m, m.fingers.size(), [](const GroupContact& c, int f) {
    return c.partner.kind == Kind::kFinger && c.partner.number == f;
  });
  m.of_object = list_contacts(m, m.objects.size(), [](const GroupContact& c, int k) {
    return std::find(c.body, c.body + c.bodies, k) != c.body + c.bodies;
  });
  const int contacts = static_cast<int>(m.contacts.size());
  for (int j = 0; j < contacts; ++j) {
    const GroupContact& a = m.contacts[static_cast<std::size_t>(j)];
    for (int i = 0; i <= j; ++i) {
      const GroupContact& b = m.contacts[static_cast<std::size_t>(i)];
      Coupling pair{j, i, {}, 0, -1};
      for (int k = 0; k < a.bodies; ++k)
        if (std::find(b.body, b.body + b.bodies, a.body[k]) != b.body + b.bodies) pair.object[pair.many++] = a.body[k];
      const bool fingers = a.partner.kind == Kind::kFinger && b.partner.kind == Kind::kFinger;
      if (fingers && a.partner.number == b.partner.number) pair.finger = a.partner.number;
      if (pair.many > 0 || pair.finger >= 0) m.couplings.push_back(pair);
    }
  }
}

/// The controller's forces: each finger's squeeze, and the smallest change of all contact forces that balances every
/// object. Contacts without a finger first pass the squeeze on, with the least forces that do.
void balance_weights(const Scenario& s, GroupModel& m) {
  GroupSample nominal = place_group(m, nominal_group(m));
  fill_wrenches(m, nominal);
  const std::size_t n = m.contacts.size(), numbers = static_cast<std::size_t>(m.numbers);
  std::vector<bool> passive(n), changes(n), all(n, true);
  Column c(numbers * n);
  for (std::size_t j = 0; j < n; ++j) {
    passive[j] = m.contacts[j].partner.kind != Kind::kFinger;
    changes[j] = passive[j] || balances(s, j);
    const Vec3<double> told = told_before(s, m, nominal, j);
    std::copy_n(told.m, 3, c.begin() + m.numbers * static_cast<std::ptrdiff_t>(j));
  }
  const Dense W = select_columns(m, nominal, all);
  const Column squeeze = c;
  add_to(c, least_squares(select_columns(m, nominal, passive), multiplied(W, c)), -1);
  Column load = multiplied(W, c);
  for (std::size_t k = 0; k < m.objects.size(); ++k) {
    const double mass =
        k == 0 && s.nominal_mass > 0 ? s.nominal_mass : nth_object(s, static_cast<int>(k)).mass.nominal();
    for (std::size_t i = 0; i < 6; ++i) {
      const int at = static_cast<int>(i);
      load[6 * k + i] += (i < 3 ? mass * m.gravity[at] : 0) + (k == 0 ? m.wrench[at] : 0);
    }
  }
  if (any_balances(s)) add_to(c, least_squares(select_columns(m, nominal, changes), load), -1);
  for (std::size_t j = 0; j < n; ++j) {
    if (passive[j]) continue;
    const Mat3<double>& E = nominal.place[j].E;
    m.contacts[j].push = column(E, 0);
    Vec3<double> beside;
    // The squeeze itself is added in the sample, because it is an input.
    const std::size_t at = numbers * j;
    for (std::size_t k = 0; k < 3; ++k) beside[static_cast<int>(k)] = c[at + k] - (k == 0 ? squeeze[at] : 0);
    m.contacts[j].balance = E * beside;
    if (numbers > 3) m.contacts[j].twist = m.contacts[j].torsion_radius * c[at + 3] * m.contacts[j].push;
  }
}

std::string millimeters(double length) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g mm", 1e3 * std::abs(length));
  return text;
}

std::string name_of_object(const Scenario& s, int k) {
  const std::string& name = nth_object(s, k).name;
  return name.empty() ? "object " + std::to_string(k) : "\"" + name + "\"";
}

using Problem = CommandProblem;

std::optional<Problem> problem_of_contact(const Scenario& s, std::size_t j) {
  const Contact& c = s.contacts[j];
  const auto bad = [&](const std::string& problem, const std::string& remedy) {
    return Problem{Problem::Table::kContact, static_cast<int>(j), "between", problem, remedy};
  };
  const int objects = static_cast<int>(s.others.size()) + 1;
  const int second = c.partner.kind == Kind::kObject ? c.partner.number : 0;
  if (c.object < 0 || c.object >= objects || second < 0 || second >= objects)
    return bad("names an object that is not there", "There are " + std::to_string(objects) + " objects.");
  if (c.partner.kind == Kind::kObject && second == c.object)
    return bad("an object cannot touch itself", "Name two different objects.");
  const int finger = contact_finger(s, j);
  if (finger >= static_cast<int>(s.fingers.size()))
    return bad("there is no finger " + std::to_string(finger),
               "The hand has " + std::to_string(s.fingers.size()) + " fingers, counted from 0.");
  if (finger >= 0 && c.partner.link >= static_cast<int>(s.fingers[static_cast<std::size_t>(finger)].joint_count()))
    return bad("there is no link " + std::to_string(c.partner.link),
               "Links are counted from 0, one for each joint of the finger.");
  if (c.partner.kind != Kind::kObject) return std::nullopt;
  const Object& other = nth_object(s, second);
  const Pose<double> first = nominal_pose(nth_object(s, c.object));
  const double gap = distance_from(other, first.R * c.point + first.p);
  if (!(std::abs(gap) > kOpenGap)) return std::nullopt;  // also of unknown shapes
  return bad("the point is " + millimeters(gap) + (gap > 0 ? " outside of " : " inside ") + name_of_object(s, second),
             "Move the object or the contact: the point must lie on both surfaces.");
}

const Contact* find_soft(const Scenario& s) {
  const auto at = std::ranges::find(s.contacts, ContactLaw::kSoft, &Contact::law);
  return at == s.contacts.end() ? nullptr : &*at;
}

/// What takes no contacts with four numbers.
std::optional<Problem> problem_of_soft(const Scenario& s) {
  const Contact* soft = find_soft(s);
  if (soft == nullptr) return std::nullopt;
  const auto bad = [&](const std::string& problem, const std::string& remedy) {
    return Problem{Problem::Table::kContact, static_cast<int>(soft - s.contacts.data()), "model", problem, remedy};
  };
  if (s.method != "auto")
    return bad("soft contacts have four numbers each, which solver.method = \"" + s.method + "\" does not take",
               "Leave out solver.method: \"auto\" takes them.");
  if (!s.time && (norm(s.velocity) > 0 || norm(s.angular_velocity) > 0))
    return bad("a soft contact of an object that moves is not taken at one instant",
               "Leave out the velocities, or add [simulation], which takes them.");
  return std::nullopt;
}

/// What contacts that slide, and the rates of their fingers, do not go with.
std::optional<Problem> problem_of_sliding(const Scenario& s) {
  std::vector<bool> driven(s.fingers.size(), true);
  for (std::size_t j = 0; j < s.contacts.size(); ++j) {
    const Contact& c = s.contacts[j];
    const int finger = contact_finger(s, j);
    if (finger >= 0 && !slips_by_motion(c)) driven[static_cast<std::size_t>(finger)] = false;
    if (!c.slides) continue;
    const auto bad = [&](const std::string& problem, const std::string& remedy) {
      return Problem{Problem::Table::kContact, static_cast<int>(j), "mode", problem, remedy};
    };
    if (s.time)
      return bad("a simulation finds out which contacts slide",
                 "Leave out mode, or leave out [simulation] for a study of one instant.");
    if (c.law != ContactLaw::kHard || find_soft(s) != nullptr)
      return bad("contacts slide beside hard ones only", "Leave out `model`, here and at the other contacts.");
  }
  for (std::size_t f = 0; f < s.fingers.size(); ++f)
    if (!s.fingers[f].rates.empty() && !driven[f])
      return Problem{Problem::Table::kFinger, static_cast<int>(f), "rates", "its contact rolls, or its slip is given",
                     "Leave it out, or write mode = \"slide\" without slip: else the finger follows the object."};
  return std::nullopt;
}

/// What touches object k, and whether fingers or fixtures hold the objects that it is in contact with.
std::optional<Problem> problem_of_objects(const Scenario& s) {
  const std::size_t objects = s.others.size() + 1;
  std::vector<bool> touched(objects), held(objects);
  for (const Contact& c : s.contacts) {
    touched[static_cast<std::size_t>(c.object)] = true;
    if (c.partner.kind == Kind::kObject)
      touched[static_cast<std::size_t>(c.partner.number)] = true;
    else
      held[static_cast<std::size_t>(c.object)] = true;
  }
  for (std::size_t round = 0; round < objects; ++round)
    for (const Contact& c : s.contacts) {
      if (c.partner.kind != Kind::kObject) continue;
      const auto a = static_cast<std::size_t>(c.object), b = static_cast<std::size_t>(c.partner.number);
      held[a] = held[b] = held[a] || held[b];
    }
  const auto bad = [&](std::size_t k, const std::string& problem, const std::string& remedy) {
    return Problem{Problem::Table::kObject, static_cast<int>(k), "name",
                   name_of_object(s, static_cast<int>(k)) + " " + problem, remedy};
  };
  for (std::size_t k = 0; k < objects; ++k) {
    if (!touched[k]) return bad(k, "touches nothing", "Write a [[contact]] whose `between` names it.");
    if (!held[k])
      return bad(k, "touches objects alone that touch no finger and no fixture",
                 "Write a [[contact]] between one of them and a finger, \"palm\" or \"table\".");
  }
  for (std::size_t k = 0; k < objects; ++k)
    for (std::size_t i = 0; i < k; ++i) {
      const double depth = penetration(nth_object(s, static_cast<int>(i)), nth_object(s, static_cast<int>(k)));
      if (depth > kOpenGap)
        return bad(k, "and " + name_of_object(s, static_cast<int>(i)) + " interpenetrate by " + millimeters(depth),
                   "Move one of them.");
    }
  return std::nullopt;
}

std::optional<Problem> problem_of_fingers(const Scenario& s) {
  std::vector<bool> touches(s.fingers.size());
  for (std::size_t j = 0; j < s.contacts.size(); ++j) {
    const int finger = contact_finger(s, j), link = s.contacts[j].partner.link;
    if (finger < 0) continue;
    const auto at = static_cast<std::size_t>(finger);
    if (link < 0 || link + 1 == static_cast<int>(s.fingers[at].joint_count())) touches[at] = true;
  }
  for (std::size_t f = 0; f < touches.size(); ++f) {
    const int index = static_cast<int>(f);
    if (!touches[f])
      return Problem{Problem::Table::kFinger, index, "", "its last link touches nothing",
                     "Write a [[contact]] for it: its fingertip goes there."};
    if (!s.fingers[f].torque_limit.empty())
      return Problem{Problem::Table::kFinger, index, "torque_limit", "is not taken for a group",
                     "Leave it out, or give one contact for each finger."};
  }
  return std::nullopt;
}

/// Throws Error if in the nominal grasp a slip has no direction, or a contact that slides parts or penetrates.
void check_slips(const GroupModel& m) {
  if (!m.slides) return;
  constexpr double kParts = 1e-6;  ///< largest |v_n| / |v_T|: beyond rounding of rates that are written down
  const GroupSample s = evaluate_group(m, nominal_group(m));
  for (std::size_t j = 0; j < m.contacts.size(); ++j) {
    if (!m.contacts[j].slips_by_motion) continue;
    const Vec3<double> v = transpose_times(s.place[j].E, relative_velocity(m, s, j));
    const double slip = std::hypot(v[1], v[2]);
    const std::string contact = "contact " + std::to_string(j);
    if (!(slip > 0))
      throw Error(ExitCode::kInvalidFile, contact + " is to slide, but nothing moves along it",
                  "Give slip = [t, o] of the contact, a velocity in [motion], or the rates of its finger.");
    if (std::abs(v[0]) > kParts * slip)
      throw Error(ExitCode::kInvalidFile,
                  contact + (v[0] > 0 ? " parts" : " penetrates") + " at " + millimeters(v[0]) + "/s",
                  "Give rates with which the fingertip moves along the surface, or leave them out.");
  }
}

}  // namespace

std::optional<CommandProblem> group_problem(const Scenario& s) {
  if (!is_group(s)) return std::nullopt;
  if (s.contacts.size() > static_cast<std::size_t>(kMaxGroupContacts))
    return Problem{Problem::Table::kContact, kMaxGroupContacts, "", "too many contacts",
                   "A group has at most " + std::to_string(kMaxGroupContacts) + "."};
  for (std::size_t j = 0; j < s.contacts.size(); ++j)
    if (auto problem = problem_of_contact(s, j)) return problem;
  if (auto problem = problem_of_soft(s)) return problem;
  if (auto problem = problem_of_sliding(s)) return problem;
  if (auto problem = problem_of_objects(s)) return problem;
  if (s.arm)
    return Problem{Problem::Table::kHand, -1, "arm_root", "stands beside a group of objects",
                   "Leave it out: the palm of a group stands still."};
  return problem_of_fingers(s);
}

std::unique_ptr<GroupModel> make_group(const Scenario& s) {
  require_sound_command(s);
  auto m = std::make_unique<GroupModel>();
  const int contacts = static_cast<int>(s.contacts.size());
  for (int k = 0; k <= static_cast<int>(s.others.size()); ++k) {
    const Object& o = nth_object(s, k);
    // One motion of all objects, as of a rigid body: that of object 0.
    const Vec3<double> v = s.velocity + cross(s.angular_velocity, o.position - s.object.position);
    m->objects.push_back({nominal_pose(o), gyration2(o), v, s.angular_velocity, object_slot(k, contacts)});
  }
  m->fingers.resize(s.fingers.size());
  m->first_joint = {0};
  for (std::size_t f = 0; f < s.fingers.size(); ++f) {
    set_finger(s, f, m->fingers[f]);
    m->chains.push_back(chain_of_any(m->fingers[f]));
    m->first_joint.push_back(m->first_joint.back() + static_cast<int>(s.fingers[f].joint_count()));
    m->rates.insert(m->rates.end(), s.fingers[f].rates.begin(), s.fingers[f].rates.end());
    m->rates.resize(static_cast<std::size_t>(m->first_joint.back()), NAN);  // not given
  }
  for (std::size_t j = 0; j < s.contacts.size(); ++j) m->contacts.push_back(make_contact(s, j));
  couple_contacts(*m);
  m->numbers = find_soft(s) != nullptr ? 4 : 3;
  m->gravity = s.gravity;
  for (int i = 0; i < 3; ++i) {
    m->wrench[i] = s.force[i];
    m->wrench[i + 3] = s.torque[i];
  }
  const bool driven = std::ranges::any_of(m->rates, [](double rate) { return !std::isnan(rate); });
  m->moving = driven || norm(s.velocity) > 0 || norm(s.angular_velocity) > 0;
  m->slides = any_slides(s);
  m->seed = s.plan.seed;
  m->constant = list_inputs(s, m->draws);
  balance_weights(s, *m);
  const GroupSample nominal = place_group(*m, nominal_group(*m));
  for (std::size_t f = 0; f < m->fingers.size(); ++f)
    make_finger_reach(task_of_finger(show_parts(*m), nominal, f), m->moving, f, m->fingers[f]);
  check_slips(*m);
  return m;
}

}  // namespace garra::grasp
