// Nonblocking calls: they end by themselves, among others, and in every way of completing them.
#include <algorithm>

#include "promises/case.h"

namespace headrace::bench::promises {
namespace {

constexpr std::int64_t kLength = 20'000;
constexpr std::int64_t kPiece = 20;

int count_of(const std::vector<unsigned char>& data) {
  return static_cast<int>(data.size());
}

void check_present(const Trial& trial, const std::string& name, const Places& places,
                   const std::vector<unsigned char>& data) {
  const std::vector<unsigned char> file = content(trial.path(name));
  for (std::int64_t i = 0; i < count_of(data); ++i) {
    const std::size_t place = static_cast<std::size_t>(places.of(i));
    if (place < file.size() && file[place] == data[static_cast<std::size_t>(i)]) continue;
    trial.broken("data missing");
    return;
  }
}

void check_status(const Trial& trial, const MPI_Status& status, std::int64_t expected) {
  trial.expect(byte_count(status) == expected, "wrong count");
}

// Rank 0 completes its own part only when rank 1 has said that its part is done.
void progress(Trial& trial) {
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  const Places places = in_turn(trial, kPiece);
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  see(trial, file, places);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status = empty_status();
  int word = 0;
  trial.expect_success(
      CALL(MPI_File_iwrite_all(file, data.data(), count_of(data), MPI_BYTE, &request)),
      "iwrite_all");
  if (trial.rank == 0) {
    CALL(MPI_Recv(&word, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  trial.expect_success(CALL(MPI_Wait(&request, &status)), "wait");
  if (trial.rank == 1) CALL(MPI_Send(&word, 1, MPI_INT, 0, 4, MPI_COMM_WORLD));
  check_status(trial, status, kLength);
  trial.close(file);
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  check_present(trial, "data", places, data);
}

// Each rank waits for the two files' calls in an order of its own.
void two_files(Trial& trial) {
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  const Places places = in_turn(trial, kPiece);
  MPI_File files[2];
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  files[0] = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR, "first");
  files[1] = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR, "second");
  for (int i = 0; i < 2; ++i) {
    see(trial, files[i], places);
    trial.expect_success(
        CALL(MPI_File_iwrite_all(files[i], data.data(), count_of(data), MPI_BYTE, &requests[i])),
        "iwrite_all");
  }
  for (int i = 0; i < 2; ++i) {
    MPI_Status status = empty_status();
    trial.expect_success(CALL(MPI_Wait(&requests[trial.rank % 2 ? 1 - i : i], &status)), "wait");
    check_status(trial, status, kLength);
  }
  for (MPI_File& file : files) trial.close(file);
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  check_present(trial, "first", places, data);
  check_present(trial, "second", places, data);
}

// Requests of a file among messages of this rank to itself.
void testall(Trial& trial) {
  constexpr int kTurns = 5;
  const std::vector<unsigned char> data = pattern(trial.rank, kTurns * kLength);
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  std::vector<MPI_Request> requests(3 * kTurns, MPI_REQUEST_NULL);
  std::vector<MPI_Status> statuses(requests.size(), empty_status());
  int sent[kTurns] = {};
  int received[kTurns] = {};
  for (int i = 0; i < kTurns; ++i) {
    MPI_Request* const three = requests.data() + 3 * i;
    CALL(MPI_File_iwrite_at(file, i * kLength, data.data() + i * kLength, kLength, MPI_BYTE,
                            &three[0]));
    CALL(MPI_Irecv(&received[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &three[1]));
    CALL(MPI_Isend(&sent[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &three[2]));
  }
  for (int done = 0; !done;) {
    const int code = CALL(MPI_Testall(3 * kTurns, requests.data(), &done, statuses.data()));
    if (!trial.expect_success(code, "testall")) break;
  }
  for (std::size_t i = 0; i < kTurns; ++i) check_status(trial, statuses[3 * i], kLength);
  trial.close(file);
  check_present(trial, "data", {0, count_of(data), count_of(data)}, data);
}

// The state of a request is looked at without an end to it.
void get_status(Trial& trial) {
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status = empty_status();
  CALL(MPI_File_iwrite_at(file, 0, data.data(), count_of(data), MPI_BYTE, &request));
  for (int done = 0; !done;) {
    const int code = CALL(MPI_Request_get_status(request, &done, &status));
    if (!trial.expect_success(code, "get_status")) break;
  }
  trial.expect(request != MPI_REQUEST_NULL, "request gone");
  int still = 0;
  CALL(MPI_Request_get_status(request, &still, MPI_STATUS_IGNORE));
  trial.expect(still == 1, "not complete any more");
  check_status(trial, status, kLength);
  MPI_Status final_status = empty_status();
  trial.expect_success(CALL(MPI_Wait(&request, &final_status)), "wait");
  check_status(trial, final_status, kLength);
  trial.close(file);
  check_present(trial, "data", {0, kLength, kLength}, data);
}

void not_cancelled(Trial& trial) {
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status = empty_status();
  MPI_Status_set_cancelled(&status, 1);
  CALL(MPI_File_iwrite_at(file, 0, data.data(), count_of(data), MPI_BYTE, &request));
  CALL(MPI_Wait(&request, &status));
  int cancelled = -1;
  MPI_Test_cancelled(&status, &cancelled);
  trial.expect(cancelled == 0, "said to be cancelled");
  trial.close(file);
}

void many(Trial& trial) {
  constexpr int kRequests = 300;
  constexpr int kBytes = 64;
  const std::vector<unsigned char> data = pattern(trial.rank, kRequests * kBytes);
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  std::vector<MPI_Request> requests(kRequests, MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < kRequests; ++i) {
    const int code =
        CALL(MPI_File_iwrite(file, data.data() + i * kBytes, kBytes, MPI_BYTE, &requests[i]));
    if (!trial.expect_success(code, "iwrite")) break;
  }
  trial.expect_success(CALL(MPI_Waitall(kRequests, requests.data(), MPI_STATUSES_IGNORE)),
                       "waitall");
  trial.close(file);
  check_present(trial, "data", {0, count_of(data), count_of(data)}, data);
}

// What a program leaves under way when it finalizes is written, or at least nothing hangs.
void open_at_finalize(Trial& trial) {
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  const Places places = in_turn(trial, kPiece);
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  see(trial, file, places);
  MPI_Request request = MPI_REQUEST_NULL;
  CALL(MPI_File_iwrite_all(file, data.data(), count_of(data), MPI_BYTE, &request));
  CALL(MPI_Finalize());
  check_present(trial, "data", places, data);
}

void file_left_open(Trial& trial) {
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  const Places places = in_turn(trial, kPiece);
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  see(trial, file, places);
  trial.expect_success(
      CALL(MPI_File_write_all(file, data.data(), count_of(data), MPI_BYTE, MPI_STATUS_IGNORE)),
      "write_all");
  CALL(MPI_Finalize());
  check_present(trial, "data", places, data);
}

constexpr Case kCases[] = {
    {"request-progress", 2, Ground::standard, "14.6.3",
     "MPI_File_iwrite_all on both ranks, then one blocks in MPI_Recv for the other's part: it ends",
     progress},
    {"request-two-files", 2, Ground::standard, "14.6.3, 14.6.5",
     "collective calls of two files, waited for in another order on each rank, end", two_files},
    {"request-testall", 1, Ground::standard, "3.7.5",
     "MPI_Testall completes requests of a file among messages", testall},
    {"request-get-status", 1, Ground::standard, "3.7.6",
     "MPI_Request_get_status looks at a file's request", get_status},
    {"request-not-cancelled", 1, Ground::standard, "3.8.4",
     "the status of a file's request says that it was not cancelled", not_cancelled},
    {"request-many", 1, Ground::standard, "14.4.1", "300 nonblocking writes are under way at once",
     many},
    {"request-at-finalize", 2, Ground::practice, "11.2.2",
     "a request that is open at MPI_Finalize neither hangs nor is lost", open_at_finalize},
    {"file-at-finalize", 2, Ground::practice, "11.2.2",
     "a file that is open at MPI_Finalize neither hangs nor is lost", file_left_open},
};

}  // namespace

std::span<const Case> request_cases() {
  return kCases;
}

}  // namespace headrace::bench::promises
