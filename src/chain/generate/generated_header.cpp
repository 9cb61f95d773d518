// The text of a generated header: what every operation is called, takes and gives, around the statements of Code.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "chain/generate/record.hpp"
#include "garra/chain_generate.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"

namespace garra::chain {
namespace {

/// `%` stands for the number of joints.
struct Signature {
  Operation operation;
  const char* name;
  const char* type;        ///< of the result
  const char* parameters;  ///< vectors beside the configuration
  const char* meaning;
};
constexpr std::array<Signature, kOperations> kSignatures = {{
    {Operation::kToolPose, "tool_pose", "garra::Pose<S>", "", "Pose of the tool in the world [m]."},
    {Operation::kFrames, "frames", "garra::chain::Frames<S, %>", "",
     "Kernel frames and tool in the world [m]; the third column of frame[i].R is the axis of joint i."},
    {Operation::kJacobian, "jacobian", "garra::Mat<S, 6, %>", "",
     "Of the tool point, world axes: rows 0-2 linear, rows 3-5 angular velocity."},
    {Operation::kManipulability, "manipulability", "S", "",
     "Volume that the columns of the tool's Jacobian span: |det J| of six joints."},
    {Operation::kJacobianManipulability, "jacobian_manipulability", "JacobianManipulability<S>", "",
     "Jacobian of the tool point and manipulability at once."},
    {Operation::kInverseDynamics, "inverse_dynamics", "Vec<S>", "qd qdd",
     "tau = H qdd + C qd + g [N m, N of sliding joints], without friction."},
    {Operation::kBiasTorque, "bias_torque", "Vec<S>", "qd", "C qd + g [N m, N]."},
    {Operation::kCoriolisTorque, "coriolis_torque", "Vec<S>", "qd", "C qd [N m, N]."},
    {Operation::kGravityTorque, "gravity_torque", "Vec<S>", "", "g: what holds the chain [N m, N]."},
    {Operation::kInertiaMatrix, "inertia_matrix", "garra::Mat<S, %, %>", "",
     "H, rotor inertias on the diagonal [kg m^2, kg of sliding joints]."},
    {Operation::kForwardDynamics, "forward_dynamics", "Vec<S>", "qd tau",
     "qdd from H qdd + C qd + g = tau; friction is the caller's [rad/s^2, m/s^2]."},
    {Operation::kEnergy, "energy", "garra::chain::Energy<S>", "qd", "Kinetic and potential energy [J]."},
    {Operation::kInverseDynamicsDerivatives, "inverse_dynamics_derivatives", "garra::chain::TorqueDerivatives<S, %>",
     "qd qdd", "Of tau by q, qd and qdd (H), without friction: entry (i, j) is that of tau_i by variable j."},
    {Operation::kForwardDynamicsDerivatives, "forward_dynamics_derivatives", "AccelerationDerivatives<S>", "qd tau",
     "Of qdd by q, qd and tau (1/H), without friction, and qdd: entry (i, j) is that of qdd_i by variable j."},
    {Operation::kInverseKinematics, "inverse_kinematics", "Candidates<S>", "pose",
     "All joint values of a pose of the tool [rad, m] by closed form, not polished; turns in (-pi, pi]."},
}};

std::string with_joints(std::string text, int joints) {
  for (std::size_t at; (at = text.find('%')) != std::string::npos;) text.replace(at, 1, std::to_string(joints));
  return text;
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// Text that cannot end a line comment.
// A newline or a backslash at its end would.
std::string one_line(std::string text) {
  for (char& c : text)
    if (std::iscntrl(static_cast<unsigned char>(c)) || c == '\\') c = ' ';
  return text;
}

// Names.

std::string make_identifier(const std::string& robot) {
  std::string name;
  for (const char c : robot) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) && letter < 128)
      name += static_cast<char>(std::tolower(letter));
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "robot_" + name : name;
}

void check_name(const std::string& name) {
  const auto fits = [](char c) { return c == '_' || (std::isalnum(static_cast<unsigned char>(c)) && c >= 0); };
  const bool word = !name.empty() && std::all_of(name.begin(), name.end(), fits) &&
                    !std::isdigit(static_cast<unsigned char>(name[0])) && name[0] != '_';
  constexpr std::array kTaken = {"garra", "std", "namespace", "template", "class", "struct", "double", "int", "auto"};
  const bool taken = std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end();
  if (!word || taken || name.find("__") != std::string::npos)
    throw Error(ExitCode::kUsage, "\"" + name + "\" is no name for a C++ namespace",
                "Take letters, digits and single underscores, a letter first.");
}

const Signature& find_signature(const std::string& name) {
  for (const Signature& s : kSignatures)
    if (name == s.name) return s;
  std::string all;
  for (const Signature& s : kSignatures) all += (all.empty() ? "" : ", ") + std::string(s.name);
  throw Error(ExitCode::kUsage, "\"" + name + "\": there is no such operation", "Operations: " + all + ".");
}

void check_numbers(const Robot& robot) {
  double sum = 0;
  // v - v is 0, or NaN where v is not finite.
  for (const JointForm<double>& j : robot.form) {
    for (const double v : {j.a, j.b, j.d, j.theta, j.cos_alpha, j.sin_alpha, j.mass, j.armature}) sum += v - v;
    for (const double v : {j.xx, j.yy, j.zz, j.xy, j.xz, j.yz, j.first[0], j.first[1], j.first[2]}) sum += v - v;
  }
  for (const Pose<double>* pose : {&robot.base, &robot.tool}) {
    for (const double v : pose->R.m) sum += v - v;
    for (const double v : pose->p.m) sum += v - v;
  }
  for (const double v : robot.gravity.m) sum += v - v;
  if (sum != 0) throw Error(ExitCode::kUsage, "the robot \"" + robot.name + "\" has a number that is not finite");
}

// Functions.

/// The way, and the rules of the graph, with the fewest operations.
Code cheapest(const Robot& robot, Operation operation) {
  std::optional<Code> best;
  // 3 x 2 x 2 rules (docs/howto/chain-generated.md, "Rules that move roundings").
  for (int rules = 0; rules < 12; ++rules)
    for (int way = 0; way < ways(operation, robot.joints); ++way) {
      symbolic::Graph graph({static_cast<symbolic::Rules::Merge>(rules % 3), rules / 3 % 2 == 1, rules / 6 == 1});
      Code code(graph, record(graph, robot, operation, way));
      if (!best || code.count().cost() < best->count().cost()) best = std::move(code);
    }
  return *best;
}

std::string describe_count(const OperationCount& c) {
  std::string text = std::to_string(c.products + c.sums + c.fused + c.slow + c.other) +
                     " operations: " + std::to_string(c.products) + " products, " + std::to_string(c.sums) + " sums, " +
                     std::to_string(c.fused) + " fused multiply-adds";
  if (c.slow > 0) text += ", " + std::to_string(c.slow) + " divisions and roots";
  if (c.other > 0) text += ", " + std::to_string(c.other) + " others";
  return text + ".";
}

bool reads(const Code& code, const std::string& array) {
  return std::any_of(code.inputs().begin(), code.inputs().end(), [&](const std::string& name) {
    return name.compare(0, array.size(), array) == 0 && name.size() > array.size() &&
           (name[array.size()] == '[' || name[array.size()] == '.');
  });
}

std::string inverse_kinematics(const Robot& robot, const Signature& s) {
  const Code code = cheapest(robot, s.operation);
  std::string turns;
  for (int i = 0; i < robot.joints; ++i) {
    const std::string n = "[" + std::to_string(i) + "]";
    if (!robot.joint[static_cast<std::size_t>(i)].prismatic)
      turns += "    out.q[k]" + n + " = garra::atan2(s[k]" + n + ", c[k]" + n + ");\n";
  }
  return "/// " + std::string(s.meaning) + "\n/// " + describe_count(code.count()) +
         "\ntemplate <class S>\n[[nodiscard]] GARRA_HD Candidates<S> " + s.name +
         "(const garra::Pose<S>& pose) {\n  Candidates<S> out;\n  S c[8][kJoints], s[8][kJoints];\n" + code.text("  ") +
         "  for (int k = 0; k < 8; ++k) {\n" + turns + "  }\n  return out;\n}\n\n";
}

std::string function(const Robot& robot, const Signature& s) {
  if (s.operation == Operation::kInverseKinematics) return inverse_kinematics(robot, s);
  const Code code = cheapest(robot, s.operation);
  const std::string type = with_joints(s.type, robot.joints);
  std::string parameters, more, arguments;
  for (const std::string& name : split_words(s.parameters)) {
    // What a function does not read is still a parameter, so that signatures do not depend on the robot.
    parameters += std::string(", ") + (reads(code, name) ? "" : "[[maybe_unused]] ") + "const Vec<S>& " + name;
    more += ", const Vec<S>& " + name;
    arguments += ", " + name;
  }
  const std::string name = s.name, head = "template <class S>\n[[nodiscard]] GARRA_HD " + type + " " + name + "(";
  return "/// " + std::string(s.meaning) + "\n/// " + describe_count(code.count()) + "\n" + head +
         (reads(code, "x") ? "" : "[[maybe_unused]] ") + "const Angles<S>& x" + parameters + ") {\n  " + type +
         " out;\n" + code.text("  ") + "  return out;\n}\n" + head + "const Vec<S>& q" + more + ") {\n  return " +
         name + "(angles(q)" + arguments + ");\n}\n\n";
}

/// As chain::angles, the offsets being known.
std::string angles(const Robot& robot) {
  std::string body;
  for (int i = 0; i < robot.joints; ++i) {
    const std::string n = std::to_string(i), k = "[" + n + "]";
    const double offset = robot.form[static_cast<std::size_t>(i)].theta;
    const bool slides = robot.joint[static_cast<std::size_t>(i)].prismatic;
    const std::string shift = offset == 0 ? "" : " + S(" + decimal(offset) + ")";
    body += "  const auto turn" + n + " = garra::quick_sincos(" +
            (slides ? "S(" + decimal(offset) + ")" : "q" + k + shift) + ");\n  x.cos" + k + " = turn" + n +
            ".cos;\n  x.sin" + k + " = turn" + n + ".sin;\n  x.slide" + k + " = " + (slides ? "q" + k : "S(0.0)") +
            ";\n";
  }
  return R"(/// Sines and cosines of a configuration [rad, m]. Inlined: what a function does not read costs nothing.
template <class S>
[[nodiscard]] GARRA_HD Angles<S> angles(const Vec<S>& q) {
  Angles<S> x;
)" + body +
         "  return x;\n}\n\n";
}

/// Of a robot whose mass matrix is singular.
std::string describe_singular_mass(const Robot& robot) {
  const int k = find_weightless_joint(robot);
  return "joint " + std::to_string(k) + " (" + robot.joint[static_cast<std::size_t>(k)].name +
         ") moves no inertia, and the mass matrix is singular";
}

/// What the header says of itself. `left_out`: it has no forward dynamics.
std::string preamble(const Robot& robot, const GenerateOptions& options, bool left_out) {
  std::string text =
      R"(// Kinematics and dynamics of one robot as straight-line code. Generated: do not edit, generate again.
//
)";
  text += "//   robot    " + one_line(robot.name) + "\n";
  if (!robot.source.empty()) text += "//   source   " + one_line(robot.source) + "\n";
  if (!options.command.empty()) text += "//   command  " + one_line(options.command) + "\n";
  if (left_out) text += "//   without  forward dynamics: " + one_line(describe_singular_mass(robot)) + "\n";
  return text + "//   garra    " + version() + R"(
//
// S is double, garra::Lanes<double>, or double on a GPU. Inputs are taken as finite: what they are multiplied with
// zero for is left out, NaN and infinity included.
#pragma once

#include "garra/systems/chain/derivatives.hpp"  // Angles, Frames, Energy, TorqueDerivatives

)";
}

std::string types(const std::string& name, int joints) {
  return with_joints("namespace " + name + R"( {

inline constexpr int kJoints = %;
template <class S>
using Vec = garra::Vec<S, %>;
template <class S>
using Angles = garra::chain::Angles<S, %>;
template <class S>
struct JacobianManipulability {
  garra::Mat<S, 6, %> jacobian;
  S manipulability;
};
template <class S>
struct AccelerationDerivatives {
  garra::Mat<S, %, %> by_q, by_qd, by_tau;
  Vec<S> qdd;
};
/// Joint values in no particular order; those with exists = 0 mean nothing.
template <class S>
struct Candidates {
  Vec<S> q[8];
  S exists[8];
};

using garra::abs;
using garra::fma;
using garra::fnma;
using garra::select;
using garra::sqrt;

)",
                     joints);
}

/// The functions as a type.
std::string chain_type(const std::string& name, int joints, const std::vector<std::string>& operations) {
  std::string text =
      "/// The functions as a type, for templates of a chain: Chain::jacobian(x) is jacobian(x).\nstruct Chain {\n"
      "  static constexpr int kJoints = " +
      std::to_string(joints) + ";\n";
  std::vector<std::string> all = {"angles"};
  all.insert(all.end(), operations.begin(), operations.end());
  for (const std::string& f : all)
    text += "  template <class... A>\n  [[nodiscard]] static GARRA_HD auto " + f + "(const A&... a) {\n    return " +
            name + "::" + f + "(a...);\n  }\n";
  return text + "};\n\n";
}

}  // namespace

std::string generate_header(const Robot& robot, const GenerateOptions& options) {
  const std::string name = options.name.empty() ? make_identifier(robot.name) : options.name;
  check_name(name);
  require_uncoupled(robot, "generated code");
  check_numbers(robot);
  std::vector<std::string> wanted = options.operations;
  bool left_out = false;
  for (const Signature& s : kSignatures) {
    const bool asked = std::count(wanted.begin(), wanted.end(), s.name) > 0;
    if (!asked && !options.operations.empty()) continue;
    const bool has = has_operation(robot, s.operation);
    if (has && !asked) wanted.emplace_back(s.name);
    if (!has && !asked && s.operation != Operation::kInverseKinematics) left_out = true;
    if (has || !asked) continue;
    if (s.operation == Operation::kInverseKinematics)
      throw Error(ExitCode::kUsage, "the robot \"" + robot.name + "\" has no closed form of inverse kinematics",
                  "Leave out inverse_kinematics, or use inverse_kinematics_all.");
    throw Error(ExitCode::kUsage, s.name + (": " + describe_singular_mass(robot)),
                "Give mass and inertia of its links, or leave out forward dynamics.");
  }
  std::string text = preamble(robot, options, left_out) + types(name, robot.joints) + angles(robot);
  for (const std::string& operation : wanted) text += function(robot, find_signature(operation));
  return text + chain_type(name, robot.joints, wanted) + "}  // namespace " + name + "\n";
}

std::vector<std::string> generated_operations() {
  std::vector<std::string> names;
  for (const Signature& s : kSignatures) names.emplace_back(s.name);
  return names;
}

}  // namespace garra::chain
