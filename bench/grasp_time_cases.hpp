// Grasps in time that the benchmark runs: the papers' hand at the jobs of peers/grasp_engines.py, and two other hands.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "garra/io/scenario.hpp"
#include "places.hpp"

namespace garra::bench {

/// A job of grasp_engines.py; the same numbers.
struct TimeJob {
  const char* name;
  double friction;
  double duration;  ///< [s]
  double shake;     ///< amplitude along x, at 8 Hz [N]
  double pull;      ///< downward, growing [N/s]
};
inline constexpr TimeJob kHold = {"hold", 0.4, 0.5, 0, 0}, kShake = {"shake", 0.4, 0.5, 3, 0},
                         kPull = {"pull", 0.3, 0.18, 0, 40};
inline constexpr double kConvergedSpeed = -0.211369;  ///< vertical, at the end of a pull [m/s]
inline constexpr double kSpread = 0.05;               ///< standard deviation of mass and friction over their mean

inline std::vector<grasp::TimeLoad> loads_of(const TimeJob& job) {
  std::vector<grasp::TimeLoad> loads;
  if (job.pull > 0) loads.push_back({.to = job.duration, .force = {{0, 0, -job.pull * job.duration}}});
  if (job.shake == 0) return loads;
  const double half = 1.0 / 16;  // period of 8 Hz: half a sine to, half a sine fro
  for (int k = 0; k * half < job.duration; ++k) {
    const double impulse = (k % 2 == 0 ? 1 : -1) * job.shake * half * 2 / M_PI;
    loads.push_back(
        {.kind = grasp::TimeLoad::Kind::kImpulse, .from = k * half, .to = (k + 1) * half, .force = {{impulse, 0, 0}}});
  }
  return loads;
}

inline void set_in_time(double duration, double step, grasp::Scenario& s) {
  s.time.emplace();
  s.time->duration = duration;
  s.time->step = step;
  s.time->instants = 2;
  s.plan.seed = 7;
}

inline void set_spread(double friction, double spread, grasp::Scenario& s) {
  const auto around = [&](double mean) {
    return spread > 0 ? study::Distribution::normal(mean, spread * mean) : study::Distribution::constant(mean);
  };
  s.object.mass = around(s.object.mass.nominal());
  for (grasp::Contact& c : s.contacts) c.friction = around(friction);
}

/// The papers' hand with constant torques; samples differ in mass and friction, or not at all.
inline grasp::Scenario papers_hand(const TimeJob& job, double step, double spread) {
  grasp::Scenario s = io::read_scenario(test::source_folder() + "/data/scenarios/papers_hand.toml");
  set_in_time(job.duration, step, s);
  s.time->drive = grasp::Drive::kConstant;
  s.time->loads = loads_of(job);
  set_spread(job.friction, spread, s);
  return s;
}

/// A sphere between n PUMA arms that stand around it, with the grasp controller.
inline grasp::Scenario puma_ring(int n, double step) {
  std::string text = R"(
schema = 1
job = "grasp"
hand = { model = "fingers", finger = [)";
  std::string contacts;
  for (int k = 0; k < n; ++k) {
    const double at = 2 * M_PI * k / n;
    const std::string place = std::to_string(0.6 * std::cos(at)) + "," + std::to_string(0.6 * std::sin(at));
    text += "{ model = 'puma560', tool = 0.1, branch = 'ldn', base = { position = [" + place + ", 0] } },";
    contacts += "{ azimuth = " + std::to_string(at) + " },";
  }
  text += "] }\ncontact = [" + contacts + R"(]
object = { shape = "sphere", radius = 0.1, mass = 1, position = [0, 0, 0.3] }
contacts = { friction = 0.4 }
load = { grip_force = 15 }
)";
  grasp::Scenario s = io::parse_scenario(text, "ring");
  set_in_time(kHold.duration, step, s);
  set_spread(kHold.friction, kSpread, s);
  return s;
}

/// A bottle between four small fingers of four joints each (those of data/scenarios/two_finger_cylinder.toml).
inline grasp::Scenario four_small_fingers(double step) {
  grasp::Scenario s = io::read_scenario(test::source_folder() + "/data/scenarios/two_finger_cylinder.toml");
  const Mat3<double> quarter{{0, -1, 0, 1, 0, 0, 0, 0, 1}};
  for (std::size_t k = 0; k < 2; ++k) {
    grasp::Finger finger = s.fingers[k];
    finger.base = {quarter * finger.base.R, quarter * finger.base.p};
    s.fingers.push_back(finger);
    grasp::Contact contact = s.contacts[k];
    contact.point = quarter * contact.point;
    contact.frame = quarter * contact.frame;
    s.contacts.push_back(contact);
  }
  set_in_time(kHold.duration, step, s);
  return s;
}

/// A group of objects in contact, from data/scenarios: held, or with the shake of kShake.
inline grasp::Scenario group_in_time(const std::string& name, const TimeJob& job, double step) {
  grasp::Scenario s = io::read_scenario(test::source_folder() + "/data/scenarios/" + name + ".toml");
  set_in_time(job.duration, step, s);
  s.time->loads = loads_of(job);
  set_spread(job.friction, kSpread, s);
  return s;
}

}  // namespace garra::bench
