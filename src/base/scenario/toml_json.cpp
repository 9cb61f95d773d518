#include "base/scenario/toml_json.hpp"

#include <algorithm>
#include <string_view>

#include "base/files/toml_reader.hpp"

namespace garra::io {

namespace {

using Json = nlohmann::ordered_json;

/// "30 deg" and "30 deg/s" as numbers; any other text unchanged. Names and titles always stay texts.
Json text_as_json(const std::string& text, std::string_view key) {
  constexpr std::string_view kNames[] = {"title", "name", "robot", "source", "frame",
                                         "joint", "file", "model", "tip",    "base"};
  if (std::find(std::begin(kNames), std::end(kNames), key) != std::end(kNames)) return text;
  for (const Dimension& dimension : {kAngle, kAngularVelocity}) {
    const Quantity q = parse_quantity(text, dimension);
    if (q.problem.empty()) return q.value;
  }
  return text;
}

Json as_json(const Node& node, std::string_view key) {
  switch (node.kind) {
    case Node::Kind::kTable: {
      Json out = Json::object();
      for (const Node::Member& member : node.members) out[member.key] = as_json(member.value, member.key);
      return out;
    }
    case Node::Kind::kArray: {
      Json out = Json::array();
      for (const Node& one : node.items) out.push_back(as_json(one, key));
      return out;
    }
    case Node::Kind::kInteger:
      return node.integer;
    case Node::Kind::kFloat:
      return node.number;
    case Node::Kind::kBoolean:
      return node.boolean;
    case Node::Kind::kString:
    case Node::Kind::kDate:
      return text_as_json(node.text, key);
  }
  return nullptr;
}

}  // namespace

Json toml_as_json(const std::string& toml) { return as_json(parse_toml(toml, "model"), ""); }

}  // namespace garra::io
