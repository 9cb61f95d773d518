// Recomputes one sample of one grasp of a set, in full.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <string>

#include "contact/balance/resistance_rows.hpp"
#include "garra/core/error.hpp"
#include "garra/wrench_balance.hpp"
#include "grasp/set/input.hpp"
#include "grasp/set/pack_hand.hpp"
#include "grasp/set/radius.hpp"
#include "grasp/set/run_hand.hpp"
#include "grasp/set/source.hpp"

namespace garra::grasp {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

template <int Count, std::size_t Rows>
void add_drawn(const study::Distribution* draw, const SetDraw (&rows)[Rows], const std::string& prefix,
               const Vec<double, Count>& x, SetReplay& out) {
  const auto add = [&](int slot, const std::string& name) {
    if (!draw[slot].is_constant()) out.inputs.emplace_back(prefix + name, x[slot]);
  };
  for (const SetDraw& row : rows) {
    add(row.slot, row.name);
    if (row.radius == nullptr) continue;
    add(row.slot + 1, row.name + std::string(" cos(polar angle)"));
    add(row.slot + 2, row.name + std::string(" azimuth"));
  }
}

void add_inputs(const SetModel& model, const SampleIndex<double>& index, int contacts, SetReplay& out) {
  const auto x = draw_values<kSetSlots>(model.draw, model.seed, index, 0);
  add_drawn(model.draw, kSetDraws, "", x, out);
  if (model.random_gravity_direction) {
    out.inputs.emplace_back("gravity cos(polar angle)", x[kGravityCosine]);
    out.inputs.emplace_back("gravity azimuth", x[kGravityAzimuth]);
  }
  for (int j = 0; j < contacts; ++j) {
    const std::string prefix = "contact " + std::to_string(j) + " ";
    const int block = (kFirstSlots + j * kSetContactSlots) / 2;
    const auto own = draw_values<kSetContactSlots>(model.contact_draw, model.seed, index, block);
    add_drawn(model.contact_draw, kSetContactDraws, prefix, own, out);
    if (!model.contact_draw[kSetTiltDirection].is_constant())
      out.inputs.emplace_back(prefix + "tilt direction", own[kSetTiltDirection]);
  }
}

/// Adds torque errors of a whole hand, and the chosen wrench.
void add_more_inputs(const SetModel& model, const SampleIndex<double>& index, std::int64_t joints, SetReplay& out) {
  if (model.wrenches > 1) {
    double u, unused;
    uniform_pair<double>(model.seed, index, kWrenchBlock, u, unused);
    out.inputs.emplace_back("wrench (from 0)", std::floor(model.wrenches * u));
  }
  if (model.torque_error.is_constant()) return;
  for (int k = 0; k < joints; ++k)
    out.inputs.emplace_back("joint " + std::to_string(k) + " torque error", torque_error(model, index, k));
}

using Grasp = SetGrasp<kAnyContacts>;
using Sample = SetSample<double, kAnyContacts>;

void describe_grasp(const Grasp& g, bool soft, const Sample& s, SetReplay& out) {
  out.mass = s.mass;
  out.com = s.com;
  out.gravity = s.gravity;
  out.wrench = s.rest;
  for (int r = 0; r < 3; ++r) {
    out.wrench[r] += s.mass * s.gravity[r];
    out.wrench[r + 3] *= g.length;
  }
  for (int j = 0; j < g.contacts; ++j) {
    const Vec3<double> n = column(s.place[j].E, 0);
    out.point.insert(out.point.end(), s.place[j].p.m, s.place[j].p.m + 3);
    out.normal.insert(out.normal.end(), n.m, n.m + 3);
    out.friction.push_back(s.friction[j]);
    if (soft) out.torsion_radius.push_back(g.torsion_radius[j]);
  }
}

/// The forces that balance the wrench, or the wrench that proves that none do; and the required friction.
template <int D>
void replay_ideal(const SetModel& model, const Grasp& g, const std::vector<int>& pads, const Sample& sample,
                  std::int64_t number, SetReplay& out) {
  using Op = contact::BalanceOp<kAnyContacts, D>;
  batch::Tiles<typename Op::template In<double>> problem(1);
  batch::Tiles<typename Op::template Out<double>> answer(1);
  problem.set(0, CandidateKernel<kAnyContacts, D>{}.make_problem(g, sample));
  const int* pad = pads.empty() ? nullptr : pads.data();
  contact::balance_tiles<D>(Executor::kScalar, 1, problem.data(), answer.data(), pad);
  const auto a = answer.get(0);
  const bool held = a.decision == static_cast<double>(contact::ResistanceStatus::kPossible);
  const bool none = a.decision == static_cast<double>(contact::ResistanceStatus::kImpossible);
  out.outcome = held ? Outcome::kHeld : none ? Outcome::kNotResisted : Outcome::kUnsolved;
  out.force.assign(3 * static_cast<std::size_t>(g.contacts), held ? 0 : kNone);
  out.torsion.assign(out.torsion_radius.size(), held ? 0 : kNone);
  for (int j = 0; held && j < g.contacts; ++j) {
    const auto of = static_cast<std::size_t>(j);
    for (int k = 0; k < 3; ++k) out.force[3 * of + static_cast<std::size_t>(k)] += a.force[D * j + k];
    if constexpr (D > 3) out.torsion[of] += g.torsion_radius[j] * a.force[D * j + 3];
  }
  if (none) out.against = a.wrench;
  out.residual = a.gap;
  DecisionBits word;
  run_set<kAnyContacts, D>({model, {&g, 1}, number, 1, 1, &word, &out.required_friction, 0, nullptr, pad},
                           {Executor::kScalar, 1, 0});
  out.margin = out.imbalance = kNone;
  const auto space = std::make_unique_for_overwrite<solvers::RadiusSpace>();
  const solvers::WrenchRadius radius =
      RadiusKernel<kAnyContacts, D>{&g, 1, problem.data(), pad}.template of<double>(0, *space);
  out.resisted_force_radius = radius.low;
  for (int r = 0; radius.high > 0 && r < 6; ++r)
    out.least_push[r] = -radius.high * radius.y[r] * (r < 3 ? 1 : kRadiusLengths * g.length);
}

template <int D>
void replay_hand(const GraspSet& set, const SetStudy& study, const SetModel& model, const Grasp& g, std::int64_t grasp,
                 std::int64_t sample, SetReplay& out) {
  PackedHands<kAnyContacts, D> hand;
  HandReader(set, out.hand, is_off(study.torque_error)).pack(grasp, g, hand);
  HandJob<kAnyContacts, D> job{
      model,  {&g, 1}, hand.hands, hand.limited(), contact_solver(study), held_rule(study, set), study.check_uniqueness,
      sample, 1};
  job.by = contact_options(study);
  HandReplay r = replay_hand<D>(job, sample);
  out.outcome = r.outcome;
  const auto contacts = static_cast<std::size_t>(g.contacts);
  for (std::size_t j = 0; j < contacts; ++j) {
    const auto its = [&](const std::vector<double>& all) { return all.begin() + static_cast<std::ptrdiff_t>(D * j); };
    std::copy_n(its(r.c), 3, std::back_inserter(out.force));
    std::copy_n(its(r.command), 3, std::back_inserter(out.command));
    if constexpr (D > 3) out.torsion.push_back(g.torsion_radius[j] * its(r.c)[3]);
  }
  r.state.resize(contacts);
  out.state = std::move(r.state);
  out.residual = r.residual;
  out.margin = r.margin;
  out.required_friction = r.critical;
  out.resisted_force_radius = r.radius;
  out.imbalance = r.imbalance;
}

[[noreturn]] void refuse(const std::string& what, const std::string& remedy) {
  throw Error(ExitCode::kUsage, what, remedy);
}

/// The sample of one row of the set.
SetReplay replay_row(const CheckedSet& checked, const SetSource& source, const SetStudy& study, std::int64_t number,
                     std::int64_t sample) {
  if (number < 0 || number >= source.count())
    refuse("grasp " + std::to_string(number), "The set has " + std::to_string(source.count()) + ", counted from 0.");
  if (sample < 0) refuse("sample " + std::to_string(sample), "Samples are counted from 0.");
  const GraspSet set = checked.read(number, 1);
  constexpr std::int64_t kGrasp = 0;
  SetReplay out;
  out.hand = checked.hand();
  const GraspReader reader(set, out.hand, kGrasp);
  if (const GraspStatus status = reader.status(study.interior_grasp); status != GraspStatus::kRanked)
    refuse("grasp " + std::to_string(number) + " has no samples: " + names_of(status)[static_cast<std::size_t>(status)],
           "Choose one that is ranked.");
  const SetModel model = make_model(study);
  const auto index = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(sample));
  const ContactsInUse many(static_cast<int>(reader.contacts()));
  const Grasp g = reader.packed<kAnyContacts>();
  const Sample drawn = CandidateKernel<kAnyContacts>{model, &g, 1, 0, nullptr}.sample(g, index);
  add_inputs(model, index, g.contacts, out);
  add_more_inputs(model, index, out.hand == Hand::kWhole ? set.joints() : 0, out);
  describe_grasp(g, reader.is_soft(), drawn, out);
  if (out.hand == Hand::kIdeal)
    reader.is_soft() ? replay_ideal<4>(model, g, reader.pads(), drawn, sample, out)
                     : replay_ideal<3>(model, g, reader.pads(), drawn, sample, out);
  else
    reader.is_soft() ? replay_hand<4>(set, study, model, g, kGrasp, sample, out)
                     : replay_hand<3>(set, study, model, g, kGrasp, sample, out);
  out.load_cases = checked.load_cases();
  out.load_case = number % out.load_cases;
  return out;
}

}  // namespace

SetReplay replay(const SetSource& source, const SetStudy& study, std::int64_t number, std::int64_t sample) {
  const CheckedSet checked(source, study);
  SetReplay out = replay_row(checked, source, study, number, sample);
  for (std::int64_t k = 1; number % checked.load_cases() == 0 && k < checked.load_cases(); ++k) {
    SetReplay other = replay_row(checked, source, study, number + k, sample);
    const bool held = out.outcome == Outcome::kHeld, is_other = other.outcome == Outcome::kHeld;
    const bool needs_more = other.required_friction > out.required_friction;
    if (held == is_other ? needs_more != study.any_load_case : is_other == study.any_load_case) out = std::move(other);
  }
  return out;
}

SetReplay replay(const GraspSet& set, const SetStudy& study, std::int64_t grasp, std::int64_t sample) {
  check_input(set, study);
  return replay(SetInMemory(set), study, grasp, sample);
}

}  // namespace garra::grasp
