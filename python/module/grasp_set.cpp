// Sets of candidate grasps.
#include "garra/grasp_set.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <variant>

#include "arrays.hpp"
#include "garra/core/error.hpp"
#include "garra/mesh.hpp"
#include "garra/study/study.hpp"
#include "grasp/set/samples.hpp"

namespace garra::python {

namespace {

using grasp::GraspSet;
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

GraspSet make_set(const Whole& first, const nb::dict& arrays) {
  GraspSet s;
  mesh::Mesh object;
  s.first.assign(first.data(), first.data() + first.size());
  std::map<std::string, std::vector<double>*> all = {{"object/vertex", &object.vertex}};
  for (const grasp::GraspSetArray& a : grasp::kGraspSetArrays) all[a.name] = &(s.*a.values);
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
  if (const auto hand = value_named<grasp::Hand>(name)) return *hand;
  throw Error(ExitCode::kUsage, "hand = \"" + name + "\"", "auto, ideal, compliant or whole");
}

/// Keys that are absent keep their defaults.
SetStudy make_uncertainty(const nb::dict& d) {
  SetStudy s;
  const auto take = [&d]<class T>(const char* key, T& to) {
    if (!d.contains(key)) return;
    if constexpr (std::is_same_v<T, Distribution>)
      to = parse_distribution(d[key]);
    else
      to = nb::cast<T>(d[key]);
  };
  take("friction", s.friction);
  take("friction_is_factor", s.friction_is_factor);
  take("mass", s.mass);
  take("mass_is_factor", s.mass_is_factor);
  for (const grasp::SetOption& option : grasp::kSetOptions)
    std::visit([&](auto member) { take(option.name, s.*member); }, option.value);
  std::string hand = "auto";
  take("hand", hand);
  s.hand = parse_hand(hand);
  std::vector<std::vector<double>> wrenches;
  take("wrenches", wrenches);
  for (const auto& row : wrenches) {
    if (row.size() != 6) throw Error(ExitCode::kUsage, "wrenches: rows of " + std::to_string(row.size()), "[n, 6]");
    std::copy(row.begin(), row.end(), s.wrenches.emplace_back().begin());
  }
  take("method", s.method);
  take("tolerance", s.tolerance);
  take("samples", s.samples);
  take("friction_samples", s.friction_samples);
  take("radius_samples", s.radius_samples);
  take("best", s.best);
  take("confidence", s.confidence);
  take("seed", s.seed);
  return s;
}

/// [g][...] as one row after another.
template <class T, class Rows>
std::vector<T> flat(const Rows& rows) {
  std::vector<T> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

/// Calls a function of Python with the number of grasps or samples that are done; None: nothing.
grasp::SetProgress make_progress(const std::optional<nb::callable>& progress) {
  if (!progress) return {};
  return [&progress](std::int64_t done) {
    const nb::gil_scoped_acquire held;
    (*progress)(done);
  };
}

nb::dict rank(const Whole& first, const nb::dict& arrays, const nb::dict& uncertain, const std::string& device,
              int threads, const std::optional<nb::callable>& progress) {
  const GraspSet set = make_set(first, arrays);
  const SetStudy study = make_uncertainty(uncertain);
  grasp::Ranking r;
  {
    const grasp::SetProgress tell = make_progress(progress);
    const Computing computing;
    const double work = core_seconds::ranking(set.count(), study.samples);
    r = grasp::rank(set, study, make_device(device, threads, work), tell);
  }
  const std::size_t n = r.status.size();
  nb::dict out;
  out["hand"] = name_of(r.hand);
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
  out["hand"] = name_of(r.hand);
  out["outcome"] = std::string(to_string(r.outcome));
  if (r.load_cases > 1) out["load_case"] = r.load_case;
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

nb::object samples(const Whole& first, const nb::dict& arrays, const nb::dict& uncertain,
                   const std::optional<nb::callable>& progress) {
  const GraspSet set = make_set(first, arrays);
  const SetStudy study = make_uncertainty(uncertain);
  std::vector<double> rows;
  {
    const grasp::SetProgress tell = make_progress(progress);
    const Computing computing;
    rows = grasp::samples(set, study, tell);
  }
  const auto n = static_cast<std::size_t>(study.samples), width = rows.size() / n;
  return taken(std::move(rows), {n, width});
}

std::pair<double, double> confidence_interval(std::int64_t successes, std::int64_t decided, std::int64_t unsolved) {
  const study::Interval i = study::clopper_pearson_with_unsolved(successes, decided, unsolved);
  return {i.low, i.high};
}

/// Words by name, in the order of the numbers.
nb::dict words_to_dict(std::span<const study::OutcomeWords> table) {
  nb::dict all;
  for (const study::OutcomeWords& row : table) {
    nb::dict words;
    words["label"] = row.label;
    words["color"] = row.color;
    words["meaning"] = row.meaning;
    words["decided"] = row.decided();
    all[row.name] = words;
  }
  return all;
}

}  // namespace

void add_grasp_set(nb::module_& m) {
  nb::list arrays;
  for (const grasp::GraspSetArray& a : grasp::kGraspSetArrays) {
    nb::list axes;
    for (const int axis : a.axes)
      if (axis != 0) axes.append(axis);
    arrays.append(nb::make_tuple(a.name, a.per_contact, nb::tuple(axes), a.or_number, a.doc));
  }
  nb::list options;
  for (const grasp::SetOption& option : grasp::kSetOptions) {
    nb::dict row;
    row["name"] = option.name;
    row["keyword"] = option.keyword;
    row["unit"] = option.unit;
    row["doc"] = option.doc;
    row["report"] = option.report;
    row["each"] = option.each;
    row["ball"] = option.is_ball();
    std::visit(
        [&](auto member) {
          const auto value = SetStudy{}.*member;
          if constexpr (std::is_same_v<decltype(value), const Distribution>) {
            row["drawn"] = true;
            row["default"] = value.nominal();
          } else {
            row["drawn"] = false;
            row["default"] = value;
          }
        },
        option.value);
    options.append(row);
  }
  m.attr("grasp_set_options") = options;
  m.def("grasp_set_study",
        [](const nb::dict& uncertain) { return grasp::describe_study(make_uncertainty(uncertain)); });
  m.attr("grasp_set_arrays") = arrays;  // name, a row per contact, axes (-1: joints), or a number per row, meaning
  m.attr("grasp_statuses") = words_to_dict(grasp::kGraspStatusWords);
  m.attr("grasp_outcomes") = words_to_dict(grasp::kOutcomeWords);
  m.def("grasp_set_replay", replay);
  m.def("grasp_set_samples", samples);
  m.def("confidence_interval", confidence_interval);
  m.attr("held_acceleration") = grasp::kHeldAcceleration;
  m.def("grasp_set_rank", rank);
}

}  // namespace garra::python
