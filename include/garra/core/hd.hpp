// GARRA_HD marks a function that runs on the host and on a CUDA device. On the host the loops of
// batch/for_each.hpp inline it with everything that it calls, since a register of SIMD lanes does
// not survive a call. GARRA_HD_CALL marks the few large bodies that stay functions, so that they
// are compiled once and not once per number of contacts; `flatten` inlines what they call, lambdas
// included. These are the project's only macros.
//
// `flatten` and `always_inline` give nearly the same code. With `flatten` a function is optimized
// once and then inlined, and code that runs once per study is not inlined at all: less to compile.
// (Clang's `flatten` does not reach calls within calls.)
//
// Files of the library that are compiled for speed define GARRA_FAST. Their copies of these functions
// have names of their own: the linker keeps one copy per name, and took one compiled for size.
//
// A file that defines GARRA_QUICK_COMPILE leaves inlining to the compiler, for tests and symbolic
// scalars: the same bits, more slowly, in a third of the compile time.
#pragma once

#if defined(__CUDACC__)
#define GARRA_HD __host__ __device__ __forceinline__
#define GARRA_HD_CALL __host__ __device__ __noinline__
#elif defined(GARRA_QUICK_COMPILE)
#define GARRA_HD inline
#define GARRA_HD_CALL
#elif defined(__clang__)
#define GARRA_HD inline __attribute__((always_inline))
#define GARRA_HD_CALL __attribute__((noinline, flatten))
#elif defined(GARRA_FAST) && !defined(__OPTIMIZE_SIZE__)
#define GARRA_HD inline __attribute__((abi_tag("fast")))
#define GARRA_HD_CALL __attribute__((noinline, flatten))
#else
#define GARRA_HD inline
#define GARRA_HD_CALL __attribute__((noinline, flatten))
#endif
