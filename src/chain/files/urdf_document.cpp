// From XML to links and joints: what is known is read strictly, what is not is left with a warning.
#include "chain/files/urdf_document.hpp"

#include <tinyxml2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include "base/files/number.hpp"
#include "base/files/suggest.hpp"
#include "base/files/text_file.hpp"
#include "garra/math/rotation.hpp"

namespace garra::io {

namespace {

using tinyxml2::XMLElement;
using Names = std::vector<std::string>;

std::string tag(const std::string& name) { return "<" + name + ">"; }

std::string describe_xml_error(tinyxml2::XMLError error) {
  switch (error) {
    case tinyxml2::XML_ERROR_PARSING_ATTRIBUTE:
      return "an attribute without quotes, or given twice";
    case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT:
      return "a tag that is not closed, or closes another";
    case tinyxml2::XML_ERROR_EMPTY_DOCUMENT:
      return "the file is empty";
    case tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED:
      return "elements nested too deeply";
    default:
      return tinyxml2::XMLDocument::ErrorIDToName(error);
  }
}

/// More than any URDF has in one element. The XML library compares each attribute with all before it: this keeps its
/// time in proportion to the file.
constexpr int kMaxAttributes = 100;

/// Lengths, masses and inertias beyond this overflow when they are multiplied.
constexpr double kMaxNumber = 1e30;

/// What other tools put into <robot>, <link> and <joint>.
const Names kOfOtherTools = {"visual",
                             "collision",
                             "material",
                             "transmission",
                             "gazebo",
                             "sensor",
                             "ros2_control",
                             "plugin",
                             "calibration",
                             "contact",
                             "loop_joint",
                             "mujoco",
                             "disable_collisions",
                             "self_collision_checking",
                             "capsule",
                             "drake"};

/// The line of the first element with more attributes than that; 0 where none has. Quotes and comments are skipped.
int crowded_line(const std::string& text) {
  int line = 1, attributes = 0;
  bool in_tag = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // Comments hide tags, quotes hide both: without them neither `<` nor `=` means anything.
    const bool comment = !in_tag && text.compare(i, 4, "<!--") == 0;
    if (comment || (in_tag && (c == '"' || c == '\''))) {
      const std::size_t end = comment ? text.find("-->", i + 4) : text.find(c, i + 1);
      if (end == std::string::npos) return 0;
      line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(i),
                                          text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      i = end;
    } else if (c == '<' || c == '>') {
      in_tag = c == '<';
      attributes = 0;
    } else if (c == '=' && in_tag && ++attributes > kMaxAttributes) {
      return line;
    } else if (c == '\n') {
      ++line;
    }
  }
  return 0;
}

/// The elements and attributes of one file. What is not known is not read, with a warning: real files have keys of many
/// tools. What is known is read strictly.
class Reader {
 public:
  Reader(const std::string& text, UrdfDocument& out) : text_(text), out_(out) {}

  void read() {
    check_bytes();
    tinyxml2::XMLDocument xml;
    if (xml.Parse(text_.data(), text_.size()) != tinyxml2::XML_SUCCESS) {
      fail(std::max(1, xml.ErrorLineNum()), "not XML: " + describe_xml_error(xml.ErrorID()),
           "Check that tags are closed and attributes quoted.");
    }
    const XMLElement& root = find_root(xml);
    check_attributes(root, {"name", "version", "xmlns"});
    out_.name = attribute(root, "name");
    read_links(root);
    read_joints(root);
    check_loops();
    tell_unknown();
  }

 private:
  [[noreturn]] void fail(int line, const std::string& problem, const std::string& remedy) const {
    fail_urdf(out_.file, line, problem, remedy);
  }
  [[noreturn]] void fail(const XMLElement& at, const std::string& problem, const std::string& remedy) const {
    fail(at.GetLineNum(), where(at) + problem, remedy);
  }

  /// `<joint name="x">: ` of the joint or link that the element belongs to.
  [[nodiscard]] static std::string where(const XMLElement& element) {
    std::string inner;
    for (const tinyxml2::XMLNode* node = &element; node != nullptr; node = node->Parent()) {
      const XMLElement* e = node->ToElement();
      if (e == nullptr) break;
      const char* name = e->Attribute("name");
      // The nearest joint or link that has a name: an error in <origin> says whose.
      const std::string kind = e->Name();
      if (name != nullptr && (kind == "joint" || kind == "link")) return kind + " " + quoted(name) + ": " + inner;
      inner = tag(kind) + ": " + inner;
    }
    return inner;
  }

  void check_bytes() const {
    if (text_.size() > kMaxText) fail(1, "larger than 10 MB", "Is it the right file?");
    const std::size_t nul = text_.find('\0');
    if (nul == std::string::npos) {
      const int line = crowded_line(text_);
      if (line > 0)
        fail(line, "an element with more than " + std::to_string(kMaxAttributes) + " attributes",
             "Is it the right file?");
      return;
    }
    fail(1 + static_cast<int>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(nul), '\n')),
         "not a text file: it has a zero byte", "Save it as UTF-8.");
  }

  /// The only element at the top. Declarations of types and entities have no place in a URDF.
  [[nodiscard]] const XMLElement& find_root(const tinyxml2::XMLDocument& xml) const {
    const XMLElement* root = nullptr;
    for (const tinyxml2::XMLNode* node = xml.FirstChild(); node != nullptr; node = node->NextSibling()) {
      if (node->ToUnknown() != nullptr)
        fail(node->GetLineNum(), "a <!DOCTYPE or other declaration", "Leave it out: entities are not expanded.");
      if (node->ToText() != nullptr) fail(node->GetLineNum(), "text outside the root element", "Leave it out.");
      const XMLElement* element = node->ToElement();
      if (element == nullptr) continue;
      if (root != nullptr) fail(element->GetLineNum(), "a second root element", "A URDF has one <robot>.");
      root = element;
    }
    if (root == nullptr) fail(1, "no element", "A URDF starts with <robot name=\"...\">.");
    if (std::string(root->Name()) != "robot")
      fail(root->GetLineNum(), "the root is " + tag(root->Name()), "A URDF starts with <robot name=\"...\">.");
    return *root;
  }

  /// Notes something that is not read; the same thing is told once, where it was first seen.
  void warn(const XMLElement& element, const std::string& what, const std::string& name, const Names& known) {
    const std::string key = what + quoted(name);
    const auto [place, is_new] = unknown_.try_emplace(key, Unknown{element.GetLineNum(), 0, ""});
    ++place->second.times;
    const std::string meant = is_new ? nearest_word(name, known) : "";
    if (!meant.empty()) place->second.meant = "; did you mean " + quoted(meant) + "?";
  }
  void tell_unknown() {
    std::vector<std::pair<int, std::string>> lines;
    for (const auto& [what, u] : unknown_) {
      const std::string times = u.times > 1 ? " (" + std::to_string(u.times) + " times)" : "";
      lines.emplace_back(u.line,
                         out_.file + ":" + std::to_string(u.line) + ": " + what + " is not read" + times + u.meant);
    }
    std::sort(lines.begin(), lines.end());
    for (auto& [line, text] : lines) out_.warnings.push_back(std::move(text));
  }

  void check_attributes(const XMLElement& element, const Names& known) {
    for (const tinyxml2::XMLAttribute* a = element.FirstAttribute(); a != nullptr; a = a->Next()) {
      const std::string name = a->Name();
      const bool foreign = name.find(':') != std::string::npos;  // of another tool's namespace
      if (!foreign && std::find(known.begin(), known.end(), name) == known.end())
        warn(element, tag(element.Name()) + ": the unknown attribute ", name, known);
    }
  }

  void check_children(const XMLElement& element, const Names& known) {
    for (const XMLElement* e = element.FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) {
      const std::string name = e->Name();
      if (name.starts_with("xacro:"))
        fail(*e, "an xacro macro", "Make a URDF of it first: xacro FILE.xacro > FILE.urdf.");
      const bool foreign = name.find(':') != std::string::npos;
      const auto is = [&](const Names& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
      if (!foreign && !is(known) && !is(kOfOtherTools))
        warn(*e, "in " + tag(element.Name()) + ": the unknown element ", name, known);
    }
  }

  /// The only child of that name, or null.
  [[nodiscard]] const XMLElement* child(const XMLElement& element, const char* name) const {
    const XMLElement* first = element.FirstChildElement(name);
    if (first != nullptr && first->NextSiblingElement(name) != nullptr)
      fail(*first->NextSiblingElement(name), "is given twice", "Leave one out.");
    return first;
  }

  [[nodiscard]] std::string attribute(const XMLElement& element, const char* name) const {
    const char* value = element.Attribute(name);
    if (value == nullptr || *value == '\0')
      fail(element, std::string("the attribute \"") + name + "\" is missing",
           std::string("Write ") + name + "=\"...\".");
    if (!is_utf8(value))
      fail(element, std::string("the attribute \"") + name + "\" is not UTF-8", "Save the file as UTF-8.");
    return value;
  }

  /// As many finite numbers as there are places, and nothing else.
  void read_attribute_numbers(const XMLElement& element, const char* name, double* out, int count) const {
    const std::string text = attribute(element, name);
    const char *at = text.data(), *end = at + text.size();
    // from_chars, whatever the locale: strtod would take a comma for the point in some.
    const auto skip = [&] {
      at = std::find_if(at, end, [](char c) { return c != ' ' && c != '\t' && c != '\n' && c != '\r'; });
    };
    const auto refuse = [&](const std::string& problem) {
      fail(element, std::string(name) + "=" + quoted(text) + ": " + problem,
           count == 1 ? "Write one number." : "Write three numbers with blanks between.");
    };
    for (int i = 0; i < count; ++i) {
      skip();
      // from_chars takes no plus sign, which URDFs have.
      if (at + 1 < end && *at == '+' && at[1] != '-') ++at;
      const auto [next, error] = std::from_chars(at, end, out[i]);
      // "1.0abc" is no number.
      const bool whole = next == end || *next == ' ' || *next == '\t' || *next == '\n' || *next == '\r';
      if (error != std::errc{} || !whole) refuse(at == end ? "a number is missing" : "not a number");
      if (!std::isfinite(out[i])) refuse("NaN and infinity are no values here");
      const bool is_limit = std::string_view(element.Name()) == "limit";  // 1e308 is how some write "none"
      if (!is_limit && std::abs(out[i]) > kMaxNumber) refuse("too large to compute with");
      at = next;
    }
    skip();
    if (at != end) refuse("more than " + std::to_string(count) + (count == 1 ? " number" : " numbers"));
  }
  [[nodiscard]] double number(const XMLElement& element, const char* name) const {
    double x = 0;
    read_attribute_numbers(element, name, &x, 1);
    return x;
  }
  [[nodiscard]] double number_or(const XMLElement& element, const char* name, double otherwise) const {
    return element.Attribute(name) == nullptr ? otherwise : number(element, name);
  }

  [[nodiscard]] Pose<double> parse_origin(const XMLElement& element) {
    Pose<double> pose = Pose<double>::identity();
    const XMLElement* origin = child(element, "origin");
    if (origin == nullptr) return pose;
    check_attributes(*origin, {"xyz", "rpy"});
    Vec3<double> rpy = Vec3<double>::zero();
    if (origin->Attribute("xyz") != nullptr) read_attribute_numbers(*origin, "xyz", pose.p.m, 3);
    if (origin->Attribute("rpy") != nullptr) read_attribute_numbers(*origin, "rpy", rpy.m, 3);
    pose.R = rotation_from_rpy(rpy);
    return pose;
  }

  void read_inertial(const XMLElement& element, UrdfLink& link) {
    check_attributes(element, {});
    check_children(element, {"origin", "mass", "inertia"});
    const XMLElement *mass = child(element, "mass"), *inertia = child(element, "inertia");
    if (mass == nullptr || inertia == nullptr)
      fail(element, mass == nullptr ? "no <mass>" : "no <inertia>", "Give both, or no <inertial> at all.");
    check_attributes(*mass, {"value"});
    check_attributes(*inertia, {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"});
    const Pose<double> origin = parse_origin(element);
    const double xy = number(*inertia, "ixy"), xz = number(*inertia, "ixz"), yz = number(*inertia, "iyz");
    const Mat3<double> I = {
        {number(*inertia, "ixx"), xy, xz, xy, number(*inertia, "iyy"), yz, xz, yz, number(*inertia, "izz")}};
    link.has_inertial = true;
    link.inertial_line = element.GetLineNum();
    // Turned to the link's axes here, so that nobody else has to know the inertial's own frame.
    link.body = {number(*mass, "value"), origin.p, rotate_symmetric(origin.R, I)};
  }

  void read_links(const XMLElement& root) {
    check_children(root, {"link", "joint"});
    for (const XMLElement* e = root.FirstChildElement("link"); e != nullptr; e = e->NextSiblingElement("link")) {
      check_attributes(*e, {"name", "type"});
      UrdfLink link;
      link.name = attribute(*e, "name");
      link.line = e->GetLineNum();
      check_children(*e, {"inertial"});
      if (const XMLElement* inertial = child(*e, "inertial")) read_inertial(*inertial, link);
      if (!link_index_.emplace(link.name, static_cast<int>(out_.links.size())).second)
        fail(*e, "a second link of this name", "Names must differ.");
      out_.links.push_back(std::move(link));
    }
    if (out_.links.empty()) fail(root, "no <link>", "A chain needs at least two.");
  }

  [[nodiscard]] int find_link(const XMLElement& joint, const char* which) {
    const XMLElement* element = child(joint, which);
    if (element == nullptr) fail(joint, "no " + tag(which), std::string("Write <") + which + " link=\"...\"/>.");
    check_attributes(*element, {"link"});
    const std::string name = attribute(*element, "link");
    const auto found = link_index_.find(name);
    if (found != link_index_.end()) return found->second;
    Names names;
    for (const auto& [known, index] : link_index_)
      if (names.size() < 10) names.push_back(known);
    fail(*element, "there is no link " + quoted(name), suggest(name, names, "Links here"));
  }

  [[nodiscard]] double limit_or_none(const XMLElement& element, const char* name, const UrdfJoint& joint) {
    if (element.Attribute(name) != nullptr) return number(element, name);
    out_.warnings.push_back(out_.file + ":" + std::to_string(element.GetLineNum()) + ": joint " + quoted(joint.name) +
                            ": <limit> without " + name + ": taken as without limit");
    return chain::kNoLimit;
  }

  void read_limit(const XMLElement& element, UrdfJoint& joint) {
    check_attributes(element, {"lower", "upper", "effort", "velocity"});
    joint.has_limit = true;
    // URDF's defaults: 0 for both.
    joint.lower = number_or(element, "lower", 0);
    joint.upper = number_or(element, "upper", 0);
    // Required by URDF, and often left out where only kinematics matters.
    joint.effort = limit_or_none(element, "effort", joint);
    joint.velocity = limit_or_none(element, "velocity", joint);
    if (joint.lower > joint.upper)
      fail(element, "lower is above upper", exchanged_limits({joint.lower, joint.upper}, joint.type == "prismatic"));
    // Three turns are rare, degrees are as many; 1e9 and more is how some write "none".
    const double most = std::max(std::abs(joint.lower), std::abs(joint.upper));
    if (joint.type == "revolute" && most > 6 * M_PI && most <= 360)
      out_.warnings.push_back(out_.file + ":" + std::to_string(element.GetLineNum()) + ": joint " + quoted(joint.name) +
                              ": <limit> " + shortest(joint.lower) + " to " + shortest(joint.upper) +
                              " rad: degrees? URDF has radians");
    if (joint.effort < 0 || joint.velocity < 0)
      fail(element, "effort or velocity is negative", "They bound magnitudes.");
  }

  void read_dynamics(const XMLElement& element, UrdfJoint& joint) {
    check_attributes(element, {"damping", "friction"});
    joint.damping = number_or(element, "damping", 0);
    joint.friction = number_or(element, "friction", 0);
    if (joint.damping < 0 || joint.friction < 0) fail(element, "damping or friction is negative", "");
  }

  void read_mimic(const XMLElement& element, UrdfJoint& joint) {
    check_attributes(element, {"joint", "multiplier", "offset"});
    joint.mimic = true;
    joint.leader = attribute(element, "joint");
    joint.multiplier = number_or(element, "multiplier", 1);
    joint.offset = number_or(element, "offset", 0);
  }

  void read_joint(const XMLElement& e) {
    check_attributes(e, {"name", "type"});
    check_children(e, {"origin", "parent", "child", "axis", "dynamics", "limit", "mimic", "safety_controller"});
    UrdfJoint joint;
    joint.name = attribute(e, "name");
    joint.type = attribute(e, "type");
    joint.line = e.GetLineNum();
    const Names types = {"revolute", "continuous", "prismatic", "fixed", "floating", "planar"};
    if (std::find(types.begin(), types.end(), joint.type) == types.end())
      fail(e, "unknown type " + quoted(joint.type), suggest(joint.type, types, "Types"));
    joint.parent = find_link(e, "parent");
    joint.child = find_link(e, "child");
    joint.origin = parse_origin(e);
    if (const XMLElement* mimic = child(e, "mimic")) read_mimic(*mimic, joint);
    if (const XMLElement* axis = child(e, "axis")) {
      check_attributes(*axis, {"xyz"});
      read_attribute_numbers(*axis, "xyz", joint.axis.m, 3);
    }
    if (const XMLElement* limit = child(e, "limit")) read_limit(*limit, joint);
    if (const XMLElement* dynamics = child(e, "dynamics")) read_dynamics(*dynamics, joint);
    // A second parent is found here, a loop by check_loops().
    UrdfLink& moved = out_.links[static_cast<std::size_t>(joint.child)];
    if (moved.parent_joint >= 0)
      fail(e, "its child " + quoted(moved.name) + " is the child of another joint already", "A URDF is a tree.");
    moved.parent_joint = static_cast<int>(out_.joints.size());
    out_.links[static_cast<std::size_t>(joint.parent)].children.push_back(moved.parent_joint);
    out_.joints.push_back(std::move(joint));
  }

  void read_joints(const XMLElement& root) {
    std::map<std::string, int> names;
    for (const XMLElement* e = root.FirstChildElement("joint"); e != nullptr; e = e->NextSiblingElement("joint")) {
      read_joint(*e);
      if (!names.emplace(out_.joints.back().name, 0).second)
        fail(*e, "a second joint of this name", "Names must differ.");
    }
  }

  /// Every link must hang below a root, else it hangs on a loop.
  void check_loops() const {
    std::vector<bool> reached(out_.links.size());
    std::vector<int> open;
    for (std::size_t i = 0; i < out_.links.size(); ++i)
      if (out_.links[i].parent_joint < 0) open.push_back(static_cast<int>(i));
    while (!open.empty()) {
      const std::size_t at = static_cast<std::size_t>(open.back());
      open.pop_back();
      reached[at] = true;
      for (const int j : out_.links[at].children) open.push_back(out_.joints[static_cast<std::size_t>(j)].child);
    }
    for (std::size_t i = 0; i < reached.size(); ++i)
      if (!reached[i])
        fail(out_.links[i].line, "link " + quoted(out_.links[i].name) + ": on a loop of joints", "A URDF is a tree.");
  }

  struct Unknown {
    int line, times;
    std::string meant;
  };

  const std::string& text_;
  UrdfDocument& out_;
  std::map<std::string, Unknown> unknown_;
  std::map<std::string, int> link_index_;
};

}  // namespace

void fail_urdf(const std::string& file, int line, const std::string& problem, const std::string& remedy) {
  throw Error(ExitCode::kInvalidFile, file + ":" + std::to_string(line) + ": " + problem, remedy);
}

std::string exchanged_limits(const std::array<double, 2>& limits, bool prismatic) {
  const auto range = [](double low, double high) {
    return "[" + shortest(rounded(low, 7)) + ", " + shortest(rounded(high, 7)) + "]";
  };
  std::string text = "Write " + range(limits[1], limits[0]) + " if the two are exchanged";
  if (!prismatic) text += ", " + range(limits[0], limits[1] + 2 * M_PI) + " rad if the range leads through half a turn";
  return text + ": the lower limit comes first.";
}

UrdfDocument parse_urdf_document(const std::string& text, const std::string& file) {
  UrdfDocument out;
  out.file = file;
  Reader(text, out).read();
  return out;
}

}  // namespace garra::io
