// Problem and solution files: what is written comes back, and every bad file is refused in words
// that help.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <thread>
#include <utility>

#include "contact/files/problem_stream.hpp"
#include "garra/core/error.hpp"
#include "garra/io/problem_file.hpp"
#include "reference.hpp"

namespace garra {
namespace {

namespace fs = std::filesystem;
using contact::Problems;
using contact::Solutions;
using Dims = std::vector<hsize_t>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A folder of its own for every test.
class ProblemFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("garra_io_" + std::to_string(::getpid()) + "_" + info->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::size_t files_in_folder() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }

  fs::path folder_;
};

/// Writes HDF5 by the C API alone, so that a mistake in our own writer cannot hide one in the
/// reader.
class RawFile {
 public:
  explicit RawFile(const std::string& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)), links_(H5Pcreate(H5P_LINK_CREATE)) {
    H5Pset_create_intermediate_group(links_, 1);
  }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;
  ~RawFile() {
    H5Pclose(links_);
    H5Fclose(file_);
  }

  RawFile& add(const std::string& name, const Dims& dims, const std::vector<double>& values) {
    return add_typed(name, dims, H5T_NATIVE_DOUBLE, values.data());
  }
  RawFile& add_ints(const std::string& name, const Dims& dims, const std::vector<int>& values) {
    return add_typed(name, dims, H5T_NATIVE_INT, values.data());
  }
  RawFile& add_floats(const std::string& name, const Dims& dims, const std::vector<float>& values) {
    return add_typed(name, dims, H5T_NATIVE_FLOAT, values.data());
  }
  RawFile& add_with_checksum(const std::string& name, const Dims& dims, const std::vector<double>& values) {
    const hid_t options = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(options, static_cast<int>(dims.size()), dims.data());
    H5Pset_fletcher32(options);
    const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
    const hid_t set = H5Dcreate2(file_, name.c_str(), H5T_NATIVE_DOUBLE, space, links_, options, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    for (const hid_t id : {set, space, options}) H5Idec_ref(id);
    return *this;
  }
  RawFile& add_text(const std::string& name, const std::string& text) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, text.size());
    add_typed(name, {1}, type, text.data());
    H5Tclose(type);
    return *this;
  }
  RawFile& add_group(const std::string& name) {
    H5Gclose(H5Gcreate2(file_, name.c_str(), links_, H5P_DEFAULT, H5P_DEFAULT));
    return *this;
  }

 private:
  RawFile& add_typed(const std::string& name, const Dims& dims, hid_t type, const void* values) {
    const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
    const hid_t set = H5Dcreate2(file_, name.c_str(), type, space, links_, H5P_DEFAULT, H5P_DEFAULT);
    if (H5Sget_simple_extent_npoints(space) > 0) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set);
    H5Sclose(space);
    return *this;
  }

  hid_t file_, links_;
};

std::vector<double> numbers(std::size_t count) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = std::sin(static_cast<double>(i) + 1.0);
  return out;
}

Problems some_problems(std::int64_t count, int contacts) {
  const auto n = static_cast<std::size_t>(count);
  const auto k = static_cast<std::size_t>(contacts);
  return {
      .contacts = contacts, .count = count, .A = numbers(n * 9 * k * k), .b = numbers(n * 3 * k), .mu = numbers(n * k)};
}

/// Every second contact slides.
Problems with_sliding(Problems p) {
  p.mode.resize(p.mu.size());
  for (std::size_t j = 0; j < p.mode.size(); j += 2) p.mode[j] = 1;
  p.slip_velocity = numbers(2 * p.mu.size());
  return p;
}

Solutions some_solutions(std::int64_t count, int contacts) {
  const auto n = static_cast<std::size_t>(count);
  const auto k = static_cast<std::size_t>(contacts);
  Solutions s{.contacts = contacts,
              .count = count,
              .c = numbers(n * 3 * k),
              .a = numbers(n * 3 * k),
              .residual = numbers(n),
              .contact_residual = numbers(n),
              .merit = numbers(n),
              .minimum = std::vector<double>(n, kNan),
              .projected_gradient = std::vector<double>(n, kNan),
              .iterations = std::vector<std::int32_t>(n, 7),
              .evaluations = std::vector<std::int32_t>(n, -1),
              .inner = std::vector<std::int32_t>(n, -1),
              .products = std::vector<std::int32_t>(n, -1),
              .stage = std::vector<std::int32_t>(n, 0),
              .stalls = std::vector<std::int32_t>(n, 0),
              .status = std::vector<Status>(n, Status::kConverged)};
  for (std::size_t i = 0; i < n; ++i) s.status[i] = static_cast<Status>(i % kStatusCount);
  return s;
}

/// As a method that minimizes leaves them, one of them with counted solutions.
Solutions some_minimized(std::int64_t count, int contacts) {
  Solutions s = some_solutions(count, contacts);
  const auto n = static_cast<std::size_t>(count);
  s.minimum = numbers(n);
  s.projected_gradient = numbers(n + 1);
  s.projected_gradient.pop_back();
  std::int32_t next = 0;
  for (auto* v : {&s.evaluations, &s.inner, &s.products, &s.stage, &s.stalls})
    for (std::int32_t& value : *v) value = ++next;
  s.evaluations[0] = -1;
  s.solutions = std::vector<std::uint8_t>(n, 255);
  return s;
}

std::vector<std::string> datasets(const std::string& path) {
  std::vector<std::string> names;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* to) {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return herr_t{0};
  };
  H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names);
  H5Fclose(file);
  return names;
}

std::vector<double> read_doubles(const std::string& path, const char* name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
  return values;
}

const io::SolutionAttributes kAttributes{.method = "auto", .tolerance = 1e-8, .device = "test", .version = "0"};

/// Runs `action`, which must throw an Error with this code whose text holds all of these pieces.
void expect_error(ExitCode code, const std::vector<std::string>& pieces, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.code(), code) << text;
    for (const std::string& piece : pieces) EXPECT_NE(text.find(piece), std::string::npos) << piece << " in: " << text;
    EXPECT_NE(text.find("\n  "), std::string::npos) << "no remedy in: " << text;
  }
}
void expect_refused(const std::string& path, const std::vector<std::string>& pieces,
                    ExitCode code = ExitCode::kInvalidFile) {
  std::vector<std::string> all = pieces;
  all.push_back(path);
  expect_error(code, all, [&] { (void)io::read_problems(path); });
}

// --- round trips

TEST_F(ProblemFile, ProblemsComeBackToTheBit) {
  for (const int contacts : {1, 3, 8}) {
    const Problems written = some_problems(5, contacts);
    io::write_problems(path("p.h5"), written);
    const Problems read = io::read_problems(path("p.h5"));
    EXPECT_EQ(read.contacts, contacts);
    EXPECT_EQ(read.count, 5);
    EXPECT_EQ(read.A, written.A);
    EXPECT_EQ(read.b, written.b);
    EXPECT_EQ(read.mu, written.mu);
  }
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(ProblemFile, SolutionsComeBackToTheBit) {
  const Solutions written = some_solutions(7, 3);
  io::write_solutions(path("s.h5"), some_problems(7, 3), written, kAttributes);
  const Solutions read = io::read_solutions(path("s.h5"));
  EXPECT_EQ(read.contacts, 3);
  EXPECT_EQ(read.count, 7);
  EXPECT_EQ(read.c, written.c);
  EXPECT_EQ(read.a, written.a);
  EXPECT_EQ(read.residual, written.residual);
  EXPECT_EQ(read.contact_residual, written.contact_residual);
  EXPECT_EQ(read.merit, written.merit);
  EXPECT_EQ(read.iterations, written.iterations);
  EXPECT_EQ(read.status, written.status);
}

TEST_F(ProblemFile, SlidingContactsComeBackToTheBit) {
  for (const int contacts : {1, 3, 8}) {
    const Problems written = with_sliding(some_problems(5, contacts));
    io::write_problems(path("p.h5"), written);
    const Problems read = io::read_problems(path("p.h5"));
    EXPECT_EQ(read.mode, written.mode);
    EXPECT_EQ(read.slip_velocity, written.slip_velocity);
    EXPECT_EQ(read.A, written.A);
  }
}

TEST_F(ProblemFile, ModeAndSlipVelocityAreWrittenOnlyWherePresent) {
  io::write_problems(path("rolling.h5"), some_problems(2, 3));
  EXPECT_EQ(datasets(path("rolling.h5")), (std::vector<std::string>{"A", "b", "mu"}));
  EXPECT_TRUE(io::read_problems(path("rolling.h5")).mode.empty());
  io::write_problems(path("sliding.h5"), with_sliding(some_problems(2, 3)));
  EXPECT_EQ(datasets(path("sliding.h5")), (std::vector<std::string>{"A", "b", "mode", "mu", "slip_velocity"}));
}

TEST_F(ProblemFile, WhatAMethodDoesNotHaveIsLeftOutAndComesBackAsUnknown) {
  io::write_solutions(path("s.h5"), some_problems(4, 2), some_solutions(4, 2), kAttributes);
  EXPECT_EQ(datasets(path("s.h5")), (std::vector<std::string>{"a", "c", "contact_residual", "iterations", "lambda",
                                                              "merit", "residual", "s", "stage", "stalls", "status"}));
  const Solutions read = io::read_solutions(path("s.h5"));
  EXPECT_EQ(read.evaluations, std::vector<std::int32_t>(4, -1));
  EXPECT_EQ(read.inner, std::vector<std::int32_t>(4, -1));
  EXPECT_EQ(read.products, std::vector<std::int32_t>(4, -1));
  EXPECT_EQ(read.stage, std::vector<std::int32_t>(4, 0));
  EXPECT_TRUE(read.solutions.empty());
  ASSERT_EQ(read.minimum.size(), 4u);
  ASSERT_EQ(read.projected_gradient.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(std::isnan(read.minimum[i]));
    EXPECT_TRUE(std::isnan(read.projected_gradient[i]));
  }
}

TEST_F(ProblemFile, CountersOfAMinimizerComeBackToTheBit) {
  const Solutions written = some_minimized(7, 3);
  io::write_solutions(path("s.h5"), some_problems(7, 3), written, kAttributes);
  const Solutions read = io::read_solutions(path("s.h5"));
  EXPECT_EQ(read.minimum, written.minimum);
  EXPECT_EQ(read.projected_gradient, written.projected_gradient);
  EXPECT_EQ(read.evaluations, written.evaluations);
  EXPECT_EQ(read.inner, written.inner);
  EXPECT_EQ(read.products, written.products);
  EXPECT_EQ(read.stage, written.stage);
  EXPECT_EQ(read.stalls, written.stalls);
  EXPECT_EQ(read.solutions, written.solutions);
}

TEST_F(ProblemFile, ASolutionFileWithADamagedCounterIsRefused) {
  io::write_solutions(path("s.h5"), some_problems(2, 1), some_solutions(2, 1), kAttributes);
  const hid_t file = H5Fopen(path("s.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "stage", H5P_DEFAULT);
  const hsize_t dims[] = {2};
  const hid_t space = H5Screate_simple(1, dims, nullptr);
  const hid_t set = H5Dcreate2(file, "stage", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const std::int64_t too_large[] = {0, std::int64_t{1} << 40};
  H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, too_large);
  H5Dclose(set);
  H5Sclose(space);
  H5Fclose(file);
  expect_error(ExitCode::kInvalidFile, {path("s.h5"), "dataset stage", "out of range"},
               [&] { (void)io::read_solutions(path("s.h5")); });
}

TEST_F(ProblemFile, ASolutionFileWithAStateThatDoesNotExistIsRefused) {
  Solutions written = some_solutions(1, 1);
  written.state = {static_cast<contact::ContactState>(3)};
  written.friction_margin = written.required_friction = {0};
  io::write_solutions(path("s.h5"), some_problems(1, 1), written, kAttributes);
  expect_error(ExitCode::kInvalidFile, {path("s.h5"), "state", "unknown state 3"},
               [&] { (void)io::read_solutions(path("s.h5")); });
}

TEST_F(ProblemFile, StatesComeBackToTheBit) {
  Solutions written = some_solutions(3, 2);
  using enum contact::ContactState;
  written.state = {kStick, kSlip, kOpen, kStick, kUnknown, kUnknown};
  written.friction_margin = {0.25, -std::numeric_limits<double>::infinity(), 0.5};
  written.required_friction = {0.1, std::numeric_limits<double>::infinity(), 0.2};
  io::write_solutions(path("s.h5"), some_problems(3, 2), written, kAttributes);
  const Solutions read = io::read_solutions(path("s.h5"));
  EXPECT_EQ(read.state, written.state);
  EXPECT_EQ(read.friction_margin, written.friction_margin);
  EXPECT_EQ(read.required_friction, written.required_friction);
}

/// Rows [first, first + count) of an array with `each` numbers per problem.
template <class T>
std::vector<T> count_rows(const std::vector<T>& all, std::size_t first, std::size_t count, std::size_t each) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * each);
  return {begin, begin + static_cast<std::ptrdiff_t>(count * each)};
}

TEST_F(ProblemFile, PiecesOfEveryStorageAreThoseOfTheWhole) {
  const Problems p = some_problems(10, 1);
  io::write_problems(path("plain.h5"), p);
  RawFile(path("chunked.h5")).add_with_checksum("A", {10, 3, 3}, p.A).add("b", {10, 3}, p.b).add("mu", {10, 1}, p.mu);
  std::vector<float> single(p.b.begin(), p.b.end());
  RawFile(path("single.h5")).add("A", {10, 3, 3}, p.A).add_floats("b", {10, 3}, single).add("mu", {10, 1}, p.mu);
  for (const char* name : {"plain.h5", "chunked.h5", "single.h5"}) {
    const Problems whole = io::read_problems(path(name));
    const io::ProblemStream file(path(name));
    Problems piece;
    for (const auto& [first, count] : {std::pair<std::size_t, std::size_t>{0, 4}, {4, 5}, {9, 1}, {2, 3}}) {
      file.read(static_cast<std::int64_t>(first), static_cast<std::int64_t>(count), piece);
      EXPECT_EQ(piece.A, count_rows(whole.A, first, count, 9)) << name;
      EXPECT_EQ(piece.b, count_rows(whole.b, first, count, 3)) << name;
      EXPECT_EQ(piece.mu, count_rows(whole.mu, first, count, 1)) << name;
    }
  }
}

TEST_F(ProblemFile, PiecesInAnyOrderMakeTheWholeFile) {
  const Problems p = some_problems(5, 2);
  const Solutions s = some_minimized(5, 2);
  io::SolutionStream file(path("s.h5"), {2, 5, {}, true});
  for (const auto& [first, count] : {std::pair<std::size_t, std::size_t>{3, 2}, {0, 3}}) {
    Problems q = some_problems(static_cast<std::int64_t>(count), 2);
    q.mu = count_rows(p.mu, first, count, 2);
    Solutions part = some_solutions(static_cast<std::int64_t>(count), 2);
    part.c = count_rows(s.c, first, count, 6);
    part.a = count_rows(s.a, first, count, 6);
    for (auto member : {&Solutions::merit, &Solutions::residual, &Solutions::contact_residual, &Solutions::minimum})
      part.*member = count_rows(s.*member, first, count, 1);
    for (auto member : {&Solutions::iterations, &Solutions::stage, &Solutions::stalls})
      part.*member = count_rows(s.*member, first, count, 1);
    if (first == 0) part.evaluations = count_rows(s.evaluations, first, count, 1);  // the piece written last has some
    part.status = count_rows(s.status, first, count, 1);
    part.solutions = count_rows(s.solutions, first, count, 1);
    file.write(static_cast<std::int64_t>(first), q, part);
  }
  EXPECT_FALSE(fs::exists(path("s.h5")));
  file.commit(kAttributes);
  io::write_solutions(path("whole.h5"), p, s, kAttributes);
  for (const char* name : {"c", "a", "s", "lambda", "merit", "residual", "contact_residual", "minimum"})
    EXPECT_EQ(read_doubles(path("s.h5"), name), read_doubles(path("whole.h5"), name)) << name;
  const Solutions read = io::read_solutions(path("s.h5"));
  EXPECT_EQ(read.status, s.status);
  EXPECT_EQ(read.iterations, s.iterations);
  EXPECT_EQ(read.solutions, s.solutions);
  EXPECT_EQ(read.evaluations, (std::vector<std::int32_t>{-1, s.evaluations[1], s.evaluations[2], -1, -1}));
  EXPECT_EQ(read.inner, std::vector<std::int32_t>(5, -1));
}

TEST_F(ProblemFile, AStreamThatIsNotCommittedLeavesNothing) {
  { io::SolutionStream(path("s.h5"), {2, 5}).write(0, some_problems(5, 2), some_solutions(5, 2)); }
  EXPECT_EQ(files_in_folder(), 0u);
}

TEST_F(ProblemFile, AStreamHoldsOnlyWhatWasAskedFor) {
  io::SolutionStream file(path("s.h5"), {2, 5, {"c", "residual"}});
  file.write(0, some_problems(5, 2), some_solutions(5, 2));
  file.commit(kAttributes);
  EXPECT_EQ(datasets(path("s.h5")), (std::vector<std::string>{"c", "residual", "status"}));
}

TEST_F(ProblemFile, AStreamIntoAPipeIsTheFile) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string bytes;
  std::thread reader([&] {
    std::ifstream in(pipe, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  });
  io::write_solutions(pipe, some_problems(3, 2), some_solutions(3, 2), kAttributes);
  reader.join();
  io::write_solutions(path("s.h5"), some_problems(3, 2), some_solutions(3, 2), kAttributes);
  std::ifstream in(path("s.h5"), std::ios::binary);
  EXPECT_EQ(bytes, std::string(std::istreambuf_iterator<char>(in), {}));
}

TEST_F(ProblemFile, ZeroProblemsAreAFileLikeAnyOther) {
  io::write_problems(path("p.h5"), some_problems(0, 3));
  const Problems read = io::read_problems(path("p.h5"));
  EXPECT_EQ(read.count, 0);
  EXPECT_EQ(read.contacts, 3);
  EXPECT_TRUE(read.A.empty());
  io::write_solutions(path("s.h5"), read, some_solutions(0, 3), kAttributes);
  EXPECT_EQ(io::read_solutions(path("s.h5")).count, 0);
}

TEST_F(ProblemFile, ReferenceProblemsAreReadAsTheyAre) {
  const Problems read = io::read_problems(test::reference_path("contact/random_n4.h5"));
  EXPECT_EQ(read.contacts, 4);
  EXPECT_EQ(read.count, 300);
  EXPECT_EQ(read.A, test::read_reference("contact/random_n4.h5", "A").values);
  EXPECT_EQ(read.mu, test::read_reference("contact/random_n4.h5", "mu").values);
}

TEST_F(ProblemFile, NanAndInfinityAreTheSolversBusiness) {
  Problems written = some_problems(2, 1);
  written.A[3] = kNan;
  written.b[1] = std::numeric_limits<double>::infinity();
  io::write_problems(path("p.h5"), written);
  const Problems read = io::read_problems(path("p.h5"));
  EXPECT_TRUE(std::isnan(read.A[3]));
  EXPECT_TRUE(std::isinf(read.b[1]));
}

TEST_F(ProblemFile, SinglePrecisionAndWholeNumbersAreConverted) {
  RawFile(path("p.h5"))
      .add_floats("A", {1, 3, 3}, {2.5f, 0, 0, 0, 1, 0, 0, 0, 1})
      .add_ints("b", {1, 3}, {-4, 1, 2})
      .add("mu", {1, 1}, {0.5})
      .add_ints("mode", {1, 1}, {0});
  const Problems read = io::read_problems(path("p.h5"));
  EXPECT_EQ(read.A, (std::vector<double>{2.5, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(read.b, (std::vector<double>{-4, 1, 2}));
}

TEST_F(ProblemFile, ASolutionFileCarriesConeDistanceAndSlipRate) {
  Problems problems = some_problems(1, 1);
  problems.mu = {0.5};
  Solutions s = some_solutions(1, 1);
  s.c = {4, 1, 0.5};
  s.a = {0, 3, -4};
  io::write_solutions(path("s.h5"), problems, s, kAttributes);
  const hid_t file = H5Fopen(path("s.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  EXPECT_GT(H5Aexists_by_name(file, "status", "names", H5P_DEFAULT), 0);
  for (const char* name : {"method", "tolerance", "device", "version"}) EXPECT_GT(H5Aexists(file, name), 0) << name;
  H5Fclose(file);
  EXPECT_DOUBLE_EQ(read_doubles(path("s.h5"), "s")[0], 0.25 * 16 - 1 - 0.25);
  EXPECT_DOUBLE_EQ(read_doubles(path("s.h5"), "lambda")[0], 5.0);
}

TEST_F(ProblemFile, ASlidingContactLiesOnItsConeWhateverItsAcceleration) {
  Problems problems = with_sliding(some_problems(1, 1));
  problems.mu = {0.5};
  Solutions s = some_solutions(1, 1);
  s.c = {4, 1.2, -1.6};  // mu c_n = 2 = |c_T|
  s.a = {0, -6, 8};
  io::write_solutions(path("s.h5"), problems, s, kAttributes);
  EXPECT_NEAR(read_doubles(path("s.h5"), "s")[0], 0.0, 1e-15);
  EXPECT_DOUBLE_EQ(read_doubles(path("s.h5"), "lambda")[0], 10.0);
}

TEST_F(ProblemFile, TheSameSolutionsGiveTheSameBytes) {
  const auto bytes = [this](const std::string& name) {
    io::write_solutions(path(name), some_problems(3, 2), some_solutions(3, 2), kAttributes);
    std::ifstream in(path(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(bytes("one.h5"), bytes("two.h5"));
}

// --- files that are no problem files

TEST_F(ProblemFile, AMissingFileIsNamed) {
  expect_refused(path("none.h5"), {"No such file"}, ExitCode::kInputOutput);
  expect_refused(folder_.string(), {"folder"}, ExitCode::kInputOutput);
}

TEST_F(ProblemFile, OtherFormatsAreNotHdf5) {
  std::ofstream(path("text.h5")) << "n,t,o\n1,2,3\n";
  std::ofstream(path("empty.h5")).flush();
  expect_refused(path("text.h5"), {"not an HDF5 file", "A [n,3k,3k]"});
  expect_refused(path("empty.h5"), {"not an HDF5 file"});
}

TEST_F(ProblemFile, ATruncatedFileIsDamaged) {
  io::write_problems(path("p.h5"), some_problems(20, 3));
  const std::uintmax_t whole = fs::file_size(path("p.h5"));
  for (const std::uintmax_t size : {std::uintmax_t{100}, whole / 2, whole - 1}) {
    fs::resize_file(path("p.h5"), size);
    expect_refused(path("p.h5"), {"damaged or truncated"}, ExitCode::kInputOutput);
  }
}

TEST_F(ProblemFile, DamagedDataWithAChecksumAreNoticed) {
  RawFile(path("p.h5"))
      .add_with_checksum("A", {1, 3, 3}, numbers(9))
      .add("b", {1, 3}, numbers(3))
      .add("mu", {1, 1}, {1});
  EXPECT_EQ(io::read_problems(path("p.h5")).A, numbers(9));
  std::ifstream in(path("p.h5"), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  const double value = numbers(9)[4];
  const std::size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&value), sizeof value));
  ASSERT_NE(at, std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  std::ofstream(path("p.h5"), std::ios::binary) << bytes;
  expect_refused(path("p.h5"), {"dataset A", "data are damaged"}, ExitCode::kInputOutput);
}

TEST_F(ProblemFile, EveryMissingDatasetIsNamed) {
  const std::vector<std::pair<std::string, Dims>> all = {{"A", {2, 3, 3}}, {"b", {2, 3}}, {"mu", {2, 1}}};
  for (const auto& [missing, ignored] : all) {
    {
      RawFile file(path("p.h5"));
      for (const auto& [name, dims] : all) {
        if (name != missing) file.add(name, dims, numbers(18));
      }
    }
    expect_refused(path("p.h5"), {"dataset " + missing, "is missing", "A [n,3k,3k]"});
  }
}

TEST_F(ProblemFile, AGroupIsNoDataset) {
  RawFile(path("p.h5")).add_group("A");
  expect_refused(path("p.h5"), {"dataset A", "group"});
}

TEST_F(ProblemFile, WrongShapesSayWhatWasExpectedAndFound) {
  const auto file_with = [this](const Dims& a, const Dims& b, const Dims& mu) {
    RawFile(path("p.h5")).add("A", a, numbers(500)).add("b", b, numbers(50)).add("mu", mu, numbers(50));
  };
  file_with({9, 9}, {9}, {3});
  expect_refused(path("p.h5"), {"dataset A", "[n, 3k, 3k]", "[9, 9]"});
  file_with({2, 9, 6}, {2, 9}, {2, 3});
  expect_refused(path("p.h5"), {"dataset A", "[2, 9, 6]"});
  file_with({2, 4, 4}, {2, 4}, {2, 1});
  expect_refused(path("p.h5"), {"dataset A", "[2, 4, 4]"});
  file_with({2, 9, 9}, {3, 9}, {2, 3});
  expect_refused(path("p.h5"), {"dataset b", "expected shape [2, 9]", "found [3, 9]"});
  file_with({2, 9, 9}, {2, 9}, {2});
  expect_refused(path("p.h5"), {"dataset mu", "expected shape [2, 3]", "found [2]"});
  file_with({2, 0, 0}, {2, 0}, {2, 0});
  expect_refused(path("p.h5"), {"dataset A", "0 contacts"});
}

TEST_F(ProblemFile, TooManyContactsStateTheLimit) {
  RawFile(path("p.h5"))
      .add("A", {1, 99, 99}, numbers(99 * 99))
      .add("b", {1, 99}, numbers(99))
      .add("mu", {1, 33}, numbers(33));
  expect_refused(path("p.h5"), {"dataset A", "33 contacts", "1 to 32"});
}

TEST_F(ProblemFile, TextInPlaceOfNumbersIsRefused) {
  RawFile(path("p.h5")).add("A", {1, 3, 3}, numbers(9)).add("b", {1, 3}, numbers(3)).add_text("mu", "0.5");
  expect_refused(path("p.h5"), {"dataset mu", "expected shape [1, 1]", "found [1]"});
  RawFile(path("q.h5")).add_text("A", "x").add("b", {1, 3}, numbers(3));
  expect_refused(path("q.h5"), {"dataset A"});
  const hid_t file = H5Fopen(path("p.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "mu", H5P_DEFAULT);
  const hsize_t dims[] = {1, 1};
  const hid_t space = H5Screate_simple(2, dims, nullptr);
  H5Dclose(H5Dcreate2(file, "mu", H5T_C_S1, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
  H5Fclose(file);
  expect_refused(path("p.h5"), {"dataset mu", "expected numbers", "strings"});
}

/// Two problems of two contacts with these modes, and slip velocities unless empty.
void write_modes(const std::string& path, const std::vector<int>& modes, const std::vector<double>& velocity) {
  RawFile file(path);
  file.add("A", {2, 6, 6}, numbers(72)).add("b", {2, 6}, numbers(12)).add("mu", {2, 2}, numbers(4));
  if (!modes.empty()) file.add_ints("mode", {2, 2}, modes);
  if (!velocity.empty()) file.add("slip_velocity", {2, 2, velocity.size() / 4}, velocity);
}

TEST_F(ProblemFile, AModeIsZeroOrOne) {
  for (const int mode : {2, -1, 257}) {
    write_modes(path("p.h5"), {0, mode, 0, 0}, numbers(8));
    expect_refused(path("p.h5"), {"dataset mode", "found " + std::to_string(mode), "problem 0, contact 1"});
  }
}

TEST_F(ProblemFile, ASlidingContactNeedsItsVelocity) {
  write_modes(path("p.h5"), {0, 0, 0, 1}, {});
  expect_refused(path("p.h5"), {"dataset slip_velocity", "is missing", "problem 1, contact 1", "[n,k,2]"});
  write_modes(path("p.h5"), {0, 0, 1, 0}, {1, 1, 1, 1, 0, 0, 1, 1});
  expect_refused(path("p.h5"), {"dataset slip_velocity", "is zero", "problem 1, contact 0"});
  write_modes(path("p.h5"), {0, 0, 1, 0}, numbers(12));
  expect_refused(path("p.h5"), {"dataset slip_velocity", "expected shape [2, 2, 2]", "found [2, 2, 3]"});
  write_modes(path("p.h5"), {}, numbers(8));
  expect_refused(path("p.h5"), {"dataset slip_velocity", "mode is missing"});
}

TEST_F(ProblemFile, VelocitiesAreOnlyAskedForWhereContactsSlide) {
  write_modes(path("p.h5"), {0, 1, 0, 0}, {0, 0, 0, -3, kNan, 0, 0, 0});
  const Problems read = io::read_problems(path("p.h5"));
  EXPECT_EQ(read.mode, (std::vector<std::uint8_t>{0, 1, 0, 0}));
  EXPECT_EQ(read.slip_velocity[3], -3.0);
  write_modes(path("p.h5"), {0, 0, 0, 0}, {});
  EXPECT_TRUE(io::read_problems(path("p.h5")).mode.empty()) << "all may roll, like a file without mode";
}

TEST_F(ProblemFile, ASlipVelocityThatIsNotANumberIsTheSolversBusiness) {
  write_modes(path("p.h5"), {1, 0, 0, 0}, {kNan, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_TRUE(std::isnan(io::read_problems(path("p.h5")).slip_velocity[0]));
}

TEST_F(ProblemFile, ModesOfEveryIntegerWidthAreRead) {
  const auto read_as = [this](hid_t type) {
    write_modes(path("p.h5"), {}, {});
    const hid_t file = H5Fopen(path("p.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const auto add = [&](const char* name, const Dims& dims, hid_t stored, hid_t memory, const void* values) {
      const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
      const hid_t set = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
      H5Dclose(set);
      H5Sclose(space);
    };
    const signed char modes[] = {0, 1, 1, 0};
    const bool is_enumeration = H5Tget_class(type) == H5T_ENUM;
    add("mode", {2, 2}, type, is_enumeration ? type : H5T_NATIVE_SCHAR, modes);
    add("slip_velocity", {2, 2, 2}, H5T_IEEE_F32BE, H5T_NATIVE_DOUBLE, numbers(8).data());
    H5Fclose(file);
    return io::read_problems(path("p.h5")).mode;
  };
  const std::vector<std::uint8_t> expected = {0, 1, 1, 0};
  for (const hid_t type : {H5T_STD_I8LE, H5T_STD_U8LE, H5T_STD_I16BE, H5T_STD_U32LE, H5T_STD_I64LE, H5T_STD_U64BE})
    EXPECT_EQ(read_as(type), expected);
  // NumPy's truth values, as h5py writes them.
  const hid_t truth = H5Tenum_create(H5T_NATIVE_SCHAR);
  const signed char values[] = {0, 1};
  H5Tenum_insert(truth, "FALSE", &values[0]);
  H5Tenum_insert(truth, "TRUE", &values[1]);
  EXPECT_EQ(read_as(truth), expected);
  H5Tclose(truth);
}

TEST_F(ProblemFile, AModeOfTheWrongShapeOrTypeIsRefused) {
  const auto base = [this](const std::string& name) {
    RawFile(path(name)).add("A", {1, 3, 3}, numbers(9)).add("b", {1, 3}, numbers(3)).add("mu", {1, 1}, numbers(1));
    return H5Fopen(path(name).c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  };
  const auto add_mode = [](hid_t file, const Dims& dims, hid_t type) {
    const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
    H5Dclose(H5Dcreate2(file, "mode", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Fclose(file);
  };
  add_mode(base("shape.h5"), {1}, H5T_NATIVE_INT);
  expect_refused(path("shape.h5"), {"dataset mode", "expected shape [1, 1]", "found [1]"});
  add_mode(base("type.h5"), {1, 1}, H5T_NATIVE_DOUBLE);
  expect_refused(path("type.h5"), {"dataset mode", "expected whole numbers", "floating-point"});
}

// --- FCLIB

/// An unsymmetric 3 x 3 matrix with two zeros, in every sparse form.
const std::vector<double> kDense = {4, 1, 0, 2, 5, 0, 0.5, 0, 6};

struct Sparse {
  int nz = 0;
  int nzmax = 7;
  std::vector<int> p, i;
  std::vector<double> x;
};
const Sparse kCsr{.nz = -2, .p = {0, 2, 4, 6}, .i = {0, 1, 0, 1, 0, 2}, .x = {4, 1, 2, 5, 0.5, 6}};
const Sparse kCsc{.nz = -1, .p = {0, 3, 5, 6}, .i = {0, 1, 2, 0, 1, 2}, .x = {4, 2, 0.5, 1, 5, 6}};
const Sparse kTriplet{.nz = 6, .p = {0, 1, 0, 1, 0, 2}, .i = {0, 0, 1, 1, 2, 2}, .x = {4, 1, 2, 5, 0.5, 6}};
const std::vector<double> kQ = {-1, 0.5, 0.25};

Sparse swapped(Sparse w) {
  std::swap(w.p, w.i);
  return w;
}

/// `stored` adds a /solution with u = kDense r + q.
void write_fclib(const std::string& path, const Sparse& w, bool stored = false, int spacedim = 3) {
  RawFile file(path);
  const std::string g = "fclib_local/W/";
  file.add_ints("fclib_local/spacedim", {1}, {spacedim})
      .add_ints(g + "m", {1}, {3})
      .add_ints(g + "n", {1}, {3})
      .add_ints(g + "nzmax", {1}, {w.nzmax})
      .add_ints(g + "nz", {1}, {w.nz})
      .add_ints(g + "p", {w.p.size()}, w.p)
      .add_ints(g + "i", {w.i.size()}, w.i)
      .add(g + "x", {w.x.size()}, w.x)
      .add("fclib_local/vectors/q", {3}, kQ)
      .add("fclib_local/vectors/mu", {1}, {0.7});
  if (!stored) return;
  const std::vector<double> r = {1, -2, 3};
  std::vector<double> u = kQ;
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) u[row] += kDense[3 * row + column] * r[column];
  }
  file.add("solution/r", {3}, r).add("solution/u", {3}, u);
}

TEST_F(ProblemFile, FclibIsReadInEverySparseForm) {
  for (const Sparse& w : {kCsr, kCsc, kTriplet}) {
    write_fclib(path("f.hdf5"), w);
    const Problems read = io::read_problems(path("f.hdf5"));
    EXPECT_EQ(read.count, 1);
    EXPECT_EQ(read.contacts, 1);
    EXPECT_EQ(read.A, kDense) << "nz " << w.nz;
    EXPECT_EQ(read.b, kQ);
    EXPECT_EQ(read.mu, std::vector<double>{0.7});
  }
}

TEST_F(ProblemFile, FclibTripletsFollowTheStoredSolution) {
  write_fclib(path("siconos.hdf5"), kTriplet, true);
  EXPECT_EQ(io::read_problems(path("siconos.hdf5")).A, kDense);
  write_fclib(path("header.hdf5"), swapped(kTriplet), true);
  EXPECT_EQ(io::read_problems(path("header.hdf5")).A, kDense);
}

TEST_F(ProblemFile, FclibTripletsWithoutASolutionHaveTheRowInI) {
  write_fclib(path("f.hdf5"), swapped(kTriplet));
  EXPECT_EQ(io::read_problems(path("f.hdf5")).A, (std::vector<double>{4, 2, 0.5, 1, 5, 0, 0, 0, 6}));
}

TEST_F(ProblemFile, FclibTripletsAtTheSamePlaceAddUp) {
  Sparse w = kTriplet;
  w.nz = 7;
  w.p.push_back(2);
  w.i.push_back(2);
  w.x.push_back(10);
  write_fclib(path("f.hdf5"), w);
  EXPECT_EQ(io::read_problems(path("f.hdf5")).A[8], 16.0);
}

TEST_F(ProblemFile, FclibArraysMayBeLongerThanWhatIsInUse) {
  for (Sparse w : {kCsr, kCsc, kTriplet}) {
    w.nzmax = 100;
    w.i.push_back(-99);
    w.x.push_back(1e300);
    write_fclib(path("f.hdf5"), w);
    EXPECT_EQ(io::read_problems(path("f.hdf5")).A, kDense) << "nz " << w.nz;
  }
}

TEST_F(ProblemFile, FclibOfOtherKindsIsRefused) {
  write_fclib(path("plane.hdf5"), kCsr, false, 2);
  expect_refused(path("plane.hdf5"), {"fclib_local/spacedim", "expected 3", "found 2"});
  RawFile(path("global.hdf5")).add_ints("fclib_global/spacedim", {1}, {3});
  expect_refused(path("global.hdf5"), {"fclib_global", "only local"});
  RawFile(path("bilateral.hdf5")).add_ints("fclib_local/spacedim", {1}, {3}).add_group("fclib_local/V");
  expect_refused(path("bilateral.hdf5"), {"fclib_local/V", "equality constraints"});
  RawFile(path("large.hdf5"))
      .add_ints("fclib_local/spacedim", {1}, {3})
      .add_ints("fclib_local/W/m", {1}, {99})
      .add_ints("fclib_local/W/n", {1}, {99});
  expect_refused(path("large.hdf5"), {"fclib_local/W", "33 contacts", "1 to 32"});
}

TEST_F(ProblemFile, FclibMatricesThatContradictThemselvesAreRefused) {
  const auto refuse = [this](Sparse w, const std::function<void(Sparse&)>& spoil, const std::string& dataset) {
    spoil(w);
    write_fclib(path("f.hdf5"), w);
    expect_refused(path("f.hdf5"), {dataset});
  };
  refuse(
      kCsr, [](Sparse& w) { w.nz = -3; }, "W/nz");
  refuse(
      kCsr, [](Sparse& w) { w.p.pop_back(); }, "W/p");
  refuse(
      kCsr, [](Sparse& w) { w.p[0] = 1; }, "W/p");
  refuse(
      kCsr, [](Sparse& w) { w.p[1] = 5; }, "W/p");
  refuse(
      kCsc, [](Sparse& w) { w.p[3] = 7; }, "W/x");
  refuse(
      kCsc, [](Sparse& w) { w.i[2] = 3; }, "W/i");
  refuse(
      kTriplet, [](Sparse& w) { w.p[0] = -1; }, "W/i");
  refuse(
      kTriplet, [](Sparse& w) { w.nz = 1000000000; }, "W/x");
  refuse(
      kTriplet, [](Sparse& w) { w.p.clear(); }, "W/x");
}

TEST_F(ProblemFile, FclibVectorsMustFitTheMatrix) {
  write_fclib(path("f.hdf5"), kCsr);
  const hid_t file = H5Fopen(path("f.hdf5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "fclib_local/vectors/mu", H5P_DEFAULT);
  H5Fclose(file);
  expect_refused(path("f.hdf5"), {"fclib_local/vectors/mu", "is missing"});
}

// --- writing

TEST_F(ProblemFile, WritingIntoAMissingFolderSaysSo) {
  const std::string target = path("no/such/folder/p.h5");
  expect_error(ExitCode::kInputOutput, {target, "No such file or directory", "Create the folder"},
               [&] { io::write_problems(target, some_problems(1, 1)); });
  expect_error(ExitCode::kInputOutput, {"Is a directory"},
               [&] { io::write_problems(folder_.string(), some_problems(1, 1)); });
}

TEST_F(ProblemFile, WritingWithoutPermissionSaysSo) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  expect_error(ExitCode::kInputOutput, {"Permission denied", "may write"},
               [&] { io::write_problems(path("p.h5"), some_problems(1, 1)); });
  fs::permissions(folder_, fs::perms::owner_all);
}

TEST_F(ProblemFile, AFullDiskSaysSo) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "this system has no /dev/full";
  expect_error(ExitCode::kInputOutput, {"/dev/full", "No space left", "Free some space"},
               [] { io::write_problems("/dev/full", some_problems(10, 3)); });
}

/// The system refuses to let any file grow beyond this, for as long as the object lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(ProblemFile, AFailedWriteLeavesTheOldFileAndNoOther) {
  io::write_problems(path("p.h5"), some_problems(2, 1));
  {
    const FileSizeLimit limit(4096);
    expect_error(ExitCode::kInputOutput, {path("p.h5"), "File too large"},
                 [&] { io::write_problems(path("p.h5"), some_problems(100, 3)); });
  }
  EXPECT_EQ(io::read_problems(path("p.h5")).count, 2);
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(ProblemFile, ALinkKeepsPointingAtItsFile) {
  io::write_problems(path("file.h5"), some_problems(1, 1));
  fs::create_symlink(path("file.h5"), path("link.h5"));
  io::write_problems(path("link.h5"), some_problems(4, 1));
  EXPECT_TRUE(fs::is_symlink(path("link.h5")));
  EXPECT_EQ(io::read_problems(path("file.h5")).count, 4);
}

TEST_F(ProblemFile, SolutionsOfOtherProblemsAreNotWritten) {
  expect_error(ExitCode::kInternal, {"do not belong"},
               [&] { io::write_solutions(path("s.h5"), some_problems(2, 3), some_solutions(3, 3), kAttributes); });
  EXPECT_EQ(files_in_folder(), 0u);
}

TEST_F(ProblemFile, OurMessagesAreTheOnlyOnes) {
  RawFile(path("p.h5")).add("b", {1, 3}, numbers(3));
  ::testing::internal::CaptureStderr();
  EXPECT_THROW((void)io::read_problems(path("p.h5")), Error);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace garra
