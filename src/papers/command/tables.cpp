// `garra papers tables`: the papers' Tables 1-4, recomputed on a hand of garra, beside the printed numbers.
#include "papers/command/tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "garra/core/error.hpp"
#include "garra/io/scenario.hpp"
#include "papers/tables.hpp"

namespace garra::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The data folder beside the program's build or unpacked folder.
fs::path default_data() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path() / "data";
}

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw Error(ExitCode::kInputOutput, path.string() + ": cannot be read",
                "Say with --data where the project's folder data is.");
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class V>
Json list_to_json(const V& v, int first = 0, int count = papers::kContacts) {
  return std::vector<double>(v.m + first, v.m + first + count);
}

Json matrix(const Mat<double, 9, 9>& A) {
  Json out = Json::array();
  for (int r = 0; r < 9; ++r) out.push_back(list_to_json(A, 9 * r, 9));
  return out;
}

Json to_json(const papers::Effort& e) {
  return {{"BoxIt", e.box_it}, {"FunEval", e.fun_eval}, {"QuacanIt", e.quacan_it}, {"MatxVec", e.matx_vec}, {"f", e.f}};
}

/// Largest difference of two forces, relative to the largest entry of the second.
template <class V>
double difference(const V& a, const V& b) {
  double size = 0, worst = 0;
  for (int i = 0; i < static_cast<int>(sizeof(V) / sizeof(double)); ++i) {
    size = std::max(size, std::abs(b[i]));
    worst = std::max(worst, std::abs(a[i] - b[i]));
  }
  return size > 0 ? worst / size : worst;
}

Json states_to_json(const papers::Reference& r) {
  static constexpr const char* name[3] = {"stick", "slip", "break"};
  Json out = Json::array();
  for (const auto state : r.states)
    // States follow from a certified force only.
    out.push_back(r.decision == Status::kConverged ? name[static_cast<int>(state)] : "-");
  return out;
}

/// Tables 1 and 2: a row on our hand, and the row with the b_n for which the printed c_n is a solution on our hand.
void add_sliding(const papers::Hand& hand, const papers::Printed& printed, Json& out) {
  for (const auto& row : printed.sliding) {
    const auto problem = papers::make_problem(hand, row.mu), through = papers::problem_through(hand, row);
    const auto ours = papers::solve_sliding(problem, hand.slip), back = papers::solve_sliding(through, hand.slip);
    out["table_1"].push_back({{"mu", row.mu}, {"printed", to_json(row.effort)}, {"ours", to_json(ours.effort)}});
    out["table_1"].back()["ours"]["residual"] = ours.residual;
    out["table_1"].back()["ours"]["status"] = to_string(ours.decision);
    out["table_2"].push_back({{"mu", row.mu},
                              {"printed", {{"c_n", list_to_json(row.c_n)}, {"a_n", list_to_json(row.a_n)}}},
                              {"ours", {{"c_n", list_to_json(ours.c_n)}, {"a_n", list_to_json(ours.a_n)}}}});
    out["table_2_test"].push_back({{"mu", row.mu},
                                   {"ours", to_json(back.effort)},
                                   {"difference", difference(back.c_n, row.c_n)},
                                   {"residual", back.residual},
                                   {"status", to_string(back.decision)},
                                   {"smallest_minor", papers::sliding_system(through, hand.slip).smallest_minor()}});
  }
}

Json to_json(const papers::RollingAnswer& a) {
  Json out = to_json(a.effort);
  out["projected_gradient"] = a.projected_gradient;
  out["residual"] = a.residual;
  out["status"] = to_string(a.decision);
  return out;
}

Json to_json(const papers::RollingPoint& p) {
  Json out;
  for (int j = 0; j < papers::kContacts; ++j)
    out.push_back(
        {{"c", list_to_json(p.c, 3 * j)}, {"a", list_to_json(p.a, 3 * j)}, {"s", p.s[j]}, {"lambda", p.lambda[j]}});
  return out;
}

/// The exact solution as a point of Table 4: s and lambda follow from c and a.
papers::RollingPoint to_point(const papers::Reference& r, double mu) {
  papers::RollingPoint p{r.c, r.a, {}, {}};
  for (int j = 0; j < papers::kContacts; ++j) {
    const double f = mu * r.c[3 * j], ct = r.c[3 * j + 1], co = r.c[3 * j + 2];
    // Squared distance of the force to the cone's boundary, positive inside.
    p.s[j] = f * f - ct * ct - co * co;
    p.lambda[j] = std::hypot(r.a[3 * j + 1], r.a[3 * j + 2]);
  }
  return p;
}

/// One row of Table 3 on a hand under a load.
Json rolling_row(const papers::Hand& hand, double mu, Json* table_4) {
  const auto problem = papers::make_problem(hand, mu);
  const auto ours = papers::solve_rolling(problem);
  const auto truth = papers::solve_certified(problem);
  Json out = to_json(ours);
  out["difference"] = difference(ours.point.c, truth.c);
  out["states"] = states_to_json(truth);
  if (table_4 != nullptr) {
    (*table_4)["ours"] = to_json(ours.point);
    (*table_4)["certified"] = to_json(to_point(truth, mu));
    (*table_4)["states"] = states_to_json(truth);
  }
  return out;
}

/// The median of a counter over the rows of Table 3 (the lower one of an even number).
int median(const Json& rows, const char* who, const char* counter) {
  std::vector<int> values;
  for (const Json& row : rows) values.push_back(row[who][counter].get<int>());
  // The lower one of two: a count, not a mean of counts.
  const auto middle = values.begin() + (static_cast<std::ptrdiff_t>(values.size()) - 1) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void add_rolling(const papers::Hand& hand, const papers::Printed& printed, Json& out) {
  const papers::Hand loaded = papers::loaded_through(hand, printed.point);
  for (const auto& row : printed.rolling) {
    Json table_4 = {{"mu", row.mu}, {"printed", to_json(printed.point)}};
    out["table_3"].push_back({{"mu", row.mu},
                              {"printed", to_json(row.effort)},
                              {"ours", rolling_row(hand, row.mu, &table_4)},
                              {"table_4_load", rolling_row(loaded, row.mu, nullptr)}});
    // The papers print Table 4 for one coefficient of friction only.
    if (row.mu == printed.point_mu) out["table_4"] = table_4;
  }
  for (const char* who : {"printed", "ours", "table_4_load"})
    for (const char* counter : {"BoxIt", "MatxVec"})
      out["table_3_medians"][who][counter] = median(out["table_3"], who, counter);
}

/// Table 4's digits against their own formulas, and the problem on our hand that they solve.
void add_point_test(const papers::Hand& hand, const papers::Printed& printed, Json& out) {
  const auto problem = papers::make_problem(papers::loaded_through(hand, printed.point), printed.point_mu);
  const auto i = papers::identities(problem, printed.point);
  // No contact is declared sliding: the exact law decides.
  const papers::Sliding none{Vec<double, 6>::zero()};
  const auto truth = papers::solve_certified(problem);
  const auto merit = papers::solve_rolling(problem);
  out["table_4_test"] = {
      {"identities",
       {{"G", i.g}, {"s_row", i.s}, {"lambda", i.lambda}, {"angle", i.angle}, {"cone", i.cone}, {"f", i.f}}},
      {"residual_of_printed", papers::check_iterate(problem, none, printed.point.c).residual},
      {"auto", {{"difference", difference(truth.c, printed.point.c)}, {"status", to_string(truth.decision)}}},
      {"box_quacan", to_json(merit)}};
  out["table_4_test"]["box_quacan"]["difference"] = difference(merit.point.c, printed.point.c);
}

constexpr const char* kComparable[4] = {
    "Comparable: the size of the counters, since formulation, variables and start are the same. Not: a row with the "
    "row above it, since the papers print neither A, b and slip directions nor the tolerances and the trust radius.",
    "Comparable: that every contact holds (c_n > 0, a_n = 0). Not: the forces, which are another hand's under another "
    "load.",
    "Comparable: the size of the counters and of f, from x0 = 0. Not: a row with the row above it, since A and b are "
    "not theirs. f is no accuracy: `residual` is the error in the exact law, `difference` that in the force.",
    "Comparable: the kind of answer (all contacts slip, s = 0, lambda = |a_T|). Not: the numbers, which are another "
    "hand's under another load."};

/// Prints lines of at most 110 columns.
void print_wrapped(const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.size() - begin <= 108 ? text.size() : text.rfind(' ', begin + 108);
    std::printf("  %s\n", text.substr(begin, end - begin).c_str());
    begin = end + 1;
  }
}

void print_effort(const Json& e) {
  std::printf(" %6d %8d %9d %8d  %9.2e", e["BoxIt"].get<int>(), e["FunEval"].get<int>(), e["QuacanIt"].get<int>(),
              e["MatxVec"].get<int>(), e["f"].get<double>());
}

void print_ours(const char* name, const Json& ours) {
  std::printf("\n       %-8s", name);
  print_effort(ours);
  std::printf("  %8.1e  %-9s", ours["residual"].get<double>(), ours["status"].get<std::string>().c_str());
  if (!ours.contains("states")) return;
  std::printf("  %10.1e  ", ours["difference"].get<double>());
  for (const Json& state : ours["states"])
    std::printf("%s%s", &state == &ours["states"][0] ? "" : " ", state.get<std::string>().c_str());
}

void print_efforts(const Json& rows, bool rolling) {
  std::printf("   mu            BoxIt  FunEval  QuacanIt  MatxVec          f  residual  status%s\n",
              rolling ? "     difference  states" : "");
  for (const Json& row : rows) {
    std::printf("  %3.1f  printed ", row["mu"].get<double>());
    print_effort(row["printed"]);
    print_ours("ours", row["ours"]);
    if (rolling) print_ours("load T4", row["table_4_load"]);
    std::printf("\n");
  }
}

void print_table_2(const Json& rows) {
  std::printf("   mu              c_n1     c_n2     c_n3     a_n1     a_n2     a_n3\n");
  for (const Json& row : rows)
    for (const char* who : {"printed", "ours"}) {
      if (who[0] == 'p')
        std::printf("  %3.1f  printed ", row["mu"].get<double>());
      else
        std::printf("       ours    ");
      for (const char* key : {"c_n", "a_n"})
        for (const Json& v : row[who][key]) std::printf(" %8.4f", v.get<double>());
      std::printf("\n");
    }
}

void print_table_2_test(const Json& rows) {
  std::printf(
      "  As a test: b_n := -A~ c_n on our hand makes the printed c_n a solution, which BOX-QUACAN has to find.\n"
      "   mu            BoxIt  FunEval  QuacanIt  MatxVec          f  residual  status     difference  smallest minor "
      "of A~\n");
  for (const Json& row : rows) {
    std::printf("  %3.1f          ", row["mu"].get<double>());
    print_effort(row["ours"]);
    std::printf("  %8.1e  %-9s  %10.1e  %14.2e\n", row["residual"].get<double>(),
                row["status"].get<std::string>().c_str(), row["difference"].get<double>(),
                row["smallest_minor"].get<double>());
  }
}

void print_table_4(const Json& t) {
  std::printf(
      "             printed                          ours                             ours, certified\n"
      "             C1         C2         C3         C1         C2         C3         C1         C2         C3\n");
  const auto line = [&](const char* name, const auto& value) {
    std::printf("  %-6s", name);
    for (const char* who : {"printed", "ours", "certified"})
      for (const Json& contact : t[who]) std::printf(" %10.3e", value(contact).template get<double>());
    std::printf("\n");
  };
  static constexpr const char* name[2][3] = {{"c_n", "c_t", "c_o"}, {"a_n", "a_t", "a_o"}};
  for (int v = 0; v < 2; ++v)
    for (std::size_t i = 0; i < 3; ++i)
      line(name[v][i], [&](const Json& contact) { return contact[v == 0 ? "c" : "a"][i]; });
  for (const char* key : {"s", "lambda"}) line(key, [&](const Json& contact) { return contact[key]; });
  std::printf("  state        slip       slip       slip                                 ");
  for (const Json& state : t["states"]) std::printf(" %10s", state.get<std::string>().c_str());
  std::printf("\n");
}

void print_table_4_test(const Json& t) {
  const Json& i = t["identities"];
  std::printf(
      "  As a test of the digits: |G| <= %.1e, |s row| <= %.1e, |lambda/|a_T| - 1| <= %.1e, |sin(c_T, a_T)| <= %.1e,\n"
      "  f = %.2e; yet a force lies %.1e of its size outside its cone.\n",
      i["G"].get<double>(), i["s_row"].get<double>(), i["lambda"].get<double>(), i["angle"].get<double>(),
      i["f"].get<double>(), i["cone"].get<double>());
  std::printf("  As a test on our hand, b := a - A c: the exact law says residual %.1e of the printed c.\n",
              t["residual_of_printed"].get<double>());
  const Json &newton = t["auto"], &box = t["box_quacan"];
  std::printf("    auto        %-9s  difference to the printed c %.1e\n", newton["status"].get<std::string>().c_str(),
              newton["difference"].get<double>());
  std::printf("    BOX-QUACAN  %-9s  difference to the printed c %.1e, f %.1e, residual %.1e\n",
              box["status"].get<std::string>().c_str(), box["difference"].get<double>(), box["f"].get<double>(),
              box["residual"].get<double>());
}

void print_sliding(const Json& t) {
  std::printf("\nTable 1: all contacts slide, f of (48) in 6 variables, x0 = 0\n");
  print_efforts(t["table_1"], false);
  print_wrapped(kComparable[0]);
  std::printf("\nTable 2: where Table 1 ended [N, m/s^2]\n");
  print_table_2(t["table_2"]);
  print_wrapped(kComparable[1]);
  print_table_2_test(t["table_2_test"]);
}

void print_medians(const Json& medians) {
  const auto part = [&](const char* who, const char* name, const char* separator) {
    std::printf("%s%s BoxIt %d, MatxVec %d", separator, name, medians[who]["BoxIt"].get<int>(),
                medians[who]["MatxVec"].get<int>());
  };
  part("printed", "printed", "  medians: ");
  part("ours", "ours", "; ");
  part("table_4_load", "load T4", "; ");
  std::printf("\n");
}

void print_rolling(const Json& t) {
  std::printf("\nTable 3: all contacts may roll, f of (4) in 24 variables, x0 = 0\n");
  print_efforts(t["table_3"], true);
  print_medians(t["table_3_medians"]);
  print_wrapped(kComparable[2]);
  std::printf("\nTable 4: where Table 3 ended at mu = %.1f [N, m/s^2]\n", t["table_4"]["mu"].get<double>());
  print_table_4(t["table_4"]);
  print_wrapped(kComparable[3]);
  print_table_4_test(t["table_4_test"]);
}

void print_text(const Json& t) {
  std::printf("The papers' Tables 1-4 in kind\n  hand: %s\n", t["hand"].get<std::string>().c_str());
  print_wrapped(
      "The papers print neither A nor b, so no row can be computed again. `ours`: the same formulation, start and "
      "method on our hand; `load T4`: on our hand under the load that makes the printed Table 4 its answer at mu = "
      "0.1. Statuses are those of our certificate (residual <= 1e-8).");
  print_sliding(t);
  print_rolling(t);
}

}  // namespace

void print_tables(const TablesArguments& a) {
  const fs::path data = a.data.empty() ? default_data() : fs::path(a.data);
  const auto printed = papers::parse_printed(read_text(data / "reference" / "papers" / "tables.json"));
  const std::string file = a.hand.empty() ? (data / "scenarios" / "papers_hand.toml").string() : a.hand;
  const auto scenario = io::read_scenario(file);
  const auto hand = name_file(file, [&] { return papers::make_hand(scenario); });
  Json out;
  out["hand"] = scenario.title.empty() ? fs::path(file).filename().string() : scenario.title;
  out["A"] = matrix(hand.A);
  out["b"] = list_to_json(hand.b, 0, 9);
  out["slip"] = list_to_json(hand.slip.v, 0, 6);
  out["comparable"] = {{"table_1", kComparable[0]},
                       {"table_2", kComparable[1]},
                       {"table_3", kComparable[2]},
                       {"table_4", kComparable[3]}};
  out["tolerance"] = papers::kTolerance;
  add_sliding(hand, printed, out);
  add_rolling(hand, printed, out);
  add_point_test(hand, printed, out);
  if (a.format == "json")
    std::printf("%s\n", out.dump(1).c_str());
  else
    print_text(out);
}

void add_tables_options(Command command, TablesArguments& arguments) {
  command
      .add_option("--data", arguments.data,
                  "tables: folder with scenarios/ and reference/ (default: data next to the program's folder)")
      .type_name("FOLDER");
  command
      .add_option("--hand", arguments.hand,
                  "tables: scenario of another hand of three fingers, taken at sample 0 (default: papers_hand.toml)")
      .type_name("FILE.toml");
}

void add_contact_tables(Command contact) {
  const auto a = std::make_shared<TablesArguments>();
  Command c = contact.add_subcommand("tables", "The papers' Tables 1-4 in kind: garra papers tables");
  add_tables_options(c, *a);
  c.add_option("--format", a->format, "human or json", one_of({"human", "json"}));
  c.footer("Examples:\n  garra papers tables\n  garra papers tables --format json");
  c.callback([a] { print_tables(*a); });
}

}  // namespace garra::cli
