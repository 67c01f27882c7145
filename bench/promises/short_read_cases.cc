// Reads that meet the end of the file: they succeed, and the count says what was there.
#include <algorithm>

#include "promises/case.h"

namespace headrace::bench::promises {
namespace {

constexpr std::int64_t kLength = 4000;
constexpr std::int64_t kPiece = 100;

/// What a read says of itself.
struct Answer {
  int code = MPI_SUCCESS;
  MPI_Status status = empty_status();
};

using Memory = std::vector<unsigned char>;
using Read = Answer (*)(MPI_File, Memory&);

int count_of(const Memory& memory) {
  return static_cast<int>(memory.size());
}

std::string judge(const Answer& answer, const Memory& memory, const Places& places,
                  const Memory& file) {
  const auto in_file = [&](std::int64_t index) {
    return places.of(index) < static_cast<std::int64_t>(file.size());
  };
  std::int64_t expected = 0;
  while (expected < kLength && in_file(expected)) ++expected;
  const std::int64_t count = byte_count(answer.status);
  if (answer.code != MPI_SUCCESS) return "refused: " + class_name(answer.code);
  if (count != expected) {
    return count == kLength ? "full count" : std::to_string(count) + " bytes reported";
  }
  for (std::int64_t i = 0; i < expected; ++i) {
    if (memory[static_cast<std::size_t>(i)] != file[static_cast<std::size_t>(places.of(i))]) {
      return "wrong data";
    }
  }
  return {};
}

std::string read_short(Trial& trial, const Places& places, Read read, const std::string& name) {
  // the end lies in the middle of the last rank's data, and of a piece
  const std::int64_t bytes =
      places.is_contiguous() ? trial.size * kLength - 1230 : trial.size * kLength - 1250;
  const Memory file_content = pattern(9, bytes);
  if (trial.rank == 0) make_file(trial.path(name), file_content);
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  MPI_File file = trial.open(MPI_MODE_RDONLY, name);
  see(trial, file, places);
  Memory memory(kLength);
  const Answer answer = read(file, memory);
  trial.close(file);
  return judge(answer, memory, places, file_content);
}

/// The contiguous read, then pieces of all ranks in turn, of which more is only said where all
/// ranks read the first one right.
void read_both(Trial& trial, Read read) {
  const std::string plain =
      read_short(trial, one_after_another(trial, kLength), read, "contiguous");
  if (!plain.empty()) trial.broken(plain);
  const std::string pieces = read_short(trial, in_turn(trial, kPiece), read, "pieces");
  int wrong = !plain.empty();
  int wrong_somewhere = 0;
  CALL(MPI_Allreduce(&wrong, &wrong_somewhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  if (!pieces.empty() && !wrong_somewhere) trial.broken("in pieces: " + pieces);
}

Answer read_alone(MPI_File file, Memory& memory) {
  Answer answer;
  answer.code =
      CALL(MPI_File_read(file, memory.data(), count_of(memory), MPI_BYTE, &answer.status));
  return answer;
}
Answer read_at(MPI_File file, Memory& memory) {
  Answer answer;
  answer.code =
      CALL(MPI_File_read_at(file, 0, memory.data(), count_of(memory), MPI_BYTE, &answer.status));
  return answer;
}
Answer read_all(MPI_File file, Memory& memory) {
  Answer answer;
  answer.code =
      CALL(MPI_File_read_all(file, memory.data(), count_of(memory), MPI_BYTE, &answer.status));
  return answer;
}
Answer read_split(MPI_File file, Memory& memory) {
  Answer answer;
  const int begun =
      CALL(MPI_File_read_at_all_begin(file, 0, memory.data(), count_of(memory), MPI_BYTE));
  answer.code = CALL(MPI_File_read_at_all_end(file, memory.data(), &answer.status));
  if (answer.code == MPI_SUCCESS) answer.code = begun;
  return answer;
}
/// The answer to a call that `begun` is the code of.
Answer wait_for(MPI_Request& request, int begun) {
  Answer answer;
  answer.code = CALL(MPI_Wait(&request, &answer.status));
  if (begun != MPI_SUCCESS) answer.code = begun;
  return answer;
}
Answer iread(MPI_File file, Memory& memory) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int begun = CALL(MPI_File_iread(file, memory.data(), count_of(memory), MPI_BYTE, &request));
  return wait_for(request, begun);
}
Answer iread_all(MPI_File file, Memory& memory) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int begun =
      CALL(MPI_File_iread_all(file, memory.data(), count_of(memory), MPI_BYTE, &request));
  return wait_for(request, begun);
}

void by_read(Trial& trial) {
  read_both(trial, read_alone);
}
void by_read_at(Trial& trial) {
  read_both(trial, read_at);
}
void by_read_all(Trial& trial) {
  read_both(trial, read_all);
}
void by_read_split(Trial& trial) {
  read_both(trial, read_split);
}
void by_iread(Trial& trial) {
  read_both(trial, iread);
}
void by_iread_all(Trial& trial) {
  read_both(trial, iread_all);
}

// In rank order through the shared pointer.
void by_read_ordered(Trial& trial) {
  const Memory file_content = pattern(9, trial.size * kLength - 1230);
  if (trial.rank == 0) make_file(trial.path(), file_content);
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  MPI_File file = trial.open(MPI_MODE_RDONLY);
  Memory memory(kLength);
  Answer answer;
  answer.code =
      CALL(MPI_File_read_ordered(file, memory.data(), count_of(memory), MPI_BYTE, &answer.status));
  const std::string text = judge(answer, memory, one_after_another(trial, kLength), file_content);
  if (!text.empty()) trial.broken(text);
  trial.close(file);
}

constexpr Case kCases[] = {
    {"short-read", 2, Ground::standard, "14.4.1",
     "MPI_File_read at the end of the file: success, and the count of what is there", by_read},
    {"short-read-at", 2, Ground::standard, "14.4.1",
     "MPI_File_read_at at the end of the file: success, and the count of what is there",
     by_read_at},
    {"short-read-all", 2, Ground::standard, "14.4.1",
     "MPI_File_read_all at the end of the file: success, and the count of what is there",
     by_read_all},
    {"short-read-split", 2, Ground::standard, "14.4.1, 14.4.5",
     "MPI_File_read_at_all_begin and _end at the end of the file: success, and the count of what "
     "is there",
     by_read_split},
    {"short-iread", 2, Ground::standard, "14.4.1",
     "MPI_File_iread at the end of the file: success, and the count of what is there", by_iread},
    {"short-iread-all", 2, Ground::standard, "14.4.1",
     "MPI_File_iread_all at the end of the file: success, and the count of what is there",
     by_iread_all},
    {"short-read-ordered", 2, Ground::standard, "14.4.1, 14.4.4",
     "MPI_File_read_ordered at the end of the file: success, and the count of what is there",
     by_read_ordered},
};

}  // namespace

std::span<const Case> short_read_cases() {
  return kCases;
}

}  // namespace headrace::bench::promises
