// GARRA_HD marks a function that runs on the host and on a CUDA device. It is the project's only macro.
#pragma once

#if defined(__CUDACC__)
#define GARRA_HD __host__ __device__ __forceinline__
#else
#define GARRA_HD inline __attribute__((always_inline))
#endif
