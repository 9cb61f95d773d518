// contact::solve: checks sizes and methods, then runs the method's own instance.
#include <algorithm>
#include <string>

#include "base/room.hpp"
#include "contact/batch/auto_solver.hpp"
#include "contact/batch/solve_batch.hpp"
#include "garra/contact.hpp"
#include "garra/core/error.hpp"

namespace garra::contact {

namespace {

void run_pair(const MethodCall& call) {
  constexpr void (*kRuns[])(const MethodCall&) = {run_merit<Merit::kPapers>, run_merit<Merit::kProducts>,
                                                  run_merit<Merit::kFischerBurmeister>,
                                                  run_merit<Merit::kSecondOrderCone>};
  kRuns[static_cast<std::size_t>(pair_of(call.options).value().merit)](call);
}

/// Throws Error(kUsage) for an unknown name, with the known ones.
template <class Enum>
Enum find_name(const std::string& name, const char* what) {
  if (const auto value = value_named<Enum>(name)) return *value;
  std::string known;
  for (const char* one : names_of(Enum{})) known.append(known.empty() ? "" : ", ").append(one);
  throw Error(ExitCode::kUsage, std::string("no ") + what + " is called " + name, "there are " + known);
}

struct Entry {
  Method method;
  const char* name;
  void (*run)(const MethodCall&);
  int most_contacts = kMaxContacts, most_on_device = kMaxContacts;
};
// In the order of Method, which indexes it: to_string() and solve() do not search.
constexpr Entry kMethods[kMethodCount] = {
    {Method::kAuto, "auto", run_newton},
    {Method::kSemismoothNewton, "semismooth-newton", run_newton},
    {Method::kNsgs, "nsgs", run_nsgs},
    {Method::kAdmm, "admm", run_admm},
    {Method::kExtragradient, "extragradient", run_extragradient},
    {Method::kBoxQuacan, "box-quacan", run_pair, kMaxContacts, kMaxOnDevice<BoxQuacanMethod>},
    {Method::kSpg, "spg", run_pair, kMaxContacts, kMaxOnDevice<BoxQuacanMethod>},
    {Method::kProjectedLm, "projected-lm", run_pair, kMaxContacts, kMaxOnDevice<BoxQuacanMethod>},
    {Method::kFischerBurmeister, "fischer-burmeister", run_pair, kMaxContacts, kMaxOnDevice<BoxQuacanMethod>},
    {Method::kMerit, "merit", run_pair, kMaxContacts, kMaxOnDevice<BoxQuacanMethod>},
    {Method::kLemke, "lemke", run_lemke},
};

/// Throws if a contact may roll: Lemke's method has no friction cones.
void check_all_slide(const ProblemView& in) {
  const auto contacts = static_cast<std::size_t>(in.count * in.contacts);
  std::size_t rolling = contacts;
  for (const std::uint8_t mode : in.mode) rolling -= mode != 0 ? 1 : 0;
  // Counts all of them instead of stopping at the first, for the message.
  if (rolling > 0)
    throw Error(ExitCode::kInvalidFile,
                "method lemke: " + std::to_string(rolling) + " of " + std::to_string(contacts) + " contacts may roll",
                "lemke solves problems whose contacts all slide (mode = 1); use auto");
}

/// As the other make_room(), with new memory touched by all threads.
void make_room(const ProblemView& problems, const Wanted& wanted, int threads, Solutions& out) {
  out.contacts = problems.contacts;
  out.count = problems.count;
  const auto n = static_cast<std::size_t>(problems.count), k = static_cast<std::size_t>(problems.contacts);
  // Not cleared: every number is overwritten.
  const auto room = [&](auto& numbers, std::size_t size) { make_room_for(numbers, size, threads); };
  room(out.c, wanted.c ? n * 3 * k : 0);
  room(out.a, wanted.a ? n * 3 * k : 0);
  room(out.merit, wanted.merit ? n : 0);
  room(out.state, wanted.diagnostics ? n * k : 0);
  for (auto* v : {&out.friction_margin, &out.required_friction}) room(*v, wanted.diagnostics ? n : 0);
  for (auto* v : {&out.residual, &out.contact_residual, &out.minimum, &out.projected_gradient}) room(*v, n);
  for (auto* v : {&out.iterations, &out.evaluations, &out.inner, &out.products, &out.stage, &out.stalls}) room(*v, n);
  room(out.status, n);
  // Filled by add_diagnostics, and only if solutions are to be counted.
  out.solutions.clear();
}

bool is_newton(Method method) { return method == Method::kAuto || method == Method::kSemismoothNewton; }

void check_options(const ProblemView& in, const Options& options) {
  const Method method = options.method;
  if (!(options.tolerance <= 1e-2))
    throw Error(ExitCode::kUsage, "tolerance: above 0.01", "it is a share of the load: give 0.01 or less");
  if (method == Method::kLemke) check_all_slide(in);
  if (in.contacts > most_contacts(method))
    throw Error(
        ExitCode::kInvalidFile,
        std::string("method ") + to_string(method) + ": " + std::to_string(in.contacts) + " contacts per problem",
        "it takes up to " + std::to_string(most_contacts(method)) + "; use auto");
}

/// Runs a method; `auto` with its own limit if there is none.
void run(Options options, const Job* job, const TileJob* tiles) {
  if (options.method == Method::kAuto && options.max_iterations == 0)
    options.max_iterations = own_limit(options.full_effort);
  kMethods[static_cast<std::size_t>(options.method)].run({options, job, tiles});
}

}  // namespace

void check_precision(int contacts, const Options& options) {
  if (options.precision != Precision::kMixed) return;
  if (!is_newton(options.method))
    throw Error(ExitCode::kUsage, std::string("mixed precision: method ") + to_string(options.method),
                "it is for the methods auto and semismooth-newton");
  if (contacts > kMaxOwnSize)
    throw Error(ExitCode::kUsage, "mixed precision: " + std::to_string(contacts) + " contacts per problem",
                "it takes up to " + std::to_string(kMaxOwnSize) + "; leave it out");
}

void check_sizes(const ProblemView& in) {
  if (in.contacts < 1 || in.contacts > kMaxContacts)
    throw Error(ExitCode::kUsage, std::to_string(in.contacts) + " contacts per problem",
                "between 1 and " + std::to_string(kMaxContacts) + " contacts are supported");
  const auto n = static_cast<std::size_t>(in.count), k = static_cast<std::size_t>(in.contacts);
  if (in.count < 0 || in.A.size() != n * 9 * k * k || in.b.size() != n * 3 * k || in.mu.size() != n * k)
    throw Error(ExitCode::kInvalidFile, "A, b and mu do not have the sizes [n,3k,3k], [n,3k], [n,k] of n = " +
                                            std::to_string(in.count) + ", k = " + std::to_string(in.contacts));
  // Without velocities no contact may slide, because the law takes the direction from them. With velocities `mode` is
  // required.
  const bool mode = in.mode.empty() || in.mode.size() == n * k;
  const bool velocity = in.slip_velocity.empty() ? std::ranges::all_of(in.mode, [](auto m) { return m == 0; })
                                                 : !in.mode.empty() && in.slip_velocity.size() == 2 * n * k;
  if (!mode || !velocity)
    throw Error(ExitCode::kInvalidFile, "mode and slip_velocity do not have the sizes [n,k] and [n,k,2] of n = " +
                                            std::to_string(in.count) + ", k = " + std::to_string(in.contacts));
}

Solutions unsolved(const ProblemView& problems) {
  Solutions out;
  make_room(problems, {}, out);
  return out;
}

void make_room(const ProblemView& problems, const Wanted& wanted, Solutions& out) {
  make_room(problems, wanted, 1, out);
}

const char* to_string(ContactState state) {
  switch (state) {
    case ContactState::kStick:
      return "stick";
    case ContactState::kSlip:
      return "slip";
    case ContactState::kOpen:
      return "open";
    case ContactState::kUnknown:
      return "unknown";
  }
  return "unknown";
}

const char* to_string(Method method) { return kMethods[static_cast<std::size_t>(method)].name; }

Merit parse_merit(const std::string& name) { return find_name<Merit>(name, "merit function"); }
Minimizer parse_minimizer(const std::string& name) { return find_name<Minimizer>(name, "minimizer"); }
Start parse_start(const std::string& name) { return find_name<Start>(name, "start"); }

std::vector<std::string> pair_names() {
  std::vector<std::string> out;
  for (const char* merit : names_of(Merit{}))
    for (const char* minimizer : names_of(Minimizer{})) out.push_back(std::string(merit) + "/" + minimizer);
  return out;
}

void set_method(Options& options, const std::string& name) {
  const std::size_t slash = name.find('/');
  options.method = slash == std::string::npos ? parse_method(name) : Method::kMerit;
  if (slash == std::string::npos) return;
  options.merit = parse_merit(name.substr(0, slash));
  options.minimizer = parse_minimizer(name.substr(slash + 1));
}

std::string describe_method(const Options& options) {
  const std::string name = to_string(options.method);
  if (options.method != Method::kMerit) return name;
  return name + " (" + name_of(options.merit) + ", " + name_of(options.minimizer) + ")";
}

std::optional<Pair> pair_of(const Options& options) {
  switch (options.method) {
    case Method::kBoxQuacan:
      return Pair{Merit::kPapers, Minimizer::kBoxQuacan};
    case Method::kSpg:
      return Pair{Merit::kPapers, Minimizer::kSpg};
    case Method::kProjectedLm:
      return Pair{Merit::kProducts, Minimizer::kProjectedLm};
    case Method::kFischerBurmeister:
      return Pair{Merit::kFischerBurmeister, Minimizer::kProjectedLm};
    case Method::kMerit:
      return Pair{options.merit, options.minimizer};
    default:
      return std::nullopt;
  }
}

// Measured: docs/theory/friction-merit.md. One start of a slow minimizer costs as much as many of a fast one.
Starts own_starts(const Pair& pair) {
  constexpr int kMost[] = {5, 1, 20, 20};  // of the minimizers
  return {Start::kSweeps, kMost[static_cast<std::size_t>(pair.minimizer)]};
}

int most_contacts(Method method) { return kMethods[static_cast<std::size_t>(method)].most_contacts; }

int most_on_device(Method method) { return kMethods[static_cast<std::size_t>(method)].most_on_device; }

Method parse_method(const std::string& name) {
  std::string names;
  for (const Entry& entry : kMethods) {
    if (name == entry.name) return entry.method;
    names.append(names.empty() ? "" : ", ").append(entry.name);
  }
  throw Error(ExitCode::kUsage, "no method is called " + name, "there are " + names);
}

bool parse_effort(const std::string& name) {
  if (name != "bounded" && name != "full")
    throw Error(ExitCode::kUsage, "no effort is called " + name, "there are bounded, full");
  return name == "full";
}

Precision parse_precision(const std::string& name) {
  if (name == "fp64") return Precision::kDouble;
  if (name == "mixed") return Precision::kMixed;
  throw Error(ExitCode::kUsage, "no precision is called " + name, "there are fp64, mixed");
}

void run_method(const Job& job) { run(job.options, &job, nullptr); }

void iterate_tiles(const Options& options, const TileJob& tiles) { run(options, nullptr, &tiles); }

std::vector<std::string> friction_methods() {
  std::vector<std::string> names;
  for (const Entry& entry : kMethods)
    if (entry.method != Method::kLemke) names.emplace_back(entry.name);
  return names;
}

void solve_on_cpu(const Job& job) {
  const Executor executor = job.device.executor;
  const int contacts = job.in.contacts;
  batch::run_tiles(
      job.rows, block_size(contacts), [&](std::int64_t most) { return Block(job, most); },
      [&](Block& block, std::int64_t count) {
        // Iterate and certify the whole block before the next: all its tiles are still in the cache.
        const double* problems = block.in();
        iterate_tiles(job.options, {{executor}, problems, block.slips(), block.candidates(), nullptr, count});
        certify_tiles(executor,
                      CertifyKernel<kAnyContacts>{job.options.tolerance, problems, block.slips(), block.candidates(),
                                                  block.out(), contacts},
                      count);
      });
}

void solve(const ProblemView& problems, const Options& options, const Device& device, Solutions& out) {
  check_sizes(problems);
  check_options(problems, options);
  check_precision(problems.contacts, options);
  make_room(problems, options.wanted, solve_threads(device), out);
  run_method(make_job(problems, options, device, out));
  // After the solver: exhaustion needs the statuses of the whole batch, and few problems need it.
  add_diagnostics(problems, options, device, out);
}

Solutions solve(const ProblemView& problems, const Options& options, const Device& device) {
  Solutions out;
  solve(problems, options, device, out);
  return out;
}

}  // namespace garra::contact
