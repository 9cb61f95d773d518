// PTX gives each value a register of its own, tens of thousands of them: 256 bytes each for a warp. Registers that are
// never needed at the same time share a place here, so that those of a kernel stay in the cache.
#include <algorithm>
#include <queue>

#include "code.hpp"

namespace simulated_gpu {

namespace {

class Bits {
 public:
  explicit Bits(std::size_t count = 0) : words((count + 63) / 64) {}
  [[nodiscard]] bool operator[](std::size_t k) const { return words[k / 64] >> (k % 64) & 1; }
  void set(std::size_t k) { words[k / 64] |= std::uint64_t{1} << (k % 64); }

  std::vector<std::uint64_t> words;
};

struct Basic {  // a block without jumps inside
  explicit Basic(int at) : first(at), last(at) {}

  int first, last;
  std::vector<int> next;
  Bits needs, sets, live_in, live_out;  // of the registers that more than one block uses
};

/// What an instruction reads; a guarded one leaves its result as it was in some threads.
template <class See>
void see_reads(const Instruction& i, const See& see) {
  for (int operand : {i.a, i.b, i.c, i.guard, i.guard == kNone ? kNone : i.to})
    if (operand >= 0) see(operand);
}

/// Whether the instruction behind it is the only one that may be next.
bool goes_straight_on(const Instruction& i) {
  return i.kind == Kind::kData || i.kind == Kind::kCall || i.kind == Kind::kBarrier || i.kind == Kind::kBlockBarrier;
}

std::vector<Basic> count_blocks(const std::vector<Instruction>& code) {
  const int n = static_cast<int>(code.size());
  std::vector<bool> leads(code.size() + 1);
  leads[0] = true;
  for (int k = 0; k < n; ++k) {
    const Instruction& i = code[static_cast<std::size_t>(k)];
    if (!goes_straight_on(i)) leads[static_cast<std::size_t>(k) + 1] = true;
    if (i.kind == Kind::kBranch) leads[static_cast<std::size_t>(i.number)] = true;
    if (i.kind == Kind::kSwitch)
      for (std::int64_t target : i.list) leads[static_cast<std::size_t>(target)] = true;
  }
  std::vector<Basic> blocks;
  std::vector<int> block_at(code.size());
  for (int k = 0; k < n; ++k) {
    if (leads[static_cast<std::size_t>(k)]) blocks.emplace_back(k);
    blocks.back().last = k;
    block_at[static_cast<std::size_t>(k)] = static_cast<int>(blocks.size()) - 1;
  }
  for (Basic& block : blocks) {
    const Instruction& i = code[static_cast<std::size_t>(block.last)];
    const auto goes_to = [&](std::int64_t target) { block.next.push_back(block_at[static_cast<std::size_t>(target)]); };
    const bool goes_on = i.guard != kNone || goes_straight_on(i);
    if (goes_on && block.last + 1 < n) goes_to(block.last + 1);
    if (i.kind == Kind::kBranch) goes_to(i.number);
    if (i.kind == Kind::kSwitch)
      for (std::int64_t target : i.list) goes_to(target);
  }
  return blocks;
}

/// From where to where a register holds a value that is still needed.
struct Life {
  int first = INT32_MAX, last = -1;
  int block = -1;       // the only one that uses it; -2: several, or one that reads it before it is set
  int shared = -1;      // number among those
  bool is_set = false;  // by some instruction
  void see(int at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

class Lives {
 public:
  explicit Lives(const Function& f)
      : f_(f), blocks_(count_blocks(f.code)), lives_(static_cast<std::size_t>(f.registers)) {
    for (std::size_t b = 0; b < blocks_.size(); ++b) see_block(static_cast<int>(b));
    for (Life& life : lives_)
      if (life.block == -2) life.shared = shared_++;
    find_flow();
    std::vector<Life*> shared;
    for (Life& life : lives_)
      if (life.shared >= 0) shared.push_back(&life);
    for (const Basic& block : blocks_)
      for (Life* at : shared) {
        Life& life = *at;
        if (block.live_in[static_cast<std::size_t>(life.shared)]) life.see(block.first);
        if (block.live_out[static_cast<std::size_t>(life.shared)]) life.see(block.last);
      }
  }
  [[nodiscard]] const std::vector<Life>& lives() const { return lives_; }

  /// The first instruction that computes with a number that no instruction sets; null where there is none. To store or
  /// pack one is no fault: members of a struct that have no value yet.
  [[nodiscard]] const Instruction* first_unset() const {
    for (const Instruction& i : f_.code)
      for (int operand : {i.a, i.b, i.c})
        if (operand >= 0 && i.computes && !lives_[static_cast<std::size_t>(operand)].is_set) return &i;
    return nullptr;
  }

 private:
  void see_block(int b) {
    for (int k = blocks_[static_cast<std::size_t>(b)].first; k <= blocks_[static_cast<std::size_t>(b)].last; ++k) {
      const Instruction& i = f_.code[static_cast<std::size_t>(k)];
      see_reads(i, [&](int r) {
        Life& life = lives_[static_cast<std::size_t>(r)];
        if (life.block != b) life.block = -2;
        life.see(k);
      });
      if (i.to < 0) continue;
      Life& life = lives_[static_cast<std::size_t>(i.to)];
      life.is_set = true;
      if (life.block == -1) life.block = b;
      if (life.block != b) life.block = -2;
      life.see(k);
    }
  }

  void find_flow() {
    for (Basic& block : blocks_) {
      block.needs = block.sets = block.live_in = block.live_out = Bits(static_cast<std::size_t>(shared_));
      for (int k = block.first; k <= block.last; ++k) {
        const Instruction& i = f_.code[static_cast<std::size_t>(k)];
        see_reads(i, [&](int r) {
          const int s = lives_[static_cast<std::size_t>(r)].shared;
          if (s >= 0 && !block.sets[static_cast<std::size_t>(s)]) block.needs.set(static_cast<std::size_t>(s));
        });
        const int s = i.to < 0 ? -1 : lives_[static_cast<std::size_t>(i.to)].shared;
        if (s >= 0) block.sets.set(static_cast<std::size_t>(s));
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) changed |= update(*block);
    }
  }

  bool update(Basic& block) {
    bool changed = false;
    for (std::size_t w = 0; w < block.live_in.words.size(); ++w) {
      std::uint64_t out = 0;
      for (int next : block.next) out |= blocks_[static_cast<std::size_t>(next)].live_in.words[w];
      const std::uint64_t in = block.needs.words[w] | (out & ~block.sets.words[w]);
      changed |= in != block.live_in.words[w];
      block.live_out.words[w] = out;
      block.live_in.words[w] = in;
    }
    return changed;
  }

  const Function& f_;
  std::vector<Basic> blocks_;
  std::vector<Life> lives_;
  int shared_ = 0;
};

/// Gives the registers that `choose` takes their places from `count` on, by the order in which their lives begin.
template <class Choose>
void place(const std::vector<Life>& lives, const Choose& choose, std::vector<int>& places, int& count) {
  std::vector<int> order, free;
  for (std::size_t r = 0; r < lives.size(); ++r)
    if (lives[r].is_set && choose(r)) order.push_back(static_cast<int>(r));
  const auto life = [&](int r) -> const Life& { return lives[static_cast<std::size_t>(r)]; };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return life(a).first < life(b).first; });
  using End = std::pair<int, int>;  // of a life, and its place
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  for (int r : order) {
    while (!ends.empty() && ends.top().first < life(r).first) {
      free.push_back(ends.top().second);
      ends.pop();
    }
    const int at = free.empty() ? count++ : free.back();
    if (!free.empty()) free.pop_back();
    places[static_cast<std::size_t>(r)] = at;
    ends.push({life(r).last, at});
  }
}

}  // namespace

// A register that nothing sets is wrong code of nvcc, which did that. Predicates are apart, and first: nvcc combines
// some that were never set, where either value would do, but then it must be true or false in all bits.
void share_registers(Function& function, const std::vector<bool>& is_predicate) {
  const Lives found(function);
  if (const Instruction* i = found.first_unset())
    throw Fault(std::string(i->text) + " reads a register that nothing sets, in " + std::string(function.name));
  // Others that nothing sets are zero in all bits: the first predicate, which nobody sets either.
  std::vector<int> places(is_predicate.size(), 0);
  function.predicates = 1;
  place(
      found.lives(), [&](std::size_t r) { return is_predicate[r]; }, places, function.predicates);
  function.registers = function.predicates;
  place(
      found.lives(), [&](std::size_t r) { return !is_predicate[r]; }, places, function.registers);
  for (Instruction& i : function.code)
    for (int* operand : {&i.to, &i.a, &i.b, &i.c, &i.guard})
      if (*operand >= 0) *operand = places[static_cast<std::size_t>(*operand)];
}

}  // namespace simulated_gpu
