// The reference cases of data/reference/singularity, and what several tests of singularities ask of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "garra/singularity.hpp"
#include "reference.hpp"

namespace garra::singularity::reference {

using Json = nlohmann::json;
using Joints = std::vector<int>;

/// Singular values and rates relative to sigma_1: the reference's README.
inline constexpr double kSigma = 1e-9;
/// Singular values after a finite step: the same README.
inline constexpr double kFinite = 1e-8;
/// Screws of arms of about a meter: a few dozen roundings.
inline constexpr double kScrew = 1e-13;

inline std::vector<Json> examples() {
  const Json document = test::read_reference_json("singularity/examples.json");
  if (document["examples"].size() != 3) throw std::runtime_error("the paper has three examples");
  return document["examples"];
}
inline std::vector<Json> arms() {
  const Json document = test::read_reference_json("singularity/arms.json");
  if (document["cases"].size() != 14) throw std::runtime_error("the reference has 14 arms");
  return document["cases"];
}
inline std::vector<Json> cases() {
  std::vector<Json> all = examples();
  for (const Json& c : arms()) all.push_back(c);
  return all;
}
inline Json case_of(const std::string& id) {
  for (const Json& c : cases())
    if (c["id"] == id) return c;
  throw std::runtime_error("no reference case " + id);
}

inline Screw<double> screw_of(const Json& s) { return {{{s[0], s[1], s[2]}}, {{s[3], s[4], s[5]}}}; }
inline ScrewSet screws_in(const Json& list) {
  ScrewSet set;
  for (const Json& s : list) set.screw.push_back(screw_of(s));
  return set;
}

/// The paper and the reference call an interval singular by its number of joints.
inline AnalyzeOptions paper_rule() {
  AnalyzeOptions o;
  o.rule = IntervalRule::kCardinality;
  return o;
}

inline Joints from_zero(const Json& joints) {
  Joints out;
  for (const int j : joints) out.push_back(j - 1);
  return out;
}
inline std::vector<Joints> sets_from_zero(const Json& sets) {
  std::vector<Joints> out;
  for (const Json& s : sets) out.push_back(from_zero(s));
  std::sort(out.begin(), out.end());
  return out;
}
inline std::vector<Joints> sorted(std::vector<Joints> sets) {
  std::sort(sets.begin(), sets.end());
  return sets;
}

inline void expect_near(const Screw<double>& a, const Screw<double>& b, double tolerance) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(a.w[i], b.w[i], tolerance);
    EXPECT_NEAR(a.v[i], b.v[i], tolerance);
  }
}

/// A robot of a reference case's standard DH rows.
inline chain::Robot robot_of(const Json& c) {
  std::vector<chain::DhJoint> rows;
  for (const Json& r : c["dh"]) {
    chain::DhJoint row{r["a"], r["d0"], r["alpha"], r["theta0"], {}};
    row.link.joint.prismatic = r["type"] == "P";
    rows.push_back(row);
  }
  return chain::from_dh({.name = c["arm"]}, rows);
}

/// sigma_g after a finite motion, in the scaling of the start; dq in rad and m.
inline double sigma_after(const ScrewSet& set, const Analysis& a, const std::vector<double>& dq) {
  return singular_values(displaced(set, dq), a.scaling)[static_cast<std::size_t>(a.generic_rank - 1)];
}
/// A scaled direction times t.
inline std::vector<double> motion(const ScrewSet& set, const Analysis& a, const EscapeSet& e, double t) {
  std::vector<double> dq(set.screw.size(), 0.0);
  for (std::size_t k = 0; k < e.joints.size(); ++k) {
    const auto j = static_cast<std::size_t>(e.joints[k]);
    dq[j] = t * e.direction[k] * (norm(set.screw[j].w) == 0 ? a.scaling.length : 1);
  }
  return dq;
}

}  // namespace garra::singularity::reference
