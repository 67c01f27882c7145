#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <functional>
#include <string>
#include <utility>

#include "posix/stand_ins.h"
#include "unit/descriptor_buffer_fixture.h"

/// Signal handlers that interrupt a buffer's calls.
namespace headrace::posix {
namespace {

TEST_F(Buffer, AHandlerWritesBehindWhatItInterrupts) {
  EXPECT_EQ(write("held"), 4);
  const iovec part{const_cast<char*>("handler"), 7};
  EXPECT_EQ(buffer_.write_from_handler(nullptr, {&part, 1}), 7);
  EXPECT_EQ(content(), "heldhandler");
  EXPECT_EQ(write("on"), 2);
  EXPECT_EQ(buffer_.flush(), 0);
  EXPECT_EQ(content(), "heldhandleron");
}

TEST_F(Buffer, AHandlersBytesStayOverOlderOnes) {
  EXPECT_EQ(write("0123456789"), 10);
  EXPECT_EQ(buffer_.seek(2, SEEK_SET), 2);
  const iovec part{const_cast<char*>("ab"), 2};
  EXPECT_EQ(buffer_.write_from_handler(nullptr, {&part, 1}), 2);
  EXPECT_EQ(buffer_.flush(), 0);
  EXPECT_EQ(content(), "01ab456789");
}

TEST_F(Blocks, AHandlerWritesAllOfThem) {
  const off64_t far = 2 * kSize;
  EXPECT_EQ(write("near"), 4);
  EXPECT_EQ(write("far", &far), 3);
  EXPECT_EQ(buffer_.write_held(), 0);
  EXPECT_EQ(content(), "near" + std::string(2 * kSize - 4, '\0') + "far");
}

/// Does what a signal's handler would that interrupts the next write to the kernel, just before it
/// or behind it. That write may be a short one.
class Interrupted : public Blocks {
 protected:
  enum class When { before, after };

  void SetUp() override {
    Blocks::SetUp();
    plain_ = real;
    real.pwrite64 = [](int file, const void* data, size_t bytes, off64_t at) -> ssize_t {
      return interrupt(bytes, [&](size_t some) { return plain_.pwrite64(file, data, some, at); });
    };
    real.pwritev64 = [](int file, const iovec* parts, int count, off64_t at) -> ssize_t {
      return interrupt(parts->iov_len, [&](size_t some) {
        const iovec part{parts->iov_base, std::min(some, parts->iov_len)};
        return plain_.pwritev64(file, count == 1 ? &part : parts, count, at);
      });
    };
  }
  void TearDown() override {
    real = plain_;
    Blocks::TearDown();
  }
  void interrupt_next(When when, std::function<void()> handler, size_t most = kSize) {
    when_ = when;
    most_ = most;
    handler_ = std::move(handler);
    is_next_ = true;
  }
  void write_by_handler(const std::string& text, off64_t at) {
    const iovec part{const_cast<char*>(text.data()), text.size()};
    EXPECT_EQ(buffer_.write_from_handler(&at, {&part, 1}), std::ssize(text));
  }

 private:
  template <class Write>
  static ssize_t interrupt(size_t bytes, Write write) {
    if (!std::exchange(is_next_, false)) return write(bytes);
    if (when_ == When::before) std::exchange(handler_, nullptr)();
    const ssize_t done = write(std::min(bytes, most_));
    if (when_ == When::after) std::exchange(handler_, nullptr)();
    return done;
  }

  static inline Functions plain_{};
  static inline std::function<void()> handler_;
  static inline When when_ = When::before;
  static inline size_t most_ = 0;
  static inline bool is_next_ = false;
};

TEST_F(Interrupted, WritesLeaveAHandlersBytesOverThem) {
  for (const When when : {When::before, When::after}) {
    for (const size_t most : {size_t{4}, size_t{kSize}}) {
      ASSERT_EQ(::ftruncate(file_, 0), 0);
      const off64_t begin = 0, behind = 10, far = kSize;
      EXPECT_EQ(write("0123456789", &begin), 10);
      EXPECT_EQ(write("far", &far), 3);
      interrupt_next(when, [this] { write_by_handler("abcd", 2); }, most);
      EXPECT_EQ(buffer_.flush(), 0);
      EXPECT_EQ(write("next", &behind), 4);
      EXPECT_EQ(buffer_.flush(), 0);
      EXPECT_EQ(content().substr(0, 14), "01abcd6789next");
      EXPECT_EQ(content().substr(14), std::string(kSize - 14, '\0') + "far");
    }
  }
}

/// Of which one interrupts the other.
TEST_F(Interrupted, WritesLeaveTheBytesOfTwoHandlers) {
  EXPECT_EQ(write("0123456789"), 10);
  interrupt_next(When::before, [this] {
    interrupt_next(When::before, [this] { write_by_handler("cd", 4); });
    write_by_handler("ab", 2);
  });
  EXPECT_EQ(buffer_.flush(), 0);
  EXPECT_EQ(content(), "01abcd6789");
}

TEST_F(Interrupted, WritesDoNotUndoWhatAHandlerCutOff) {
  EXPECT_EQ(write("0123456789"), 10);
  interrupt_next(When::before, [this] {
    EXPECT_EQ(buffer_.write_held(), 0);
    EXPECT_EQ(content(), "0123456789");
    ASSERT_EQ(::ftruncate(file_, 3), 0);
  });
  EXPECT_EQ(buffer_.flush(), 0);
  EXPECT_EQ(content(), "012");
}

/// It has written nothing then, and says so.
TEST_F(Interrupted, WritesGoOnIfAHandlerFailed) {
  const rlimit limit{4, RLIM_INFINITY}, none{RLIM_INFINITY, RLIM_INFINITY};
  std::signal(SIGXFSZ, SIG_IGN);
  EXPECT_EQ(write("0123456789"), 10);
  interrupt_next(When::before, [&] {
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    const off64_t at = 2;
    const iovec part{const_cast<char*>("ab"), 2};
    EXPECT_EQ(buffer_.write_from_handler(&at, {&part, 1}), -EFBIG);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  });
  EXPECT_EQ(buffer_.flush(), 0);
  EXPECT_EQ(content(), "0123456789");
}

}  // namespace
}  // namespace headrace::posix
