// Sets of candidate grasps as HDF5 or NPZ files, their rankings as HDF5 files, and what is uncertain about them as TOML
// (docs/theory/grasp-sets.md).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "garra/grasp_set_scenario.hpp"
#include "garra/io/scenario_document.hpp"
#include "garra/mesh.hpp"

namespace garra::io {

/// Reads a grasp set, HDF5 or NPZ (its first bytes say which): first [g+1], point, normal [m,3] and, where they are
/// there, tangent [m,3], friction [m], curvature [m,2], force_limit, torsion_radius [m], mass [g], com, gravity [g,3],
/// inertia [g,3,3], wrench [g,6]; of a hand that is not ideal force [m,3], mobility [m,3,3] or [m], jacobian [3m,nq] or
/// [m,3,nq], mass_matrix [g,nq,nq], torque, bias, torque_limit [g,nq]; of its soft contacts torsion [m] and
/// angular_mobility as mobility, or angular_jacobian as jacobian. Without `first`, point and normal may be
/// [g,k,3], and all else of contacts has [g,k] in place of [m]: k contacts each. Throws Error, naming file and dataset
/// (kInvalidFile, kInputOutput).
[[nodiscard]] grasp::Set read_grasp_set(const std::string& path);

/// The same, a stretch of grasps at a time: of the set only that is in memory. Not for several threads at once.
class SetFile final : public grasp::SetSource {
 public:
  /// Looks at `first` from end to end. Where a checksum ("crc32:...") is given, the first read() refuses a file of
  /// another one. Throws Error as read_grasp_set() does; read() too.
  explicit SetFile(const std::string& path, std::string checksum = {});
  /// Of a file.
  [[nodiscard]] static std::string checksum_of(const std::string& path);
  ~SetFile() override;
  [[nodiscard]] std::int64_t count() const override;
  [[nodiscard]] grasp::Set read(std::int64_t first, std::int64_t count) const override;

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

/// What a set's file may hold besides.
struct SetExtras {
  mesh::Mesh object;                 ///< for pictures: object/vertex [v,3], object/face [f,3]
  std::vector<std::int64_t> sample;  ///< [g] of which sample each grasp was made
  std::vector<std::pair<std::string, std::string>> attributes;
};
inline constexpr std::int64_t kMostStoredFaces = 200'000;  ///< an object with more is left out

/// Writes a grasp set, the arrays that are not empty: whole or not at all. Throws Error(kInputOutput).
void write_grasp_set(const std::string& path, const grasp::Set& set, const SetExtras& extras = {});

/// Writes a ranking, a row a grasp: whole or not at all. As CSV, without the attributes, where the path ends in .csv.
/// Throws Error(kInputOutput).
void write_ranking(const std::string& path, const grasp::Ranking& ranking,
                   const std::vector<std::pair<std::string, std::string>>& attributes);

/// What is uncertain about a set; job = "grasp_set". "" as path: nothing is, but for what the overrides say.
/// Throws Error as read_scenario() does.
[[nodiscard]] grasp::SetStudy read_set_study(const std::string& path, const std::vector<std::string>& overrides = {});
/// The same of a text, which errors call `name`.
[[nodiscard]] grasp::SetStudy read_set_study_text(const std::string& text, const std::string& name,
                                                  const std::vector<std::string>& overrides = {});
/// A study that names its set in `set.file`; the file as it is found from where the document is. Throws Error
/// (kInvalidFile), as read_scenario() and where there is no such key.
[[nodiscard]] grasp::SetScenario read_set_scenario(const ScenarioDocument& document);
/// With every default filled in: a scenario file that reads back to the same study.
[[nodiscard]] std::string resolved_toml(const grasp::SetScenario& scenario);
inline constexpr const char* kCertainSet = "schema = 1\njob = \"grasp_set\"\n";  ///< of which nothing is uncertain

}  // namespace garra::io
