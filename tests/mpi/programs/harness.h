// What the MPI test programs share: a log that can be compared between a run with and a run without
// the layer, checks that keep count, and a table of named cases.
//
// The log goes to standard output from rank 0 alone, rank by rank within a case, so it is the same
// text whenever the program saw the same things. Pointers, times and error texts never go there.
#pragma once

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  MPI_Comm comm;
  int rank;
  int size;
  int thread_level;       ///< what MPI_Init_thread provided
  const char* directory;  ///< where files go; given on the command line
  int deep;               ///< also what takes long or much memory: --deep
  int layered;            ///< 1: every file must be carried by the engine; 0: none may be
  const char* case_name;
  int failures;  ///< of this rank, in this case
  char* log;     ///< of this rank, in this case
  size_t log_used;
} Context;

typedef struct {
  const char* name;
  void (*run)(Context*);
} Case;

/// Initialises MPI, runs the cases (less those in `--skip a,b`, or only those in `--only a,b`),
/// prints the log, finalizes. `MPI_TEST_EXPECT` is `engine` or `plain`. Returns main's value:
/// 0, or 1 if any rank failed in any case.
int run_cases(int argc, char** argv, const Case* cases, size_t case_count);

/// Adds a line to this rank's log: a fact that must be the same with and without the layer.
void note(Context* context, const char* format, ...) __attribute__((format(printf, 2, 3)));
void fail(Context* context, const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

#define CHECK(context, condition) \
  ((condition) ? (void)0 : fail(context, __FILE__, __LINE__, "not true: %s", #condition))
#define CHECK_EQUAL(context, actual, expected) \
  check_equal(context, __FILE__, __LINE__, #actual, (long long)(actual), (long long)(expected))
#define CHECK_OK(context, code) check_class(context, __FILE__, __LINE__, #code, code, MPI_SUCCESS)
#define CHECK_CLASS(context, code, expected) \
  check_class(context, __FILE__, __LINE__, #code, code, expected)

void check_equal(Context* context, const char* file, int line, const char* what, long long actual,
                 long long expected);
/// Returns 1 when the class of `code` is `expected_class`.
int check_class(Context* context, const char* file, int line, const char* what, int code,
                int expected_class);

const char* class_name(int code);

/// "DIRECTORY/CASE.NAME"; one of eight buffers that are used in turn.
const char* path_of(Context* context, const char* name);

/// Opens "CASE.NAME" over `comm` and checks that it succeeds and that the engine does (or does not)
/// carry it. A failed open ends the program: what follows would hang.
MPI_File open_file(Context* context, MPI_Comm comm, const char* name, int amode);
void close_file(Context* context, MPI_File* file);
/// Does the engine carry this file? It says so in the file's info.
int carried(MPI_File file);
/// The value of a key in the file's info; "" when absent.
void info_value(MPI_File file, const char* key, char* value, int capacity);

/// How a call finds its place. Shared and ordered calls use the shared file pointer.
enum { PLAIN, AT, ALL, AT_ALL, METHOD_COUNT, SHARED = METHOD_COUNT, ORDERED };
/// Added to a method: begun and waited for by itself, or by a split collective call.
enum { NONBLOCKING = 16, SPLIT = 32 };
/// All methods in which a rank has a place of its own: without the shared file pointer.
enum { OWN_PLACE_METHODS = 10 };
extern const int own_place_methods[OWN_PLACE_METHODS];

/// One transfer to its end, by the procedure that `method` names. `offset` is for at and at_all
/// alone; `large` asks for the _c form, where this MPI has it.
int transfer(MPI_File file, int writing, int method, int large, MPI_Offset offset, void* buffer,
             int count, MPI_Datatype type, MPI_Status* status);
int start_transfer(MPI_File file, int writing, int method, int large, MPI_Offset offset,
                   void* buffer, int count, MPI_Datatype type, MPI_Request* request);
int begin_transfer(MPI_File file, int writing, int method, int large, MPI_Offset offset,
                   void* buffer, int count, MPI_Datatype type);
int end_transfer(MPI_File file, int writing, int method, void* buffer, MPI_Status* status);
int has_offset(int method);
int is_collective(int method);
const char* method_name(int method);

/// The whole file by POSIX calls, `*bytes` long; NULL if it cannot be read. The caller frees it.
unsigned char* read_whole(const char* path, size_t* bytes);
/// Replaces the file with `bytes` bytes of `value`.
void fill_file(Context* context, const char* name, size_t bytes, unsigned char value);

/// A byte that depends on who wrote it and on its number in the data.
unsigned char pattern(int rank, int64_t position);
void fill_pattern(unsigned char* memory, size_t bytes, int rank, int64_t first);
uint64_t checksum(const void* memory, size_t bytes);
