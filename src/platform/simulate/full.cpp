// Integrator::kHybrid: trajectories in the full form.
#include "platform/batch/full.hpp"

#include <cmath>
#include <limits>

#include "platform/batch/rows_run.hpp"
#include "platform/simulate/full_ops.hpp"
#include "platform/simulate/job.hpp"

namespace garra::platform {

namespace {

// A state goes through the rows as plain numbers, so that spans can be run one after the other.
constexpr std::int64_t kStateWidth = batch::kFields<double, FullState<double>>;
static_assert(sizeof(Limits<double>) == 61 * sizeof(double), "the limits go into the rows as 61 numbers");

/// All samples at a moment, row by row.
struct Samples {
  std::vector<double> state, kinetic, potential, lengths;
  [[nodiscard]] const FullState<double>& at(std::int64_t i) const {
    return *reinterpret_cast<const FullState<double>*>(state.data() + i * kStateWidth);
  }
  /// After a run into `next`, whose samples these are to be.
  [[nodiscard]] std::vector<OutColumn> rooms(std::int64_t n) {
    return {room(state, n, static_cast<int>(kStateWidth)), room(kinetic, n, 1), room(potential, n, 1),
            room(lengths, n, 6)};
  }
};

MotionStatus status_of(const FullState<double>& s) { return static_cast<MotionStatus>(static_cast<int>(s.status)); }

template <int N>
void put(const Vec<double, N>& v, std::int64_t row, std::int64_t width, std::int64_t from, std::vector<double>& to) {
  for (int k = 0; k < N; ++k) to[static_cast<std::size_t>(row * width + from + k)] = v[k];
}

/// Pose and twist of a sample to row `row`.
void put_motion(const FullState<double>& s, std::int64_t row, Poses& pose, std::vector<double>& velocity) {
  const Place<double>&at = s.q.at.platform, &rate = s.q.rate.platform;
  put(at.r, row, 3, 0, pose.position);
  put(normalized(at.p), row, 4, 0, pose.quaternion);
  put(rate.r, row, 6, 0, velocity);
  put(turning(at.p, rate.p), row, 6, 3, velocity);
}

class Run {
 public:
  Run(const Platforms& platforms, const Starts& starts, const ForceInput& force, const SimulateOptions& options,
      const Device& device)
      : n_(static_cast<std::int64_t>(starts.pose.position.size() / 3)),
        starts_(starts),
        force_(force),
        options_(options),
        out_(motion_room(n_, options)) {
    job_.count = n_;
    job_.models = models_for(platforms, n_);
    job_.device = device;
    for (const Platform& p : platforms) limits_.push_back(limits_of(p));
    allowed_ = {reinterpret_cast<const double*>(limits_.data()), 61, limits_.size() == 1};
    watch_ = {{options.near_singular, options.characteristic_length}, options.watch_limits};
    // Constant forces are one row.
    force_rows_ = force.interval > 0 ? force.samples : 1;
    own_force_ = static_cast<std::int64_t>(force.force.size()) != force_rows_ * kLegs;
  }

  Trajectories operator()() {
    if (n_ == 0) return out_;
    blank_outputs();
    start();
    if (!options_.times.empty() && options_.times.front() == 0) record(0);
    for (const MotionSpan& span : motion_spans(options_, force_)) {
      advance(span);
      if (span.output >= 0) record(span.output);
    }
    finish();
    return out_;
  }

 private:
  /// Forces at a row of the input and how they change to another.
  void forces(std::int64_t row, std::int64_t next) {
    from_.resize(static_cast<std::size_t>(6 * n_));
    change_.resize(from_.size());
    for (std::int64_t i = 0; i < n_; ++i)
      for (std::int64_t k = 0; k < kLegs; ++k) {
        const std::int64_t first = own_force_ ? i * force_rows_ : 0;
        const double a = force_.force[static_cast<std::size_t>((first + row) * kLegs + k)];
        const double b = force_.force[static_cast<std::size_t>((first + next) * kLegs + k)];
        from_[static_cast<std::size_t>(i * kLegs + k)] = a;
        change_[static_cast<std::size_t>(i * kLegs + k)] = b - a;
      }
  }

  void start() {
    // Rows of the first moment: enough for the check of the start.
    forces(0, 0);
    job_.in = {column(starts_.pose.position, 3), column(starts_.pose.quaternion, 4),
               column(starts_.velocity, 6),      column(from_, 6),
               column(starts_.wrench, 6),        allowed_};
    job_.out = now_.rooms(n_);
    run_rows(FullStartOp{watch_}, job_);
    for (std::int64_t i = 0; i < n_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      first_energy_.push_back(now_.kinetic[k] + now_.potential[k]);
      out_.status[k] = status_of(now_.at(i));
      out_.end_time[k] = out_.worst_balance[k] = 0;
    }
  }

  void advance(const MotionSpan& span) {
    forces(span.force, span.force_next);
    // Limits are an input of every span: a state does not carry them.
    job_.in = {column(now_.state, static_cast<int>(kStateWidth)), column(from_, 6), column(change_, 6),
               column(starts_.wrench, 6), allowed_};
    job_.out = next_.rooms(n_);
    const FullStepsOp op{span.steps,
                         {span.h, span.share, span.share_of_step},
                         {{options_.baumgarte}, options_.correct_above},
                         watch_,
                         {force_.viscous, force_.coulomb, force_.coulomb_speed}};
    run_rows(op, job_);
    for (std::int64_t i = 0; i < n_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      // Steps that a sample took tell where it ended; the time is not part of its state.
      const double taken = next_.at(i).steps - now_.at(i).steps;
      if (taken > 0) {
        // The last step's end is the moment itself, as in MotionRun, so that record() can compare for equality.
        const bool whole = taken == static_cast<double>(span.steps);
        out_.end_time[k] = whole ? span.to : std::fma(taken, span.h, span.from);
      }
      out_.status[k] = status_of(next_.at(i));
    }
    // Two sets of rows take turns, as an operation may not read what it writes.
    std::swap(now_, next_);
  }

  double balance(std::int64_t i) {
    const auto k = static_cast<std::size_t>(i);
    const double b = now_.kinetic[k] + now_.potential[k] - first_energy_[k] - now_.at(i).work;
    out_.worst_balance[k] = std::max(out_.worst_balance[k], std::abs(b));
    return b;
  }

  void blank_outputs() {
    for (std::vector<double>* v : {&out_.pose.position, &out_.pose.quaternion, &out_.velocity, &out_.lengths,
                                   &out_.kinetic, &out_.potential, &out_.work, &out_.balance, &out_.drift})
      v->assign(v->size(), std::numeric_limits<double>::quiet_NaN());
  }

  /// Samples that got to the time of an output, a sample's own end among them.
  void record(std::int64_t output) {
    const auto outputs = static_cast<std::int64_t>(options_.times.size());
    for (std::int64_t i = 0; i < n_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const FullState<double>& s = now_.at(i);
      if (status_of(s) == MotionStatus::kInvalidInput ||
          out_.end_time[k] != options_.times[static_cast<std::size_t>(output)])
        continue;
      const std::int64_t row = i * outputs + output;
      const auto r = static_cast<std::size_t>(row);
      put_motion(s, row, out_.pose, out_.velocity);
      for (std::size_t leg = 0; leg < 6; ++leg) out_.lengths[6 * r + leg] = now_.lengths[6 * k + leg];
      out_.kinetic[r] = now_.kinetic[k];
      out_.potential[r] = now_.potential[k];
      out_.work[r] = s.work;
      out_.balance[r] = balance(i);
      out_.drift[r] = s.drift;
    }
  }

  void finish() {
    for (std::int64_t i = 0; i < n_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const FullState<double>& s = now_.at(i);
      if (out_.status[k] == MotionStatus::kInvalidInput) {
        // Nothing was integrated: 0 from the start would look like a perfect balance.
        out_.worst_balance[k] = std::numeric_limits<double>::quiet_NaN();
        continue;
      }
      put_motion(s, i, out_.end_pose, out_.end_velocity);
      out_.end_balance[k] = balance(i);
      out_.worst_drift[k] = s.worst_drift;
      out_.steps[k] = static_cast<std::int64_t>(s.steps);
      out_.corrections[k] = static_cast<std::int64_t>(s.corrections);
    }
  }

  std::int64_t n_;
  const Starts& starts_;
  const ForceInput& force_;
  const SimulateOptions& options_;
  Trajectories out_;
  RowsJob job_;
  std::vector<Limits<double>> limits_;  ///< of each platform, or of the one that all share
  InColumn allowed_;                    ///< they as a column of 61 numbers
  HybridWatch watch_{};
  std::int64_t force_rows_ = 1;
  bool own_force_ = false;
  Samples now_, next_;
  std::vector<double> from_, change_, first_energy_;
};

}  // namespace

Trajectories simulate_full(const Platforms& platforms, const Starts& starts, const ForceInput& force,
                           const SimulateOptions& options, const Device& device) {
  return Run(platforms, starts, force, options, device)();
}

}  // namespace garra::platform
