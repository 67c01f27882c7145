// Prints which sizes the allocator maps by themselves ("1") and which it takes from its heap. glibc
// raises the bound for good when a large block is freed (M_MMAP_THRESHOLD).
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const size_t sizes[] = {150000, 300000, 600000, 1200000, 2400000, 4800000, 9600000};
  char text[sizeof sizes / sizeof *sizes + 1] = "";
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const size_t before = mallinfo2().hblks;
    void* volatile block = malloc(sizes[i]);  // not freed: that would change what is asked
    text[i] = block && mallinfo2().hblks > before ? '1' : '0';
  }
  printf("rank %d %s\n", rank, text);
  MPI_Finalize();
  return 0;
}
