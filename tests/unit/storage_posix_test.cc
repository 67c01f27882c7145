#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include "storage/store.h"

namespace headrace::storage {
namespace {

class PosixStoreTest : public testing::Test {
 protected:
  PosixStoreTest() {
    std::string name = (std::filesystem::temp_directory_path() / "headrace-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/file";
  }
  ~PosixStoreTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Store> open(OpenFlags flags = {true, true, true, false}) {
    auto store = posix_file_system().open(path_, flags);
    EXPECT_TRUE(store) << store.error().message;
    return std::move(store.value());
  }

  static iovec segment(std::string& text) { return {text.data(), text.size()}; }

  /// Whether `body` returns true in a process of its own, which may change what is the process's.
  static bool in_child(const std::function<bool()>& body) {
    const pid_t child = fork();
    if (child == 0) _exit(body() ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  std::string folder_;
  std::string path_;
};

TEST_F(PosixStoreTest, WritesAndReadsMoreSegmentsThanOneCallTakes) {
  const auto store = open();
  constexpr std::size_t kSegments = 5'000;  // IOV_MAX is 1,024
  std::vector<std::string> texts;
  std::vector<iovec> segments;
  ByteCount total = 0;
  for (std::size_t i = 0; i < kSegments; ++i)
    texts.emplace_back(i % 7, static_cast<char>('a' + i % 26));
  for (std::string& text : texts) {
    segments.push_back(segment(text));
    total += static_cast<ByteCount>(text.size());
  }
  EXPECT_EQ(store->write(100, segments).bytes, total);
  std::vector<std::string> back;
  std::vector<iovec> targets;
  for (const std::string& text : texts) back.emplace_back(text.size(), '?');
  for (std::string& text : back) targets.push_back(segment(text));
  const Transferred read = store->read(100, targets);
  EXPECT_EQ(read.bytes, total);
  EXPECT_EQ(read.system_error, 0);
  EXPECT_EQ(back, texts);
}

TEST_F(PosixStoreTest, ReadsUpToTheEnd) {
  const auto store = open();
  std::string text = "0123456789";
  iovec one = segment(text);
  ASSERT_EQ(store->write(0, {&one, 1}).bytes, 10);
  std::string first(6, '?');
  std::string second(6, '?');
  const iovec targets[] = {segment(first), segment(second)};
  const Transferred read = store->read(3, targets);
  EXPECT_EQ(read.bytes, 7);
  EXPECT_EQ(read.system_error, 0);
  EXPECT_EQ(first + second, "3456789?????");
  EXPECT_EQ(store->read(50, targets).bytes, 0);
}

TEST_F(PosixStoreTest, OpensTheSameFileAnewToRead) {
  const auto store = open({.write = true, .create = true});
  std::string text = "written";
  iovec one = segment(text);
  ASSERT_EQ(store->write(0, {&one, 1}).bytes, 7);
  // Whatever has its name now.
  std::filesystem::rename(path_, path_ + "-moved");
  std::ofstream(path_) << "another";
  const auto reader = store->reopen_to_read();
  ASSERT_TRUE(reader) << reader.error().message;
  std::string back(7, '?');
  one = segment(back);
  EXPECT_EQ(reader.value()->read(0, {&one, 1}).bytes, 7);
  EXPECT_EQ(back, "written");
  EXPECT_EQ(reader.value()->write(0, {&one, 1}).system_error, EBADF);
}

/// The program closed our descriptor, and has its number for another file. A lock of the program's
/// on the file lets the descriptor keep its low number, as on network file systems.
TEST_F(PosixStoreTest, WritesNothingToAFileThatHasItsNumber) {
  const int locked = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  ASSERT_EQ(fcntl(locked, F_SETLK, &lock), 0);
  const int number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(number);
  const auto store = open();
  ::close(number);
  const std::string other = folder_ + "/other";
  ASSERT_EQ(::open(other.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), number);
  std::string text = "written";
  iovec one = segment(text);
  EXPECT_EQ(store->write(0, {&one, 1}).system_error, EBADF);
  EXPECT_EQ(store->read(0, {&one, 1}).system_error, EBADF);
  EXPECT_EQ(std::filesystem::file_size(other), 0U);
  ::close(number);
  ::close(locked);
}

TEST_F(PosixStoreTest, OpensNoDeviceAnew) {
  const auto device = posix_file_system().open("/dev/null", {.write = true});
  ASSERT_TRUE(device);
  EXPECT_EQ(device.value()->reopen_to_read().error().error_class,
            ErrorClass::unsupported_operation);
}

TEST_F(PosixStoreTest, CreatesFilesWithTheModeThatTheProgramAsksFor) {
  for (const mode_t mask : {0022U, 0077U, 0U}) {
    std::filesystem::remove(path_);
    const mode_t before = umask(mask);
    const auto store = open({.write = true, .create = true});
    umask(before);
    struct stat status{};
    ASSERT_EQ(stat(path_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
  }
}

TEST_F(PosixStoreTest, ReportsTheFileSizeLimitAndLives) {
  const auto store = open();
  EXPECT_TRUE(in_child([&] {
    const rlimit limit{5'000, 5'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    std::string text(8'000, 'x');
    iovec one = segment(text);
    const Transferred written = store->write(0, {&one, 1});
    sigset_t pending;
    sigpending(&pending);
    return written.bytes == 5'000 && written.system_error == EFBIG &&
           sigismember(&pending, SIGXFSZ) == 0 && store->resize(9'000).system_error == EFBIG &&
           store->allocate(9'000, 0).system_error == EFBIG;
  }));
  EXPECT_EQ(store->size().value(), 5'000);
}

TEST_F(PosixStoreTest, LeavesTheProgramsOwnPendingSignalAlone) {
  const auto store = open();
  EXPECT_TRUE(in_child([&] {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &own, nullptr);
    raise(SIGXFSZ);
    const rlimit limit{10, 10};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    std::string text(20, 'x');
    iovec one = segment(text);
    if (store->write(0, {&one, 1}).system_error != EFBIG) return false;
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGXFSZ) == 1;
  }));
}

TEST_F(PosixStoreTest, ChangesSizes) {
  const auto store = open();
  EXPECT_FALSE(store->allocate(100'000, 0));
  EXPECT_EQ(store->size().value(), 100'000);
  EXPECT_FALSE(store->allocate(10, 0));
  EXPECT_FALSE(store->allocate(0, 0));
  EXPECT_EQ(store->size().value(), 100'000) << "allocate never shrinks";
  EXPECT_FALSE(store->resize(7));
  EXPECT_EQ(store->size().value(), 7);
  EXPECT_FALSE(store->sync());
  EXPECT_FALSE(store->close());
}

TEST_F(PosixStoreTest, AllocationIsRealSpace) {
  const auto store = open();
  ASSERT_FALSE(store->allocate(1 << 20, 0));
  struct stat status{};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, 1 << 20);
}

TEST_F(PosixStoreTest, NamesWhyItCannotOpen) {
  FileSystem& files = posix_file_system();
  const auto class_of = [&](const std::string& path, OpenFlags flags) {
    auto opened = files.open(path, flags);
    return opened ? ErrorClass::success : opened.error().error_class;
  };
  EXPECT_EQ(class_of(path_, {true, true, false, false}), ErrorClass::no_such_file);
  EXPECT_EQ(class_of(folder_ + "/no/file", {true, true, true, false}), ErrorClass::no_such_file);
  EXPECT_EQ(class_of(folder_, {true, false, false, false}), ErrorClass::bad_file);
  open();
  EXPECT_EQ(class_of(path_, {true, true, true, true}), ErrorClass::file_exists);
  EXPECT_EQ(class_of(path_ + "/below", {true, false, false, false}), ErrorClass::bad_file);
  EXPECT_EQ(class_of(std::string(5'000, 'n'), {true, false, false, false}), ErrorClass::bad_file);
  EXPECT_FALSE(remove_file(path_));
  EXPECT_EQ(remove_file(path_).error_class, ErrorClass::no_such_file);
}

TEST_F(PosixStoreTest, KeepsToPermissions) {
  open();
  ASSERT_EQ(chmod(path_.c_str(), 0400), 0);
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  EXPECT_TRUE(in_child([&] {
    // The superuser may do everything: become somebody else.
    constexpr uid_t kNobody = 65'534;
    if (getuid() == 0 && setuid(kNobody) != 0) return false;
    const auto opened = posix_file_system().open(path_, {true, true, false, false});
    return !opened && opened.error().error_class == ErrorClass::access;
  }));
}

TEST_F(PosixStoreTest, WritesOnlyWhatItIsOpenFor) {
  open();
  const auto store = open({true, false, false, false});
  std::string text = "x";
  iovec one = segment(text);
  EXPECT_EQ(store->write(0, {&one, 1}).system_error, EBADF);
}

}  // namespace
}  // namespace headrace::storage
