// One collective write and read of PIECES irregular pieces a rank.
//
//   many_pieces PATH PIECES
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, count = atoi(argv[2]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* lengths = malloc(sizeof(int) * (size_t)count);
  MPI_Aint* offsets = malloc(sizeof(MPI_Aint) * (size_t)count);
  int bytes = 0;
  for (int i = 0; i < count; i++) {
    lengths[i] = 7 + i % 2;
    offsets[i] = ((MPI_Aint)i * size + rank) * 9 + i % 2;
    bytes += lengths[i];
  }
  MPI_Datatype type;
  MPI_Type_create_hindexed(count, lengths, offsets, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_File file;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "headrace_write_path", "staged");
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
  MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
  MPI_Type_free(&type);
  unsigned char* data = malloc((size_t)bytes);
  memset(data, rank + 1, (size_t)bytes);
  int wrong = MPI_File_write_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  memset(data, 0, (size_t)bytes);
  wrong = wrong || MPI_File_read_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  for (int i = 0; i < bytes; i++) wrong = wrong || data[i] != rank + 1;
  wrong = MPI_File_close(&file) || wrong;
  MPI_Info_free(&info);
  printf("rank %d %s\n", rank, wrong ? "wrong" : "right");
  MPI_Finalize();
  return wrong;
}
