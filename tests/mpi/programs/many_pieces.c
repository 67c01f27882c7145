// One collective and one independent write and read of PIECES irregular pieces a rank.
//
//   many_pieces PATH PIECES [DATAREP]
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
  MPI_File_set_view(file, 0, MPI_BYTE, type, argc > 3 ? argv[3] : "native", MPI_INFO_NULL);
  MPI_Type_free(&type);
  unsigned char* data = malloc((size_t)bytes);
  memset(data, rank + 1, (size_t)bytes);
  int wrong = MPI_File_write_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  memset(data, 0, (size_t)bytes);
  wrong = wrong || MPI_File_read_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  for (int i = 0; i < bytes; i++) wrong = wrong || data[i] != rank + 1;
  // Numbers of two bytes over pieces of any length; parts end anywhere in the data.
  short* numbers = (short*)data;
  int half = bytes / 2 < 750000 ? bytes / 2 : 750000;
  for (int i = 0; i < half; i++) numbers[i] = (short)(i * 7 + rank);
  wrong = wrong || MPI_File_seek(file, 0, MPI_SEEK_SET);
  wrong = wrong || MPI_File_write(file, numbers, half, MPI_SHORT, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  memset(data, 0, (size_t)bytes);
  MPI_Status status;
  int got = 0;
  wrong = wrong || MPI_File_seek(file, 0, MPI_SEEK_SET);
  wrong = wrong || MPI_File_read(file, numbers, half, MPI_SHORT, &status);
  MPI_Get_count(&status, MPI_SHORT, &got);
  wrong = wrong || got != half;
  for (int i = 0; i < half; i++) wrong = wrong || numbers[i] != (short)(i * 7 + rank);
  wrong = MPI_File_close(&file) || wrong;
  MPI_Info_free(&info);
  printf("rank %d %s\n", rank, wrong ? "wrong" : "right");
  MPI_Finalize();
  return wrong;
}
