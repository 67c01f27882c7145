// Errors: every rank learns of them, by the class that the standard has, and nobody hangs.
#include "promises/case.h"

namespace headrace::bench::promises {
namespace {

int handler_calls = 0;

void count_call(MPI_File*, int*, ...) {
  ++handler_calls;
}

void expect_open_error(Trial& trial, int amode, const std::string& name, int error_class) {
  MPI_File other = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR, "other");
  trial.close(other);
  MPI_File file = MPI_FILE_NULL;
  const int code =
      CALL(MPI_File_open(MPI_COMM_WORLD, trial.path(name).c_str(), amode, MPI_INFO_NULL, &file));
  trial.expect_class(code, error_class);
  if (code == MPI_SUCCESS) trial.close(file);
}

void open_missing(Trial& trial) {
  expect_open_error(trial, MPI_MODE_RDONLY, "missing", MPI_ERR_NO_SUCH_FILE);
}

void open_exclusive(Trial& trial) {
  if (trial.rank == 0) make_file(trial.path(), pattern(0, 10));
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  expect_open_error(trial, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, "data",
                    MPI_ERR_FILE_EXISTS);
}

void open_modes_differ(Trial& trial) {
  if (trial.rank == 0) make_file(trial.path(), pattern(0, 10));
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  expect_open_error(trial, trial.is_last() ? MPI_MODE_RDWR : MPI_MODE_RDONLY, "data",
                    MPI_ERR_NOT_SAME);
}

// The handler of a file is called once for an error, and the call returns the error.
void handler_once(Trial& trial) {
  if (trial.rank == 0) make_file(trial.path(), pattern(0, 1000));
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  MPI_File file = trial.open(MPI_MODE_RDONLY);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(count_call, &handler);
  MPI_File_set_errhandler(file, handler);
  MPI_Errhandler_free(&handler);
  const int value = 1;
  const int code =
      CALL(MPI_File_write_at_all(file, 4 * trial.rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  trial.expect_class(code, MPI_ERR_READ_ONLY);
  trial.expect(handler_calls == 1, "handler called " + std::to_string(handler_calls) + " times");
  trial.close(file);
}

// One rank's count is wrong: it gets an error, the others' data get there.
void one_rank_wrong(Trial& trial) {
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  const Places places = in_turn(trial, 100);
  see(trial, file, places);
  const std::vector<unsigned char> data = pattern(trial.rank, 1000);
  const int count = trial.is_last() ? -5 : static_cast<int>(data.size());
  const int code = CALL(MPI_File_write_all(file, data.data(), count, MPI_BYTE, MPI_STATUS_IGNORE));
  if (trial.is_last()) {
    trial.expect_class(code, MPI_ERR_COUNT);
  } else {
    trial.expect_success(code, "write_all");
  }
  trial.close(file);
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  if (trial.is_last()) return;
  const std::vector<unsigned char> file_content = content(trial.path());
  bool right = true;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::size_t place = static_cast<std::size_t>(places.of(static_cast<std::int64_t>(i)));
    right = right && place < file_content.size() && file_content[place] == data[i];
  }
  trial.expect(right, "data of others missing");
}

void closed_handle(Trial& trial) {
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  const MPI_File copy = file;
  trial.close(file);
  const int value = 1;
  trial.expect_class(CALL(MPI_File_write_at(copy, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE)),
                     MPI_ERR_FILE);
}

void null_type(Trial& trial) {
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int value = 1;
  trial.expect_class(
      CALL(MPI_File_write_at(file, 0, &value, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE)),
      MPI_ERR_TYPE);
  trial.close(file);
}

constexpr Case kCases[] = {
    {"error-open-missing", 2, Ground::standard, "14.8",
     "all ranks learn by MPI_ERR_NO_SUCH_FILE that a file is not there", open_missing},
    {"error-open-exclusive", 2, Ground::standard, "14.2.1, 14.8",
     "all ranks learn by MPI_ERR_FILE_EXISTS that MPI_MODE_EXCL found a file", open_exclusive},
    {"error-handler-once", 3, Ground::standard, "14.7",
     "a collective write to a file opened for reading calls each rank's error handler once and "
     "returns MPI_ERR_READ_ONLY",
     handler_once},
    {"error-modes-differ", 2, Ground::practice, "14.2.1, 14.8",
     "access modes that differ between ranks are refused by MPI_ERR_NOT_SAME", open_modes_differ},
    {"error-one-rank", 2, Ground::practice, "14.7",
     "a negative count on one rank of MPI_File_write_all: an error there, data of the others "
     "written",
     one_rank_wrong},
    {"error-closed-handle", 1, Ground::practice, "14.7, 14.8",
     "a write by a copy of a closed handle is refused by MPI_ERR_FILE", closed_handle},
    {"error-null-type", 1, Ground::practice, "14.7", "MPI_DATATYPE_NULL is refused by MPI_ERR_TYPE",
     null_type},
};

}  // namespace

std::span<const Case> error_cases() {
  return kCases;
}

}  // namespace headrace::bench::promises
