// job = "grasp" with [simulation] in the program: writes motion.h5 and the answer, replays a trajectory.
#include "grasp/command/time_job.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/atomic_file.hpp"
#include "garra/core/error.hpp"
#include "grasp/command/grasp_answer.hpp"
#include "grasp/command/time_file.hpp"
#include "grasp/time/time_study.hpp"
#include "study/summary.hpp"

namespace garra::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using grasp::MotionSeries;
using grasp::TimeStudy;
using grasp::Trajectory;
using study::number;

constexpr double kFileInstants = 201;       ///< of a trajectory in a file
constexpr std::size_t kShownInstants = 11;  ///< of a replay in a terminal
constexpr std::size_t kWorstInFile = 4;

double distance(const double* a, const double* b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

/// Angle between two orientations; |vector part of their quotient| is the sine of half of it.
double turn_between(const double* p, const double* q) {
  const double w = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
  // Vector part of conj(p) q.
  const double x = p[0] * q[1] - p[1] * q[0] - p[2] * q[3] + p[3] * q[2];
  const double y = p[0] * q[2] - p[2] * q[0] - p[3] * q[1] + p[1] * q[3];
  const double z = p[0] * q[3] - p[3] * q[0] - p[1] * q[2] + p[2] * q[1];
  // abs: q and -q are one orientation, with the smaller angle meant; atan2 keeps the digits of which acos(w) would lose
  // half.
  return 2 * std::atan2(std::hypot(x, y, z), std::abs(w));
}

/// Rows until the trajectory stopped.
std::size_t count_rows(const MotionSeries& s) {
  std::size_t n = 0;
  while (n < s.time.size() && std::isfinite(s.position[3 * n])) ++n;
  return n;
}

/// At most `most` of `all` indices, evenly spread, including the first and the last.
std::vector<std::size_t> spread(std::size_t all, std::size_t most) {
  std::vector<std::size_t> list;
  const std::size_t n = std::min(all, most);
  // Integers throughout: first and last are exact.
  for (std::size_t k = 0; k < n; ++k) list.push_back(n == 1 ? 0 : k * (all - 1) / (n - 1));
  return list;
}

Json contact_at(const MotionSeries& s, std::size_t at) {
  static constexpr const char* state[3] = {"stick", "slip", "break"};
  const double* c = s.force.data() + 3 * at;
  return {{"state", state[s.state[at]]},
          {"force", {number(c[0]), number(c[1]), number(c[2])}},
          {"gap", number(s.gap[at])},
          {"slip_speed", number(s.slip_speed[at])}};
}

Json instants_to_json(const MotionSeries& s, std::size_t contacts) {
  Json list = Json::array();
  for (const std::size_t k : spread(count_rows(s), kShownInstants)) {
    const double* p = s.position.data() + 3 * k;
    Json row = {{"time", s.time[k]},
                {"position", {p[0], p[1], p[2]}},
                {"drift", distance(p, s.first.data())},
                {"turn", turn_between(s.quaternion.data() + 4 * k, s.first.data() + 3)},
                {"contacts", Json::array()}};
    for (std::size_t j = 0; j < contacts; ++j) row["contacts"].push_back(contact_at(s, k * contacts + j));
    list.push_back(row);
  }
  return list;
}

Json certificate(const Trajectory& t, const grasp::Scenario& s) {
  Json j = {{"residual", number(t.worst_residual)},
            {"tolerance", s.tolerance},
            {"gap", number(t.worst_gap)},
            {"cone", number(t.worst_cone)},
            {"energy_balance", number(t.energy_balance)},
            {"momentum_balance", number(t.momentum_balance)},
            {"unstable_steps", nullptr},
            {"worst_ratio", nullptr}};
  if (s.time->scheme != grasp::Scheme::kExplicit) return j;
  j["unstable_steps"] = number(t.unstable_steps);
  j["worst_ratio"] = number(t.worst_ratio);
  return j;
}

Json to_json(const TimeStudy& study, const NamedMotion& m, std::int64_t sample) {
  const Trajectory& t = m.series.trajectory;
  Json j = {{"sample", sample},
            {"outcome", to_string(t.end)},
            {"level", sample % std::max<std::int64_t>(1, std::ssize(study.time().friction))},
            {"friction", number(m.level)},
            {"end_time", number(t.end_time)},
            {"slip_time", number(t.slip_time)},
            {"open_time", number(t.open_time)},
            {"loss_time", number(loss_time(t))},
            {"peak_drift", number(t.peak_drift)},
            {"peak_turn", number(t.peak_turn)},
            {"least_margin", number(t.least_margin)}};
  j["inputs"] = Json::object();
  for (std::size_t k = 0; k < m.series.inputs.size(); ++k)
    j["inputs"][study.inputs()[k].name] = number(m.series.inputs[k]);
  j["contacts"] = Json::array();
  for (std::size_t k = 0; k < m.series.friction.size(); ++k)
    j["contacts"].push_back({{"friction", number(m.series.friction[k])},
                             {"slip", number(t.slip[k])},
                             {"peak_force", number(t.peak_force[k])},
                             {"peak_torque", number(t.peak_torque[k])}});
  j["instants"] = instants_to_json(m.series, m.series.friction.size());
  j["steps"] = number(t.steps);
  j["iterations"] = number(t.iterations);
  j["certificate"] = certificate(t, study.scenario());
  return j;
}

double value(const Json& x) { return x.is_null() ? NAN : x.get<double>(); }

void print_time(const char* what, const Json& time) {
  time.is_null() ? std::printf("  %-28s %12s\n", what, "never")
                 : std::printf("  %-28s %12.6g s\n", what, time.get<double>());
}

void print_contacts(const Json& j) {
  std::printf("\n%-14s %10s %12s %14s %14s\n", "Contacts", "friction", "path [mm]", "peak force [N]", "peak torque");
  int k = 0;
  for (const Json& c : j["contacts"]) {
    std::printf("  contact %-4d %10.4f %12.4g %14.4g", k++, value(c["friction"]), 1000 * value(c["slip"]),
                value(c["peak_force"]));
    c["peak_torque"].is_null() ? std::printf(" %14s\n", "-")
                               : std::printf(" %12.1f %%\n", 100 * c["peak_torque"].get<double>());
  }
}

void print_instants(const Json& j) {
  std::printf("\n%-9s %10s %10s   state, normal and tangential force of each contact [N]\n", "Time [s]", "drift [mm]",
              "turn [deg]");
  constexpr double kDegrees = 180 / M_PI;
  for (const Json& row : j["instants"]) {
    std::printf("%-9.4g %10.4g %10.4g  ", row["time"].get<double>(), 1000 * row["drift"].get<double>(),
                kDegrees * row["turn"].get<double>());
    for (const Json& c : row["contacts"])
      std::printf(" %5s %6.2f %6.2f", c["state"].get<std::string>().c_str(), value(c["force"][0]),
                  std::hypot(value(c["force"][1]), value(c["force"][2])));
    std::printf("\n");
  }
}

void print_certificate(const Json& j) {
  const Json& c = j["certificate"];
  std::printf("\nCertificate: residual at most %.3e (tolerance %.0e) in %.0f steps with %.0f Newton steps\n",
              value(c["residual"]), value(c["tolerance"]), value(j["steps"]), value(j["iterations"]));
  std::printf("             gap %.2e m, cone %.2e N, energy %.2e J, momentum %.2e N s\n", value(c["gap"]),
              value(c["cone"]), value(c["energy_balance"]), value(c["momentum_balance"]));
  if (!c["unstable_steps"].is_null())
    std::printf("             %.0f steps beyond the stability bound, at worst %.3g times\n", value(c["unstable_steps"]),
                value(c["worst_ratio"]));
}

void print_motion(const Json& j, const std::vector<grasp::Input>& inputs) {
  std::printf("sample %lld: %s", j["sample"].get<long long>(), j["outcome"].get<std::string>().c_str());
  if (!j["friction"].is_null()) std::printf(", at friction %.4g", j["friction"].get<double>());
  std::printf("\n\n");
  print_time("first slip", j["slip_time"]);
  print_time("first open contact", j["open_time"]);
  print_time("end of the trajectory", j["end_time"]);
  if (!j["inputs"].empty())
    std::printf("\nInputs%s\n", j["friction"].is_null() ? "" : " (friction about the scenario's; the level shifts it)");
  print_inputs(inputs, j["inputs"]);
  print_contacts(j);
  print_instants(j);
  print_certificate(j);
}

class GraspTimeJob final : public Job {
 public:
  explicit GraspTimeJob(const grasp::Scenario& scenario) : study_(scenario) {}

  [[nodiscard]] const study::Study& study() const override { return study_; }
  [[nodiscard]] Resolved resolved() const override {
    // Warnings concern the nominal grasp at its first instant, which a study without steps has.
    return resolved_grasp(study_.scenario(), grasp::Study(study_.scenario()));
  }
  [[nodiscard]] std::vector<std::string> models() const override {
    std::vector<std::string> files = finger_files(study_.scenario());
    const auto add = [&](const std::string& file) {
      if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    };
    add(study_.time().sample_file);
    for (const grasp::TimeLoad& load : study_.time().loads) add(load.file);
    return files;
  }

  /// motion.h5: the nominal trajectory; the first losses at levels from the lowest to the highest with losses; further
  /// bad ones; and the held one that came nearest to being dropped.
  void write_files(const io::RunFolder& folder, const study::Total& total) const override {
    const std::vector<std::int64_t> in_hand = study_.ranked(total, grasp::kInHand);
    std::vector<std::int64_t> worst = study_.ranked(total, grasp::kLosses);
    worst.insert(worst.end(), in_hand.begin(), in_hand.end());
    std::vector<NamedMotion> motions = {nominal_motion(study_, instants_to_json())};
    const auto add = [&](std::int64_t sample, const std::string& what) {
      motions.push_back(motion_of_sample(study_, sample, instants_to_json(), what));
    };
    // Shown last, with a title of its own, so not among the losses.
    const std::int64_t closest = in_hand.empty() ? -1 : in_hand.front();
    std::vector<std::int64_t> shown = {closest};
    const std::vector<std::int64_t> lost = study_.first_losses(total);
    const std::string which = study_.time().friction.empty() ? "lost first: " : "first lost of its level: ";
    for (const std::size_t k : spread(lost.size(), kWorstInFile)) shown.push_back(lost[k]);
    for (const std::int64_t sample : shown)
      if (sample != closest) add(sample, which);
    for (const std::int64_t sample : worst) {
      // At most kWorstInFile of them beside the closest one.
      if (shown.size() > kWorstInFile || std::find(shown.begin(), shown.end(), sample) != shown.end()) continue;
      shown.push_back(sample);
      add(sample, "");
    }
    if (closest >= 0) add(closest, "held, nearest to be dropped: ");
    write_motions(folder.file("motion.h5"), study_.scenario(), motions);
  }
  [[nodiscard]] bool has_files(const io::RunFolder& folder) const override {
    return fs::exists(folder.file("motion.h5"));
  }

  [[nodiscard]] std::string answer(const Json& summary, const Json& manifest, const std::string& run) const override {
    return grasp_time_answer_text(summary, manifest, {run, sample_to_replay(summary)});
  }

  /// The sample that was lost first, else the one that moved farthest.
  [[nodiscard]] std::int64_t sample_to_replay(const Json& summary) const override {
    const Json& worst = summary["worst"];
    return worst.empty() ? -1 : worst[0]["sample"].get<std::int64_t>();
  }

  void replay(const ReplayArguments& a, std::int64_t sample) const override {
    if (!a.problem.empty())
      throw Error(
          ExitCode::kUsage,
          "--problem " + a.problem + ": a sample of a grasp study in time has a contact problem at every step",
          "Give -o FILE.h5 for its trajectory, or leave out [simulation] for the problem of the first instant.");
    if (!a.output.empty()) io::require_writable(a.output);
    const NamedMotion motion = motion_of_sample(study_, sample, instants_to_json(), "");
    if (!a.output.empty()) write_motions(a.output, study_.scenario(), {motion});
    const Json j = to_json(study_, motion, sample);
    if (a.format == "json")
      std::printf("%s\n", j.dump(1).c_str());
    else
      print_motion(j, study_.inputs());
  }

 private:
  /// Instants of a trajectory in a file, at most one per step.
  [[nodiscard]] int instants_to_json() const {
    // Motion::series() could not show more instants than there are steps.
    return static_cast<int>(std::min(kFileInstants, std::round(study_.time().duration / study_.time().step) + 1));
  }

  TimeStudy study_;
};

}  // namespace

std::unique_ptr<Job> make_grasp_time_job(const grasp::Scenario& scenario) {
  return std::make_unique<GraspTimeJob>(scenario);
}

}  // namespace garra::cli
