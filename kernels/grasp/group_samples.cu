// Samples of groups at one instant on the GPU: draw, fingers, contact problems and metrics, contact solver, outcomes; a
// thread per sample. The host counts them.
#include "garra/batch/on_device.cuh"
#include "garra/batch/parallel.hpp"
#include "grasp/group.cuh"
#include "grasp/group/process.hpp"
#include "grasp/motion.cuh"

namespace garra::grasp {

namespace {

/// The backend of run_group_samples().
template <int D>
struct InstantOnDevice {
  const Device& device;
  const GroupTask& task;
  const GroupParts<Shown>* there;  ///< device memory, as all that it shows
  const InstantMemory& at;

  [[nodiscard]] const GroupParts<Shown>* shown_model() const { return there; }
  template <class Body>
  void run(const Body& body) const {
    cuda::for_each(task.count, body);
  }
  void stand() const { stand_on_device(task, there, at); }
  void solve() const {
    if constexpr (D == 3)
      contact::for_contacts(contacts(), [&](auto n) { solve_points<n>(); });
    else if (contacts() <= kSoftOnDevice)
      solve_soft();
    else
      on_threads(true);
  }

 private:
  [[nodiscard]] int contacts() const { return task.model.rows() / D; }
  template <int N>
  void solve_points() const {
    solvers::FrictionNewton solver = contact::make_auto_solver(task.solver);
    const double* problems = at.problems.first;
    const auto iterate = [&](double* candidates) {
      contact::iterate_on_device(contact::IterateKernel<solvers::FrictionNewton, N>{solver, problems, nullptr,
                                                                                    candidates, nullptr, contacts()},
                                 task.count);
    };
    if (task.solver.method == contact::Method::kAuto) {
      iterate(at.candidates.first);
    } else {
      const ContactsInUse many(contacts());
      contact::iterate_tiles(task.solver, {device, problems, nullptr, at.candidates.first, nullptr, task.count});
    }
    solver.cold = true;
    if (at.second.first != nullptr) iterate(at.second.first);
    if constexpr (N <= contact::kMaxOwnSize)
      check_on_device(task.count, make_check<N, 3>(task.solver.tolerance, task.held, at));
    else
      on_threads(false);
  }
  void solve_soft() const {
    SoftProblems job{contact::make_auto_solver(task.solver),
                     at.problems.first,
                     nullptr,
                     at.candidates.first,
                     contacts(),
                     task.count};
    iterate_soft_contacts(job);
    job.candidates = at.second.first;
    job.solver.cold = true;
    if (job.candidates != nullptr) iterate_soft_contacts(job);
    check_on_device(job, task, at);
  }
  /// Threads of the host check: candidates of more contacts than a GPU's thread has memory for, or their own.
  void on_threads(bool solves) const {
    const ContactsInUse many(contacts());
    HostMemory host(task.count);
    InstantMemory here = measure_instant<D>(task.model);
    for (GroupRoom* room : {&here.problems, &here.metrics, &here.candidates, &here.results})
      room->first = host.take(room->fields);
    if (at.second.first != nullptr) here.second.first = host.take(here.second.fields);
    bring(at.problems, here.problems, here.problems.fields);
    bring(at.metrics, here.metrics, here.metrics.fields);
    for (const auto& [from, to] : {std::pair{&at.candidates, &here.candidates}, {&at.second, &here.second}})
      if (!solves && from->first != nullptr) bring(*from, *to, task.model.rows());
    constexpr std::int64_t kTogether = 256;
    batch::for_blocks(study_threads(device), {task.count, kTogether}, [&](std::int64_t first, std::int64_t count) {
      const ContactsInUse in_thread(contacts());
      InstantMemory part = here;
      part.for_each([&](GroupRoom& room) {
        if (room.first != nullptr) room.first += first * room.fields;
      });
      if (solves) solve_on_host<D>(task, Executor::kLanes, count, part);
      check_on_host<D>(task, count, part);
    });
    send(at.results.first, here.results.first, host.padded() * at.results.fields);
  }
  /// Copies tiles to the host's, which have no padding contacts: the first `head` numbers, then the last ones.
  void bring(const GroupRoom& from, const GroupRoom& to, int head) const {
    const std::int64_t tiles = batch::tiles_for(task.count), many = from.fields * batch::kTile;
    const std::int64_t first = head * batch::kTile, last = to.fields * batch::kTile - first;
    std::vector<double> all(static_cast<std::size_t>(tiles * many));
    fetch(all.data(), from.first, std::ssize(all));
    for (std::int64_t t = 0; t < tiles; ++t) {
      double* const there_after = std::copy_n(all.data() + t * many, first, to.first + t * (first + last));
      std::copy_n(all.data() + (t + 1) * many - last, last, there_after);
    }
  }
};

}  // namespace

template <int D>
void run_kernels(const Device& device, const DeviceGroupSamples<D>& job) {
  ListsThere lists;
  const GroupParts<Shown> model = show_parts<Shown>(job.task.model, [&](auto list) { return lists(list); });
  cuda::Buffer<GroupParts<Shown>> there(1);
  there.upload(&model);
  const std::int64_t padded = batch::tiles_for(job.task.count) * batch::kTile;
  DeviceMemory memory(padded);
  InstantMemory at = job.at;
  at.for_each([&](GroupRoom& room) {
    if (&room == &at.second && !job.task.check_uniqueness) return;
    room.first = memory.take(room.fields);
    // Zero, as on the host: blocks of matrices that nothing couples are never written.
    cuda::check(cudaMemset(room.first, 0, static_cast<std::size_t>(padded * room.fields) * sizeof(double)),
                "clearing memory");
  });
  run_group_samples<D>(job.task, InstantOnDevice<D>{device, job.task, there.data(), at}, at);
  const auto bring = [&](const GroupRoom& to, const GroupRoom& from) {
    fetch(to.first, from.first, padded * from.fields);
  };
  bring(job.at.metrics, at.metrics);
  bring(job.at.results, at.results);
  bring(job.at.held, at.held);
  bring(job.at.uniforms, at.uniforms);
}

}  // namespace garra::grasp

template struct garra::batch::Kernels<garra::grasp::DeviceGroupSamples<3>>;
template struct garra::batch::Kernels<garra::grasp::DeviceGroupSamples<4>>;
