// The CUDA runtime, as far as garra uses it, with a GPU that is a simulation. Kernels run late: a launch only notes
// what to do, and the next call that must wait does it. Linked in place of libcudart.
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <list>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <tuple>
#include <variant>

#include "control.hpp"
#include "fatbin.hpp"
#include "warp.hpp"

#undef cudaGetDeviceProperties

namespace simulated_gpu {

namespace {

constexpr int kCapability = 80, kRatio = 2, kDriver = CUDART_VERSION;  // of the device unless a variable says otherwise
constexpr int kProcessors = 1, kThreadsOfProcessor = 256;              // small, so that stacks need little memory

/// A number from the environment.
int read_number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<int>(std::strtol(text, nullptr, 10));
}

constexpr std::size_t kMemory = std::size_t{4} << 30;
constexpr std::size_t kRegisterBytes = std::size_t{64} << 20,
                      kLocalBytes = std::size_t{1} << 19;  // of a warp, a thread

struct Launch {
  const Function* kernel;
  std::uint32_t blocks, threads;
  std::vector<std::byte> parameters;
};
struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
  cudaMemcpyKind kind;
};
/// What waits on a stream.
struct Queued {
  cudaStream_t stream;
  std::variant<Launch, Copy> what;
};

/// Which blocks of a launch have begun.
class Blocks {
 public:
  explicit Blocks(std::uint32_t count) : begun_(count) {}
  /// Whether it had not, and no block has failed.
  bool begin(std::uint32_t block) { return !failed && !begun_[block].exchange(true); }
  /// The first that had not begun, of those below a block that waits. One above it might wait for it in turn.
  std::optional<std::uint32_t> begin_one_below(std::uint32_t block) {
    if (failed) throw Fault("another block failed");
    for (std::uint32_t k = 0; k < block; ++k)
      if (begin(k)) return k;
    std::this_thread::yield();
    return {};
  }
  std::atomic<bool> failed = false;

 private:
  std::vector<std::atomic<bool>> begun_;
};

struct Ran {
  std::int64_t launches = 0;
  Counts counts;
};

/// Registers and local memory of the warps of one thread of the host.
class Stacks {
 public:
  Stacks() : registers_(map(kRegisterBytes)), local_(map(kLocalBytes * kLanes)) {}
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks() {
    munmap(registers_, kRegisterBytes);
    munmap(local_, kLocalBytes * kLanes);
  }
  void lend(Warp& warp) const {
    warp.registers = registers_;
    warp.registers_end = registers_ + kRegisterBytes / sizeof(Words);
    warp.local = local_;
    warp.local_bytes = kLocalBytes;
  }

 private:
  static Words* map(std::size_t bytes) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    return static_cast<Words*>(at);
  }
  Words *registers_, *local_;
};

/// A kernel's name, and what nvcc made of its file.
using Kernel = std::pair<const void*, std::string>;

/// Those of the program, by the stub that the host calls; filled before main().
std::map<const void*, Kernel>& stubs() {
  static auto* const all = new std::map<const void*, Kernel>;
  return *all;
}

class Gpu {
 public:
  explicit Gpu(int index) : memory_(kMemory, index) {}

  // Code.

  std::int64_t read_all() {
    std::int64_t count = 0;
    for (const auto& [stub, kernel] : stubs()) count += find(kernel) != nullptr;
    return count;
  }

  // Launches.

  cudaError_t launch(const void* stub, dim3 grid, dim3 block, void** arguments, cudaStream_t stream) {
    if (dead_ != cudaSuccess) return dead_;
    if (due(Failure::kLaunch)) return remember(cudaErrorLaunchOutOfResources);
    const auto found = stubs().find(stub);
    if (found == stubs().end()) return remember(cudaErrorInvalidDeviceFunction);
    const Function* kernel = nullptr;
    try {
      kernel = find(found->second);
    } catch (const Fault& fault) {
      return say(cudaErrorInvalidPtx, fault.what());
    }
    if (kernel == nullptr) return remember(cudaErrorInvalidDeviceFunction);
    const bool flat = grid.y == 1 && grid.z == 1 && block.y == 1 && block.z == 1;
    if (!flat || grid.x == 0 || block.x == 0 || static_cast<int>(block.x) > kernel->most_threads)
      return remember(cudaErrorInvalidConfiguration);
    Launch launch{kernel, grid.x, block.x, std::vector<std::byte>(kernel->parameter_bytes)};
    for (std::size_t k = 0; k < kernel->parameters.size(); ++k)
      std::memcpy(launch.parameters.data() + kernel->parameters[k].offset, arguments[k], kernel->parameters[k].bytes);
    queue_.push_back({stream, std::move(launch)});
    return cudaSuccess;
  }

  /// Bytes of local memory that a thread of a kernel needs at most; 0 where there is no such kernel.
  std::size_t stack_of(const void* stub) {
    const auto found = stubs().find(stub);
    const Function* kernel = found == stubs().end() ? nullptr : find(found->second);
    return kernel == nullptr ? 0 : stack_of(*kernel);
  }

  /// All that was launched has run.
  cudaError_t wait() { return run_all(std::exchange(queue_, {})); }
  /// All that was launched on this stream. Streams know nothing of each other, nor of the default one: a call that
  /// waits for the wrong stream finds that nothing has happened.
  cudaError_t wait(cudaStream_t stream) {
    std::vector<Queued> due;
    for (Queued& one : std::exchange(queue_, {})) (one.stream == stream ? due : queue_).push_back(std::move(one));
    return run_all(std::move(due));
  }

  // Memory.

  cudaError_t allocate(void** to, std::size_t bytes) {
    *to = nullptr;
    if (dead_ != cudaSuccess) return dead_;
    if (due(Failure::kAllocation)) return remember(cudaErrorMemoryAllocation);
    const std::uint64_t address = memory_.allocate(bytes);
    if (address == 0 && bytes > 0) return remember(cudaErrorMemoryAllocation);
    *to = reinterpret_cast<void*>(address);
    return cudaSuccess;
  }
  cudaError_t release(void* at) {
    const cudaError_t before = wait();
    if (at != nullptr && !memory_.release(reinterpret_cast<std::uint64_t>(at)))
      return say(cudaErrorInvalidValue, "cudaFree of what was not allocated");
    return before;
  }
  cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
    if (wait(stream) != cudaSuccess) return dead_;
    return copy_now({to, from, bytes, kind});
  }
  /// With the stream's other work: host memory that is pinned is read and written as late as may be.
  cudaError_t copy_late(const Copy& copy, cudaStream_t stream) {
    if (dead_ != cudaSuccess) return dead_;
    queue_.push_back({stream, copy});
    return cudaSuccess;
  }
  cudaError_t copy_now(const Copy& copy) {
    const auto& [to, from, bytes, kind] = copy;
    if (due(Failure::kCopy)) return dead_ = say(cudaErrorDevicesUnavailable, "a planned failure");
    if (bytes == 0) return cudaSuccess;
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    void* target = to_device ? memory_.host(reinterpret_cast<std::uint64_t>(to), bytes) : to;
    const void* source = from_device ? memory_.host(reinterpret_cast<std::uint64_t>(from), bytes) : from;
    if (is_of_device(to) != to_device || is_of_device(from) != from_device || target == nullptr || source == nullptr)
      return say(cudaErrorInvalidValue, "cudaMemcpy outside of what was allocated");
    std::memcpy(target, source, bytes);
    return cudaSuccess;
  }
  cudaError_t fill(void* to, int value, std::size_t bytes, cudaStream_t stream = nullptr) {
    if (wait(stream) != cudaSuccess) return dead_;
    std::byte* target = memory_.host(reinterpret_cast<std::uint64_t>(to), bytes);
    if (target == nullptr && bytes > 0) return say(cudaErrorInvalidValue, "cudaMemset outside of what was allocated");
    if (bytes > 0) std::memset(target, value, bytes);
    return cudaSuccess;
  }
  [[nodiscard]] const Memory& memory() const { return memory_; }
  [[nodiscard]] std::size_t allocated() const { return memory_.in_use() - of_modules_; }
  void set_memory(std::size_t bytes) { memory_.set_capacity(bytes); }

  // Errors.

  cudaError_t last_error(bool forget) {
    if (dead_ != cudaSuccess) return dead_;
    return forget ? std::exchange(last_, cudaSuccess) : last_;
  }
  [[nodiscard]] const char* words(cudaError_t error) const {
    static const std::map<cudaError_t, const char*> kWords = {
        {cudaSuccess, "no error"},
        {cudaErrorMemoryAllocation, "out of memory"},
        {cudaErrorInvalidValue, "invalid argument"},
        {cudaErrorInvalidConfiguration, "invalid configuration argument"},
        {cudaErrorInvalidDevice, "invalid device ordinal"},
        {cudaErrorInvalidDeviceFunction, "invalid device function"},
        {cudaErrorInvalidPtx, "a PTX JIT compilation failed"},
        {cudaErrorIllegalAddress, "an illegal memory access was encountered"},
        {cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"},
        {cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"},
        {cudaErrorLaunchOutOfResources, "too many resources requested for launch"},
        {cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"}};
    const auto found = kWords.find(error);
    return found == kWords.end() ? "unknown error" : found->second;
  }
  cudaError_t remember(cudaError_t error) { return last_ = error; }
  void plan(Failure what, int n) { planned_[static_cast<std::size_t>(what)] = n; }
  /// Whether such a call, which is not the device's own, is to fail.
  bool fails(Failure what) { return due(what); }
  [[nodiscard]] bool is_planned(Failure what) const { return planned_[static_cast<std::size_t>(what)] > 0; }
  void recover() {
    queue_.clear();
    planned_.fill(0);
    dead_ = last_ = cudaSuccess;
  }

  // What is asked of a simulation only.

  void shuffle(std::uint64_t seed) { seed_ = seed; }
  [[nodiscard]] const std::map<std::string, Ran>& ran() const { return ran_; }
  [[nodiscard]] std::int64_t kernels_run() const { return kernels_run_; }

  std::mutex mutex;

 private:
  cudaError_t run_all(std::vector<Queued> queued) {
    for (Queued& one : queued) {
      if (dead_ != cudaSuccess) break;
      if (const Copy* copy = std::get_if<Copy>(&one.what)) {
        if (const cudaError_t failed = copy_now(*copy); failed != cudaSuccess) dead_ = failed;
      } else if (due(Failure::kKernel)) {
        dead_ = say(cudaErrorIllegalAddress, "a planned failure");
      } else {
        run(std::get<Launch>(one.what));
      }
    }
    return dead_;
  }

  /// With the deepest of its calls.
  static std::size_t stack_of(const Function& function) {
    std::size_t deepest = 0;
    for (const Instruction& i : function.code)
      if (i.callee != nullptr) deepest = std::max(deepest, stack_of(*i.callee));
    return function.frame + deepest;
  }

  /// A file is read when one of its kernels is first needed: most processes need few.
  const Function* find(const Kernel& kernel) {
    std::unique_ptr<Module>& module = modules_[kernel.first];
    if (module == nullptr) {
      const std::size_t before = memory_.in_use();
      module = std::make_unique<Module>(ptx_of(kernel.first), memory_);
      of_modules_ += memory_.in_use() - before;
    }
    return module->function(kernel.second);
  }

  static bool is_of_device(const void* at) { return (reinterpret_cast<std::uint64_t>(at) & ~kWindow) == kGlobal; }

  bool due(Failure what) {
    int& left = planned_[static_cast<std::size_t>(what)];
    return left > 0 && --left == 0;
  }
  cudaError_t say(cudaError_t error, const char* what) {
    std::fprintf(stderr, "simulated GPU: %s\n", what);
    return remember(error);
  }

  void run(const Launch& launch) {
    std::vector<std::uint32_t> order(launch.blocks);
    std::iota(order.begin(), order.end(), 0u);
    if (seed_ != 0) std::shuffle(order.begin(), order.end(), std::mt19937_64(seed_));
    Counts counts;
    std::optional<std::string> failed;
    Blocks blocks(launch.blocks);
#pragma omp parallel
    {
      Counts own;
      std::optional<std::string> fault;
#pragma omp for schedule(dynamic) nowait
      for (std::size_t k = 0; k < order.size(); ++k) {
        try {
          if (blocks.begin(order[k])) run_block(launch, order[k], blocks, own);
        } catch (const std::exception& error) {
          if (!blocks.failed.exchange(true)) fault = error.what();
        }
      }
#pragma omp critical(garra_simulated_gpu)
      {
        counts.add(own);
        if (fault) failed = fault;
      }
    }
    ++kernels_run_;
    Ran& ran = ran_[std::string(launch.kernel->name)];
    ++ran.launches;
    ran.counts.add(counts);
    if (failed) dead_ = say(cudaErrorIllegalAddress, (*failed + " in " + std::string(launch.kernel->name)).c_str());
  }

  void run_block(const Launch& launch, std::uint32_t block, Blocks& blocks, Counts& counts) const {
    // Warps that wait for one another at a barrier have stacks of their own, as those of blocks that wait for others;
    // all others run one after another.
    static thread_local std::deque<Stacks> stacks;
    static thread_local std::size_t used = 0;
    SharedMemory shared(launch.kernel->shared);
    const std::size_t all = (launch.threads + kLanes - 1) / kLanes;
    const std::size_t at_once = launch.kernel->has_block_barriers ? all : 1;
    const auto before = std::unique_ptr<std::size_t, void (*)(std::size_t*)>(
        new std::size_t(used), [](std::size_t* at) { used = *at, delete at; });
    used += at_once;
    while (stacks.size() < used) stacks.emplace_back();
    const std::function<void()> others = [&] {
      if (const auto other = blocks.begin_one_below(block)) run_block(launch, *other, blocks, counts);
    };
    std::vector<Warp> warps(at_once);
    for (std::size_t first = 0; first < all; first += at_once) {
      for (std::size_t k = 0; k < at_once; ++k) {
        warps[k] = {};
        stacks[*before + k].lend(warps[k]);
        warps[k].shared = &shared;
        warps[k].others = &others;
        set_out(warps[k], launch, block, static_cast<std::uint32_t>(first + k) * kLanes);
      }
      run_kernel(warps, *launch.kernel, shared);
      for (const Warp& warp : warps) counts.add(warp.counts);
    }
  }

  void set_out(Warp& warp, const Launch& launch, std::uint32_t block, std::uint32_t first) const {
    warp.memory = &memory_;
    warp.parameters = launch.parameters.data();
    warp.parameter_bytes = launch.parameters.size();
    warp.place = {block, launch.blocks, launch.threads, first};
    const std::uint32_t threads = std::min<std::uint32_t>(kLanes, launch.threads - first);
    warp.take_part(threads == kLanes ? ~0u : (1u << threads) - 1);
    warp.counts.threads = threads;
  }

  Memory memory_;
  std::size_t of_modules_ = 0;                              ///< their variables [bytes]
  std::map<const void*, std::unique_ptr<Module>> modules_;  ///< by file
  std::vector<Queued> queue_;
  cudaError_t dead_ = cudaSuccess;  ///< since a kernel died: it stays
  cudaError_t last_ = cudaSuccess;
  std::array<int, 5> planned_{};
  std::uint64_t seed_ = 0;
  std::map<std::string, Ran> ran_;
  std::int64_t kernels_run_ = 0;
};

/// What the environment asks for: memory in bytes, the order of blocks, "malloc:3" as the call that fails
/// ("malloc:3@1": of device 1), a file for the counts.
void set_up(Gpu& gpu, int index) {
  if (const char* bytes = std::getenv("GARRA_SIMULATED_GPU_MEMORY")) gpu.set_memory(std::strtoull(bytes, nullptr, 10));
  if (const char* seed = std::getenv("GARRA_SIMULATED_GPU_SHUFFLE")) gpu.shuffle(std::strtoull(seed, nullptr, 10));
  const char* failure = std::getenv("GARRA_SIMULATED_GPU_FAIL");
  if (failure == nullptr) return;
  const std::string text(failure), what = text.substr(0, text.find(':'));
  const auto of = text.find('@');
  if (of != text.npos && std::atoi(text.c_str() + of + 1) != index) return;
  const int n = text.find(':') == text.npos ? 1 : std::atoi(text.c_str() + text.find(':') + 1);
  if (what == "malloc") gpu.plan(Failure::kAllocation, n);
  if (what == "copy") gpu.plan(Failure::kCopy, n);
  if (what == "launch") gpu.plan(Failure::kLaunch, n);
  if (what == "kernel") gpu.plan(Failure::kKernel, n);
  if (what == "pinned") gpu.plan(Failure::kPinned, n);
}

constexpr const char* kNoCounts = "[\n]\n";
/// Into a folder, a file for each process that ran a kernel.
void write_counts() {
  const char* name = std::getenv("GARRA_SIMULATED_GPU_COUNTS");
  const std::string text = counts_as_json();
  if (name == nullptr || text == kNoCounts) return;
  std::filesystem::path path = name;
  if (std::filesystem::is_directory(path)) path /= std::to_string(getpid()) + ".json";
  std::FILE* out = std::fopen(path.c_str(), "w");
  if (out == nullptr) return;
  std::fwrite(text.data(), 1, text.size(), out);
  std::fclose(out);
}

/// Made by whoever comes first, before main(); never destroyed, for others may come after it.
std::array<Gpu*, kMaxDevices>& gpus() {
  static auto* const made = [] {
    auto* all = new std::array<Gpu*, kMaxDevices>;
    for (int k = 0; k < kMaxDevices; ++k) {
      auto* fresh = new Gpu(k);
      set_up(*fresh, k);
      all->at(static_cast<std::size_t>(k)) = fresh;
    }
    std::atexit(write_counts);
    return all;
  }();
  return *made;
}
std::atomic<int> devices = std::clamp(read_number("GARRA_SIMULATED_GPU_DEVICES", 1), 1, kMaxDevices);
thread_local int current_device = 0;

/// Grid and block of a launch whose arguments are still being put together.
thread_local std::vector<std::tuple<dim3, dim3, cudaStream_t>> configurations;

/// Memory of the host that is pinned: where it begins and ends.
class PinnedMemory {
 public:
  void* allocate(std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& made = all_.emplace_back(bytes, std::byte{0xff});  // NaN, as memory of the device
    return made.data();
  }
  bool release(const void* at) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::erase_if(all_, [&](const auto& piece) { return piece.data() == at; }) > 0;
  }
  bool has(const void* at) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto* p = static_cast<const std::byte*>(at);
    return std::ranges::any_of(all_, [&](const auto& piece) {
      return std::less_equal<>()(piece.data(), p) && std::less<>()(p, piece.data() + piece.size());
    });
  }

 private:
  std::mutex mutex_;
  std::list<std::vector<std::byte>> all_;
};
PinnedMemory& pinned() {
  static auto* const made = new PinnedMemory;
  return *made;
}

/// A GPU, for one call of the runtime.
class Use {
 public:
  Use() : Use(*gpus().at(static_cast<std::size_t>(current_device))) {}
  explicit Use(Gpu& gpu) : gpu_(gpu) {}
  Gpu* operator->() const { return &gpu_; }

 private:
  Gpu& gpu_;
  std::lock_guard<std::mutex> lock_{gpu_.mutex};
};

}  // namespace

void fail(Failure what, int n) { Use()->plan(what, n); }
bool is_planned(Failure what) { return Use()->is_planned(what); }
void recover() {
  for (Gpu* gpu : gpus()) Use(*gpu)->recover();
}
void set_devices(int count) { devices = count; }
void set_memory(std::size_t bytes) { Use()->set_memory(bytes); }
std::size_t memory() { return Use()->memory().capacity(); }
void shuffle_blocks(std::uint64_t seed) { Use()->shuffle(seed); }
std::size_t bytes_in_use() { return Use()->allocated(); }
std::int64_t kernels_run() { return Use()->kernels_run(); }
std::int64_t read_all_kernels() { return Use()->read_all(); }

std::string counts_as_json() {
  std::map<std::string, Ran> all;
  for (Gpu* gpu : gpus())
    for (const auto& [name, ran] : Use(*gpu)->ran()) {
      all[name].launches += ran.launches;
      all[name].counts.add(ran.counts);
    }
  std::string text = "[";
  for (const auto& [name, ran] : all) {
    if (text.size() > 1) text += ",";
    text += "\n {\"kernel\": \"" + name + "\", \"launches\": " + std::to_string(ran.launches) +
            ", \"threads\": " + std::to_string(ran.counts.threads);
    const auto list = [&](const char* key, const std::array<std::uint64_t, kClasses>& of) {
      text += std::string(", \"") + key + "\": {";
      for (int k = 0; k < kClasses; ++k)
        text += std::string(k == 0 ? "\"" : ", \"") + kClassNames[k] +
                "\": " + std::to_string(of[static_cast<std::size_t>(k)]);
      text += "}";
    };
    list("issued", ran.counts.issued);
    list("done", ran.counts.done);
    text += "}";
  }
  return text + "\n]\n";
}

}  // namespace simulated_gpu

using simulated_gpu::Use;

extern "C" {

// What nvcc's host code calls.

void** __cudaRegisterFatBinary(void* file) { return static_cast<void**>(file); }  // as good a handle as any
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void** file, const char* stub, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  simulated_gpu::stubs()[stub] = {file, name};
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}  // no host code asks for variables
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(stub));
  return cudaSuccess;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t, struct CUstream_st* stream) {
  simulated_gpu::configurations.push_back({grid, block, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  std::tie(*grid, *block, *static_cast<cudaStream_t*>(stream)) = simulated_gpu::configurations.back();
  simulated_gpu::configurations.pop_back();
  *shared = 0;
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* stub, dim3 grid, dim3 block, void** arguments, size_t, cudaStream_t stream) {
  return Use()->launch(stub, grid, block, arguments, stream);
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t,
                               cudaStream_t stream) {
  return Use()->launch(kernel, grid, block, arguments, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* how, const void* stub, void** arguments) {
  return Use()->launch(stub, how->gridDim, how->blockDim, arguments, how->stream);
}

// What garra calls.

cudaError_t cudaMalloc(void** to, size_t bytes) { return Use()->allocate(to, bytes); }
cudaError_t cudaFree(void* at) { return Use()->release(at); }
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return Use()->copy(to, from, bytes, kind);
}
cudaError_t cudaHostAlloc(void** to, size_t bytes, unsigned) {
  *to = nullptr;
  if (Use gpu; gpu->fails(simulated_gpu::Failure::kPinned)) return gpu->remember(cudaErrorMemoryAllocation);
  *to = simulated_gpu::pinned().allocate(bytes);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* at) {
  return simulated_gpu::pinned().release(at) ? cudaSuccess : Use()->remember(cudaErrorInvalidValue);
}
/// Of memory that is not pinned: done at once, with what was launched on the stream before.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (simulated_gpu::pinned().has(kind == cudaMemcpyHostToDevice ? from : to))
    return Use()->copy_late({to, from, bytes, kind}, stream);
  return Use()->copy(to, from, bytes, kind, stream);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  static std::atomic<std::uintptr_t> last = 0;
  *stream = reinterpret_cast<cudaStream_t>(++last);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return Use()->wait(stream); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return Use()->wait(stream); }
cudaError_t cudaMemset(void* to, int value, size_t bytes) { return Use()->fill(to, value, bytes); }
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return Use()->fill(to, value, bytes, stream);
}
// One pool, which keeps nothing: what is given back is never given out again, so that late use of it is seen.
cudaError_t cudaMallocAsync(void** to, size_t bytes, cudaStream_t) { return Use()->allocate(to, bytes); }
cudaError_t cudaFreeAsync(void* at, cudaStream_t) { return Use()->release(at); }
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  *pool = nullptr;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* value) {
  *static_cast<std::uint64_t*>(value) = 0;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return Use()->last_error(true); }
cudaError_t cudaPeekAtLastError() { return Use()->last_error(false); }
cudaError_t cudaDeviceSynchronize() { return Use()->wait(); }
cudaError_t cudaGetDeviceCount(int* count) {
  const bool old = simulated_gpu::read_number("GARRA_SIMULATED_GPU_DRIVER", simulated_gpu::kDriver) < CUDART_VERSION;
  *count = old ? 0 : simulated_gpu::devices.load();
  return old ? Use()->remember(cudaErrorInsufficientDriver) : cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = simulated_gpu::read_number("GARRA_SIMULATED_GPU_DRIVER", simulated_gpu::kDriver);
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  const int capability = simulated_gpu::read_number("GARRA_SIMULATED_GPU_CAPABILITY", simulated_gpu::kCapability);
  switch (which) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = capability / 10;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = capability % 10;
      return cudaSuccess;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      *value = simulated_gpu::read_number("GARRA_SIMULATED_GPU_FP64", simulated_gpu::kRatio);
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *value = simulated_gpu::kProcessors;
      return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = simulated_gpu::kThreadsOfProcessor;
      return cudaSuccess;
    default:
      return Use()->remember(cudaErrorInvalidValue);
  }
}
/// The kernels are PTX for capability 8.0, which no older device can run.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* stub) {
  std::memset(attributes, 0, sizeof *attributes);
  attributes->localSizeBytes = Use()->stack_of(stub);
  attributes->ptxVersion = attributes->binaryVersion = simulated_gpu::kCapability;
  const int capability = simulated_gpu::read_number("GARRA_SIMULATED_GPU_CAPABILITY", simulated_gpu::kCapability);
  return capability >= simulated_gpu::kCapability ? cudaSuccess : Use()->remember(cudaErrorNoKernelImageForDevice);
}
cudaError_t cudaSetDevice(int index) {
  if (index < 0 || index >= simulated_gpu::devices) return Use()->remember(cudaErrorInvalidDevice);
  simulated_gpu::current_device = index;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* index) {
  *index = simulated_gpu::current_device;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  const Use gpu;
  *total = gpu->memory().capacity();
  *free = *total - std::min(*total, gpu->memory().in_use());
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t error) { return Use()->words(error); }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  std::snprintf(properties->name, sizeof properties->name, "simulated GPU");
  properties->major = simulated_gpu::kCapability / 10;
  properties->warpSize = simulated_gpu::kLanes;
  properties->totalGlobalMem = Use()->memory().capacity();
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int index) {
  return cudaGetDeviceProperties(properties, index);
}
}
