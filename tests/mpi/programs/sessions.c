// Files of communicators that come from sessions, without and beside MPI_Init.
//
//   sessions DIRECTORY STEP...
//
// Steps: begin0 to begin2 begin a session and make a communicator of all ranks, use0 writes and
// reads a file over it, end0 ends it; open0 opens the file before, and close0 closes it after that;
// init, finalize, world (a file over MPI_COMM_WORLD); left requires that nothing of the layer is
// left. Each rank tells what a use did: "engine", "plain" or "refused".
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { pieces = 50, piece = 40, bytes = pieces * piece, most = 3 };

static MPI_Session sessions[most];
static MPI_Comm comms[most + 1];
static MPI_File files[most + 1];
static int is_open[most + 1];
static const char* directory;
static int failures, rank, uses;

static void require(int holds, const char* what) {
  if (holds) return;
  printf("rank %d: WRONG: %s\n", rank, what);
  failures++;
}
#define REQUIRE(what) require((what), #what)
#define REQUIRE_OK(call) require((call) == MPI_SUCCESS, #call)

static void begin(int number) {
  MPI_Group group;
  char tag[20];
  snprintf(tag, sizeof tag, "test.%d", number);
  REQUIRE_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions[number]));
  REQUIRE_OK(MPI_Group_from_session_pset(sessions[number], "mpi://WORLD", &group));
  REQUIRE_OK(
      MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comms[number]));
  MPI_Group_free(&group);
}

static void end(int number) {
  REQUIRE_OK(MPI_Comm_free(&comms[number]));
  REQUIRE_OK(MPI_Session_finalize(&sessions[number]));
}

static void fill(unsigned char* data, int of) {
  for (int i = 0; i < bytes; i++) data[i] = (unsigned char)(of * 31 + i * 7 + uses);
}

/// Whether the file holds the pieces of all ranks in turn.
static int is_right(const char* path, int size) {
  unsigned char wanted[bytes], found[piece];
  FILE* stream = fopen(path, "rb");
  int same = stream != NULL;
  for (int of = 0; same && of < size; of++) {
    fill(wanted, of);
    for (int i = 0; same && i < pieces; i++) {
      fseek(stream, (long)(i * size + of) * piece, SEEK_SET);
      same =
          fread(found, 1, piece, stream) == piece && memcmp(found, wanted + i * piece, piece) == 0;
    }
  }
  if (stream) fclose(stream);
  return same;
}

/// Calls of each kind: collective with a view, nonblocking, split, shared pointer.
static void transfer(MPI_File file, MPI_Comm comm, const char* path, int size) {
  unsigned char data[bytes], back[bytes];
  MPI_Status status;
  MPI_Datatype type;
  int count = -1;
  MPI_Type_vector(pieces, piece, piece * size, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  REQUIRE_OK(
      MPI_File_set_view(file, (MPI_Offset)piece * rank, MPI_BYTE, type, "native", MPI_INFO_NULL));
  MPI_Type_free(&type);
  for (int way = 0; way < 3; way++) {
    MPI_Request request;
    uses++;
    fill(data, rank);
    if (way == 0) REQUIRE_OK(MPI_File_write_at_all(file, 0, data, bytes, MPI_BYTE, &status));
    if (way == 1) {
      REQUIRE_OK(MPI_File_iwrite_at(file, 0, data, bytes, MPI_BYTE, &request));
      REQUIRE_OK(MPI_Wait(&request, &status));
    }
    if (way == 2) {
      REQUIRE_OK(MPI_File_write_at_all_begin(file, 0, data, bytes, MPI_BYTE));
      REQUIRE_OK(MPI_File_write_at_all_end(file, data, &status));
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    REQUIRE(count == bytes);
    MPI_Barrier(comm);
    REQUIRE(is_right(path, size));
    memset(back, 0, bytes);
    REQUIRE_OK(MPI_File_read_at_all(file, 0, back, bytes, MPI_BYTE, &status));
    REQUIRE(memcmp(back, data, bytes) == 0);
    MPI_Barrier(comm);
  }
  MPI_Offset found = -1;
  REQUIRE_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  REQUIRE_OK(MPI_File_set_size(file, 0));
  REQUIRE_OK(MPI_File_write_shared(file, data, rank + 1, MPI_BYTE, &status));
  MPI_Barrier(comm);
  REQUIRE_OK(MPI_File_get_size(file, &found));
  REQUIRE(found == size * (size + 1) / 2);
}

static const char* carrier_of(MPI_File file) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1];
  int found = 0;
  REQUIRE_OK(MPI_File_get_info(file, &info));
  MPI_Info_get(info, "headrace_write_taken", MPI_MAX_INFO_VAL, value, &found);
  MPI_Info_free(&info);
  return found ? "engine" : "plain";
}

static const char* path_of(int number) {
  static char path[1000];
  snprintf(path, sizeof path, "%s/data%d", directory, number);
  return path;
}

static void open_file(int number) {
  MPI_Comm_rank(comms[number], &rank);
  is_open[number] = MPI_File_open(comms[number], path_of(number), MPI_MODE_CREATE | MPI_MODE_RDWR,
                                  MPI_INFO_NULL, &files[number]) == MPI_SUCCESS;
}

static void close_file(int number) {
  if (!is_open[number]) return;
  REQUIRE_OK(MPI_File_close(&files[number]));
  is_open[number] = 0;
}

static void use(int number) {
  const int was_open = is_open[number];
  int size = 0;
  if (!was_open) open_file(number);
  if (!is_open[number]) {
    printf("rank %d use%d refused\n", rank, number);
    return;
  }
  MPI_Comm_size(comms[number], &size);
  const char* carrier = carrier_of(files[number]);
  transfer(files[number], comms[number], path_of(number), size);
  if (!was_open) close_file(number);
  printf("rank %d use%d %s\n", rank, number, carrier);
}

/// Memory shared with other ranks, and descriptors that the layer keeps apart. The recorder's
/// memory lasts as long as the process.
static void require_nothing_left(void) {
  char line[1000];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) {
    const int is_kept = strstr(line, "libheadrace") || strstr(line, "/headrace-record-");
    require(strstr(line, "headrace") == NULL || is_kept, line);
  }
  fclose(maps);
  DIR* folder = opendir("/proc/self/fd");
  for (struct dirent* entry; (entry = readdir(folder)) != NULL;) {
    require(atoi(entry->d_name) < 500, "a descriptor is left");
  }
  closedir(folder);
}

static void take(const char* step) {
  const int number = step[strlen(step) - 1] - '0';
  int provided;
  if (strncmp(step, "begin", 5) == 0) return begin(number);
  if (strncmp(step, "open", 4) == 0) return open_file(number);
  if (strncmp(step, "use", 3) == 0) return use(number);
  if (strncmp(step, "close", 5) == 0) return close_file(number);
  if (strncmp(step, "end", 3) == 0) return end(number);
  if (strcmp(step, "left") == 0) return require_nothing_left();
  if (strcmp(step, "init") == 0) MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
  if (strcmp(step, "finalize") == 0) MPI_Finalize();
  if (strcmp(step, "world") == 0) {
    comms[most] = MPI_COMM_WORLD;
    use(most);
  }
}

int main(int argc, char** argv) {
  directory = argv[1];
  for (int i = 2; i < argc; i++) take(argv[i]);
  printf("rank %d done\n", rank);
  return failures != 0;
}
