// STL and OBJ as others write them, and as an enemy would.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "garra/core/error.hpp"
#include "garra/io/mesh_file.hpp"

namespace garra::io {
namespace {

namespace fs = std::filesystem;

class MeshFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("garra_mesh_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& bytes) const {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  /// What is said of it.
  std::string refusal(const std::string& name, const std::string& bytes) const {
    mesh::Report report;
    try {
      (void)read_mesh(file(name, bytes), report);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kInvalidFile) << e.what();
      EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << "names the file";
      return e.what();
    }
    ADD_FAILURE() << "taken";
    return {};
  }
  static void expect_says(const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  fs::path folder_;
};

/// The tetrahedron (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1): volume 1/6.
constexpr float kCorner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
constexpr int kFace[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};

std::string binary(std::uint32_t count, const std::string& header = "") {
  std::string out = header;
  out.resize(80, ' ');
  out.append(reinterpret_cast<const char*>(&count), 4);
  for (const auto& face : kFace) {
    out.append(12, '\0');
    for (const int v : face) out.append(reinterpret_cast<const char*>(kCorner[v]), 12);
    out.append(2, '\0');
  }
  return out;
}
std::string text() {
  std::string out = "solid a part of \"somebody\"\n";
  for (const auto& face : kFace) {
    out += "  facet normal 0 0 0\r\n    outer loop\n";
    for (const int v : face)
      out += "      vertex " + std::to_string(kCorner[v][0]) + " +" + std::to_string(kCorner[v][1]) + "\t" +
             (kCorner[v][2] == 0 ? "-0.0E+0" : "1e0") + "\n";
    out += "    endloop\n  endfacet\n";
  }
  return out + "endsolid\n";
}

void expect_tetrahedron(const mesh::Mesh& m, const mesh::Report& r) {
  EXPECT_EQ(m.vertices(), 4);
  EXPECT_EQ(m.faces(), 4);
  EXPECT_TRUE(r.watertight());
  EXPECT_FALSE(r.flipped);
  EXPECT_NEAR(r.volume, 1.0 / 6, 1e-15);
}

TEST_F(MeshFile, StlIsReadAsBytesAndAsText) {
  mesh::Report r;
  mesh::Mesh m = read_mesh(file("a.stl", binary(4)), r);
  expect_tetrahedron(m, r);
  // A header that begins as a text would.
  m = read_mesh(file("b.STL", binary(4, "solid made by some program")), r);
  expect_tetrahedron(m, r);
  m = read_mesh(file("c.stl", text()), r);
  expect_tetrahedron(m, r);
  EXPECT_EQ(r.merged, 8);
  m = read_mesh(file("d.stl", text()), r, 0.001);
  EXPECT_NEAR(r.volume, 1e-9 / 6, 1e-23);
}

TEST_F(MeshFile, ObjTakesEveryFormOfAFace) {
  const std::string vertices =
      "# a comment\nmtllib x.mtl\nv 0 0 0\nv 1 0 0 1.0\nv 0 1 0\nv 0 0 1 0.5 0.5 0.5\nvn 0 0 1\nvt 0 0\n";
  mesh::Report r;
  for (const char* faces : {"f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n",
                            "f 1/1 3/1 2/1\nf 1//1 2//1 4//1\nf 2/1/1 3/1/1 4/1/1\nf 1 4/1 3 # end\n",
                            "f -4 -2 -3\nf -4 -3 -1\nf -3 -2 -1\nf -4 -1 -2"}) {
    const mesh::Mesh m = read_mesh(file("a.obj", vertices + "g part\nusemtl m\ns off\n" + faces), r);
    expect_tetrahedron(m, r);
  }
  // Faces before their vertices; a cube of quadrilaterals, inside out.
  std::string cube = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
  for (int k = 0; k < 8; ++k)
    cube += "v " + std::to_string(-(k & 1)) + " " + std::to_string(k >> 1 & 1) + " " + std::to_string(k >> 2) + "\n";
  const mesh::Mesh m = read_mesh(file("cube.obj", cube), r);
  EXPECT_EQ(m.faces(), 12);
  EXPECT_TRUE(r.flipped);
  EXPECT_NEAR(r.volume, 1, 1e-15);
}

TEST_F(MeshFile, StlThatDisagreesWithItsSizeIsRefusedBeforeMemoryIsTaken) {
  expect_says(refusal("a.stl", binary(4294967295u)), "4294967295 triangles has 214748364834 bytes, this one 284");
  expect_says(refusal("b.stl", binary(5)), "5 triangles has 334 bytes, this one 284");
  expect_says(refusal("c.stl", binary(4).substr(0, 283)), "cut short");
  expect_says(refusal("d.stl", binary(3)), "3 triangles");
  expect_says(refusal("e.stl", ""), "0 bytes");
  expect_says(refusal("f.stl", "soli"), "no STL file");
  expect_says(refusal("g.stl", binary(0).substr(0, 84)), "no face");
  // All 84 + 50 n bytes, and not a number among them.
  std::string nan = binary(4);
  const float bad = NAN;
  std::memcpy(nan.data() + 84 + 50 * 2 + 12 + 16, &bad, 4);
  expect_says(refusal("h.stl", nan), "triangle 2");
}

TEST_F(MeshFile, TextStlIsRefusedByItsLine) {
  const std::string begin = "solid x\nfacet normal 0 0 1\nouter loop\n";
  expect_says(refusal("a.stl", begin + "vertex 0 0 zero\n"), "a.stl:4: coordinate: \"zero\"");
  expect_says(refusal("b.stl", begin + "vertex 0 0\n"), "b.stl:4");
  expect_says(refusal("c.stl", begin + "vertex 0 0 nan\n"), "no finite number");
  expect_says(refusal("d.stl", begin + "vertex 0 inf 0\n"), "no finite number");
  expect_says(refusal("e.stl", begin + "vertex 0 1e999 0\n"), "no finite number");
  expect_says(refusal("f.stl", begin + "vertex 0 0 0\nendloop\nendfacet\n"), "f.stl:6: a facet with 1 vertices");
  expect_says(refusal("g.stl", begin + "vertex 0 0 0\n"), "ends inside a facet");
  expect_says(refusal("h.stl", begin + "vertx 0 0 0\n"), "\"vertx\"");
  expect_says(refusal("i.stl", "solid x\nvertex 0 0 0\n"), "outside of a facet");
  expect_says(refusal("j.stl", begin + "vertex 0 0 0\nvertex 0 0 0\nvertex 0 0 0\nvertex 0 0 0\n"), "fourth vertex");
  expect_says(refusal("k.stl", "solid x\nendsolid\n"), "no face");
}

TEST_F(MeshFile, ObjIsRefusedByItsLine) {
  const std::string vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  expect_says(refusal("a.obj", vertices + "f 1 2 4\n"), "a.obj:4: vertex 4 of 3");
  expect_says(refusal("b.obj", vertices + "f 1 2 0\n"), "b.obj:4: \"0\"");
  expect_says(refusal("c.obj", vertices + "f 1 2 -4\n"), "c.obj:4: vertex -4 of 3 so far");
  expect_says(refusal("d.obj", vertices + "f 1 2\n"), "a face with 2 vertices");
  expect_says(refusal("e.obj", vertices + "f 1 2 x\n"), "\"x\" is no vertex");
  expect_says(refusal("f.obj", vertices + "f 1 2 99999999999999999999\n"), "no vertex");
  expect_says(refusal("g.obj", vertices + "f 1 2 2147483648\n"), "g.obj:4");
  expect_says(refusal("h.obj", "v 0 0 nan\n"), "h.obj:1: coordinate: \"nan\"");
  expect_says(refusal("i.obj", vertices), "no face");
  expect_says(refusal("j.obj", "v 1 2\n"), "j.obj:1");
  expect_says(refusal("k.obj", vertices + "f 1 2 2\n"), "two equal vertices");
  expect_says(refusal("l.obj", ""), "no face");
  expect_says(refusal("m.obj", vertices + "f 1 2 " + std::string(100'000, '3') + "\n"), "...");
}

TEST_F(MeshFile, FilesThatAreNoMeshesOrNotThereAreSaid) {
  mesh::Report r;
  const auto code = [&](const std::string& path) {
    try {
      (void)read_mesh(path, r);
    } catch (const Error& e) {
      return e.code();
    }
    return ExitCode::kDone;
  };
  EXPECT_EQ(code((folder_ / "none.stl").string()), ExitCode::kInputOutput);
  EXPECT_EQ(code(file("part.step", "x")), ExitCode::kUsage);
  fs::create_directories(folder_ / "folder.stl");
  EXPECT_EQ(code((folder_ / "folder.stl").string()), ExitCode::kInputOutput);
}

TEST_F(MeshFile, MillimetresAreNoticedAndScaledAway) {
  std::string large = "v 0 0 0\nv 50 0 0\nv 0 50 0\nv 0 0 50\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
  const std::string path = file("part.obj", large);
  try {
    (void)read_object(path);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kInvalidFile);
    expect_says(e.what(), "measures 50 m");
    expect_says(e.what(), "--scale 0.001");
  }
  const Object o = read_object(path, 0.001);
  EXPECT_NEAR(o.report.volume, std::pow(0.05, 3) / 6, 1e-18);
  EXPECT_TRUE(o.warning.empty());
  EXPECT_EQ(read_object(path, 1).report.extent(), 50) << "who says so has it so";
  EXPECT_FALSE(read_object(path, 1e-6).warning.empty()) << "50 micrometres";
  // A hole is told of, and the rest goes on.
  const Object open = read_object(file("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n"));
  expect_says(open.warning, "not watertight (3 open");
  EXPECT_FALSE(open.surface->encloses());
}

TEST(ObjectWords, NameShapes) {
  EXPECT_NEAR(read_object("sphere:0.03").surface->body(1).mass, 4 * M_PI / 3 * 27e-6, 1e-18);
  EXPECT_NEAR(read_object("box:100,50,20", 0.001).surface->body(1).mass, 1e-4, 1e-17);
  EXPECT_NEAR(read_object("cylinder:0.1,0.2").surface->body(1).mass, M_PI * 2e-3, 1e-17);
  EXPECT_FALSE(read_object("capsule:0.1,0.2").is_mesh());
  EXPECT_NEAR(read_object("ellipsoid:1,2,3", 1).surface->body(1).mass, 8 * M_PI, 1e-12);
  // Of half axes and exponents only the former are lengths.
  EXPECT_NEAR(read_object("superquadric:10,20,30,1,1", 0.001).surface->body(1).mass, 8 * M_PI * 1e-6, 1e-18);
  for (const char* wrong : {"superquadric:1,1,1,1", "superquadric:1,1,1,3,1", "sphere:", "sphere:0.1,0.2", "box:1,2",
                            "box:1,2,x", "sphere:-1", "cube:1", "sphere:nan", "box:1,,2", "sphere:30"}) {
    try {
      (void)read_object(wrong);
      ADD_FAILURE() << wrong;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kUsage) << wrong;
    }
  }
  EXPECT_THROW((void)read_object("sphere:0.1", -1), Error);
}

}  // namespace
}  // namespace garra::io
