// A program whose last session ends, and another begins: the library makes the same keyvals again,
// for the program now.
//
//   sessions_anew DIRECTORY
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { keyvals = 20, rounds = 2 };

static int failures, rank;

static void require(int holds, const char* what) {
  if (holds) return;
  printf("rank %d: WRONG: %s\n", rank, what);
  failures++;
}
#define REQUIRE(what) require((what), #what)
#define REQUIRE_OK(call) require((call) == MPI_SUCCESS, #call)

static int of_types[keyvals], of_comms[keyvals];
static long value[keyvals];

/// Attributes of the program, none of which the layer may take for its own or change.
static void attach(MPI_Comm comm, MPI_Datatype type) {
  for (int i = 0; i < keyvals; i++) {
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &of_types[i], NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &of_comms[i], NULL);
    MPI_Type_set_attr(type, of_types[i], &value[i]);
    MPI_Comm_set_attr(comm, of_comms[i], &value[i]);
  }
}

static void look_again(MPI_Comm comm, MPI_Datatype type) {
  for (int i = 0; i < keyvals; i++) {
    void* found = NULL;
    int flag = 0;
    REQUIRE_OK(MPI_Type_get_attr(type, of_types[i], &found, &flag));
    REQUIRE(flag && found == &value[i]);
    REQUIRE_OK(MPI_Comm_get_attr(comm, of_comms[i], &found, &flag));
    REQUIRE(flag && found == &value[i]);
    MPI_Type_free_keyval(&of_types[i]);
    MPI_Comm_free_keyval(&of_comms[i]);
  }
}

/// A call that fails, with a text of the layer's; in the second round codes of the program are
/// numbered as the layer's were in the first.
static void fail(MPI_File file, int round) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length, own;
  for (int i = 0; i < 3 * round; i++) {
    MPI_Add_error_code(MPI_ERR_OTHER, &own);
    MPI_Add_error_string(own, "the program's");
  }
  const int code = MPI_File_write_at(file, -1, text, 1, MPI_CHAR, MPI_STATUS_IGNORE);
  REQUIRE(code != MPI_SUCCESS);
  MPI_Error_string(code, text, &length);
  REQUIRE(strstr(text, "negative") != NULL);
}

static void use(MPI_Comm comm, const char* path, int round) {
  MPI_File file;
  MPI_Datatype type, real;
  int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const int spread = 2 + round;
  MPI_Comm_rank(comm, &rank);
  MPI_Type_vector(2, 1, spread, MPI_INT, &type);
  MPI_Type_commit(&type);
  attach(comm, type);
  REQUIRE_OK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  REQUIRE_OK(MPI_File_write_at(file, rank * 8, numbers, 1, type, MPI_STATUS_IGNORE));
  int read[2] = {0, 0};
  REQUIRE_OK(MPI_File_read_at(file, rank * 8, read, 2, MPI_INT, MPI_STATUS_IGNORE));
  REQUIRE(read[0] == 1 && read[1] == 1 + spread);
  // Of a size that is another one in each round.
  MPI_Status status;
  int count = 0;
  double memory[2] = {0, 0};
  MPI_Type_create_f90_real(round == 0 ? 6 : 15, MPI_UNDEFINED, &real);
  REQUIRE_OK(MPI_File_write_at(file, 100 + rank * 8, memory, 1, real, &status));
  MPI_Get_count(&status, MPI_BYTE, &count);
  REQUIRE(count == (round == 0 ? 4 : 8));
  fail(file, round);
  REQUIRE_OK(MPI_File_close(&file));
  look_again(comm, type);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  char path[1000];
  snprintf(path, sizeof path, "%s/data", argc > 1 ? argv[1] : ".");
  for (int round = 0; round < rounds; round++) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    use(comm, path, round);
    MPI_Barrier(comm);
    printf("rank %d used %d%s\n", rank, round, failures ? ", wrong" : "");
    fflush(stdout);
    if (round == rounds - 1) _exit(0);  // Open MPI 5.0 may die where a second life of it ends
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }
}
