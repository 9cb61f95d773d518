// What glibc 2.28 did not have yet, by what it had (older_linux.py). Hidden: each library has its own.
#include <sys/stat.h>

int __xstat(int version, const char* path, struct stat* to);
int __lxstat(int version, const char* path, struct stat* to);
int __fxstat(int version, int file, struct stat* to);

int stat(const char* path, struct stat* to) { return __xstat(1, path, to); }
int lstat(const char* path, struct stat* to) { return __lxstat(1, path, to); }
int fstat(int file, struct stat* to) { return __fxstat(1, file, to); }

// Nobody says so, and a shared_ptr counts as if there were other threads.
char __libc_single_threaded = 0;
