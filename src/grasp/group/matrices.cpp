#include <algorithm>

#include "garra/batch/device.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"
#include "garra/grasp_analysis.hpp"
#include "grasp/group/model.hpp"

namespace garra::grasp {

namespace {

/// Copies x to row i of an array with rows of its size.
void put(std::vector<double>& to, std::int64_t i, std::span<const double> x) {
  std::copy(x.begin(), x.end(), to.begin() + i * std::ssize(x));
}
template <template <class> class List>
void put(std::vector<double>& to, std::int64_t i, const DenseOf<double, List>& x) {
  put(to, i, x.m);
}

void put_sample(const GroupModel& m, std::int64_t i, GraspMatrices& out) {
  const std::int64_t number = out.sample[static_cast<std::size_t>(i)];
  const GroupSample s = evaluate_group(m, number < 0 ? nominal_group(m) : draw_group(m, number, nullptr, 0));
  const int objects = out.objects, rows = m.rows();
  Dense M_obj(6 * objects, 6 * objects), A(rows, rows);
  Column b(static_cast<std::size_t>(rows)), load, R, p;
  for (int k = 0; k < objects; ++k) {
    const Body<double>& body = s.body[static_cast<std::size_t>(k)];
    const auto block = mass_matrix(body, body.p_cm);
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 6; ++c) M_obj(6 * k + r, 6 * k + c) = block(r, c);
    const Vec<double, 6>& w = s.load[static_cast<std::size_t>(k)];
    load.insert(load.end(), w.m, w.m + 6);
  }
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < rows; ++c) A(r, c) = s.A(r, c);
    b[static_cast<std::size_t>(r)] = s.b(r);
  }
  for (const ContactPlace<double>& place : s.place) {
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) R.push_back(place.E(r, (c + 1) % 3));
    p.insert(p.end(), place.p.m, place.p.m + 3);
  }
  put(out.W, i, s.W);
  put(out.J, i, s.J);
  put(out.M_obj, i, M_obj);
  put(out.M_man, i, s.M_man);
  put(out.A, i, A);
  put(out.b, i, b);
  put(out.mu, i, s.mu);
  put(out.R_PC, i, R);
  put(out.p_PC, i, p);
  put(out.q, i, s.q);
  put(out.qd, i, s.qd);
  put(out.load, i, load);
  put(out.effort, i, s.effort);
  out.reached[static_cast<std::size_t>(i)] = s.reaches() ? 1 : 0;
}

}  // namespace

GraspMatrices matrices(const Scenario& scenario, const std::vector<std::int64_t>& samples, int threads) {
  if (scenario.arm)
    throw Error(ExitCode::kInvalidFile, "hand.arm_root: fingers coupled by an arm have no matrices of their own",
                "Leave out arm_root: a palm without it stands still.");
  for (const std::int64_t i : samples)
    if (i < 0) throw Error(ExitCode::kUsage, "sample " + std::to_string(i) + " is negative", "Samples count from 0.");
  const auto m = make_group(scenario);
  GraspMatrices out;
  out.sample = samples.empty() ? std::vector<std::int64_t>{-1} : samples;
  out.count = std::ssize(out.sample);
  out.objects = static_cast<int>(m->objects.size());
  out.contacts = static_cast<int>(m->contacts.size());
  out.numbers = m->numbers;
  for (int k = 0; k < out.objects; ++k) out.names.push_back(nth_object(scenario, k).name);
  for (const Finger& f : scenario.fingers) out.joints.push_back(static_cast<int>(f.joint_count()));
  const auto n = static_cast<std::size_t>(out.count), B = static_cast<std::size_t>(out.objects),
             N = static_cast<std::size_t>(out.contacts), R = static_cast<std::size_t>(m->rows()),
             Q = static_cast<std::size_t>(m->joints());
  out.W.resize(n * 6 * B * R);
  out.J.resize(n * R * Q);
  out.M_obj.resize(n * 36 * B * B);
  out.M_man.resize(n * Q * Q);
  out.A.resize(n * R * R);
  out.b.resize(n * R);
  out.p_PC.resize(n * 3 * N);
  out.mu.resize(n * N);
  out.R_PC.resize(n * 9 * N);
  for (auto* list : {&out.q, &out.qd, &out.effort}) list->resize(n * Q);
  out.load.resize(n * 6 * B);
  out.reached.resize(n);
  batch::for_blocks(study_threads({Executor::kLanes, threads}), {out.count, 64},
                    [&](std::int64_t first, std::int64_t count) {
                      for (std::int64_t i = first; i < first + count; ++i) put_sample(*m, i, out);
                    });
  return out;
}

}  // namespace garra::grasp
