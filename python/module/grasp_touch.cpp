// Closes a parallel jaw at hand poses.
#include "garra/grasp_touch.hpp"

#include "grasp_object.hpp"

namespace garra::python {

namespace {

grasp::TouchOptions make_touch_options(const nb::dict& jaw, const nb::dict& d, const Numbers& up) {
  grasp::TouchOptions o;
  for (const auto& number : grasp::kJawNumbers) o.jaw.*number.value = nb::cast<double>(jaw[number.name]);
  for (const auto& number : grasp::kTouchNumbers) o.*number.value = nb::cast<double>(d[number.name]);
  o.soft = nb::cast<bool>(d["soft"]);
  o.close = nb::cast<bool>(d["close"]);
  o.draws = nb::cast<std::int64_t>(d["draws"]);
  o.seed = nb::cast<std::uint64_t>(d["seed"]);
  const auto u = to_span(up);
  o.up.assign(u.begin(), u.end());
  return o;
}

nb::dict touch(const std::string& words, const std::optional<Numbers>& vertex, const std::optional<Faces>& face,
               double scale, const Numbers& poses, const nb::dict& jaw, const nb::dict& options, const Numbers& up,
               int threads) {
  const grasp::TouchOptions o = make_touch_options(jaw, options, up);
  io::Object object;
  grasp::Touched t;
  {
    const Computing computing;
    object = read_object(words, vertex, face, scale);
    t = grasp::touch(*object.surface, to_span(poses), o, make_device("cpu", threads, 1));
  }
  const std::size_t g = t.status.size();
  nb::dict out = to_dict(std::move(t.set), *object.surface);
  out["status"] = taken(std::move(t.status), {g});
  out["collision"] = taken(std::move(t.collision), {g});
  out["turn"] = taken(std::move(t.turn), {g});
  out["shift"] = taken(std::move(t.shift), {g});
  out["width"] = taken(std::move(t.width), {g});
  out["pose"] = taken(std::move(t.pose), {g, 4, 4});
  if (!object.warning.empty()) out["warning"] = object.warning;
  return out;
}

}  // namespace

void add_grasp_touch(nb::module_& m) {
  m.def("grasp_touch", touch, nb::arg("words"), nb::arg("vertex").none(), nb::arg("face").none(), nb::arg("scale"),
        nb::arg("poses"), nb::arg("jaw"), nb::arg("options"), nb::arg("up"), nb::arg("threads"));
  nb::dict jaws;
  for (const grasp::ParallelJaw& j : grasp::kJaws) {
    nb::dict d;
    for (const auto& number : grasp::kJawNumbers) d[number.name] = j.*number.value;
    jaws[j.name] = d;
  }
  m.attr("jaws") = jaws;
  nb::list statuses;
  for (const char* name : names_of(grasp::TouchStatus{})) statuses.append(name);
  m.attr("touch_statuses") = nb::tuple(statuses);
}

}  // namespace garra::python
