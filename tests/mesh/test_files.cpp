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

TEST_F(MeshFile, CornersThatDifferByRoundingToFloatAreOne) {
  // A block of 40 x 50 x 60 mm, each triangle with corners that a CAD program has rounded by itself: off by up to
  // 4e-10 m, a tenth of a step of float32 at 0.06.
  const int corner[12][3] = {{0, 1, 3}, {0, 3, 2}, {4, 6, 7}, {4, 7, 5}, {0, 4, 5}, {0, 5, 1},
                             {2, 3, 7}, {2, 7, 6}, {0, 2, 6}, {0, 6, 4}, {1, 5, 7}, {1, 7, 3}};
  const auto block = [&](float off) {
    std::string out(80, ' ');
    const std::uint32_t count = 12;
    out.replace(0, 11, "solid block");
    out.append(reinterpret_cast<const char*>(&count), 4);
    for (int t = 0; t < 12; ++t) {
      out.append(12, '\0');
      for (int k = 0; k < 3; ++k)
        for (int axis = 0; axis < 3; ++axis) {
          const float side[3] = {0.04f, 0.05f, 0.06f};
          const float sign = (t + k + axis) % 3 == 0 ? 0.0f : (t + axis) % 2 == 0 ? 1.0f : -1.0f;
          const float x = (corner[t][k] >> (2 - axis) & 1 ? side[axis] : 0) + sign * off;
          out.append(reinterpret_cast<const char*>(&x), 4);
        }
      out.append(2, '\0');
    }
    return out;
  };
  const Object o = read_object(file("block.stl", block(4e-10f)));
  EXPECT_EQ(o.report.vertices, 8);
  EXPECT_EQ(o.report.open_edges, 0);
  EXPECT_EQ(o.warning, "");
  EXPECT_NEAR(o.surface->body(1000).mass, 0.12, 1e-8);
  EXPECT_NEAR(read_object(file("far.stl", block(4e-10f)), 0.5).surface->body(1000).mass, 0.015, 1e-9);
  // Forty steps of float32 are a gap.
  expect_says(read_object(file("gaps.stl", block(1.5e-7f))).warning, "not watertight");
}

TEST_F(MeshFile, ObjLinesGoOnBehindABackslashAndABomIsNoWord) {
  const std::string vertices = "\xEF\xBB\xBFv 0 0 0\nv 1 \\\n 0 0\r\nv 0 1 0 \\\n\nv 0 0 1\n";
  mesh::Report r;
  for (const char* faces : {"f 1 3 \\\n2\nf 1 2\\\n 4\nf \\\r\n2 3 4 \\\r\n\r\nf 1 4 3\n",
                            "vt 0 \\\n0\n# C:\\parts\\\nf 1 3 2\nf 1 2 4 # C:\\\nf 2 3 4\nfo 1 4 3\\"}) {
    const mesh::Mesh m = read_mesh(file("a.obj", vertices + faces), r);
    expect_tetrahedron(m, r);
  }
  mesh::Report of_text;
  const mesh::Mesh m = read_mesh(file("a.stl", "\xEF\xBB\xBF" + text()), of_text);
  expect_tetrahedron(m, of_text);
  expect_says(refusal("b.obj", vertices + "f 1 3 \\\n\nx 2\n"), "b.obj:8: a face with 2 vertices");
  expect_says(refusal("c.obj", "v 0 0 0\nface 1 2 3\n"), "c.obj:2: \"face\" is no word of the OBJ format");
}

TEST_F(MeshFile, ABodyThatIsInsideOutIsNamedAndTurnedOver) {
  // Cubes at x = 0, 3 and inside of the first; `order` 1 faces outwards.
  const auto cube = [](double at, double side, int order, int first) {
    const int quads[6][4] = {{1, 2, 4, 3}, {5, 7, 8, 6}, {1, 5, 6, 2}, {3, 4, 8, 7}, {1, 3, 7, 5}, {2, 6, 8, 4}};
    std::string out;
    for (int k = 0; k < 8; ++k) {
      const double x[3] = {at + (k >> 2 & 1) * side, at / 8 + (k >> 1 & 1) * side, at / 16 + (k & 1) * side};
      out += "v " + std::to_string(x[0]) + " " + std::to_string(x[1]) + " " + std::to_string(x[2]) + "\n";
    }
    for (const auto& q : quads) {
      out += "f";
      for (int i = 0; i < 4; ++i) out += " " + std::to_string(first + q[order > 0 ? i : 3 - i]);
      out += "\n";
    }
    return out;
  };
  const auto object = [&](const std::string& bytes) { return read_object(file("bodies.obj", bytes), 0.01); };
  const double volume = (1 + 0.008) * 1e-6;
  const Object right = object(cube(0, 1, 1, 0) + cube(3, 0.2, 1, 8));
  EXPECT_EQ(right.report.bodies, 2);
  EXPECT_EQ(right.warning, "");
  for (const int large : {1, -1}) {  // where the large one is wrong, all are turned over, and the small one back
    const Object o = object(cube(0, 1, large, 0) + cube(3, 0.2, -large, 8));
    EXPECT_EQ(o.report.flipped, large < 0);
    EXPECT_EQ(o.report.inverted, 1);
    expect_says(o.warning, "1 of 2 bodies were inside out, the first at (0.032, 0.00575, 0.00388) m");
    EXPECT_NEAR(o.report.volume, volume, 1e-18);
    EXPECT_NEAR(o.surface->body(1000).mass, 1000 * volume, 1e-15);
    EXPECT_NEAR(o.surface->body(1).com[0], (0.5e-2 * 1e-6 + 3.1e-2 * 8e-9) / volume, 1e-15);
  }
  // Some faces of each are wound otherwise than their neighbors: faces 0 and 3 of the large one, 1 of the small one.
  std::string mixed = cube(0, 1, 1, 0) + cube(3, 0.2, 1, 8);
  int quad = 0;
  for (std::size_t at = mixed.find("f "); at != std::string::npos; at = mixed.find("f ", at + 1), ++quad)
    if (quad == 0 || quad == 3 || quad == 7) {
      std::array<int, 4> v{};
      std::istringstream(mixed.substr(at + 2)) >> v[0] >> v[1] >> v[2] >> v[3];
      const std::size_t end = mixed.find('\n', at);
      mixed.replace(at, end - at,
                    "f " + std::to_string(v[3]) + " " + std::to_string(v[2]) + " " + std::to_string(v[1]) + " " +
                        std::to_string(v[0]));
    }
  const Object wound = object(mixed);
  EXPECT_TRUE(wound.report.watertight());
  EXPECT_EQ(wound.report.turned, 6);  // each has two triangles
  EXPECT_EQ(wound.report.inverted, 0);
  expect_says(wound.warning, "6 of 24 faces were wound otherwise than their neighbors: they were turned over");
  EXPECT_NEAR(wound.report.volume, volume, 1e-18);
  // A cavity is to be inside out.
  const Object hollow = object(cube(0, 1, 1, 0) + cube(0.4, 0.2, -1, 8));
  EXPECT_EQ(hollow.report.inverted, 0);
  EXPECT_EQ(hollow.warning, "");
  EXPECT_NEAR(hollow.report.volume, (1 - 0.008) * 1e-6, 1e-18);
}

TEST_F(MeshFile, AUnitThatIsNotKnownIsAskedForWithItsCandidates) {
  std::string large = "v 0 0 0\nv 50 0 0\nv 0 50 0\nv 0 0 50\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
  const std::string path = file("part.obj", large);
  try {
    (void)read_object(path);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kInvalidFile);
    expect_says(e.what(), "measures 50 m");
    expect_says(e.what(), "mm, --scale 0.001 (0.05 x 0.05 x 0.05 m, 0.0208 kg)");
    expect_says(e.what(), "cm, --scale 0.01 (0.5 x 0.5 x 0.5 m, 20.8 kg)");
    expect_says(e.what(), "inches, --scale 0.0254 (1.27 x 1.27 x 1.27 m, 341 kg)");
  }
  // As large as furniture: taken, but told of.
  std::string furniture = large;
  for (std::size_t at; (at = furniture.find("50")) != furniture.npos;) furniture.replace(at, 2, "1.3");
  const Object unsure = read_object(file("large.obj", furniture));
  expect_says(unsure.warning, "1.3 x 1.3 x 1.3 m, 366 kg: is its unit the meter?");
  expect_says(unsure.warning, "inches, --scale 0.0254 (0.033 x 0.033 x 0.033 m, 0.006 kg)");
  expect_says(read_object(path, 1e-5).warning, "2.08e-08 kg: is the scale right?");
  const Object o = read_object(path, 0.001);
  EXPECT_NEAR(o.report.volume, std::pow(0.05, 3) / 6, 1e-18);
  EXPECT_TRUE(o.warning.empty());
  EXPECT_EQ(read_object(path, 1).report.extent(), 50) << "who says so has it so";
  EXPECT_FALSE(read_object(path, 1e-6).warning.empty()) << "50 micrometers";
  // A hole is told of, and the rest goes on.
  const Object open = read_object(file("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n"));
  expect_says(open.warning, "not watertight (3 open");
  expect_says(open.warning, "1 x 1 x 1 m: is its unit the meter?");
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
