#include "garra/io/problem_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "garra/core/error.hpp"
#include "io/fclib_file.hpp"
#include "io/hdf5.hpp"

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

/// A velocity that is NaN or infinite is the solver's business, like any other number.
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
  problems.mode.clear();  // where nothing slides the problems are those of a file without these datasets
  problems.slip_velocity.clear();
}

contact::Problems read_own(const Hdf5Reader& file) {
  const Shape shape = read_matrix_shape(file);
  const std::uint64_t contacts = shape[1] / 3;
  file.require_shape("b", {shape[0], shape[1]});
  file.require_shape("mu", {shape[0], contacts});
  contact::Problems problems;
  problems.contacts = static_cast<int>(contacts);
  problems.count = static_cast<std::int64_t>(shape[0]);
  problems.A = file.doubles("A");
  problems.b = file.doubles("b");
  problems.mu = file.doubles("mu");
  read_sliding(file, {shape[0], contacts}, problems);
  return problems;
}

struct Sizes {
  std::uint64_t problems, rows, contacts;
};
Sizes sizes_of(std::int64_t count, int contacts) {
  const auto k = static_cast<std::uint64_t>(contacts);
  return {static_cast<std::uint64_t>(count), 3 * k, k};
}

/// The two quantities per contact that the papers carry along and that follow from c and a.
struct ContactQuantities {
  std::vector<double> s;       ///< mu^2 c_n^2 - |c_T|^2
  std::vector<double> lambda;  ///< |a_T|
};
ContactQuantities contact_quantities(const contact::Problems& problems,
                                     const contact::Solutions& solutions) {
  const std::size_t contacts = problems.mu.size();
  ContactQuantities out{std::vector<double>(contacts), std::vector<double>(contacts)};
  for (std::size_t j = 0; j < contacts; ++j) {
    const double* c = &solutions.c[3 * j];
    const double* a = &solutions.a[3 * j];
    const double limit = problems.mu[j] * c[0];
    out.s[j] = limit * limit - c[1] * c[1] - c[2] * c[2];
    out.lambda[j] = std::hypot(a[1], a[2]);
  }
  return out;
}

void require_same_batch(const contact::Problems& problems, const contact::Solutions& solutions) {
  const Sizes n = sizes_of(problems.count, problems.contacts);
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
      file.refuse("status",
                  "unknown status " + std::to_string(number) + "; written by a newer version?");
    }
    statuses.push_back(static_cast<Status>(number));
  }
  return statuses;
}

std::vector<double> read_array(const Hdf5Reader& file, const std::string& name,
                               const Shape& expected) {
  file.require_shape(name, expected);
  return file.doubles(name);
}

/// The counters and numbers that only some methods have, by their names in files.
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
constexpr std::int32_t kNotCounted = -1;

void write_optional(Hdf5Writer& file, std::uint64_t count, const contact::Solutions& solutions) {
  for (const auto& [name, member] : kMeasures) {
    const std::vector<double>& values = solutions.*member;
    if (!std::all_of(values.begin(), values.end(), [](double x) { return std::isnan(x); }))
      file.write(name, {count}, values);
  }
  for (const auto& [name, member] : kCounters) {
    const std::vector<std::int32_t>& values = solutions.*member;
    if (!std::all_of(values.begin(), values.end(), [](std::int32_t i) { return i == kNotCounted; }))
      file.write(name, {count}, values);
  }
  if (!solutions.solutions.empty()) file.write("solutions", {count}, solutions.solutions);
}

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
    solutions.*member = file.has(name) ? read_array(file, name, {count})
                                       : std::vector<double>(count, std::numeric_limits<double>::quiet_NaN());
  }
  for (const auto& [name, member] : kCounters) {
    solutions.*member =
        file.has(name) ? read_whole<std::int32_t>(file, name, count) : std::vector<std::int32_t>(count, kNotCounted);
  }
  if (file.has("solutions")) solutions.solutions = read_whole<std::uint8_t>(file, "solutions", count);
}

void write_attributes(Hdf5Writer& file, const SolutionAttributes& attributes) {
  file.attribute("/", "method", attributes.method);
  file.attribute("/", "tolerance", attributes.tolerance);
  file.attribute("/", "device", attributes.device);
  file.attribute("/", "version", attributes.version);
  file.attribute("status", "names", status_names());
}

}  // namespace

contact::Problems read_problems(const std::string& path) {
  const Hdf5Reader file(path, kProblemFile);
  return is_fclib(file) ? read_fclib_local(file) : read_own(file);
}

void write_problems(const std::string& path, const contact::Problems& problems) {
  const Sizes n = sizes_of(problems.count, problems.contacts);
  Hdf5Writer file;
  file.write("A", {n.problems, n.rows, n.rows}, problems.A);
  file.write("b", {n.problems, n.rows}, problems.b);
  file.write("mu", {n.problems, n.contacts}, problems.mu);
  if (!problems.mode.empty()) file.write("mode", {n.problems, n.contacts}, problems.mode);
  if (!problems.slip_velocity.empty()) file.write("slip_velocity", {n.problems, n.contacts, 2}, problems.slip_velocity);
  file.commit(path);
}

void write_solutions(const std::string& path, const contact::Problems& problems,
                     const contact::Solutions& solutions, const SolutionAttributes& attributes) {
  require_same_batch(problems, solutions);
  const Sizes n = sizes_of(problems.count, problems.contacts);
  const ContactQuantities derived = contact_quantities(problems, solutions);
  Hdf5Writer file;
  file.write("c", {n.problems, n.rows}, solutions.c);
  file.write("a", {n.problems, n.rows}, solutions.a);
  file.write("s", {n.problems, n.contacts}, derived.s);
  file.write("lambda", {n.problems, n.contacts}, derived.lambda);
  file.write("merit", {n.problems}, solutions.merit);
  file.write("residual", {n.problems}, solutions.residual);
  file.write("residual_raw", {n.problems}, solutions.residual_raw);
  file.write("iterations", {n.problems}, solutions.iterations);
  file.write("status", {n.problems}, status_numbers(solutions.status));
  write_optional(file, n.problems, solutions);
  write_attributes(file, attributes);
  file.commit(path);
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
  out.residual_raw = read_array(file, "residual_raw", {shape[0]});
  out.merit = read_array(file, "merit", {shape[0]});
  out.iterations = read_whole<std::int32_t>(file, "iterations", shape[0]);
  out.status = read_status(file, shape[0]);
  read_optional(file, shape[0], out);
  return out;
}

}  // namespace garra::io
