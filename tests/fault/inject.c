/* Runs a program and spoils one of its system calls, whoever makes it: the program, a library, a thread, a child.
 *
 *   inject -k KIND -h HOW [-n N] [-e ERRNO] [-c FILE] -- PROGRAM ARGUMENT...
 *
 * KIND: write (to files), sync, rename, link, open (for writing), close (of data), truncate, remove, folder, read (of data), thread, or any:
 * every call from the first one on that changes a file. HOW: count; fail (call N, with ERRNO); stay (call N and all later
 * ones); short (half of what was to be written or read); kill (SIGKILL before call N is made). FILE gets the number of calls
 * of that kind. Exit code: the program's, 128 + signal where one ended it. Linux on x86-64. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kTasks = 4096 };
static struct Task {
  pid_t id;
  int pending; /* the errno that its present call is to end with */
} tasks[kTasks];

static const char *kind = "any", *how = "count", *report;
static long at = 1, calls;
static int error = EIO, changed;

static struct Task* task_of(pid_t id) {
  for (int i = 0; i < kTasks; i++) {
    if (tasks[i].id == 0) tasks[i].id = id;
    if (tasks[i].id == id) return &tasks[i];
  }
  fprintf(stderr, "inject: too many threads\n");
  exit(126);
}

/* Whether a descriptor is of a file that holds data: no library, nothing that the system says of itself. */
static int is_data(pid_t id, unsigned long descriptor) {
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/%d/fd/%lu", (int)id, descriptor);
  const ssize_t n = readlink(link, name, sizeof name - 1);
  if (descriptor <= 2 || n < 0) return 0;
  name[n] = '\0';
  const char* systems[] = {"/proc/", "/sys/", "/usr/", "/lib", "/etc/", "pipe:", "anon_inode:"};
  for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
    if (strncmp(name, systems[i], strlen(systems[i])) == 0) return 0;
  return strstr(name, ".so") == NULL && strstr(name, "/.venv/") == NULL;
}

static int is(const char* name) { return strcmp(kind, name) == 0; }

/* The kind of a call; NULL: none of ours. */
static const char* kind_of(pid_t id, const struct __ptrace_syscall_info* info) {
  const __uint64_t* a = info->entry.args;
  switch (info->entry.nr) {
    case SYS_write: case SYS_writev: case SYS_pwrite64: case SYS_pwritev: return a[0] > 2 ? "write" : NULL;
    case SYS_read: case SYS_pread64: case SYS_readv: return is_data(id, a[0]) ? "read" : NULL;
    case SYS_fsync: case SYS_fdatasync: return "sync";
    case SYS_rename: case SYS_renameat: case SYS_renameat2: return "rename";
    case SYS_link: case SYS_linkat: return "link";
    case SYS_open: return a[1] & (O_WRONLY | O_RDWR) ? "open" : NULL;
    case SYS_openat: return a[2] & (O_WRONLY | O_RDWR) ? "open" : NULL;
    case SYS_close: return is_data(id, a[0]) ? "close" : NULL;
    case SYS_ftruncate: case SYS_truncate: case SYS_fallocate: return "truncate";
    case SYS_unlink: case SYS_unlinkat: case SYS_rmdir: return "remove";
    case SYS_mkdir: case SYS_mkdirat: return "folder";
    case SYS_clone3: return "thread";
    case SYS_clone: return a[0] & CLONE_THREAD ? "thread" : NULL;
    default: return NULL;
  }
}

static int hit(pid_t id, const struct __ptrace_syscall_info* info) {
  const char* what = kind_of(id, info);
  if (is("any")) {
    changed |= what && strcmp(what, "read") != 0 && strcmp(what, "close") != 0 && strcmp(what, "thread") != 0;
    if (!changed) return 0;
  } else if (!what || !is(what)) {
    return 0;
  }
  ++calls;
  return strcmp(how, "stay") == 0 ? calls >= at : calls == at;
}

static void poke(pid_t id, size_t offset, long value) { ptrace(PTRACE_POKEUSER, id, offset, value); }

static void spoil(struct Task* task, const struct __ptrace_syscall_info* info) {
  if (strcmp(how, "kill") == 0) {
    kill(task->id, SIGKILL);
  } else if (strcmp(how, "short") == 0) {
    if (info->entry.args[2] > 1) poke(task->id, offsetof(struct user_regs_struct, rdx), (long)(info->entry.args[2] / 2));
  } else if (strcmp(how, "count") != 0) {
    task->pending = error;
    if (!is("close")) poke(task->id, offsetof(struct user_regs_struct, orig_rax), -1); /* a close closes all the same */
  }
}

static void system_call(struct Task* task) {
  struct __ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, task->id, sizeof info, &info) <= 0) return;
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY && hit(task->id, &info)) {
    spoil(task, &info);
  } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && task->pending) {
    poke(task->id, offsetof(struct user_regs_struct, rax), -task->pending);
    task->pending = 0;
  }
}

/* The exit code of the first process. */
static int follow(pid_t first) {
  int code = 126, status;
  pid_t id;
  while ((id = waitpid(-1, &status, __WALL)) > 0) {
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (id == first) code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      task_of(id)->id = -1;
      continue;
    }
    int signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | 0x80)) system_call(task_of(id));
    /* A new thread's first stop, and the stops of events, are ours. */
    if (signal == (SIGTRAP | 0x80) || signal == SIGTRAP || signal == SIGSTOP) signal = 0;
    ptrace(PTRACE_SYSCALL, id, 0, signal);
  }
  return code;
}

int main(int argc, char** argv) {
  int option;
  while ((option = getopt(argc, argv, "+k:h:n:e:c:")) != -1) {
    if (option == 'k') kind = optarg;
    else if (option == 'h') how = optarg;
    else if (option == 'n') at = atol(optarg);
    else if (option == 'e') error = atoi(optarg);
    else if (option == 'c') report = optarg;
    else return 126;
  }
  const pid_t first = fork();
  if (first == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    execvp(argv[optind], argv + optind);
    _exit(126);
  }
  int status;
  waitpid(first, &status, 0);
  if (!WIFSTOPPED(status)) return 126; /* no tracing here */
  ptrace(PTRACE_SETOPTIONS, first, 0,
         PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC);
  ptrace(PTRACE_SYSCALL, first, 0, 0);
  const int code = follow(first);
  FILE* file = report ? fopen(report, "w") : NULL;
  if (file) {
    fprintf(file, "%ld\n", calls);
    fclose(file);
  }
  return code;
}
