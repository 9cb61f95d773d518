// GARRA_HD marks a function that runs on the host and on a CUDA device and is inlined into its caller: what lanes need,
// since a register of them does not survive a call. GARRA_HD_CALL marks the few large bodies that stay real functions,
// so that they are compiled once and not once per number of contacts; `flatten` inlines what they call, lambdas
// included. These are the project's only macros.
//
// A file that defines GARRA_QUICK_COMPILE leaves inlining to the compiler: for tests and for numbers that are symbols,
// which give the same bits, more slowly, in a third of the compile time.
#pragma once

#if defined(__CUDACC__)
#define GARRA_HD __host__ __device__ __forceinline__
#define GARRA_HD_CALL __host__ __device__ __noinline__
#elif defined(GARRA_QUICK_COMPILE)
#define GARRA_HD inline
#define GARRA_HD_CALL
#else
#define GARRA_HD inline __attribute__((always_inline))
#define GARRA_HD_CALL __attribute__((noinline, flatten))
#endif
