// Reads grasp sets.
#include <algorithm>
#include <map>
#include <memory>
#include <span>

#include "base/files/arrays/array_file.hpp"
#include "base/files/hdf5.hpp"
#include "base/files/text_file.hpp"
#include "garra/core/error.hpp"
#include "garra/io/grasp_set.hpp"

namespace garra::io {

namespace {

const char* const kSetFile =
    "A grasp set holds first [g+1], point, normal [m,3] and, as far as they are known, tangent [m,3], friction [m], "
    "curvature [m,2], force_limit, torsion_radius [m], mass [g], com, gravity [g,3], inertia [g,3,3], wrench [g,6]; of "
    "a hand that is not ideal force, drift [m,3] and mobility [m,3,3] or [m], or jacobian [3 m,nq], mass_matrix "
    "[g,nq,nq], torque, "
    "bias, torque_limit [g,nq]; of its soft contacts torsion [m] and angular_mobility or angular_jacobian "
    "(docs/theory/grasp-sets.md).";

}  // namespace

/// Reader of a set's datasets and of their rows.
class SetFile::Reader {
 public:
  Reader(const std::string& path, std::string checksum)
      : path_(path), checksum_(std::move(checksum)), file_(open_arrays(path, kSetFile)) {
    require("point");
    require("normal");
    file_->has("first") ? take_first() : take_even();
  }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(grasps_); }

  [[nodiscard]] grasp::Set read(std::int64_t first, std::int64_t count) {
    require_checksum();
    grasp::Set s;
    s.first = read_first(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(count));
    const auto row = static_cast<std::uint64_t>(s.first.front());
    for (std::int64_t& at : s.first) at -= static_cast<std::int64_t>(row);
    now_ = {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(count), row,
            static_cast<std::uint64_t>(s.first.back())};
    const std::uint64_t g = grasps_;
    s.point = contact_array("point", {3});
    s.normal = contact_array("normal", {3});
    s.tangent = contact_array("tangent", {3});
    s.friction = contact_array("friction", {});
    s.curvature = contact_array("curvature", {2});
    s.force_limit = contact_array("force_limit", {});
    s.torsion_radius = contact_array("torsion_radius", {});
    s.mass = array("mass", {g});
    s.com = array("com", {g, 3});
    s.inertia = array("inertia", {g, 3, 3});
    s.gravity = array("gravity", {g, 3});
    s.wrench = array("wrench", {g, 6});
    read_hand(s);
    s.object = object();
    return s;
  }

 private:
  /// A range of grasps, with their contacts.
  struct IndexRange {
    std::uint64_t first = 0, count = 0, row = 0, rows = 0;
  };

  /// Checked once, because reading a large file takes long.
  void require_checksum() {
    if (checksum_.empty() || checksum_of(path_) == std::exchange(checksum_, {})) return;
    throw Error(ExitCode::kInputOutput, path_ + ": has changed since its study was begun",
                "Put the set back, or begin anew.");
  }
  /// k contacts each, if the points are [g,k,3].
  void take_even() {
    const Shape shape = file_->shape("point");
    if (shape.size() != 3)
      file_->refuse("first", "is missing, and point is " + to_string(shape) + ", not [g,k,3]",
                    "Give the first row of each grasp and the number of rows.");
    if (shape[0] == 0) refuse_empty("point");
    // The file's size does not bound this number.
    if (shape[0] > 0 && shape[1] == 0) file_->refuse("point", "is " + to_string(shape) + ": no grasp has a contact");
    grasps_ = shape[0];
    contacts_ = {shape[0], shape[1]};
  }
  /// Checks `first`, piece by piece, so that no more than a piece is in memory.
  void take_first() {
    const Shape shape = file_->shape("first");
    if (shape.size() != 1) file_->refuse("first", "is " + to_string(shape) + ", not [g+1]");
    file_->require_whole_numbers("first");
    if (shape[0] == 0) file_->refuse("first", "is empty", "It has a number for each grasp and one more.");
    if (shape[0] == 1) refuse_empty("first");
    grasps_ = shape[0] - 1;
    constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 16;
    std::vector<double> some;
    double last = 0;
    for (std::uint64_t at = 0; at <= grasps_; at += kAtOnce) {
      some.resize(std::min(kAtOnce, grasps_ + 1 - at));
      rows("first").read(at, some.size(), some);
      if (at == 0 && some[0] != 0) file_->refuse("first", "begins with " + whole(some[0]) + ", not 0");
      for (std::size_t k = 0; k < some.size(); last = some[k++])
        if (some[k] < last)
          file_->refuse("first",
                        "row " + std::to_string(at + k) + " is " + whole(some[k]) + ", less than the one before");
    }
    constexpr double kMax = 0x1p53;
    if (last >= kMax) file_->refuse("first", "ends with more rows than any file has");
    contacts_ = {static_cast<std::uint64_t>(last)};
  }
  void refuse_empty(const char* name) { file_->refuse(name, "has no grasp", "A set has one grasp at least."); }
  [[nodiscard]] static std::string whole(double x) { return std::to_string(static_cast<std::int64_t>(x)); }

  /// first[first] ... first[first + count], rows of the file.
  [[nodiscard]] std::vector<std::int64_t> read_first(std::uint64_t first, std::uint64_t count) {
    std::vector<std::int64_t> out;
    if (contacts_.size() == 2) {
      for (std::uint64_t g = first; g <= first + count; ++g) out.push_back(static_cast<std::int64_t>(g * contacts_[1]));
      return out;
    }
    std::vector<double> numbers(count + 1);
    rows("first").read(first, count + 1, numbers);
    for (const double x : numbers) out.push_back(static_cast<std::int64_t>(x));
    return out;
  }

  /// A number or a matrix per contact.
  [[nodiscard]] std::vector<double> mobilities(const char* name) {
    const bool one_each = file_->has(name) && file_->shape(name) == contacts_;
    return one_each ? contact_array(name, {}) : contact_array(name, {3, 3});
  }
  /// Three rows per contact, in any shape: [3m,nq], [m,3,nq], [g,3k,nq], [g,k,3,nq].
  [[nodiscard]] std::vector<double> jacobians(const char* name, std::uint64_t nq) {
    if (!file_->has(name)) return {};
    Shape flat = contacts_, by_contact = contacts_;
    flat.back() *= 3;
    flat.push_back(nq);
    by_contact.insert(by_contact.end(), {3, nq});
    return contact_rows(name, file_->shape(name) == by_contact ? by_contact : flat);
  }
  void read_hand(grasp::Set& s) {
    s.force = contact_array("force", {3});
    s.torsion = contact_array("torsion", {});
    s.mobility = mobilities("mobility");
    s.angular_mobility = mobilities("angular_mobility");
    s.drift = contact_array("drift", {3});
    if (!file_->has("jacobian")) return;
    const Shape shape = file_->shape("jacobian");
    const std::uint64_t nq = shape.empty() ? 0 : shape.back();
    if (nq == 0) file_->refuse("jacobian", "is " + to_string(shape) + ", not [3 m,nq] with at least one joint");
    s.jacobian = jacobians("jacobian", nq);
    s.angular_jacobian = jacobians("angular_jacobian", nq);
    if (now_.rows == 0) return;  // without a jacobian, without joints
    const std::uint64_t g = grasps_;
    s.mass_matrix = array("mass_matrix", {g, nq, nq});
    s.torque = array("torque", {g, nq});
    s.bias = array("bias", {g, nq});
    s.torque_limit = array("torque_limit", {g, nq});
  }
  /// The mesh, if there is a sound one; read once.
  [[nodiscard]] const std::shared_ptr<const mesh::Surface>& object() {
    const auto rows_of_three = [&](const char* name) { return file_->has(name) && file_->shape(name).size() == 2; };
    if (object_read_ || !rows_of_three("object/vertex") || !rows_of_three("object/face")) return object_;
    object_read_ = true;
    mesh::Mesh m;
    m.vertex = file_->doubles("object/vertex");
    for (const std::int64_t v : file_->integers("object/face"))
      m.face.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(v, -1, INT32_MAX)));
    try {
      mesh::Report report;
      m = mesh::tidy(std::move(m), report);
      object_ = mesh::make_surface(std::move(m), report.watertight());
    } catch (const Error&) {
      object_ = nullptr;  // pictures have other wishes: it is as if there were none
    }
    return object_;
  }
  void require(const char* name) const {
    if (!file_->has(name)) file_->refuse(name, "is missing");
  }
  [[nodiscard]] ArrayRows& rows(const std::string& name) {
    std::unique_ptr<ArrayRows>& found = open_[name];
    if (!found) found = file_->rows(name);
    return *found;
  }
  /// Rows of every grasp.
  [[nodiscard]] std::vector<double> array(const char* name, const Shape& shape) {
    return part(name, shape, now_.first, now_.count);
  }
  /// Rows of every contact, one or three each.
  [[nodiscard]] std::vector<double> contact_rows(const char* name, const Shape& shape) {
    if (contacts_.size() == 2) return array(name, shape);
    const std::uint64_t each = contacts_[0] == 0 ? 1 : shape[0] / contacts_[0];
    return part(name, shape, now_.row * each, now_.rows * each);
  }
  [[nodiscard]] std::vector<double> contact_array(const char* name, const Shape& each) {
    Shape shape = contacts_;
    shape.insert(shape.end(), each.begin(), each.end());
    return contact_rows(name, shape);
  }
  [[nodiscard]] std::vector<double> part(const char* name, const Shape& shape, std::uint64_t first,
                                         std::uint64_t count) {
    if (!file_->has(name)) return {};
    file_->require_shape(name, shape);
    std::uint64_t width = 1;
    for (std::size_t d = 1; d < shape.size(); ++d) width *= shape[d];
    if (count == shape.at(0)) rows(name).require_memory();
    std::vector<double> numbers(count * width);
    rows(name).read(first, count, numbers);
    return numbers;
  }

  std::string path_;
  std::string checksum_;  ///< still to be asked for
  std::unique_ptr<ArrayFile> file_;
  std::uint64_t grasps_ = 0;
  Shape contacts_;  ///< [m], or [g,k]
  IndexRange now_;
  std::map<std::string, std::unique_ptr<ArrayRows>> open_;
  bool object_read_ = false;
  std::shared_ptr<const mesh::Surface> object_;
};

SetFile::SetFile(const std::string& path, std::string checksum)
    : reader_(std::make_unique<Reader>(path, std::move(checksum))) {}
SetFile::~SetFile() = default;
std::string SetFile::checksum_of(const std::string& path) { return "crc32:" + file_checksum(path); }
std::int64_t SetFile::count() const { return reader_->count(); }
grasp::Set SetFile::read(std::int64_t first, std::int64_t count) const { return reader_->read(first, count); }

grasp::Set read_grasp_set(const std::string& path) {
  const SetFile file(path);
  return file.read(0, file.count());
}

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
  put("torsion_radius", {m}, s.torsion_radius);
  put("mass", {g}, s.mass);
  put("com", {g, 3}, s.com);
  put("inertia", {g, 3, 3}, s.inertia);
  put("gravity", {g, 3}, s.gravity);
  put("wrench", {g, 6}, s.wrench);
  put("force", {m, 3}, s.force);
  put("torsion", {m}, s.torsion);
  const auto nq = static_cast<std::uint64_t>(s.joints());
  const auto put_mobility = [&](const char* name, const std::vector<double>& values) {
    put(name, values.size() == m ? Shape{m} : Shape{m, 3, 3}, values);
  };
  put_mobility("mobility", s.mobility);
  put_mobility("angular_mobility", s.angular_mobility);
  put("drift", {m, 3}, s.drift);
  put("jacobian", {3 * m, nq}, s.jacobian);
  put("angular_jacobian", {3 * m, nq}, s.angular_jacobian);
  put("mass_matrix", {g, nq, nq}, s.mass_matrix);
  put("torque", {g, nq}, s.torque);
  put("bias", {g, nq}, s.bias);
  put("torque_limit", {g, nq}, s.torque_limit);
  if (!extras.sample.empty()) file.write("sample", {g}, std::span<const std::int64_t>(extras.sample));
  const mesh::Mesh& object = extras.object;
  if (object.faces() > 0 && object.faces() <= kMaxStoredFaces) {
    file.group("object");
    file.write("object/vertex", {static_cast<std::uint64_t>(object.vertices()), 3},
               std::span<const double>(object.vertex));
    file.write("object/face", {static_cast<std::uint64_t>(object.faces()), 3},
               std::span<const std::int32_t>(object.face));
  }
  for (const auto& [name, text] : extras.attributes) file.attribute("/", name, text);
  file.commit(path);
}

}  // namespace garra::io
