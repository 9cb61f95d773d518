// Names that have changed: both are read, the new one is written.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/files/text_file.hpp"
#include "base/files/toml_reader.hpp"
#include "base/scenario/renamed.hpp"
#include "garra/core/error.hpp"
#include "garra/io/scenario.hpp"
#include "places.hpp"

namespace garra::io {
namespace {

/// Collects the warnings of a test; names that were said before in this process are not said again.
struct Renamed : testing::Test {
  std::vector<std::string> warnings;
  void SetUp() override {
    set_name_warnings([this](const std::string& text) { warnings.push_back(text); });
  }
  void TearDown() override {
    set_name_warnings([](const std::string&) {});
  }
};

TEST_F(Renamed, RowsNameAChangeOnce) {
  std::set<std::string> seen;
  for (const RenamedName& row : renamed_names()) {
    EXPECT_NE(row.old, row.now);
    for (unsigned kind = 1; kind <= kJsonName; kind *= 2) {
      if ((row.kinds & kind) == 0) continue;
      EXPECT_TRUE(seen.insert(std::to_string(kind) + std::string(row.where) + "/" + std::string(row.old)).second)
          << row.old;
    }
  }
}

TEST_F(Renamed, OldKeysAreReadWithOneWarning) {
  const Node document = parse_toml("[time]\nuntil = 2\n[solver]\ntol = 1e-6\n", "old.toml");
  ASSERT_NE(document.find("simulation"), nullptr);
  ASSERT_NE(document.find("simulation")->find("duration"), nullptr);
  EXPECT_EQ(document.find("simulation")->find("duration")->number, 2);
  EXPECT_EQ(document.find("solver")->find("tolerance")->number, 1e-6);
  const std::size_t first = warnings.size();
  EXPECT_EQ(first, 3u);
  EXPECT_NE(warnings[0].find("`time` is now called `simulation`"), std::string::npos) << warnings[0];
  static_cast<void>(parse_toml("[time]\nuntil = 2\n", "again.toml"));
  EXPECT_EQ(warnings.size(), first) << "a name is said once in a process";
}

TEST_F(Renamed, AKeyByBothNamesIsRefused) {
  try {
    static_cast<void>(parse_toml("[load]\nsqueeze = 1\ngrip_force = 2\n", "both.toml"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "both.toml:2:1: load.squeeze: is the old name of grip_force, which is given too\n  Leave out squeeze.");
  }
}

TEST_F(Renamed, OverridesAndPathsTakeOldNames) {
  Node document = parse_toml("[solver]\ntolerance = 1\n", "s.toml");
  apply_override(document, "solver.tol=2");
  EXPECT_EQ(document.find("solver")->find("tolerance")->number, 2);
  EXPECT_EQ(document.find("solver")->find("tol"), nullptr);
  apply_override(document, "solver={tol=3}");
  EXPECT_EQ(document.find("solver")->find("tolerance")->number, 3);
  EXPECT_EQ(with_new_names("time.until"), "simulation.duration");
  EXPECT_EQ(with_new_names("contact.1.squeeze"), "contact.1.grip_force");
  EXPECT_EQ(with_new_names("task.until"), "task.until") << "only in [simulation]";
}

TEST_F(Renamed, FlagsKeepTheirDashes) {
  EXPECT_EQ(new_flag("--tol"), "--tolerance");
  EXPECT_EQ(new_flag("--no-finish"), "--no-merge");
  EXPECT_EQ(new_flag("share"), "fraction");
  EXPECT_EQ(new_flag("--seed"), "");
}

TEST_F(Renamed, JsonOfOlderVersionsHasTheNamesOfToday) {
  auto json =
      nlohmann::ordered_json::parse(R"({"can_be_held": 1, "rows": [{"fails_first": "not_carried"}], "title": "tol"})");
  rename_json(json);
  EXPECT_EQ(json.dump(), R"({"resisted":1,"rows":[{"limiting_contact":"command_insufficient"}],"title":"tolerance"})");
  EXPECT_TRUE(warnings.empty());
}

/// The scenario with old names in place of new ones.
std::string aged(std::string text) {
  for (const RenamedName& row : renamed_names())
    if ((row.kinds & kKeyName) != 0)
      text = std::regex_replace(text, std::regex("(^|[\\n\\[{, .])" + std::string(row.now) + "(?=[ .\\]]*[=\\].])"),
                                "$1" + std::string(row.old));
  return text;
}

TEST_F(Renamed, ScenariosWithOldNamesResolveToTheSame) {
  for (const char* file : {"three_puma_sphere", "three_puma_pull", "three_puma_shake"}) {
    const std::string path = test::source_folder() + "/data/scenarios/" + file + ".toml";
    const std::string text = read_text(path), old = aged(text);
    EXPECT_NE(text, old) << file;
    EXPECT_EQ(resolved_toml(parse_scenario(old, path)), resolved_toml(parse_scenario(text, path))) << file;
  }
}

}  // namespace
}  // namespace garra::io
