// Converts FCLIB's sparse matrices to dense ones. Its description is not always followed; then existing files decide.
#include "contact/files/fclib_file.hpp"

#include <algorithm>
#include <cmath>

namespace garra::io {
namespace {

constexpr std::int64_t kTripletFrom = 0;  // nz >= 0 is the number of triplets
constexpr std::int64_t kColumns = -1;     // CSC
constexpr std::int64_t kRows = -2;        // CSR

struct SparseMatrix {
  std::int64_t size = 0;  ///< rows = columns
  std::int64_t nz = 0;
  std::vector<std::int64_t> p, i;
  std::vector<double> x;
};

/// Row-major.
struct DenseMatrix {
  std::size_t size = 0;
  std::vector<double> values;
};

std::int64_t single(const Hdf5Reader& file, const std::string& name) {
  const std::vector<std::int64_t> values = file.integers(name);
  if (values.size() != 1) file.refuse(name, "expected one number, found " + std::to_string(values.size()));
  return values[0];
}

std::int64_t read_size(const Hdf5Reader& file) {
  const std::int64_t rows = single(file, "fclib_local/W/m");
  const std::int64_t columns = single(file, "fclib_local/W/n");
  if (rows != columns || rows % 3 != 0) {
    file.refuse("fclib_local/W",
                "expected 3k rows and 3k columns, found " + std::to_string(rows) + " x " + std::to_string(columns));
  }
  require_supported_contacts(file, "fclib_local/W", rows / 3);
  return rows;
}

/// Number of entries in use. `nzmax` is not used, because it exceeds the stored entries in existing files.
std::size_t used_entries(const Hdf5Reader& file, const SparseMatrix& w) {
  const std::size_t stored = std::min(w.i.size(), w.x.size());
  const auto size = static_cast<std::size_t>(w.size);
  if (w.nz < kTripletFrom && w.p.size() < size + 1) {
    file.refuse("fclib_local/W/p",
                "expected " + std::to_string(size + 1) + " offsets, found " + std::to_string(w.p.size()));
  }
  // Offsets that decrease would leave the arrays below.
  if (w.nz < kTripletFrom && (w.p[0] != 0 || !std::is_sorted(w.p.begin(), w.p.begin() + w.size + 1))) {
    file.refuse("fclib_local/W/p", "offsets must start at 0 and never decrease");
  }
  const auto used = static_cast<std::size_t>(w.nz >= kTripletFrom ? w.nz : w.p[size]);
  if (used > stored || (w.nz >= kTripletFrom && used > w.p.size())) {
    file.refuse("fclib_local/W/x", "expected " + std::to_string(used) + " entries, found " + std::to_string(stored));
  }
  return used;
}

SparseMatrix read_sparse(const Hdf5Reader& file) {
  SparseMatrix w;
  w.size = read_size(file);
  w.nz = single(file, "fclib_local/W/nz");
  if (w.nz < kRows) {
    file.refuse("fclib_local/W/nz",
                "expected -1 (CSC), -2 (CSR) or a number of triplets, found " + std::to_string(w.nz));
  }
  w.p = file.integers("fclib_local/W/p");
  w.i = file.integers("fclib_local/W/i");
  w.x = file.doubles("fclib_local/W/x");
  return w;
}

/// Entries with the same place add up, as in every sparse library.
void add_entry(const Hdf5Reader& file, DenseMatrix& dense, std::int64_t row, std::int64_t column, double value) {
  const auto size = static_cast<std::int64_t>(dense.size);
  if (row < 0 || row >= size || column < 0 || column >= size) {
    file.refuse("fclib_local/W/i", "entry (" + std::to_string(row) + ", " + std::to_string(column) +
                                       ") lies outside the matrix of " + std::to_string(size) + " rows");
  }
  dense.values[static_cast<std::size_t>(row * size + column)] += value;
}

/// Reads triplets as i = row, p = column.
DenseMatrix to_dense(const Hdf5Reader& file, const SparseMatrix& w) {
  const std::size_t used = used_entries(file, w);
  const auto size = static_cast<std::size_t>(w.size);
  // Dense, since at most kMaxContacts contacts are supported: 96 rows.
  DenseMatrix dense{size, std::vector<double>(size * size, 0.0)};
  if (w.nz >= kTripletFrom) {
    for (std::size_t e = 0; e < used; ++e) add_entry(file, dense, w.i[e], w.p[e], w.x[e]);
    return dense;
  }
  for (std::size_t line = 0; line < size; ++line) {
    for (auto e = static_cast<std::size_t>(w.p[line]); e < static_cast<std::size_t>(w.p[line + 1]); ++e) {
      const auto outer = static_cast<std::int64_t>(line);
      const bool by_rows = w.nz == kRows;
      add_entry(file, dense, by_rows ? outer : w.i[e], by_rows ? w.i[e] : outer, w.x[e]);
    }
  }
  return dense;
}

DenseMatrix transposed(const DenseMatrix& w) {
  DenseMatrix t = w;
  for (std::size_t r = 0; r < w.size; ++r) {
    for (std::size_t c = 0; c < w.size; ++c) t.values[c * w.size + r] = w.values[r * w.size + c];
  }
  return t;
}

struct StoredSolution {
  std::vector<double> q, r, u;
};

/// max |W r + q - u|
double mismatch(const DenseMatrix& w, const StoredSolution& s) {
  double worst = 0;
  for (std::size_t i = 0; i < w.size; ++i) {
    double u = s.q[i];
    for (std::size_t j = 0; j < w.size; ++j) u += w.values[i * w.size + j] * s.r[j];
    worst = std::max(worst, std::abs(u - s.u[i]));
  }
  return worst;
}

/// FCLIB's header says that triplets hold p = row, i = column; the files that Siconos writes hold i = row, p = column.
/// W may be unsymmetric, so the order matters. The order of existing files is the default; a stored solution whose u =
/// W r + q only holds for the other order overrides it.
DenseMatrix settle_triplet_order(const Hdf5Reader& file, DenseMatrix w, const std::vector<double>& q) {
  const std::string names[] = {"solution/r", "solution/u"};
  for (const std::string& name : names) {
    if (!file.has(name) || file.shape(name) != Shape{w.size}) return w;
  }
  const StoredSolution stored{q, file.doubles(names[0]), file.doubles(names[1])};
  DenseMatrix other = transposed(w);
  // A tenth: both orders fit a symmetric W, and then the file's own stays.
  constexpr double kClearly = 0.1;
  return mismatch(other, stored) < kClearly * mismatch(w, stored) ? other : w;
}

void require_plain_local_problem(const Hdf5Reader& file) {
  if (!file.has("fclib_local")) {
    file.refuse("fclib_global", "global FCLIB problems are not supported, only local ones (W, q, mu)");
  }
  // A planar contact has two components.
  const std::int64_t dimension = single(file, "fclib_local/spacedim");
  if (dimension != 3) {
    file.refuse("fclib_local/spacedim", "expected 3 (contacts in space), found " + std::to_string(dimension));
  }
  for (const char* name : {"fclib_local/V", "fclib_local/R"}) {
    if (file.has(name)) file.refuse(name, "equality constraints are not supported", "Eliminate them first.");
  }
}

}  // namespace

bool is_fclib(const Hdf5Reader& file) { return file.has("fclib_local") || file.has("fclib_global"); }

void require_supported_contacts(const Hdf5Reader& file, const std::string& dataset, std::int64_t contacts) {
  if (contacts >= 1 && contacts <= contact::kMaxContacts) return;
  file.refuse(
      dataset,
      std::to_string(contacts) + " contacts per problem, supported are 1 to " + std::to_string(contact::kMaxContacts),
      "Leave this problem out, or split it where groups of contacts do not influence one another.");
}

contact::Problems read_fclib_local(const Hdf5Reader& file) {
  require_plain_local_problem(file);
  const SparseMatrix w = read_sparse(file);
  const auto size = static_cast<std::uint64_t>(w.size);
  file.require_shape("fclib_local/vectors/q", {size});
  file.require_shape("fclib_local/vectors/mu", {size / 3});
  contact::Problems problems;
  problems.contacts = static_cast<int>(w.size / 3);
  problems.count = 1;
  problems.b = file.doubles("fclib_local/vectors/q");
  problems.mu = file.doubles("fclib_local/vectors/mu");
  DenseMatrix dense = to_dense(file, w);
  if (w.nz >= kTripletFrom) dense = settle_triplet_order(file, std::move(dense), problems.b);
  problems.A = std::move(dense.values);
  return problems;
}

}  // namespace garra::io
