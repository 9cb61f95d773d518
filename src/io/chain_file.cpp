#include "garra/io/chain_file.hpp"

#include <charconv>
#include <utility>

#include "garra/core/error.hpp"
#include "io/chain_file.hpp"
#include "io/hdf5.hpp"
#include "io/suggest.hpp"

namespace garra::io {
namespace {

const char* const kStateFile =
    "A state file holds q [n,j] for a chain of j joints and, where an output reads them, qd, qdd, tau [n,j], wrench [n,6] and a "
    "group `parameters` of columns [n].";
const char* const kParameterNames =
    "Columns are called joint.quantity.change: \"2.mass.scale\" multiplies the mass of link 2, \"3.d.add\" adds to d of joint 3.";
constexpr const char* kChanges[] = {"add", "scale"};

std::uint64_t read_count(const Hdf5Reader& file, std::uint64_t joints) {
  const Shape shape = file.shape("q");
  if (shape.size() == 2 && shape[1] == joints) return shape[0];
  file.refuse("q", "expected shape [n, " + std::to_string(joints) + "] for a chain of " + std::to_string(joints) +
                       " joints, found " + to_string(shape));
}

std::vector<double> read_optional(const Hdf5Reader& file, const std::string& name, const Shape& expected) {
  if (!file.has(name)) return {};
  file.require_shape(name, expected);
  return file.doubles(name);
}

chain::Parameter read_parameter(const Hdf5Reader& file, const std::string& name, std::uint64_t count) {
  const std::string dataset = "parameters/" + name;
  chain::Parameter parameter;
  try {
    parameter = parse_parameter(name);
  } catch (const Error& error) {
    const std::string what = error.what();
    file.refuse(dataset, what.substr(0, what.find('\n')), kParameterNames);
  }
  file.require_shape(dataset, {count});
  parameter.value = file.doubles(dataset);
  return parameter;
}

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

const char* name_of(chain::JacobianForm form) {
  switch (form) {
    case chain::JacobianForm::kLinearFirst: return "linear-first";
    case chain::JacobianForm::kAngularFirst: return "angular-first";
    case chain::JacobianForm::kScrews: return "screws";
  }
  return "";
}

void write_attributes(Hdf5Writer& file, const chain::Results& results, const ResultAttributes& attributes) {
  file.attribute("/", "model", attributes.model);
  file.attribute("/", "device", attributes.device);
  file.attribute("/", "version", attributes.version);
  if (!results.jacobian.empty()) {
    file.attribute("jacobian", "rows", std::string(name_of(attributes.options.form)));
    file.attribute("jacobian", "axes", std::string(attributes.options.body_axes ? "tool" : "world"));
  }
  std::vector<std::string> names;
  for (int i = 0; i < kStatusCount; ++i) names.emplace_back(to_string(static_cast<Status>(i)));
  file.attribute("status", "names", names);
}

}  // namespace

std::string name_of(const chain::Parameter& parameter) {
  return std::to_string(parameter.joint + 1) + "." + to_string(parameter.quantity) + "." +
         kChanges[static_cast<std::size_t>(parameter.change)];
}

chain::Parameter parse_parameter(const std::string& name) {
  const std::vector<std::string> parts = parts_of(name);
  if (parts.size() != 3) throw Error(ExitCode::kUsage, quoted(name) + " is not joint.quantity.change", kParameterNames);
  chain::Parameter parameter;
  const char* end = parts[0].data() + parts[0].size();
  const auto [rest, error] = std::from_chars(parts[0].data(), end, parameter.joint);
  if (error != std::errc() || rest != end || parameter.joint < 1)
    throw Error(ExitCode::kUsage, quoted(parts[0]) + " is no joint, counted from 1", kParameterNames);
  --parameter.joint;
  parameter.quantity = chain::parse_quantity(parts[1]);
  if (parts[2] != kChanges[0] && parts[2] != kChanges[1])
    throw Error(ExitCode::kUsage, quoted(parts[2]) + " is no change: add or scale", kParameterNames);
  parameter.change = parts[2] == kChanges[0] ? chain::Change::kAdd : chain::Change::kScale;
  return parameter;
}

chain::States read_states(const std::string& path, int joints) {
  const Hdf5Reader file(path, kStateFile);
  const auto j = static_cast<std::uint64_t>(joints);
  const std::uint64_t count = read_count(file, j);
  chain::States states;
  states.count = static_cast<std::int64_t>(count);
  states.q = file.doubles("q");
  states.qd = read_optional(file, "qd", {count, j});
  states.qdd = read_optional(file, "qdd", {count, j});
  states.tau = read_optional(file, "tau", {count, j});
  states.wrench = read_optional(file, "wrench", {count, 6});
  for (const std::string& name : file.names("parameters"))
    states.parameters.push_back(read_parameter(file, name, count));
  return states;
}

void write_states(const std::string& path, const chain::States& states) {
  const auto count = static_cast<std::uint64_t>(states.count);
  const std::uint64_t joints = count > 0 ? states.q.size() / count : 0;
  Hdf5Writer file;
  file.write("q", {count, joints}, states.q);
  const std::pair<const char*, const std::vector<double>*> arrays[] = {
      {"qd", &states.qd}, {"qdd", &states.qdd}, {"tau", &states.tau}};
  for (const auto& [name, values] : arrays)
    if (!values->empty()) file.write(name, {count, joints}, *values);
  if (!states.wrench.empty()) file.write("wrench", {count, 6}, states.wrench);
  if (!states.parameters.empty()) file.group("parameters");
  for (const chain::Parameter& p : states.parameters) file.write("parameters/" + name_of(p), {count}, p.value);
  file.commit(path);
}

void write_results(const std::string& path, const chain::Results& results, const ResultAttributes& attributes) {
  const auto count = static_cast<std::uint64_t>(results.count);
  Hdf5Writer file;
  for (int i = 0; i < chain::kOutputCount; ++i) {
    const auto output = static_cast<chain::Output>(i);
    if (results[output].empty()) continue;
    Shape shape = {count};
    for (const int n : chain::shape_of(output, results.joints)) shape.push_back(static_cast<std::uint64_t>(n));
    file.write(to_string(output), shape, results[output]);
  }
  std::vector<std::uint8_t> status;
  status.reserve(results.status.size());
  for (const Status s : results.status) status.push_back(static_cast<std::uint8_t>(s));
  file.write("status", {count}, status);
  write_attributes(file, results, attributes);
  file.commit(path);
}

}  // namespace garra::io
