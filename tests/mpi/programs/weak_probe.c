/* A program that can do without MPI, and asks whether it runs. */
#include <stdio.h>

extern int MPI_Initialized(int* flag) __attribute__((weak));
extern int MPI_Finalized(int* flag) __attribute__((weak));

static int says(int (*asked)(int*)) {
  int flag = -1;
  return asked == NULL ? 0 : asked(&flag) == 0 ? flag : -2;
}

int main(void) {
  printf("initialized %d finalized %d\n", says(MPI_Initialized), says(MPI_Finalized));
  return 0;
}
