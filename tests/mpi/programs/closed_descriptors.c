// A program that closes all descriptors above 2, as daemons do, and then opens files of its own,
// which get the numbers that were closed. What a library writes by a number it remembers would go
// into them. Launchers end a job whose connection to them is gone: with "files" sockets stay open.
//
//   closed_descriptors DIRECTORY DECOYS all|files
//
// Each rank reports to standard output, and ends without MPI_Finalize: most libraries cannot go on.
// A launcher may end a job once one rank ends that way, so each waits until all have reported.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { piece = 1000, pieces = 400, bytes = piece * pieces, decoy_bytes = 100 };

static int rank, size;
static const char* directory;

static const char* path_in(const char* name, int number) {
  static char path[2][1000];
  static int next;
  next = !next;
  snprintf(path[next], sizeof path[next], "%s/%s%d", directory, name, number);
  return path[next];
}

static void tell(const char* what, int code) {
  int error_class = code, length = 0;
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  if (code != MPI_SUCCESS) {
    MPI_Error_class(code, &error_class);
    MPI_Error_string(code, text, &length);
  }
  for (char* c = text; *c; c++) *c = *c == '\n' ? ' ' : *c;
  printf("rank %d %s %s %.300s\n", rank, what, code == MPI_SUCCESS ? "ok" : "fails", text);
  fflush(stdout);
}

static MPI_File open_in_turns(const char* path, MPI_Comm comm, int place, int of) {
  MPI_File file = MPI_FILE_NULL;
  MPI_Datatype type;
  tell("open", MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  if (file == MPI_FILE_NULL) return file;
  MPI_Type_vector(pieces, piece, piece * of, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_File_set_view(file, (MPI_Offset)piece * place, MPI_BYTE, type, "native", MPI_INFO_NULL);
  MPI_Type_free(&type);
  return file;
}

/// Every kind of call that gives a file's descriptor to the system.
static void use(MPI_File file, MPI_File own, char* memory) {
  MPI_Request request;
  MPI_Offset found;
  memset(memory, 'x', bytes);
  tell("write_at_all", MPI_File_write_at_all(file, 0, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  tell("write_at", MPI_File_write_at(own, 0, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  int code = MPI_File_iwrite_at(own, 0, memory, bytes, MPI_BYTE, &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  tell("iwrite_at", code);
  tell("write_shared", MPI_File_write_shared(own, memory, 10, MPI_BYTE, MPI_STATUS_IGNORE));
  tell("read_at", MPI_File_read_at(own, 0, memory, 10, MPI_BYTE, MPI_STATUS_IGNORE));
  tell("get_size", MPI_File_get_size(own, &found));
  tell("preallocate", MPI_File_preallocate(own, 5000));
  tell("set_size", MPI_File_set_size(own, 7));
  tell("sync", MPI_File_sync(own));
}

static void close_all(int sockets_too) {
  struct rlimit limit;
  struct stat status;
  getrlimit(RLIMIT_NOFILE, &limit);
  for (int i = 3; i < (int)limit.rlim_cur && i < 65536; i++) {
    if (sockets_too || (fstat(i, &status) == 0 && S_ISREG(status.st_mode))) close(i);
  }
}

/// The program's own files are as it left them, and still open.
static void check_decoys(const int* decoys, int count) {
  int wrong = 0, closed = 0;
  for (int i = 0; i < count; i++) {
    char seen[decoy_bytes] = "";
    struct stat status;
    if (fstat(decoys[i], &status) != 0 || pread(decoys[i], seen, decoy_bytes, 0) != decoy_bytes) {
      closed++;
      continue;
    }
    int same = status.st_size == decoy_bytes;
    for (int k = 0; k < decoy_bytes; k++) same = same && seen[k] == 'd';
    wrong += !same;
  }
  printf("rank %d decoys: %d changed, %d closed\n", rank, wrong, closed);
  fflush(stdout);
}

/// Returns when each rank has left its mark in the directory, after a minute at the latest.
static void wait_for_all(void) {
  close(open(path_in("reported", rank), O_WRONLY | O_CREAT, 0666));
  for (int other = 0, tries = 0; other < size && tries < 6000; tries++) {
    if (access(path_in("reported", other), F_OK) == 0) {
      other++;
    } else {
      usleep(10000);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  directory = argv[1];
  const int count = atoi(argv[2]);
  char* memory = malloc(bytes);
  memset(memory, 'a' + rank, bytes);
  MPI_File file = open_in_turns(path_in("data", 0), MPI_COMM_WORLD, rank, size);
  MPI_File own = open_in_turns(path_in("own", rank), MPI_COMM_SELF, 0, 1);
  tell("first", MPI_File_write_at_all(file, 0, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);

  close_all(strcmp(argv[3], "all") == 0);
  int* decoys = malloc(sizeof *decoys * (size_t)count);
  char content[decoy_bytes];
  memset(content, 'd', decoy_bytes);
  for (int i = 0; i < count; i++) {
    decoys[i] = open(path_in(rank ? "b" : "a", i), O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (decoys[i] < 0 || write(decoys[i], content, decoy_bytes) != decoy_bytes) abort();
  }
  printf("rank %d decoys to %d\n", rank, decoys[count - 1]);
  use(file, own, memory);
  check_decoys(decoys, count);
  // A file that is opened now must not get the descriptor of one that lost it.
  MPI_File later = open_in_turns(path_in("later", rank), MPI_COMM_SELF, 0, 1);
  if (later != MPI_FILE_NULL) {
    memset(memory, 'l', bytes);
    tell("later", MPI_File_write_at(later, 0, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    use(file, own, memory);
  }
  tell("close", MPI_File_close(&file));
  tell("close_own", MPI_File_close(&own));
  if (later != MPI_FILE_NULL) tell("close_later", MPI_File_close(&later));
  check_decoys(decoys, count);
  wait_for_all();
  _exit(0);
}
