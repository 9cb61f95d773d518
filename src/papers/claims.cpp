// The claims of the paper, one by one. claims_case.hpp computes their quantities.
#include "papers/claims.hpp"

#include <cmath>
#include <functional>

#include "garra/core/names.hpp"
#include "papers/claims_case.hpp"

namespace garra::papers {

namespace {

/// Lengths are printed with three decimals.
constexpr double kDigits = 1e-3;

struct Row {
  std::string statement;
  Value paper;
  std::function<Value(const Screwed&)> compute;
  std::string reason = {};  ///< why it does not hold (with the printed screws)
};
using Rows = std::vector<Row>;

/// Dimension of a subset after the paper's substitutions.
struct Dim {
  Joints subset;
  std::vector<Product> substituted = {};
  Value operator()(const Screwed& s) const { return s.substituted(substituted).dim(subset); }
};
/// The same after the true motion of joints.
struct DimMoved {
  Joints moved, subset;
  Value operator()(const Screwed& s) const { return s.moved(moved).dim(subset); }
};

std::string name(Product p) { return "[$" + std::to_string(p.actuator) + " $" + std::to_string(p.receptor) + "]"; }

/// Products of the paper's rows; `outside` marks the paper's answers.
struct Products {
  std::string subset;
  Joints span;
  std::vector<Product> inside, outside;
  std::string reason = {};
};
void add(const Products& all, Rows& rows) {
  const auto add_one = [&](Product p, bool answer) {
    rows.push_back({name(p) + " is outside the span of " + all.subset, answer,
                    [p, span = all.span](const Screwed& s) { return s.outside(p, span); }, answer ? all.reason : ""});
  };
  for (const Product& p : all.inside) add_one(p, false);
  for (const Product& p : all.outside) add_one(p, true);
}

// Example 1.

void true_motions_1(Rows& rows) {
  const std::string behind = "The paper leaves $6 and $7 where they are; a joint moves all screws behind it.";
  rows.push_back({"joint 3 moved: rank S = 6", true, [](const Screwed& s) { return s.moved({3}).rank() == 6; }});
  rows.push_back(
      {"joint 3 moved: dim {2..7}", 6, DimMoved{{3}, {2, 3, 4, 5, 6, 7}}, behind + " {2..7} stays singular."});
  rows.push_back({"joint 3 moved: singular ordered subsets left", 0,
                  [](const Screwed& s) { return s.moved({3}).singular_count(); }, "{2..7} and {3..7} stay singular."});
  rows.push_back({"joint 4 moved: rank S = 6", false, [](const Screwed& s) { return s.moved({4}).rank() == 6; },
                  behind + " Joint 4 does restore the rank."});
  rows.push_back(
      {"joint 4 moved: dim {2..7}", 5, DimMoved{{4}, {2, 3, 4, 5, 6, 7}}, behind + " {2..7} becomes independent."});
  rows.push_back({"joint 4 moved: singular ordered subsets left (the paper rejects joint 4)",
                  {},
                  [](const Screwed& s) { return s.moved({4}).singular_count(); },
                  "None is left: joint 4 is the better choice."});
}

Rows example_1() {
  const Product p34 = {3, 4}, p35 = {3, 5}, p45 = {4, 5};
  Rows rows = {{"S is singular (rank < 6)", true, [](const Screwed& s) { return s.rank() < 6; }},
               {"dim SOSM(1), SOSM(1) = {1..5}", 4, Dim{{1, 2, 3, 4, 5}}},
               {"SOSM(1) is minimal", true, [](const Screwed& s) { return s.is_minimal(1, 5); }},
               {"SSM(1)", Joints{1, 3, 4, 5}, [](const Screwed& s) { return s.dependent_joints_in(1, 5); }},
               {"number of SOSM in S", 1, &Screwed::minimal_count,
                "{3..7} is missed: $3, $4 and $6 + $7 are parallel and in one plane."}};
  add({"SOSM(1)", {1, 2, 3, 4, 5}, {{2, 3}, {2, 4}, {2, 5}}, {p34, p35, p45}}, rows);
  rows.push_back({"dim {$1 $2 $3 $4 $5+[$4 $5]dt}", 5, Dim{{1, 2, 3, 4, 5}, {p45}}});
  rows.push_back({"dim {$1 $2 $3 $4+[$3 $4]dt $5+[$3 $5]dt}", 5, Dim{{1, 2, 3, 4, 5}, {p34, p35}}});
  rows.push_back({"dim {$2 $3 $4 $5+[$4 $5]dt $6 $7}", 5, Dim{{2, 3, 4, 5, 6, 7}, {p45}}});
  rows.push_back({"dim {$2 $3 $4+[$3 $4]dt $5+[$3 $5]dt $6}", 6, Dim{{2, 3, 4, 5, 6}, {p34, p35}},
                  "Five screws cannot span six dimensions: $7 is missing."});
  rows.push_back({"the same with $7", 6, Dim{{2, 3, 4, 5, 6, 7}, {p34, p35}}});
  true_motions_1(rows);
  rows.push_back({"joints that restore the rank alone: the possible causes", Joints{3, 4}, &Screwed::restoring});
  rows.push_back({"$5, $6, $7 generate a subalgebra", true, [](const Screwed& s) {
                    return s.is_subalgebra({5, 6, 7});
                  }});
  rows.push_back({"actuators whose motion leaves no singular ordered subset", Joints{3}, &Screwed::clearing,
                  "Joint 4 does, joint 3 does not."});
  return rows;
}

// Example 2.

void third_subset_2(Rows& rows) {
  const std::string datum = "The printed $7 is not parallel to $9.";
  rows.push_back({"dim SOSM(3), SOSM(3) = {7, 8, 9}", 2, Dim{{7, 8, 9}}, datum});
  rows.push_back({"dim SSM(3), SSM(3) = {7, 9}", 1, Dim{{7, 9}}, datum});
  rows.push_back({"number of SOSM in S as given", 2, &Screwed::minimal_count,
                  "{3..8} is missed ($3, $4, $8 are parallel and in one plane). With the printed $7 the number is 2 by "
                  "accident: {2, 3, 4} and {3..8}."});
}

Rows example_2() {
  const Product p34 = {3, 4}, p56 = {5, 6}, p89 = {8, 9};
  const auto outside_first = [=](const Screwed& s) { return s.substituted({p34}).outside(p56, {2, 3, 4, 5, 6}); };
  Rows rows = {
      {"S is singular: det(J J') = 0", true, [](const Screwed& s) { return s.rank() < 6; },
       "The rank is 6. Only J' J is singular, as for any nine joints: sub-chains are singular, the arm is not."},
      {"dim SOSM(1), SOSM(1) = {2, 3, 4}", 2, Dim{{2, 3, 4}}},
      {"dim SOSM(2), SOSM(2) = {$2 $3 $4+[$3 $4]dt $5 $6}", 4, Dim{{2, 3, 4, 5, 6}, {p34}}},
      {"dim SSM(2), SSM(2) = {$2 $3 $4+[$3 $4]dt $6}", 3, Dim{{2, 3, 4, 6}, {p34}}}};
  third_subset_2(rows);
  add({"SOSM(1)", {2, 3, 4}, {}, {{2, 3}, {2, 4}, {3, 4}}}, rows);
  rows.push_back({"[$5 $6] is outside the span of SOSM(2)", true, outside_first});
  add({"SOSM(3)", {7, 8, 9}, {}, {p89}}, rows);
  rows.push_back({"dim {$2 $3 $4+[$3 $4]dt}", 3, Dim{{2, 3, 4}, {p34}}});
  rows.push_back({"dim {$2 $3 $4+[$3 $4]dt $5 $6+[$5 $6]dt}", 5, Dim{{2, 3, 4, 5, 6}, {p34, p56}}});
  rows.push_back({"dim {$7 $8 $9+[$8 $9]dt}", 3, Dim{{7, 8, 9}, {p89}}});
  rows.push_back({"joints 3, 5, 8 moved: singular ordered subsets left", 0, [](const Screwed& s) {
                    return s.moved({3, 5, 8}).singular_count();
                  }});
  rows.push_back({"joints 3, 5, 8 moved: rank S", 6, [](const Screwed& s) { return s.moved({3, 5, 8}).rank(); }});
  rows.push_back({"actuators whose motion leaves no singular ordered subset", Joints{3, 5, 8}, &Screwed::clearing,
                  "With the printed $7, {7, 8, 9} is not singular and needs no joint."});
  rows.push_back({"the Lie product is nilpotent: [$5 [$5 $6]] = 0", true,
                  [=](const Screwed& s) { return s.is_nilpotent(p56); },
                  "Its direction is that of -$6: products of turns never end. Antisymmetric is meant."});
  rows.push_back({"$7 is the unit screw of a turn (eq. (1), (2))", true, [](const Screwed& s) { return s.is_joint(7); },
                  "The printed $7 has a pitch of -2."});
  return rows;
}

// Example 3.

void true_motions_3(Rows& rows) {
  rows.push_back({"joint 3 moved: rank S", 6, [](const Screwed& s) { return s.moved({3}).rank(); }});
  rows.push_back({"joint 3 moved: dim {1..6}", 6, DimMoved{{3}, {1, 2, 3, 4, 5, 6}}});
  rows.push_back({"joint 3 moved: dim {2..7}", 6, DimMoved{{3}, {2, 3, 4, 5, 6, 7}}});
  rows.push_back({"joint 3 leads out at first order (the order)", 1, [](const Screwed& s) { return s.escape_order(3); },
                  "At second order: its weighted sum of products stays in the span. Joints 4, 5, 6 lead out at first "
                  "order."});
}

void mechanism_3(Rows& rows) {
  struct Link {
    const char* name;
    double length;
    int from, to;
    double angle;  ///< [deg], of the unsigned angle that the printed one stands for
  };
  const std::string datum = "The printed $7 is no unit screw, and parallel to $6.";
  Rows angles;
  for (const Link& l : {Link{"a12, between $7 and $2", 0.577, 7, 2, 150}, Link{"a23, between $2 and $3", 1, 2, 3, 135},
                        Link{"a34, between $3 and $5", 2.828, 3, 5, 90}, Link{"a45, between $5 and $6", 0, 5, 6, 90},
                        Link{"a51, between $6 and $7", 1.154, 6, 7, 30}}) {
    rows.push_back({l.name, l.length, [l](const Screwed& s) { return s.distance(l.from, l.to); }, datum});
    angles.push_back({"alpha" + std::string(l.name).substr(1), l.angle,
                      [l](const Screwed& s) { return s.angle(l.from, l.to); }, datum});
  }
  rows.insert(rows.end(), angles.begin(), angles.end());
  // Offsets without their signs: those of a12 and S55 are unreadable, and a sign depends on the direction of the axis.
  rows.push_back({"|S11|, on $7", 2.804, [](const Screwed& s) { return s.offset(6, 7, 2); }, datum});
  rows.push_back({"|S33|, on $3", 2.828, [](const Screwed& s) { return s.offset(2, 3, 5); }, datum});
  rows.push_back({"|S55|, on $6", 3.0, [](const Screwed& s) { return s.offset(5, 6, 7); }, datum});
  rows.push_back({"$7 is the unit screw of a turn (eq. (1), (2))", true, [](const Screwed& s) { return s.is_joint(7); },
                  "The direction of the printed $7 has length 1.73, and its pitch is -0.17."});
}

Rows example_3() {
  const Product p34 = {3, 4}, p35 = {3, 5};
  const Joints S = {1, 2, 3, 4, 5, 6, 7};
  const std::string full = "With the printed $7 the screws span all six dimensions.";
  Rows rows = {{"S is singular (rank < 6)", true, [](const Screwed& s) { return s.rank() < 6; }, full},
               {"number of SOSM in S: only {1..7}", 1, &Screwed::minimal_count,
                "{1..7} has two dependences; the minimal subsets are {1..6} and {2..7}. With the printed $7 the number "
                "is 1 by accident: {1..6}."}};
  // In the paper's order, which mixes products inside and outside.
  add({"S", S, {{2, 3}}, {{2, 4}, {2, 5}, {2, 6}, p34, p35, {3, 6}}, full}, rows);
  add({"S", S, {{4, 5}}, {{4, 6}, {5, 6}}, full}, rows);
  rows.push_back({"dim {$1 $2 $3 $4+[$3 $4]dt $5+[$3 $5]dt $6}", 6, Dim{{1, 2, 3, 4, 5, 6}, {p34, p35}}});
  rows.push_back({"dim {$2 $3 $4+[$3 $4]dt $5+[$3 $5]dt $6 $7}", 6, Dim{{2, 3, 4, 5, 6, 7}, {p34, p35}}});
  true_motions_3(rows);
  rows.push_back({"SSM(1) = SOSM(1)", S, &Screwed::dependent_joints, "$5 has no part in any dependence."});
  rows.push_back({"the actuators of products outside the span are the joints that lead out", Joints{2, 3, 4, 5},
                  &Screwed::restoring,
                  "A product outside the span is necessary, not sufficient: the weighted sum of joint 2 stays inside. "
                  "Joint 6, which the paper does not try, leads out by moving $7."});
  mechanism_3(rows);
  return rows;
}

/// Statements of sections 2 and 3, which are about every set of screws.
void general_rows(Rows& rows) {
  rows.push_back(
      {"section 2: regular ordered subsets that generate a subalgebra", 0, &Screwed::regular_subalgebras,
       "A subalgebra is no singularity: it takes more screws than its dimension. Wrists and cylindrical pairs "
       "are regular subalgebras."});
  rows.push_back({"section 2: in each SOSM some product of an element with one of its SSM leaves the span", true,
                  [](const Screwed& s) { return s.substitutions().some_outside; },
                  "With the printed screws some SOSM has no such product."});
  rows.push_back({"section 2: products outside the span whose substitution leaves the SOSM singular", 0,
                  [](const Screwed& s) { return s.substitutions().without_effect; },
                  "One product outside the span is not sufficient if the receptor's other products cancel it."});
  rows.push_back({"section 2: ordered subsets of other screws whose dimension a displacement changes", 0,
                  &Screwed::others_changed});
  rows.push_back({"section 2: most SOSM that one actuator restores (more than one is said to be possible)",
                  {},
                  &Screwed::most_restored,
                  "The paper names no number."});
}

Rows list_rows(int example) {
  Rows rows = example == 1 ? example_1() : example == 2 ? example_2() : example_3();
  // Number of joints: nine in example 2, seven in the others.
  const int last = example == 2 ? 9 : 7;
  rows.push_back({"the extreme joints 1 and " + std::to_string(last) + " change no rank by moving", true,
                  [last](const Screwed& s) {
                    return s.moved({1, last}).rank() == s.rank();
                  }});
  general_rows(rows);
  return rows;
}

bool agree(const Value& paper, const Value& computed) {
  // Silence of the paper agrees with nothing: such a row is information, no confirmation.
  if (std::holds_alternative<std::monostate>(paper) || std::holds_alternative<std::monostate>(computed)) return false;
  // Only lengths are compared with the paper's digits; ranks and joints must be the same.
  if (std::holds_alternative<double>(paper) && std::holds_alternative<double>(computed))
    return std::abs(std::get<double>(paper) - std::get<double>(computed)) <= kDigits;
  return paper == computed;
}

Claim evaluate_claim(const Row& row, const Screwed& printed, const Screwed& corrected) {
  Claim claim;
  claim.statement = row.statement;
  claim.paper = row.paper;
  claim.printed = row.compute(printed);
  claim.corrected = row.compute(corrected);
  claim.holds_printed = agree(claim.paper, claim.printed);
  claim.holds_corrected = agree(claim.paper, claim.corrected);
  // It must hold with the corrected screws: agreement with a wrong datum alone is an accident.
  if (claim.holds_corrected)
    claim.decision = claim.holds_printed ? ClaimStatus::kHolds : ClaimStatus::kHoldsWithCorrectedDatum;
  if (claim.decision != ClaimStatus::kHolds) claim.reason = row.reason;
  return claim;
}

}  // namespace

constexpr auto names_of(ClaimStatus) { return names("holds", "holds with corrected datum", "does not hold"); }

const char* to_string(ClaimStatus decision) { return name_of(decision); }

std::string correction(int example) {
  if (example == 2) return "$7: third component +0.7071 for -0.7071";
  if (example == 3) return "$7: second component 0.5 for 1.5";
  return "";
}

std::vector<Claim> examine(int example, const Example& data) {
  if (example < 1 || example > 3)
    throw Error(ExitCode::kUsage, "example " + std::to_string(example), "The paper has examples 1, 2 and 3.");
  const std::size_t joints = example == 2 ? 9 : 7;
  if (data.printed.screws.screw.size() != joints || data.corrected.screws.screw.size() != joints)
    throw Error(ExitCode::kUsage, "example " + std::to_string(example) + " has " + std::to_string(joints) + " screws");
  const Screwed printed(data.printed), corrected(data.corrected);
  std::vector<Claim> out;
  for (const Row& row : list_rows(example)) out.push_back(evaluate_claim(row, printed, corrected));
  return out;
}

}  // namespace garra::papers
