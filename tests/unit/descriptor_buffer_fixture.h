#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "posix/descriptor_buffer.h"
#include "posix/stand_ins.h"
#include "unit/private_folder.h"

namespace headrace::posix {

constexpr std::int64_t kSize = 4096;

/// A buffer of one block, of a new file.
class Buffer : public ::testing::Test {
 protected:
  void SetUp() override {
    functions();
    name_ = folder_.path + "/file";
    open(O_CREAT | O_RDWR);
  }
  void TearDown() override {
    buffer_.end();
    ::close(file_);
  }
  void open(int flags) {
    file_ = ::open(name_.c_str(), flags, 0600);
    FileIdentity identity;
    ASSERT_EQ(find_identity(file_, identity), 0);
    buffer_.start(file_, identity, (flags & O_ACCMODE) != O_RDONLY, shape_);
  }
  std::int64_t write(const std::string& text, const off64_t* offset = nullptr) {
    const iovec part{const_cast<char*>(text.data()), text.size()};
    return buffer_.write(offset, {&part, 1});
  }
  std::string read(std::size_t bytes, const off64_t* offset = nullptr) {
    std::string into(bytes, '?');
    const std::int64_t done =
        buffer_.read(offset, reinterpret_cast<std::byte*>(into.data()), bytes);
    return done < 0 ? "failed" : into.substr(0, static_cast<std::size_t>(done));
  }
  /// As others see it.
  std::string content() const {
    std::vector<char> data(40000);
    const int other = ::open(name_.c_str(), O_RDONLY);
    const ssize_t bytes = ::read(other, data.data(), data.size());
    ::close(other);
    return {data.data(), static_cast<std::size_t>(bytes)};
  }

  record::PrivateFolder folder_;
  std::string name_;
  int file_ = -1;
  BufferShape shape_{kSize};
  DescriptorBuffer buffer_;
};

/// One of three blocks.
class Blocks : public Buffer {
 protected:
  Blocks() { shape_.count = 3; }
};

}  // namespace headrace::posix
