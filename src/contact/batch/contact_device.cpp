// contact::solve and contact::check_solution on arrays that are on the GPU already.
#include "garra/contact_device.hpp"

#include "contact/batch/solve_batch.hpp"
#include "garra/core/error.hpp"

namespace garra::contact {

namespace {

/// Throws Error(kUsage) for problems or options without a kernel.
void check_problems(const DeviceProblems& in, const Options& options) {
  if (in.contacts < 1 || in.contacts > most_contacts(options.method))
    throw Error(ExitCode::kUsage,
                std::string("method ") + to_string(options.method) + ": " + std::to_string(in.contacts) +
                    " contacts per problem",
                "it takes 1 to " + std::to_string(most_contacts(options.method)));
  check_precision(in.contacts, options);
  if (in.count < 0) throw Error(ExitCode::kUsage, "the number of problems is negative");
  if (in.count > 0 && (in.A.data == nullptr || in.b.data == nullptr || in.mu.data == nullptr))
    throw Error(ExitCode::kUsage, "A, b or mu is a null pointer");
  if (options.method == Method::kLemke)
    throw Error(ExitCode::kUsage, "method lemke does not take arrays of the device",
                "give lcp::solve() the problems of the normal forces");
  if (options.count_solutions)
    throw Error(ExitCode::kUsage, "solutions are not counted on the device", "use arrays of the host");
}

/// Columns in the order of HostBatch.
DeviceBatch make_batch(const DeviceProblems& in, double tolerance, const DeviceSolutions& to) {
  using batch::device_column;
  const int k = in.contacts;
  batch::ResidentRows rows;
  rows.count = in.count;
  rows.in = {device_column(in.A, 9 * k * k), device_column(in.b, 3 * k), device_column(in.mu, k),
             device_column(in.slip_direction, 2 * k)};
  rows.out = {device_column(to.c, 3 * k),
              device_column(to.a, 3 * k),
              device_column(to.residual, 1),
              device_column(to.contact_residual, 1),
              device_column(to.minimum, 1),
              device_column(to.projected_gradient, 1),
              device_column(to.status, 1),
              device_column(to.iterations, 1),
              device_column(to.evaluations, 1),
              device_column(to.inner, 1),
              device_column(to.products, 1),
              device_column(to.stage, 1),
              device_column(to.stalls, 1),
              device_column(to.merit, 1),
              device_column(to.friction_margin, 1),
              device_column(to.required_friction, 1),
              device_column(to.state, k)};
  return {k, tolerance, rows};
}

Device get_device(const DeviceBatch& batch) { return {Executor::kCuda, 0, batch.rows.call.device}; }

void run(const DeviceBatch& batch, const Options& options) {
  if (batch.rows.count == 0) return;
  const ProblemView no_arrays(batch.contacts, batch.rows.count, {}, {}, {});
  const Device device = get_device(batch);
  Solutions none;
  Job job{no_arrays, options, device, none, {}, {}, &batch};
  run_method(job);
}

void run(const DeviceBatch& batch, const GivenForces& forces) {
  if (batch.rows.count > 0) batch::on_device(get_device(batch), forces, batch);
}

/// The memory of a call with `what`, without running it.
template <class What>
std::size_t needed_for(DeviceBatch batch, const What& what, int device) {
  std::size_t needed = 0;
  batch.rows.needed = &needed;
  batch.rows.call.device = device;
  run(batch, what);
  return needed;
}

}  // namespace

void solve(const DeviceProblems& problems, const Options& options, const DeviceSolutions& to, const DeviceCall& call) {
  check_problems(problems, options);
  DeviceBatch batch = make_batch(problems, options.tolerance, to);
  batch.rows.call = call;
  run(batch, options);
}

std::size_t workspace_bytes(const DeviceProblems& problems, const Options& options, const DeviceSolutions& to,
                            int device) {
  check_problems(problems, options);
  return needed_for(make_batch(problems, options.tolerance, to), options, device);
}

void check_solution(const DeviceProblems& problems, const DeviceArray<const double>& c, double tolerance,
                    const DeviceSolutions& to, const DeviceCall& call) {
  check_problems(problems, {});
  DeviceBatch batch = make_batch(problems, tolerance, to);
  batch.rows.call = call;
  run(batch, GivenForces{batch::device_column(c, 3 * problems.contacts)});
}

std::size_t check_workspace_bytes(const DeviceProblems& problems, const DeviceSolutions& to, int device) {
  check_problems(problems, {});
  return needed_for(make_batch(problems, 0, to), GivenForces{}, device);
}

}  // namespace garra::contact
