// A program without MPI: linked statically, or made setuid.
#include <stdio.h>
#include <unistd.h>

int main(void) {
  printf("hello, uid %d, euid %d\n", (int)getuid(), (int)geteuid());
  return 0;
}
