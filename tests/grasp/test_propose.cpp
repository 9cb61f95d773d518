// Proposed grasps against formulas of their own: cones, distances, closure; the same on every executor.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "garra/core/error.hpp"
#include "garra/grasp_propose.hpp"
#include "garra/io/grasp_set.hpp"
#include "garra/io/mesh_file.hpp"
#include "on_every_executor.hpp"

namespace garra::grasp {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

Vec3<double> row(const std::vector<double>& rows, std::size_t i) {
  return vec3(rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]);
}

/// An L of 5 cm arms, 1 cm thick and 2 cm high, as OBJ would have it: what is hollow tells rays and fingers apart.
std::unique_ptr<mesh::Surface> corner_piece() {
  const double xy[6][2] = {{0, 0}, {0.05, 0}, {0.05, 0.01}, {0.01, 0.01}, {0.01, 0.05}, {0, 0.05}};
  mesh::Mesh m;
  for (const double z : {0.0, 0.02})
    for (const auto& p : xy) m.vertex.insert(m.vertex.end(), {p[0], p[1], z});
  for (int k = 0; k < 6; ++k) {
    const int next = (k + 1) % 6;
    m.face.insert(m.face.end(), {k, next, 6 + next, k, 6 + next, 6 + k});
  }
  // Top and bottom, fanned about the hollow corner, which sees all of them.
  for (int k = 4; k < 8; ++k) {
    m.face.insert(m.face.end(), {3, (k + 1) % 6, k % 6});
    m.face.insert(m.face.end(), {9, 6 + k % 6, 6 + (k + 1) % 6});
  }
  mesh::Report report;
  m = mesh::tidy(m, report);
  EXPECT_TRUE(report.watertight() && !report.flipped);
  EXPECT_NEAR(report.volume, 0.02 * (0.05 * 0.01 + 0.04 * 0.01), 1e-15);
  return mesh::make_surface(m);
}

ProposeOptions options(int fingers, std::int64_t count) {
  ProposeOptions o;
  o.fingers = fingers;
  o.count = count;
  return o;
}

TEST(Propose, TheLineOfAPairLiesInBothFrictionCones) {
  for (const auto& object :
       {io::read_object("sphere:0.03").surface, io::read_object("ellipsoid:0.02,0.03,0.05").surface,
        io::read_object("superquadric:0.02,0.03,0.05,0.3,1.5").surface, io::read_object("box:0.05,0.04,0.1").surface,
        std::shared_ptr<const mesh::Surface>(corner_piece())}) {
    ProposeOptions o = options(2, 500);
    o.friction = 0.3;
    const Proposal p = propose(*object, o);
    ASSERT_EQ(p.set.count(), 500);
    for (std::size_t g = 0; g < 500; ++g) {
      const Vec3<double> a = row(p.set.point, 2 * g), b = row(p.set.point, 2 * g + 1), line = b - a;
      // The angle between the line and each inward normal, by sine over cosine.
      for (const auto& [n, towards] :
           {std::pair{row(p.set.normal, 2 * g), 1.0}, {row(p.set.normal, 2 * g + 1), -1.0}}) {
        EXPECT_NEAR(norm(n), 1, 1e-12);
        EXPECT_LE(norm(cross(line, n)), 0.3 * towards * dot(line, n) * (1 + 1e-9));
      }
      for (const std::size_t j : {2 * g, 2 * g + 1})
        EXPECT_NEAR(dot(row(p.set.normal, j), row(p.set.tangent, j)), 0, 1e-12);
    }
  }
}

TEST(Propose, PairsOnASphereAreAcceptedAsOftenAsTheConeSays) {
  // The line through a point at an angle to the normal leaves the sphere at the same angle: every sample is a grasp.
  const Proposal p = propose(*mesh::make_sphere(0.05), options(2, 3000));
  EXPECT_EQ(p.samples, 3000);
  // Its length is 2 r cos(angle), the cosine uniform in [cos(atan(mu)), 1].
  const double least = 1 / std::sqrt(1.25);
  int longer = 0;
  for (std::size_t g = 0; g < 3000; ++g)
    longer += norm(row(p.set.point, 2 * g) - row(p.set.point, 2 * g + 1)) > 0.1 * (0.5 + 0.5 * least);
  EXPECT_NEAR(longer, 1500, 5 * std::sqrt(750));
  for (const double k : p.set.curvature) EXPECT_NEAR(k, 20, 1e-9);
}

/// What is left of b by nonnegative multiples of the columns of A: the active set of Lawson and Hanson (Solving Least
/// Squares Problems, 1974, chapter 23), which shares nothing with the wrench balance.
double left_over(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  const auto n = A.cols();
  std::vector<bool> in(static_cast<std::size_t>(n), false);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(n);
  const auto solved = [&] {
    std::vector<Eigen::Index> columns;
    for (Eigen::Index i = 0; i < n; ++i)
      if (in[static_cast<std::size_t>(i)]) columns.push_back(i);
    Eigen::MatrixXd some(A.rows(), static_cast<Eigen::Index>(columns.size()));
    for (std::size_t k = 0; k < columns.size(); ++k) some.col(static_cast<Eigen::Index>(k)) = A.col(columns[k]);
    const Eigen::VectorXd y = some.completeOrthogonalDecomposition().solve(b);
    Eigen::VectorXd all = Eigen::VectorXd::Zero(n);
    for (std::size_t k = 0; k < columns.size(); ++k) all[columns[k]] = y[static_cast<Eigen::Index>(k)];
    return all;
  };
  for (int step = 0; step < 1000; ++step) {
    const Eigen::VectorXd slope = A.transpose() * (b - A * x);
    Eigen::Index best = -1;
    for (Eigen::Index i = 0; i < n; ++i)
      if (!in[static_cast<std::size_t>(i)] && slope[i] > 1e-9 && (best < 0 || slope[i] > slope[best])) best = i;
    if (best < 0) break;
    in[static_cast<std::size_t>(best)] = true;
    for (Eigen::VectorXd z = solved();; z = solved()) {
      double part = 1;
      for (Eigen::Index i = 0; i < n; ++i)
        if (in[static_cast<std::size_t>(i)] && z[i] <= 0) part = std::min(part, x[i] / (x[i] - z[i]));
      x += part * (z - x);
      if (part == 1) break;
      for (Eigen::Index i = 0; i < n; ++i)
        if (in[static_cast<std::size_t>(i)] && x[i] <= 1e-12) {
          in[static_cast<std::size_t>(i)] = false;
          x[i] = 0;
        }
    }
  }
  return (b - A * x).norm();
}

/// Forces along the 32 edges of a pyramid in place of each cone: what of the unit normal forces' wrench they leave
/// over.
double open_by(const std::vector<Vec3<double>>& point, const std::vector<Vec3<double>>& normal, double mu) {
  constexpr int kEdges = 32;
  Eigen::MatrixXd A(6, kEdges * std::ssize(point));
  Eigen::VectorXd b = Eigen::VectorXd::Zero(6);
  const auto wrench = [](const Vec3<double>& p, const Vec3<double>& f) {
    const Vec3<double> m = 25.0 * cross(p, f);
    Eigen::VectorXd w(6);
    w << f[0], f[1], f[2], m[0], m[1], m[2];
    return w;
  };
  for (std::size_t j = 0; j < point.size(); ++j) {
    Vec3<double> e = Vec3<double>::zero();
    e[std::abs(normal[j][0]) < 0.5 ? 0 : 1] = 1;
    Vec3<double> t = cross(normal[j], e);
    t = (1 / norm(t)) * t;
    b -= wrench(point[j], normal[j]);
    for (int edge = 0; edge < kEdges; ++edge) {
      const double at = 2 * M_PI * edge / kEdges;
      A.col(kEdges * static_cast<Eigen::Index>(j) + edge) =
          wrench(point[j], normal[j] + mu * (std::cos(at) * t + std::sin(at) * cross(normal[j], t)));
    }
  }
  return left_over(A, b);
}

TEST(Propose, ForcesOfThreeAndMoreFingersCloseAndOpenSamplesAreLeftOut) {
  for (const int k : {3, 4, 5}) {
    SCOPED_TRACE(k);
    ProposeOptions o = options(k, 60);
    o.friction = 0.4;
    const auto object = mesh::make_ellipsoid(vec3(0.03, 0.03, 0.05));
    const Proposal p = propose(*object, o);
    EXPECT_EQ(p.rejection[0], 60);
    EXPECT_EQ(p.samples, p.rejection[0] + p.rejection[static_cast<std::size_t>(RejectionReason::kOpen)]);
    std::int64_t next = 0;
    int open = 0;
    for (std::size_t g = 0; g < 60; ++g) {
      std::vector<Vec3<double>> point, normal;
      for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j) {
        point.push_back(row(p.set.point, static_cast<std::size_t>(k) * g + j));
        normal.push_back(row(p.set.normal, static_cast<std::size_t>(k) * g + j));
      }
      // 32 edges: the pyramid around the cone is wider by 1 / cos(pi / 32).
      EXPECT_LT(open_by(point, normal, 0.4 / std::cos(M_PI / 32)), 1e-7) << g;
      // The samples between are drawn again here, and do not close.
      for (; next < p.sample[g]; ++next) {
        mesh::Draws draws(o.seed ^ 0x70726f706f736521u, static_cast<std::uint64_t>(next));
        point.clear();
        normal.clear();
        for (int j = 0; j < k; ++j) {
          const mesh::Place place = object->draw(draws);
          point.push_back(place.point);
          normal.push_back(-place.normal);
        }
        if (open++ < 40) {
          EXPECT_GT(open_by(point, normal, 0.4 * 0.998), 1e-4) << next;
        }
      }
      ++next;
    }
    EXPECT_GT(open, 5);
  }
}

TEST(Propose, TheHandsLimitsHold) {
  const auto object = corner_piece();
  ProposeOptions o = options(3, 200);
  o.max_opening = 0.035;
  o.finger_radius = 0.004;
  o.clearance = 0.02;
  o.floor = 0.0;
  const Proposal p = propose(*object, o);
  ASSERT_EQ(p.set.count(), 200);
  const auto tip = [&](std::size_t j) { return axpy(-0.004, row(p.set.normal, j), row(p.set.point, j)); };
  for (std::size_t g = 0; g < 200; ++g)
    for (std::size_t i = 3 * g; i < 3 * g + 3; ++i) {
      const Vec3<double> point = row(p.set.point, i), out = -row(p.set.normal, i);
      for (std::size_t j = 3 * g; j < i; ++j) {
        EXPECT_LE(norm(point - row(p.set.point, j)), 0.035);
        EXPECT_GE(norm(tip(i) - tip(j)), 0.008);
      }
      EXPECT_GE(tip(i)[2], 0.004 - 1e-12);
      EXPECT_GE(object->nearest(tip(i)).distance, 0.004 * 0.98 - 1e-12);
      for (double x = 1e-5; x < 0.02; x += 5e-4) {
        const Vec3<double> q = axpy(x, out, point);
        const bool in = q[2] > 0 && q[2] < 0.02 && q[0] > 0 && q[1] > 0 && std::max(q[0], q[1]) < 0.05 &&
                        std::min(q[0], q[1]) < 0.01;
        EXPECT_FALSE(in);
      }
    }
  for (const RejectionReason f :
       {RejectionReason::kTooWide, RejectionReason::kFingersMeet, RejectionReason::kBlocked, RejectionReason::kOpen})
    EXPECT_GT(p.rejection[static_cast<std::size_t>(f)], 0);
  std::int64_t sum = 0;
  for (const std::int64_t n : p.rejection) sum += n;
  EXPECT_EQ(sum, p.samples);
}

TEST(Propose, FingersFromAboveDoNotReachUnderTheObject) {
  const auto sphere = mesh::make_sphere(0.03);
  ProposeOptions o = options(3, 300);
  o.approach = vec3(0.0, 0.0, -2.0);
  o.finger_radius = 0.005;
  const Proposal p = propose(*sphere, o);
  // The fingertip's middle is above the equator, or past the widest circle seen from above.
  int below = 0;
  for (std::size_t j = 0; j < 900; ++j) {
    const Vec3<double> tip = (0.035 / 0.03) * row(p.set.point, j);
    EXPECT_TRUE(tip[2] > 0 || std::hypot(tip[0], tip[1]) >= 0.03) << j;
    below += tip[2] < 0;
  }
  EXPECT_GT(below, 0);
  // From below and fingers without size: the lower half, but for a hair.
  o.approach = vec3(0.0, 0.0, 1.0);
  o.finger_radius = 0;
  o.friction = 1;
  const Proposal up = propose(*sphere, o);
  for (std::size_t j = 0; j < 900; ++j) EXPECT_LT(row(up.set.point, j)[2], 1e-3);
}

test::Answer make_answer(const Proposal& p) {
  test::Answer a;
  a.add("point", p.set.point).add("normal", p.set.normal).add("tangent", p.set.tangent);
  a.add("curvature", p.set.curvature).add("sample", p.sample).add("samples", p.samples).add("inertia", p.set.inertia);
  a.add("rejections", std::vector<std::int64_t>(p.rejection.begin(), p.rejection.end()));
  return a;
}

TEST(Propose, IsTheSameOnEveryExecutorAndBeginsTheSameForMore) {
  const auto object = corner_piece();
  for (const int k : {2, 3, 6}) {
    ProposeOptions o = options(k, 300);
    o.finger_radius = 0.002;
    test::expect_same_on_every_executor([&](const Device& device) { return make_answer(propose(*object, o, device)); });
    const Proposal few = propose(*object, o);
    o.count = 1500;
    const Proposal more = propose(*object, o);
    EXPECT_TRUE(std::equal(few.set.point.begin(), few.set.point.end(), more.set.point.begin()));
    EXPECT_TRUE(std::equal(few.sample.begin(), few.sample.end(), more.sample.begin()));
    o.seed = 2;
    EXPECT_NE(propose(*object, o).sample, more.sample);
  }
}

TEST(Propose, ProposedGraspsHold) {
  // Three fingers that close hold any weight; a pair holds what hangs on the line between its contacts.
  const auto object = corner_piece();
  ProposeOptions o = options(3, 200);
  SetStudy study;
  study.samples = 64;
  study.friction_samples = 1;
  study.random_gravity_direction = true;
  const Ranking three = rank(propose(*object, o).set, study);
  EXPECT_EQ(std::count(three.status.begin(), three.status.end(), GraspStatus::kRanked), 200);
  for (const double p : three.p_held) EXPECT_EQ(p, 1);
  for (const auto& mu : three.required_friction) EXPECT_LE(mu[1], o.friction);
  o = options(2, 200);
  o.friction = 0.4;
  GraspSet pairs = propose(*object, o).set;
  for (std::size_t g = 0; g < 200; ++g)
    for (std::size_t i = 0; i < 3; ++i)
      pairs.com[3 * g + i] = 0.5 * (pairs.point[6 * g + i] + pairs.point[6 * g + 3 + i]);
  const Ranking two = rank(pairs, study);
  for (const double p : two.p_held) EXPECT_EQ(p, 1);
}

TEST(Propose, APairOfPadsKeepsABodyFromTurningWhereAPairOfPointsDoesNot) {
  const auto box = mesh::make_box(vec3(0.05, 0.04, 0.1));
  ProposeOptions o = options(2, 300);
  o.force_limit = 30;
  o.mass = 0.2;
  const auto held = [&] {
    SetStudy one;
    one.samples = 1;
    const Ranking r = rank(propose(*box, o).set, one);
    return std::count(r.p_held.begin(), r.p_held.end(), 1.0);
  };
  EXPECT_EQ(held(), 0);
  o.pad_radius = 0.008;
  const Proposal p = propose(*box, o);
  EXPECT_GT(p.rejection[static_cast<std::size_t>(RejectionReason::kOffPad)], 0) << "beside an edge";
  ASSERT_EQ(p.set.first.back(), 300 * 6);
  EXPECT_EQ(p.set.force_limit[0], 10);
  for (std::size_t g = 0; g < 300; ++g)
    for (const std::size_t first : {6 * g, 6 * g + 3}) {
      Vec3<double> middle = Vec3<double>::zero();
      for (std::size_t j = first; j < first + 3; ++j) middle += (1.0 / 3) * row(p.set.point, j);
      for (std::size_t j = first; j < first + 3; ++j) {
        EXPECT_NEAR(norm(row(p.set.point, j) - middle), 0.008, 1e-12);
        EXPECT_EQ(norm(row(p.set.normal, j) - row(p.set.normal, first)), 0);
      }
    }
  // A pad's torsion is mu F r = 0.5 30 N 8 mm = 0.12 N m a finger; the weight turns by at most 1.96 N 50 mm = 0.098 N
  // m.
  EXPECT_EQ(held(), 300);
}

TEST(Propose, MassAndInertiaAreTheObjects) {
  ProposeOptions o = options(2, 3);
  o.density = 500;
  const auto box = mesh::make_box(vec3(0.1, 0.2, 0.3));
  const GraspSet light = propose(*box, o).set;
  EXPECT_NEAR(light.mass[2], 3, 1e-12);
  EXPECT_NEAR(light.inertia[9 + 4], 3 * (0.09 + 0.01) / 12, 1e-14);
  o.mass = 6;
  const GraspSet heavy = propose(*box, o).set;
  EXPECT_EQ(heavy.mass[0], 6);
  EXPECT_NEAR(heavy.inertia[8], 6 * (0.01 + 0.04) / 12, 1e-14);
  EXPECT_TRUE(heavy.force_limit.empty());
  o.force_limit = 20;
  EXPECT_EQ(propose(*box, o).set.force_limit, std::vector<double>(6, 20));
  EXPECT_EQ(light.friction, std::vector<double>(6, 0.5));
}

TEST(Propose, WhatCannotBeIsSaidWithItsReason) {
  const auto sphere = mesh::make_sphere(0.05);
  const auto message = [&](const mesh::Surface& object, const ProposeOptions& o) {
    try {
      (void)propose(object, o);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kUsage);
      return std::string(e.what());
    }
    return std::string("proposed");
  };
  ProposeOptions o = options(2, 10);
  o.max_opening = 0.05;
  o.max_samples = 500;
  const std::string wide = message(*sphere, o);
  EXPECT_NE(wide.find("no grasp among 500 samples: 500 too_wide"), std::string::npos) << wide;
  EXPECT_NE(wide.find("max_opening"), std::string::npos) << wide;
  const auto refused = [&](auto spoil) {
    ProposeOptions bad = options(2, 10);
    spoil(bad);
    return message(*sphere, bad);
  };
  EXPECT_NE(refused([](auto& b) { b.fingers = 1; }).find("2 to 8"), std::string::npos);
  EXPECT_NE(refused([](auto& b) { b.fingers = 9; }).find("2 to 8"), std::string::npos);
  EXPECT_NE(refused([](auto& b) { b.count = 0; }).find("count"), std::string::npos);
  EXPECT_NE(refused([](auto& b) { b.friction = 0; }).find("friction"), std::string::npos);
  EXPECT_NE(refused([](auto& b) { b.friction = NAN; }).find("friction"), std::string::npos);
  EXPECT_NE(refused([](auto& b) { b.finger_radius = kInfinite; }).find("finger_radius"), std::string::npos);
  EXPECT_NE(refused([](auto& b) { b.mass = -1; }).find("mass"), std::string::npos);
  // A mesh with a hole: no volume, but with a mass a skin.
  const auto open = mesh::make_surface({{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 2, 1, 0, 1, 3, 1, 2, 3}}, false);
  EXPECT_NE(message(*open, options(3, 10)).find("not watertight"), std::string::npos);
  o = options(3, 10);
  o.mass = 0.5;
  o.friction = 1;
  EXPECT_EQ(propose(*open, o).set.mass[9], 0.5);
}

TEST(Propose, ASetGoesToItsFileAndBackWithTheObject) {
  const std::string path = (std::filesystem::temp_directory_path() / "garra_propose_set.h5").string();
  ProposeOptions o = options(3, 7);
  o.force_limit = 15;
  const auto object = corner_piece();
  const Proposal p = propose(*object, o);
  io::write_grasp_set(path, p.set, {object->picture(), p.sample, {{"object", "corner"}}});
  const GraspSet back = io::read_grasp_set(path);
  std::filesystem::remove(path);
  EXPECT_EQ(back.first, p.set.first);
  EXPECT_EQ(back.point, p.set.point);
  EXPECT_EQ(back.normal, p.set.normal);
  EXPECT_EQ(back.tangent, p.set.tangent);
  EXPECT_EQ(back.curvature, p.set.curvature);
  EXPECT_EQ(back.friction, p.set.friction);
  EXPECT_EQ(back.force_limit, p.set.force_limit);
  EXPECT_EQ(back.mass, p.set.mass);
  EXPECT_EQ(back.com, p.set.com);
  EXPECT_EQ(back.inertia, p.set.inertia);
}

}  // namespace
}  // namespace garra::grasp
