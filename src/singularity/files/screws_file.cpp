#include "garra/io/screws_file.hpp"

#include <algorithm>
#include <cmath>

#include "base/files/number.hpp"
#include "base/files/text_file.hpp"
#include "base/files/toml_reader.hpp"

namespace garra::io {

namespace {

Screw<double> read_screw(const Node& node, const std::string& key) {
  const std::vector<Node>& items = read_array(node, key, 6);
  Screw<double> screw{};
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<std::size_t>(i);
    screw.w[i] = read_quantity(items[at], item(key, at), kRatio);
    screw.v[i] = read_quantity(items[at + 3], item(key, at + 3), kRatio);
  }
  if (dot(screw, screw) == 0)
    fail(node.place, key, "the screw is zero", "A prismatic joint has direction 0 and its axis as moment.");
  return screw;
}

singularity::ScrewSet read_set(TableReader& root) {
  const Node& node = root.require("screws", "Write screws = [[sx, sy, sz, mx, my, mz], ...]: direction, moment.");
  const std::string key = "screws";  // a name: g++ 13 takes the array for a part of a temporary string
  const std::vector<Node>& items = read_array(node, key, 0);
  if (items.empty() || items.size() > static_cast<std::size_t>(singularity::kMaxJoints)) {
    fail(node.place, key, std::to_string(items.size()) + " screws",
         "Write 1 to " + std::to_string(singularity::kMaxJoints) + ", one for each joint from the base to the tip.");
  }
  singularity::ScrewSet set;
  for (std::size_t i = 0; i < items.size(); ++i) set.screw.push_back(read_screw(items[i], item(key, i)));
  return set;
}

int read_generic_rank(const Node& node, std::size_t joints) {
  const std::int64_t most = static_cast<std::int64_t>(std::min<std::size_t>(6, joints));
  const std::int64_t rank = read_integer(node, "generic_rank");
  if (rank < 1 || rank > most)
    fail(node.place, "generic_rank", "the rank is " + std::to_string(rank), "It is 1 to " + std::to_string(most) + ".");
  return static_cast<int>(rank);
}

double read_tolerance(const Node& node) {
  const double tolerance = read_quantity(node, "tolerance", kRatio);
  if (!(tolerance > 0 && tolerance < 0.1)) {
    fail(node.place, "tolerance", "it is not between 0 and 0.1",
         "Write what the data's digits are good for: 1e-10 for exact numbers, 1e-3 for four digits.");
  }
  return tolerance;
}

}  // namespace

ScrewsFile parse_screws(const std::string& text, const std::string& name) {
  const Node document = parse_toml(text, name);
  TableReader root(document, "");
  ScrewsFile file;
  file.set = read_set(root);
  for (std::size_t i = 0; i < file.set.screw.size(); ++i) {
    const Screw<double>& s = file.set.screw[i];
    const double direction = norm(s.w), length = direction > 0 ? direction : norm(s.v);
    // Four digits, as papers print them.
    if (std::abs(length - 1) > 1e-3)
      file.warnings.push_back(name + ": screw " + std::to_string(i) + (direction > 0 ? ": its direction" : ": it") +
                              " has length " + shortest(rounded(length, 7)) +
                              ", not 1: rates and steps of this joint are in units of that");
  }
  if (const Node* node = root.find("generic_rank")) file.generic_rank = read_generic_rank(*node, file.set.screw.size());
  if (const Node* node = root.find("tolerance")) file.tolerance = read_tolerance(*node);
  root.finish();
  return file;
}

ScrewsFile read_screws(const std::string& path) { return parse_screws(read_text(path), path); }

}  // namespace garra::io
