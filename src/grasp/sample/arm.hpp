// Coupling of the fingers of a hand on a compliant arm (docs/theory/grasp-model.md, section 3). Host and device.
#pragma once

#include "grasp/sample/fingers.hpp"

namespace garra::grasp {

/// Eliminates the finger's own joints, from its tip on; the remaining equations are in the arm's rates.
template <class S, int J>
GARRA_HD ArmShare<S> arm_share(const FingerTerms<S, J>& terms, int arm, int joints) {
  Mat<S, J, J> M = terms.M;
  Mat<S, 3, J> G = terms.Jc;
  Vec<S, J> load = terms.load;
  for (int p = joints - 1; p >= arm; --p) {
    const S inverse = S(1) / M(p, p);
    for (int i = 0; i < p; ++i) {
      const S factor = inverse * M(p, i);
      for (int k = 0; k <= i; ++k) M(i, k) = fma(-factor, M(p, k), M(i, k));
      for (int r = 0; r < 3; ++r) G(r, i) = fma(-factor, G(r, p), G(r, i));
      load[i] = fma(-factor, load[p], load[i]);
    }
  }
  ArmShare<S> out;
  for (int i = 0; i < kArmJoints; ++i) {
    const bool there = i < arm;
    for (int k = 0; k <= i; ++k) out.inertia[packed(i, k)] = there ? M(i, k) : S(0);
    for (int r = 0; r < 3; ++r) out.gain[i][r] = there ? G(r, i) : S(0);
    out.load[i] = there ? load[i] : S(0);
    out.pushed[i] = S(0);
  }
  return out;
}

/// Step 2 of a hand on an arm, after its fingers have been placed: finger number `finger` of every sample.
struct ArmKernel {
  const GraspModel* model;
  int finger;
  SampleParts parts;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    constexpr int J = chain::kMaxJoints;
    const ArmModel& arm = model->arm;
    const auto task = load_part<S, FingerTask<S>>(parts.task_tile(finger), i, model->moving);
    FingerState<S, J> x = {Vec<S, J>::zero(), Vec<S, J>::zero(), model->moving};
    for (int k = 0; k < arm.joints; ++k) x.q[k] = S(arm.q[k]);
    switch (model->finger[finger].size) {  // the fingers whose joints may follow others
      case FingerSize::kFour:
        read_stance<4>(i, x);
        break;
      case FingerSize::kSix:
        read_stance<6>(i, x);
        break;
      case FingerSize::kEight:
        read_stance<8>(i, x);
        break;
      case FingerSize::kSixteen:
        read_stance<16>(i, x);
        break;
    }
    TorqueCommand<S, J> command = {false, Vec<S, J>::zero(), task.compensation, task.force};
    if (model->finger[finger].torque_limited) command.limit = arm.torque_limit[finger];
    const FingerChain<J>& whole = arm.chain[finger];
    const auto terms = finger_terms<chain::Joints::kMixed>(whole, task.place, x, command);
    batch::store<S>(parts.arm_tile(finger), i, arm_share(terms, arm.joints, whole.joints));
  }

 private:
  template <int K, class S, int J>
  GARRA_HD void read_stance(std::int64_t i, FingerState<S, J>& x) const {
    const auto stance = batch::load<S, FingerStance<S, K>>(parts.stance_tile(finger), i);
    const int arm = model->arm.joints, own = model->arm.chain[finger].joints - arm;
    for (int k = 0; k < own; ++k) {
      x.q[arm + k] = stance.q[k];
      x.qd[arm + k] = stance.qd[k];
    }
  }
};

/// Access to the numbers of one sample in its tile, which are too many for a GPU thread's registers.
template <class S>
class Cells {
 public:
  /// Points to the first number of sample i, in tiles with `fields` numbers each.
  GARRA_HD Cells(double* tiles, int fields, std::int64_t i)
      : at_(tiles + (i / batch::kTile) * fields * batch::kTile + i % batch::kTile) {}
  GARRA_HD S operator[](int k) const { return batch::load<S, S>(at_ + k * batch::kTile, 0); }
  GARRA_HD void set(int k, const S& value) const { batch::store<S>(at_ + k * batch::kTile, 0, value); }

 private:
  double* at_;
};

/// Offsets of an ArmShare's numbers among its cells.
namespace arm_cells {
inline constexpr int kGain = 0, kInertia = 3 * kArmJoints, kLoad = kInertia + kArmPacked, kPushed = kLoad + kArmJoints;
static_assert(kPushed + kArmJoints == batch::kFields<double, ArmShare<double>>);
/// d x_r / d rate of joint a, x the contact's velocity.
GARRA_HD constexpr int gain(int a, int r) { return kGain + 3 * a + r; }
GARRA_HD constexpr int inertia(int r, int c) { return kInertia + packed(r, c); }
}  // namespace arm_cells

/// Replaces the matrix at `cells` by its Cholesky factor L of n rows, with 1 / L_kk on the diagonal.
template <class S>
GARRA_HD void factor_arm(const Cells<S>& cells, int n) {
  using arm_cells::inertia;
  for (int r = 0; r < n; ++r)
    for (int c = 0; c <= r; ++c) {
      S sum = cells[inertia(r, c)];
      for (int k = 0; k < c; ++k) sum = fma(-cells[inertia(r, k)], cells[inertia(c, k)], sum);
      cells.set(inertia(r, c), r == c ? S(1) / sqrt(sum) : sum * cells[inertia(c, c)]);
    }
}

/// Solves L x = y in place: y_k at `y.set(first + stride k)`.
template <class S>
GARRA_HD void solve_arm(const Cells<S>& factor, const Cells<S>& y, int first, int stride, int n) {
  for (int r = 0; r < n; ++r) {
    S sum = y[first + stride * r];
    for (int k = 0; k < r; ++k) sum = fma(-factor[arm_cells::inertia(r, k)], y[first + stride * k], sum);
    y.set(first + stride * r, sum * factor[arm_cells::inertia(r, r)]);
  }
}

/// Joins the shares of a sample's fingers, for any number of contacts. H = sum of the shares' inertias, minus the parts
/// counted more than once, and L L^T = H. Rows Y = L^-1 G^T replace the gains, y = L^-1 load replaces finger 0's load.
template <class S>
GARRA_HD void join_arm(const GraspModel& m, const SampleParts& parts, std::int64_t i) {
  constexpr int kShare = batch::kFields<double, ArmShare<double>>;
  const int n = m.arm.joints;
  const Cells<S> all(parts.arm_tile(0), kShare, i);
  // Each chain carries the rest of the hand, and the arm alone carries the whole: subtract the surplus.
  const S more = S(1 - m.contacts);
  const S weight = S(1) - batch::load<S, FingerTask<S>>(parts.task_tile(0), i).compensation;
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c <= r; ++c) {
      S sum = more * S(m.arm.inertia[packed(r, c)]);
      for (int j = 0; j < m.contacts; ++j) sum += Cells<S>(parts.arm_tile(j), kShare, i)[arm_cells::inertia(r, c)];
      all.set(arm_cells::inertia(r, c), sum);
    }
    S load = more * weight * S(m.arm.gravity[r]);
    for (int j = 0; j < m.contacts; ++j) load += Cells<S>(parts.arm_tile(j), kShare, i)[arm_cells::kLoad + r];
    all.set(arm_cells::kLoad + r, load);
  }
  factor_arm(all, n);
  solve_arm(all, all, arm_cells::kLoad, 1, n);
  for (int j = 0; j < m.contacts; ++j)
    for (int k = 0; k < 3; ++k)
      solve_arm(all, Cells<S>(parts.arm_tile(j), kShare, i), arm_cells::gain(0, k), arm_cells::gain(1, 0), n);
}

/// Replaces the drift of each finger by the one that has the same effect with a fixed palm. pressed_force() is then the
/// force of the whole hand on contacts that do not move. Let D be the fingers' own blocks and d = (their drift) + Y^T
/// y. The solution of (D + Y^T Y) c = -d satisfies D c = -(d - Y^T w). Here w = (1 + Y D^-1 Y^T)^-1 Y D^-1 d, which is
/// left in `pushed` of finger 0.
template <class S>
GARRA_HD void couple_drift(const GraspModel& m, const SampleParts& parts, std::int64_t i) {
  constexpr int kShare = batch::kFields<double, ArmShare<double>>;
  const int n = m.arm.joints;
  const Cells<S> all(parts.arm_tile(0), kShare, i);
  for (int r = 0; r < n; ++r)
    for (int c = 0; c <= r; ++c) all.set(arm_cells::inertia(r, c), S(r == c ? 1 : 0));
  for (int j = 0; j < m.contacts; ++j) {
    const Cells<S> own(parts.arm_tile(j), kShare, i);
    auto share = load_part<S, FingerShare<S>>(parts.share_tile(j), i, m.moving);
    const auto mobility = inverse_spd(share.A);
    const auto regular = mobility.bad_pivots == S(0);
    for (int k = 0; k < 3; ++k)
      for (int a = 0; a < n; ++a)
        share.drift[k] = fma(own[arm_cells::gain(a, k)], all[arm_cells::kLoad + a], share.drift[k]);
    store_part<S>(parts.share_tile(j), i, share, m.moving);
    for (int r = 0; r < n; ++r) {
      Vec3<S> y;
      for (int k = 0; k < 3; ++k) y[k] = select(regular, own[arm_cells::gain(r, k)], S(0));
      const Vec3<S> x = mobility.inverse * y;
      for (int c = 0; c <= r; ++c) {
        S sum = all[arm_cells::inertia(r, c)];
        for (int k = 0; k < 3; ++k) sum = fma(x[k], own[arm_cells::gain(c, k)], sum);
        all.set(arm_cells::inertia(r, c), select(regular, sum, all[arm_cells::inertia(r, c)]));
      }
      all.set(arm_cells::kPushed + r, all[arm_cells::kPushed + r] + dot(x, share.drift));
    }
  }
  factor_arm(all, n);
  solve_arm(all, all, arm_cells::kPushed, 1, n);
  for (int r = n - 1; r >= 0; --r) {  // and L^T w = y
    S sum = all[arm_cells::kPushed + r];
    for (int k = r + 1; k < n; ++k) sum = fma(-all[arm_cells::inertia(k, r)], all[arm_cells::kPushed + k], sum);
    all.set(arm_cells::kPushed + r, sum * all[arm_cells::inertia(r, r)]);
  }
  for (int j = 0; j < m.contacts; ++j) {
    const Cells<S> own(parts.arm_tile(j), kShare, i);
    auto share = load_part<S, FingerShare<S>>(parts.share_tile(j), i, m.moving);
    for (int k = 0; k < 3; ++k)
      for (int a = 0; a < n; ++a)
        share.drift[k] = fma(-own[arm_cells::gain(a, k)], all[arm_cells::kPushed + a], share.drift[k]);
    store_part<S>(parts.share_tile(j), i, share, m.moving);
  }
}

/// Second part of step 2, for every sample: joins the shares of ArmKernel.
struct JoinArmKernel {
  const GraspModel* model;
  SampleParts parts;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    join_arm<S>(*model, parts, i);
    couple_drift<S>(*model, parts, i);
  }
};

/// Runs ArmKernel of every finger and JoinArmKernel on the host.
void carry_fingers(Executor executor, const GraspModel& model, const SampleParts& parts, std::int64_t count);

/// Step 3 of a hand on an arm: A + Y^T Y and b + Y^T w for a friction problem with uncoupled fingers, after it has been
/// stored and before its metrics. A separate function, in memory, so that other hands do not pay for it.
template <class S>
GARRA_HD_CALL void couple_arm(const GraspModel& m, const SampleParts& parts, std::int64_t i, double* problems,
                              int fields) {
  constexpr int kShare = batch::kFields<double, ArmShare<double>>;
  const int n = m.arm.joints, rows = 3 * m.contacts;
  const Cells<S> problem(problems, fields, i), all(parts.arm_tile(0), kShare, i);  // A by rows, then b
  for (int r = 0; r < rows; ++r) {
    const Cells<S> row(parts.arm_tile(r / 3), kShare, i);
    for (int c = 0; c <= r; ++c) {
      const Cells<S> column(parts.arm_tile(c / 3), kShare, i);
      S sum = problem[r * rows + c];
      for (int a = 0; a < n; ++a) sum = fma(row[arm_cells::gain(a, r % 3)], column[arm_cells::gain(a, c % 3)], sum);
      problem.set(r * rows + c, sum);
      problem.set(c * rows + r, sum);
    }
    S sum = problem[rows * rows + r];
    for (int a = 0; a < n; ++a) sum = fma(row[arm_cells::gain(a, r % 3)], all[arm_cells::kPushed + a], sum);
    problem.set(rows * rows + r, sum);
  }
}

}  // namespace garra::grasp
