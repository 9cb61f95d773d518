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

using grasp::GraspSetArray, grasp::kGraspSetArrays;

/// "[m,3]", "[g,nq,nq]", "[m,3,3] or [m]"
std::string shape_text(const GraspSetArray& a) {
  const std::string row = a.per_contact ? "m" : "g";
  std::string text = "[" + row;
  for (const int axis : a.axes)
    if (axis != 0) text += axis == GraspSetArray::kJoints ? ",nq" : "," + std::to_string(axis);
  return text + (a.or_number ? "] or [" + row + "]" : "]");
}

/// Describes a set to readers of another file.
std::string set_file_text() {
  std::string text = "A grasp set holds first [g+1], point, normal [m,3] and, as far as they are known, ";
  for (const GraspSetArray& a : kGraspSetArrays)
    if (a.values != &grasp::GraspSet::point && a.values != &grasp::GraspSet::normal)
      text += a.name + (" " + shape_text(a)) + ", ";
  text.resize(text.size() - 2);
  return text + " (docs/theory/grasp-sets.md).";
}

}  // namespace

/// Reader of a set's datasets and of their rows.
class SetFile::Reader {
 public:
  Reader(const std::string& path, std::string checksum)
      : path_(path), checksum_(std::move(checksum)), file_(open_arrays(path, set_file_text())) {
    std::vector<std::string> known = {"first"};
    for (const GraspSetArray& a : kGraspSetArrays) known.emplace_back(a.name);
    file_->refuse_misspelled(known);
    require("point");
    require("normal");
    file_->has("first") ? take_first() : take_even();
  }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(grasps_); }

  [[nodiscard]] grasp::GraspSet read(std::int64_t first, std::int64_t count) {
    require_checksum();
    grasp::GraspSet s;
    s.first = read_first(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(count));
    const auto row = static_cast<std::uint64_t>(s.first.front());
    for (std::int64_t& at : s.first) at -= static_cast<std::int64_t>(row);
    now_ = {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(count), row,
            static_cast<std::uint64_t>(s.first.back())};
    const std::uint64_t nq = joints();
    for (const GraspSetArray& a : kGraspSetArrays) s.*a.values = array(a, nq);
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

  /// nq of the file; 0 without a jacobian.
  [[nodiscard]] std::uint64_t joints() const {
    if (!file_->has("jacobian")) return 0;
    const Shape shape = file_->shape("jacobian");
    const std::uint64_t nq = shape.empty() ? 0 : shape.back();
    if (nq == 0) file_->refuse("jacobian", "is " + to_string(shape) + ", not [3 m,nq] with at least one joint");
    return nq;
  }
  /// Rows of an array of the table; empty where the file lacks it. A jacobian has three rows per contact, in any shape:
  /// [3m,nq], [m,3,nq], [g,3k,nq], [g,k,3,nq].
  [[nodiscard]] std::vector<double> array(const GraspSetArray& a, std::uint64_t nq) {
    const bool of_joints = a.has_joints() || a.is_jacobian();
    // Without contacts there is no jacobian, and without it there are no joints.
    if (!file_->has(a.name) || (of_joints && nq == 0) || (a.has_joints() && now_.rows == 0)) return {};
    Shape shape = a.per_contact ? contacts_ : Shape{grasps_};
    if (a.or_number && file_->shape(a.name) == shape) return contact_rows(a.name, shape);
    for (const int axis : a.axes)
      if (axis != 0) shape.push_back(axis == GraspSetArray::kJoints ? nq : static_cast<std::uint64_t>(axis));
    if (a.is_jacobian() && file_->shape(a.name) != shape) {
      shape = contacts_;
      shape.back() *= 3;
      shape.push_back(nq);
    }
    return a.per_contact ? contact_rows(a.name, shape) : part(a.name, shape, now_.first, now_.count);
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
  /// Rows of every contact, one or three each.
  [[nodiscard]] std::vector<double> contact_rows(const char* name, const Shape& shape) {
    if (contacts_.size() == 2) return part(name, shape, now_.first, now_.count);
    const std::uint64_t each = contacts_[0] == 0 ? 1 : shape[0] / contacts_[0];
    return part(name, shape, now_.row * each, now_.rows * each);
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
grasp::GraspSet SetFile::read(std::int64_t first, std::int64_t count) const { return reader_->read(first, count); }

grasp::GraspSet read_grasp_set(const std::string& path) {
  const SetFile file(path);
  return file.read(0, file.count());
}

void write_grasp_set(const std::string& path, const grasp::GraspSet& s, const SetExtras& extras) {
  Hdf5Writer file;
  const auto m = static_cast<std::uint64_t>(s.first.empty() ? 0 : s.first.back());
  const auto g = static_cast<std::uint64_t>(s.count());
  file.write("first", {g + 1}, std::span<const std::int64_t>(s.first));
  for (const GraspSetArray& a : kGraspSetArrays) {
    const std::vector<double>& values = s.*a.values;
    const bool always = a.values == &grasp::GraspSet::point || a.values == &grasp::GraspSet::normal;
    if (values.empty() && !always) continue;
    const std::uint64_t rows = a.per_contact ? m : g;
    Shape shape = a.is_jacobian() ? Shape{3 * rows} : Shape{rows};
    for (std::size_t k = a.is_jacobian() ? 1 : 0; k < a.axes.size() && !(a.or_number && values.size() == rows); ++k)
      if (const int axis = a.axes[k]; axis != 0)
        shape.push_back(static_cast<std::uint64_t>(axis == GraspSetArray::kJoints ? s.joints() : axis));
    file.write(a.name, shape, std::span<const double>(values));
  }
  if (!extras.sample.empty()) file.write("sample", {g}, std::span<const std::int64_t>(extras.sample));
  for (const auto& [name, values] : extras.columns)
    if (!values.empty() || g == 0)
      file.write(name, g > 0 && values.size() == 16 * g ? Shape{g, 4, 4} : Shape{g}, std::span<const double>(values));
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
