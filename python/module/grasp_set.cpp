// Sets of candidate grasps.
#include "garra/grasp_set.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <tuple>

#include "arrays.hpp"
#include "garra/core/error.hpp"
#include "garra/grasp_words.hpp"
#include "garra/mesh.hpp"

namespace garra::python {

namespace {

using grasp::Set;
using grasp::SetStudy;
using study::Distribution;
using Whole = nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>;
/// kind, a, b, min, max.
using Drawn = std::tuple<std::string, double, double, double, double>;

Distribution parse_distribution(const nb::handle& given) {
  const auto [kind, a, b, low, high] = nb::cast<Drawn>(given);
  if (kind == "constant") return Distribution::constant(a);
  if (kind == "uniform") return Distribution::uniform(a, b);
  if (kind == "normal") return Distribution::normal(a, b).truncated(low, high);
  if (kind == "cone") return Distribution::cone(a);
  throw Error(ExitCode::kInternal, "no such distribution: " + kind);
}

Set make_set(const Whole& first, const nb::dict& arrays) {
  Set s;
  mesh::Mesh object;
  s.first.assign(first.data(), first.data() + first.size());
  const std::map<std::string, std::vector<double>*> all = {{"point", &s.point},
                                                           {"normal", &s.normal},
                                                           {"tangent", &s.tangent},
                                                           {"friction", &s.friction},
                                                           {"curvature", &s.curvature},
                                                           {"force_limit", &s.force_limit},
                                                           {"torsion_radius", &s.torsion_radius},
                                                           {"mass", &s.mass},
                                                           {"com", &s.com},
                                                           {"inertia", &s.inertia},
                                                           {"gravity", &s.gravity},
                                                           {"wrench", &s.wrench},
                                                           {"force", &s.force},
                                                           {"torsion", &s.torsion},
                                                           {"mobility", &s.mobility},
                                                           {"angular_mobility", &s.angular_mobility},
                                                           {"jacobian", &s.jacobian},
                                                           {"angular_jacobian", &s.angular_jacobian},
                                                           {"torque", &s.torque},
                                                           {"bias", &s.bias},
                                                           {"torque_limit", &s.torque_limit},
                                                           {"mass_matrix", &s.mass_matrix},
                                                           {"object/vertex", &object.vertex}};
  for (const auto& [name, array] : arrays) {
    if (nb::cast<std::string>(name) == "object/face") {
      const auto faces = nb::cast<Whole>(array);
      std::transform(faces.data(), faces.data() + faces.size(), std::back_inserter(object.face),
                     [](std::int64_t v) { return static_cast<std::int32_t>(v); });
      continue;
    }
    const auto numbers = nb::cast<Numbers>(array);
    all.at(nb::cast<std::string>(name))->assign(numbers.data(), numbers.data() + numbers.size());
  }
  if (object.faces() > 0) {
    mesh::Report report;
    object = mesh::tidy(std::move(object), report);
    s.object = mesh::make_surface(std::move(object), report.watertight());
  }
  return s;
}

grasp::Hand parse_hand(const std::string& name) {
  const auto names = names_of(grasp::Hand{});
  for (std::size_t k = 0; k < names.size(); ++k)
    if (name == names[k]) return static_cast<grasp::Hand>(k);
  throw Error(ExitCode::kUsage, "hand = \"" + name + "\"", "auto, ideal, compliant or whole");
}

SetStudy make_uncertainty(const nb::dict& d) {
  SetStudy s;
  s.friction = parse_distribution(d["friction"]);
  s.friction_is_factor = nb::cast<bool>(d["friction_is_factor"]);
  s.per_contact_friction_factor = parse_distribution(d["per_contact_friction_factor"]);
  s.mass = parse_distribution(d["mass"]);
  s.mass_is_factor = nb::cast<bool>(d["mass_is_factor"]);
  s.com_radius = nb::cast<double>(d["com_radius"]);
  s.slide_t = s.slide_o = parse_distribution(d["slide"]);
  s.tilt = parse_distribution(d["tilt"]);
  s.force_radius = nb::cast<double>(d["force_radius"]);
  s.torque_radius = nb::cast<double>(d["torque_radius"]);
  s.random_gravity_direction = nb::cast<bool>(d["random_gravity_direction"]);
  s.interior_grasp = nb::cast<bool>(d["interior_grasp"]);
  s.hand = parse_hand(nb::cast<std::string>(d["hand"]));
  s.command = parse_distribution(d["command"]);
  s.grip_force_error = parse_distribution(d["grip_force_error"]);
  s.torque_error = parse_distribution(d["torque_error"]);
  for (const auto& row : nb::cast<std::vector<std::vector<double>>>(d["wrenches"])) {
    if (row.size() != 6) throw Error(ExitCode::kUsage, "wrenches: rows of " + std::to_string(row.size()), "[n, 6]");
    std::copy(row.begin(), row.end(), s.wrenches.emplace_back().begin());
  }
  s.held_imbalance = nb::cast<double>(d["held_imbalance"]);
  s.held_acceleration = nb::cast<double>(d["held_acceleration"]);
  s.check_uniqueness = nb::cast<bool>(d["check_uniqueness"]);
  s.samples = nb::cast<std::int64_t>(d["samples"]);
  s.friction_samples = nb::cast<std::int64_t>(d["friction_samples"]);
  s.radius_samples = nb::cast<std::int64_t>(d["radius_samples"]);
  s.best = nb::cast<std::int64_t>(d["best"]);
  s.confidence = nb::cast<double>(d["confidence"]);
  s.seed = nb::cast<std::uint64_t>(d["seed"]);
  return s;
}

/// [g][...] as one row after another.
template <class T, class Rows>
std::vector<T> flat(const Rows& rows) {
  std::vector<T> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

/// `progress` takes the number of ranked grasps now and then; None: nothing does.
nb::dict rank(const Whole& first, const nb::dict& arrays, const nb::dict& uncertain, const std::string& device,
              int threads, const nb::object& progress) {
  const Set set = make_set(first, arrays);
  const SetStudy study = make_uncertainty(uncertain);
  grasp::Ranking r;
  {
    grasp::SetProgress tell;
    if (!progress.is_none())
      tell = [&progress](std::int64_t done) {
        const nb::gil_scoped_acquire held;
        progress(done);
      };
    const Computing computing;
    const double work = core_seconds::ranking(set.count(), study.samples);
    r = grasp::rank(set, study, make_device(device, threads, work), tell);
  }
  const std::size_t n = r.status.size();
  nb::dict out;
  out["hand"] = std::string(names_of(r.hand)[static_cast<std::size_t>(r.hand)]);
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
  out["required_friction"] = taken(flat<double>(r.required_friction), {n, 3});
  out["margin"] = taken(flat<double>(r.margin), {n, 3});
  out["resisted_force_radius"] = taken(std::move(r.resisted_force_radius), {n});
  out["p_no_slip"] = taken(std::move(r.p_no_slip), {n});
  out["p_resisted"] = taken(std::move(r.p_resisted), {n});
  out["non_unique"] = taken(std::move(r.non_unique), {n});
  out["limiting_contact"] = taken(std::move(r.limiting_contact), {n});
  out["outcomes"] = taken(flat<std::int64_t>(r.outcomes), {n, grasp::kOutcomes});
  return out;
}

template <int N>
nb::list to_list(const Mat<double, N, 1>& v) {
  nb::list out;
  for (int k = 0; k < N; ++k) out.append(v[k]);
  return out;
}

nb::dict replay(const Whole& first, const nb::dict& arrays, const nb::dict& uncertain, std::int64_t grasp,
                std::int64_t sample) {
  grasp::SetReplay r = grasp::replay(make_set(first, arrays), make_uncertainty(uncertain), grasp, sample);
  const std::size_t k = r.friction.size();
  nb::dict inputs, out;
  for (const auto& [name, value] : r.inputs) inputs[name.c_str()] = value;
  out["hand"] = std::string(names_of(r.hand)[static_cast<std::size_t>(r.hand)]);
  out["outcome"] = std::string(to_string(r.outcome));
  out["inputs"] = inputs;
  out["mass"] = r.mass;
  out["com"] = to_list(r.com);
  out["gravity"] = to_list(r.gravity);
  out["wrench"] = to_list(r.wrench);
  out["against"] = to_list(r.against);
  out["point"] = taken(std::move(r.point), {k, 3});
  out["normal"] = taken(std::move(r.normal), {k, 3});
  out["friction"] = taken(std::move(r.friction), {k});
  out["force"] = taken(std::move(r.force), {k, 3});
  if (!r.torsion.empty()) {
    const std::size_t soft = r.torsion.size();
    out["torsion_radius"] = taken(std::move(r.torsion_radius), {soft});
    out["torsion"] = taken(std::move(r.torsion), {soft});
  }
  if (!r.command.empty()) out["command"] = taken(std::move(r.command), {k, 3});
  out["state"] = r.state;
  out["residual"] = r.residual;
  out["margin"] = r.margin;
  out["required_friction"] = r.required_friction;
  out["resisted_force_radius"] = r.resisted_force_radius;
  out["least_push"] = to_list(r.least_push);
  out["imbalance"] = r.imbalance;
  return out;
}

}  // namespace

namespace {

/// Words by name, in the order of the numbers.
nb::dict words_to_dict(std::span<const study::OutcomeWords> table) {
  nb::dict all;
  for (const study::OutcomeWords& row : table) {
    nb::dict words;
    words["label"] = row.label;
    words["color"] = row.color;
    words["meaning"] = row.meaning;
    words["decided"] = row.decided;
    all[row.name] = words;
  }
  return all;
}

}  // namespace

void add_grasp_set(nb::module_& m) {
  m.attr("grasp_statuses") = words_to_dict(grasp::kGraspStatusWords);
  m.attr("grasp_outcomes") = words_to_dict(grasp::kOutcomeWords);
  m.def("grasp_set_replay", replay, nb::arg("first"), nb::arg("arrays"), nb::arg("uncertain"), nb::arg("grasp"),
        nb::arg("sample"));
  m.def("grasp_set_rank", rank, nb::arg("first"), nb::arg("arrays"), nb::arg("uncertain"), nb::arg("device"),
        nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace garra::python
