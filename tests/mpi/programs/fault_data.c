#include "fault_data.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

enum { PIECE = 1000 };

unsigned char data_byte(int rank, long index) {
  return (unsigned char)(1 + pattern(rank, index) % 254);
}

void fill_data(unsigned char* memory, long bytes, int rank) {
  for (long i = 0; i < bytes; i++) memory[i] = data_byte(rank, i);
}

static long stride(Shape shape, int size) {
  return PIECE * (long)size * (shape == HOLES ? 2 : 1);
}

// Where byte `index` of a rank's data lies.
static long place(Shape shape, int rank, int size, long bytes, long index) {
  if (shape == BLOCKS) return rank * bytes + index;
  return index / PIECE * stride(shape, size) + (long)rank * PIECE + index % PIECE;
}

static long end_of_all(Shape shape, int size, long bytes) {
  return place(shape, size - 1, size, bytes, bytes - 1) + 1;
}

void make_file(const char* path, Shape shape, int size, long bytes, int writes, int filled) {
  char copy[1200];
  snprintf(copy, sizeof copy, "%s", path);
  mkdir(dirname(copy), 0777);
  long end = end_of_all(shape, size, bytes);
  unsigned char* content = malloc((size_t)end);
  memset(content, FILL, (size_t)end);
  for (int rank = 0; rank < size && !writes; rank++) {
    for (long i = 0; i < bytes; i++) {
      content[place(shape, rank, size, bytes, i)] = data_byte(rank, i);
    }
  }
  FILE* stream = fopen(path, "wb");
  size_t wanted = writes && !filled ? 0 : (size_t)end;
  int made = stream && fwrite(content, 1, wanted, stream) == wanted;
  // Left open it would keep its room when it is removed.
  if (stream && fclose(stream) != 0) made = 0;
  if (!made) perror(path);
  free(content);
}

void remove_file(const char* path) {
  char copy[1200];
  snprintf(copy, sizeof copy, "%s", path);
  unlink(path);
  rmdir(dirname(copy));
}

int set_view(MPI_File file, Shape shape, int method, int rank, int size, long bytes) {
  MPI_Datatype pieces = MPI_BYTE;
  MPI_Offset begin = 0;
  if (shape != BLOCKS) {
    begin = (MPI_Offset)rank * PIECE;
    MPI_Type_vector((int)(bytes / PIECE), PIECE, (int)stride(shape, size), MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
  } else if (!has_offset(method) && (method & 15) < SHARED) {
    begin = rank * bytes;
  }
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "access_style", "write_once,read_once");
  int code = MPI_File_set_view(file, begin, MPI_BYTE, pieces, "native", info);
  MPI_Info_free(&info);
  if (shape != BLOCKS) MPI_Type_free(&pieces);
  return code;
}

Found find_in_file(const char* path, Shape shape, int rank, int size, long bytes, int rest) {
  Found found = {0, 0};
  size_t length = 0;
  unsigned char* content = read_whole(path, &length);
  if (!content) return found;
  // What is expected at each place: 0 where it is nobody's.
  long end = end_of_all(shape, size, bytes);
  unsigned char* expected = calloc((size_t)end, 1);
  for (int other = 0; other < size; other++) {
    for (long i = 0; i < bytes; i++) {
      expected[place(shape, other, size, bytes, i)] = data_byte(other, i);
    }
  }
  for (size_t i = 0; i < length; i++) {
    found.foreign += content[i] != rest && ((long)i >= end || content[i] != expected[i]);
  }
  for (; found.present < bytes; found.present++) {
    size_t at = (size_t)place(shape, rank, size, bytes, found.present);
    if (at >= length || content[at] != data_byte(rank, found.present)) break;
  }
  free(expected);
  free(content);
  return found;
}

Found find_in_memory(const unsigned char* memory, long bytes, int rank) {
  Found found = {0, 0};
  for (long i = 0; i < bytes; i++) {
    int is_right = memory[i] == data_byte(rank, i);
    if (is_right && found.present == i) found.present++;
    found.foreign += !is_right && memory[i] != 0;
  }
  return found;
}
