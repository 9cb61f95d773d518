/* LD_PRELOAD: the FAULT_AT-th and all later writes to files fail with EIO, as on a broken disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int fails(int descriptor) {
  static int calls = 0;
  const char* at = getenv("FAULT_AT");
  return descriptor > 2 && at != NULL && ++calls >= atoi(at);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  ssize_t (*real)(int, const void*, size_t) = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  if (!fails(descriptor)) return real(descriptor, bytes, size);
  errno = EIO;
  return -1;
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  ssize_t (*real)(int, const void*, size_t, off_t) =
      (ssize_t(*)(int, const void*, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  if (!fails(descriptor)) return real(descriptor, bytes, size, offset);
  errno = EIO;
  return -1;
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t offset) {
  ssize_t (*real)(int, const void*, size_t, off64_t) =
      (ssize_t(*)(int, const void*, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  if (!fails(descriptor)) return real(descriptor, bytes, size, offset);
  errno = EIO;
  return -1;
}
