// Loads, stores and atomic operations. Each address is checked: a block of memory that was allocated, aligned.
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "warp.hpp"

namespace simulated_gpu {

namespace {

[[noreturn]] void refuse(const char* what, Word address, int bytes) {
  char text[120];
  std::snprintf(text, sizeof text, "%s, %d bytes at %#llx", what, bytes, static_cast<unsigned long long>(address));
  throw Fault(text);
}

/// The addresses of the threads that take part; the others have the first of these.
Words addresses(const Warp& w, const Instruction& i) {
  Words out;
  if (i.a == kNone) refuse("an access without an address", 0, 0);
  const Words& base = w.read(i.a);
  const Word offset = static_cast<Word>(i.number), first = base.at[w.first_active()] + offset;
  Word misaligned = 0;
  for (int k = 0; k < kLanes; ++k) {
    out.at[k] = ((base.at[k] + offset) & w.mask.at[k]) | (first & ~w.mask.at[k]);
    misaligned |= out.at[k];
  }
  const auto alignment = static_cast<Word>(i.alignment);
  if (misaligned & (alignment - 1))
    for (Word address : out.at)
      if (address & (alignment - 1)) refuse("a misaligned access", address, i.alignment);
  return out;
}

// Global memory.

std::byte* global(Warp& w, Word address, int bytes) {
  if (w.block == nullptr || !w.block->contains(address, static_cast<std::size_t>(bytes))) {
    w.block = w.memory->find(address);
    if (w.block == nullptr || !w.block->contains(address, static_cast<std::size_t>(bytes)))
      refuse("an access to memory that is not allocated", address, bytes);
  }
  return w.block->host + (address - w.block->first);
}

/// Whether all addresses lie in the block of the first.
bool in_one_block(Warp& w, const Words& at, int bytes) {
  global(w, at.at[0], bytes);
  const Word first = w.block->first, room = w.block->bytes - static_cast<Word>(bytes);
  Word outside = 0;
  for (int k = 0; k < kLanes; ++k) outside |= Word{at.at[k] - first > room};
  return outside == 0;
}

template <class T>
void load_global(Warp& w, const Words& at, Words& out) {
  if (in_one_block(w, at, sizeof(T))) {
    const std::byte* host = w.block->host;
    const Word first = w.block->first;
    for (int k = 0; k < kLanes; ++k) out.at[k] = *reinterpret_cast<const T*>(host + (at.at[k] - first));
  } else {
    for (int k = 0; k < kLanes; ++k) out.at[k] = *reinterpret_cast<const T*>(global(w, at.at[k], sizeof(T)));
  }
}

template <class T>
void store_global(Warp& w, const Words& at, const Words& value) {
  for (int k = 0; k < kLanes; ++k)
    if (w.mask.at[k]) *reinterpret_cast<T*>(global(w, at.at[k], sizeof(T))) = static_cast<T>(value.at[k]);
}

// Local memory, by the byte of a thread's own.

Word& word_of(Warp& w, Word byte, int lane) { return w.local[byte / 8].at[lane]; }

void check_local(const Warp& w, Word byte, int bytes) {
  if (byte + static_cast<Word>(bytes) > static_cast<Word>(w.local_used))
    refuse("an access outside the thread's own memory", byte + kLocal, bytes);
}

/// The bits in which not all are the same.
Word differing(const Words& at) {
  Word different = 0;
  for (int k = 1; k < kLanes; ++k) different |= at.at[k] ^ at.at[0];
  return different;
}

template <class T>
T part(Word word, Word byte) {
  return static_cast<T>(word >> (8 * (byte % 8)));
}
template <class T>
void set_part(Word& word, Word byte, Word value) {
  if constexpr (sizeof(T) == 8) {
    word = value;
  } else {
    const unsigned shift = static_cast<unsigned>(8 * (byte % 8));
    const Word mask = ((Word{1} << 8 * sizeof(T)) - 1) << shift;
    word = (word & ~mask) | (value << shift & mask);
  }
}

template <class T>
void load_row(Warp& w, Word byte, Words& out) {
  check_local(w, byte, sizeof(T));
  const Words row = w.local[byte / 8];
  for (int k = 0; k < kLanes; ++k) out.at[k] = part<T>(row.at[k], byte);
}
template <class T>
void store_row(Warp& w, Word byte, const Words& value) {
  check_local(w, byte, sizeof(T));
  Words& row = w.local[byte / 8];
  for (int k = 0; k < kLanes; ++k) {
    Word changed = row.at[k];
    set_part<T>(changed, byte, value.at[k]);
    row.at[k] = (changed & w.mask.at[k]) | (row.at[k] & ~w.mask.at[k]);
  }
}

template <class T>
void load_local(Warp& w, const Words& at, Words& out) {
  if (differing(at) == 0) return load_row<T>(w, at.at[0] & kWindow, out);
  for (int k = 0; k < kLanes; ++k) {
    const Word byte = at.at[k] & kWindow;
    check_local(w, byte, sizeof(T));
    out.at[k] = part<T>(word_of(w, byte, k), byte);
  }
}
template <class T>
void store_local(Warp& w, const Words& at, const Words& value) {
  if (differing(at) == 0) return store_row<T>(w, at.at[0] & kWindow, value);
  for (int k = 0; k < kLanes; ++k) {
    if (!w.mask.at[k]) continue;
    const Word byte = at.at[k] & kWindow;
    check_local(w, byte, sizeof(T));
    set_part<T>(word_of(w, byte, k), byte, value.at[k]);
  }
}

// Memory that a block shares.

std::byte* shared(Warp& w, Word byte, int bytes) {
  if (!w.shared->contains(byte, static_cast<std::size_t>(bytes)))
    refuse("an access outside of what the block shares", byte + kShared, bytes);
  return w.shared->host(byte);
}
int warp_of(const Warp& w) { return static_cast<int>(w.place.first_thread) / kLanes; }

template <class T>
void load_shared(Warp& w, const Words& at, Words& out) {
  for (int k = 0; k < kLanes; ++k) {
    if (!w.mask.at[k]) continue;
    T value;
    std::memcpy(&value, shared(w, at.at[k], sizeof(T)), sizeof value);
    w.shared->read(at.at[k], sizeof(T), warp_of(w), k, w.met[static_cast<std::size_t>(k)]);
    out.at[k] = value;
  }
}
template <class T>
void store_shared(Warp& w, const Words& at, const Words& value) {
  for (int k = 0; k < kLanes; ++k) {
    if (!w.mask.at[k]) continue;
    const T stored = static_cast<T>(value.at[k]);
    std::memcpy(shared(w, at.at[k], sizeof(T)), &stored, sizeof stored);
    w.shared->write(at.at[k], sizeof(T), warp_of(w), k, w.met[static_cast<std::size_t>(k)]);
  }
}

// Parameters of the kernel: the same for all threads, and only read.

template <class T>
Word parameter(const Warp& w, Word byte) {
  if (byte + sizeof(T) > w.parameter_bytes) refuse("an access outside the parameters", byte + kParameters, sizeof(T));
  T value;
  std::memcpy(&value, w.parameters + byte, sizeof value);
  return value;
}
template <class T>
void load_parameters(const Warp& w, const Words& at, Words& out) {
  for (int k = 0; k < kLanes; ++k) out.at[k] = parameter<T>(w, at.at[k] & kWindow);
}

/// Which kind of memory this is an address of.
Space space_of(Word address) {
  const Word kind = address & ~kWindow;
  return kind == kLocal ? Space::kLocal : kind == kParameters ? Space::kParameters : Space::kGlobal;
}

template <class T>
void load_generic(Warp& w, const Words& at, Words& out) {
  if ((differing(at) & ~kWindow) == 0) {
    const Space space = space_of(at.at[0]);
    if (space == Space::kLocal) return load_local<T>(w, at, out);
    if (space == Space::kParameters) return load_parameters<T>(w, at, out);
    return load_global<T>(w, at, out);
  }
  for (int k = 0; k < kLanes; ++k) {
    Words same, one;
    for (Word& address : same.at) address = at.at[k];
    const Space space = space_of(at.at[k]);
    if (space == Space::kLocal) load_local<T>(w, same, one);
    if (space == Space::kParameters) load_parameters<T>(w, same, one);
    if (space == Space::kGlobal) load_global<T>(w, same, one);
    out.at[k] = one.at[k];
  }
}

/// Thread by thread where they mean different kinds of memory.
template <class T>
void store_generic(Warp& w, const Words& at, const Words& value) {
  const std::uint32_t all = w.active;
  std::uint32_t local = 0;
  for (int k = 0; k < kLanes; ++k)
    if (all >> k & 1u) {
      const Space space = space_of(at.at[k]);
      if (space == Space::kParameters) refuse("a store to a kernel's parameters", at.at[k], sizeof(T));
      if (space == Space::kLocal) local |= 1u << k;
    }
  if (local == 0) return store_global<T>(w, at, value);
  if (local == all) return store_local<T>(w, at, value);
  w.take_part(local);
  store_local<T>(w, at, value);
  w.take_part(all & ~local);
  store_global<T>(w, at, value);
  w.take_part(all);
}

template <Space kSpace, class T>
void run_load(Warp& w, const Instruction& i) {
  using Bits = std::make_unsigned_t<T>;
  Words out;
  if constexpr (kSpace == Space::kFrame) {
    load_row<Bits>(w, static_cast<Word>(w.frame + i.number), out);
  } else if constexpr (kSpace == Space::kKernelParameters) {
    const Word value = parameter<Bits>(w, static_cast<Word>(i.number));
    for (Word& word : out.at) word = value;
  } else {
    const Words at = addresses(w, i);
    if constexpr (kSpace == Space::kGlobal) load_global<Bits>(w, at, out);
    if constexpr (kSpace == Space::kLocal) load_local<Bits>(w, at, out);
    if constexpr (kSpace == Space::kShared) load_shared<Bits>(w, at, out);
    if constexpr (kSpace == Space::kGeneric) load_generic<Bits>(w, at, out);
  }
  if constexpr (std::is_signed_v<T>) {
    w.write(i.to,
            [&](int k) { return static_cast<Word>(static_cast<std::int64_t>(static_cast<T>(out.at[k]))) & i.width; });
  } else {
    w.write(i.to, [&](int k) { return out.at[k]; });
  }
}

template <Space kSpace, class T>
void run_store(Warp& w, const Instruction& i) {
  const Words& value = w.read(i.b);
  if constexpr (kSpace == Space::kFrame) {
    store_row<T>(w, static_cast<Word>(w.frame + i.number), value);
  } else {
    const Words at = addresses(w, i);
    if constexpr (kSpace == Space::kGlobal) store_global<T>(w, at, value);
    if constexpr (kSpace == Space::kLocal) store_local<T>(w, at, value);
    if constexpr (kSpace == Space::kShared) store_shared<T>(w, at, value);
    if constexpr (kSpace == Space::kGeneric) store_generic<T>(w, at, value);
  }
}

template <Space kSpace>
Run load_in(int bytes, bool is_signed) {
  if (bytes == 8) return run_load<kSpace, std::uint64_t>;
  if (bytes == 4) return is_signed ? run_load<kSpace, std::int32_t> : run_load<kSpace, std::uint32_t>;
  if (bytes == 2) return is_signed ? run_load<kSpace, std::int16_t> : run_load<kSpace, std::uint16_t>;
  return is_signed ? run_load<kSpace, std::int8_t> : run_load<kSpace, std::uint8_t>;
}
template <Space kSpace>
Run store_in(int bytes) {
  if (bytes == 8) return run_store<kSpace, std::uint64_t>;
  if (bytes == 4) return run_store<kSpace, std::uint32_t>;
  if (bytes == 2) return run_store<kSpace, std::uint16_t>;
  return run_store<kSpace, std::uint8_t>;
}

// Atomic operations: thread after thread within a warp; warps run side by side.

/// The place of thread k.
template <Space kSpace, class T>
T* atomic_place(Warp& w, Word at, int k) {
  if constexpr (kSpace == Space::kGlobal) return reinterpret_cast<T*>(global(w, at, sizeof(T)));
  std::byte* const place = shared(w, at, sizeof(T));
  w.shared->change(at, sizeof(T), warp_of(w), k, w.met[static_cast<std::size_t>(k)]);
  return reinterpret_cast<T*>(place);
}

template <Space kSpace, class T, auto F>
void run_atomic(Warp& w, const Instruction& i) {
  const Words at = addresses(w, i), value = w.read(i.b), swap = i.c == kNone ? value : w.read(i.c);
  Words out{};
  for (int k = 0; k < kLanes; ++k) {
    if (!w.mask.at[k]) continue;
    T* place = atomic_place<kSpace, T>(w, at.at[k], k);
    T before = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(place, &before,
                                        F(before, static_cast<T>(value.at[k]), static_cast<T>(swap.at[k])), false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    out.at[k] = static_cast<std::make_unsigned_t<T>>(before);
  }
  if (i.to != kNone) w.write(i.to, [&](int k) { return out.at[k]; });
}

template <Space kSpace, class T>
Run atomic_on(std::string_view what) {
  if (what == "add") return run_atomic<kSpace, T, [](T a, T b, T) { return static_cast<T>(a + b); }>;
  if (what == "min") return run_atomic<kSpace, T, [](T a, T b, T) { return b < a ? b : a; }>;
  if (what == "max") return run_atomic<kSpace, T, [](T a, T b, T) { return a < b ? b : a; }>;
  if (what == "and") return run_atomic<kSpace, T, [](T a, T b, T) { return static_cast<T>(a & b); }>;
  if (what == "or") return run_atomic<kSpace, T, [](T a, T b, T) { return static_cast<T>(a | b); }>;
  if (what == "exch") return run_atomic<kSpace, T, [](T, T b, T) { return b; }>;
  if (what == "cas") return run_atomic<kSpace, T, [](T a, T b, T c) { return a == b ? c : a; }>;
  return nullptr;
}

template <Space kSpace>
Run atomic_in(std::string_view what, std::string_view type) {
  if (type == "u32" || type == "b32") return atomic_on<kSpace, std::uint32_t>(what);
  if (type == "s32") return atomic_on<kSpace, std::int32_t>(what);
  if (type == "u64" || type == "b64") return atomic_on<kSpace, std::uint64_t>(what);
  if (type == "s64") return atomic_on<kSpace, std::int64_t>(what);
  return nullptr;
}

}  // namespace

Run load(Space space, int bytes, bool is_signed) {
  switch (space) {
    case Space::kGlobal:
      return load_in<Space::kGlobal>(bytes, is_signed);
    case Space::kLocal:
      return load_in<Space::kLocal>(bytes, is_signed);
    case Space::kShared:
      return load_in<Space::kShared>(bytes, is_signed);
    case Space::kFrame:
      return load_in<Space::kFrame>(bytes, is_signed);
    case Space::kKernelParameters:
      return load_in<Space::kKernelParameters>(bytes, is_signed);
    default:  // parameters are a kernel's, or a function's in its frame
      return load_in<Space::kGeneric>(bytes, is_signed);
  }
}

Run store(Space space, int bytes) {
  switch (space) {
    case Space::kGlobal:
      return store_in<Space::kGlobal>(bytes);
    case Space::kLocal:
      return store_in<Space::kLocal>(bytes);
    case Space::kShared:
      return store_in<Space::kShared>(bytes);
    case Space::kFrame:
      return store_in<Space::kFrame>(bytes);
    default:
      return store_in<Space::kGeneric>(bytes);
  }
}

Run atomic(Space space, std::string_view what, std::string_view type) {
  return space == Space::kShared ? atomic_in<Space::kShared>(what, type) : atomic_in<Space::kGlobal>(what, type);
}

}  // namespace simulated_gpu
