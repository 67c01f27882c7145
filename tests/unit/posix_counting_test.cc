#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "posix/descriptors.h"
#include "posix/stand_ins.h"
#include "record/image_file.h"
#include "record/record_switch.h"
#include "record/recorder.h"
#include "unit/private_folder.h"

namespace headrace::posix {
namespace {

using record::AccessCounts;
using record::AccessLayer;

/// The recorder of this program, and a directory for the files of tests.
class Recording : public ::testing::Environment {
 public:
  void SetUp() override {
    folder_ = std::make_unique<record::PrivateFolder>();
    setenv("HEADRACE_RECORD_DIRECTORY", folder_->path.c_str(), 1);
    setenv("HEADRACE_RECORD_FILES", "1", 1);
    functions();
    ASSERT_TRUE(prepare_descriptors());
    record::RecorderStart start;
    start.rank_count = 1;
    ASSERT_FALSE(record::start_recorder(start));
    ASSERT_NE(record::access_table(), nullptr);
  }
  void TearDown() override {
    record::stop_recorder();
    record::image()->remove();
    folder_.reset();
  }
  std::string path(const std::string& name) const { return folder_->path + "/" + name; }

 private:
  std::unique_ptr<record::PrivateFolder> folder_;
};

Recording& recording() {
  static auto* const only =
      static_cast<Recording*>(::testing::AddGlobalTestEnvironment(new Recording));
  return *only;
}
[[maybe_unused]] const Recording& registered = recording();

AccessCounts& counts_of(const std::string& name, AccessLayer layer = AccessLayer::posix) {
  return record::access_table()->find_or_add(layer, {name}).item->counts;
}

std::int64_t calls(const record::DirectionCounts& counts) {
  return std::accumulate(counts.bins.begin(), counts.bins.end(), std::int64_t{0});
}

TEST(Counting, KnowsWhereCallsWithoutAnOffsetBegin) {
  const std::string name = recording().path("sequence");
  const std::array<char, 10000> data{};
  const int file = counted::open(name.c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_GE(file, 0);
  EXPECT_EQ(counted::write(file, data.data(), 100), 100);
  EXPECT_EQ(counted::write(file, data.data(), 101), 101);
  EXPECT_EQ(counted::pwrite(file, data.data(), 4096, 8192), 4096);
  EXPECT_EQ(counted::pwrite(file, data.data(), 10, 0), 10);
  EXPECT_EQ(counted::lseek(file, 50, SEEK_SET), 50);
  std::array<char, 10000> into{};
  EXPECT_EQ(counted::read(file, into.data(), 50), 50);
  EXPECT_EQ(counted::read(file, into.data(), 50), 50);
  EXPECT_EQ(counted::pread(file, into.data(), 50, 500), 50);
  EXPECT_EQ(counted::close(file), 0);
  const AccessCounts& counts = counts_of(name);
  EXPECT_EQ(counts.opens, 1);
  EXPECT_EQ(counts.seeks, 1);
  EXPECT_EQ(counts.writes.bytes, 100 + 101 + 4096 + 10);
  EXPECT_EQ(counts.writes.bins[0], 2);
  EXPECT_EQ(counts.writes.bins[1], 1);
  EXPECT_EQ(counts.writes.bins[2], 1);
  EXPECT_EQ(counts.writes.sequential, 2);
  EXPECT_EQ(counts.writes.consecutive, 1);
  EXPECT_EQ(counts.writes.furthest, 8192 + 4096);
  EXPECT_EQ(counts.reads.bytes, 150);
  EXPECT_EQ(counts.reads.sequential, 2);
  EXPECT_EQ(counts.reads.consecutive, 1);
  EXPECT_EQ(counts.reads.furthest, 550);
  EXPECT_EQ(counts.unaligned, 1 + 3);  // all but three writes
  EXPECT_GT(counts.block, 0);
  EXPECT_GT(counts.reads.ticks, 0);
}

TEST(Counting, FollowsCopiesOfDescriptors) {
  const std::string name = recording().path("copies");
  const int file = counted::open(name.c_str(), O_CREAT | O_WRONLY, 0600);
  const int copy = counted::dup(file);
  const int high = counted::fcntl(file, F_DUPFD_CLOEXEC, 100);
  ASSERT_GE(high, 100);
  EXPECT_EQ(counted::close(file), 0);
  EXPECT_EQ(counted::write(copy, "ab", 2), 2);
  EXPECT_EQ(counted::write(high, "abc", 3), 3);
  EXPECT_EQ(counted::dup2(copy, high), high);
  EXPECT_EQ(counted::write(high, "abcd", 4), 4);
  EXPECT_EQ(counts_of(name).writes.bytes, 9);
  EXPECT_EQ(counts_of(name).writes.consecutive, 2);
  EXPECT_EQ(counted::close(copy), 0);
  EXPECT_EQ(counted::close(high), 0);
}

TEST(Counting, ForgetsWhatARangeCloses) {
  const std::string one = recording().path("range-1");
  const std::string other = recording().path("range-2");
  const int file = counted::open(one.c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_EQ(counted::close_range(static_cast<unsigned>(file), static_cast<unsigned>(file), 0), 0);
  // Unseen, as the C library and the MPI library open files.
  const int again = ::open(other.c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_EQ(again, file);
  EXPECT_EQ(counted::write(again, "x", 1), 1);
  EXPECT_EQ(counts_of(one).writes.bytes, 0);
  EXPECT_EQ(counts_of(other).writes.bytes, 1);
  EXPECT_EQ(counts_of(other).opens, 0);
  counted::close(again);
}

TEST(Counting, NoticesAfterAWhileThatADescriptorLeadsElsewhere) {
  const std::string one = recording().path("behind-1");
  const std::string other = recording().path("behind-2");
  const int file = counted::open(one.c_str(), O_CREAT | O_WRONLY, 0600);
  EXPECT_EQ(counted::write(file, "x", 1), 1);
  ::close(file);
  ASSERT_EQ(::open(other.c_str(), O_CREAT | O_WRONLY, 0600), file);
  usleep(50'000);
  EXPECT_EQ(counted::write(file, "xyz", 3), 3);
  EXPECT_EQ(counts_of(one).writes.bytes, 1);
  EXPECT_EQ(counts_of(other).writes.bytes, 3);
  EXPECT_EQ(counts_of(other).writes.furthest, 3);
  counted::close(file);
}

TEST(Counting, TakesWhatIsNoFileTogether) {
  const std::int64_t before = record::image()->header().other.written;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(counted::write(ends[1], "12345", 5), 5);
  EXPECT_EQ(record::image()->header().other.written - before, 5);
  counted::close(ends[0]);
  counted::close(ends[1]);
}

TEST(Counting, OfAStreamHasWhatNoCallTells) {
  const std::string name = recording().path("stream");
  FILE* const file = counted::fopen(name.c_str(), "w+");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(counted::fprintf(file, "%s\n", "four"), 5);
  for (int i = 0; i < 100; ++i) std::putc('x', file);
  EXPECT_EQ(counted::fseek(file, 0, SEEK_SET), 0);
  std::array<char, 100> line{};
  EXPECT_NE(counted::fgets(line.data(), line.size(), file), nullptr);
  EXPECT_EQ(std::getc(file), 'x');
  EXPECT_EQ(counted::fclose(file), 0);
  const AccessCounts& counts = counts_of(name, AccessLayer::stdio);
  EXPECT_EQ(counts.writes.bytes, 105);
  EXPECT_EQ(calls(counts.writes), 1);
  EXPECT_EQ(counts.reads.bytes, 6);
  EXPECT_EQ(calls(counts.reads), 1);
  EXPECT_EQ(counts.seeks, 1);
}

TEST(Counting, OfAStreamWhoseDescriptorIsUsedDirectly) {
  const std::string name = recording().path("both");
  FILE* const file = counted::fopen(name.c_str(), "w");
  EXPECT_EQ(counted::write(fileno(file), "123", 3), 3);
  EXPECT_EQ(counted::fclose(file), 0);
  EXPECT_EQ(counts_of(name, AccessLayer::stdio).writes.bytes, 0);
  EXPECT_EQ(counts_of(name).writes.bytes, 3);
}

TEST(Counting, IsNotForChildren) {
  const std::string name = recording().path("child");
  const int file = counted::open(name.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  const pid_t child = fork();
  if (child == 0) {
    counted::write(file, "child", 5);
    counted::close(file);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(counted::write(file, "us", 2), 2);
  EXPECT_EQ(counts_of(name).writes.bytes, 2);
  EXPECT_EQ(counts_of(name).writes.furthest, 2);
  counted::close(file);
}

TEST(Counting, StandsStillWhileRecordingIsOff) {
  const std::string name = recording().path("off");
  const int file = counted::open(name.c_str(), O_CREAT | O_WRONLY, 0600);
  record::switch_recording(false);
  EXPECT_EQ(counted::write(file, "12345", 5), 5);
  record::switch_recording(true);
  EXPECT_EQ(counted::write(file, "67", 2), 2);
  EXPECT_EQ(counts_of(name).writes.bytes, 2);
  EXPECT_EQ(counts_of(name).writes.furthest, 7);
  counted::close(file);
}

TEST(Counting, OfThreadsLosesNothing) {
  const std::string name = recording().path("threads");
  const int file = counted::open(name.c_str(), O_CREAT | O_WRONLY, 0600);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([=] {
      for (int call = 0; call < 500; ++call) {
        counted::pwrite(file, "1234", 4, 4 * call);
        const std::string own = name + std::to_string(i % 2);
        counted::close(counted::open(own.c_str(), O_CREAT | O_WRONLY, 0600));
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(counts_of(name).writes.bytes, 4 * 500 * 4);
  EXPECT_EQ(calls(counts_of(name).writes), 4 * 500);
  EXPECT_EQ(counts_of(name + "0").opens + counts_of(name + "1").opens, 4 * 500);
  counted::close(file);
}

TEST(Counting, LeavesErrorsAlone) {
  errno = 0;
  EXPECT_EQ(counted::close(-1), -1);
  EXPECT_EQ(errno, EBADF);
  int (*volatile const open_any)(const char*, int, ...) = &counted::open;
  EXPECT_EQ(open_any(nullptr, O_RDONLY), -1);
  EXPECT_EQ(errno, EFAULT);
  errno = 4711;
  const int file = counted::open(recording().path("errno").c_str(), O_CREAT | O_WRONLY, 0600);
  EXPECT_EQ(counted::write(file, "1", 1), 1);
  EXPECT_EQ(counted::close(file), 0);
  EXPECT_EQ(errno, 4711);
  EXPECT_EQ(counted::close(file), -1);
}

TEST(Counting, OfAStreamIsExactBeforeItIsClosed) {
  const std::string name = recording().path("buffered");
  FILE* const file = counted::fopen(name.c_str(), "w");
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(counted::fwrite("12345678", 8, 1, file), 1u);
  record::before_end.load()();
  const AccessCounts& counts = counts_of(name, AccessLayer::stdio);
  EXPECT_EQ(counts.writes.bytes, 8000);
  EXPECT_EQ(counts.writes.bins[0], 1000);
  EXPECT_EQ(counted::fputs("123", file), 1);
  EXPECT_EQ(counted::fclose(file), 0);
  EXPECT_EQ(counts.writes.bytes, 8003);
  EXPECT_EQ(calls(counts.writes), 1001);
}

TEST(Counting, KnowsWhatIsNoFileAtEachOpen) {
  const std::string name = recording().path("fifo");
  ASSERT_EQ(mkfifo(name.c_str(), 0600), 0);
  const std::int64_t before = record::image()->header().other.written;
  for (int i = 0; i < 3; ++i) {
    const int fifo = counted::open(name.c_str(), O_RDWR);
    ASSERT_EQ(counted::write(fifo, "12", 2), 2);
    counted::close(fifo);
  }
  EXPECT_EQ(record::image()->header().other.written - before, 6);
  EXPECT_EQ(counts_of(name).opens, 0);
}

TEST(Counting, OfFilesWithoutANameIsByDirectory) {
  const std::string folder = recording().path("unnamed");
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  for (int i = 0; i < 2; ++i) {
    const int file = counted::open(folder.c_str(), O_TMPFILE | O_RDWR, 0600);
    if (file < 0) GTEST_SKIP() << "the file system has no O_TMPFILE";
    EXPECT_EQ(counted::write(file, "12", 2), 2);
    counted::close(file);
  }
  EXPECT_EQ(counts_of(folder + "/(unnamed file)").opens, 2);
  EXPECT_EQ(counts_of(folder + "/(unnamed file)").writes.bytes, 4);
}

TEST(Counting, LeavesBadOffsetsToTheKernel) {
  const std::string name = recording().path("offsets");
  const int file = counted::open(name.c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_EQ(counted::write(file, "1234567890", 10), 10);
  EXPECT_EQ(counted::sendfile64(file, file, reinterpret_cast<off64_t*>(16), 1), -1);
  EXPECT_EQ(errno, EFAULT);
  off64_t offset = 4;
  const int copy = counted::open((name + "-copy").c_str(), O_CREAT | O_RDWR, 0600);
  EXPECT_EQ(counted::sendfile64(copy, file, &offset, 3), 3);
  EXPECT_EQ(counts_of(name).reads.furthest, 7);
  EXPECT_EQ(counts_of(name + "-copy").writes.bytes, 3);
  counted::close(copy);
  counted::close(file);
}

TEST(Counting, IsNotForChildrenThatNoHandlerSees) {
  const std::string name = recording().path("raw-child");
  const int file = counted::open(name.c_str(), O_CREAT | O_WRONLY, 0600);
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) {
    counted::write(file, "child", 5);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(counts_of(name).writes.bytes, 0);
  counted::close(file);
}

TEST(Counting, FollowsAsManyFilesAsAProcessMayHave) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  constexpr rlim_t kFiles = 17'000;  // more than fit in 14 bits
  if (limit.rlim_max < kFiles + 100) GTEST_SKIP() << "this process may not have so many files";
  limit.rlim_cur = kFiles + 100;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  const std::string name = recording().path("descriptors");
  std::vector<int> files;
  for (rlim_t i = 0; i < kFiles; ++i) {
    files.push_back(counted::open(name.c_str(), O_CREAT | O_WRONLY, 0600));
    ASSERT_GE(files.back(), 0);
  }
  EXPECT_EQ(counted::pwrite(files.back(), "1234", 4, 0), 4);
  EXPECT_EQ(counts_of(name).opens, static_cast<std::int64_t>(kFiles));
  EXPECT_EQ(counts_of(name).writes.bytes, 4);
  for (const int file : files) counted::close(file);
}

TEST(Counting, NeedsLittleStackInHandlers) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own frames are larger";
#endif
  // The kernel's own frame is as large as the processor's state.
  const auto size = static_cast<std::size_t>(sysconf(_SC_MINSIGSTKSZ)) + 2560;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t room = (size + page - 1) / page * page;
  auto* const memory = static_cast<char*>(
      ::mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(memory, page, PROT_NONE), 0);
  std::memset(memory + page, 'x', room - size);  // below the stack: nobody may write there
  stack_t stack{memory + page + (room - size), 0, size};
  ASSERT_EQ(sigaltstack(&stack, nullptr), 0);
  struct sigaction action{};
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = [](int) {
    const int file = counted::open("relative-name", O_CREAT | O_WRONLY, 0600);
    counted::write(file, "12", 2);
    counted::close(file);
  };
  ASSERT_EQ(chdir(recording().path("").c_str()), 0);
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  raise(SIGUSR1);
  EXPECT_EQ(counts_of(recording().path("relative-name")).writes.bytes, 2);
  for (std::size_t i = 0; i < room - size; ++i) ASSERT_EQ(memory[page + i], 'x') << i;
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
}

/// Runs last: it fills the table.
TEST(CountingTooMuch, FoldsByDirectory) {
  const std::string folder = recording().path("many");
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  constexpr int kFiles = 3000;
  for (int i = 0; i < kFiles; ++i) {
    const std::string name = folder + "/" + std::to_string(i);
    const int file = counted::open(name.c_str(), O_CREAT | O_WRONLY, 0600);
    ASSERT_EQ(counted::write(file, "12", 2), 2);
    counted::close(file);
  }
  std::int64_t opens = counts_of(folder + "/*").opens;
  std::int64_t bytes = counts_of(folder + "/*").writes.bytes;
  EXPECT_GT(opens, kFiles - 1100);
  for (int i = 0; i < kFiles; ++i) {
    const auto found =
        record::access_table()->find_or_add(AccessLayer::posix, {folder + "/" + std::to_string(i)});
    if (found.is_group) break;
    opens += found.item->counts.opens;
    bytes += found.item->counts.writes.bytes;
  }
  EXPECT_EQ(opens, kFiles);
  EXPECT_EQ(bytes, 2 * kFiles);
}

}  // namespace
}  // namespace headrace::posix
