#include "garra/io/problem_file.hpp"

#include <cmath>
#include <initializer_list>

#include "garra/core/error.hpp"
#include "io/fclib_file.hpp"
#include "io/hdf5.hpp"

namespace garra::io {
namespace {

const char* const kProblemFile =
    "A problem file holds A [n,3k,3k], b [n,3k] and mu [n,k] for n problems of k contacts (n, t, o "
    "per contact); "
    "local files of FCLIB are read as well.";
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

void require_rolling(const Hdf5Reader& file, const Shape& contacts) {
  if (!file.has("mode")) return;
  file.require_shape("mode", contacts);
  const std::vector<std::int64_t> modes = file.integers("mode");
  for (std::size_t i = 0; i < modes.size(); ++i) {
    if (modes[i] == 0) continue;
    const std::string where = " (problem " + std::to_string(i / contacts[1]) + ", contact " +
                              std::to_string(i % contacts[1]) + ", counted from 0)";
    if (modes[i] == 1) {
      file.refuse("mode", "sliding contacts (1) are not supported yet" + where,
                  "Keep the problems whose contacts all roll (0), or leave `mode` out.");
    }
    file.refuse("mode",
                "expected 0 (rolling) or 1 (sliding), found " + std::to_string(modes[i]) + where);
  }
}

contact::Problems read_own(const Hdf5Reader& file) {
  const Shape shape = read_matrix_shape(file);
  const std::uint64_t contacts = shape[1] / 3;
  file.require_shape("b", {shape[0], shape[1]});
  file.require_shape("mu", {shape[0], contacts});
  require_rolling(file, {shape[0], contacts});
  contact::Problems problems;
  problems.contacts = static_cast<int>(contacts);
  problems.count = static_cast<std::int64_t>(shape[0]);
  problems.A = file.doubles("A");
  problems.b = file.doubles("b");
  problems.mu = file.doubles("mu");
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
  file.require_shape("iterations", {shape[0]});
  for (const std::int64_t i : file.integers("iterations"))
    out.iterations.push_back(static_cast<std::int32_t>(i));
  out.status = read_status(file, shape[0]);
  return out;
}

}  // namespace garra::io
