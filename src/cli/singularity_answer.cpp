#include "cli/singularity_answer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace garra::cli {

namespace {

using namespace singularity;
using Json = nlohmann::ordered_json;

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

std::string screw_text(const Screw<double>& s) {
  std::string text;
  append(text, "(%g, %g, %g; %g, %g, %g)", clean(s.w[0]), clean(s.w[1]), clean(s.w[2]), clean(s.v[0]), clean(s.v[1]),
         clean(s.v[2]));
  return text;
}

std::string joints_text(const std::vector<int>& joints) {
  std::string text;
  for (const int j : joints) text += (text.empty() ? "{" : ", ") + std::to_string(j + 1);
  return text.empty() ? "none" : text + "}";
}

std::string range_text(int first, int last) {
  std::string text;
  for (int j = first; j <= last; ++j) text += (j == first ? "{$" : ", $") + std::to_string(j + 1);
  return text + "}";
}

std::vector<int> all_but(const std::vector<int>& joints, int count) {
  std::vector<int> others;
  for (int j = 0; j < count; ++j)
    if (std::find(joints.begin(), joints.end(), j) == joints.end()) others.push_back(j);
  return others;
}

void print_screws(const ScrewSet& set, std::string& text) {
  text += "1. Screws (direction; moment)\n";
  for (std::size_t k = 0; k < set.screw.size(); ++k)
    append(text, "   $%zu = %s\n", k + 1, screw_text(set.screw[k]).c_str());
  append(text, "2. S = %s\n", range_text(0, static_cast<int>(set.screw.size()) - 1).c_str());
}

void print_rank(const Analysis& a, std::string& text) {
  append(text, "3. Rank %d of %d: the arm is %s", a.rank, a.generic_rank, a.arm_singular ? "singular" : "not singular");
  if (a.arm_singular) append(text, ", %d %s lost", a.lost_freedoms, a.lost_freedoms == 1 ? "freedom" : "freedoms");
  text += "\n   singular values";
  for (const double s : a.singular_values) append(text, " %.4g", s);
  const Vec3<double>& c = a.scaling.origin;
  append(text, "\n   of screws about (%g, %g, %g) in units of %g m\n", clean(c[0]), clean(c[1]), clean(c[2]),
         a.scaling.length);
  if (!a.arm_singular) return;
  text += "   wrenches that the arm cannot yield to (moment; force, about the origin of the screws)\n";
  for (const Screw<double>& u : a.lost_wrenches) append(text, "     %s\n", screw_text(u).c_str());
}

void print_discarded(const Analysis& a, std::string& text) {
  if (!a.arm_singular) return;
  append(text, "4. Not responsible: %s; and joints 1 and %d change no rank by moving\n",
         joints_text(all_but(a.responsible, a.joints)).c_str(), a.joints);
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
         joints_text(weighted).c_str());
  append(text, "      a finite motion makes it independent: joints %s\n", joints_text(restores).c_str());
}

void print_intervals(const Analysis& a, std::string& text) {
  if (a.intervals.empty()) text += "5. No singular ordered subset\n";
  for (std::size_t k = 0; k < a.intervals.size(); ++k) {
    const Interval& i = a.intervals[k];
    append(text, "5. SOSM(%zu) = %s, dimension %d; SSM(%zu) = %s\n", k + 1, range_text(i.first, i.last).c_str(), i.dim,
           k + 1, joints_text(i.responsible).c_str());
    print_actuators(i, text);
  }
  if (a.subchain_singular && !a.arm_singular)
    text += "   Only sub-chains are singular; the arm has its full mobility.\n";
}

const char* self_motion_text(SelfMotion verdict) {
  switch (verdict) {
    case SelfMotion::kNone:
      return "does not lead out";
    case SelfMotion::kEscapes:
      return "leads out";
    case SelfMotion::kUndecided:
      return "does not lead out to second order";
    case SelfMotion::kNotJudged:
      return "was not judged";
  }
  return "";
}

void print_escape(const Analysis& a, std::string& text) {
  if (!a.arm_singular) return;
  text += "8. Joints that lead out (sigma ~ rate * step^order)\n";
  for (const EscapeSet& e : a.escape_sets) {
    append(text, "     %-12s order %d, rate %.4g, sigma %.4g after the step\n", joints_text(e.joints).c_str(), e.order,
           e.rate, e.sigma);
  }
  if (a.escape_sets.empty()) text += "     no set of the size that was searched\n";
  append(text, "   Motion of the joints with the end effector at rest %s\n", self_motion_text(a.self_motion));
}

void print_recovery(const Analysis& a, std::string& text) {
  if (!a.recovery.q.empty()) {
    text += "9. Carried out: dq =";
    for (const double x : a.recovery.q) append(text, " %g", x);
    append(text, "; rank %d, sigma %.4g\n", a.recovery.rank, a.recovery.sigma);
  }
  if (!a.clearing_sets.empty()) {
    text += "   Smallest sets whose motion leaves no singular ordered subset:";
    for (const std::vector<int>& set : a.clearing_sets) text += " " + joints_text(set);
    text += "\n";
  }
}

Json joints_json(const std::vector<int>& joints) {
  Json out = Json::array();
  for (const int j : joints) out.push_back(j + 1);
  return out;
}

/// Rounding errors of zeros mean nothing to a reader.
std::vector<double> cleaned(std::vector<double> values) {
  for (double& x : values) x = clean(x);
  return values;
}

Json screw_json(const Screw<double>& s) { return cleaned({s.w[0], s.w[1], s.w[2], s.v[0], s.v[1], s.v[2]}); }

Json screws_json(const std::vector<Screw<double>>& screws) {
  Json out = Json::array();
  for (const Screw<double>& s : screws) out.push_back(screw_json(s));
  return out;
}

Json actuator_json(const Actuator& f) {
  Json products = Json::array();
  for (const Actuator::Product& p : f.products)
    products.push_back({{"receptor", p.receptor + 1}, {"outside_span", p.outside}});
  return {{"joint", f.joint + 1},
          {"products", products},
          {"weighted_outside_span", f.weighted_outside},
          {"restores", f.restores}};
}

Json interval_json(const Interval& i) {
  Json actuators = Json::array();
  for (const Actuator& f : i.actuators) actuators.push_back(actuator_json(f));
  return {{"first", i.first + 1},
          {"last", i.last + 1},
          {"dim", i.dim},
          {"ssm", joints_json(i.responsible)},
          {"null_vector", cleaned(i.null_vector)},
          {"reciprocal", screws_json(i.reciprocal)},
          {"actuators", actuators}};
}

Json escape_json(const EscapeSet& e) {
  return {{"joints", joints_json(e.joints)}, {"order", e.order}, {"rate", e.rate}, {"sign", e.sign},
          {"direction", e.direction},        {"sigma", e.sigma}};
}

}  // namespace

std::string singularity_text(const ScrewSet& set, const Analysis& a) {
  std::string text;
  print_screws(set, text);
  print_rank(a, text);
  print_discarded(a, text);
  print_intervals(a, text);
  print_escape(a, text);
  print_recovery(a, text);
  return text;
}

Json singularity_json(const Analysis& a) {
  Json sosm = Json::array(), escape = Json::array(), clearing = Json::array();
  for (const Interval& i : a.intervals) sosm.push_back(interval_json(i));
  for (const EscapeSet& e : a.escape_sets) escape.push_back(escape_json(e));
  for (const std::vector<int>& set : a.clearing_sets) clearing.push_back(joints_json(set));
  const Vec3<double>& c = a.scaling.origin;
  Json out = {{"joints", a.joints},
              {"rank", a.rank},
              {"generic_rank", a.generic_rank},
              {"lost_freedoms", a.lost_freedoms},
              {"arm_singular", a.arm_singular},
              {"subchain_singular", a.subchain_singular},
              {"responsible", joints_json(a.responsible)},
              {"sosm", sosm},
              {"lost_wrenches", screws_json(a.lost_wrenches)},
              {"null_space", a.null_space},
              {"escape", escape},
              {"clearing_sets", clearing},
              {"self_motion", to_string(a.self_motion)},
              {"singular_values", a.singular_values},
              {"gap", std::isfinite(a.gap) ? Json(a.gap) : Json(nullptr)},
              {"scaling", {{"origin", {c[0], c[1], c[2]}}, {"length", a.scaling.length}}}};
  out["recovery"] = a.recovery.q.empty()
                        ? Json(nullptr)
                        : Json{{"q", a.recovery.q}, {"rank", a.recovery.rank}, {"sigma", a.recovery.sigma}};
  return out;
}

}  // namespace garra::cli
