// Takes things away from a process, then becomes the program: what containers, small nodes and
// careful system administrators take.
//
//   poor_machine [-s ERRNO CALL[,CALL...]]... PROGRAM ARGUMENT...
//
// -s: these system calls fail with this errno (a seccomp filter, as containers have one). Ends with
// 77 where the kernel has no filters.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  const char* name;
  int number;
} known[] = {{"memfd_create", SYS_memfd_create},
             {"process_vm_readv", SYS_process_vm_readv},
             {"process_vm_writev", SYS_process_vm_writev},
             {"io_uring_setup", SYS_io_uring_setup},
             {"pidfd_open", SYS_pidfd_open},
             {"pidfd_getfd", SYS_pidfd_getfd},
             {"sched_setaffinity", SYS_sched_setaffinity},
             {"sched_getaffinity", SYS_sched_getaffinity},
             {"copy_file_range", SYS_copy_file_range},
             {"fallocate", SYS_fallocate},
             {"madvise", SYS_madvise},
             {"ptrace", SYS_ptrace},
             {"preadv", SYS_preadv},
             {"pwritev", SYS_pwritev},
             {"getrandom", SYS_getrandom},
             {"membarrier", SYS_membarrier},
             {"fsync", SYS_fsync},
             {"prctl", SYS_prctl}};

enum { MOST = 64 };

static int number_of(const char* name) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(known[i].name, name) == 0) return known[i].number;
  }
  fprintf(stderr, "poor_machine: no call %s\n", name);
  exit(2);
}

static void forbid(char* names, int error) {
  struct sock_filter filter[3 + 2 * MOST];
  unsigned used = 0;
  filter[used++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (char* name = strtok(names, ","); name && used < 2 * MOST; name = strtok(NULL, ",")) {
    filter[used++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number_of(name), 0, 1);
    filter[used++] = (struct sock_filter)BPF_STMT(
        BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((unsigned)error & SECCOMP_RET_DATA));
  }
  filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {(unsigned short)used, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("poor_machine: seccomp");
    exit(77);
  }
}

int main(int argc, char** argv) {
  int next = 1;
  while (next + 2 < argc && strcmp(argv[next], "-s") == 0) {
    forbid(argv[next + 2], atoi(argv[next + 1]));
    next += 3;
  }
  if (next >= argc) return 2;
  execvp(argv[next], argv + next);
  perror(argv[next]);
  return 127;
}
