// Friction contact problems of known classes, for benchmarks and tests. SI units; machine-independent.
//
//   - random_grasps: grasps of an unknown answer, the generator behind data/reference/contact/random_n*.h5.
//   - manufactured: problems built backwards from an answer (c*, a*) that obeys the law of friction_problem.hpp.
//   - sliding_grasps: random grasps with some or all contacts sliding (the papers' set S): unsymmetric problems.
//
// Problem k of a class depends only on the seed and k, so a short run is the head of a long one.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "garra/contact.hpp"
#include "garra/core/mat.hpp"

namespace garra::bench {

/// Parameters of a drawn class: number of problems, contacts and seed.
struct Draw {
  int contacts = 3;  ///< of one problem
  std::int64_t count = 0;
  std::uint64_t seed = 0;
};

/// Compliance of the fingers in manufactured problems.
enum class ManufacturedClass {
  compliant,  ///< fingers give way, A = G' M^-1 G + blockdiag(J Mf^-1 J') has full rank
  rigid,      ///< fingers do not, A = G' M^-1 G has rank 6 at most: the hard class
};
/// State of the contacts in the answer.
enum class Mode { mixed, stick, slide, break_ };

/// Problems with a known answer, which need not be unique: check a solver by its residual, not by distance to `c`.
struct Manufactured {
  contact::Problems problems;
  std::vector<double> c;  ///< [count][3k] a force that solves the problem [N]
  std::vector<double> a;  ///< [count][3k] its acceleration [m/s^2]
};

/// Uniform and normal numbers, spelled out because the standard's distributions differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  // The upper 53 bits: every multiple of 2^-53 in [0, 1), each equally likely.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  double normal() {
    // Box and Muller's transform; 1 - u is never 0, so the logarithm is finite.
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  Vec3<double> normal3() {
    // Named one by one, because the evaluation order of arguments is unspecified.
    const double x = normal(), y = normal(), z = normal();
    return vec3<double>(x, y, z);
  }
  Mat3<double> normal3x3() {
    Mat3<double> b;
    for (double& entry : b.m) entry = normal();
    return b;
  }

 private:
  std::mt19937_64 engine_;
};

/// Pose of a contact on the object; its block of the grasp matrix G maps contact force to wrench.
struct ContactFrame {
  Vec3<double> p_OC;  ///< from the object's center of mass [m]
  Mat3<double> R_OC;  ///< columns n (into the object), t, o
};

/// The object under the contacts: a solid ball, M = diag(m I, 0.4 m r^2 I).
struct Ball {
  double mass;    ///< [kg]
  double radius;  ///< [m]
};

namespace problem_classes_detail {

inline Vec3<double> unit_vector(const Vec3<double>& v) { return (1 / norm(v)) * v; }

/// Frame with normal n, its tangents turned by `angle` from the axis that n is least aligned with.
inline Mat3<double> frame_of_normal(const Vec3<double>& n, double angle) {
  int least = 0;
  // The axis least aligned with n keeps the cross product far from zero.
  for (int i = 1; i < 3; ++i)
    if (std::abs(n[i]) < std::abs(n[least])) least = i;
  Vec3<double> axis = Vec3<double>::zero();
  axis[least] = 1;
  const Vec3<double> t0 = unit_vector(cross(axis, n));
  const Vec3<double> t1 = std::cos(angle) * t0 + std::sin(angle) * cross(n, t0);
  const Vec3<double> t2 = cross(n, t1);
  Mat3<double> r;
  for (int i = 0; i < 3; ++i) {
    r(i, 0) = n[i];
    r(i, 1) = t1[i];
    r(i, 2) = t2[i];
  }
  return r;
}

/// G_i = [R_i; [p_i]x R_i]
inline Mat<double, 6, 3> grasp_block(const ContactFrame& contact) {
  Mat<double, 6, 3> g;
  for (int j = 0; j < 3; ++j) {
    const Vec3<double> axis = column(contact.R_OC, j);
    const Vec3<double> moment = cross(contact.p_OC, axis);
    for (int i = 0; i < 3; ++i) {
      g(i, j) = axis[i];
      g(i + 3, j) = moment[i];
    }
  }
  return g;
}

/// Inputs of a problem: the object, the contacts and the fingers' own compliance [1/kg].
struct Grasp {
  Ball ball;
  std::vector<ContactFrame> contacts;
  std::vector<Mat3<double>> finger;
};

/// A = G' M^-1 G + blockdiag(finger), row-major.
inline std::vector<double> contact_matrix(const Grasp& grasp) {
  const int n = static_cast<int>(grasp.contacts.size());
  // The moment of inertia is the same about every axis, so M^-1 weights rows and needs no matrix.
  const double inv_mass = 1 / grasp.ball.mass;
  const double inv_inertia = 1 / (0.4 * grasp.ball.mass * grasp.ball.radius * grasp.ball.radius);
  std::vector<double> A(static_cast<std::size_t>(9 * n * n));
  for (int i = 0; i < n; ++i) {
    Mat<double, 6, 3> weighted = grasp_block(grasp.contacts[static_cast<std::size_t>(i)]);
    for (int row = 0; row < 6; ++row)
      for (int col = 0; col < 3; ++col) weighted(row, col) *= row < 3 ? inv_mass : inv_inertia;
    for (int j = 0; j < n; ++j) {
      Mat3<double> block = transpose_times(weighted, grasp_block(grasp.contacts[static_cast<std::size_t>(j)]));
      // Fingers are coupled only through the object: their compliance stands on the diagonal blocks.
      if (i == j) block += grasp.finger[static_cast<std::size_t>(i)];
      for (int row = 0; row < 3; ++row)
        for (int col = 0; col < 3; ++col)
          A[static_cast<std::size_t>((3 * i + row) * 3 * n + 3 * j + col)] = block(row, col);
    }
  }
  return A;
}

inline void append(std::vector<double>& to, const std::vector<double>& values) {
  to.insert(to.end(), values.begin(), values.end());
}

inline void append_random_grasp(int contacts, Random& random, contact::Problems& out) {
  // Mass 0.5 to 2 kg, radius 1 m: forces and moments have one scale, as in the generator of the reference files.
  Grasp grasp{{0.5 + 1.5 * random.uniform(), 1.0}, {}, {}};
  std::vector<Vec3<double>> finger_motion;
  for (int i = 0; i < contacts; ++i) {
    const Vec3<double> p = unit_vector(random.normal3());
    grasp.contacts.push_back({p, frame_of_normal(-p, 2 * std::numbers::pi * random.uniform())});
    const Mat3<double> b = random.normal3x3();
    // A Wishart part with mean 1/2 and a floor of 0.05 1/kg: every finger gives way in every direction.
    const Mat3<double> finger = (0.5 / 3) * (b * transpose(b)) + 0.05 * Mat3<double>::identity();
    grasp.finger.push_back(finger);
    out.mu.push_back(0.1 + 0.9 * random.uniform());
    // The force [N] that the finger presses with: without contact its tip would accelerate by A_j f.
    const double fn = 1 + 9 * random.uniform();
    const double ft = fn * random.normal() / 2, fo = fn * random.normal() / 2;
    finger_motion.push_back(0.5 * random.normal3() - finger * vec3<double>(fn, ft, fo));
  }
  Vec<double, 6> acceleration;
  for (int i = 0; i < 6; ++i) acceleration[i] = 3 * random.normal();
  append(out.A, contact_matrix(grasp));
  for (int i = 0; i < contacts; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    // b = G' a + finger motion: relative acceleration without contact forces.
    const Vec3<double> b = transpose_times(grasp_block(grasp.contacts[at]), acceleration) + finger_motion[at];
    append(out.b, {b[0], b[1], b[2]});
  }
}

/// Directions evenly spread over the sphere (Fibonacci spiral), shaken by N(0, 0.2) and turned as a whole.
inline std::vector<Vec3<double>> spread_directions(int contacts, Random& random) {
  // The golden angle: successive points of the spiral never line up.
  const double golden = std::numbers::pi * (3 - std::sqrt(5.0));
  const double turn = 2 * std::numbers::pi * random.uniform();
  const Mat3<double> R = frame_of_normal(unit_vector(random.normal3()), turn);
  std::vector<Vec3<double>> directions;
  for (int i = 0; i < contacts; ++i) {
    const double z = 1 - (2 * i + 1) / static_cast<double>(contacts);
    const double ring = std::sqrt(1 - z * z);
    const Vec3<double> even = vec3<double>(z, ring * std::cos(golden * i), ring * std::sin(golden * i));
    // The perturbation breaks the symmetry of evenly spread contacts.
    directions.push_back(unit_vector(R * even + 0.2 * random.normal3()));
  }
  return directions;
}

/// Mobility J Mf^-1 J' of a three-joint finger at its tip [1/kg]: J ~ N(0, 5 cm), Mf = 1e-4 (I/2 + B B'/3) kg m^2,
/// about 25 1/kg, so a fingertip weighs as much as the objects it holds.
inline Mat3<double> finger_mobility(Random& random) {
  const Mat3<double> J = 0.05 * random.normal3x3();
  const Mat3<double> b = random.normal3x3();
  const Mat3<double> Mf = (1e-4 / 3) * (b * transpose(b)) + 0.5e-4 * Mat3<double>::identity();
  const Vec3<double> x = column(Mf, 0), y = column(Mf, 1), z = column(Mf, 2);
  const Vec3<double> yz = cross(y, z), zx = cross(z, x), xy = cross(x, y);
  Mat3<double> inverse;  // Mf is symmetric: the rows of its inverse are these cross products over det
  for (int i = 0; i < 3; ++i) {
    inverse(0, i) = yz[i];
    inverse(1, i) = zx[i];
    inverse(2, i) = xy[i];
  }
  return (1 / dot(x, yz)) * (J * inverse * transpose(J));
}

inline Grasp draw_grasp(ManufacturedClass kind, int contacts, Random& random) {
  const double radius = random.uniform(0.02, 0.08);
  Grasp grasp{{random.uniform(0.05, 1.0), radius}, {}, {}};
  for (const Vec3<double>& outward : spread_directions(contacts, random)) {
    // A normal a few degrees off the radius, for an object that is no ball.
    const Vec3<double> normal = unit_vector(0.05 * random.normal3() - outward);
    const double angle = 2 * std::numbers::pi * random.uniform();
    grasp.contacts.push_back({radius * outward, frame_of_normal(normal, angle)});
    const bool compliant = kind == ManufacturedClass::compliant;
    grasp.finger.push_back(compliant ? finger_mobility(random) : Mat3<double>::zero());
  }
  return grasp;
}

inline Mode draw_mode(Mode mode, Random& random) {
  if (mode != Mode::mixed) return mode;
  const double u = random.uniform();
  return u < 0.45 ? Mode::stick : u < 0.85 ? Mode::slide : Mode::break_;
}

/// Force and acceleration of one contact that obey the law.
struct ContactState {
  Vec3<double> c, a;
};
inline ContactState draw_state(Mode mode, double mu, Random& random) {
  ContactState state{Vec3<double>::zero(), Vec3<double>::zero()};
  // Drawn in every mode, so that modes differ only in the state.
  const double force = random.uniform(0.5, 5.0);          // [N]
  const double acceleration = random.uniform(0.1, 10.0);  // [m/s^2]
  const double angle = 2 * std::numbers::pi * random.uniform();
  const double inside = std::sqrt(random.uniform());  // evenly over the friction disk
  const double t = std::cos(angle), o = std::sin(angle);
  if (mode == Mode::stick) state.c = force * vec3<double>(1, mu * inside * t, mu * inside * o);
  if (mode == Mode::slide) {
    // Opposes the sliding at full size: the law with equality.
    state.c = force * vec3<double>(1, -mu * t, -mu * o);
    state.a = acceleration * vec3<double>(0, t, o);
  }
  if (mode == Mode::break_) state.a = acceleration * vec3<double>(1, inside * t, inside * o);
  return state;
}

// The answer is drawn first, b follows from it: b = a* - A c*.
inline void append_manufactured(const Grasp& grasp, Mode mode, Random& random, Manufactured& out) {
  std::vector<double> c, a;
  for (std::size_t i = 0; i < grasp.contacts.size(); ++i) {
    const double mu = random.uniform(0.1, 1.0);
    const ContactState state = draw_state(draw_mode(mode, random), mu, random);
    out.problems.mu.push_back(mu);
    append(c, {state.c[0], state.c[1], state.c[2]});
    append(a, {state.a[0], state.a[1], state.a[2]});
  }
  const std::vector<double> A = contact_matrix(grasp);
  for (std::size_t i = 0; i < c.size(); ++i) {
    double b = a[i];
    for (std::size_t j = 0; j < c.size(); ++j) b -= A[i * c.size() + j] * c[j];
    out.problems.b.push_back(b);
  }
  append(out.problems.A, A);
  append(out.c, c);
  append(out.a, a);
}

}  // namespace problem_classes_detail

/// Problems seed, seed + 1, ... of the random class: problem k is drawn from mt19937_64(1000003 contacts + k).
/// Object of 0.5-2 kg and radius 1 m, compliant fingers, mu in 0.1-1; about 15 % break, 50 % slide, 35 % stick.
[[nodiscard]] inline contact::Problems random_grasps(const Draw& draw) {
  contact::Problems out;
  out.contacts = draw.contacts;
  out.count = draw.count;
  for (std::uint64_t k = draw.seed; k < draw.seed + static_cast<std::uint64_t>(draw.count); ++k) {
    Random random(1000003 * static_cast<std::uint64_t>(draw.contacts) + k);
    problem_classes_detail::append_random_grasp(draw.contacts, random, out);
  }
  return out;
}

/// Problems of random_grasps with contacts that slide at 0.01-1 m/s in a drawn direction: each with probability 1/2,
/// but at least one and not all (some), or all. Compliant fingers, so that nearly every problem has a solution.
enum class Sliding { some, all };
[[nodiscard]] inline contact::Problems sliding_grasps(Sliding sliding, const Draw& draw) {
  contact::Problems out = random_grasps(draw);
  const auto contacts = static_cast<std::size_t>(draw.contacts);
  for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(draw.count); ++k) {
    Random random((draw.seed + k + 1) * 0xD1B54A32D192ED03u);  // another stream than the grasp's own
    // One contact slides for sure and, from two contacts on, its neighbor rolls for sure.
    const std::size_t slides = static_cast<std::size_t>(random.uniform() * static_cast<double>(contacts));
    const std::size_t rolls = (slides + 1) % contacts;
    for (std::size_t j = 0; j < contacts; ++j) {
      const bool drawn = random.uniform() < 0.5;
      const double speed = random.uniform(0.01, 1), angle = 2 * std::numbers::pi * random.uniform();
      const bool moves = sliding == Sliding::all || j == slides || (drawn && j != rolls);
      out.mode.push_back(moves ? 1 : 0);
      out.slip_velocity.push_back(moves ? speed * std::cos(angle) : 0);
      out.slip_velocity.push_back(moves ? speed * std::sin(angle) : 0);
    }
  }
  return out;
}

/// Problems of a hand's size (radius 2-8 cm, 50 g-1 kg, mu in 0.1-1) with an answer in which every contact is in
/// `mode`. For Mode::mixed 45 % stick, 40 % slide and 15 % break.
[[nodiscard]] inline Manufactured manufactured(ManufacturedClass kind, Mode mode, const Draw& draw) {
  Manufactured out;
  out.problems.contacts = draw.contacts;
  out.problems.count = draw.count;
  for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(draw.count); ++k) {
    Random random((draw.seed + 1) * 0x9E3779B97F4A7C15u + k);  // golden ratio: seeds share no problems
    const problem_classes_detail::Grasp grasp = problem_classes_detail::draw_grasp(kind, draw.contacts, random);
    problem_classes_detail::append_manufactured(grasp, mode, random, out);
  }
  return out;
}

}  // namespace garra::bench
