// [load], [motion], [solver], [sampling], [output]: what is done with the grasp.
#include "io/distribution_reader.hpp"
#include "io/scenario_parts.hpp"

namespace garra::io {

namespace {

using grasp::Scenario;
using study::Distribution;

constexpr std::int64_t kMostIterations = 1'000'000;

/// The random part's magnitude: the radius of a ball to draw from, or a distribution of its own.
void read_magnitude(TableReader& table, const std::string& ball, const std::string& magnitude,
                    const Dimension& dimension, Distribution& into) {
  const Wanted wanted{dimension, Bounds::not_negative()};
  if (const Node* node = table.find(ball)) {
    const double radius = read_bounded(*node, table.name(ball), wanted);
    if (radius > 0) into = {Distribution::Kind::kBallRadius, radius, 0, 0, 1};
  }
  const Node* node = table.find(magnitude);
  if (node == nullptr) return;
  if (table.find(ball) != nullptr)
    fail(node->place, table.name(magnitude), "both " + ball + " and " + magnitude,
         "Keep one of them.");
  into = read_distribution(*node, table.name(magnitude), wanted);
}

void read_wrench(const Node& node, Scenario& scenario) {
  TableReader table(node, "load.wrench");
  read_magnitude(table, "force_ball", "force_magnitude", kForce, scenario.force_magnitude);
  read_magnitude(table, "torque_ball", "torque_magnitude", kTorque, scenario.torque_magnitude);
  if (const Node* force = table.find("force"))
    scenario.force = read_vector(*force, table.name("force"), kForce);
  if (const Node* torque = table.find("torque"))
    scenario.torque = read_vector(*torque, table.name("torque"), kTorque);
  table.finish();
}

/// Not where every contact has a command of its own.
bool needs_squeeze(const Scenario& s) {
  for (std::size_t j = 0; j < s.contacts.size(); ++j)
    if (!s.contacts[j].squeeze && !s.contacts[j].force && s.fingers[j].tau.empty()) return true;
  return false;
}

void read_load(const Node& node, Scenario& scenario) {
  TableReader table(node, "load");
  const Node* squeeze = table.find("squeeze");
  if (squeeze == nullptr && needs_squeeze(scenario))
    squeeze = &table.require("squeeze", "Give the commanded normal force per contact: squeeze = \"15 N\".");
  scenario.squeeze = squeeze == nullptr
                         ? Distribution::constant(0)
                         : read_distribution(*squeeze, table.name("squeeze"), {kForce, Bounds::not_negative()});
  if (const Node* g = table.find("gravity"))
    scenario.gravity = read_vector(*g, table.name("gravity"), kAcceleration);
  if (const Node* wrench = table.find("wrench")) read_wrench(*wrench, scenario);
  if (const Node* c = table.find("compensation"))
    scenario.compensation = read_distribution(*c, table.name("compensation"), {kRatio});
  scenario.nominal_mass = scenario.object.mass.nominal();
  if (const Node* mass = table.find("nominal_mass")) {
    scenario.nominal_mass =
        read_bounded(*mass, table.name("nominal_mass"), {kMass, Bounds::positive()});
  }
  table.finish();
}

void read_motion(const Node& node, Scenario& scenario) {
  TableReader table(node, "motion");
  if (const Node* v = table.find("velocity"))
    scenario.velocity = read_vector(*v, table.name("velocity"), kVelocity);
  if (const Node* w = table.find("angular_velocity"))
    scenario.angular_velocity = read_vector(*w, table.name("angular_velocity"), kAngularVelocity);
  table.finish();
}

void read_held(const Node& node, Scenario& scenario) {
  TableReader table(node, "held");
  if (const Node* imbalance = table.find("imbalance"))
    scenario.held_imbalance = read_bounded(*imbalance, table.name("imbalance"), {kRatio, Bounds::positive()});
  table.finish();
}

}  // namespace

std::int64_t read_count(const Node& node, const std::string& key, std::int64_t most) {
  const std::int64_t n = read_integer(node, key);
  if (n < 1 || n > most)
    fail(node.place, key, "must be 1 to " + std::to_string(most) + ", found " + std::to_string(n),
         "Write a whole number, such as 100_000.");
  return n;
}

namespace {

void read_solver(const Node& node, Scenario& scenario) {
  TableReader table(node, "solver");
  // Both name the one solver there is: semismooth Newton with its ladder of restarts.
  if (const Node* method = table.find("method"))
    static_cast<void>(read_choice(*method, table.name("method"), {"auto", "semismooth-newton"}));
  if (const Node* tol = table.find("tol"))
    scenario.tol = read_bounded(*tol, table.name("tol"),
                                {kRatio, {.low = 0, .high = 1e-2, .above_low = true}});
  if (const Node* n = table.find("max_iterations"))
    scenario.max_iterations =
        static_cast<int>(read_count(*n, table.name("max_iterations"), kMostIterations));
  if (const Node* share = table.find("max_unsolved"))
    scenario.plan.max_unsolved =
        read_bounded(*share, table.name("max_unsolved"), {kRatio, {.low = 0, .high = 1}});
  if (const Node* check = table.find("check_uniqueness"))
    scenario.check_uniqueness = read_boolean(*check, table.name("check_uniqueness"));
  table.finish();
}

std::int64_t read_chunk(const Node& node, const std::string& key) {
  const std::int64_t n = read_count(node, key, kMostSamples);
  if (n % study::kBlock == 0) return n;
  const std::int64_t next = (n / study::kBlock + 1) * study::kBlock;
  fail(node.place, key,
       std::to_string(n) + " is not a multiple of " + std::to_string(study::kBlock),
       "Write " + std::to_string(next) + ", or leave it out.");
}

}  // namespace

void read_sampling(TableReader& table, study::Plan& plan) {
  if (const Node* n = table.find("samples"))
    plan.samples = read_count(*n, table.name("samples"), kMostSamples);
  if (const Node* n = table.find("chunk")) plan.chunk = read_chunk(*n, table.name("chunk"));
  if (const Node* stop = table.find("stop")) {
    TableReader inner(*stop, table.name("stop"));
    const Node& width = inner.require("half_width", "Write stop = { half_width = 5e-4 }.");
    plan.stop_half_width = read_bounded(width, inner.name("half_width"),
                                        {kRatio, {.low = 0, .high = 0.5, .above_low = true}});
    inner.finish();
  }
  if (const Node* t = table.find("time_limit"))
    plan.time_limit = read_bounded(*t, table.name("time_limit"), {kTime, Bounds::positive()});
}

void read_output(const Node& node, study::Plan& plan) {
  TableReader table(node, "output");
  if (const Node* keep = table.find("keep"))
    plan.keep = read_choice(*keep, table.name("keep"), {"none", "failures", "all"});
  table.finish();
}

void read_study(TableReader& root, Scenario& scenario) {
  read_load(root.require("load", "Write a [load] table with squeeze = \"15 N\"."), scenario);
  read_motion(root.find_table("motion"), scenario);
  read_held(root.find_table("held"), scenario);
  read_solver(root.find_table("solver"), scenario);
  TableReader sampling(root.find_table("sampling"), "sampling");
  read_sampling(sampling, scenario.plan);
  sampling.finish();
  read_output(root.find_table("output"), scenario.plan);
}

}  // namespace garra::io
