/* LD_PRELOAD: the FAULT_AT-th request for at least FAULT_SIZE bytes of memory finds none. FAULT_COUNT names a file that gets
 * the number of such requests. A SIZE of a kilobyte leaves out what no system refuses and what the JSON library does not
 * survive (nlohmann 3.11: a value that becomes an object or a list says so before it has its 24 bytes).
 * Requests of the HDF5 library are always met: where 1.10 finds no memory while it starts, it calls itself without end
 * (H5E_printf_stack, H5I_inc_ref, H5E__push_stack, ...). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static long at = -1, least, requests;
static struct Range {
  unsigned long from, to;
} spared[8];
static int spared_ranges;

static int spare_hdf5(struct dl_phdr_info* library, size_t size, void* nothing) {
  (void)size, (void)nothing;
  if (strstr(library->dlpi_name, "/libhdf5") == NULL) return 0;
  for (int i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr)* part = &library->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || spared_ranges == 8) continue;
    const unsigned long from = library->dlpi_addr + part->p_vaddr;
    spared[spared_ranges++] = (struct Range){from, from + part->p_memsz};
  }
  return 0;
}

__attribute__((constructor)) static void begin(void) {
  dl_iterate_phdr(spare_hdf5, NULL);
  least = getenv("FAULT_SIZE") ? atol(getenv("FAULT_SIZE")) : 0;
  requests = 0; /* what the loader needed is not ours */
  at = getenv("FAULT_AT") ? atol(getenv("FAULT_AT")) : 0;
}

__attribute__((destructor)) static void end(void) {
  const char* name = getenv("FAULT_COUNT");
  const int file = name ? open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
  if (file >= 0) dprintf(file, "%ld\n", requests);
}

static int none(size_t size, const void* caller) {
  if (at < 0 || (long)size < least) return 0;
  for (int i = 0; i < spared_ranges; i++)
    if ((unsigned long)caller >= spared[i].from && (unsigned long)caller < spared[i].to) return 0;
  if (__sync_add_and_fetch(&requests, 1) != at) return 0;
  errno = ENOMEM;
  return 1;
}

#define CALLER __builtin_return_address(0)
void* malloc(size_t size) { return none(size, CALLER) ? NULL : __libc_malloc(size); }
void* calloc(size_t n, size_t size) { return none(n * size, CALLER) ? NULL : __libc_calloc(n, size); }
void* realloc(void* old, size_t size) { return none(size, CALLER) ? NULL : __libc_realloc(old, size); }
void* memalign(size_t alignment, size_t size) { return none(size, CALLER) ? NULL : __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return none(size, CALLER) ? NULL : __libc_memalign(alignment, size); }
int posix_memalign(void** to, size_t alignment, size_t size) {
  void* got = none(size, CALLER) ? NULL : __libc_memalign(alignment, size);
  if (got) *to = got;
  return got ? 0 : ENOMEM;
}
