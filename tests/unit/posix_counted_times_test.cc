#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <numeric>
#include <string>

#include "posix/descriptors.h"
#include "posix/stand_ins.h"
#include "record/heat_map.h"
#include "record/image_file.h"
#include "record/recorder.h"
#include "unit/private_folder.h"

namespace headrace::posix {
namespace {

std::int64_t written_by_time() {
  const record::HeatTable& own = record::heat_tables.load()->layers[1];
  return std::accumulate(
      own.places.begin(), own.places.end(), std::int64_t{0},
      [](std::int64_t sum, const record::HeatBin& bin) { return sum + bin.written; });
}

TEST(CountedTimes, HaveTheBytesOfAllCalls) {
  const record::PrivateFolder folder;
  setenv("HEADRACE_RECORD_DIRECTORY", folder.path.c_str(), 1);
  setenv("HEADRACE_RECORD_FILES", "1", 1);
  functions();
  ASSERT_TRUE(prepare_descriptors());
  record::RecorderStart start;
  start.rank_count = 1;
  ASSERT_FALSE(record::start_recorder(start));
  ASSERT_NE(record::heat_tables.load(), nullptr);

  const std::array<char, 10000> data{};
  const int file = counted::open((folder.path + "/file").c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_GE(file, 0);
  EXPECT_EQ(counted::write(file, data.data(), 10000), 10000);
  EXPECT_EQ(counted::pwrite(file, data.data(), 7, 3), 7);
  counted::close(file);
  EXPECT_EQ(written_by_time(), 10007);

  std::FILE* const stream = counted::fopen((folder.path + "/stream").c_str(), "w");
  ASSERT_NE(stream, nullptr);
  for (int i = 0; i < 200; ++i) EXPECT_GE(counted::fputs("twelve bytes", stream), 0);
  EXPECT_EQ(counted::fwrite(data.data(), 1, 5000, stream), 5000U);
  std::fputc('x', stream);  // nobody sees it, but the stream's position tells
  EXPECT_EQ(counted::fclose(stream), 0);
  EXPECT_EQ(written_by_time(), 10007 + 200 * 12 + 5000 + 1);
  record::stop_recorder();
  record::image()->remove();
}

}  // namespace
}  // namespace headrace::posix
