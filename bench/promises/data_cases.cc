// The right bytes in the right places, and no others.
#include <sys/mman.h>

#include <algorithm>
#include <stdexcept>

#include "common/posix_io.h"
#include "promises/case.h"

namespace headrace::bench::promises {
namespace {

constexpr int kOther = 99;  ///< whose bytes are in the file before

// "58 MB", for counts of bytes that nobody wants to the byte.
std::string about(std::int64_t bytes) {
  if (bytes >= 1'000'000) return std::to_string((bytes + 500'000) / 1'000'000) + " MB";
  return std::to_string(bytes) + " bytes";
}

/// Counts in the whole file what is not as the ranks and `kOther` left it.
void judge_file(const Trial& trial, const std::vector<unsigned char>& before, std::int64_t blocks,
                std::int64_t block, std::int64_t stride) {
  const std::vector<unsigned char> file = content(trial.path());
  std::int64_t overwritten = 0;
  std::int64_t missing = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i);
    const std::int64_t number = at / stride;
    const bool ours = at % stride < block && number < blocks * trial.size;
    const std::int64_t index = number / trial.size * block + at % stride;
    const unsigned char expected =
        ours ? pattern_byte(static_cast<int>(number % trial.size), index) : before[i];
    if (i < file.size() && file[i] == expected) continue;
    ++(ours ? missing : overwritten);
  }
  if (overwritten > 0) trial.broken(about(overwritten) + " of other data overwritten");
  if (missing > 0) trial.broken(about(missing) + " not written");
}

// Blocks of 512 bytes, one in 4096, in turn by all ranks, into a file that holds other data.
void neighbours(Trial& trial) {
  constexpr std::int64_t kSize = 128 << 20;
  constexpr std::int64_t kBlock = 512;
  constexpr std::int64_t kStride = 4096;
  const std::int64_t blocks = kSize / kStride / trial.size;
  std::vector<unsigned char> before;
  if (trial.rank == 0) {
    before = pattern(kOther, kSize);
    make_file(trial.path(), before);
  }
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  const std::vector<unsigned char> data = pattern(trial.rank, blocks * kBlock);
  MPI_File file = trial.open(MPI_MODE_RDWR);
  see(trial, file, {trial.rank * kStride, kBlock, trial.size * kStride});
  trial.expect_success(CALL(MPI_File_write_all(file, data.data(), static_cast<int>(data.size()),
                                               MPI_BYTE, MPI_STATUS_IGNORE)),
                       "write_all");
  trial.close(file);
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  if (trial.rank == 0) judge_file(trial, before, blocks, kBlock, kStride);
}

// The pieces of the memory's type lie from behind to before.
void backwards(Trial& trial) {
  constexpr int kPieces = 40;
  constexpr int kPiece = 8;
  const std::vector<unsigned char> data = pattern(kOther, kPieces * kPiece);
  make_file(trial.path(), data);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int displacements[kPieces];
  for (int i = 0; i < kPieces; ++i) displacements[i] = (kPieces - 1 - i) * 2 * kPiece;
  MPI_Type_create_indexed_block(kPieces, kPiece, displacements, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  std::vector<unsigned char> memory(2 * data.size());
  MPI_File file = trial.open(MPI_MODE_RDONLY);
  trial.expect_success(CALL(MPI_File_read(file, memory.data(), 1, type, MPI_STATUS_IGNORE)),
                       "read");
  trial.close(file);
  MPI_Type_free(&type);
  bool right = true;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::size_t place = static_cast<std::size_t>(displacements[i / kPiece]) + i % kPiece;
    right = right && memory[place] == data[i];
  }
  trial.expect(right, "pieces in the wrong order");
}

// Blocks of no length between those of a filetype.
void empty_blocks(Trial& trial) {
  constexpr int kExtent = 13;
  constexpr int kTiles = 20;
  const int lengths[] = {0, 3, 0, 0, 2, 0};
  const int displacements[] = {0, 1, 4, 5, 9, 12};
  const int places[] = {1, 2, 3, 9, 10};
  MPI_Datatype blocks = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  MPI_Type_indexed(6, lengths, displacements, MPI_BYTE, &blocks);
  MPI_Type_create_resized(blocks, 0, kExtent * trial.size, &filetype);
  MPI_Type_commit(&filetype);
  const std::vector<unsigned char> data = pattern(trial.rank, 5 * kTiles);
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  trial.expect_success(CALL(MPI_File_set_view(file, kExtent * trial.rank, MPI_BYTE, filetype,
                                              "native", MPI_INFO_NULL)),
                       "set_view");
  MPI_Status status = empty_status();
  trial.expect_success(
      CALL(MPI_File_write_all(file, data.data(), static_cast<int>(data.size()), MPI_BYTE, &status)),
      "write_all");
  trial.close(file);
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  const std::vector<unsigned char> found = content(trial.path());
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::size_t place = i / 5 * static_cast<std::size_t>(kExtent * trial.size) +
                              static_cast<std::size_t>(kExtent * trial.rank + places[i % 5]);
    wrong += place >= found.size() || found[place] != data[i];
  }
  trial.expect(wrong == 0, "data in the wrong places");
  trial.expect(byte_count(status) == static_cast<std::int64_t>(data.size()), "wrong count");
  MPI_Type_free(&filetype);
  MPI_Type_free(&blocks);
}

// Only a view for writing must not overlap itself.
void overlapping_view(Trial& trial) {
  constexpr int kExtent = 22;
  constexpr int kTiles = 10;
  const int displacements[] = {0, 3, 4, 17};
  const std::vector<unsigned char> data = pattern(kOther, kExtent * kTiles);
  make_file(trial.path(), data);
  MPI_Datatype blocks = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  MPI_Type_create_indexed_block(4, 5, displacements, MPI_BYTE, &blocks);
  MPI_Type_create_resized(blocks, 0, kExtent, &filetype);
  MPI_Type_commit(&filetype);
  MPI_File file = trial.open(MPI_MODE_RDONLY);
  const int code = CALL(MPI_File_set_view(file, 0, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
  std::vector<unsigned char> memory(20 * kTiles);
  if (trial.expect_success(code, "set_view")) {
    trial.expect_success(CALL(MPI_File_read(file, memory.data(), static_cast<int>(memory.size()),
                                            MPI_BYTE, MPI_STATUS_IGNORE)),
                         "read");
    bool right = true;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const std::size_t place =
          i / 20 * kExtent + static_cast<std::size_t>(displacements[i % 20 / 5]) + i % 5;
      right = right && memory[i] == data[place];
    }
    trial.expect(right, "wrong data");
  }
  trial.close(file);
  MPI_Type_free(&filetype);
  MPI_Type_free(&blocks);
}

// 3 GiB asked for where the file ends soon; the memory is address space alone.
void huge_read(Trial& trial) {
  constexpr std::int64_t kAsked = 3ll << 30;
  constexpr int kElement = 4096;
  const std::vector<unsigned char> data = pattern(kOther, 3 * kElement);
  make_file(trial.path(), data);
  void* memory = ::mmap(nullptr, kAsked, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no address space for 3 GiB");
  MPI_Datatype element = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(kElement, MPI_BYTE, &element);
  MPI_Type_commit(&element);
  MPI_File file = trial.open(MPI_MODE_RDONLY);
  MPI_Status status = empty_status();
  trial.expect_success(
      CALL(MPI_File_read(file, memory, static_cast<int>(kAsked / kElement), element, &status)),
      "read");
  int count = -1;
  MPI_Get_count(&status, element, &count);
  trial.expect(count == 3, count == kAsked / kElement ? "full count" : "wrong count");
  trial.expect(std::equal(data.begin(), data.end(), static_cast<unsigned char*>(memory)),
               "wrong data");
  trial.close(file);
  MPI_Type_free(&element);
  ::munmap(memory, kAsked);
}

// A header by one view, the body by another that begins where the shared pointer is.
void displacement_current(Trial& trial) {
  MPI_File file = trial.open(MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  const unsigned char letter = pattern_byte(trial.rank, 0);
  const std::vector<unsigned char> body = pattern(trial.rank, 8);
  trial.expect_success(CALL(MPI_File_write_ordered(file, &letter, 1, MPI_BYTE, MPI_STATUS_IGNORE)),
                       "write_ordered");
  for (int round = 0; round < 2; ++round) {
    trial.expect_success(CALL(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_DOUBLE,
                                                MPI_DOUBLE, "native", MPI_INFO_NULL)),
                         "set_view");
    trial.expect_success(
        CALL(MPI_File_write_ordered(file, body.data(), 1, MPI_DOUBLE, MPI_STATUS_IGNORE)),
        "write_ordered");
  }
  trial.close(file);
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  std::vector<unsigned char> expected;
  for (int rank = 0; rank < trial.size; ++rank) expected.push_back(pattern_byte(rank, 0));
  for (int round = 0; round < 2; ++round) {
    for (int rank = 0; rank < trial.size; ++rank) {
      const std::vector<unsigned char> theirs = pattern(rank, 8);
      expected.insert(expected.end(), theirs.begin(), theirs.end());
    }
  }
  trial.expect(content(trial.path()) == expected, "data in the wrong places");
}

constexpr Case kCases[] = {
    {"neighbours", 4, Ground::standard, "14.3",
     "MPI_File_write_all of pieces leaves the bytes between them alone (512 B in 4 KiB, 128 MiB)",
     neighbours, false, 4},
    {"memory-backwards", 1, Ground::standard, "14.4.1",
     "a read into a type whose pieces lie backwards in memory fills them in the type's order",
     backwards},
    {"view-empty-blocks", 2, Ground::standard, "14.3",
     "blocks of no length in a filetype change nothing", empty_blocks},
    {"view-overlapping", 1, Ground::standard, "14.3",
     "the pieces of a view may overlap where the file is only read", overlapping_view},
    {"view-current-place", 2, Ground::standard, "14.3",
     "MPI_DISPLACEMENT_CURRENT begins a view where the shared pointer of a sequential file is",
     displacement_current},
    {"short-read-3-gib", 1, Ground::standard, "14.4.1",
     "a read of 3 GiB where the file ends soon returns what is there", huge_read},
};

}  // namespace

std::span<const Case> data_cases() {
  return kCases;
}

}  // namespace headrace::bench::promises
