// Every claim of the paper's three examples, computed by garra, against the reference's table of claims.
#include <gtest/gtest.h>

#include <string>

#include "garra/io/screws_file.hpp"
#include "papers/claims.hpp"
#include "places.hpp"
#include "singularity_cases.hpp"

namespace garra::papers {
namespace {

using reference::Json;

Data data_of(const std::string& file) {
  const io::ScrewsFile f = io::read_screws(test::source_folder() + "/data/screws/" + file + ".toml");
  return {f.set, f.tolerance.value_or(Data{}.tolerance)};
}

Example example(int number) {
  const std::string name = "gallardo_" + std::to_string(number);
  return {data_of(name + "_printed"), data_of(name)};
}

Json make_json(const Value& value) {
  return std::visit(
      [](const auto& x) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::monostate>)
          return nullptr;
        else
          return x;
      },
      value);
}

/// The reference's claims come first, in its order.
void expect_reference(const Claim& ours, const Json& printed, const Json& corrected) {
  SCOPED_TRACE(ours.statement + " / " + printed["claim"].get<std::string>());
  EXPECT_EQ(make_json(ours.paper), printed["paper"]);
  EXPECT_EQ(make_json(ours.printed), printed["computed"]);
  EXPECT_EQ(make_json(ours.corrected), corrected["computed"]);
  EXPECT_EQ(ours.holds_printed, printed["holds"]);
  EXPECT_EQ(ours.holds_corrected, corrected["holds"]);
}

TEST(SingularityClaims, AreComputedAsTheReferenceComputesThem) {
  int number = 0, checks = 0, printed = 0, corrected = 0;
  for (const Json& c : reference::examples()) {
    SCOPED_TRACE(c["id"].get<std::string>());
    ++number;
    const std::vector<Claim> ours = examine(number, example(number));
    const Json &as_printed = c["claims_printed"], &as_corrected = c["claims_corrected"];
    ASSERT_EQ(as_printed.size(), as_corrected.size());
    ASSERT_GE(ours.size(), as_printed.size());
    for (std::size_t k = 0; k < as_printed.size(); ++k) {
      expect_reference(ours[k], as_printed[k], as_corrected[k]);
      ++checks;
      printed += ours[k].holds_printed;
      corrected += ours[k].holds_corrected;
    }
  }
  EXPECT_EQ(checks, 57);
  EXPECT_EQ(printed, 37);
  EXPECT_EQ(corrected, 46);
}

TEST(SingularityClaims, AStatusHoldsOnlyWithTheMendedScrewsAndAReasonStandsWhereItDoesNot) {
  for (int number = 1; number <= 3; ++number) {
    for (const Claim& c : examine(number, example(number))) {
      SCOPED_TRACE(c.statement);
      EXPECT_EQ(c.decision == ClaimStatus::kHolds, c.holds_printed && c.holds_corrected);
      EXPECT_EQ(c.decision == ClaimStatus::kDoesNotHold, !c.holds_corrected);
      EXPECT_EQ(c.reason.empty(), c.decision == ClaimStatus::kHolds);
    }
  }
}

TEST(SingularityClaims, FiguresOfTheMechanismFollowFromTheMendedScrewOnly) {
  // Lengths, angles and offsets that the paper gives beside the screws: independent evidence for the mended seventh.
  int lengths = 0, with_printed = 0;
  for (const Claim& c : examine(3, example(3))) {
    if (!std::holds_alternative<double>(c.paper)) continue;
    EXPECT_TRUE(c.holds_corrected) << c.statement;
    with_printed += c.holds_printed;
    ++lengths;
  }
  EXPECT_EQ(lengths, 13);
  EXPECT_EQ(with_printed, 7);  // those of the other screws
}

TEST(SingularityClaims, OtherScrewsGiveOtherStates) {
  // With the true screw 7 as if it had been printed, nothing is left to mend; with example 1's screws turned over, not
  // even the rank stays.
  Example mended = example(3);
  mended.printed = mended.corrected;
  for (const Claim& c : examine(3, mended)) EXPECT_NE(c.decision, ClaimStatus::kHoldsWithCorrectedDatum) << c.statement;
  Example regular = example(1);
  regular.printed.screws = regular.corrected.screws = displaced(regular.corrected.screws, {0, 0, 0, 0.4, 0.2, 0.3, 0});
  const std::vector<Claim> claims = examine(1, regular);
  EXPECT_EQ(claims[0].decision, ClaimStatus::kDoesNotHold);  // S is singular
  EXPECT_EQ(claims[1].decision, ClaimStatus::kDoesNotHold);  // dim SOSM(1)
}

TEST(SingularityClaims, TheFilesAsPrintedAreTheReferencesDigits) {
  int number = 0;
  for (const Json& c : reference::examples()) {
    const Data printed = example(++number).printed;
    EXPECT_EQ(printed.tolerance, 1e-3);
    ASSERT_EQ(printed.screws.screw.size(), c["printed_screws"].size());
    for (std::size_t k = 0; k < printed.screws.screw.size(); ++k)
      reference::expect_near(printed.screws.screw[k], reference::screw_of(c["printed_screws"][k]), 0);
  }
}

TEST(SingularityClaims, AnotherExampleIsRefused) {
  EXPECT_THROW(static_cast<void>(examine(4, example(1))), Error);
  EXPECT_THROW(static_cast<void>(examine(2, example(1))), Error);
}

/// Of the claim that begins so.
const Claim& claim_of(const std::vector<Claim>& claims, const std::string& start) {
  for (const Claim& c : claims)
    if (c.statement.starts_with(start)) return c;
  throw std::runtime_error("no claim " + start);
}

// Counted by NumPy, with ranks of its own and motions by SciPy's matrix exponential.
TEST(SingularityClaims, TheGeneralStatementsAreCountedOnEveryExample) {
  const int subalgebras[] = {2, 0, 2}, restored[] = {2, 1, 2};
  for (int number = 1; number <= 3; ++number) {
    const std::vector<Claim> claims = examine(number, example(number));
    const auto corrected = [&](const std::string& start) { return claim_of(claims, start).corrected; };
    EXPECT_EQ(corrected("section 2: regular ordered"), Value(subalgebras[number - 1]));
    EXPECT_EQ(corrected("section 2: in each SOSM"), Value(true));
    EXPECT_EQ(corrected("section 2: products outside"), Value(0));
    EXPECT_EQ(corrected("section 2: ordered subsets of other"), Value(0));
    EXPECT_EQ(corrected("section 2: most SOSM"), Value(restored[number - 1]));
    EXPECT_EQ(claim_of(claims, "section 2: regular ordered").decision,
              number == 2 ? ClaimStatus::kHoldsWithCorrectedDatum : ClaimStatus::kDoesNotHold);
  }
}

TEST(SingularityClaims, TheMendedScrewsHaveThePrintedParametersOfTheMechanism) {
  const std::vector<Claim> claims = examine(3, example(3));
  for (const char* name : {"a12", "a23", "a34", "a45", "a51", "alpha12", "alpha23", "alpha34", "alpha45", "alpha51",
                           "|S11|", "|S33|", "|S55|"})
    EXPECT_TRUE(claim_of(claims, name).holds_corrected) << name;
  EXPECT_FALSE(claim_of(claims, "alpha51").holds_printed);
}

}  // namespace
}  // namespace garra::papers
