// Sets of candidate grasps as HDF5 or NPZ files, their rankings as HDF5 files, and what is uncertain about them as TOML
// (docs/theory/grasp-sets.md).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "garra/grasp_set.hpp"
#include "garra/io/scenario_document.hpp"
#include "garra/mesh.hpp"

namespace garra::io {

/// Reads a grasp set from HDF5 or NPZ; the first bytes tell which. SI units; m contacts in g grasps. Required: first
/// [g+1], point, normal [m,3]. Optional: tangent [m,3], friction [m], curvature [m,2], force_limit, torsion_radius [m],
/// mass [g], com, gravity [g,3], inertia [g,3,3], wrench [g,6]. A hand that is not ideal adds force, drift [m,3],
/// mobility [m,3,3] or [m], jacobian [3m,nq] or [m,3,nq], mass_matrix [g,nq,nq], torque, bias, torque_limit [g,nq]. Its
/// soft contacts add torsion [m], and angular_mobility as mobility or angular_jacobian as jacobian. Without `first`,
/// point and normal may be [g,k,3] and other contact data [g,k] in place of [m]: k contacts each. Throws Error, naming
/// file and dataset (kInvalidFile, kInputOutput).
[[nodiscard]] grasp::GraspSet read_grasp_set(const std::string& path);

/// A grasp set file that is read block by block: only one block is in memory. Not thread-safe.
class SetFile final : public grasp::SetSource {
 public:
  /// Reads `first` completely. With a checksum ("crc32:..."), the first read() rejects a file of another checksum.
  /// Throws Error as read_grasp_set() does; read() does too.
  explicit SetFile(const std::string& path, std::string checksum = {});
  /// Checksum of a file.
  [[nodiscard]] static std::string checksum_of(const std::string& path);
  ~SetFile() override;
  [[nodiscard]] std::int64_t count() const override;
  [[nodiscard]] grasp::GraspSet read(std::int64_t first, std::int64_t count) const override;

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

/// Optional contents of a grasp set file.
struct SetExtras {
  mesh::Mesh object;                 ///< for pictures: object/vertex [v,3], object/face [f,3]
  std::vector<std::int64_t> sample;  ///< [g] sample that each grasp was made from
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<std::pair<std::string, std::vector<double>>> columns =
      {};  ///< [g], or poses [g][4][4], of each grasp, by name
};
inline constexpr std::int64_t kMaxStoredFaces = 200'000;  ///< an object with more is left out

/// Writes a grasp set, the arrays that are not empty: whole or not at all. Throws Error(kInputOutput).
void write_grasp_set(const std::string& path, const grasp::GraspSet& set, const SetExtras& extras = {});

/// Writes a ranking, one row per grasp: whole or not at all. A path that ends in .csv gives CSV, without attributes and
/// with `columns` [g]. Throws Error(kInputOutput).
void write_ranking(const std::string& path, const grasp::Ranking& ranking,
                   const std::vector<std::pair<std::string, std::string>>& attributes,
                   const std::vector<std::pair<std::string, std::vector<double>>>& columns = {});

/// Reads the uncertain quantities of a set; job = "grasp_set". With path "" only the overrides are uncertain. Throws
/// Error as read_scenario() does.
[[nodiscard]] grasp::SetStudy read_set_study(const std::string& path, const std::vector<std::string>& overrides = {});
/// The same from a text; `name` stands for it in errors.
[[nodiscard]] grasp::SetStudy read_set_study_text(const std::string& text, const std::string& name,
                                                  const std::vector<std::string>& overrides = {});
/// Reads a study that names its set in `set.file`, with the file's path resolved relative to the document. Throws Error
/// (kInvalidFile) as read_scenario() does, and if the key is missing.
[[nodiscard]] grasp::SetScenario read_set_scenario(const ScenarioDocument& document);
/// The study with every default filled in: a scenario file that reads back to the same study.
[[nodiscard]] std::string resolved_toml(const grasp::SetScenario& scenario);
inline constexpr const char* kCertainSet = "schema = 1\njob = \"grasp_set\"\n";  ///< a study without uncertainty

}  // namespace garra::io
