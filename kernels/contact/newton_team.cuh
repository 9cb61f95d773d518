// Newton's method on the GPU for four and more contacts: a problem has a team, as many lanes of a
// warp as it has contacts, each with a contact and with every kLanes-th row of A. In one thread its
// matrices would take 1 to 9 kB of local memory, for which all threads of a multiprocessor wait (77
// ns for four contacts, 1,024 for eight; docs/howto/gpu.md). Sums run in the order of
// friction_newton.hpp, whose formulas are used: the bits are the scalar executor's.
//
// A and all vectors are in shared memory, so that each lane can read all data. A lane writes only
// its own entries; a sync() separates each write from the reads and from the next write. Numbers
// that are not vectors are computed by all lanes of a team alike. The teams of a warp take the same
// branches: each step runs while one of them needs it, and changes nothing for the others.
//
// With more than eight contacts a problem has a whole warp. A and the rows of a linear system are
// then too large for shared memory (147 kB with 32 contacts): they are in device memory by columns.
#pragma once

#include "contact/batch/body.hpp"
#include "garra/batch/for_each_team.cuh"
#include "garra/solvers/friction_newton.hpp"

namespace garra::contact {

template <int N>
class NewtonTeam {
 public:
  static constexpr int kRows = 3 * N;
  static constexpr bool kFar = kTakesFewer<N>;                    ///< matrices are in the device's memory
  static constexpr int kLanes = kFar ? 32 : N <= 4 ? 4 : 8;       ///< of a problem
  static constexpr int kPerLane = (kRows + kLanes - 1) / kLanes;  ///< rows: lane, lane + kLanes, ...
  static constexpr int kRoom = 2 * kRows * kRows;                 ///< device memory for a team [doubles]
  using Row = Vec<double, kRows>;
  using PerContact = Vec<double, N>;

  struct alignas(16) Matrices {
    double A[kRows * kRows];  ///< column after column: lanes that process their rows read adjacent entries
    /// Current row of a triangular factor for all lanes, its diagonal inverted, and the last one.
    static constexpr int kStride = (kRows + 1) / 2 * 2;
    alignas(16) double pivots[2][kStride];
  };
  struct Nothing {};
  struct Work : std::conditional_t<kFar, Nothing, Matrices> {
    Row b, c, a, base, d, ad, rhs;
    PerContact mu, rho_n, rho_t, parts;
    solvers::LoadScale<double, N> scale;
    Vec3<double> squares;
  };
  /// Shared memory of a team. Adjacent reads of a team's lanes use the memory banks behind those of
  /// the previous team.
  struct alignas(16) Shared : Work {
    static constexpr int kBanks = 128, kOwn = kLanes * static_cast<int>(sizeof(double));
    char behind[kFar ? 16 : kBanks - (static_cast<int>(sizeof(Work)) + kBanks - kOwn) % kBanks];
  };

  /// `room`: device memory of the team, if its matrices are there.
  __device__ NewtonTeam(const IterateKernel<solvers::FrictionNewton, N>& job, const cuda::Team<kLanes>& team, Shared& s,
                        double* room = nullptr)
      : job_(job), solver_(job.solver), team_(team), s_(s), room_(room) {}

  /// Solves problem i, from its tile to its candidate.
  __device__ void solve(std::int64_t i) {
    load(i);
    start(i);
    while (team_.any(running_)) step();
    if (team_.has_problem) store(i);
  }

 private:
  // A lane's own rows and contact.

  [[nodiscard]] __device__ bool has_contact() const { return team_.lane < N; }
  /// The lane's q-th row; the last row of all if it has none.
  [[nodiscard]] __device__ int own_row(int q) const { return min(team_.lane + q * kLanes, kRows - 1); }
  __device__ double& A(int row, int column) const {
    if constexpr (kFar)
      return room_[column * kRows + row];
    else
      return s_.A[column * kRows + row];
  }
  /// A triangular factor in the device's memory.
  __device__ double& U(int row, int column) const { return room_[kRows * kRows + column * kRows + row]; }
  __device__ void sync() const { team_.sync(); }

  /// Calls f(row) for the lane's rows.
  template <class F>
  __device__ void for_own_rows(const F& f) const {
    for (int row = team_.lane; row < kRows; row += kLanes) f(row);
  }
  /// Stores value(row) in the lane's places of a vector, for all lanes to read.
  template <class F>
  __device__ void put(Row& to, const F& value) const {
    for_own_rows([&](int row) { to[row] = value(row); });
    sync();
  }
  /// The lane's rows of A times v.
  struct OwnRows {
    double at[kPerLane];
  };
  [[nodiscard]] __device__ OwnRows product(const Row& v) const {
    OwnRows sum;
    for_each_index<kPerLane>([&](int q) { sum.at[q] = A(own_row(q), 0) * v[0]; });
#pragma unroll(kFar ? 4 : kRows)
    for (int k = 1; k < kRows; ++k) {
      const double vk = v[k];
      for_each_index<kPerLane>([&](int q) { sum.at[q] = fma(A(own_row(q), k), vk, sum.at[q]); });
    }
    return sum;
  }
  /// Stores them in the lane's places of a vector, for all lanes to read.
  __device__ void put(Row& to, const OwnRows& own) const {
    for_each_index<kPerLane>([&](int q) {
      if (const int row = team_.lane + q * kLanes; row < kRows) to[row] = own.at[q];
    });
    sync();
  }
  /// A c + b.
  __device__ void put_acceleration() const {
    OwnRows a = product(s_.c);
    for_each_index<kPerLane>([&](int q) { a.at[q] = a.at[q] + s_.b[own_row(q)]; });
    put(s_.a, a);
  }

  /// Sum over the contacts of the values of their lanes.
  [[nodiscard]] __device__ double sum_of_parts(double part) const {
    if (has_contact()) s_.parts[team_.lane] = part;
    sync();
    double sum = 0;
    for_each_index<N>([&](int j) { sum += s_.parts[j]; });
    sync();
    return sum;
  }

  // Conversion from and to the tiles.

  [[nodiscard]] __device__ static double field(const double* tile, int f) { return tile[f * batch::kTile]; }

  __device__ void load(std::int64_t i) {
    const TileProblem<double, N> p(job_.problems, i, job_.contacts);
    for_own_rows([&](int row) {
#pragma unroll(kFar ? 4 : kRows)
      for (int k = 0; k < kRows; ++k) A(row, k) = p.A(row, k);
      s_.b[row] = p.b(row);
    });
    if (has_contact()) s_.mu[team_.lane] = p.mu(team_.lane);
    sync();
    if (job_.sliding != nullptr) eliminate_sliding(i);
    put(s_.d, [&](int row) { return A(row, row); });
    scale();
  }

  __device__ void eliminate_sliding(std::int64_t i) const {
    const double* p = batch::tile_at<double, Vec<double, 2 * N>>(job_.sliding, i);
    const auto direction = [&](int k) { return !kFar || k < 2 * job_.contacts ? field(p, k) : 0.0; };
    const auto slips = [&](int j) { return direction(2 * j) != 0 || direction(2 * j + 1) != 0; };
    for_own_rows([&](int row) {
      for (int j = 0; j < N; ++j)
        solvers::eliminate_in_row<double, N>([&](int k) -> double& { return A(row, k); }, row, j, slips(j),
                                             s_.mu[j] * direction(2 * j), s_.mu[j] * direction(2 * j + 1));
      if (row % 3 != 0) s_.b[row] = select(slips(row / 3), 0.0, s_.b[row]);
    });
    sync();
    if (has_contact()) s_.mu[team_.lane] = select(slips(team_.lane), 0.0, s_.mu[team_.lane]);
    sync();
  }

  /// Converts to the units of friction_scale; d has the diagonal of A.
  __device__ void scale() {
    const auto scale = solvers::friction_scale<double, kRows>([&](int k) { return s_.d[k]; }, s_.b);
    sync();
    const double inv_a = 1 / scale.size_a, inv_b = 1 / scale.size_b;
    unit_ = scale.size_b * inv_a;
    for_own_rows([&](int row) {
#pragma unroll(kFar ? 4 : kRows)
      for (int k = 0; k < kRows; ++k) A(row, k) = inv_a * A(row, k);
      s_.b[row] = inv_b * s_.b[row];
    });
    sync();
  }

  __device__ void store(std::int64_t i) const {
    using Candidate = solvers::Candidate<double, N>;
    double* out = const_cast<double*>(batch::tile_at<double, Candidate>(job_.candidates, i));
    for_own_rows([&](int row) { out[row * batch::kTile] = unit_ * s_.c[row]; });
    if (team_.lane != 0) return;
    const bool limit = steps_ >= solver_.most_steps() || lost_ || rounding_counts();
    const double reason = static_cast<int>(limit ? Status::kIterationLimit : Status::kStalled);
    const auto tail = solver_.template candidate<double, 1>(Vec3<double>::zero(), reason, steps_, stage_);
    const auto* fields = reinterpret_cast<const double*>(&tail);
    for (int f = 3; f < batch::kFields<double, solvers::Candidate<double, 1>>; ++f)
      out[(kRows - 3 + f) * batch::kTile] = fields[f];
  }

  // FrictionNewton::start().

  __device__ void start(std::int64_t i) {
    using namespace solvers;
    if (has_contact()) {
      const auto rho = diagonal_rho(team_.lane);
      s_.rho_n[team_.lane] = rho.n / friction_newton::normal_share(s_.mu[team_.lane]);
      s_.rho_t[team_.lane] = rho.t;
    }
    load_scale();
    first_force(i);
    put(s_.base, [](int) { return 0.0; });
    put_acceleration();
    const bool valid = friction_problem_detail::defects<double, N>(s_.a, s_.mu) == 0;
    const auto first = check_iterate();
    running_ = valid && !first.lost && !first.solved && solver_.max_iterations > 0 && !lost_;
    sweep(running_ && !guessed_ ? solver_.first_sweeps : 0);
    put_acceleration();
  }

  /// solvers::load_scale(): each lane its contact.
  __device__ void load_scale() const {
    using namespace solvers;
    const auto entry = [&](int i, int k) { return A(i, k); };
    const int j = min(team_.lane, N - 1);
    const double mean = 1.0 / 3 * (A(3 * j, 3 * j) + A(3 * j + 1, 3 * j + 1) + A(3 * j + 2, 3 * j + 2));
    const double g = mean > 0 && is_finite(mean) ? mean : 1, root = sqrt(g), load = magnitude(contact(s_.b, j)) / root;
    if (has_contact()) {
      s_.scale.g[j] = g;
      s_.scale.per_s[j] = load;
      s_.parts[j] = j == 0 || load == 0 || friction_problem_detail::coupled<3, double>(entry, 0, j) ? 1 : 0;
    }
    sync();
    double largest = 0;
    bool all_coupled = true;
    for_each_index<N>([&](int k) {
      largest = max(largest, s_.scale.per_s[k]);
      all_coupled = all_coupled && s_.parts[k] != 0;
    });
    // friction_problem_detail::largest_of_coupled(), each lane for its contact.
    double mine = all_coupled ? largest : load;
    for (int pass = 0; pass < N && team_.any(!all_coupled); ++pass) {
      if (!all_coupled) {
#pragma unroll 1
        for (int k = 0; k < N; ++k)
          if (s_.scale.per_s[k] > mine && (friction_problem_detail::coupled<3, double>(entry, j, k) ||
                                           friction_problem_detail::coupled<3, double>(entry, k, j)))
            mine = s_.scale.per_s[k];
      }
      sync();
      if (has_contact() && !all_coupled) s_.scale.per_s[j] = mine;
      sync();
    }
    sync();
    if (has_contact()) s_.scale.per_s[j] = 1 / max(root * mine, 2.2250738585072014e-308);
    sync();
  }

  [[nodiscard]] __device__ bool rounding_counts() const {
    return solvers::rounding_counts<double, N, kRows>(s_.c, s_.scale, solver_.tolerance);
  }

  [[nodiscard]] __device__ solvers::friction_newton::Rho<double> diagonal_rho(int j) const {
    const int n = 3 * j;
    return solvers::friction_newton::diagonal_rho(A(n, n), A(n + 1, n + 1), A(n + 2, n + 2));
  }

  /// Sets c: the guess projected on the cones, if there is one, else the stick force, or zero.
  __device__ void first_force(std::int64_t i) {
    using namespace solvers;
    const double inv_unit = 1 / unit_;
    if (job_.guesses != nullptr) {
      const double* guess = batch::tile_at<double, Row>(job_.guesses, i);
      put(s_.c, [&](int row) { return !kFar || row < 3 * job_.contacts ? field(guess, row) : 0.0; });
      guessed_ = friction_newton::says_anything<double, N>(s_.c, inv_unit);
      sync();
    }
    put(s_.c, [&](int row) { return guessed_ ? inv_unit * s_.c[row] : 0.0; });
    const bool stick = !solver_.cold && team_.any(!guessed_) && stick_force(!guessed_);
    lost_ = !solver_.cold && !guessed_ && friction_newton::may_be_indefinite(least_pivot_);
    if (team_.any(lost_)) {
      shift_ = friction_newton::kIndefinite<double>;
      least_pivot_ = 0;
      factor_and_solve();
      lost_ = lost_ && is_symmetric() && least_pivot_ < 0;
      shift_ = 0;
    }
    project_on_cones(guessed_ || stick);
  }

  __device__ void project_on_cones(bool wanted) const {
    if (has_contact() && wanted) {
      const int j = team_.lane;
      solvers::set_contact<double, N>(s_.c, j, solvers::project_on_cone(contact(s_.c, j), s_.mu[j]));
    }
    sync();
  }

  /// first_guess() without the projection: the force with which nothing moves, by L D L^T, column
  /// after column. Returns whether it is useful; otherwise it is zero.
  __device__ bool stick_force(bool wanted) {
    factor_and_solve();
    double largest = 0;
    for_each_row([&](int k) { largest = max(largest, abs(s_.a[k])); });
    const bool useful = solvers::friction_newton::is_useful(largest);
    if (wanted) for_own_rows([&](int row) { s_.c[row] = useful ? s_.a[row] : 0.0; });
    sync();
    return useful;
  }
  [[nodiscard]] __device__ bool is_symmetric() const {
    double skew = 0;
#pragma unroll 1
    for (int i = 0; i < kRows; ++i)
#pragma unroll 1
      for (int k = 0; k < i; ++k) skew = max(skew, abs(A(i, k) - A(k, i)));
    return skew <= 1e-12;
  }
  __device__ void factor_and_solve() {
    if constexpr (kFar)
      far_stick_force();
    else
      near_stick_force();
    sync();
  }
  /// Places of a pivot's data for the rows below it in its column of L.
  enum { kPivot, kInverse, kBad };
  __device__ void store_pivot(int k, double pivot) const {
    const auto checked = factor::invert_pivot(pivot, A(k, k) + shift_, factor::rounding_noise<double>(kRows));
    s_.parts[kPivot] = pivot;
    s_.parts[kInverse] = checked.inverse;
    s_.parts[kBad] = checked.bad;
  }
  [[nodiscard]] __device__ double below_pivot(double entry) const {
    return s_.parts[kBad] != 0 ? 0.0 : entry * s_.parts[kInverse];
  }
  /// Calls f for the lane's rows below row k: all behind its q-th, and some lanes' q-th.
  template <class F>
  __device__ void for_rows_below(int k, const F& f) const {
    for_each_index<kPerLane>([&](int q) {
      if (q > k / kLanes || (q == k / kLanes && team_.lane > k % kLanes)) f(q);
    });
  }
  /// Calls f for the lane's rows above row k.
  template <class F>
  __device__ void for_rows_above(int k, const F& f) const {
    for_each_index<kPerLane>([&](int q) {
      if (q < k / kLanes || (q == k / kLanes && team_.lane < k % kLanes)) f(q);
    });
  }
  [[nodiscard]] __device__ bool owns(int k) const { return team_.lane == k % kLanes; }

  __device__ void near_stick_force() {
    double row[kPerLane][kRows], inv_d[kPerLane], x[kPerLane];
    for_each_index<kPerLane>([&](int q) {
      for_each_row([&](int k) { row[q][k] = A(own_row(q), k) + (own_row(q) == k ? shift_ : 0.0); });
      x[q] = -s_.b[own_row(q)];
    });
    for_each_row([&](auto column) {
      constexpr int k = column, its = k / kLanes;
      // w = L_jk D_k of the rows below, and the update of the right-hand side by this column.
      if (owns(k)) {
        store_pivot(k, row[its][k]);
        inv_d[its] = s_.parts[kInverse];
        s_.rhs[k] = x[its];
      }
      sync();
      least_pivot_ = min(least_pivot_, s_.parts[kPivot]);
      for_rows_below(k, [&](int q) {
        row[q][k] = below_pivot(row[q][k]);
        x[q] = fma(-row[q][k], s_.rhs[k], x[q]);
        if (const int its = team_.lane + q * kLanes; its < kRows) s_.d[its] = row[q][k] * s_.parts[kPivot];
      });
      sync();
      for_rows_below(k, [&](int q) {
#pragma unroll
        for (int j = k + 1; j < min((q + 1) * kLanes, kRows); ++j) row[q][j] = fma(-row[q][k], s_.d[j], row[q][j]);
      });
    });
    for_each_index<kPerLane>([&](int q) { x[q] = x[q] * inv_d[q]; });
    for_each_row([&](auto from_end) {
      constexpr int k = kRows - 1 - from_end, its = k / kLanes;
      double* const its_row = s_.pivots[k % 2];
      if (owns(k)) {
        s_.a[k] = x[its];
#pragma unroll
        for (int j = 0; j < k; ++j) its_row[j] = row[its][j];
      }
      sync();
      for_rows_above(k, [&](int q) { x[q] = fma(-its_row[own_row(q)], s_.a[k], x[q]); });
    });
  }
  /// The lower part of U becomes L.
  __device__ void far_stick_force() {
    Row& inverse = s_.ad;
    for_own_rows([&](int row) {
      for (int k = 0; k <= row; ++k) U(row, k) = A(row, k) + (row == k ? shift_ : 0.0);
      s_.rhs[row] = -s_.b[row];
    });
    for (int k = 0; k < kRows; ++k) {
      if (team_.lane == k % kLanes) {
        store_pivot(k, U(k, k));
        inverse[k] = s_.parts[kInverse];
      }
      sync();
      least_pivot_ = min(least_pivot_, s_.parts[kPivot]);
      for_own_rows([&](int row) {
        if (row <= k) return;
        const double l = below_pivot(U(row, k));
        U(row, k) = l;
        s_.rhs[row] = fma(-l, s_.rhs[k], s_.rhs[row]);
        s_.d[row] = l * s_.parts[kPivot];
      });
      sync();
      for_own_rows([&](int row) {
        if (row <= k) return;
        const double l = U(row, k);
#pragma unroll 4
        for (int j = k + 1; j <= row; ++j) U(row, j) = fma(-l, s_.d[j], U(row, j));
      });
    }
    sync();
    put(s_.rhs, [&](int row) { return s_.rhs[row] * inverse[row]; });
    for (int k = kRows - 1; k >= 0; --k) {
      if (team_.lane == k % kLanes) s_.a[k] = s_.rhs[k];
      sync();
      for_own_rows([&](int row) {
        if (row < k) s_.rhs[row] = fma(-U(k, row), s_.a[k], s_.rhs[row]);
      });
    }
  }

  // FrictionNewton::step().

  __device__ void step() {
    using namespace solvers;
    const double merit0 = direction();
    put(s_.ad, product(s_.d));
    double t = 1;
    const bool free_step = shortened_ >= 2;
    bool too_long = running_ && !free_step;
    for (int trial = 0; trial < 4 && team_.any(too_long); ++trial) {
      const bool enough = friction_newton::decreases(merit(t), t, merit0);  // in all teams: it contains barriers
      too_long = too_long && !enough;
      if (too_long) t = 0.5 * t;
    }
    if (running_) {
      for_own_rows([&](int row) { s_.c[row] = fma(t, s_.d[row], s_.c[row]); });
      shortened_ = free_step || t == 1 ? 0 : shortened_ + 1;
      steps_ += 1;
      stage_steps_ += 1;
    }
    sync();
    put_acceleration();
    const auto now = check_iterate();
    running_ = running_ && !now.solved && steps_ < solver_.most_steps();
    bool moving = running_ && (stage_steps_ >= solver_.stage_steps || now.lost);
    const bool rounded = moving && now.error <= kRefined * solver_.tolerance && rounding_counts();
    sync();  // all have read c
    lost_ = lost_ || rounded;
    running_ = running_ && !rounded;
    moving = moving && !rounded;
    if (!solver_.restarts)
      running_ = running_ && !moving;
    else if (team_.any(moving))
      next_restart(moving);
  }

  [[nodiscard]] __device__ solvers::friction_newton::Rho<double> local_rho(int j) const {
    return {rho_ * s_.rho_n[j], rho_ * s_.rho_t[j]};
  }

  [[nodiscard]] __device__ solvers::friction_newton::Rho<double> gauss_seidel_rho(int j) const {
    return {s_.rho_n[j] * solvers::friction_newton::normal_share(s_.mu[j]), s_.rho_t[j]};
  }

  /// Computes d, and |F|^2 at its start.
  __device__ double direction() const {
    if constexpr (kFar) {
      for_own_rows([&](int row) {
        const auto w = weights_at_row(row);
        newton_row(w, row / 3, row % 3, [&](int k) -> double& { return U(row, k); });
        s_.rhs[row] = right_side(w, row % 3);
      });
      far_eliminate();
      far_back_substitute();
    } else {
      double row[kPerLane][kRows], rhs[kPerLane];
      for_each_index<kPerLane>([&](int q) {
        const int its = own_row(q);
        const auto w = weights_at_row(its);
        newton_row(w, its / 3, its % 3, [&](int k) -> double& { return row[q][k]; });
        rhs[q] = right_side(w, its % 3);
      });
      near_solve(row, rhs);
    }
    double merit0 = 0;
    for_each_index<N>([&](int k) { merit0 += s_.parts[k]; });
    sync();
    return merit0;
  }
  [[nodiscard]] static __device__ double right_side(const solvers::friction_newton::RowWeights<double, 3>& w, int r) {
    return r == 0 ? w.rhs[0] : r == 1 ? w.rhs[1] : w.rhs[2];
  }
  /// Weights of a row's contact, whose part of |F|^2 goes to `parts`.
  [[nodiscard]] __device__ solvers::friction_newton::RowWeights<double, 3> weights_at_row(int row) const {
    using namespace solvers::friction_newton;
    const int j = row / 3;
    const auto rho = local_rho(j);
    const auto piece = classify(contact(s_.c, j), contact(s_.a, j), s_.mu[j], rho);
    if (row % 3 == 0) s_.parts[j] = dot(piece.F, piece.F);
    return row_weights(piece, rho, s_.mu[j]);
  }

  /// newton_row() of one lane: row r of contact j, with entries to(k).
  template <class To>
  __device__ void newton_row(const solvers::friction_newton::RowWeights<double, 3>& w, int j, int r,
                             const To& to) const {
    const int t = 3 * j + 1, o = t + 1;
    const double at = r == 1 ? w.w(0, 0) : w.w(1, 0), ao = r == 1 ? w.w(0, 1) : w.w(1, 1);
    const double own[3] = {r == 0   ? w.nn
                           : r == 1 ? -w.taken[0]
                                    : -w.taken[1],
                           r == 1 ? w.added(0, 0) : w.added(1, 0), r == 1 ? w.added(0, 1) : w.added(1, 1)};
    for_each_row([&](int k) {
      to(k) = r == 0 ? w.wn * A(3 * j, k) : fma(at, A(t, k), ao * A(o, k));
      if (k / 3 == j && (r != 0 || k % 3 == 0)) to(k) += k % 3 == 0 ? own[0] : k % 3 == 1 ? own[1] : own[2];
    });
  }

  /// add_row() for all rows at once: row k is ready when k rows have been subtracted from it. Then
  /// back_substitute() likewise.
  __device__ void near_solve(double (&row)[kPerLane][kRows], double (&rhs)[kPerLane]) const {
    double inverse[kPerLane];
    for_each_row([&](auto column) {
      constexpr int k = column, its = k / kLanes;
      double* const its_row = s_.pivots[k % 2];
      if (owns(k)) {
        inverse[its] = its_row[k] = solvers::friction_newton::inverse_pivot(row[its][k]);
#pragma unroll
        for (int j = k + 1; j < kRows; ++j) its_row[j] = row[its][j];
        s_.rhs[k] = rhs[its];
      }
      sync();
      for_rows_below(k, [&](int q) {
        const double f = -(row[q][k] * its_row[k]);
#pragma unroll
        for (int j = k + 1; j < kRows; ++j) row[q][j] = fma(f, its_row[j], row[q][j]);
        rhs[q] = fma(f, s_.rhs[k], rhs[q]);
      });
    });
    for_each_row([&](auto from_end) {
      constexpr int k = kRows - 1 - from_end, its = k / kLanes;
      if (owns(k)) s_.d[k] = rhs[its] * inverse[its];
      sync();
      for_rows_above(k, [&](int q) { rhs[q] = fma(-row[q][k], s_.d[k], rhs[q]); });
    });
  }
  /// The same in place.
  __device__ void far_eliminate() const {
    for (int k = 0; k < kRows; ++k) {
      if (team_.lane == k % kLanes) U(k, k) = solvers::friction_newton::inverse_pivot(U(k, k));
      sync();
      for_own_rows([&](int row) {
        if (row <= k) return;
        const double f = -(U(row, k) * U(k, k));
#pragma unroll 4
        for (int j = k + 1; j < kRows; ++j) U(row, j) = fma(f, U(k, j), U(row, j));
        s_.rhs[row] = fma(f, s_.rhs[k], s_.rhs[row]);
      });
    }
    sync();
  }

  __device__ void far_back_substitute() const {
    for (int k = kRows - 1; k >= 0; --k) {
      if (team_.lane == k % kLanes) s_.d[k] = s_.rhs[k] * U(k, k);
      sync();
      for_own_rows([&](int row) {
        if (row < k) s_.rhs[row] = fma(-U(row, k), s_.d[k], s_.rhs[row]);
      });
    }
  }

  /// |F|^2 at c + t d.
  [[nodiscard]] __device__ double merit(double t) const {
    double part = 0;
    if (has_contact()) {
      const int j = team_.lane;
      const auto piece =
          solvers::friction_newton::classify(axpy(t, contact(s_.d, j), contact(s_.c, j)),
                                             axpy(t, contact(s_.ad, j), contact(s_.a, j)), s_.mu[j], local_rho(j));
      part = dot(piece.F, piece.F);
    }
    return sum_of_parts(part);
  }

  /// Largest over the contacts of the values of their lanes, not negative.
  [[nodiscard]] __device__ double largest_of_parts(double part) const {
    if (has_contact()) s_.parts[team_.lane] = part;
    sync();
    double largest = 0;
    for_each_index<N>([&](int j) { largest = max(largest, s_.parts[j]); });
    sync();
    return largest;
  }

  /// solvers::check(). Overwrites d and ad.
  [[nodiscard]] __device__ solvers::IterateCheck<double> check_iterate() const {
    using namespace solvers;
    const int j = team_.lane;
    double part = 0;
    if (has_contact()) {
      const Vec3<double> c = contact(s_.c, j), a = contact(s_.a, j);
      const LawfulPair<double, 3> to = lawful_pair(c, a, s_.mu[j], s_.scale.g[j]);
      set_contact<double, N>(s_.d, j, to.c - c);
      set_contact<double, N>(s_.ad, j, to.a - a);
      part = near_change<double, 3>(to.c - c, to.a - a, s_.scale.g[j]) * s_.scale.per_s[j];
    }
    if (j < 2) {
      const Row& v = j == 0 ? s_.c : s_.a;
      s_.squares[j] = dot(v, v);
    }
    const double near = largest_of_parts(part);
    const bool close = near <= kNear * solver_.tolerance;
    const double c2 = s_.squares[0], a2 = s_.squares[1];
    double error = near;
    if (team_.any(close)) {
      const OwnRows moved = product(s_.d);
      for_each_index<kPerLane>([&](int q) {
        if (const int row = j + q * kLanes; row < kRows) s_.ad[row] = s_.ad[row] - moved.at[q];
      });
      sync();
      part = has_contact() ? magnitude(contact(s_.ad, j)) * s_.scale.per_s[j] : 0;
      const double exact = largest_of_parts(part);
      if (close) error = exact;
    }
    sync();
    return make_iterate_check(error, c2, a2, solver_.tolerance);
  }

  __device__ void next_restart(bool moving) {
    using namespace solvers::friction_newton;
    if (moving) {
      stage_ += 1;
      weyl_ = next_weyl(weyl_);
      rho_ = stage_rho(stage_);
      stage_steps_ = 0;
      for_own_rows([&](int row) {
        double shift = 0;
        for (int j = 0; j < row / 3; ++j) shift = next_shift(shift);
        s_.c[row] = stage_ <= 3    ? s_.base[row]
                    : row % 3 == 0 ? spread_force(weyl_, shift, gauss_seidel_rho(row / 3).n)
                                   : 0.0;
      });
    }
    sync();
    sweep(moving ? static_cast<int>(stage_sweeps(stage_)) : 0);
    if (moving) for_own_rows([&](int row) { s_.base[row] = s_.c[row]; });
    put_acceleration();
  }

  /// friction_newton::sweep(), `times` times, contact after contact. The rows of each contact use
  /// the updated forces of the contacts before it.
  __device__ void sweep(int times) const {
    for (int k = 0; team_.any(k < times); ++k) sweep(k < times);
  }
  __device__ void sweep(bool wanted) const {
    using namespace solvers::friction_newton;
    double sums[kPerLane];
    const auto for_sums = [&](const auto& f) {  // f(row, its sum) for the lane's rows
      for_each_index<kPerLane>([&](int q) {
        if (const int row = team_.lane + q * kLanes; row < kRows) f(row, sums[q]);
      });
    };
    for_sums([&](int row, double& sum) { sum = s_.b[row]; });
    for (int j = 0; j < N; ++j) {
      const int n = 3 * j;
      for_sums([&](int row, double& sum) {
        if (row / 3 != j) return;
        for (int k = n; k < kRows; ++k) sum = fma(A(row, k), s_.c[k], sum);
        s_.d[row] = sum;
      });
      sync();
      if (team_.lane == j && wanted) {
        const double column[2] = {A(n + 1, n), A(n + 2, n)};
        solvers::set_contact<double, N>(
            s_.c, j, swept(contact(s_.c, j), contact(s_.d, j), column, s_.mu[j], gauss_seidel_rho(j)));
      }
      sync();
      for_sums([&](int row, double& sum) {
        if (row / 3 > j) for_each_index<3>([&](int k) { sum = fma(A(row, n + k), s_.c[n + k], sum); });
      });
    }
    sync();
  }

  [[nodiscard]] static __device__ Vec3<double> contact(const Row& v, int j) {
    return solvers::contact<double, N>(v, j);
  }
  /// Calls f(0), f(1), ..., unrolled if they fit, so that a row's numbers stay in registers.
  template <class F>
  static __device__ void for_each_row(const F& f) {
    if constexpr (kFar) {
#pragma unroll 4
      for (int k = 0; k < kRows; ++k) f(k);
    } else {
      unrolled(std::make_integer_sequence<int, kRows>{}, f);
    }
  }

  const IterateKernel<solvers::FrictionNewton, N>& job_;
  const solvers::FrictionNewton& solver_;
  const cuda::Team<kLanes> team_;
  Shared& s_;
  double* const room_;
  // As in FrictionState.
  double unit_ = 0, rho_ = 1, stage_ = 0, stage_steps_ = 0, steps_ = 0, shortened_ = 0, weyl_ = 0;
  double least_pivot_ = 0, shift_ = 0;  ///< of A + shift 1
  bool running_ = false, guessed_ = false, lost_ = false;
};

/// The body of cuda::for_each_team().
template <int N>
struct TeamIterateKernel {
  using Shared = typename NewtonTeam<N>::Shared;
  static constexpr int kLanes = NewtonTeam<N>::kLanes;
  static constexpr int kRoom = NewtonTeam<N>::kRoom;
  /// Estimate of a thread's registers: a lane's rows of a linear system, and other variables.
  static constexpr int kRegisters = std::min(255, 2 * NewtonTeam<N>::kRows * NewtonTeam<N>::kPerLane + 90);
  IterateKernel<solvers::FrictionNewton, N> job;

  __device__ void operator()(std::int64_t i, const cuda::Team<kLanes>& team, Shared& shared,
                             double* room = nullptr) const {
    NewtonTeam<N>(job, team, shared, room).solve(i);
  }
};

}  // namespace garra::contact
