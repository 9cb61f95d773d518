// Of a program: glibc 2.34 runs its constructors itself, an older one calls what the program gives it (older_linux.py). Linked with
// --wrap=__libc_start_main; both call it where there is one.
#include <stddef.h>

typedef void (*Step)(int, char**, char**);
extern Step __init_array_start[] __attribute__((visibility("hidden")));
extern Step __init_array_end[] __attribute__((visibility("hidden")));
void _init(void);
int __real___libc_start_main(int (*)(int, char**, char**), int, char**, Step, void (*)(void), void (*)(void), void*);

static void construct(int argc, char** argv, char** environment) {
  _init();
  for (Step* step = __init_array_start; step != __init_array_end; ++step) (*step)(argc, argv, environment);
}

int __wrap___libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, Step init, void (*end)(void),
                             void (*loader_end)(void), void* stack) {
  return __real___libc_start_main(main, argc, argv, init != NULL ? init : construct, end, loader_end, stack);
}
