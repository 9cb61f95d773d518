// Whether contact forces can balance the objects of a group, and what the commanded ones leave
// (docs/theory/grasp-groups.md, "Held"). One sample at a time, in the caller's memory. Host and device.
#pragma once

#include "garra/grasp.hpp"
#include "garra/solvers/rest_forces.hpp"
#include "grasp/group/least_squares.hpp"

namespace garra::grasp {

struct GroupBalance {
  double resisted, imbalance;
};

/// What decides of a sample, in its own memory. Moments are over the radius of gyration of their object.
struct BalanceData {
  MatrixAt W;             ///< tangential columns without friction are zero
  MatrixAt A_man, A_obj;  ///< of GroupInstant, as b_man and b_obj
  double *b_man, *b_obj;
  double* f;             ///< commanded forces; changed
  double* load;          ///< on all objects
  double* size;          ///< of the load: weights and the rest of each object
  double* mu;            ///< of the contacts, as the following
  double* limit;         ///< [N]
  double *out, *finger;  ///< 1: it takes no part; 1: a finger's

  /// Numbers in memory.
  [[nodiscard]] static GARRA_HD constexpr int fields(int of_objects, int rows, int contacts) {
    return (of_objects + 2 * rows + 3) * rows + of_objects + 1 + 4 * contacts;
  }
  /// Divides memory for `of_objects` rows of objects and `rows` of contacts.
  [[nodiscard]] static GARRA_HD BalanceData at(double* memory, int of_objects, int rows, int contacts) {
    const auto take = [&](int count) {
      double* const first = memory;
      memory += count;
      return first;
    };
    return {{of_objects, rows, take(of_objects * rows)},
            {rows, rows, take(rows * rows)},
            {rows, rows, take(rows * rows)},
            take(rows),
            take(rows),
            take(rows),
            take(of_objects),
            take(1),
            take(contacts),
            take(contacts),
            take(contacts),
            take(contacts)};
  }
};

/// Numbers that balance_group() needs beside.
template <int D>
[[nodiscard]] constexpr int balance_room(int of_objects, int rows) {
  const int solve = least_squares_room(of_objects > rows ? of_objects : rows);
  const int search = solvers::RestProblem<D>::room(rows / D);
  return of_objects * rows + 2 * rows + 2 * of_objects + (solve > search ? solve : search);
}

namespace group_balance {

/// W without columns of contacts that `skip` says.
template <int D, class Skip>
GARRA_HD void mask(const MatrixAt& W, const Skip& skip, const MatrixAt& to) {
  for (int r = 0; r < W.rows; ++r)
    for (int c = 0; c < W.cols; ++c) to(r, c) = skip(c / D) ? 0 : W(r, c);
}

/// What W c + w leaves, with the c that leaves least (no cones). `c`, `part`, `room`: memory.
GARRA_HD double unbalanced(const MatrixAt& W, const double* w, double* c, double* part, double* room) {
  least_squares(W, w, c, room);
  W.multiply(c, part);
  double sum = 0;
  for (int k = 0; k < W.rows; ++k) sum += (w[k] - part[k]) * (w[k] - part[k]);
  return sqrt(sum);
}

}  // namespace group_balance

/// Whether contact forces within the cones can balance every object, and what the fingers' commanded forces leave
/// unbalanced, whatever forces pass between objects and fixtures.
template <int D>
GARRA_HD_CALL GroupBalance balance_group(const BalanceData& p, int contacts, double* room) {
  const int rows = p.A_man.rows, of_objects = p.W.rows;
  const auto out = [&](int j) { return p.out[j] > 0; };
  const MatrixAt W{of_objects, rows, room};
  double *x = W.m + of_objects * rows, *moving = x + rows, *left = moving + rows, *part = left + of_objects;
  double* const rest = part + of_objects;
  const double size = *p.size;
  GroupBalance answer{__builtin_nan(""), 0};
  // The force with which a finger's torques press on contacts that do not move; where its joints cannot press, the
  // commanded one.
  p.A_man.multiply(p.f, moving);
  for (int k = 0; k < rows; ++k) moving[k] += p.b_man[k];
  least_squares(p.A_man, moving, x, rest);
  for (int k = 0; k < rows; ++k) p.f[k] -= x[k];
  group_balance::mask<D>(p.W, out, W);
  W.multiply(p.f, left);
  for (int k = 0; k < of_objects; ++k) left[k] += p.load[k];
  const double beyond = group_balance::unbalanced(W, p.load, x, part, rest);
  group_balance::mask<D>(
      p.W, [&](int j) { return out(j) || p.finger[j] > 0; }, W);
  if (size > 0) answer.imbalance = group_balance::unbalanced(W, left, x, part, rest) / size;

  // A load beyond the range of W is certified by linear algebra; within it, W c + w = 0 is W^T M^-1 (W c + w) = 0, a
  // problem of contacts at rest.
  if (beyond > 1e-6 * size) return {0, answer.imbalance};
  int n = 0;
  for (int j = 0; j < contacts; ++j) n += !out(j);
  double most = 0;
  for (int r = 0; r < rows; ++r) most = max(most, abs(p.b_obj[r]));
  const solvers::RestProblem<D> q{n, most > 0 ? 1e-9 * most : 1.0, rest};
  for (int j = 0, i = 0; j < contacts; ++j) {
    if (out(j)) continue;
    for (int r = 0; r < D; ++r) {
      for (int k = 0, to = 0; k < contacts; ++k)
        for (int c = 0; !out(k) && c < D; ++c) q.A(D * i + r, to++) = p.A_obj(D * j + r, D * k + c);
      q.b()[D * i + r] = p.b_obj[D * j + r];
      q.c()[D * i + r] = r == 0 ? max(p.f[D * j], 1e-3 * size) : 0;  // within the cone, of the right size
    }
    q.mu()[i] = p.mu[j];
    q.limit()[i] = p.limit[j];
    q.least()[i++] = 0;
  }
  answer.resisted = solvers::rest_forces(q).exists;
  return answer;
}

}  // namespace garra::grasp
