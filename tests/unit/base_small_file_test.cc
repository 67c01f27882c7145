#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/small_file.h"

namespace headrace {
namespace {

class SmallFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "small_file_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string file_of(std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += std::to_string(text.size()) + ",";
    text.resize(bytes);
    const std::string path = directory_ + "/file";
    std::ofstream(path) << text;
    written_ = text;
    return path;
  }

  std::string directory_;
  std::string written_;
};

TEST_F(SmallFile, IsReadWhateverItsLength) {
  for (const std::size_t bytes : {0u, 1u, 4095u, 4096u, 4097u, 8192u, 100'000u}) {
    const std::string path = file_of(bytes);
    EXPECT_EQ(read_small_file(path.c_str(), 1 << 20), written_) << bytes;
    std::string text = "old";
    EXPECT_TRUE(read_text_file(path, 1 << 20, text));
    EXPECT_EQ(text, written_) << bytes;
  }
}

TEST_F(SmallFile, IsReadUpToTheBound) {
  const std::string path = file_of(10'000);
  for (const std::size_t most : {0u, 1u, 4096u, 5000u, 9999u, 10'000u, 10'001u}) {
    EXPECT_EQ(read_small_file(path.c_str(), most), written_.substr(0, most)) << most;
  }
}

TEST_F(SmallFile, OfProcIsReadToItsEnd) {
  // A read() of it gives a page at most, whatever is asked for.
  std::ifstream stream("/proc/self/status");
  const std::string lines((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_EQ(read_small_file("/proc/self/maps", 16 << 20).back(), '\n');
  EXPECT_GT(read_small_file("/proc/self/maps", 16 << 20).size(), 4096u);
  EXPECT_NE(read_small_file("/proc/self/maps", 16 << 20).find("[stack]"), std::string::npos);
  EXPECT_EQ(read_small_file("/proc/self/status", 5), lines.substr(0, 5));
}

TEST_F(SmallFile, ThatCannotBeReadSaysWhy) {
  std::string text = "old";
  EXPECT_EQ(read_small_file((directory_ + "/none").c_str(), 100), "");
  EXPECT_FALSE(read_text_file(directory_ + "/none", 100, text));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(read_text_file(directory_, 100, text));
  EXPECT_EQ(errno, EISDIR);
}

TEST_F(SmallFile, LeavesNoDescriptorOpen) {
  const auto next = [] {
    const int number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(number);
    return number;
  };
  const int before = next();
  std::string text;
  (void)read_small_file(file_of(5000).c_str(), 100'000);
  (void)read_text_file(directory_, 100, text);
  (void)read_text_file(directory_ + "/file", 100, text);
  EXPECT_EQ(next(), before);
}

}  // namespace
}  // namespace headrace
