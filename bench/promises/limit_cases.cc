// Writes that meet a limit: the error is told where the data are not, and counts are true. The
// limit is the process's own on file sizes (EFBIG), which a test can set; full disks and quotas
// take the same way through a library.
#include <sys/resource.h>

#include <algorithm>

#include "promises/case.h"

namespace headrace::bench::promises {
namespace {

constexpr std::int64_t kLength = 1 << 20;
constexpr rlim_t kLimit = 300'000;

/// No file of this process may grow past the limit while this lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(bool is_set) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    struct rlimit limit = before_;
    if (is_set) limit.rlim_cur = std::min(limit.rlim_max, kLimit);
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  struct rlimit before_{};
};

/// What a write says of itself.
struct Answer {
  int code = MPI_SUCCESS;
  MPI_Status status = empty_status();
};

using Write = Answer (*)(MPI_File, const std::vector<unsigned char>&);

int count_of(const std::vector<unsigned char>& data) {
  return static_cast<int>(data.size());
}

/// How many of the data, from the first on, are in the file.
std::int64_t present(const Trial& trial, const Places& places,
                     const std::vector<unsigned char>& data) {
  const std::vector<unsigned char> file = content(trial.path());
  std::int64_t index = 0;
  for (; index < count_of(data); ++index) {
    const std::size_t place = static_cast<std::size_t>(places.of(index));
    if (place >= file.size() || file[place] != data[static_cast<std::size_t>(index)]) break;
  }
  return index;
}

void judge(const Trial& trial, const Answer& answer, std::int64_t wanted, std::int64_t written) {
  const std::int64_t count = byte_count(answer.status);
  if (answer.code == MPI_SUCCESS) {
    trial.expect(written == wanted,
                 count == wanted ? "success, full count" : "success, short count");
  } else {
    trial.expect(count <= written,
                 count == wanted ? "error, full count" : "error, too high a count");
  }
}

void write_past_limit(Trial& trial, const Places& places, Write write, bool limited = true) {
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  see(trial, file, places);
  Answer answer;
  {
    const FileSizeLimit limit(limited);
    answer = write(file, data);
  }
  CALL(MPI_File_close(&file));
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  judge(trial, answer, kLength, present(trial, places, data));
}

Answer write_all(MPI_File file, const std::vector<unsigned char>& data) {
  Answer answer;
  answer.code =
      CALL(MPI_File_write_all(file, data.data(), count_of(data), MPI_BYTE, &answer.status));
  return answer;
}

Answer write_alone(MPI_File file, const std::vector<unsigned char>& data) {
  Answer answer;
  answer.code = CALL(MPI_File_write(file, data.data(), count_of(data), MPI_BYTE, &answer.status));
  return answer;
}

Answer write_split(MPI_File file, const std::vector<unsigned char>& data) {
  Answer answer;
  const int begun = CALL(MPI_File_write_all_begin(file, data.data(), count_of(data), MPI_BYTE));
  answer.code = CALL(MPI_File_write_all_end(file, data.data(), &answer.status));
  if (answer.code == MPI_SUCCESS) answer.code = begun;
  return answer;
}

Answer iwrite_all_wait(MPI_File file, const std::vector<unsigned char>& data) {
  Answer answer;
  MPI_Request request = MPI_REQUEST_NULL;
  answer.code = CALL(MPI_File_iwrite_all(file, data.data(), count_of(data), MPI_BYTE, &request));
  const int completed = CALL(MPI_Wait(&request, &answer.status));
  if (answer.code == MPI_SUCCESS) answer.code = completed;
  return answer;
}

Answer iwrite_waitall(MPI_File file, const std::vector<unsigned char>& data) {
  Answer answer;
  MPI_Request request = MPI_REQUEST_NULL;
  answer.code = CALL(MPI_File_iwrite(file, data.data(), count_of(data), MPI_BYTE, &request));
  const int completed = CALL(MPI_Waitall(1, &request, &answer.status));
  if (answer.code == MPI_SUCCESS) answer.code = completed;
  return answer;
}

Answer iwrite_test(MPI_File file, const std::vector<unsigned char>& data) {
  Answer answer;
  MPI_Request request = MPI_REQUEST_NULL;
  answer.code = CALL(MPI_File_iwrite(file, data.data(), count_of(data), MPI_BYTE, &request));
  int completed = MPI_SUCCESS;
  for (int done = 0; !done && completed == MPI_SUCCESS;) {
    completed = CALL(MPI_Test(&request, &done, &answer.status));
  }
  if (answer.code == MPI_SUCCESS) answer.code = completed;
  return answer;
}

void collective(Trial& trial) {
  write_past_limit(trial, one_after_another(trial, kLength), write_all);
}
void collective_pieces(Trial& trial) {
  write_past_limit(trial, in_turn(trial, 4096), write_all);
}
void split(Trial& trial) {
  write_past_limit(trial, in_turn(trial, 4096), write_split);
}
void background_collective(Trial& trial) {
  write_past_limit(trial, one_after_another(trial, kLength), iwrite_all_wait);
}
void background_waitall(Trial& trial) {
  write_past_limit(trial, {0, kLength, kLength}, iwrite_waitall);
}
void background_test(Trial& trial) {
  write_past_limit(trial, {0, kLength, kLength}, iwrite_test);
}
void strided(Trial& trial) {
  write_past_limit(trial, {512 * trial.rank, 512, 4096}, write_alone);
}

// The other rank is not limited: its data must get there, or an error must say that they did not.
void one_rank(Trial& trial) {
  write_past_limit(trial, in_turn(trial, 4096), write_all, trial.is_last());
}

// Nobody is left to be told of the error; the program must still end.
void at_finalize(Trial& trial) {
  const std::vector<unsigned char> data = pattern(trial.rank, kLength);
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  see(trial, file, in_turn(trial, 4096));
  const FileSizeLimit limit(true);
  MPI_Request request = MPI_REQUEST_NULL;
  CALL(MPI_File_iwrite_all(file, data.data(), count_of(data), MPI_BYTE, &request));
  CALL(MPI_Finalize());
}

constexpr Case kCases[] = {
    {"limit-write-all", 2, Ground::standard, "14.4.1, 14.7",
     "MPI_File_write_all past a file size limit: an error, and a true count", collective},
    {"limit-write-all-pieces", 2, Ground::standard, "14.4.1, 14.7",
     "MPI_File_write_all of pieces in turn past a file size limit: an error, and a true count",
     collective_pieces},
    {"limit-one-rank", 2, Ground::standard, "14.4.1, 14.7",
     "MPI_File_write_all where one rank may not write so far: no rank is told success for data "
     "that are not in the file",
     one_rank},
    {"limit-write-split", 2, Ground::standard, "14.4.1, 14.4.5, 14.7",
     "MPI_File_write_all_begin and _end past a file size limit: an error, and a true count", split},
    {"limit-iwrite-all", 2, Ground::standard, "14.4.1, 14.7",
     "MPI_File_iwrite_all and MPI_Wait past a file size limit: an error, and a true count",
     background_collective},
    {"limit-iwrite-waitall", 1, Ground::standard, "14.4.1, 14.7",
     "MPI_File_iwrite and MPI_Waitall past a file size limit: an error, and a true count",
     background_waitall},
    {"limit-iwrite-test", 1, Ground::standard, "14.4.1, 14.7",
     "MPI_File_iwrite and MPI_Test past a file size limit: an error, and a true count",
     background_test},
    {"limit-write-strided", 2, Ground::standard, "14.4.1, 14.7",
     "MPI_File_write of pieces with holes past a file size limit: an error, and a true count",
     strided},
    {"limit-at-finalize", 2, Ground::practice, "11.2.2",
     "a request past a file size limit that is open at MPI_Finalize does not keep it from ending",
     at_finalize},
};

}  // namespace

std::span<const Case> limit_cases() {
  return kCases;
}

}  // namespace headrace::bench::promises
