// Finishes one instant of many grasps after its forces are certified: accelerations and contact modes.
#include <algorithm>
#include <cmath>

#include "grasp/time/analyze.hpp"

namespace garra::grasp {

namespace {

/// One instant after its contact problem: effects of the forces, and contact modes. Contacts beyond the last carry
/// nothing.
class SolvedInstant {
 public:
  SolvedInstant(const AnalysisJob& job, const AnalysisTiles& host, std::int64_t i)
      : job_(job), host_(host), i_(i), x_(batch::load<double, ObjectMotion<double>>(host.motion.objects, i)) {
    // The tiles hold the object at rest; here the forces move it.
    x_.running = 1;
    body_ = body_at(x_, x_.p, x_.turn);
    load_ = load_on(body_, job.model.rules.grasp.gravity, x_.wrench);
    for (int j = 0; j < job.out.contacts; ++j)
      step_[j] = batch::load<double, FingerStep<double>>(host.motion.step_tile(j), i);
  }

  void settle_status(Analysis& out, std::int64_t at) {
    Status& status = out.status[static_cast<std::size_t>(at)];
    // NaN counts as within reach: the certificate reports it as invalid.
    for (int j = 0; j < out.contacts; ++j) reached_ = reached_ && !(step_[j].within < 0);
    if (!reached_) {
      status = Status::kOutOfReach;
      out.residual[static_cast<std::size_t>(at)] = NAN;
    }
    solved_ = status == Status::kConverged;
    known_ = reached_ && status != Status::kInvalidInput;
    for (int k = 0; k < 3 * out.contacts; ++k) {
      double& c = out.force[static_cast<std::size_t>(3 * out.contacts * at + k)];
      // Exactly 0, for any value that the solver leaves at a contact outside of its problem.
      c = !solved_ ? NAN : is_open(k / 3) ? 0 : c;
      force_[k] = c;
    }
  }

  void write_contacts(Analysis& out, std::int64_t at) const {
    const Vec<double, 6> free = acceleration(Vec<double, kForces>::zero()), with = acceleration(force_);
    std::copy_n(with.m, 6, out.acceleration.data() + 6 * at);
    Vec3<double> a[kMaxContacts];
    double size = 0;  // of the accelerations that the forces hold up
    for (int j = 0; j < out.contacts; ++j) {
      const Vec3<double> b = relative_acceleration(j, free, Vec3<double>::zero());
      a[j] = relative_acceleration(j, with, solvers::contact<double, kMaxContacts>(force_, j));
      // Open contacts fall freely, so they do not measure the load on the closed ones.
      for (int k = 0; k < 3 && !is_open(j); ++k) size = std::max(size, std::abs(b[k]));
    }
    for (int j = 0; j < out.contacts; ++j) {
      const std::int64_t row = at * out.contacts + j;
      const auto put = [&](const Vec3<double>& v, std::vector<double>& to) {
        std::copy_n(v.m, 3, to.data() + 3 * row);
      };
      const Vec3<double> nothing = {{NAN, NAN, NAN}}, v = relative_velocity(body_, step_[j]);
      put(reached_ ? column(step_[j].E, 0) : nothing, out.normal);
      put(reached_ ? v : nothing, out.relative_velocity);
      put(a[j], out.relative_acceleration);
      const auto place = static_cast<std::size_t>(row);
      out.gap[place] = reached_ ? batch::load<double, double>(host_.gaps + j * host_.motion.padded, i_) : NAN;
      const ContactMode before = is_open(j)                           ? ContactMode::kOpen
                                 : tangential_length(v) > kSlideSpeed ? ContactMode::kSliding
                                                                      : ContactMode::kRolling;
      out.mode_before[place] = known_ ? static_cast<int>(before) : -1;
      out.mode_after[place] = solved_ ? static_cast<int>(state_after(before, a[j], 1e-6 * size)) : -1;
    }
  }

  template <int J>
  void write_finger(int j, Analysis& out, std::int64_t at) const {
    const auto x = batch::load<double, FingerMotion<double, J>>(host_.motion.finger_tile(j), i_);
    FingerMotion<double, J> after = x;
    // A step of 1 s: its change of a rate is the acceleration.
    end_step(make_finger_drive<J>(job_.model.rules, j, job_.step), solvers::contact<double, kMaxContacts>(force_, j),
             1.0, after);
    const int joints = finger_chain<J>(job_.model.rules.grasp.finger[j]).joints;
    const auto put = [&](const Vec<double, J>& v, std::vector<std::vector<double>>& to) {
      double* row = to[static_cast<std::size_t>(j)].data() + at * joints;
      for (int k = 0; k < joints; ++k) row[k] = reached_ ? v[k] : NAN;
    };
    put(x.q, out.q);
    put(x.qd, out.qd);
    put(x.kept, out.tau);
    put(after.qd - x.qd, out.qdd);
  }

 private:
  static constexpr int kForces = 3 * kMaxContacts;

  [[nodiscard]] bool is_open(int j) const { return step_[j].gap > 0; }  // OpenKernel

  /// Acceleration of the object under these contact forces: the change of its velocities in 1 s.
  [[nodiscard]] Vec<double, 6> acceleration(const Vec<double, kForces>& force) const {
    ObjectMotion<double> after = x_;
    end_step(job_.model.rules.step, body_, load_, contact_wrench<double, kMaxContacts>(body_, step_, force), after);
    const Vec3<double> v = after.v - x_.v, w = after.w - x_.w;
    return {{v[0], v[1], v[2], w[0], w[1], w[2]}};
  }

  /// Object minus fingertip, for this acceleration of the object and contact force of the finger.
  [[nodiscard]] Vec3<double> relative_acceleration(int j, const Vec<double, 6>& object,
                                                   const Vec3<double>& force) const {
    const FingerStep<double>& f = step_[j];
    const Vec3<double> v = vec3(object[0], object[1], object[2]), w = vec3(object[3], object[4], object[5]);
    const Vec3<double> surface =
        transpose_times(f.E, v + cross(w, f.tip - body_.p_cm)) + velocity_term(body_, contact_terms(f));
    return surface - (f.free - f.before - f.A * force);
  }

  /// A sliding contact goes on sliding unless it opens; an acceleration above `eps` counts as motion.
  static ContactState state_after(ContactMode before, const Vec3<double>& a, double eps) {
    if (before == ContactMode::kOpen || a[0] > eps) return ContactState::kBreak;
    return before == ContactMode::kSliding || tangential_length(a) > eps ? ContactState::kSlip : ContactState::kStick;
  }

  const AnalysisJob& job_;
  const AnalysisTiles& host_;
  std::int64_t i_;
  ObjectMotion<double> x_;
  Body<double> body_;
  Vec<double, 6> load_;
  FingerStep<double> step_[kMaxContacts] = {};
  Vec<double, kForces> force_ = Vec<double, kForces>::zero();
  bool reached_ = true, known_ = false, solved_ = false;
};

}  // namespace

void AnalysisJob::finish(const AnalysisTiles& host, std::int64_t first, std::int64_t count) const {
  for_instants(count, [&](std::int64_t i) {
    SolvedInstant now(*this, host, i);
    now.settle_status(out, first + i);
    now.write_contacts(out, first + i);
    for (int j = 0; j < out.contacts; ++j)
      with_finger_size(model.rules.grasp.finger[j].size,
                       [&](auto, auto size) { now.template write_finger<size>(j, out, first + i); });
  });
}

}  // namespace garra::grasp
