// Contact problems that a program of one's own makes on the GPU, solved there: nothing is copied to the host and back,
// and the solve waits in the program's own stream. The problems are those of contact_batch.cpp.
//
// usage: example_contact_gpu_arrays [COUNT]
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "garra/contact_device.hpp"

namespace {

constexpr int kContacts = 3;

/// A body of 1 kg on three feet, pushed a little harder in every problem until it slips. Arrays field after field:
/// number f of problem i is a[f * count + i], so that neighboring threads write neighboring numbers.
__global__ void make_problems(int count, double* A, double* b, double* mu) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const double friction = 0.5, gravity = 9.81;
  for (int f = 0; f < 81; ++f) A[f * count + i] = f % 10 == 0 ? 3.0 : 0.0;
  for (int k = 0; k < kContacts; ++k) {
    b[(3 * k) * count + i] = -gravity;
    b[(3 * k + 1) * count + i] = 2 * friction * gravity * (i + 0.5) / count;
    b[(3 * k + 2) * count + i] = 0;
    mu[k * count + i] = friction;
  }
}

template <class T>
T* on_gpu(std::size_t count) {
  void* data = nullptr;
  if (cudaMalloc(&data, count * sizeof(T)) != cudaSuccess) std::exit(1);
  return static_cast<T*>(data);
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 100000;
  const auto n = static_cast<std::size_t>(count);
  double *A = on_gpu<double>(81 * n), *b = on_gpu<double>(9 * n), *mu = on_gpu<double>(3 * n),
         *a = on_gpu<double>(9 * n);
  auto* status = on_gpu<garra::Status>(n);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  make_problems<<<(count + 127) / 128, 128, 0, stream>>>(count, A, b, mu);

  namespace contact = garra::contact;
  // {pointer, from one problem to the next, from one number to the next}
  const contact::DeviceProblems problems{kContacts, count, {A, 1, count}, {b, 1, count}, {mu, 1, count}};
  contact::DeviceSolutions wanted;
  wanted.a = {a};  // problem by problem
  wanted.status = {status};
  const contact::Options options{.tolerance = 1e-10};
  const std::size_t bytes = contact::workspace_bytes(problems, options, wanted);
  auto* workspace = on_gpu<char>(bytes);
  contact::solve(problems, options, wanted, {.stream = stream, .workspace = workspace, .bytes = bytes});

  std::vector<double> accelerations(9 * n);
  std::vector<garra::Status> statuses(n);
  cudaStreamSynchronize(stream);
  cudaMemcpy(accelerations.data(), a, 9 * n * sizeof(double), cudaMemcpyDeviceToHost);
  cudaMemcpy(statuses.data(), status, n * sizeof(garra::Status), cudaMemcpyDeviceToHost);
  int solved = 0, slipping = 0;
  for (std::size_t i = 0; i < n; ++i) {
    solved += statuses[i] == garra::Status::kConverged;
    slipping += accelerations[9 * i + 1] > 1e-6;  // of the first foot along the push
  }
  std::printf("%d problems, %d solved, %d slip\n", count, solved, slipping);
  return solved == count && slipping == count / 2 ? 0 : 1;
}
