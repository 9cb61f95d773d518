// Reads and writes problem and solution files (docs/reference/contact-files.md).
#include "garra/io/problem_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/files/hdf5.hpp"
#include "contact/files/fclib_file.hpp"
#include "contact/files/problem_stream.hpp"
#include "garra/core/error.hpp"

namespace garra::io {
namespace {

const char* const kProblemFile =
    "A problem file holds A [n,3k,3k], b [n,3k] and mu [n,k] for n problems of k contacts (n, t, o per contact), and "
    "mode [n,k] with slip_velocity [n,k,2] where contacts slide; local files of FCLIB are read as well.";
const char* const kSolutionFile = "A solution file is what `garra contact solve` writes.";

/// Shape of A, which fixes n and k for all other datasets.
Shape read_matrix_shape(const Hdf5Reader& file) {
  const Shape shape = file.shape("A");
  if (shape.size() != 3 || shape[1] != shape[2] || shape[1] % 3 != 0) {
    file.refuse("A", "expected shape [n, 3k, 3k], found " + to_string(shape));
  }
  require_supported_contacts(file, "A", static_cast<std::int64_t>(shape[1] / 3));
  return shape;
}

std::string place(std::size_t index, std::uint64_t contacts) {
  return "problem " + std::to_string(index / contacts) + ", contact " + std::to_string(index % contacts) +
         " (counted from 0)";
}

std::vector<std::uint8_t> read_modes(const Hdf5Reader& file, const Shape& contacts) {
  file.require_shape("mode", contacts);
  std::vector<std::uint8_t> modes;
  for (const std::int64_t mode : file.integers("mode")) {
    if (mode != 0 && mode != 1) {
      file.refuse("mode", "expected 0 (may roll) or 1 (slides), found " + std::to_string(mode) + " at " +
                              place(modes.size(), contacts[1]));
    }
    modes.push_back(static_cast<std::uint8_t>(mode));
  }
  return modes;
}

/// A velocity that is NaN or infinite is left to the solver, like any other number.
void require_slip_directions(const Hdf5Reader& file, const contact::Problems& problems) {
  const std::vector<double>& v = problems.slip_velocity;
  const auto contacts = static_cast<std::uint64_t>(problems.contacts);
  for (std::size_t j = 0; j < problems.mode.size(); ++j) {
    if (problems.mode[j] == 0) continue;
    if (v.empty()) {
      file.refuse(
          "slip_velocity", "is missing, but " + place(j, contacts) + " slides (mode 1)",
          "Add slip_velocity [n,k,2]: the velocity (t, o) in m/s that each contact slides with, read where mode "
          "is 1.");
    }
    if (v[2 * j] == 0 && v[2 * j + 1] == 0) {
      file.refuse("slip_velocity", "is zero at a contact that slides: " + place(j, contacts),
                  "Give the velocity (t, o) it slides with, or set its mode to 0 (may roll).");
    }
  }
}

void read_sliding(const Hdf5Reader& file, const Shape& contacts, contact::Problems& problems) {
  const bool has_velocity = file.has("slip_velocity");
  if (!file.has("mode")) {
    if (!has_velocity) return;
    file.refuse("slip_velocity", "is of no use where dataset mode is missing",
                "Add mode [n,k], 1 where a contact slides and 0 where it may roll, or leave slip_velocity out.");
  }
  problems.mode = read_modes(file, contacts);
  if (has_velocity) {
    file.require_shape("slip_velocity", {contacts[0], contacts[1], 2});
    problems.slip_velocity = file.doubles("slip_velocity");
  }
  require_slip_directions(file, problems);
  if (std::find(problems.mode.begin(), problems.mode.end(), std::uint8_t{1}) != problems.mode.end()) return;
  problems.mode.clear();  // without sliding contacts the problems equal those of a file without these datasets
  problems.slip_velocity.clear();
}

struct Sizes {
  std::uint64_t problems, rows, contacts;
};
Sizes make_sizes(std::int64_t count, int contacts) {
  const auto k = static_cast<std::uint64_t>(contacts);
  return {static_cast<std::uint64_t>(count), 3 * k, k};
}

/// The two quantities per contact that the papers carry along and that follow from c and a: s = mu^2 c_n^2 - |c_T|^2.
std::vector<double> cone_values(const std::vector<double>& mu, const std::vector<double>& c) {
  std::vector<double> s(mu.size());
  for (std::size_t j = 0; j < s.size(); ++j) {
    const double* cj = &c[3 * j];
    const double limit = mu[j] * cj[0];
    s[j] = limit * limit - cj[1] * cj[1] - cj[2] * cj[2];
  }
  return s;
}

/// lambda = |a_T|
std::vector<double> slip_rates(const std::vector<double>& a) {
  std::vector<double> lambda(a.size() / 3);
  for (std::size_t j = 0; j < lambda.size(); ++j) lambda[j] = std::hypot(a[3 * j + 1], a[3 * j + 2]);
  return lambda;
}

void require_same_batch(const contact::Problems& problems, const contact::Solutions& solutions) {
  const Sizes n = make_sizes(problems.count, problems.contacts);
  if (problems.count == solutions.count && problems.contacts == solutions.contacts &&
      problems.mu.size() == n.problems * n.contacts && solutions.c.size() == n.problems * n.rows &&
      solutions.a.size() == solutions.c.size()) {
    return;
  }
  throw Error(ExitCode::kInternal, "write_solutions: the solutions do not belong to these problems",
              "Pass the problems that were solved, and the solutions as they came back.");
}

std::vector<std::string> status_names() {
  std::vector<std::string> names;
  for (int i = 0; i < kStatusCount; ++i) names.emplace_back(to_string(static_cast<Status>(i)));
  return names;
}

std::vector<std::string> state_names() {
  std::vector<std::string> names;
  for (const auto state : {contact::ContactState::kStick, contact::ContactState::kSlip, contact::ContactState::kOpen})
    names.emplace_back(to_string(state));
  return names;
}

std::vector<std::uint8_t> status_numbers(const std::vector<Status>& statuses) {
  std::vector<std::uint8_t> numbers;
  numbers.reserve(statuses.size());
  for (const Status status : statuses) numbers.push_back(static_cast<std::uint8_t>(status));
  return numbers;
}

std::vector<Status> read_status(const Hdf5Reader& file, std::uint64_t count) {
  file.require_shape("status", {count});
  std::vector<Status> statuses;
  for (const std::int64_t number : file.integers("status")) {
    if (number < 0 || number >= kStatusCount) {
      file.refuse("status", "unknown status " + std::to_string(number) + "; written by a newer version?");
    }
    statuses.push_back(static_cast<Status>(number));
  }
  return statuses;
}

std::vector<double> read_array(const Hdf5Reader& file, const std::string& name, const Shape& expected) {
  file.require_shape(name, expected);
  return file.doubles(name);
}

/// A counter or number that only some methods have, by its name in files.
struct Counter {
  const char* name;
  std::vector<std::int32_t> contact::Solutions::*values;
};
constexpr Counter kCounters[] = {{"evaluations", &contact::Solutions::evaluations},
                                 {"inner", &contact::Solutions::inner},
                                 {"products", &contact::Solutions::products},
                                 {"stage", &contact::Solutions::stage},
                                 {"stalls", &contact::Solutions::stalls}};
struct Measure {
  const char* name;
  std::vector<double> contact::Solutions::*values;
};
constexpr Measure kMeasures[] = {{"minimum", &contact::Solutions::minimum},
                                 {"projected_gradient", &contact::Solutions::projected_gradient}};
// -1, as the solvers write it (solvers::kNotCounted).
constexpr std::int32_t kNotCounted = -1;

template <class T>
std::vector<T> read_whole(const Hdf5Reader& file, const std::string& name, std::uint64_t count) {
  file.require_shape(name, {count});
  std::vector<T> values;
  for (const std::int64_t value : file.integers(name)) {
    if (!std::in_range<T>(value)) file.refuse(name, std::to_string(value) + " is out of range");
    values.push_back(static_cast<T>(value));
  }
  return values;
}

void read_optional(const Hdf5Reader& file, std::uint64_t count, contact::Solutions& solutions) {
  for (const auto& [name, member] : kMeasures) {
    // Older files and other methods lack them: NaN and -1 mean unknown.
    solutions.*member = file.has(name) ? read_array(file, name, {count})
                                       : std::vector<double>(count, std::numeric_limits<double>::quiet_NaN());
  }
  for (const auto& [name, member] : kCounters) {
    solutions.*member =
        file.has(name) ? read_whole<std::int32_t>(file, name, count) : std::vector<std::int32_t>(count, kNotCounted);
  }
  if (file.has("solutions")) solutions.solutions = read_whole<std::uint8_t>(file, "solutions", count);
}

/// Reads contact states and margins, which files of earlier versions lack.
void read_diagnostics(const Hdf5Reader& file, std::uint64_t count, contact::Solutions& solutions) {
  if (!file.has("state")) return;
  file.require_shape("state", {count, static_cast<std::uint64_t>(solutions.contacts)});
  for (const std::int64_t number : file.integers("state")) {
    const bool known = number >= 0 && number <= static_cast<int>(contact::ContactState::kOpen);
    if (!known && number != static_cast<int>(contact::ContactState::kUnknown))
      file.refuse("state", "unknown state " + std::to_string(number) + "; written by a newer version?");
    solutions.state.push_back(static_cast<contact::ContactState>(number));
  }
  solutions.friction_margin = read_array(file, "friction_margin", {count});
  solutions.required_friction = read_array(file, "required_friction", {count});
}

void write_attributes(Hdf5Stream& file, const SolutionAttributes& attributes, bool with_state) {
  file.attribute("/", "method", attributes.method);
  file.attribute("/", "tolerance", attributes.tolerance);
  file.attribute("/", "device", attributes.device);
  file.attribute("/", "version", attributes.version);
  file.attribute("status", "names", status_names());
  if (with_state) file.attribute("state", "names", state_names());
}

// Types by template, so that a dataset cannot be written as another type than it was made with.
template <class T>
constexpr Hdf5Stream::Type kTypeOf = Hdf5Stream::Type::kUint8;
template <>
constexpr Hdf5Stream::Type kTypeOf<double> = Hdf5Stream::Type::kFloat64;
template <>
constexpr Hdf5Stream::Type kTypeOf<std::int32_t> = Hdf5Stream::Type::kInt32;

bool says_nothing(double x) { return std::isnan(x); }
bool says_nothing(std::int32_t x) { return x == kNotCounted; }
template <class T>
constexpr T kNothing = std::numeric_limits<T>::quiet_NaN();
template <>
constexpr std::int32_t kNothing<std::int32_t> = kNotCounted;

/// Datasets that every method has, with type and count of numbers per problem of k contacts.
enum class PerProblem { kOne, kContacts, kRows };
struct Dataset {
  const char* name;
  Hdf5Stream::Type type;
  PerProblem size;
};
constexpr Dataset kDatasets[] = {{"c", kTypeOf<double>, PerProblem::kRows},
                                 {"a", kTypeOf<double>, PerProblem::kRows},
                                 {"s", kTypeOf<double>, PerProblem::kContacts},
                                 {"lambda", kTypeOf<double>, PerProblem::kContacts},
                                 {"merit", kTypeOf<double>, PerProblem::kOne},
                                 {"residual", kTypeOf<double>, PerProblem::kOne},
                                 {"contact_residual", kTypeOf<double>, PerProblem::kOne},
                                 {"iterations", kTypeOf<std::int32_t>, PerProblem::kOne},
                                 {"status", kTypeOf<std::uint8_t>, PerProblem::kOne},
                                 {"state", kTypeOf<std::uint8_t>, PerProblem::kContacts},
                                 {"friction_margin", kTypeOf<double>, PerProblem::kOne},
                                 {"required_friction", kTypeOf<double>, PerProblem::kOne}};

Shape dataset_shape(const Dataset& dataset, const Sizes& n) {
  switch (dataset.size) {
    case PerProblem::kOne:
      return {n.problems};
    case PerProblem::kContacts:
      return {n.problems, n.contacts};
    case PerProblem::kRows:
      return {n.problems, n.rows};
  }
  return {};
}

/// A slice of an array with `each` numbers per problem; empty for an empty array.
template <class T>
void copy_rows(const std::vector<T>& from, const std::pair<std::int64_t, std::int64_t>& rows, std::vector<T>& to,
               std::int64_t each) {
  const auto begin = from.begin() + (from.empty() ? 0 : rows.first * each);
  to.assign(begin, begin + (from.empty() ? 0 : rows.second * each));
}

}  // namespace

ProblemStream::ProblemStream(const std::string& path) : file_(path, kProblemFile) {
  if (is_fclib(file_)) {
    small_ = read_fclib_local(file_);
    contacts_ = small_.contacts;
    count_ = small_.count;
    return;
  }
  const Shape shape = read_matrix_shape(file_);
  const std::uint64_t contacts = shape[1] / 3;
  file_.require_shape("b", {shape[0], shape[1]});
  file_.require_shape("mu", {shape[0], contacts});
  small_.contacts = contacts_ = static_cast<int>(contacts);
  small_.count = count_ = static_cast<std::int64_t>(shape[0]);
  // Large arrays stay in the file until they are requested; modes and velocities are small and checked at once.
  A_.emplace(file_, "A");
  b_.emplace(file_, "b");
  mu_.emplace(file_, "mu");
  read_sliding(file_, {shape[0], contacts}, small_);
}

void ProblemStream::read(std::int64_t first, std::int64_t count, contact::Problems& out) const {
  const std::int64_t rows = 3 * contacts_;
  out.contacts = contacts_;
  out.count = count;
  copy_rows(small_.mode, {first, count}, out.mode, contacts_);
  copy_rows(small_.slip_velocity, {first, count}, out.slip_velocity, 2 * contacts_);
  // FCLIB: the one problem, whole, for any requested range.
  if (!A_) {
    out.A = small_.A;
    out.b = small_.b;
    out.mu = small_.mu;
    return;
  }
  const auto at = static_cast<std::uint64_t>(first), n = static_cast<std::uint64_t>(count);
  out.A.resize(static_cast<std::size_t>(count * rows * rows));
  out.b.resize(static_cast<std::size_t>(count * rows));
  out.mu.resize(static_cast<std::size_t>(count * contacts_));
  A_->read(at, n, out.A);
  b_->read(at, n, out.b);
  mu_->read(at, n, out.mu);
}

void ProblemStream::require_memory() const {
  if (A_) A_->require_memory();
}

contact::Problems read_problems(const std::string& path) {
  const ProblemStream file(path);
  file.require_memory();
  contact::Problems problems;
  file.read(0, file.count(), problems);
  return problems;
}

void write_problems(const std::string& path, const contact::Problems& problems) {
  const Sizes n = make_sizes(problems.count, problems.contacts);
  Hdf5Writer file;
  file.write("A", {n.problems, n.rows, n.rows}, problems.A);
  file.write("b", {n.problems, n.rows}, problems.b);
  file.write("mu", {n.problems, n.contacts}, problems.mu);
  if (!problems.mode.empty()) file.write("mode", {n.problems, n.contacts}, problems.mode);
  if (!problems.slip_velocity.empty()) file.write("slip_velocity", {n.problems, n.contacts, 2}, problems.slip_velocity);
  file.commit(path);
}

const std::vector<std::string>& solution_outputs() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Dataset& dataset : kDatasets) all.emplace_back(dataset.name);
    for (const Measure& measure : kMeasures) all.emplace_back(measure.name);
    for (const Counter& counter : kCounters) all.emplace_back(counter.name);
    all.emplace_back("solutions");
    return all;
  }();
  return names;
}

SolutionStream::SolutionStream(const std::string& path, const Plan& plan) : plan_(plan), file_(path) {
  const Sizes n = make_sizes(plan.count, plan.contacts);
  for (const Dataset& dataset : kDatasets)
    if (wants(dataset.name)) places_[dataset.name] = file_.add(dataset.name, dataset_shape(dataset, n), dataset.type);
  if (plan.solutions && wants("solutions"))
    places_["solutions"] = file_.add("solutions", {n.problems}, kTypeOf<std::uint8_t>);
}

bool SolutionStream::wants(const std::string& name) const {
  // `status` always: without it NaN could not be told from an error.
  return plan_.outputs.empty() || name == "status" ||
         std::find(plan_.outputs.begin(), plan_.outputs.end(), name) != plan_.outputs.end();
}

template <class T>
void SolutionStream::put(const char* name, std::int64_t first, std::span<const T> values) {
  const auto place = places_.find(name);
  if (place != places_.end()) file_.write<T>(place->second, static_cast<std::uint64_t>(first), values);
}

template <class T>
void SolutionStream::put_late(const char* name, std::int64_t first, std::span<const T> values) {
  if (!wants(name) || values.empty()) return;
  const auto at = static_cast<std::uint64_t>(first);
  // A method that does not count something leaves no dataset of -1 behind.
  const bool nothing = std::all_of(values.begin(), values.end(), [](T x) { return says_nothing(x); });
  // Blocks come in any order: only the first one with a number makes the dataset.
  std::unique_lock lock(mutex_);
  Late& late = late_[name];
  if (!late.place && nothing) {
    late.before.push_back({at, values.size()});
    return;
  }
  if (!late.place) {
    late.place = file_.add(name, {static_cast<std::uint64_t>(plan_.count)}, kTypeOf<T>);
    // Earlier blocks had no numbers: fill their rows.
    for (const Rows& rows : late.before)
      file_.write<T>(*late.place, rows.first, std::vector<T>(rows.count, kNothing<T>));
  }
  const Hdf5Stream::Place place = *late.place;
  // Rows of an existing dataset can be written in parallel.
  lock.unlock();
  file_.write<T>(place, at, values);
}

void SolutionStream::write(std::int64_t first, const contact::Problems& problems, const contact::Solutions& solutions) {
  put<double>("c", first, solutions.c);
  put<double>("a", first, solutions.a);
  if (places_.contains("s")) put<double>("s", first, cone_values(problems.mu, solutions.c));
  if (places_.contains("lambda")) put<double>("lambda", first, slip_rates(solutions.a));
  put<double>("merit", first, solutions.merit);
  put<double>("residual", first, solutions.residual);
  put<double>("contact_residual", first, solutions.contact_residual);
  put<std::int32_t>("iterations", first, solutions.iterations);
  put<std::uint8_t>("status", first, status_numbers(solutions.status));
  put<contact::ContactState>("state", first, solutions.state);
  put<double>("friction_margin", first, solutions.friction_margin);
  put<double>("required_friction", first, solutions.required_friction);
  put<std::uint8_t>("solutions", first, solutions.solutions);
  for (const auto& [name, member] : kMeasures) put_late<double>(name, first, solutions.*member);
  for (const auto& [name, member] : kCounters) put_late<std::int32_t>(name, first, solutions.*member);
}

void SolutionStream::commit(const SolutionAttributes& attributes) {
  write_attributes(file_, attributes, places_.contains("state"));
  file_.commit();
}

void write_solutions(const std::string& path, const contact::Problems& problems, const contact::Solutions& solutions,
                     const SolutionAttributes& attributes) {
  require_same_batch(problems, solutions);
  SolutionStream::Plan plan{problems.contacts, problems.count, solution_outputs(), !solutions.solutions.empty()};
  if (solutions.state.empty())
    // Results that were not computed get no dataset.
    std::erase_if(plan.outputs, [](const std::string& name) {
      return name == "state" || name == "friction_margin" || name == "required_friction";
    });
  SolutionStream file(path, plan);
  file.write(0, problems, solutions);
  file.commit(attributes);
}

contact::Solutions read_solutions(const std::string& path) {
  const Hdf5Reader file(path, kSolutionFile);
  const Shape shape = file.shape("c");
  if (shape.size() != 2 || shape[1] % 3 != 0) {
    file.refuse("c", "expected shape [n, 3k], found " + to_string(shape));
  }
  contact::Solutions out;
  out.count = static_cast<std::int64_t>(shape[0]);
  out.contacts = static_cast<int>(shape[1] / 3);
  out.c = file.doubles("c");
  out.a = read_array(file, "a", shape);
  out.residual = read_array(file, "residual", {shape[0]});
  out.contact_residual = read_array(file, "contact_residual", {shape[0]});
  out.merit = read_array(file, "merit", {shape[0]});
  out.iterations = read_whole<std::int32_t>(file, "iterations", shape[0]);
  out.status = read_status(file, shape[0]);
  read_optional(file, shape[0], out);
  read_diagnostics(file, shape[0], out);
  return out;
}

}  // namespace garra::io
