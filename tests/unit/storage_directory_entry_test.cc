#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/directory_entry.h"

namespace headrace::storage {
namespace {

namespace fs = std::filesystem;

/// Tests run in a directory of their own, "work", with a file "file" in it.
class DirectoryEntryTest : public testing::Test {
 protected:
  DirectoryEntryTest() : before_(fs::current_path()) {
    std::string name = (fs::temp_directory_path() / "headrace-XXXXXX").string();
    top_ = mkdtemp(name.data());
    fs::create_directory(top_ / "work");
    fs::current_path(top_ / "work");
    put("file", "opened");
  }
  ~DirectoryEntryTest() override {
    fs::current_path(before_);
    fs::remove_all(top_);
  }

  static void put(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  static std::string text_of(const fs::path& path) {
    std::string text;
    std::ifstream(path) >> text;
    return text;
  }

  /// A file that is open, as its store has it.
  struct Opened {
    explicit Opened(const std::string& path)
        : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
      EXPECT_EQ(entry.take(path, descriptor), 0);
    }
    ~Opened() { close(); }
    void close() {
      if (descriptor < 0) return;
      entry.hold(descriptor);
      ::close(std::exchange(descriptor, -1));
    }
    Error remove() {
      close();
      return entry.remove("the file");
    }

    DirectoryEntry entry;
    int descriptor;
  };

  /// The name is another file's.
  static void expect_other(const Error& error) {
    EXPECT_EQ(error.error_class, ErrorClass::no_such_file);
    EXPECT_NE(error.message.find("another file's"), std::string::npos) << error.message;
  }

  /// What is held lies apart.
  static void close_all_held() {
    for (int number = 512; number < 700; ++number) ::close(number);
  }

  fs::path before_;
  fs::path top_;
};

TEST_F(DirectoryEntryTest, deletes_the_file) {
  Opened file("file");
  EXPECT_FALSE(file.remove());
  EXPECT_FALSE(fs::exists("file"));
  EXPECT_EQ(file.remove().error_class, ErrorClass::no_such_file);
}

TEST_F(DirectoryEntryTest, means_the_same_after_chdir) {
  put("../file", "other");
  Opened file("file");
  fs::current_path("..");
  EXPECT_FALSE(file.remove());
  EXPECT_FALSE(fs::exists("work/file"));
  EXPECT_EQ(text_of("file"), "other");
}

TEST_F(DirectoryEntryTest, follows_its_directory) {
  Opened file((top_ / "work" / "file").string());
  fs::rename(top_ / "work", top_ / "moved");
  fs::create_directory(top_ / "work");
  put(top_ / "work" / "file", "other");
  EXPECT_FALSE(file.remove());
  EXPECT_FALSE(fs::exists(top_ / "moved" / "file"));
  EXPECT_EQ(text_of(top_ / "work" / "file"), "other");
}

TEST_F(DirectoryEntryTest, leaves_what_was_renamed) {
  Opened file("./file");
  fs::rename("file", "kept");
  EXPECT_EQ(file.remove().error_class, ErrorClass::no_such_file);
  EXPECT_EQ(text_of("kept"), "opened");
}

TEST_F(DirectoryEntryTest, leaves_another_file_of_the_name) {
  Opened file("file");
  put("next", "other");
  fs::rename("next", "file");
  expect_other(file.remove());
  EXPECT_EQ(text_of("file"), "other");
}

// Most file systems give the number of a file that is gone to the next one.
TEST_F(DirectoryEntryTest, knows_a_new_file_from_the_one_that_is_gone) {
  for (int i = 0; i < 20; ++i) {
    put("file", "opened");
    Opened file("file");
    if (i % 2 == 0) file.close();
    fs::remove("file");
    put("file", "other");
    expect_other(file.remove());
    EXPECT_EQ(text_of("file"), "other");
  }
}

TEST_F(DirectoryEntryTest, deletes_a_link_and_not_its_target) {
  fs::create_symlink("file", "link");
  Opened file("link");
  EXPECT_FALSE(file.remove());
  EXPECT_FALSE(fs::is_symlink("link"));
  EXPECT_EQ(text_of("file"), "opened");
}

TEST_F(DirectoryEntryTest, leaves_another_link_of_the_name) {
  fs::create_symlink("file", "link");
  Opened file("link");
  fs::rename("link", "kept");
  fs::create_symlink("file", "link");
  expect_other(file.remove());
  EXPECT_TRUE(fs::is_symlink("link"));
}

TEST_F(DirectoryEntryTest, leaves_what_the_name_led_to_elsewhere) {
  put("other", "other");
  const int descriptor = ::open("other", O_RDONLY | O_CLOEXEC);
  DirectoryEntry file;
  EXPECT_EQ(file.take("file", descriptor), 0);
  fs::create_symlink("file", "link");
  DirectoryEntry link;
  EXPECT_EQ(link.take("link", descriptor), 0);
  file.hold(descriptor);
  link.hold(descriptor);
  ::close(descriptor);
  expect_other(file.remove("the file"));
  expect_other(link.remove("the link"));
  EXPECT_EQ(text_of("link"), "opened");
}

TEST_F(DirectoryEntryTest, needs_no_right_to_read_the_directory) {
  fs::permissions(top_ / "work", fs::perms::owner_write | fs::perms::owner_exec);
  Opened file("file");
  EXPECT_FALSE(file.remove());
  fs::permissions(top_ / "work", fs::perms::owner_all);
  EXPECT_FALSE(fs::exists("file"));
}

TEST_F(DirectoryEntryTest, leaves_the_file_where_its_numbers_are_lost) {
  Opened file("file");
  close_all_held();
  EXPECT_EQ(file.remove().system_error, EBADF);
  EXPECT_TRUE(fs::exists("file"));
}

// Programs have thousands of files open.
TEST_F(DirectoryEntryTest, holds_a_directory_once) {
  std::vector<std::unique_ptr<Opened>> files;
  for (int i = 0; i < 20; ++i) {
    put(std::to_string(i), "opened");
    files.push_back(std::make_unique<Opened>(std::to_string(i)));
  }
  int held = 0;
  for (int number = 512; number < 700; ++number) held += fcntl(number, F_GETFD) >= 0 ? 1 : 0;
  EXPECT_EQ(held, 1);
  for (const auto& file : files) EXPECT_FALSE(file->remove());
  files.clear();
  for (int number = 512; number < 700; ++number) EXPECT_LT(fcntl(number, F_GETFD), 0);
}

TEST_F(DirectoryEntryTest, says_why_there_is_none) {
  DirectoryEntry entry;
  EXPECT_EQ(entry.take("no/file", STDIN_FILENO), ENOENT);
  EXPECT_EQ(entry.remove("the file").system_error, EBADF);
}

}  // namespace
}  // namespace headrace::storage
