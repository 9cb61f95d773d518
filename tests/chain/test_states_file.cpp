// State and result files of chains: what is written comes back, and every bad file is refused in words that help.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/files/hdf5.hpp"
#include "garra/core/error.hpp"
#include "garra/io/chain_file.hpp"

namespace garra::io {
namespace {

namespace fs = std::filesystem;
using chain::States;

class ChainFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("garra_chain_" + std::to_string(::getpid()) + "_" + info->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name = "states.h5") const { return (folder_ / name).string(); }

  fs::path folder_;
};

States some_states() {
  States s;
  s.count = 3;
  s.q = {1, 2, 3, 4, 5, 6};
  s.qd = {6, 5, 4, 3, 2, 1};
  s.tau = {1, 1, 2, 3, 5, 8};
  s.wrench.assign(18, 0.5);
  s.parameters = {{0, chain::Quantity::kMass, chain::Change::kScale, {1, 1.1, 0.9}},
                  {1, chain::Quantity::kComX, chain::Change::kAdd, {0, 0.1, -0.1}}};
  return s;
}

/// The message, and the exit code at its front.
template <class Run>
std::string refusal(const Run& run) {
  try {
    run();
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.code())) + " " + error.what();
  }
  return "nothing was refused";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Writes datasets of doubles by the C API alone.
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
  void write(const std::string& name, const std::vector<hsize_t>& dims) {
    hsize_t count = 1;
    for (const hsize_t d : dims) count *= d;
    const std::vector<double> values(count, 0.25);
    const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
    const hid_t set = H5Dcreate2(file_, name.c_str(), H5T_IEEE_F64LE, space, links_, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(set);
    H5Sclose(space);
  }

 private:
  hid_t file_, links_;
};

TEST_F(ChainFile, StatesComeBackAsTheyWere) {
  const States s = some_states();
  write_states(path(), s);
  const States r = read_states(path(), 2);
  EXPECT_EQ(r.count, 3);
  EXPECT_EQ(r.q, s.q);
  EXPECT_EQ(r.qd, s.qd);
  EXPECT_EQ(r.tau, s.tau);
  EXPECT_EQ(r.wrench, s.wrench);
  EXPECT_TRUE(r.qdd.empty());
  ASSERT_EQ(r.parameters.size(), 2u);
  EXPECT_EQ(r.parameters[0].joint, 0);
  EXPECT_EQ(r.parameters[0].quantity, chain::Quantity::kMass);
  EXPECT_EQ(r.parameters[0].change, chain::Change::kScale);
  EXPECT_EQ(r.parameters[1].quantity, chain::Quantity::kComX);
  EXPECT_EQ(r.parameters[1].change, chain::Change::kAdd);
  EXPECT_EQ(r.parameters[1].value, s.parameters[1].value);
}

TEST_F(ChainFile, AFileOfPositionsAloneIsEnough) {
  RawFile(path()).write("q", {4, 6});
  const States r = read_states(path(), 6);
  EXPECT_EQ(r.count, 4);
  EXPECT_TRUE(r.qd.empty() && r.tau.empty() && r.parameters.empty());
}

TEST_F(ChainFile, WrongContentIsRefusedByNameOfFileAndDataset) {
  const auto error = [&](int joints) { return refusal([&] { (void)read_states(path(), joints); }); };
  RawFile(path()).write("qd", {4, 6});
  EXPECT_TRUE(has(error(6), "3 " + path() + ": dataset q: is missing")) << error(6);
  RawFile(path()).write("q", {4, 6});
  EXPECT_TRUE(has(error(7), "dataset q: expected shape [n, 7] for a chain of 7 joints, found [4, 6]")) << error(7);
  {
    RawFile file(path());
    file.write("q", {4, 6});
    file.write("tau", {3, 6});
  }
  EXPECT_TRUE(has(error(6), "dataset tau: expected shape [4, 6], found [3, 6]")) << error(6);
}

TEST_F(ChainFile, WrongParametersAreRefused) {
  const auto with = [&](const std::string& name, const std::vector<hsize_t>& dims) {
    {
      RawFile file(path());
      file.write("q", {4, 6});
      file.write("parameters/" + name, dims);
    }
    return refusal([&] { (void)read_states(path(), 6); });
  };
  EXPECT_TRUE(has(with("2.mass", {4}), "dataset parameters/2.mass: \"2.mass\" is not joint.quantity.change"));
  EXPECT_TRUE(has(with("-1.mass.add", {4}), "\"-1\" is no joint, counted from 0"));
  EXPECT_TRUE(has(with("x.mass.add", {4}), "\"x\" is no joint"));
  EXPECT_TRUE(has(with("2.weight.add", {4}), "no quantity of a link is called \"weight\""));
  EXPECT_TRUE(has(with("2.mass.times", {4}), "\"times\" is no change: add or scale"));
  EXPECT_TRUE(has(with("2.mass.add", {3}), "expected shape [4], found [3]"));
  EXPECT_EQ(with("2.mass.add", {4}), "nothing was refused");
}

TEST_F(ChainFile, MissingAndDamagedFilesAreInputErrors) {
  EXPECT_TRUE(has(refusal([&] { (void)read_states(path(), 6); }), "5 " + path() + ": cannot read"));
  std::ofstream(path()) << "q = 1\n";
  EXPECT_TRUE(has(refusal([&] { (void)read_states(path(), 6); }), "3 " + path() + ": this is not an HDF5 file"));
  EXPECT_TRUE(has(refusal([&] { write_states((folder_ / "none" / "x.h5").string(), some_states()); }), "5 "));
}

TEST_F(ChainFile, ResultsAreWrittenByNameAndShape) {
  chain::Results r;
  r.joints = 2;
  r.count = 2;
  r.mass_matrix = {1, 2, 3, 4, 5, 6, 7, 8};
  r.jacobian.assign(24, 0.5);
  r.manipulability = {0.1, 0.2};
  r.status = {Status::kConverged, Status::kInvalidInput};
  write_results(path(), r, {"robot", {}, "here", "0"});
  const Hdf5Reader file(path(), "");
  EXPECT_EQ(file.shape("mass_matrix"), (Shape{2, 2, 2}));
  EXPECT_EQ(file.doubles("mass_matrix"), r.mass_matrix);
  EXPECT_EQ(file.shape("jacobian"), (Shape{2, 6, 2}));
  EXPECT_EQ(file.shape("manipulability"), (Shape{2}));
  EXPECT_EQ(file.integers("status"), (std::vector<std::int64_t>{0, 3}));
  EXPECT_FALSE(file.has("pose"));
}

}  // namespace
}  // namespace garra::io
