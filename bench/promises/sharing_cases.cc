// What ranks and threads share: atomic mode, the shared pointer, sync, files beside the file.
#include <algorithm>
#include <filesystem>
#include <thread>

#include "common/hints.h"
#include "promises/case.h"

namespace headrace::bench::promises {
namespace {

/// Writes at the view's begin: by a collective call, alone, or in the background.
void write_by(int method, MPI_File file, const std::vector<unsigned char>& data) {
  const int count = static_cast<int>(data.size());
  MPI_Request request = MPI_REQUEST_NULL;
  if (method == 0) {
    CALL(MPI_File_write_at_all(file, 0, data.data(), count, MPI_BYTE, MPI_STATUS_IGNORE));
  } else if (method == 1) {
    CALL(MPI_File_write_at(file, 0, data.data(), count, MPI_BYTE, MPI_STATUS_IGNORE));
  } else {
    CALL(MPI_File_iwrite_at(file, 0, data.data(), count, MPI_BYTE, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
}

// Both ranks write the same places at once: all bytes of one call are there, whichever it was.
void atomic_writes(Trial& trial) {
  constexpr int kRounds = 40;
  constexpr int kLength = 240'000;
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  trial.expect_success(CALL(MPI_File_set_atomicity(file, 1)), "set_atomicity");
  see(trial, file, {0, 300, 600});
  std::vector<unsigned char> memory(kLength);
  int torn = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::fill(memory.begin(), memory.end(), static_cast<unsigned char>(2 * round + 1 + trial.rank));
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    write_by(round % 3, file, memory);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    const std::vector<unsigned char> found = content(trial.path());
    bool whole = true;
    for (std::size_t i = 0; i < found.size(); ++i) {
      whole = whole && (i % 600 >= 300 || found[i] == found[0]);
    }
    torn += !whole;
  }
  trial.expect(torn == 0, "writes are mixed");
  trial.close(file);
}

// Who reads while the other writes sees all of a write or nothing of it.
void atomic_reads(Trial& trial) {
  constexpr int kRounds = 40;
  constexpr int kLength = 60'000;
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  trial.expect_success(CALL(MPI_File_set_atomicity(file, 1)), "set_atomicity");
  see(trial, file, {7, 1000, 1500});
  std::vector<unsigned char> memory(kLength, 1);
  if (trial.rank == 0) write_by(1, file, memory);
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  int torn = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (trial.rank == 0) {
      std::fill(memory.begin(), memory.end(), static_cast<unsigned char>(round + 2));
      write_by(1 + round % 2, file, memory);
    } else {
      CALL(MPI_File_read_at(file, 0, memory.data(), kLength, MPI_BYTE, MPI_STATUS_IGNORE));
      torn += std::count(memory.begin(), memory.end(), memory[0]) != kLength;
    }
  }
  trial.expect(torn == 0, "half-made writes are read");
  trial.close(file);
}

// The end of a view is that of the data behind its displacement.
void shared_end(Trial& trial) {
  if (trial.rank == 0) make_file(trial.path(), pattern(0, 100));
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  MPI_File file = trial.open(MPI_MODE_RDWR);
  trial.expect_success(CALL(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)),
                       "set_view");
  trial.expect_success(CALL(MPI_File_seek_shared(file, -2, MPI_SEEK_END)), "seek_shared");
  MPI_Offset position = -1;
  CALL(MPI_File_get_position_shared(file, &position));
  trial.expect(position == 22, "position " + std::to_string(position) + ", not 22");
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  trial.close(file);
}

// Records through the shared pointer: none lost, none torn.
void shared_records(Trial& trial) {
  constexpr int kRecords = 60;
  constexpr int kRecord = 48;
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int i = 0; i < kRecords; ++i) {
    const std::vector<unsigned char> record = pattern(trial.rank * kRecords + i, kRecord);
    trial.expect_success(
        CALL(MPI_File_write_shared(file, record.data(), kRecord, MPI_BYTE, MPI_STATUS_IGNORE)),
        "write_shared");
  }
  trial.close(file);
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  if (trial.rank != 0) return;
  const std::vector<unsigned char> found = content(trial.path());
  std::vector<int> seen(static_cast<std::size_t>(trial.size * kRecords));
  for (std::size_t at = 0; at + kRecord <= found.size(); at += kRecord) {
    for (std::size_t number = 0; number < seen.size(); ++number) {
      const std::vector<unsigned char> record = pattern(static_cast<int>(number), kRecord);
      seen[number] +=
          std::equal(record.begin(), record.end(), found.begin() + static_cast<long>(at));
    }
  }
  const bool each_once =
      std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; });
  trial.expect(each_once && found.size() == seen.size() * kRecord, "records lost or torn");
}

// No other file appears beside the data while the shared pointer is in use.
void shared_litter(Trial& trial) {
  std::filesystem::create_directory(trial.path("alone"));
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR, "alone/data");
  const int value = trial.rank;
  trial.expect_success(CALL(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE)),
                       "write_shared");
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  int others = 0;
  for (const auto& entry : std::filesystem::directory_iterator(trial.path("alone"))) {
    others += entry.path().filename() != "data";
  }
  trial.expect(others == 0, "a hidden file beside it");
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  trial.close(file);
}

void sync_alone(Trial& trial) {
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int value = 1;
  if (trial.rank == 0) {
    CALL(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    trial.expect_success(CALL(MPI_File_sync(file)), "sync");
  }
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  trial.close(file);
}

void info_returned(Trial& trial) {
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Info info = MPI_INFO_NULL;
  int keys = 0;
  const bool given = trial.expect_success(CALL(MPI_File_get_info(file, &info)), "get_info") &&
                     trial.expect(info != MPI_INFO_NULL, "no info");
  if (given) {
    MPI_Info_get_nkeys(info, &keys);
    trial.expect(keys > 0, "no hints in it");
    MPI_Info_free(&info);
  }
  trial.close(file);
}

/// One thread's work: files of its own communicator, opened, written and closed.
void open_files(const Trial& trial, MPI_Comm communicator, int thread, bool& right) {
  for (int i = 0; i < 200; ++i) {
    const std::string path = trial.path("thread" + std::to_string(thread));
    MPI_File file = MPI_FILE_NULL;
    int code = CALL(MPI_File_open(communicator, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                                  MPI_INFO_NULL, &file));
    if (code == MPI_SUCCESS) {
      code = CALL(MPI_File_write_at_all(file, 4 * trial.rank, &i, 1, MPI_INT, MPI_STATUS_IGNORE));
      CALL(MPI_File_close(&file));
    }
    right = right && code == MPI_SUCCESS;
  }
}

// Two threads work on files of two communicators: none waits for the other.
void threads_open(Trial& trial) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (!trial.expect(level == MPI_THREAD_MULTIPLE, "no MPI_THREAD_MULTIPLE")) return;
  MPI_File probe = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR, "probe");
  trial.close(probe);
  MPI_Comm communicators[2];
  for (MPI_Comm& communicator : communicators) MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  bool right[2] = {true, true};
  std::thread other([&] { open_files(trial, communicators[1], 1, right[1]); });
  open_files(trial, communicators[0], 0, right[0]);
  other.join();
  trial.expect(right[0] && right[1], "calls refused");
  for (MPI_Comm& communicator : communicators) MPI_Comm_free(&communicator);
}

constexpr Case kCases[] = {
    {"atomic-writes", 2, Ground::standard, "14.6.1",
     "in atomic mode, writes of two ranks to the same places leave one of them whole",
     atomic_writes},
    {"atomic-reads", 2, Ground::standard, "14.6.1",
     "in atomic mode, a read beside a write sees all of it or nothing", atomic_reads},
    {"shared-records", 2, Ground::standard, "14.4.4",
     "MPI_File_write_shared by all ranks loses and tears no record", shared_records},
    {"shared-end", 2, Ground::standard, "14.4.4",
     "MPI_File_seek_shared from the end of a view with a displacement finds it", shared_end},
    {"threads-open", 2, Ground::standard, "11.6.1",
     "two threads open and write files of two communicators (MPI_THREAD_MULTIPLE)", threads_open,
     true},
    {"shared-litter", 2, Ground::practice, "14.4.4",
     "the shared pointer leaves no other file beside the data", shared_litter},
    {"sync-one-rank", 2, Ground::practice, "14.6.1",
     "MPI_File_sync by one rank alone returns (IMB does it; by the standard it is collective)",
     sync_alone},
    {"info-returned", 1, Ground::practice, "14.2.8",
     "MPI_File_get_info tells the hints that are in effect", info_returned},
};

}  // namespace

std::span<const Case> sharing_cases() {
  return kCases;
}

}  // namespace headrace::bench::promises
