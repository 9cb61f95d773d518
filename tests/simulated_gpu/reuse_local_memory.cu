// Local arrays that are in use at once. The optimizer of nvcc 12.4 to 13.0 puts them in one place, in its pass "reuse
// local memory" (docs/howto/gpu.md). tests/simulated_gpu/test_compiler.cpp runs the kernel; on a GPU it is a program of
// its own:
//
//   nvcc -std=c++20 -arch=sm_80 -fmad=false reuse_local_memory.cu && ./a.out  # 3456 of 4096 numbers wrong (13.0.88)
//   ... -Xcicc=--Xopt,-disable-reuse-local-memory                             # 0 wrong
//
// With -DFIRST the numbers are wrong only at -Xcicc=-O1, with -Xcicc=--emit-lifetime-intrinsics, and for sm_100.
#include <cstdio>
#include <vector>

struct Small {
  double m[32];
};
struct Large {
  double m[40];
};
#define HD __host__ __device__ __forceinline__
#define LOOP _Pragma("unroll 1") for

HD Small zero_small() {
  Small z;
  LOOP(int k = 0; k < 32; ++k) z.m[k] = 0;
  return z;
}
HD Large zero_large() {
  Large z;
  LOOP(int k = 0; k < 40; ++k) z.m[k] = 0;
  return z;
}
HD Small small(double x) {
  Small a = zero_small();
  LOOP(int k = 0; k < 32; ++k) a.m[k] += x * k;
  return a;
}
#ifndef FIRST
HD Large large(double x) {
  Large a = zero_large();
  const Small b = small(x + 1);
  LOOP(int k = 0; k < 40; ++k) a.m[k] += b.m[k % 32];
  LOOP(int k = 0; k < 40; ++k) a.m[k] += x * k;
  return a;
}
HD void body(double x, double* out) {
  const Large v = large(x);
  const Small w = small(x + 1);  // overwrites v
  LOOP(int k = 0; k < 64; ++k) out[k] = v.m[k % 40] + w.m[k % 32];
}
#else
HD void body(double x, double* out) {
  const Small a = small(x);
  Large b = zero_large();  // overwrites a
  LOOP(int k = 0; k < 40; ++k) b.m[k] += a.m[k % 32];
  LOOP(int k = 0; k < 64; ++k) out[k] = b.m[k % 40];
}
#endif

extern "C" __global__ void k(const double* in, double* out) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  body(in[i], out + 64 * i);
}

int main() {
  constexpr int n = 64;
  std::vector<double> in(n), expected(64 * n), found(64 * n);
  for (int i = 0; i < n; ++i) {
    in[i] = 1 + i / 8.0;
    body(in[i], &expected[64 * i]);
  }
  double *d_in, *d_out;
  cudaMalloc(reinterpret_cast<void**>(&d_in), n * sizeof(double));
  cudaMalloc(reinterpret_cast<void**>(&d_out), 64 * n * sizeof(double));
  cudaMemcpy(d_in, in.data(), n * sizeof(double), cudaMemcpyHostToDevice);
  k<<<n / 32, 32>>>(d_in, d_out);
  const cudaError_t status = cudaMemcpy(found.data(), d_out, 64 * n * sizeof(double), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 64 * n; ++i) wrong += !(found[i] == expected[i]);
  std::printf("%s, %d of %d wrong\n", cudaGetErrorString(status), wrong, 64 * n);
  return wrong != 0 || status != cudaSuccess;
}
