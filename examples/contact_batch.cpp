// A thousand contact problems built in code and solved in one call: a body of 1 kg stands on three feet and is pushed
// sideways, a little harder in every problem, until it slips.
#include <cstdio>

#include "garra/contact.hpp"

namespace {

constexpr int kCount = 1000;

/// Problem i: each foot carries a third of the mass and does not influence the others (A = 3 I); the push along t
/// reaches the limit of friction half way through the batch.
void append_problem(garra::contact::Problems& problems, int i) {
  const double mu = 0.5, inverse_mass = 3.0, gravity = 9.81;  // 1, 1/kg, m/s^2
  const double push = 2 * mu * gravity * (i + 0.5) / kCount;
  for (int row = 0; row < 9; ++row)
    for (int column = 0; column < 9; ++column) problems.A.push_back(row == column ? inverse_mass : 0.0);
  for (int contact = 0; contact < 3; ++contact) {
    problems.b.insert(problems.b.end(), {-gravity, push, 0.0});  // n, t, o
    problems.mu.push_back(mu);
  }
}

}  // namespace

int main() {
  garra::contact::Problems problems{.contacts = 3, .count = kCount, .A = {}, .b = {}, .mu = {}};
  for (int i = 0; i < kCount; ++i) append_problem(problems, i);

  const auto solutions = garra::contact::solve(problems, {.tolerance = 1e-10});

  int solved = 0, slipping = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    solved += solutions.status[i] == garra::Status::kConverged;
    slipping += solutions.a[9 * i + 1] > 1e-6;  // acceleration of the first foot along t
  }
  std::printf("%d problems, %d solved, %d slip\n", kCount, solved, slipping);
  return solved == kCount && slipping == kCount / 2 ? 0 : 1;
}
