#include "contact/bench/mncp_arrays.hpp"

#include "contact/bench/mncp_minimizers.hpp"
#include "garra/solvers/mncp_problems.hpp"

namespace garra::mncp {

namespace {

template <class P>
constexpr int kNumbers = batch::kFields<double, detail::DataOf<P>>;  // 0 of an empty one

// Names of solvers::MncpTestSet, in its order.
constexpr const char* kNames[] = {"quartic", "quartic",      "linear", "linear",         "linear",
                                  "linear",  "linear",       "linear", "kojima_shindo",  "mathiesen",
                                  "walras",  "nash_cournot", "hs66",   "hard_equations", "one_contact"};

template <class P>
std::vector<double> data_numbers(const detail::DataOf<P>& data) {
  const auto* first = reinterpret_cast<const double*>(&data);
  return {first, first + kNumbers<P>};
}

batch::InColumn make_in_column(const char* name, std::span<const double> values, std::int64_t count, int width) {
  if (values.size() != static_cast<std::size_t>(count * width))
    throw Error(ExitCode::kUsage, "mncp: " + std::string(name) + " has " + std::to_string(values.size()) + " numbers",
                "Give " + std::to_string(width) + " for each of the " + std::to_string(count) + " problems.");
  return batch::in_column(values, width);
}

}  // namespace

std::vector<Family> families() {
  std::vector<Family> out;
  solvers::MncpTestSet::for_each([&]<class P>(std::type_identity<P>) {
    out.push_back({kNames[out.size()], P::kComplementary, P::kFree, kNumbers<P>});
  });
  return out;
}

std::vector<Case> cases() {
  std::vector<Case> out;
  int family = 0;
  solvers::MncpTestSet::for_each([&]<class P>(std::type_identity<P>) {
    for (const solvers::MncpCase<P>& c : P::cases())
      out.push_back({c.name, family, data_numbers<P>(c.data), c.start, c.solutions});
    ++family;
  });
  return out;
}

Solutions solve_arrays(const Arrays& in, const Choice& choice, const Options& options, const Device& device) {
  if (device.executor == Executor::kCuda)
    throw Error(ExitCode::kNoDevice, "mncp: the built-in problems run on the CPU", "Use device \"cpu\".");
  const std::vector<Family> all = families();
  if (in.family < 0 || in.family >= static_cast<int>(all.size()))
    throw Error(ExitCode::kUsage, "mncp: no family " + std::to_string(in.family), "Use one of families().");
  const Family& family = all[static_cast<std::size_t>(in.family)];
  const RowJob job{in.family,
                   choice,
                   options,
                   make_in_column("numbers", in.numbers, in.count, family.numbers),
                   make_in_column("start", in.start, in.count, family.unknowns()),
                   in.count,
                   device};
  return solve_rows(job);
}

}  // namespace garra::mncp
