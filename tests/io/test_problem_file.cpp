// Problem and solution files: what is written comes back, and every bad file is refused in words
// that help.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

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
    folder_ =
        fs::temp_directory_path() / ("garra_io_" + std::to_string(::getpid()) + "_" + info->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  [[nodiscard]] std::size_t files_in_folder() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }

  fs::path folder_;
};

/// Writes HDF5 by the C API alone, so that a mistake in our own writer cannot hide one in the
/// reader.
class RawFile {
 public:
  explicit RawFile(const std::string& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)),
        links_(H5Pcreate(H5P_LINK_CREATE)) {
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
  RawFile& add_with_checksum(const std::string& name, const Dims& dims,
                             const std::vector<double>& values) {
    const hid_t options = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(options, static_cast<int>(dims.size()), dims.data());
    H5Pset_fletcher32(options);
    const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
    const hid_t set =
        H5Dcreate2(file_, name.c_str(), H5T_NATIVE_DOUBLE, space, links_, options, H5P_DEFAULT);
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
    const hid_t set =
        H5Dcreate2(file_, name.c_str(), type, space, links_, H5P_DEFAULT, H5P_DEFAULT);
    if (H5Sget_simple_extent_npoints(space) > 0)
      H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
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
  return {.contacts = contacts,
          .count = count,
          .A = numbers(n * 9 * k * k),
          .b = numbers(n * 3 * k),
          .mu = numbers(n * k)};
}

Solutions some_solutions(std::int64_t count, int contacts) {
  const auto n = static_cast<std::size_t>(count);
  const auto k = static_cast<std::size_t>(contacts);
  Solutions s{.contacts = contacts,
              .count = count,
              .c = numbers(n * 3 * k),
              .a = numbers(n * 3 * k),
              .residual = numbers(n),
              .residual_raw = numbers(n),
              .merit = numbers(n),
              .iterations = std::vector<std::int32_t>(n, 7),
              .status = std::vector<Status>(n, Status::kConverged)};
  for (std::size_t i = 0; i < n; ++i) s.status[i] = static_cast<Status>(i % kStatusCount);
  return s;
}

const io::SolutionAttributes kAttributes{
    .method = "auto", .tolerance = 1e-8, .device = "test", .version = "0"};

/// Runs `action`, which must throw an Error with this code whose text holds all of these pieces.
void expect_error(ExitCode code, const std::vector<std::string>& pieces,
                  const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.code(), code) << text;
    for (const std::string& piece : pieces)
      EXPECT_NE(text.find(piece), std::string::npos) << piece << " in: " << text;
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
  EXPECT_EQ(read.residual_raw, written.residual_raw);
  EXPECT_EQ(read.merit, written.merit);
  EXPECT_EQ(read.iterations, written.iterations);
  EXPECT_EQ(read.status, written.status);
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
  double values[2] = {};
  const char* names[] = {"s", "lambda"};
  for (int i = 0; i < 2; ++i) {
    const hid_t set = H5Dopen2(file, names[i], H5P_DEFAULT);
    H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &values[i]);
    H5Dclose(set);
  }
  EXPECT_GT(H5Aexists_by_name(file, "status", "names", H5P_DEFAULT), 0);
  for (const char* name : {"method", "tolerance", "device", "version"})
    EXPECT_GT(H5Aexists(file, name), 0) << name;
  H5Fclose(file);
  EXPECT_DOUBLE_EQ(values[0], 0.25 * 16 - 1 - 0.25);
  EXPECT_DOUBLE_EQ(values[1], 5.0);
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
  const std::size_t at =
      bytes.find(std::string(reinterpret_cast<const char*>(&value), sizeof value));
  ASSERT_NE(at, std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  std::ofstream(path("p.h5"), std::ios::binary) << bytes;
  expect_refused(path("p.h5"), {"dataset A", "data are damaged"}, ExitCode::kInputOutput);
}

TEST_F(ProblemFile, EveryMissingDatasetIsNamed) {
  const std::vector<std::pair<std::string, Dims>> all = {
      {"A", {2, 3, 3}}, {"b", {2, 3}}, {"mu", {2, 1}}};
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
    RawFile(path("p.h5"))
        .add("A", a, numbers(500))
        .add("b", b, numbers(50))
        .add("mu", mu, numbers(50));
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
      .add("A", {1, 27, 27}, numbers(729))
      .add("b", {1, 27}, numbers(27))
      .add("mu", {1, 9}, numbers(9));
  expect_refused(path("p.h5"), {"dataset A", "9 contacts", "1 to 8"});
}

TEST_F(ProblemFile, TextInPlaceOfNumbersIsRefused) {
  RawFile(path("p.h5"))
      .add("A", {1, 3, 3}, numbers(9))
      .add("b", {1, 3}, numbers(3))
      .add_text("mu", "0.5");
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

TEST_F(ProblemFile, SlidingContactsAreRefusedForNow) {
  const auto file_with_modes = [this](const std::vector<int>& modes) {
    RawFile(path("p.h5"))
        .add("A", {2, 6, 6}, numbers(72))
        .add("b", {2, 6}, numbers(12))
        .add("mu", {2, 2}, numbers(4))
        .add_ints("mode", {2, 2}, modes);
  };
  file_with_modes({0, 0, 0, 1});
  expect_refused(path("p.h5"),
                 {"dataset mode", "sliding", "not supported yet", "problem 1, contact 1"});
  file_with_modes({0, 2, 0, 0});
  expect_refused(path("p.h5"), {"dataset mode", "found 2", "problem 0, contact 1"});
  file_with_modes({0, 0, 0, 0});
  EXPECT_EQ(io::read_problems(path("p.h5")).count, 2);
}

TEST_F(ProblemFile, AModeOfTheWrongShapeOrTypeIsRefused) {
  const auto base = [this](const std::string& name) {
    RawFile(path(name))
        .add("A", {1, 3, 3}, numbers(9))
        .add("b", {1, 3}, numbers(3))
        .add("mu", {1, 1}, numbers(1));
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
const Sparse kTriplet{
    .nz = 6, .p = {0, 1, 0, 1, 0, 2}, .i = {0, 0, 1, 1, 2, 2}, .x = {4, 1, 2, 5, 0.5, 6}};
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
    for (std::size_t column = 0; column < 3; ++column)
      u[row] += kDense[3 * row + column] * r[column];
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
  EXPECT_EQ(io::read_problems(path("f.hdf5")).A,
            (std::vector<double>{4, 2, 0.5, 1, 5, 0, 0, 0, 6}));
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
  RawFile(path("bilateral.hdf5"))
      .add_ints("fclib_local/spacedim", {1}, {3})
      .add_group("fclib_local/V");
  expect_refused(path("bilateral.hdf5"), {"fclib_local/V", "equality constraints"});
  RawFile(path("large.hdf5"))
      .add_ints("fclib_local/spacedim", {1}, {3})
      .add_ints("fclib_local/W/m", {1}, {27})
      .add_ints("fclib_local/W/n", {1}, {27});
  expect_refused(path("large.hdf5"), {"fclib_local/W", "9 contacts", "1 to 8"});
}

TEST_F(ProblemFile, FclibMatricesThatContradictThemselvesAreRefused) {
  const auto refuse = [this](Sparse w, const std::function<void(Sparse&)>& spoil,
                             const std::string& dataset) {
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
  expect_error(ExitCode::kInternal, {"do not belong"}, [&] {
    io::write_solutions(path("s.h5"), some_problems(2, 3), some_solutions(3, 3), kAttributes);
  });
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
