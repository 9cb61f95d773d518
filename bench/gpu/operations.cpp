// The operations of bench_gpu. Problems are drawn up to kDistinct and then repeated: a thread does not know, and
// drawing ten millions takes longer than solving them.
#include <algorithm>
#include <cmath>
#include <random>

#include "contact/mcp/affine.hpp"
#include "contact/problems/classes.hpp"
#include "contact_flops.hpp"
#include "device_memory.hpp"
#include "garra/chain_eval.hpp"
#include "garra/chain_generate.hpp"
#include "garra/chain_simulate.hpp"
#include "garra/contact_device.hpp"
#include "garra/contact_gradient.hpp"
#include "garra/grasp.hpp"
#include "garra/io/platform_file.hpp"
#include "garra/io/robot.hpp"
#include "garra/io/scenario.hpp"
#include "garra/lcp.hpp"
#include "garra/platform_simulate.hpp"
#include "garra/singularity_map.hpp"
#include "garra/solvers/lcp.hpp"
#include "garra/wrench_balance.hpp"
#include "places.hpp"
#include "work.hpp"

namespace garra::bench {
namespace {

constexpr std::int64_t kDistinct = 8192;
const std::string kData = test::source_folder() + "/data/";

/// Rows of `width` numbers, again and again until there are n of them.
template <class T>
std::vector<T> repeated(const std::vector<T>& rows, std::int64_t n, int width) {
  std::vector<T> out;
  out.reserve(static_cast<std::size_t>(n * width));
  const auto all = static_cast<std::int64_t>(rows.size());
  for (std::int64_t left = n * width; left > 0; left -= std::min(left, all))
    out.insert(out.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(left, all)));
  return out;
}
std::vector<double> uniform(std::int64_t count, double low, double high) {
  std::mt19937_64 generator(static_cast<std::uint64_t>(count));
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<double> out(static_cast<std::size_t>(count));
  for (double& x : out) x = draw(generator);
  return out;
}
/// n rows of numbers from [low, high].
std::vector<double> drawn(std::int64_t n, int width, double low, double high) {
  return repeated(uniform(std::min(n, kDistinct) * width, low, high), n, width);
}

/// Work whose answer is what `run` returns, packed by `pack`.
template <class Run, class Pack>
Work work_of(double bytes, const Run& run, const Pack& pack) {
  using Result = decltype(run(Device{}));
  const auto result = std::make_shared<Result>();
  Work work;
  work.run = [=](const Device& device) { *result = run(device); };
  work.answer = [=] { return pack(*result); };
  work.bytes = bytes;
  return work;
}

// --- contacts ---

contact::Problems contacts(int k, std::int64_t n) {
  contact::Problems p = random_grasps({k, std::min(n, kDistinct), 0});
  return {k, n, repeated(p.A, n, 9 * k * k), repeated(p.b, n, 3 * k), repeated(p.mu, n, k)};
}

contact::Options forces_only(contact::Precision precision = contact::Precision::kDouble) {
  contact::Options options;
  options.precision = precision;
  options.wanted = {.c = true, .a = false, .merit = false, .diagnostics = false};
  return options;
}

/// Forces and statuses of problems on the GPU.
struct ResidentContacts {
  explicit ResidentContacts(const contact::Problems& p, const contact::Options& how = forces_only())
      : options(how),
        A(p.A),
        b(p.b),
        mu(p.mu),
        c(p.b.size()),
        status(static_cast<std::size_t>(p.count)),
        problems{p.contacts, p.count, A, b, mu},
        to{.c = c, .status = status},
        workspace(contact::workspace_bytes(problems, options, to)) {}
  contact::Options options;
  OnGpu<double> A, b, mu, c;
  OnGpu<Status> status;
  contact::DeviceProblems problems;
  contact::DeviceSolutions to;
  OnGpu<char> workspace;
  [[nodiscard]] DeviceCall call() const {
    return {0, nullptr, workspace.data(), contact::workspace_bytes(problems, options, to)};
  }
};

template <int N, contact::Precision kPrecision = contact::Precision::kDouble>
Work solve_contacts(std::int64_t n) {
  const contact::Options options = forces_only(kPrecision);
  const auto problems = std::make_shared<contact::Problems>(contacts(N, n));
  // In memory that is used again, as `garra contact solve` does: of new memory each page costs the system more than
  // what is written there.
  const auto found = std::make_shared<contact::Solutions>();
  Work work;
  work.bytes = 8.0 * (9 * N * N + 3 * N + N + 3 * N) + 4;
  work.run = [=](const Device& device) { contact::solve(*problems, options, device, *found); };
  work.answer = [=] { return Bytes().add(found->c).add(found->status); };
  if (kPrecision == contact::Precision::kDouble) work.flops = flops_of_contacts<N>(*problems, 500);
  const auto there = std::make_shared<std::unique_ptr<ResidentContacts>>();
  work.resident = [=] {
    if (*there == nullptr) *there = std::make_unique<ResidentContacts>(*problems, options);
    contact::solve((*there)->problems, options, (*there)->to, (*there)->call());
    check_cuda(cudaDeviceSynchronize());
  };
  work.resident_answer = [=] { return Bytes().add((*there)->c.values()).add((*there)->status.values()); };
  return work;
}

Work check_contacts(std::int64_t n) {
  const auto problems = std::make_shared<contact::Problems>(contacts(3, n));
  const auto c = std::make_shared<std::vector<double>>(contact::solve(*problems, forces_only()).c);
  Work work = work_of(
      8.0 * (81 + 9 + 3 + 9 + 1) + 4, [=](const Device&) { return contact::check_solution(*problems, *c); },
      [](const contact::Solutions& s) { return Bytes().add(s.residual).add(s.status); });
  struct There : ResidentContacts {
    There(const contact::Problems& p, const std::vector<double>& forces)
        : ResidentContacts(p), given(forces), residual(static_cast<std::size_t>(p.count)) {
      to = {.residual = residual, .status = status};
    }
    OnGpu<double> given, residual;
  };
  const auto there = std::make_shared<std::unique_ptr<There>>();
  const auto workspace = std::make_shared<std::unique_ptr<OnGpu<char>>>();
  work.resident = [=] {
    if (*there == nullptr) *there = std::make_unique<There>(*problems, *c);
    const There& t = **there;
    const std::size_t bytes = contact::check_workspace_bytes(t.problems, t.to);
    if (*workspace == nullptr) *workspace = std::make_unique<OnGpu<char>>(bytes);
    contact::check_solution(t.problems, t.given, 1e-8, t.to, {0, nullptr, (*workspace)->data(), bytes});
    check_cuda(cudaDeviceSynchronize());
  };
  work.resident_answer = [=] { return Bytes().add((*there)->residual.values()).add((*there)->status.values()); };
  return work;
}

Work solve_lcps(std::int64_t n) {
  constexpr int kSize = 4;
  // Diagonally dominant: each has one solution.
  std::vector<double> M = uniform(std::min(n, kDistinct) * kSize * kSize, -1, 1);
  for (std::size_t i = 0; i < M.size(); ++i)
    if (i % (kSize * kSize) % (kSize + 1) == 0) M[i] = 4 + M[i];
  const auto problems =
      std::make_shared<lcp::Problems>(lcp::Problems{kSize, n, repeated(M, n, kSize * kSize), drawn(n, kSize, -1, 1)});
  Work work = work_of(
      8.0 * (kSize * kSize + 3 * kSize + 1) + 8,
      [=](const Device& device) { return lcp::solve(*problems, {}, device); },
      [](const lcp::Solutions& s) { return Bytes().add(s.z).add(s.w).add(s.residual).add(s.pivots).add(s.status); });
  struct There {
    explicit There(const lcp::Problems& p)
        : M(p.M),
          q(p.q),
          z(p.q.size()),
          w(p.q.size()),
          residual(static_cast<std::size_t>(p.count)),
          pivots(static_cast<std::size_t>(p.count)),
          status(static_cast<std::size_t>(p.count)),
          problems{p.size, p.count, M, q},
          to{z, w, residual, pivots, status},
          bytes(lcp::workspace_bytes(problems, {}, to)),
          workspace(bytes) {}
    OnGpu<double> M, q, z, w, residual;
    OnGpu<std::int32_t> pivots;
    OnGpu<Status> status;
    lcp::DeviceProblems problems;
    lcp::DeviceSolutions to;
    std::size_t bytes;
    OnGpu<char> workspace;
  };
  const auto there = std::make_shared<std::unique_ptr<There>>();
  work.resident = [=] {
    if (*there == nullptr) *there = std::make_unique<There>(*problems);
    const There& t = **there;
    lcp::solve(t.problems, {}, t.to, {0, nullptr, t.workspace.data(), t.bytes});
    check_cuda(cudaDeviceSynchronize());
  };
  work.resident_answer = [=] {
    const There& t = **there;
    return Bytes()
        .add(t.z.values())
        .add(t.w.values())
        .add(t.residual.values())
        .add(t.pivots.values())
        .add(t.status.values());
  };
  return work;
}

Work balance_wrenches(std::int64_t n) {
  struct Arrays {
    std::vector<double> W, w, mu;
  };
  const auto a = std::make_shared<Arrays>(Arrays{drawn(n, 6 * 9, -1, 1), drawn(n, 6, -1, 1), drawn(n, 3, 0.2, 0.9)});
  return work_of(
      8.0 * (54 + 6 + 3 + 9 + 6 + 1) + 5,
      [=](const Device& device) {
        return contact::balance({3, n, a->W, a->w, a->mu}, device);
      },
      [](const contact::Balances& b) { return Bytes().add(b.decision).add(b.force).add(b.wrench).add(b.gap); });
}

Work differentiate_contacts(std::int64_t n) {
  struct Arrays {
    contact::Problems problems;
    contact::Solutions solved;
    std::vector<std::uint8_t> regime;
    std::vector<double> cotangent;
  };
  auto a = std::make_shared<Arrays>();
  a->problems = contacts(3, n);
  a->solved = contact::solve(a->problems);
  for (const contact::ContactState state : a->solved.state)
    a->regime.push_back(
        static_cast<std::uint8_t>(state == contact::ContactState::kUnknown ? 0 : static_cast<int>(state)));
  a->cotangent = drawn(n, 9, -1, 1);
  return work_of(
      8.0 * (81 + 3 + 9 + 9 + 9 + 9 + 3 + 1) + 3,
      [=](const Device& device) {
        return contact::gradients(
            {3, n, a->problems.A, a->problems.mu, a->solved.c, a->solved.a, a->regime, a->cotangent}, device);
      },
      [](const contact::Gradients& g) { return Bytes().add(g.b).add(g.mu).add(g.margin); });
}

// --- chains ---

/// States on the GPU, and room for one output of theirs.
struct ResidentStates {
  ResidentStates(const chain::Robot& six_joints, const chain::States& s, chain::Output output)
      : robot(six_joints),
        q(s.q),
        qd(s.qd),
        qdd(s.qdd),
        tau(s.tau),
        out(static_cast<std::size_t>(s.count * chain::output_size(output, 6))),
        status(static_cast<std::size_t>(s.count)),
        states{s.count, q, qd, qdd, tau} {
    to[output] = out;
    to.status = status;
    bytes = chain::workspace_bytes(robot, states, {}, to);
    workspace = std::make_unique<OnGpu<char>>(bytes);
  }
  void evaluate() const { chain::evaluate(robot, states, {{}, {0, nullptr, workspace->data(), bytes}}, to); }

  chain::Robot robot;
  OnGpu<double> q, qd, qdd, tau, out;
  OnGpu<Status> status;
  chain::DeviceStates states;
  chain::DeviceResults to;
  std::size_t bytes = 0;
  std::unique_ptr<OnGpu<char>> workspace;
};

Operation chain_operation(const std::string& name, chain::Output output) {
  return {"chain6_" + name, 10'000'000, [output](std::int64_t n) {
            const auto robot = std::make_shared<chain::Robot>(io::read_robot(kData + "robots/puma560.toml"));
            const auto states = std::make_shared<chain::States>();
            states->count = n;
            for (auto* values : {&states->q, &states->qd, &states->qdd, &states->tau}) *values = drawn(n, 6, -1.5, 1.5);
            const chain::Needs needs = chain::needs(output);
            const int in = 6 * (1 + needs.qd + needs.qdd + needs.tau);
            Work work = work_of(
                8.0 * (in + chain::output_size(output, 6)),
                [=](const Device& device) { return chain::evaluate(*robot, *states, output, {}, device); },
                [output](const chain::Results& r) { return Bytes().add(r[output]).add(r.status); });
            const auto there = std::make_shared<std::unique_ptr<ResidentStates>>();
            work.resident = [=] {
              if (*there == nullptr) *there = std::make_unique<ResidentStates>(*robot, *states, output);
              (*there)->evaluate();
              check_cuda(cudaDeviceSynchronize());
            };
            work.resident_answer = [=] { return Bytes().add((*there)->out.values()).add((*there)->status.values()); };
            return work;
          }};
}

/// Memory for a call on arrays that are on the GPU: as much as it needs, asked for once.
class Workspace {
 public:
  template <class NeededBytes, class Run>
  void run(const NeededBytes& needed, const Run& call) {
    if (memory_ == nullptr) memory_ = std::make_unique<OnGpu<char>>(bytes_ = needed());
    call(DeviceCall{0, nullptr, memory_->data(), bytes_});
    check_cuda(cudaDeviceSynchronize());
  }

 private:
  std::unique_ptr<OnGpu<char>> memory_;
  std::size_t bytes_ = 0;
};

Work simulate_chains(std::int64_t n) {
  const auto robot = std::make_shared<chain::Robot>(io::read_robot(kData + "robots/puma560.toml"));
  const auto samples = std::make_shared<chain::Samples>();
  samples->count = n;
  samples->q = drawn(n, 6, -1.5, 1.5);
  chain::SimulateOptions options;
  options.method = chain::Integrator::kRk4;
  options.duration = 0.1;
  Work work = work_of(
      8.0 * 40, [=](const Device& device) { return chain::simulate(*robot, *samples, {}, options, device); },
      [](const chain::Trajectories& t) { return Bytes().add(t.end_q).add(t.end_qd).add(t.end_balance); });
  struct There : Workspace {
    explicit There(const chain::Samples& s) : q(s.q), end_q(s.q.size()), end_qd(s.q.size()), balance(s.q.size() / 6) {}
    OnGpu<double> q, end_q, end_qd, balance;
  };
  const auto there = std::make_shared<std::unique_ptr<There>>();
  work.resident = [=] {
    if (*there == nullptr) *there = std::make_unique<There>(*samples);
    There& t = **there;
    const chain::DeviceSamples from{n, t.q};
    chain::DeviceTrajectories to;
    to.end_q = t.end_q;
    to.end_qd = t.end_qd;
    to.end_balance = t.balance;
    t.run([&] { return chain::workspace_bytes(*robot, from, {}, options, to); },
          [&](const DeviceCall& call) { chain::simulate(*robot, from, {}, options, to, call); });
  };
  work.resident_answer = [=] {
    const There& t = **there;
    return Bytes().add(t.end_q.values()).add(t.end_qd.values()).add(t.balance.values());
  };
  return work;
}

// --- singularities, platforms ---

/// Configurations of a PUMA 560 on the GPU, and `Arrays` for what there is to say of them.
template <class Arrays>
class ResidentConfigurations {
 public:
  ResidentConfigurations(const chain::Robot& robot, const std::vector<double>& q)
      : robot_(robot), q_(q), at_{static_cast<std::int64_t>(q.size()) / robot.joints, q_} {}

  void run(const Arrays& to, void (*work)(const chain::Robot&, const singularity::DeviceConfigurations&,
                                          const singularity::MeasureOptions&, const Arrays&, const DeviceCall&)) {
    if (workspace_ == nullptr)
      workspace_ = std::make_unique<OnGpu<char>>(bytes_ = singularity::workspace_bytes(robot_, at_, {}, to));
    work(robot_, at_, {}, to, {0, nullptr, workspace_->data(), bytes_});
    check_cuda(cudaDeviceSynchronize());
  }
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(at_.count); }

 private:
  chain::Robot robot_;
  OnGpu<double> q_;
  singularity::DeviceConfigurations at_;
  std::unique_ptr<OnGpu<char>> workspace_;
  std::size_t bytes_ = 0;
};

Work measure_singularities(std::int64_t n) {
  const auto robot = std::make_shared<chain::Robot>(io::read_robot(kData + "robots/puma560.toml"));
  const auto q = std::make_shared<std::vector<double>>(drawn(n, 6, -3, 3));
  Work work = work_of(
      8.0 * (6 + 6), [=](const Device& device) { return singularity::measure(*robot, *q, {}, device); },
      [](const singularity::Measures& m) {
        return Bytes().add(m.sigma_min).add(m.inverse_condition).add(m.manipulability).add(m.tool);
      });
  using Arrays = singularity::DeviceMeasures;
  struct There : ResidentConfigurations<Arrays> {
    There(const chain::Robot& r, const std::vector<double>& at)
        : ResidentConfigurations(r, at), sigma(count()), ratio(count()), volume(count()), tool(3 * count()) {}
    OnGpu<double> sigma, ratio, volume, tool;
  };
  const auto there = std::make_shared<std::unique_ptr<There>>();
  work.resident = [=] {
    if (*there == nullptr) *there = std::make_unique<There>(*robot, *q);
    There& t = **there;
    t.run({t.sigma, t.ratio, t.volume, t.tool}, singularity::measure);
  };
  work.resident_answer = [=] {
    const There& t = **there;
    return Bytes().add(t.sigma.values()).add(t.ratio.values()).add(t.volume.values()).add(t.tool.values());
  };
  return work;
}

Work nearest_singularities(std::int64_t n) {
  const auto robot = std::make_shared<chain::Robot>(io::read_robot(kData + "robots/puma560.toml"));
  const auto q = std::make_shared<std::vector<double>>(drawn(n, 6, -3, 3));
  Work work = work_of(
      8.0 * (6 + 20), [=](const Device& device) { return singularity::nearest_singularities(*robot, *q, {}, device); },
      [](const singularity::NearSingularities& s) {
        return Bytes().add(s.search_status).add(s.singular_q).add(s.distance).add(s.dependent_joints);
      });
  using Arrays = singularity::DeviceNearSingularities;
  struct There : ResidentConfigurations<Arrays> {
    There(const chain::Robot& r, const std::vector<double>& at)
        : ResidentConfigurations(r, at),
          search_status(count()),
          q(at.size()),
          distance(count()),
          dependent_joints(count()) {}
    OnGpu<singularity::SearchStatus> search_status;
    OnGpu<double> q, distance;
    OnGpu<std::uint32_t> dependent_joints;
  };
  const auto there = std::make_shared<std::unique_ptr<There>>();
  work.resident = [=] {
    if (*there == nullptr) *there = std::make_unique<There>(*robot, *q);
    There& t = **there;
    Arrays to;
    to.search_status = t.search_status;
    to.singular_q = t.q;
    to.distance = t.distance;
    to.dependent_joints = t.dependent_joints;
    t.run(to, singularity::nearest_singularities);
  };
  work.resident_answer = [=] {
    const There& t = **there;
    return Bytes()
        .add(t.search_status.values())
        .add(t.q.values())
        .add(t.distance.values())
        .add(t.dependent_joints.values());
  };
  return work;
}

/// Poses around the home pose.
platform::Poses poses_around_home(const platform::Platform& machine, std::int64_t n) {
  const platform::Place<double> home = platform::home_place(machine);
  platform::Poses poses;
  const std::vector<double> shift = drawn(n, 3, -0.05, 0.05), turn = drawn(n, 3, -0.05, 0.05);
  for (std::int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k) poses.position.push_back(home.r[k] + shift[static_cast<std::size_t>(3 * i + k)]);
    poses.quaternion.push_back(1);
    for (int k = 0; k < 3; ++k) poses.quaternion.push_back(turn[static_cast<std::size_t>(3 * i + k)]);
  }
  return poses;
}

Work platform_lengths(std::int64_t n) {
  const platform::Platforms machine = {io::read_platform("trepa_like")};
  const auto poses = std::make_shared<platform::Poses>(poses_around_home(machine.front(), n));
  Work work = work_of(
      8.0 * (7 + 6) + 4,
      [=](const Device& device) { return platform::inverse_kinematics(machine, *poses, {}, {}, device); },
      [](const platform::InverseKinematics& k) { return Bytes().add(k.lengths).add(k.status); });
  struct There : Workspace {
    explicit There(const platform::Poses& at)
        : position(at.position),
          quaternion(at.quaternion),
          lengths(2 * at.position.size()),
          status(at.position.size() / 3) {}
    OnGpu<double> position, quaternion, lengths;
    OnGpu<platform::PoseStatus> status;
  };
  const auto there = std::make_shared<std::unique_ptr<There>>();
  work.resident = [=] {
    if (*there == nullptr) *there = std::make_unique<There>(*poses);
    There& t = **there;
    const platform::DevicePoses at{n, t.position, t.quaternion};
    platform::DeviceLengths to;
    to.lengths = t.lengths;
    to.status = t.status;
    t.run([&] { return platform::workspace_bytes(machine.front(), at, {}, to); },
          [&](const DeviceCall& call) { platform::inverse_kinematics(machine.front(), at, {}, to, call); });
  };
  work.resident_answer = [=] { return Bytes().add((*there)->lengths.values()).add((*there)->status.values()); };
  return work;
}

Work platform_poses(std::int64_t n) {
  const platform::Platforms machine = {io::read_platform("trepa_like")};
  const auto lengths = std::make_shared<std::vector<double>>(
      platform::inverse_kinematics(machine, poses_around_home(machine.front(), n), {}).lengths);
  const auto home = std::make_shared<platform::Poses>(poses_around_home(machine.front(), 1));
  Work work = work_of(
      8.0 * (6 + 7 + 2) + 8,
      [=](const Device& device) { return platform::forward_kinematics(machine, *lengths, *home, {}, device); },
      [](const platform::ForwardKinematics& k) {
        return Bytes().add(k.pose.position).add(k.pose.quaternion).add(k.status).add(k.residual);
      });
  struct There : Workspace {
    There(const std::vector<double>& lengths, const platform::Poses& guess, std::size_t n)
        : lengths(lengths),
          guess_position(guess.position),
          guess_quaternion(guess.quaternion),
          position(3 * n),
          quaternion(4 * n),
          residual(n),
          status(n) {}
    OnGpu<double> lengths, guess_position, guess_quaternion, position, quaternion, residual;
    OnGpu<platform::PoseStatus> status;
  };
  const auto there = std::make_shared<std::unique_ptr<There>>();
  work.resident = [=] {
    if (*there == nullptr) *there = std::make_unique<There>(*lengths, *home, static_cast<std::size_t>(n));
    There& t = **there;
    platform::DevicePoses guess{n, t.guess_position, t.guess_quaternion};
    guess.position.row = guess.quaternion.row = 0;
    platform::DeviceFound to;
    to.position = t.position;
    to.quaternion = t.quaternion;
    to.residual = t.residual;
    to.status = t.status;
    t.run(
        [&] { return platform::workspace_bytes(machine.front(), t.lengths, guess, {}, to); },
        [&](const DeviceCall& call) { platform::forward_kinematics(machine.front(), t.lengths, guess, {}, to, call); });
  };
  work.resident_answer = [=] {
    const There& t = **there;
    return Bytes().add(t.position.values()).add(t.quaternion.values()).add(t.status.values()).add(t.residual.values());
  };
  return work;
}

Work simulate_platforms(std::int64_t n) {
  const platform::Platforms machine = {io::read_platform("trepa_like")};
  const auto starts = std::make_shared<platform::Starts>();
  starts->pose = poses_around_home(machine.front(), n);
  const platform::ForceInput force{.force = std::vector<double>(6, 95.0)};
  platform::SimulateOptions options;
  options.step = 0.01, options.duration = 0.1;
  Work work = work_of(
      8.0 * (7 + 13 + 7),
      [=](const Device& device) { return platform::simulate(machine, *starts, force, options, device); },
      [](const platform::Trajectories& t) {
        return Bytes().add(t.end_pose.position).add(t.end_velocity).add(t.end_balance).add(t.status);
      });
  struct There : Workspace {
    explicit There(const platform::Poses& at)
        : position(at.position),
          quaternion(at.quaternion),
          end_position(at.position.size()),
          end_velocity(2 * at.position.size()),
          balance(at.position.size() / 3),
          status(at.position.size() / 3) {}
    OnGpu<double> position, quaternion, end_position, end_velocity, balance;
    OnGpu<platform::MotionStatus> status;
  };
  const auto there = std::make_shared<std::unique_ptr<There>>();
  work.resident = [=] {
    if (*there == nullptr) *there = std::make_unique<There>(starts->pose);
    There& t = **there;
    const platform::DeviceStarts from{{n, t.position, t.quaternion}};
    platform::DeviceTrajectories to;
    to.end_position = t.end_position;
    to.end_velocity = t.end_velocity;
    to.end_balance = t.balance;
    to.status = t.status;
    t.run([&] { return platform::workspace_bytes(machine.front(), from, force, options, to); },
          [&](const DeviceCall& call) { platform::simulate(machine.front(), from, force, options, to, call); });
  };
  work.resident_answer = [=] {
    const There& t = **there;
    return Bytes()
        .add(t.end_position.values())
        .add(t.end_velocity.values())
        .add(t.balance.values())
        .add(t.status.values());
  };
  return work;
}

// --- studies: only a summary comes back ---

Operation study_operation(const std::string& name, const std::string& file, std::int64_t most) {
  return {name, most, [file](std::int64_t n) {
            const auto scenario = std::make_shared<grasp::Scenario>(
                io::read_scenario(kData + "scenarios/" + file, {"sampling.samples=" + std::to_string(n)}));
            return work_of(
                0, [=](const Device& device) { return grasp::robustness(*scenario, device).summary_json; },
                [](const std::string& summary) { return Bytes().add(summary); });
          }};
}

/// Affine problems in a box by pivoting, then semismooth Newton: diagonally dominant, so each has one solution.
Work solve_affine_problems(std::int64_t n) {
  constexpr int kSize = 8;
  struct Arrays {
    std::vector<double> M, q, lower, upper;
  };
  const auto a = std::make_shared<Arrays>(
      Arrays{drawn(n, kSize * kSize, -1, 1), drawn(n, kSize, -8, 8), drawn(n, kSize, -1, 0), drawn(n, kSize, 0, 1)});
  for (std::size_t i = 0; i < a->M.size(); ++i)
    if (i % (kSize * kSize) % (kSize + 1) == 0) a->M[i] += kSize;
  return work_of(
      8.0 * (kSize * kSize + 6 * kSize + 1) + 9,
      [=](const Device& device) {
        return mcp::solve_affine({kSize, n, a->M, a->q, a->lower, a->upper, a->lower}, {}, device);
      },
      [](const mcp::Solutions& s) { return Bytes().add(s.x).add(s.residual).add(s.status).add(s.method); });
}

/// All solutions of inverse kinematics, without certificates.
Work solve_all_branches(std::int64_t n, const std::string& file) {
  const auto robot = io::read_robot(kData + file);
  const auto solver = std::make_shared<chain::AllSolutions>(robot);
  const auto q = drawn(std::min(n, kDistinct), robot.joints, -3, 3);
  const auto pose = std::make_shared<std::vector<double>>(
      repeated(chain::evaluate(robot, {std::min(n, kDistinct), q}, chain::Output::kPose).pose, n, 16));
  return work_of(
      8.0 * (16 + 130),
      [=](const Device& device) { return solver->solve(*pose, {.limits = false, .proofs = false}, device); },
      [](const chain::AllSolutionsResult& found) { return Bytes().add(found.q).add(found.residual); });
}

/// Value and gradient of a merit function, and every pair of one with a minimizer, of three contacts.
void add_merit_operations(std::vector<Operation>& all) {
  for (std::size_t m = 0; m < names_of(contact::Merit{}).size(); ++m) {
    const auto function = static_cast<contact::Merit>(m);
    all.push_back({std::string("merit_") + name_of(function), 1'000'000, [=](std::int64_t n) {
                     const auto problems = std::make_shared<contact::Problems>(contacts(3, n));
                     const auto c = std::make_shared<std::vector<double>>(drawn(n, 9, 0, 1));
                     const double v = contact::merit_variables(function, 3);
                     return work_of(
                         8 * (81 + 9 + 3 + 9 + 2 + 2 * v),
                         [=](const Device& d) { return contact::merit(*problems, *c, function, d); },
                         [](const contact::MeritValues& f) { return Bytes().add(f.value).add(f.gradient); });
                   }});
  }
  for (const std::string& pair : contact::pair_names()) {
    std::string name = "contact3_" + pair;
    std::ranges::replace(name, '/', '_');
    all.push_back({name, 100'000, [=](std::int64_t n) {
                     contact::Options options = forces_only();
                     contact::set_method(options, pair);
                     const auto problems = std::make_shared<contact::Problems>(contacts(3, n));
                     return work_of(
                         8.0 * (81 + 9 + 3 + 9) + 4,
                         [=](const Device& d) { return contact::solve(*problems, options, d); },
                         [](const contact::Solutions& s) { return Bytes().add(s.c).add(s.status); });
                   }});
  }
}

}  // namespace

std::vector<Operation> all_operations() {
  constexpr std::int64_t kAll = 10'000'000, kMillion = 1'000'000;
  std::vector<Operation> all = {
      {"contact3", kAll, solve_contacts<3>},
      {"contact4", kMillion, solve_contacts<4>},
      {"contact8", kMillion, solve_contacts<8>},
      {"contact16", 100000, solve_contacts<16>},
      {"contact32", 10000, solve_contacts<32>},  // 740 MB
      {"contact3_mixed", kAll, solve_contacts<3, contact::Precision::kMixed>},
      {"contact8_mixed", kMillion, solve_contacts<8, contact::Precision::kMixed>},
      {"judge3", kAll, check_contacts, false},
      {"gradient3", kMillion, differentiate_contacts},
      {"balance3", kMillion, balance_wrenches},
      {"lcp4", kAll, solve_lcps},
      {"affine8", kMillion, solve_affine_problems},
      {"branches_spherical_wrist", kMillion,
       [](std::int64_t n) { return solve_all_branches(n, "robots/puma560.toml"); }},
      {"branches_elimination", 100'000, [](std::int64_t n) { return solve_all_branches(n, "robots/jaco2.toml"); }},
      chain_operation("pose", chain::Output::kPose),
      chain_operation("jacobian", chain::Output::kJacobian),
      chain_operation("mass_matrix", chain::Output::kMassMatrix),
      chain_operation("inverse_dynamics", chain::Output::kInverseDynamics),
      chain_operation("forward_dynamics", chain::Output::kForwardDynamics),
      {"chain6_simulate_100_steps", kMillion, simulate_chains},
      {"singularity6_measure", kAll, measure_singularities},
      {"singularity6_nearest", kMillion, nearest_singularities},
      {"platform_inverse", kAll, platform_lengths},
      {"platform_forward", kAll, platform_poses},
      {"platform_simulate_10_steps", kMillion, simulate_platforms},
      study_operation("grasp_study", "three_puma_sphere.toml", kAll),
      study_operation("grasp_in_time", "three_puma_pull.toml", 100'000),
  };
  add_merit_operations(all);
  return all;
}

}  // namespace garra::bench
