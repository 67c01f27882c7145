// What the procedures that complete several requests return where the error handler of a file
// changes the code of its request: the other is a message.
//
//   handled_requests
#include <mpi.h>
#include <stdio.h>

static int new_code;
static MPI_Request requests[2];
static MPI_Status statuses[2];

static void change(MPI_File* file, int* code, ...) {
  (void)file;
  *code = new_code;
}

static const char* name_of(int code) {
  int error_class = code;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class == MPI_SUCCESS         ? "none"
         : error_class == MPI_ERR_IN_STATUS ? "in status"
         : error_class == MPI_ERR_QUOTA     ? "the handler's"
                                            : "the error";
}

static void begin(MPI_File file) {
  static char byte, received;
  MPI_File_iwrite(file, &byte, 1, MPI_BYTE, &requests[0]);
  MPI_Isend(&byte, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF, &requests[1]);
  MPI_Recv(&received, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; i++) statuses[i].MPI_ERROR = MPI_SUCCESS;
}

static int some(int test, int ignore) {
  int worst = MPI_SUCCESS, done = 0, indices[2];
  for (int all = 0; all < 2; all += done) {
    MPI_Status* const told = ignore ? MPI_STATUSES_IGNORE : statuses + all;
    const int code = test ? MPI_Testsome(2, requests, &done, indices, told)
                          : MPI_Waitsome(2, requests, &done, indices, told);
    if (code != MPI_SUCCESS) worst = code;
  }
  return worst;
}

static int all(int test, int ignore) {
  MPI_Status* const told = ignore ? MPI_STATUSES_IGNORE : statuses;
  int flag = 0, code = MPI_SUCCESS;
  if (!test) return MPI_Waitall(2, requests, told);
  while (!flag) code = MPI_Testall(2, requests, &flag, told);
  return code;
}

static void use(MPI_File file, const char* handler) {
  for (int way = 0; way < 8; way++) {
    begin(file);
    const int test = way & 1, ignore = way & 2;
    const int code = way & 4 ? some(test, ignore) : all(test, ignore);
    const int failed = statuses[0].MPI_ERROR != MPI_SUCCESS ? 0 : 1;
    printf("%s %s%s%s: %s, status %s\n", handler, test ? "test" : "wait", way & 4 ? "some" : "all",
           ignore ? " ignored" : "", name_of(code), name_of(statuses[failed].MPI_ERROR));
  }
}

int main(int argc, char** argv) {
  MPI_File file;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  use(file, "returns");
  MPI_File_create_errhandler(change, &handler);
  MPI_File_set_errhandler(file, handler);
  MPI_Errhandler_free(&handler);
  new_code = MPI_SUCCESS;
  use(file, "forgives");
  new_code = MPI_ERR_QUOTA;
  use(file, "replaces");
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
