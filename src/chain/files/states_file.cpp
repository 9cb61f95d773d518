// State and result files of `garra chain eval`.
#include "chain/files/states_file.hpp"

#include <charconv>
#include <utility>

#include "base/files/hdf5.hpp"
#include "base/files/suggest.hpp"
#include "chain/files/jacobian_form.hpp"
#include "chain/files/stream.hpp"
#include "garra/core/error.hpp"
#include "garra/io/chain_file.hpp"

namespace garra::io {
namespace {

const char* const kStateFile =
    "A state file holds q [n,j] for a chain of j joints and, where an output reads them, qd, qdd, tau [n,j], wrench "
    "[n,6] and a "
    "group `parameters` of columns [n].";
const char* const kParameterNames =
    "Columns are called joint.quantity.change: \"2.mass.scale\" multiplies the mass of link 2, \"3.d.add\" adds to d "
    "of joint 3.";
constexpr const char* kChanges[] = {"add", "scale"};

std::uint64_t read_count(const Hdf5Reader& file, std::uint64_t joints) {
  const Shape shape = file.shape("q");
  if (shape.size() == 2 && shape[1] == joints) return shape[0];
  file.refuse("q", "expected shape [n, " + std::to_string(joints) + "] for a chain of " + std::to_string(joints) +
                       " joints, found " + to_string(shape));
}

void open_optional(const Hdf5Reader& file, const std::string& name, const Shape& expected,
                   std::optional<Hdf5Rows>& rows) {
  if (!file.has(name)) return;
  file.require_shape(name, expected);
  rows.emplace(file, name);
}

chain::Parameter read_parameter(const Hdf5Reader& file, const std::string& name) {
  try {
    // The name's own fault gets the place in the file.
    return parse_parameter(name);
  } catch (const Error& error) {
    const std::string what = error.what();
    file.refuse("parameters/" + name, what.substr(0, what.find('\n')), kParameterNames);
  }
}

/// Rows of an array that may be missing, or not be needed: then nothing.
void read_rows(const std::optional<Hdf5Rows>& rows, bool needed, const std::array<std::int64_t, 3>& first_count_fields,
               std::vector<double>& out) {
  const auto [first, count, fields] = first_count_fields;
  // Empty where it is not needed, even if the file has it: reading it would cost time for nothing.
  out.resize(rows && needed ? static_cast<std::size_t>(count * fields) : 0);
  if (!out.empty()) rows->read(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(count), out);
}

std::vector<std::string> split_name(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

void write_attributes(Hdf5Stream& file, bool with_jacobian, const ResultAttributes& attributes) {
  file.attribute("/", "model", attributes.model);
  file.attribute("/", "device", attributes.device);
  file.attribute("/", "version", attributes.version);
  if (with_jacobian) {
    file.attribute("jacobian", "rows", std::string(name_of(attributes.options.form)));
    file.attribute("jacobian", "axes", std::string(attributes.options.body_axes ? "tool" : "world"));
  }
  file.attribute("status", "names", enum_names<Status>(kStatusCount));
}

}  // namespace

std::string stored_name(const chain::Parameter& parameter) {
  return std::to_string(parameter.joint) + "." + to_string(parameter.quantity) + "." +
         kChanges[static_cast<std::size_t>(parameter.change)];
}

chain::Parameter parse_parameter(const std::string& name) {
  const std::vector<std::string> parts = split_name(name);
  if (parts.size() != 3) throw Error(ExitCode::kUsage, quoted(name) + " is not joint.quantity.change", kParameterNames);
  chain::Parameter parameter;
  const char* end = parts[0].data() + parts[0].size();
  const auto [rest, error] = std::from_chars(parts[0].data(), end, parameter.joint);
  if (error != std::errc() || rest != end || parameter.joint < 0)
    throw Error(ExitCode::kUsage, quoted(parts[0]) + " is no joint, counted from 0", kParameterNames);
  parameter.quantity = chain::parse_quantity(parts[1]);
  if (parts[2] != kChanges[0] && parts[2] != kChanges[1])
    throw Error(ExitCode::kUsage, quoted(parts[2]) + " is no change: add or scale", kParameterNames);
  parameter.change = parts[2] == kChanges[0] ? chain::Change::kAdd : chain::Change::kScale;
  return parameter;
}

StateStream::StateStream(const std::string& path, int joints) : file_(path, kStateFile), joints_(joints) {
  const auto j = static_cast<std::uint64_t>(joints);
  const std::uint64_t count = read_count(file_, j);
  count_ = static_cast<std::int64_t>(count);
  q_.emplace(file_, "q");
  open_optional(file_, "qd", {count, j}, qd_);
  open_optional(file_, "qdd", {count, j}, qdd_);
  open_optional(file_, "tau", {count, j}, tau_);
  open_optional(file_, "wrench", {count, 6}, wrench_);
  // Every column is opened once; reading needs no names.
  for (const std::string& name : file_.names("parameters")) {
    columns_.push_back({read_parameter(file_, name), nullptr});
    file_.require_shape("parameters/" + name, {count});
    columns_.back().rows = std::make_unique<Hdf5Rows>(file_, "parameters/" + name);
  }
}

chain::Needs StateStream::present() const {
  return {.qd = qd_.has_value(), .qdd = qdd_.has_value(), .tau = tau_.has_value(), .wrench = wrench_.has_value()};
}

void StateStream::require_memory() const { q_->require_memory(); }

void StateStream::read(std::int64_t first, std::int64_t count, const chain::Needs& needed, chain::States& out) const {
  out.count = count;
  read_rows(q_, true, {first, count, joints_}, out.q);
  read_rows(qd_, needed.qd, {first, count, joints_}, out.qd);
  read_rows(qdd_, needed.qdd, {first, count, joints_}, out.qdd);
  read_rows(tau_, needed.tau, {first, count, joints_}, out.tau);
  read_rows(wrench_, needed.wrench, {first, count, 6}, out.wrench);
  out.parameters.resize(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    chain::Parameter& parameter = out.parameters[c];
    parameter.joint = columns_[c].parameter.joint;
    parameter.quantity = columns_[c].parameter.quantity;
    parameter.change = columns_[c].parameter.change;
    parameter.value.resize(static_cast<std::size_t>(count));
    columns_[c].rows->read(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(count), parameter.value);
  }
}

chain::States read_states(const std::string& path, int joints) {
  const StateStream file(path, joints);
  file.require_memory();
  chain::States states;
  file.read(0, file.count(), file.present(), states);
  return states;
}

void write_states(const std::string& path, const chain::States& states) {
  const auto count = static_cast<std::uint64_t>(states.count);
  // From the array: States does not say how many joints it has.
  const std::uint64_t joints = count > 0 ? states.q.size() / count : 0;
  Hdf5Writer file;
  file.write("q", {count, joints}, states.q);
  const std::pair<const char*, const std::vector<double>*> arrays[] = {
      {"qd", &states.qd}, {"qdd", &states.qdd}, {"tau", &states.tau}};
  for (const auto& [name, values] : arrays)
    if (!values->empty()) file.write(name, {count, joints}, *values);
  if (!states.wrench.empty()) file.write("wrench", {count, 6}, states.wrench);
  if (!states.parameters.empty()) file.group("parameters");
  for (const chain::Parameter& p : states.parameters) file.write("parameters/" + stored_name(p), {count}, p.value);
  file.commit(path);
}

ResultStream::ResultStream(const std::string& path, const Plan& plan) : plan_(plan), file_(path) {
  const auto count = static_cast<std::uint64_t>(plan.count);
  for (int i = 0; i < chain::kOutputCount; ++i) {
    const auto output = static_cast<chain::Output>(i);
    if (!plan.outputs.has(output)) continue;
    Shape shape = {count};
    for (const int n : chain::output_shape(output, plan.joints, plan.links))
      shape.push_back(static_cast<std::uint64_t>(n));
    places_[static_cast<std::size_t>(i)] = file_.add(to_string(output), shape, Hdf5Stream::Type::kFloat64);
  }
  // Last and always: without status NaN says nothing.
  status_ = file_.add("status", {count}, Hdf5Stream::Type::kUint8);
}

void ResultStream::write(std::int64_t first, const chain::Results& results) {
  const auto at = static_cast<std::uint64_t>(first);
  for (int i = 0; i < chain::kOutputCount; ++i) {
    const auto output = static_cast<chain::Output>(i);
    if (plan_.outputs.has(output)) file_.write<double>(places_[static_cast<std::size_t>(i)], at, results[output]);
  }
  std::vector<std::uint8_t> status;
  status.reserve(results.status.size());
  for (const Status s : results.status) status.push_back(static_cast<std::uint8_t>(s));
  file_.write<std::uint8_t>(status_, at, status);
}

void ResultStream::commit(const ResultAttributes& attributes) {
  write_attributes(file_, plan_.outputs.has(chain::Output::kJacobian), attributes);
  file_.commit();
}

void write_results(const std::string& path, const chain::Results& results, const ResultAttributes& attributes) {
  ResultStream::Plan plan{results.joints, results.links, results.count, {}};
  // What is there is what was asked for.
  for (int i = 0; i < chain::kOutputCount; ++i)
    if (!results[static_cast<chain::Output>(i)].empty()) plan.outputs.add(static_cast<chain::Output>(i));
  ResultStream file(path, plan);
  file.write(0, results);
  file.commit(attributes);
}

}  // namespace garra::io
