// Runs an iterative solver over SIMD lanes so that a lane whose problem is finished takes the next one.
//
// Without refilling, a register of 8 problems steps until its slowest problem is done. Refilling
// costs 6 % where most problems take two or three steps, since moving a state costs what it saves.
// It gains where the tail is long, and it lowers p99.9. Measured per problem with three contacts
// (one core, ns, without / with refilling): random grasps 187 / 198, rigid grasps 784 / 605; eight
// contacts 4390 / 3940. The order in which problems meet in a register cannot change their bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "garra/batch/for_each.hpp"
#include "garra/batch/interrupt.hpp"
#include "garra/batch/tiles.hpp"
#include "garra/core/lanes.hpp"

namespace garra::batch {

/// Copies one lane of a struct of Lanes<T> to a lane of another, by whole registers. Single stores
/// followed by a load of the register would stall until they have left the store buffer.
template <class T, class State>
inline void copy_lane(const State& from, int source, State& to, int target) {
  constexpr int width = Lanes<T>::kSize;
  LanesMask<T> here(false);
  here.set(target, true);
  for_each_run<Lanes<T>>(
      [&](int count, const Lanes<T>* from_numbers, Lanes<T>* to_numbers) {
        const T* src = reinterpret_cast<const T*>(from_numbers) + source;
        T* dst = reinterpret_cast<T*>(to_numbers);
        for (int f = 0; f < count; ++f) {
          T* to_field = dst + f * width;
          select(here, Lanes<T>(src[f * width]), Lanes<T>::load(to_field)).store(to_field);
        }
      },
      from, to);
}

/// A state that is made anew in place. A large one lies on the heap: a thread's stack of 8 MB is
/// too small for two states and the data they are made of.
template <class State>
class Place {
  static constexpr bool kOnHeap = sizeof(State) > (std::size_t{1} << 20);

 public:
  template <class Make>
  explicit Place(const Make& make) {
    if constexpr (kOnHeap)
      heap_.reset(static_cast<State*>(::operator new(sizeof(State), std::align_val_t(alignof(State)))));
    ::new (memory()) State(make());
  }
  /// States have no destructor to run.
  template <class Make>
  void renew(const Make& make) {
    ::new (memory()) State(make());
  }
  State& operator*() { return *static_cast<State*>(memory()); }

 private:
  struct Free {
    void operator()(State* p) const { ::operator delete(p, std::align_val_t(alignof(State))); }
  };
  void* memory() {
    if constexpr (kOnHeap)
      return heap_.get();
    else
      return here_;
  }
  std::unique_ptr<State, Free> heap_;
  alignas(State) std::byte here_[kOnHeap ? 1 : sizeof(State)];
};

/// Solves `count` problems. `start_group(i)` gives the state of problems i .. i + width - 1 (i a
/// multiple of the width; lanes beyond `count` are ignored). `step(state)` advances every
/// unfinished lane, `running(state)` is their mask, `finish(i, state, lane)` takes result i.
template <class T, class Start, class Step, class Running, class Finish>
void solve_refilling(std::int64_t count, const Start& start_group, const Step& step, const Running& running,
                     const Finish& finish) {
  constexpr int width = Lanes<T>::kSize;
  if (count <= 0) return;
  using State = decltype(start_group(std::int64_t{0}));
  Place<State> fresh_place([&] { return start_group(std::int64_t{0}); });
  State& fresh = *fresh_place;
  std::int64_t next = 0;  // next problem to take; it lies in lane next % width of `fresh`
  Place<State> state_place([&]() -> const State& { return fresh; });
  State& state = *state_place;
  std::int64_t holds[width];
  bool busy[width];
  LanesMask<T> fresh_running = running(fresh);

  // Takes problems from `fresh` until one needs steps; the others are finished at once.
  const auto take = [&](int lane) {
    while (next < count) {
      const int source = static_cast<int>(next % width);
      const std::int64_t i = next++;
      const bool needs_steps = fresh_running[source];
      if (needs_steps) {
        copy_lane<T>(fresh, source, state, lane);
        holds[lane] = i;
      } else {
        finish(i, fresh, source);
      }
      if (next % width == 0 && next < count) {
        fresh_place.renew([&] { return start_group(next); });
        fresh_running = running(fresh);
      }
      if (needs_steps) return true;
    }
    return false;
  };

  int alive = 0;
  for (int lane = 0; lane < width; ++lane) {
    busy[lane] = take(lane);
    if (busy[lane])
      ++alive;
    else
      state.running.set(lane, T(0));
  }
  while (alive > 0) {
    step(state);
    const LanesMask<T> on = running(state);
    if (all(on)) continue;
    for (int lane = 0; lane < width; ++lane) {
      if (!busy[lane] || on[lane]) continue;
      finish(holds[lane], state, lane);
      busy[lane] = take(lane);
      if (!busy[lane]) --alive;
    }
  }
}

template <class Body>
struct IterateLanes {
  std::int64_t count;
  const Body& body;

  void operator()() const {
    using S = Lanes<double>;
    const auto& solver = body.solver;
    const auto start = [&](std::int64_t i) __attribute__((noinline, flatten)) { return body.template start<S>(i); };
    const EverySoOften between;  // a problem may take as many steps as its caller allows
    const auto step = [&](auto& state) __attribute__((flatten)) {
      solver.step(state);
      between();
    };
    const auto running = [&](const auto& state) { return solver.running(state); };
    const auto finish = [&](std::int64_t i, const auto& state, int lane) __attribute__((noinline, flatten)) {
      store_lane<S>(body.candidates, i, solver.candidate(state), lane);
    };
    solve_refilling<double>(count, start, step, running, finish);
  }
};

/// Runs an iterative body over SIMD lanes. body.start<S>(i) gives the state of problems i, i + 1,
/// ..., and body.solver steps while any runs. Each problem's result goes to the tiles
/// body.candidates.
template <class Body>
void iterate_lanes(const Body& body, std::int64_t count) {
  if constexpr (kLanesPay)
    lanes_loop(IterateLanes<Body>{count, body});
  else
    for_each_scalar(count, body);
}

}  // namespace garra::batch
