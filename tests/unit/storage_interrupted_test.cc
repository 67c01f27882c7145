#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/store.h"

// The loop of the POSIX store over system calls that move less than they were asked to, are
// interrupted, or are to be tried again. The calls themselves are replaced below.

namespace {

/// What becomes of the next calls, in turn: at most so many bytes, or (negative) an errno. Those
/// that follow do as the system does.
std::vector<ssize_t> script;
std::size_t calls = 0;
int pauses = 0;
bool repeats_last = false;

ssize_t next_outcome(ssize_t len) {
  const std::size_t call = calls++;
  if (script.empty() || (call >= script.size() && !repeats_last)) return len;
  const ssize_t outcome = script[std::min(call, script.size() - 1)];
  return outcome < 0 ? outcome : std::min(outcome, len);
}

/// One call for each piece, so that those with several can be cut anywhere.
template <class Move>
ssize_t move(const iovec* list, int count, Move move_piece) {
  ssize_t len = 0;
  for (int i = 0; i < count; ++i) len += static_cast<ssize_t>(list[i].iov_len);
  const ssize_t most = next_outcome(len);
  if (most < 0) {
    errno = static_cast<int>(-most);
    return -1;
  }
  ssize_t moved = 0;
  for (int i = 0; i < count && moved < most; ++i) {
    const auto room = static_cast<std::size_t>(most - moved);
    const ssize_t part = move_piece(list[i].iov_base, std::min(list[i].iov_len, room), moved);
    if (part <= 0) return moved > 0 ? moved : part;
    moved += part;
  }
  return moved;
}

}  // namespace

extern "C" {

ssize_t pwrite(int descriptor, const void* from, std::size_t len, off_t at) {
  const iovec one{const_cast<void*>(from), len};
  return move(&one, 1, [&](void* piece, std::size_t bytes, ssize_t done) {
    return syscall(SYS_pwrite64, descriptor, piece, bytes, at + done);
  });
}
ssize_t pread(int descriptor, void* to, std::size_t len, off_t at) {
  const iovec one{to, len};
  return move(&one, 1, [&](void* piece, std::size_t bytes, ssize_t done) {
    return syscall(SYS_pread64, descriptor, piece, bytes, at + done);
  });
}
ssize_t pwritev(int descriptor, const iovec* list, int count, off_t at) {
  return move(list, count, [&](void* piece, std::size_t bytes, ssize_t done) {
    return syscall(SYS_pwrite64, descriptor, piece, bytes, at + done);
  });
}
ssize_t preadv(int descriptor, const iovec* list, int count, off_t at) {
  return move(list, count, [&](void* piece, std::size_t bytes, ssize_t done) {
    return syscall(SYS_pread64, descriptor, piece, bytes, at + done);
  });
}
int nanosleep(const timespec*, timespec*) {
  ++pauses;
  return 0;
}

}  // extern "C"

namespace headrace::storage {
namespace {

class Interrupted : public testing::Test {
 protected:
  Interrupted() {
    std::string name = (std::filesystem::temp_directory_path() / "headrace-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    store_ =
        std::move(posix_file_system().open(folder_ + "/file", {true, true, true, false}).value());
    for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = static_cast<char>('a' + i % 23);
    does({});
  }
  ~Interrupted() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  static void does(std::vector<ssize_t> outcomes, bool repeats = false) {
    script = std::move(outcomes);
    repeats_last = repeats;
    calls = 0;
    pauses = 0;
  }
  /// In one piece of memory, or in several.
  static std::vector<iovec> pieces_of(std::string& text, std::size_t count) {
    std::vector<iovec> pieces;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t begin = text.size() * i / count;
      const std::size_t end = text.size() * (i + 1) / count;
      pieces.push_back({text.data() + begin, end - begin});
    }
    return pieces;
  }
  std::string content() {
    does({});
    std::string text(data_.size(), '?');
    const iovec all{text.data(), text.size()};
    text.resize(static_cast<std::size_t>(store_->read(0, {&all, 1}).bytes));
    return text;
  }

  std::string folder_;
  std::unique_ptr<Store> store_;
  std::string data_ = std::string(1'000, ' ');
};

TEST_F(Interrupted, GoesOnUntilAllIsMoved) {
  const std::vector<ssize_t> hard{-EINTR, 1, -EAGAIN, 333, -EAGAIN, -EINTR, 2, 7, -EAGAIN, 100};
  for (const std::size_t count : {1, 3, 17}) {
    does(hard);
    const Transferred written = store_->write(0, pieces_of(data_, count));
    EXPECT_EQ(written.bytes, 1'000);
    EXPECT_EQ(written.system_error, 0);
    EXPECT_EQ(static_cast<std::size_t>(written.repeats), calls - 1);
    EXPECT_EQ(content(), data_);
    std::string back(data_.size(), '?');
    does(hard);
    const Transferred read = store_->read(0, pieces_of(back, count));
    EXPECT_EQ(read.bytes, 1'000);
    EXPECT_EQ(read.system_error, 0);
    EXPECT_EQ(static_cast<std::size_t>(read.repeats), calls - 1);
    EXPECT_EQ(back, data_);
  }
}

TEST_F(Interrupted, GivesUpWhereItShouldTryAgainForEver) {
  for (const std::size_t count : {1, 3}) {
    does({400, 400, -EAGAIN}, true);
    const Transferred written = store_->write(0, pieces_of(data_, count));
    EXPECT_EQ(written.system_error, EAGAIN);
    EXPECT_GE(written.bytes, 400);
    EXPECT_LT(written.bytes, 1'000);
    EXPECT_EQ(content().substr(0, static_cast<std::size_t>(written.bytes)),
              data_.substr(0, static_cast<std::size_t>(written.bytes)));
    // It pauses between tries, and they are few.
    does({-EAGAIN}, true);
    EXPECT_EQ(store_->write(0, pieces_of(data_, count)).bytes, 0);
    EXPECT_LE(calls, 110U);
    EXPECT_GE(pauses, static_cast<int>(calls) - 3);
  }
}

/// Also what came first, which is not written again: that takes room again where files are copied
/// on write.
TEST_F(Interrupted, CountsWhatCameBeforeAnError) {
  for (const int error : {EIO, ENOSPC, EDQUOT, EFBIG, ESTALE, EACCES}) {
    does({250, 250, -error}, true);
    const Transferred written = store_->write(0, pieces_of(data_, 1));
    EXPECT_EQ(written.system_error, error);
    EXPECT_EQ(written.bytes, 500);
    EXPECT_EQ(calls, 3U);
    EXPECT_EQ(content().substr(0, static_cast<std::size_t>(written.bytes)),
              data_.substr(0, static_cast<std::size_t>(written.bytes)));
  }
}

/// The next call might succeed: NFS tells an error of earlier writes once.
TEST_F(Interrupted, TellsAnErrorThatComesOnce) {
  for (const std::size_t count : {1, 3}) {
    for (const int error : {EIO, ENOSPC, EDQUOT, EFBIG, ESTALE}) {
      does({-error});
      const Transferred written = store_->write(0, pieces_of(data_, count));
      EXPECT_EQ(written.system_error, error);
      EXPECT_EQ(written.bytes, 0);
      EXPECT_EQ(calls, 1U);
      does({-error});
      std::string back(data_.size(), '?');
      const Transferred read = store_->read(0, pieces_of(back, count));
      EXPECT_EQ(read.system_error, error);
      EXPECT_EQ(calls, 1U);
    }
  }
}

/// A read that only finds the file's end is no repetition.
TEST_F(Interrupted, CountsRepetitions) {
  ASSERT_EQ(store_->write(0, pieces_of(data_, 1)).repeats, 0);
  std::string back(2 * data_.size(), '?');
  for (const std::size_t count : {1, 3}) {
    does({});
    const Transferred read = store_->read(0, pieces_of(back, count));
    EXPECT_EQ(read.bytes, 1'000);
    EXPECT_EQ(calls, 2U);
    EXPECT_EQ(read.repeats, 0);
  }
}

/// A write that takes nothing and says nothing would be tried for ever.
TEST_F(Interrupted, TakesAWriteOfNothingForAnError) {
  does({300, 300, 0}, true);
  const Transferred written = store_->write(0, pieces_of(data_, 1));
  EXPECT_EQ(written.system_error, EIO);
  EXPECT_LT(written.bytes, 1'000);
  does({300, 0}, true);
  std::string back(data_.size(), '?');
  const Transferred read = store_->read(0, pieces_of(back, 1));
  EXPECT_EQ(read.system_error, 0);
  EXPECT_LE(read.bytes, 300);
}

}  // namespace
}  // namespace headrace::storage
