// The loop over instructions. Threads of a warp that went different ways are kept apart by where they are; those that
// are furthest behind go on, and meet the others where the ways join.
#include "warp.hpp"

#include <algorithm>

namespace simulated_gpu {

namespace {

/// Threads that wait at an instruction.
struct Waiting {
  std::int64_t at;
  std::uint32_t threads;
};

std::uint32_t bits(const Words& predicate) {
  std::uint32_t set = 0;
  for (int i = 0; i < kLanes; ++i) set |= static_cast<std::uint32_t>(predicate.at[i] & 1u) << i;
  return set;
}

class Execution {
 public:
  Execution(Warp& warp, const Function& function) : w_(warp), f_(function) {}

  /// On to the end, or to a barrier of the block: false there.
  bool run() {
    while (true) {
      const Instruction& i = f_.code[static_cast<std::size_t>(at_)];
      count(i);
      switch (i.kind) {
        case Kind::kData:
          run_guarded(i, [&] { i.run(w_, i); });
          ++at_;
          break;
        case Kind::kCall:
          run_guarded(i, [&] { call(i); });
          ++at_;
          break;
        case Kind::kBranch:
          branch(taking_part(i), i.number);
          break;
        case Kind::kSwitch:
          choose(i);
          break;
        case Kind::kReturn:
          if (!leave(taking_part(i))) return true;
          break;
        case Kind::kBarrier:
          meet_at_barrier(i);
          break;
        case Kind::kBlockBarrier:
          if (all_have_met()) return false;
          break;
      }
      if (!waiting_.empty() && at_ >= waiting_.back().at) meet();
    }
  }

 private:
  void count(const Instruction& i) {
    const auto k = static_cast<std::size_t>(i.counted);
    ++w_.counts.issued[k];
    w_.counts.done[k] += static_cast<std::uint64_t>(std::popcount(w_.active));
  }

  [[nodiscard]] std::uint32_t taking_part(const Instruction& i) const {
    if (i.guard == kNone) return w_.active;
    const std::uint32_t set = bits(w_.read(i.guard));
    return w_.active & (i.unless ? ~set : set);
  }

  template <class Action>
  void run_guarded(const Instruction& i, const Action& action) {
    if (i.guard == kNone) return action();
    const std::uint32_t before = w_.active, now = taking_part(i);
    if (now == 0) return;
    w_.take_part(now);
    action();
    w_.take_part(before);
  }

  void wait(std::int64_t at, std::uint32_t threads) {
    auto place = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return w.at <= at; });
    if (place != waiting_.end() && place->at == at) {
      place->threads |= threads;
    } else {
      waiting_.insert(place, {at, threads});
    }
  }

  /// `going` jump to `target`, the others go on with the next instruction.
  void branch(std::uint32_t going, std::int64_t target) {
    if (going == w_.active) {
      at_ = target;
    } else {
      ++at_;
      if (going == 0) return;
      wait(target, going);
      w_.take_part(w_.active & ~going);
    }
  }

  void choose(const Instruction& i) {
    const Words index = w_.read(i.a);
    std::uint32_t left = w_.active;
    std::int64_t first_target = -1;
    std::uint32_t first_threads = 0;
    while (left != 0) {
      const Word value = index.at[std::countr_zero(left)];
      if (value >= i.list.size()) throw Fault("a jump outside its table");
      std::uint32_t same = 0;
      for (int k = 0; k < kLanes; ++k) same |= static_cast<std::uint32_t>(index.at[k] == value) << k;
      same &= left;
      left &= ~same;
      if (first_target < 0) {
        first_target = i.list[value];
        first_threads = same;
      } else {
        wait(i.list[value], same);
      }
    }
    at_ = first_target;
    w_.take_part(first_threads);
  }

  /// False when nobody is left.
  bool leave(std::uint32_t leaving) {
    const std::uint32_t staying = w_.active & ~leaving;
    if (staying != 0) {
      w_.take_part(staying);
      ++at_;
      return true;
    }
    return go_on_with_others();
  }

  /// False when nobody is left.
  bool go_on_with_others() {
    if (waiting_.empty()) {
      if (!at_barrier_.empty()) throw Fault("a barrier that not all of its threads reach");
      return false;
    }
    at_ = waiting_.back().at;
    w_.take_part(waiting_.back().threads);
    waiting_.pop_back();
    return true;
  }

  /// Threads whose mask is complete pass, the others wait until it is.
  void meet_at_barrier(const Instruction& i) {
    std::uint32_t here = w_.active, passing = 0;
    for (const Waiting& w : at_barrier_)
      if (w.at == at_) here |= w.threads;
    std::erase_if(at_barrier_, [&](const Waiting& w) { return w.at == at_; });
    const Words masks = w_.read(i.a);
    for (int k = 0; k < kLanes; ++k)
      if (here >> k & 1u && (static_cast<std::uint32_t>(masks.at[k]) & ~here) == 0) {
        passing |= 1u << k;
        ++w_.met[static_cast<std::size_t>(k)];
      }
    if (passing != here) at_barrier_.push_back({at_, here & ~passing});
    if (passing != 0) {
      w_.take_part(passing);
      if (i.run != nullptr) i.run(w_, i);
      ++at_;
    } else {
      go_on_with_others();
    }
  }

  /// Of the warp, at a barrier of the block: then they go on behind it.
  bool all_have_met() {
    at_barrier_.push_back({at_, w_.active});
    if (!waiting_.empty()) return !go_on_with_others();
    std::uint32_t here = 0;
    for (const Waiting& w : at_barrier_) {
      if (w.at != at_) throw Fault("a barrier that not all of its threads reach");
      here |= w.threads;
    }
    at_barrier_.clear();
    w_.take_part(here);
    ++at_;
    return true;
  }

  /// Those who are furthest behind go on, together with all who are at the same place.
  void meet() {
    const Waiting behind = waiting_.back();
    waiting_.pop_back();
    if (behind.at == at_) {
      w_.take_part(w_.active | behind.threads);
    } else {
      wait(at_, w_.active);
      at_ = behind.at;
      w_.take_part(behind.threads);
    }
  }

  void call(const Instruction& i);

  Warp& w_;
  const Function& f_;
  std::vector<Waiting> waiting_;  ///< the furthest behind last
  std::vector<Waiting> at_barrier_;
  std::int64_t at_ = 0;
};

/// Makes room for a function.
void enter(Warp& w, const Function& f, Words* registers, std::int64_t frame) {
  const auto frame_bytes = static_cast<std::int64_t>(f.frame);
  if (registers + f.registers > w.registers_end || frame + frame_bytes > w.local_bytes)
    throw Fault("stack overflow in " + std::string(f.name));
  std::fill_n(registers, f.predicates, Words{});
  static_cast<Scope&>(w) = {registers, f.constants.data(), frame, frame + frame_bytes};
}
/// And runs it in the threads that take part.
void run_function(Warp& w, const Function& f, Words* registers, std::int64_t frame) {
  const auto [outer, active] = std::pair{static_cast<const Scope&>(w), w.active};
  enter(w, f, registers, frame);
  if (!Execution(w, f).run()) throw Fault("a barrier of the block within a function");
  static_cast<Scope&>(w) = outer;
  w.take_part(active);
}

void poison(Warp& w, std::int64_t first, std::int64_t bytes) {
  std::fill_n(reinterpret_cast<Word*>(w.local + first / 8), bytes / 8 * kLanes, ~Word{0});
}

// Arguments and results are copied between the frames as they are; a function's own lie at its front.
void Execution::call(const Instruction& i) {
  const Function& f = *i.callee;
  const std::int64_t caller = w_.frame, frame = w_.local_used;
  if (frame + static_cast<std::int64_t>(f.frame) > w_.local_bytes) throw Fault("stack overflow");
  poison(w_, frame, static_cast<std::int64_t>(f.frame));
  const auto copy = [&](bool back) {
    for (std::size_t k = 0; k < i.list.size(); ++k) {
      const Parameter& p = f.parameters[k];
      const std::int64_t words = static_cast<std::int64_t>((p.bytes + 7) / 8);
      Words* outer = w_.local + (caller + i.list[k]) / 8;
      Words* inner = w_.local + (frame + static_cast<std::int64_t>(p.offset)) / 8;
      for (std::int64_t n = 0; n < words; ++n)
        for (int lane = 0; lane < kLanes; ++lane)
          if (w_.active >> lane & 1u) (back ? outer : inner)[n].at[lane] = (back ? inner : outer)[n].at[lane];
    }
  };
  copy(false);
  run_function(w_, f, w_.registers + f_.registers, frame);
  copy(true);
}

Execution begin(Warp& warp, const Function& kernel) {
  if (static_cast<std::int64_t>(kernel.frame) > warp.local_bytes) throw Fault("too much local memory");
  poison(warp, 0, static_cast<std::int64_t>(kernel.frame));
  enter(warp, kernel, warp.registers, 0);
  return {warp, kernel};
}

}  // namespace

void run_kernel(std::span<Warp> warps, const Function& kernel, SharedMemory& shared) {
  std::vector<Execution> running;
  running.reserve(warps.size());
  for (Warp& warp : warps) running.push_back(begin(warp, kernel));
  for (std::size_t ended = 0; ended == 0; shared.meet()) {
    for (Execution& warp : running) ended += warp.run();
    if (ended != 0 && ended != running.size()) throw Fault("a barrier that not all warps of its block reach");
  }
}

}  // namespace simulated_gpu
