// A robot's inertia and contacts in Eigen's terms: a PUMA-like arm presses its tool on a table, and what the table's
// force does to the joints is computed by garra and by Eigen.
//
// usage: example_eigen_contact ROBOT
#include <Eigen/Dense>
#include <cstdio>

#include "garra/eigen.hpp"
#include "garra/io/robot.hpp"

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: %s ROBOT\n", argv[0]), 2;
  using garra::chain::Output;
  const garra::chain::Robot robot = garra::io::read_robot(argv[1]);

  // A hundred configurations, one a row; Eigen's column-major matrix is copied in the right order.
  const Eigen::MatrixXd q = Eigen::MatrixXd::Random(100, robot.joints);
  const auto evaluated = garra::chain::evaluate(robot, garra::eigen::states(q),
                                                {Output::kJacobian, Output::kMassMatrix, Output::kGravity});

  // The tool meets the table with its own weight: A = E' J H^-1 J' E with E = (n, t, o) = (z, x, y), b = -E' J H^-1 g.
  Eigen::Matrix3d E;
  E << 0, 1, 0, 0, 0, 1, 1, 0, 0;
  garra::contact::Problems problems;
  for (int i = 0; i < q.rows(); ++i) {
    const auto J = garra::eigen::matrix(evaluated, Output::kJacobian, i).topRows<3>();
    const auto H = garra::eigen::matrix(evaluated, Output::kMassMatrix, i);
    const Eigen::LDLT<Eigen::MatrixXd> inertia(H);
    const Eigen::MatrixXd mobility = E.transpose() * J * inertia.solve(J.transpose() * E);
    const Eigen::VectorXd b = -E.transpose() * J * inertia.solve(garra::eigen::matrix(evaluated, Output::kGravity, i));
    garra::eigen::append(problems, mobility, b, Eigen::VectorXd::Constant(1, 0.5));
  }

  const auto solutions = garra::contact::solve(problems, {.tolerance = 1e-10});
  int pressed = 0;
  double worst = 0;
  for (int i = 0; i < q.rows(); ++i) {
    const auto problem = garra::eigen::problem(problems, i);
    const auto found = garra::eigen::solution(solutions, i);
    pressed += found.c[0] > 0;
    worst = std::max(worst, (problem.A * found.c + problem.b - found.a).norm() / (1 + problem.b.norm()));
  }
  std::printf("%s: %d of 100 configurations press; A c + b - a is at most %.1e\n", robot.name.c_str(), pressed, worst);
  return worst < 1e-8 && pressed > 0 ? 0 : 1;
}
