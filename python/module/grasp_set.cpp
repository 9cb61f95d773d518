// Sets of candidate grasps.
#include "garra/grasp_set.hpp"

#include <nanobind/stl/tuple.h>

#include <map>
#include <tuple>

#include "arrays.hpp"
#include "garra/core/error.hpp"

namespace garra::python {

namespace {

using grasp::Set;
using grasp::SetStudy;
using study::Distribution;
using Whole = nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>;
/// kind, a, b, min, max.
using Drawn = std::tuple<std::string, double, double, double, double>;

Distribution distribution_of(const nb::handle& given) {
  const auto [kind, a, b, low, high] = nb::cast<Drawn>(given);
  if (kind == "constant") return Distribution::constant(a);
  if (kind == "uniform") return Distribution::uniform(a, b);
  if (kind == "normal") return Distribution::normal(a, b).truncated(low, high);
  if (kind == "cone") return Distribution::cone(a);
  throw Error(ExitCode::kInternal, "no such distribution: " + kind);
}

Set set_of(const Whole& first, const nb::dict& arrays) {
  Set s;
  s.first.assign(first.data(), first.data() + first.size());
  const std::map<std::string, std::vector<double>*> all = {
      {"point", &s.point},         {"normal", &s.normal},           {"tangent", &s.tangent}, {"friction", &s.friction},
      {"curvature", &s.curvature}, {"force_limit", &s.force_limit}, {"mass", &s.mass},       {"com", &s.com},
      {"inertia", &s.inertia},     {"gravity", &s.gravity},         {"wrench", &s.wrench}};
  for (const auto& [name, array] : arrays) {
    const auto numbers = nb::cast<Numbers>(array);
    all.at(nb::cast<std::string>(name))->assign(numbers.data(), numbers.data() + numbers.size());
  }
  return s;
}

SetStudy study_of(const nb::dict& d) {
  SetStudy s;
  s.friction = distribution_of(d["friction"]);
  s.friction_is_factor = nb::cast<bool>(d["friction_is_factor"]);
  s.contact_friction = distribution_of(d["own_friction"]);
  s.mass = distribution_of(d["mass"]);
  s.mass_is_factor = nb::cast<bool>(d["mass_is_factor"]);
  s.com_ball = nb::cast<double>(d["com_ball"]);
  s.slide_t = s.slide_o = distribution_of(d["slide"]);
  s.tilt = distribution_of(d["tilt"]);
  s.force_ball = nb::cast<double>(d["force_ball"]);
  s.torque_ball = nb::cast<double>(d["torque_ball"]);
  s.any_gravity = nb::cast<bool>(d["any_gravity"]);
  s.samples = nb::cast<std::int64_t>(d["samples"]);
  s.friction_samples = nb::cast<std::int64_t>(d["friction_samples"]);
  s.best = nb::cast<std::int64_t>(d["best"]);
  s.confidence = nb::cast<double>(d["confidence"]);
  s.seed = nb::cast<std::uint64_t>(d["seed"]);
  return s;
}

nb::dict rank(const Whole& first, const nb::dict& arrays, const nb::dict& uncertain, const std::string& device,
              int threads) {
  const Set set = set_of(first, arrays);
  const SetStudy study = study_of(uncertain);
  grasp::Ranking r;
  {
    const nb::gil_scoped_release released;
    r = grasp::rank(set, study, device_of(device, threads), [](std::int64_t) {
      const nb::gil_scoped_acquire held;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();  // Ctrl-C
    });
  }
  const std::size_t n = r.status.size();
  std::vector<double> friction;
  for (const auto& three : r.critical_friction) friction.insert(friction.end(), three.begin(), three.end());
  nb::dict out;
  out["status"] = taken_as<std::uint8_t>(std::move(r.status), {n});
  out["held"] = taken(std::move(r.held), {n});
  out["unsolved"] = taken(std::move(r.unsolved), {n});
  out["samples"] = taken(std::move(r.samples), {n});
  out["decided"] = r.decided;
  out["rank"] = taken(std::move(r.rank), {n});
  out["p_held"] = taken(std::move(r.p_held), {n});
  out["low"] = taken(std::move(r.low), {n});
  out["high"] = taken(std::move(r.high), {n});
  out["difference"] = taken(std::move(r.difference), {n});
  out["difference_low"] = taken(std::move(r.difference_low), {n});
  out["difference_high"] = taken(std::move(r.difference_high), {n});
  out["critical_friction"] = taken(std::move(friction), {n, 3});
  return out;
}

}  // namespace

void add_grasp_set(nb::module_& m) {
  nb::list names;
  for (const char* name : names_of(grasp::GraspStatus{})) names.append(name);
  m.attr("grasp_statuses") = nb::tuple(names);
  m.def("grasp_set_rank", rank, nb::arg("first"), nb::arg("arrays"), nb::arg("uncertain"), nb::arg("device"),
        nb::arg("threads"));
}

}  // namespace garra::python
