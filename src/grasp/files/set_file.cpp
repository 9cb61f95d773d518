// Grasp sets and rankings.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include "base/files/hdf5.hpp"
#include "base/files/number.hpp"
#include "garra/io/grasp_set.hpp"

namespace garra::io {

namespace {

const char* const kSetFile =
    "A grasp set holds first [g+1], point, normal [m,3] and, as far as they are known, tangent [m,3], friction [m], "
    "curvature [m,2], force_limit [m], mass [g], com, gravity [g,3], inertia [g,3,3], wrench [g,6]; of a hand that is "
    "not ideal force [m,3] and mobility [m,3,3] or [m], or jacobian [3 m,nq], mass_matrix [g,nq,nq], torque, "
    "bias, torque_limit [g,nq] (docs/grasp-sets.md).";

class SetReader {
 public:
  explicit SetReader(const std::string& path) : file_(path, kSetFile) {}

  [[nodiscard]] grasp::Set read() {
    grasp::Set s;
    read_first(s.first);
    const auto g = static_cast<std::uint64_t>(s.count());
    s.point = contact_array("point", {3});
    s.normal = contact_array("normal", {3});
    s.tangent = contact_array("tangent", {3});
    s.friction = contact_array("friction", {});
    s.curvature = contact_array("curvature", {2});
    s.force_limit = contact_array("force_limit", {});
    s.mass = array("mass", {g});
    s.com = array("com", {g, 3});
    s.inertia = array("inertia", {g, 3, 3});
    s.gravity = array("gravity", {g, 3});
    s.wrench = array("wrench", {g, 6});
    read_hand(s);
    return s;
  }

 private:
  /// Rows of each grasp; or k each, where the points are [g,k,3].
  void read_first(std::vector<std::int64_t>& first) {
    require("point");
    require("normal");
    const Shape shape = file_.shape("point");
    if (!file_.has("first")) {
      if (shape.size() != 3)
        file_.refuse("first", "is missing, and point is " + to_string(shape) + ", not [g,k,3]",
                     "Give the first row of each grasp and the number of rows.");
      contacts_ = {shape[0], shape[1]};
      for (std::uint64_t g = 0; g <= shape[0]; ++g) first.push_back(static_cast<std::int64_t>(g * shape[1]));
      return;
    }
    if (file_.shape("first").size() != 1) file_.require_shape("first", {file_.shape("first").at(0)});
    first = file_.integers("first");
    if (first.empty()) file_.refuse("first", "is empty", "It has a number for each grasp and one more.");
    if (first[0] != 0) file_.refuse("first", "begins with " + std::to_string(first[0]) + ", not 0");
    for (std::size_t g = 1; g < first.size(); ++g)
      if (first[g] < first[g - 1])
        file_.refuse("first",
                     "row " + std::to_string(g) + " is " + std::to_string(first[g]) + ", less than the one before");
    contacts_ = {static_cast<std::uint64_t>(first.back())};
  }
  void read_hand(grasp::Set& s) const {
    s.force = contact_array("force", {3});
    const bool one_each = file_.has("mobility") && file_.shape("mobility") == contacts_;
    s.mobility = one_each ? contact_array("mobility", {}) : contact_array("mobility", {3, 3});
    if (!file_.has("jacobian")) return;
    const Shape shape = file_.shape("jacobian");
    const std::uint64_t nq = shape.empty() ? 0 : shape.back();
    if (nq == 0) file_.refuse("jacobian", "is " + to_string(shape) + ", not [3 m,nq] with at least one joint");
    // Three rows a contact, however the rows are counted: [3m,nq], [m,3,nq], [g,3k,nq], [g,k,3,nq].
    Shape flat = contacts_, by_contact = contacts_;
    flat.back() *= 3;
    flat.push_back(nq);
    by_contact.insert(by_contact.end(), {3, nq});
    s.jacobian = array("jacobian", shape == by_contact ? by_contact : flat);
    const auto g = static_cast<std::uint64_t>(s.count());
    s.mass_matrix = array("mass_matrix", {g, nq, nq});
    s.torque = array("torque", {g, nq});
    s.bias = array("bias", {g, nq});
    s.torque_limit = array("torque_limit", {g, nq});
  }
  void require(const char* name) const {
    if (!file_.has(name)) file_.refuse(name, "is missing");
  }
  [[nodiscard]] std::vector<double> array(const char* name, const Shape& shape) const {
    if (!file_.has(name)) return {};
    file_.require_shape(name, shape);
    return file_.doubles(name);
  }
  /// Of every contact.
  [[nodiscard]] std::vector<double> contact_array(const char* name, const Shape& each) const {
    Shape shape = contacts_;
    shape.insert(shape.end(), each.begin(), each.end());
    return array(name, shape);
  }

  Hdf5Reader file_;
  Shape contacts_;  ///< [m], or [g,k]
};

std::vector<std::string> outcome_names() {
  std::vector<std::string> names;
  for (int k = 0; k < grasp::kOutcomes; ++k) names.emplace_back(grasp::to_string(static_cast<grasp::Outcome>(k)));
  return names;
}

/// A row a grasp under the names of the columns; NaN is an empty field.
std::string csv_of(const grasp::Ranking& r) {
  std::string out =
      "grasp,rank,status,p_held,low,high,difference,difference_low,difference_high,critical_friction_5,"
      "critical_friction_50,critical_friction_95,held,unsolved,samples,p_no_slip,p_can_be_held,margin_5,margin_50,"
      "margin_95,wrench_radius,fails_first";
  for (const std::string& name : outcome_names()) out += ",outcome_" + name;
  out += "\n";
  const auto names = names_of(grasp::GraspStatus{});
  const auto number = [](double x) { return std::isnan(x) ? "," : "," + shortest(x); };
  for (std::size_t g = 0; g < r.status.size(); ++g) {
    out += std::to_string(g) + "," + std::to_string(r.rank[g]) + "," + names[static_cast<std::size_t>(r.status[g])];
    for (const auto* column : {&r.p_held, &r.low, &r.high, &r.difference, &r.difference_low, &r.difference_high})
      out += number((*column)[g]);
    for (const double mu : r.critical_friction[g]) out += number(mu);
    out += "," + std::to_string(r.held[g]) + "," + std::to_string(r.unsolved[g]) + "," + std::to_string(r.samples[g]);
    out += number(r.p_no_slip[g]) + number(r.p_can_be_held[g]);
    for (const double margin : r.margin[g]) out += number(margin);
    out += number(r.wrench_radius[g]) + "," + (r.fails_first[g] < 0 ? "" : std::to_string(r.fails_first[g]));
    for (const std::int64_t n : r.outcomes[g]) out += "," + std::to_string(n);
    out += "\n";
  }
  return out;
}

void put_outcomes(Hdf5Writer& file, const grasp::Ranking& r) {
  std::vector<std::int64_t> flat;
  for (const auto& counts : r.outcomes) flat.insert(flat.end(), counts.begin(), counts.end());
  file.write("outcomes", {r.status.size(), grasp::kOutcomes}, std::span<const std::int64_t>(flat));
  file.attribute("outcomes", "names", outcome_names());
}

}  // namespace

grasp::Set read_grasp_set(const std::string& path) { return SetReader(path).read(); }

void write_grasp_set(const std::string& path, const grasp::Set& s, const SetExtras& extras) {
  Hdf5Writer file;
  const auto m = static_cast<std::uint64_t>(s.first.empty() ? 0 : s.first.back());
  const auto g = static_cast<std::uint64_t>(s.count());
  const auto put = [&](const char* name, const Shape& shape, const std::vector<double>& values) {
    if (!values.empty()) file.write(name, shape, std::span<const double>(values));
  };
  file.write("first", {g + 1}, std::span<const std::int64_t>(s.first));
  put("point", {m, 3}, s.point);
  put("normal", {m, 3}, s.normal);
  put("tangent", {m, 3}, s.tangent);
  put("friction", {m}, s.friction);
  put("curvature", {m, 2}, s.curvature);
  put("force_limit", {m}, s.force_limit);
  put("mass", {g}, s.mass);
  put("com", {g, 3}, s.com);
  put("inertia", {g, 3, 3}, s.inertia);
  put("gravity", {g, 3}, s.gravity);
  put("wrench", {g, 6}, s.wrench);
  put("force", {m, 3}, s.force);
  const auto nq = static_cast<std::uint64_t>(s.joints());
  put("mobility", s.mobility.size() == m ? Shape{m} : Shape{m, 3, 3}, s.mobility);
  put("jacobian", {3 * m, nq}, s.jacobian);
  put("mass_matrix", {g, nq, nq}, s.mass_matrix);
  put("torque", {g, nq}, s.torque);
  put("bias", {g, nq}, s.bias);
  put("torque_limit", {g, nq}, s.torque_limit);
  if (!extras.sample.empty()) file.write("sample", {g}, std::span<const std::int64_t>(extras.sample));
  const mesh::Mesh& object = extras.object;
  if (object.faces() > 0 && object.faces() <= kMostStoredFaces) {
    file.group("object");
    file.write("object/vertex", {static_cast<std::uint64_t>(object.vertices()), 3},
               std::span<const double>(object.vertex));
    file.write("object/face", {static_cast<std::uint64_t>(object.faces()), 3},
               std::span<const std::int32_t>(object.face));
  }
  for (const auto& [name, text] : extras.attributes) file.attribute("/", name, text);
  file.commit(path);
}

void write_ranking(const std::string& path, const grasp::Ranking& r,
                   const std::vector<std::pair<std::string, std::string>>& attributes) {
  if (std::filesystem::path(path).extension() == ".csv") {
    const std::string text = csv_of(r);
    return write_file_atomically(path, std::as_bytes(std::span(text)));
  }
  Hdf5Writer file;
  const std::uint64_t n = r.status.size();
  const auto put = [&](const char* name, const std::vector<double>& values) {
    file.write(name, {n}, std::span<const double>(values));
  };
  const auto put_counts = [&](const char* name, const std::vector<std::int64_t>& values) {
    file.write(name, {n}, std::span<const std::int64_t>(values));
  };
  std::vector<std::uint8_t> status;
  for (const grasp::GraspStatus s : r.status) status.push_back(static_cast<std::uint8_t>(s));
  file.write("status", {n}, std::span<const std::uint8_t>(status));
  const auto names = names_of(grasp::GraspStatus{});
  file.attribute("status", "names", std::vector<std::string>(names.begin(), names.end()));
  put_counts("rank", r.rank);
  put("p_held", r.p_held);
  put("low", r.low);
  put("high", r.high);
  put("difference", r.difference);
  put("difference_low", r.difference_low);
  put("difference_high", r.difference_high);
  const auto put_quantiles = [&](const char* name, const std::vector<std::array<double, 3>>& values) {
    std::vector<double> flat;
    for (const auto& three : values) flat.insert(flat.end(), three.begin(), three.end());
    file.write(name, {n, 3}, std::span<const double>(flat));
    file.attribute(name, "quantiles", std::vector<double>{0.05, 0.5, 0.95});
  };
  put_quantiles("critical_friction", r.critical_friction);
  put_quantiles("margin", r.margin);
  put("p_no_slip", r.p_no_slip);
  put("p_can_be_held", r.p_can_be_held);
  put("wrench_radius", r.wrench_radius);
  put_counts("fails_first", r.fails_first);
  put_outcomes(file, r);
  put_counts("held", r.held);
  put_counts("unsolved", r.unsolved);
  put_counts("samples", r.samples);
  file.attribute("/", "decided", std::string(r.decided ? "true" : "false"));
  file.attribute("/", "hand", std::string(names_of(r.hand)[static_cast<std::size_t>(r.hand)]));
  for (const auto& [name, text] : attributes) file.attribute("/", name, text);
  file.commit(path);
}

}  // namespace garra::io
