#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <map>
#include <thread>

#include "profile/sample_ring.h"
#include "profile/sample_store.h"
#include "profile/sampled_thread.h"
#include "record/change_log.h"
#include "record/node_tables.h"
#include "unit/made_images.h"
#include "unit/packed_sections.h"
#include "unit/private_folder.h"

namespace headrace::profile {
namespace {

using record::Image;
using record::MadeImage;
using record::SamplesRow;
using record::SamplingRow;
using record::Table;

/// An address in this program, one byte behind an instruction.
std::uintptr_t address(int offset) {
  return reinterpret_cast<std::uintptr_t>(&address) + static_cast<std::uintptr_t>(offset);
}

class SampleStoreTest : public ::testing::Test {
 protected:
  /// The tables that are made of the image as it is.
  void gather() {
    std::vector<Image> images;
    images.push_back(std::move(Image::read(made_.image->path()).value()));
    tables_ = record::unpack(record::make_node_record(images, 0, {}).sections);
  }
  record::PrivateFolder folder_;
  MadeImage made_{folder_.path, "job", 0, 1};
  std::map<Table, record::UnpackedTable> tables_;
};

TEST_F(SampleStoreTest, KeepsSamplesByThreadPathAndRegion) {
  made_.thread->begin_region(5, "solve", MadeImage::kBeginTicks, 1);
  const std::uint32_t region = made_.thread->region();
  SampleStore store(*made_.image);
  const auto first = store.add_thread("one", record::SampleSource::timer, 10);
  const auto second = store.add_thread("a name that is too long", record::SampleSource::perf, 10);
  const std::array inner = {address(1), address(2), address(3)};
  const std::array outer = {address(2), address(3)};
  for (int i = 0; i < 3; ++i) store.add(first, 0, inner, 10);
  store.add(first, region, inner, 20);
  store.add(second, 0, outer, 10);
  gather();
  ASSERT_EQ(tables_[Table::sampling].rows, 2U);
  const auto thread = tables_[Table::sampling].row<SamplingRow>(0);
  EXPECT_EQ(thread.samples, 4);
  EXPECT_EQ(thread.time, 50);
  EXPECT_EQ(thread.caller, -1);
  ASSERT_EQ(tables_[Table::samples].rows, 3U);
  const auto row = tables_[Table::samples].row<SamplesRow>(0);
  EXPECT_EQ(row.samples, 3);
  EXPECT_EQ(row.time, 30);
  EXPECT_EQ(row.region, 0);
  EXPECT_EQ(tables_[Table::samples].row<SamplesRow>(1).region, 1);
  // Three frames, which the two paths share.
  EXPECT_EQ(tables_[Table::paths].rows, 3U);
}

TEST_F(SampleStoreTest, CountsWhatFindsNoRoom) {
  SampleStore store(*made_.image);
  const auto thread = store.add_thread("one", record::SampleSource::timer, 10);
  constexpr int kSamples = 300'000;
  for (int i = 0; i < kSamples; ++i) {
    const std::array path = {address(1 + i % 150'000), address(7)};
    store.add(thread, 0, path, 1);
  }
  gather();
  EXPECT_EQ(tables_[Table::sampling].row<SamplingRow>(0).samples, kSamples);
  EXPECT_EQ(tables_[Table::sampling].row<SamplingRow>(0).time, kSamples);
}

TEST_F(SampleStoreTest, CountsOnWhenAddressesAreForgotten) {
  SampleStore store(*made_.image);
  const auto thread = store.add_thread("one", record::SampleSource::timer, 10);
  const std::array path = {address(1)};
  store.add(thread, 0, path, 10);
  store.forget_addresses();
  store.add(thread, 0, path, 10);
  store.add(thread, 0, path, 10);
  gather();
  std::int64_t samples = 0;
  for (std::size_t i = 0; i < tables_[Table::samples].rows; ++i) {
    samples += tables_[Table::samples].row<SamplesRow>(i).samples;
  }
  EXPECT_EQ(samples, 3);
}

TEST(SampleRing, CopiesWhatIsMappedOfAStackThatMayGo) {
  constexpr std::size_t kPage = 4096;
  auto* const memory = static_cast<std::byte*>(
      ::mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory) + 64;
  SampleRing ring;
  ring.add({}, begin, begin + 3 * kPage, true);
  ::munmap(memory + 2 * kPage, 2 * kPage);
  ring.add({}, begin, begin + 3 * kPage, true);
  StackCopy copy;
  PythonSample python;
  ASSERT_NE(ring.first(copy, python), nullptr);
  EXPECT_EQ(copy.bytes.size(), 3 * kPage);
  ring.drop();
  ASSERT_NE(ring.first(copy, python), nullptr);
  EXPECT_GE(copy.bytes.size(), kPage - 64);
  EXPECT_LE(copy.bytes.size(), 2 * kPage - 64);
  ::munmap(memory, 2 * kPage);
}

TEST(SampleRing, HandsSamplesOverInOrder) {
  SampleRing ring;
  ASSERT_TRUE(ring.has_memory());
  constexpr int kSamples = 20'000;
  std::array<std::uintptr_t, 64> stack{};
  for (std::size_t i = 0; i < stack.size(); ++i) stack[i] = i;
  const auto begin = reinterpret_cast<std::uintptr_t>(stack.data());
  int lost = 0;
  std::thread writer([&] {
    for (int i = 0; i < kSamples; ++i) {
      RawSample sample{};
      sample.time = i;
      const std::size_t words = static_cast<std::size_t>(i) % stack.size();
      PythonSample python;
      python.count = static_cast<std::size_t>(i) % 3;
      for (std::size_t k = 0; k < python.count; ++k) python.frames[k] = {words, k};
      ring.add(sample, begin, begin + words * sizeof stack[0], false, &python);
    }
  });
  std::int64_t last = -1;
  int taken = 0;
  bool is_over = false;
  while (!is_over) {
    is_over = last == kSamples - 1 || taken + ring.lost() == kSamples;
    StackCopy copy;
    PythonSample python;
    while (const RawSample* const sample = ring.first(copy, python)) {
      EXPECT_GT(sample->time, last);
      last = sample->time;
      const std::size_t words = static_cast<std::size_t>(last) % stack.size();
      EXPECT_EQ(copy.bytes.size(), words * sizeof stack[0]);
      ASSERT_EQ(python.count, static_cast<std::size_t>(last) % 3);
      if (python.count == 2) {
        EXPECT_EQ(python.frames[1], (PythonFrame{words, 1}));
      }
      if (words > 0) {
        EXPECT_EQ(copy.word(begin + (words - 1) * sizeof stack[0]), words - 1);
      }
      ring.drop();
      ++taken;
    }
  }
  writer.join();
  lost = static_cast<int>(ring.lost());
  EXPECT_EQ(taken + lost, kSamples);
  EXPECT_GT(taken, 0);
}

TEST(SampleRing, CountsWhatItLoses) {
  SampleRing ring;
  std::array<std::uintptr_t, 1024> stack{};
  const auto begin = reinterpret_cast<std::uintptr_t>(stack.data());
  bool is_half_full = false;
  for (int i = 0; i < 100; ++i) {
    is_half_full = ring.add({}, begin, begin + sizeof stack);
  }
  EXPECT_TRUE(is_half_full);
  EXPECT_GT(ring.lost(), 0);
  ring.clear();
  EXPECT_FALSE(ring.add({}, begin, begin + sizeof stack));
  EXPECT_EQ(ring.lost(), 0);
}

TEST(ChangeLog, KnowsWhatWasWhen) {
  record::ChangeLog<4> log;
  EXPECT_EQ(log.at(100), 0U);
  log.add(10, 1);
  log.add(20, 2);
  EXPECT_EQ(log.at(9), 0U);
  EXPECT_EQ(log.at(10), 1U);
  EXPECT_EQ(log.at(25), 2U);
  for (std::uint32_t i = 3; i < 9; ++i) log.add(i * 10, i);
  EXPECT_EQ(log.at(1000), 8U);
  EXPECT_EQ(log.at(10), std::nullopt);
}

}  // namespace
}  // namespace headrace::profile
