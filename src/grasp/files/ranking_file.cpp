#include "grasp/files/ranking_file.hpp"

#include <cmath>
#include <filesystem>
#include <span>

#include "base/files/hdf5.hpp"
#include "base/files/number.hpp"
#include "garra/grasp_set.hpp"
#include "garra/io/grasp_set.hpp"

namespace garra::io {

namespace {

using grasp::Ranking;
using Type = Hdf5Stream::Type;

struct Reals {
  const char* name;
  std::vector<double> Ranking::*column;
};
constexpr Reals kReals[] = {{"p_held", &Ranking::p_held},
                            {"low", &Ranking::low},
                            {"high", &Ranking::high},
                            {"difference", &Ranking::difference},
                            {"difference_low", &Ranking::difference_low},
                            {"difference_high", &Ranking::difference_high},
                            {"p_no_slip", &Ranking::p_no_slip},
                            {"p_resisted", &Ranking::p_resisted},
                            {"resisted_force_radius", &Ranking::resisted_force_radius}};
struct Quantiles {
  const char* name;
  std::vector<std::array<double, 3>> Ranking::*column;
};
constexpr Quantiles kQuantiles[] = {{"required_friction", &Ranking::required_friction}, {"margin", &Ranking::margin}};
struct Counts {
  const char* name;
  std::vector<std::int64_t> Ranking::*column;
};
constexpr Counts kCounts[] = {{"rank", &Ranking::rank},
                              {"held", &Ranking::held},
                              {"unsolved", &Ranking::unsolved},
                              {"samples", &Ranking::samples},
                              {"non_unique", &Ranking::non_unique},
                              {"limiting_contact", &Ranking::limiting_contact}};

/// Stores the meaning of a dataset's numbers as its attributes.
void put_words(Hdf5Stream& h5, const char* data_set, std::span<const study::OutcomeWords> table) {
  std::vector<std::string> names, labels, meanings;
  for (const study::OutcomeWords& row : table) {
    names.emplace_back(row.name);
    labels.emplace_back(row.label);
    meanings.emplace_back(row.meaning);
  }
  h5.attribute(data_set, "names", names);
  h5.attribute(data_set, "labels", labels);
  h5.attribute(data_set, "meanings", meanings);
}

using Columns = std::vector<std::pair<std::string, std::vector<double>>>;

/// One row per grasp under the names of the columns; NaN is an empty field.
std::string to_csv(const grasp::Ranking& r, const Columns& columns) {
  std::string out =
      "grasp,rank,status,p_held,low,high,difference,difference_low,difference_high,required_friction_5,"
      "required_friction_50,required_friction_95,held,unsolved,samples,p_no_slip,p_resisted,margin_5,margin_50,"
      "margin_95,resisted_force_radius,limiting_contact,non_unique";
  for (const auto& row : grasp::kOutcomeWords) out += std::string(",outcome_") + row.name;
  for (const auto& [name, column] : columns) out += "," + name;
  out += "\n";
  const auto names = names_of(grasp::GraspStatus{});
  const auto number = [](double x) { return std::isnan(x) ? "," : "," + shortest(x); };
  for (std::size_t g = 0; g < r.status.size(); ++g) {
    out += std::to_string(g) + "," + std::to_string(r.rank[g]) + "," + names[static_cast<std::size_t>(r.status[g])];
    for (const auto* column : {&r.p_held, &r.low, &r.high, &r.difference, &r.difference_low, &r.difference_high})
      out += number((*column)[g]);
    for (const double mu : r.required_friction[g]) out += number(mu);
    out += "," + std::to_string(r.held[g]) + "," + std::to_string(r.unsolved[g]) + "," + std::to_string(r.samples[g]);
    out += number(r.p_no_slip[g]) + number(r.p_resisted[g]);
    for (const double margin : r.margin[g]) out += number(margin);
    out += number(r.resisted_force_radius[g]) + "," +
           (r.limiting_contact[g] < 0 ? "" : std::to_string(r.limiting_contact[g]));
    out += "," + std::to_string(r.non_unique[g]);
    for (const std::int64_t n : r.outcomes[g]) out += "," + std::to_string(n);
    for (const auto& [name, column] : columns) out += number(column[g]);
    out += "\n";
  }
  return out;
}

}  // namespace

struct RankingWriter::File {
  File(const std::string& where, std::uint64_t grasps) : stream(where), path(where), count(grasps) {}

  Hdf5Stream stream;
  std::string path;
  std::uint64_t count, written = 0;
  Hdf5Stream::Place status, outcomes;
  std::vector<Hdf5Stream::Place> reals, quantiles, counts;

  template <class T>
  void put(const Hdf5Stream::Place& place, std::span<const T> values) {
    if (!values.empty()) stream.write(place, written, values);
  }
};

RankingWriter::RankingWriter(const std::string& path, std::int64_t grasps, const TextAttributes& attributes)
    : file_(std::make_unique<File>(path, static_cast<std::uint64_t>(grasps))) {
  Hdf5Stream& h5 = file_->stream;
  const std::uint64_t n = file_->count;
  // Texts first: behind the numbers they would keep these in memory.
  for (const auto& [name, text] : attributes) h5.attribute("/", name, text);
  file_->status = h5.add("status", {n}, Type::kUint8);
  put_words(h5, "status", grasp::kGraspStatusWords);
  file_->outcomes = h5.add("outcomes", {n, grasp::kOutcomes}, Type::kInt64);
  put_words(h5, "outcomes", grasp::kOutcomeWords);
  for (const Reals& c : kReals) file_->reals.push_back(h5.add(c.name, {n}, Type::kFloat64));
  for (const Quantiles& c : kQuantiles) {
    file_->quantiles.push_back(h5.add(c.name, {n, 3}, Type::kFloat64));
    h5.attribute(c.name, "quantiles", std::vector<double>{0.05, 0.5, 0.95});
  }
  for (const Counts& c : kCounts) file_->counts.push_back(h5.add(c.name, {n}, Type::kInt64));
}

RankingWriter::~RankingWriter() = default;

void RankingWriter::append(const Ranking& r) {
  File& f = *file_;
  std::vector<std::uint8_t> status;
  for (const grasp::GraspStatus s : r.status) status.push_back(static_cast<std::uint8_t>(s));
  f.put(f.status, std::span<const std::uint8_t>(status));
  for (std::size_t k = 0; k < f.reals.size(); ++k) f.put(f.reals[k], std::span<const double>(r.*kReals[k].column));
  for (std::size_t k = 0; k < f.counts.size(); ++k)
    f.put(f.counts[k], std::span<const std::int64_t>(r.*kCounts[k].column));
  for (std::size_t k = 0; k < f.quantiles.size(); ++k) {
    std::vector<double> flat;
    for (const auto& three : r.*kQuantiles[k].column) flat.insert(flat.end(), three.begin(), three.end());
    f.put(f.quantiles[k], std::span<const double>(flat));
  }
  std::vector<std::int64_t> outcomes;
  for (const auto& counts : r.outcomes) outcomes.insert(outcomes.end(), counts.begin(), counts.end());
  f.put(f.outcomes, std::span<const std::int64_t>(outcomes));
  f.written += r.status.size();
}

void RankingWriter::commit() { file_->stream.commit(); }

void write_ranking(const std::string& path, const Ranking& r, const TextAttributes& attributes,
                   const Columns& columns) {
  if (std::filesystem::path(path).extension() == ".csv") {
    const std::string text = to_csv(r, columns);
    return write_file_atomically(path, std::as_bytes(std::span(text)));
  }
  TextAttributes all = {{"decided", r.decided ? "true" : "false"},
                        {"hand", names_of(r.hand)[static_cast<std::size_t>(r.hand)]}};
  all.insert(all.end(), attributes.begin(), attributes.end());
  RankingWriter file(path, std::ssize(r.status), all);
  file.append(r);
  file.commit();
}

}  // namespace garra::io
