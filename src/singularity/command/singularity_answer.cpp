#include "singularity/command/singularity_answer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "garra/math/screw_algebra.hpp"

namespace garra::cli {

namespace {

using namespace singularity;

/// printf into a string; lines are short.
[[gnu::format(printf, 2, 3)]] void append(std::string& text, const char* format, ...) {
  char line[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text += line;
}

/// Without the signs of zeros and the last digits of what should be zero.
double clean(double x) { return std::abs(x) < 1e-12 ? 0 : x; }

std::string vector_text(const Vec3<double>& v) {
  std::string text;
  append(text, "(%g, %g, %g)", clean(v[0]), clean(v[1]), clean(v[2]));
  return text;
}

std::string screw_text(const Screw<double>& s) {
  std::string text;
  append(text, "(%g, %g, %g; %g, %g, %g)", clean(s.w[0]), clean(s.w[1]), clean(s.w[2]), clean(s.v[0]), clean(s.v[1]),
         clean(s.v[2]));
  return text;
}
std::string wrench_text(const Wrench<double>& f) { return screw_text({f.force, f.moment}); }

std::string numbers_text(const std::vector<double>& values) {
  std::string text;
  for (const double x : values) append(text, "%s%.4g", text.empty() ? "(" : ", ", std::abs(x) < 1e-10 ? 0 : x);
  return text + ")";
}

/// The motion that a wrench forbids where the arm cannot yield to it: no power, moment . w + force . v = 0.
std::string lost_text(const Wrench<double>& wrench) {
  if (norm(wrench.force) < 1e-10) return "no turn about " + vector_text((1 / norm(wrench.moment)) * wrench.moment);
  // As a screw (force; moment): its axis is the line of the force, its pitch the moment along it per force.
  const ScrewAxis<double> line = screw_axis(Screw<double>{wrench.force, wrench.moment});
  const std::string where = " of the point " + vector_text(line.point) + " along " + vector_text(line.direction);
  if (std::abs(line.pitch) < 1e-10) return "no motion" + where;
  std::string text = "no motion" + where;
  // The motion along the line that has no power: pitch times turn plus slide is 0.
  append(text, " without a turn of %.4g rad/m about this line", -1 / line.pitch);
  return text;
}

std::string joints_text(const std::vector<int>& joints) {
  std::string text;
  for (const int j : joints) text += (text.empty() ? "{" : ", ") + std::to_string(j);
  return text.empty() ? "none" : text + "}";
}

/// In the notation of the papers, where $1 is the screw of joint 0.
std::string screws_text(const std::vector<int>& joints) {
  std::string text;
  for (const int j : joints) text += (text.empty() ? "{$" : ", $") + std::to_string(j + 1);
  return text.empty() ? "none" : text + "}";
}

std::string range_text(int first, int last) {
  std::vector<int> joints;
  for (int j = first; j <= last; ++j) joints.push_back(j);
  return screws_text(joints);
}

std::vector<int> all_but(const std::vector<int>& joints, int count) {
  std::vector<int> others;
  for (int j = 0; j < count; ++j)
    if (std::find(joints.begin(), joints.end(), j) == joints.end()) others.push_back(j);
  return others;
}

/// "joints 1, 2 and 4"
std::string joints_in_words(const std::vector<int>& joints) {
  std::string text = joints.size() == 1 ? "joint " : "joints ";
  for (std::size_t k = 0; k < joints.size(); ++k)
    text += (k == 0 ? "" : k + 1 == joints.size() ? " and " : ", ") + std::to_string(joints[k]);
  return text;
}

/// "joint 4 (wrist_2)"
std::string joint_in_words(const chain::Robot& robot, std::size_t j) {
  const std::string& name = robot.joint[j].name;
  return "joint " + std::to_string(j) + (name.empty() ? "" : " (" + name + ")");
}

/// A unit vector to three digits.
std::string direction_text(const Vec3<double>& v) {
  std::string text;
  for (const double x : v.m) append(text, "%s%.3g", text.empty() ? "(" : ", ", std::abs(x) < 5e-4 ? 0 : x);
  return text + ")";
}

/// "2 deg", or radians where degrees would have many zeros.
std::string angle_text(double angle) {
  std::string text;
  if (angle < 1e-5)
    append(text, "%.3g rad", angle);
  else
    append(text, "%.6g deg", angle * 180 / M_PI);
  return text;
}

/// Below this distance a configuration is singular within the rounding of its joint values [rad].
constexpr double kWithinRounding = 1e-6;

void print_screws(const ScrewSet& set, std::string& text) {
  text += "1. Screws (direction; moment); as in the papers, $1 is that of joint 0\n";
  for (std::size_t k = 0; k < set.screw.size(); ++k) {
    const Screw<double>& s = set.screw[k];
    append(text, "   $%zu = %s", k + 1, screw_text(s).c_str());
    if (norm(s.w) > 0 && std::abs(screw_pitch(s)) > 1e-10) append(text, ", pitch %g", screw_pitch(s));
    text += "\n";
  }
  append(text, "2. S = %s\n", range_text(0, static_cast<int>(set.screw.size()) - 1).c_str());
}

void print_rank(const Analysis& a, const AnalyzeOptions* options, std::string& text) {
  append(text, "3. Rank %d of %d: the arm is %s", a.rank, a.generic_rank, a.arm_singular ? "singular" : "not singular");
  if (a.arm_singular) append(text, ", %d %s lost", a.lost_freedoms, a.lost_freedoms == 1 ? "freedom" : "freedoms");
  text += "\n   singular values";
  for (const double s : a.singular_values) append(text, " %.4g", s);
  const Vec3<double>& c = a.scaling.origin;
  append(text, "\n   of screws about (%g, %g, %g) in units of %g m\n", clean(c[0]), clean(c[1]), clean(c[2]),
         a.scaling.length);
  if (options != nullptr) append(text, "   zero is what is below %g of the largest\n", options->tolerance);
  if (a.arm_singular) append(text, "   sigma %d is %.2g times the next one\n", a.rank, a.gap);
  if (!a.arm_singular) return;
  text += "   wrenches that the arm cannot yield to (force; moment, about the origin of the screws)\n";
  for (const Wrench<double>& u : a.lost_wrenches)
    append(text, "     %s: %s\n", wrench_text(u).c_str(), lost_text(u).c_str());
  if (a.generic_rank < 6)
    append(text, "     %d of these %d dimensions are no loss: an arm of rank %d has them in every configuration\n",
           6 - a.generic_rank, 6 - a.rank, a.generic_rank);
}

void print_discarded(const Analysis& a, std::string& text) {
  if (!a.arm_singular) return;
  append(text, "4. Joints that are not dependent: %s; joints 0 and %d change no rank by moving\n",
         joints_text(all_but(a.dependent_joints, a.joints)).c_str(), a.joints - 1);
  text += "   joint rates that leave the end effector at rest\n";
  for (const std::vector<double>& v : a.null_space) append(text, "     %s\n", numbers_text(v).c_str());
}

void print_dims(const Analysis& a, std::string& text) {
  text += "5. Dimensions of the ordered subsets {$j ... $k}, row j, column k\n";
  for (const std::array<int, 3>& d : a.dims) {
    if (d[0] == d[1]) append(text, "     %2d %*s", d[0] + 1, 2 * d[0], "");
    append(text, " %d", d[2]);
    if (d[1] == a.joints - 1) text += "\n";
  }
}

void print_actuators(const Interval& i, std::string& text) {
  std::string products;
  for (const Actuator& f : i.actuators)
    for (const Actuator::Product& p : f.products)
      if (p.outside) append(products, " [$%d $%d]", f.joint + 1, p.receptor + 1);
  append(text, "6.-7. Lie products outside its span, one by one (the paper's test):%s\n",
         products.empty() ? " none" : products.c_str());
  std::vector<int> weighted, restores;
  for (const Actuator& f : i.actuators) {
    if (f.weighted_outside) weighted.push_back(f.joint);
    if (f.restores) restores.push_back(f.joint);
  }
  append(text, "      weighted sums outside its span (exact at first order): actuators %s\n",
         screws_text(weighted).c_str());
  append(text, "      a finite motion makes it independent: joints %s\n", joints_text(restores).c_str());
}

void print_intervals(const Analysis& a, std::string& text) {
  print_dims(a, text);
  if (a.intervals.empty()) text += "   None is singular\n";
  for (std::size_t k = 0; k < a.intervals.size(); ++k) {
    const Interval& i = a.intervals[k];
    append(text, "   SOSM(%zu) = %s, dimension %d; SSM(%zu) = %s\n", k + 1, range_text(i.first, i.last).c_str(), i.dim,
           k + 1, screws_text(i.dependent_joints).c_str());
    if (!i.null_vector.empty()) append(text, "      dependence %s\n", numbers_text(i.null_vector).c_str());
    for (const Wrench<double>& u : i.reciprocal) append(text, "      reciprocal %s\n", wrench_text(u).c_str());
    print_actuators(i, text);
  }
  if (a.subchain_singular && !a.arm_singular)
    text += "   Only sub-chains are singular; the arm has its full mobility.\n";
}

const char* self_motion_text(SelfMotion decision) {
  switch (decision) {
    case SelfMotion::kNone:
      return "does not lead out";
    case SelfMotion::kEscapes:
      return "leads out";
    case SelfMotion::kUndecided:
      return "does not lead out to second order";
    case SelfMotion::kNotChecked:
      return "was not checked";
  }
  return "";
}

const char* sign_text(int sign) { return sign > 0 ? "+" : sign < 0 ? "-" : "+-"; }

void print_joints(const Analysis& a, const AnalyzeOptions* options, std::string& text) {
  text += "8. Each joint alone: sigma ~ rate * step^order, and sigma (rank) after the finite step";
  if (options != nullptr) append(text, " of %g", options->step);
  text += "\n";
  text += "     joint  order  rate      better   after +step     after -step\n";
  for (const JointEscape& e : a.escape) {
    append(text, "     %5d  %5d  %-9.4g %-6s   %-9.4g (%d)   %-9.4g (%d)\n", e.joint, e.order, e.rate,
           e.order == 0 ? "" : sign_text(e.sign), clean(e.sigma_plus), e.rank_plus, clean(e.sigma_minus), e.rank_minus);
  }
}

/// Lowest order, then highest rate; nullptr where no joint leads out alone.
const JointEscape* best_joint(const Analysis& a) {
  const JointEscape* best = nullptr;
  for (const JointEscape& e : a.escape) {
    // Does not lead out.
    if (e.order == 0) continue;
    if (best == nullptr || e.order < best->order || (e.order == best->order && e.rate > best->rate)) best = &e;
  }
  return best;
}

void print_sets(const Analysis& a, std::string& text) {
  for (const EscapeSet& e : a.escape_sets) {
    std::string joints;
    for (std::size_t k = 0; k < e.joints.size(); ++k)
      append(joints, "%s%d (%s)", k == 0 ? "" : ", ", e.joints[k], sign_text(e.sign[k]));
    append(text, "     joints %s: order %d, rate %.4g, sigma %.4g after the step\n", joints.c_str(), e.order, e.rate,
           e.sigma);
  }
}

void print_escape(const Analysis& a, const AnalyzeOptions* options, std::string& text) {
  if (!a.arm_singular) return;
  print_joints(a, options, text);
  if (const JointEscape* best = best_joint(a)) {
    append(text, "   Best: joint %d, %s, rate %.4g per step^%d\n", best->joint,
           best->sign > 0   ? "forwards"
           : best->sign < 0 ? "backwards"
                            : "either way",
           best->rate, best->order);
  } else if (a.escape_sets.empty()) {
    text += "   No joint leads out alone, and no set of the size that was searched\n";
  } else {
    text += "   No joint leads out alone; the smallest sets that do\n";
    print_sets(a, text);
  }
  if (!a.best_direction.empty())
    append(text, "   Fastest at first order: all joints along %s, rate %.4g\n", numbers_text(a.best_direction).c_str(),
           a.best_rate);
  append(text, "   Motion of the joints with the end effector at rest %s\n", self_motion_text(a.self_motion));
}

void print_recovery(const Analysis& a, std::string& text) {
  if (!a.recovery.motion.empty()) {
    text += "9. Carried out: dq =";
    for (const double x : a.recovery.motion) append(text, " %g", x);
    append(text, "; rank %d, sigma %.4g\n", a.recovery.rank, a.recovery.sigma);
  }
  if (!a.clearing_sets.empty()) {
    text += "   Smallest sets of joints whose motion leaves no singular ordered subset:";
    for (const std::vector<int>& set : a.clearing_sets) text += " " + joints_text(set);
    text += "\n";
  }
}

}  // namespace

std::string vicinity_text(const Analysis& a, const Vicinity& near) {
  std::string text = "Nearest singularity  ";
  if (!near.searched)
    text += "not searched for: arms of this rank have no search";
  else if (!near.found)
    text += "none was found";
  else {
    if (!near.type.empty()) text += near.type + ", ";
    if (a.arm_singular)
      text += "here";
    else
      text += angle_text(near.distance) + " of joint motion away";
    const std::vector<int>& joints = a.arm_singular ? a.dependent_joints : near.dependent_joints;
    if (!joints.empty()) text += ": " + joints_in_words(joints);
    if (near.escape_joint >= 0) append(text, "; joint %d leads out", near.escape_joint);
    if (!a.arm_singular && near.distance < kWithinRounding)
      text += "\n                     the arm is singular within the rounding of its joint values";
  }
  text += "\nCondition number     ";
  if (a.arm_singular)
    text += "infinite";
  else
    append(text, "%.6g (largest by smallest singular value)", condition_number(a));
  return text + "\n";
}

std::string tool_speed_text(const chain::Robot& robot, const ToolSpeed& s, int width) {
  std::string text;
  append(text, "%-*s", width, "Joint speeds");
  if (!s.possible) return text + "some motion of the tool takes infinite ones\n";
  const auto worst = static_cast<std::size_t>(s.joint);
  const auto unit = [&](std::size_t j) { return robot.joint[j].prismatic ? "m/s" : "rad/s"; };
  append(text, "1 m/s of the tool%s takes at most %.4g %s: %s, along %s\n",
         s.orientation_kept ? " without turning" : "", s.joint_speed[worst], unit(worst),
         joint_in_words(robot, worst).c_str(), direction_text(s.direction[worst]).c_str());
  append(text, "%*sof each joint", width, "");
  for (std::size_t j = 0; j < s.joint_speed.size(); ++j)
    append(text, " %.4g%s", clean(s.joint_speed[j]), robot.joint[j].prismatic ? " m/s" : "");
  append(text, "\n%-*s", width, "Tool speed");
  if (std::isinf(s.speed)) return text + "not limited: the robot has no velocity_limit\n";
  append(text, "%.4g m/s in every direction; %s is then at its limit of %.4g %s\n", s.speed,
         joint_in_words(robot, worst).c_str(), robot.joint[worst].velocity_limit, unit(worst));
  return text;
}

std::string singularity_text(const ScrewSet& set, const Analysis& a, const AnalyzeOptions* options) {
  std::string text;
  print_screws(set, text);
  print_rank(a, options, text);
  print_discarded(a, text);
  print_intervals(a, text);
  print_escape(a, options, text);
  print_recovery(a, text);
  return text;
}

}  // namespace garra::cli
