#include "garra/batch/device.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/cuda_device.hpp"
#include "base/instruction_set.hpp"
#include "garra/batch/devices.hpp"
#include "garra/batch/on_device.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"

namespace garra {

namespace {

constexpr std::int64_t kFitBlock = 1024;  ///< samples that fit come in whole blocks of a study
constexpr int kThreadsPerProcessor = 4;
constexpr const char* kOneDevice = "use auto, cpu, scalar, cuda or cuda:0";

/// Shortens "Intel(R) Xeon(R) Processor" to Intel Xeon, because a line of 80 columns is too short for marks.
std::string without_marks(std::string name) {
  for (const char* mark : {"(R)", "(TM)", "(tm)", " Processor", " CPU"})
    for (auto at = name.find(mark); at != std::string::npos; at = name.find(mark))
      name.erase(at, std::string(mark).size());
  return name.substr(0, name.find(" @"));
}

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0) return without_marks(line.substr(line.find(':') + 2));
  return "CPU";
}

const CudaRuntime& cuda() {
  if (!has_kernels()) batch::refuse_without_kernels();
  return cuda_runtime;
}

std::uint64_t available_memory() {
  std::ifstream in("/proc/meminfo");
  std::string key, unit;
  for (std::uint64_t kib = 0; in >> key >> kib >> unit;)
    if (key == "MemAvailable:") return kib * 1024;
  // Without /proc: count free pages only, fewer than the available ones.
  return static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
}

/// Why a program with kernels finds no GPU.
std::string no_device() {
  const std::string problem = cuda_runtime.driver_problem();
  return problem.empty() ? "no NVIDIA GPU (or no driver) on this machine" : "no usable NVIDIA GPU: " + problem;
}

Device cuda_device(const std::string& name) {
  Device d;
  d.executor = Executor::kCuda;
  if (name != "cuda") {
    const std::string number = name.substr(5);  // behind "cuda:"
    // Bounded before stoi, which throws beyond int.
    if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos || number.size() > 3)
      throw Error(ExitCode::kUsage, "--device " + name + ": no such device", kOneDevice);
    d.index = std::stoi(number);
  }
  const int count = cuda().device_count();
  if (count == 0)
    throw Error(ExitCode::kNoDevice, "--device cuda: " + no_device(), "check `nvidia-smi`, or use --device cpu");
  if (d.index >= count)
    throw Error(ExitCode::kNoDevice, "--device " + name + ": this machine has " + std::to_string(count) + " GPU(s)",
                "use cuda:0 to cuda:" + std::to_string(count - 1));
  if (const std::string missing = cuda().missing_kernels(d.index); !missing.empty())
    throw Error(ExitCode::kNoDevice, "--device " + name + ": no kernels for " + describe(d) + ": " + missing,
                "compile for it (GARRA_CUDA_ARCHITECTURES=... tools/build), or use --device cpu");
  return d;
}

/// Whether it names several GPUs: "cuda:0,1", "cuda:all".
bool is_list(const std::string& name) {
  return name == "cuda:all" || (name.rfind("cuda:", 0) == 0 && name.find(',') != std::string::npos);
}

/// The names of one GPU each in a list; throws Error(kUsage) if one is repeated.
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  if (list == "cuda:all") {
    // At least one name, so that a missing GPU gets the usual error.
    for (int i = 0; i < std::max(cuda().device_count(), 1); ++i) names.push_back("cuda:" + std::to_string(i));
    return names;
  }
  std::istringstream numbers(list.substr(5) + ",");
  for (std::string number; std::getline(numbers, number, ',');) {
    names.push_back("cuda:" + number);
    if (std::count(names.begin(), names.end(), names.back()) > 1)
      throw Error(ExitCode::kUsage, "--device " + list + ": " + names.back() + " comes twice", "name each GPU once");
  }
  return names;
}

/// The device that `auto` selects here, and why it is no GPU, or not the first one.
struct Choice {
  Device device;
  std::string why;
};
Choice choose() {
  if (!has_kernels()) return {{}, "this program has no CUDA kernels"};
  const int count = cuda().device_count();
  if (count == 0) return {{}, no_device()};
  std::string why;
  for (int i = 0; i < count; ++i) {
    const Device gpu{Executor::kCuda, 0, i};
    std::string against = cuda().drawback(i);
    if (against.empty()) against = cuda().missing_kernels(i);
    if (against.empty()) return {gpu, why};
    why += (why.empty() ? "" : "; ") + describe(gpu) + ": " + against;
  }
  return {{}, why};
}

}  // namespace

bool has_kernels() { return cuda_runtime.device_count != nullptr; }
int cuda_device_count() { return has_kernels() ? cuda_runtime.device_count() : 0; }
void* cuda_allocate(int device, std::size_t bytes) { return cuda().allocate(device, bytes); }
void cuda_release(void* memory) { cuda().release(memory); }
void cuda_wait(int device) { cuda().wait(device); }

void batch::refuse_without_kernels() {
  throw Error(ExitCode::kNoDevice, "--device cuda: this program has no CUDA kernels",
              "build the preset `cuda` (it needs nvcc, of CUDA 12 or later), or use --device cpu");
}

Device parse_device(const std::string& name, int threads) {
  Device d;
  if (name == "auto") {
    // `auto` never fails: without a GPU that pays it is the processor.
    d = choose().device;
  } else if (name == "scalar") {
    d.executor = Executor::kScalar;
  } else if (is_list(name)) {
    throw Error(ExitCode::kUsage, "--device " + name + ": this is done on one device",
                "name one of them; several share the samples of a study (garra run, resume, worker, verify)");
  } else if (name == "cuda" || name.rfind("cuda:", 0) == 0) {
    d = cuda_device(name);
  } else if (name != "cpu") {
    throw Error(ExitCode::kUsage, "--device " + name + ": no such device", kOneDevice);
  }
  d.threads = threads;
  return d;
}

Device parse_device_for_arrays(const std::string& name, int threads, double core_seconds) {
  const Device processor = parse_device("cpu", threads);
  const bool is_through = core_seconds / study_threads(processor) <= kGpuStart;
  return name == "auto" && is_through ? processor : parse_device(name, threads);
}

std::vector<Device> parse_devices(const std::string& name, int threads) {
  if (!is_list(name)) return {parse_device(name, threads)};
  std::vector<Device> devices;
  for (const std::string& one : names_in(name)) devices.push_back(parse_device(one, threads));
  return devices;
}

std::string why_not_gpu() { return choose().why; }

std::string explain_auto() {
  const Choice chosen = choose();
  return describe(chosen.device) + (chosen.why.empty() ? "" : " (" + chosen.why + ")");
}

std::string first_launch_note(const Device& device) {
  if (device.executor != Executor::kCuda || !cuda().translates(device.index)) return {};
  return "preparing kernels for " + describe(device) + " (once, some minutes; `garra doctor --warm` does it ahead)";
}

std::string describe(const Device& device) {
  if (device.executor == Executor::kCuda)
    return cuda().device_name(device.index) + " (cuda:" + std::to_string(device.index) + ")";
  const int threads = study_threads(device);
  const std::string times = std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  if (device.executor == Executor::kScalar) return processor_name() + ", " + times + ", scalar";
  const int lanes = lanes_of_doubles();
  if (lanes == 1) return processor_name() + ", " + times;
  return processor_name() + ", " + times + " x " + std::to_string(lanes) + " lanes";
}

std::string describe(const std::vector<Device>& devices) {
  std::string text;
  for (const Device& device : devices) text += (text.empty() ? "" : ", ") + describe(device);
  return text;
}

int most_threads() { return kThreadsPerProcessor * omp_get_num_procs(); }

int study_threads(const Device& device) {
  return std::min(device.threads > 0 ? device.threads : omp_get_max_threads(), most_threads());
}

// The scalar executor is the reference: one thread solves, though a study may count with more.
int solve_threads(const Device& device) { return device.executor == Executor::kScalar ? 1 : study_threads(device); }

std::uint64_t free_memory(const Device& device) {
  return device.executor == Executor::kCuda ? cuda().free_memory(device.index) : available_memory();
}

std::int64_t how_many_fit(const Device& device, std::uint64_t bytes_each) {
  // The other half is for memory that `bytes_each` does not count.
  const std::uint64_t blocks = free_memory(device) / 2 / (bytes_each * kFitBlock);
  if (blocks == 0)
    throw Error(ExitCode::kNoDevice,
                "not enough free memory on " + describe(device) + " for " + std::to_string(kFitBlock) +
                    " problems of " + std::to_string(bytes_each) + " bytes",
                "free memory there, or use another --device");
  return static_cast<std::int64_t>(blocks) * kFitBlock;
}

}  // namespace garra
