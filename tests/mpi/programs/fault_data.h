// Where the ranks of fault_job have their bytes in a file, and what is really there.
#pragma once

#include <mpi.h>

/// One block a rank; pieces of all ranks in turn; the same with gaps that are nobody's.
typedef enum { BLOCKS, TURNS, HOLES } Shape;

/// Byte `index` of a rank's data: neither 0 nor FILL.
unsigned char data_byte(int rank, long index);
void fill_data(unsigned char* memory, long bytes, int rank);

/// What a file holds that was filled before.
enum { FILL = 255 };

/// Makes the file and its directory by POSIX calls: empty or filled for a write, with all ranks'
/// data for a read.
void make_file(const char* path, Shape shape, int size, long bytes, int writes, int filled);
/// Removes both; what is gone is gone.
void remove_file(const char* path);

/// Shows a rank its own bytes, in whole; a method that takes offsets gets a view of the file.
int set_view(MPI_File file, Shape shape, int method, int rank, int size, long bytes);

/// present: bytes of the rank's data that are there, from the first on; foreign: bytes that nobody
/// gave.
typedef struct {
  long present;
  long foreign;
} Found;

/// In the file, as POSIX calls read it. What nobody has written must be `rest`.
Found find_in_file(const char* path, Shape shape, int rank, int size, long bytes, int rest);
/// In memory that was 0 before a read.
Found find_in_memory(const unsigned char* memory, long bytes, int rank);
