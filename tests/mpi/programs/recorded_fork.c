/* Children of a recorded process, between calls with a tally: what they call is not counted, and
 * what they leave behind is nothing.
 *
 *     recorded_fork FILE     one child goes on after its parent's end
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorded.h"

static int rank;

static void call_in_child(void) {
  int flag = 0, own = -1;
  for (int i = 0; i < 100; i++) {
    MPI_Initialized(&flag);
    (void)MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
  }
  if (!flag || own != rank) _exit(1);
}

static void expect(pid_t child, int code) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == code) return;
  fprintf(stderr, "rank %d: status %x of the child that ends with %d\n", rank, status, code);
  exit(1);
}

static void call(void) {
  int in = rank, out;
  for (int i = 0; i < 10; i++) {
    SEND(MPI_Allreduce, 4, &in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

/* Nothing of it may keep the launcher waiting. */
static void outlive(pid_t parent) {
  for (int descriptor = 0; descriptor < 1024; descriptor++) close(descriptor);
  setsid();
  for (int i = 0; i < 10000 && kill(parent, 0) == 0; i++) usleep(1000);
  call_in_child();
  exit(0);
}

int main(int argc, char** argv) {
  const pid_t own = getpid();
  pid_t child;
  MPI_Init(&argc, &argv);
  CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
  call();
  if ((child = fork()) == 0) call_in_child(), _exit(7);
  expect(child, 7);
  call();
  if ((child = fork()) == 0) call_in_child(), exit(8);
  expect(child, 8);
  call();
  if ((child = vfork()) == 0) {
    execlp("sh", "sh", "-c", "exit 9", (char*)NULL);
    _exit(1);
  }
  expect(child, 9);
  call();
  if (fork() == 0) outlive(own);
  call();
  tally_call("MPI_Finalize");
  tally_print(argv[1], rank);
  MPI_Finalize();
  return 0;
}
