#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "record/access_table.h"
#include "record/file_timeline.h"
#include "record/node_tables.h"
#include "unit/made_images.h"
#include "unit/packed_sections.h"
#include "unit/private_folder.h"

namespace headrace::record {
namespace {

constexpr std::int64_t kStart = std::int64_t{1'800'000'000} * 1'000'000'000;
constexpr std::int64_t kBegin = MadeImage::kBeginTicks;
constexpr std::int64_t kPlaces = 64;
constexpr std::int64_t kPosix = 4;
constexpr std::int64_t kStdio = 5;

class FilesOfTimeline : public ::testing::Test {
 protected:
  FilesOfTimeline()
      : made_(folder_.path, "job", 0, 1),
        files_(AccessTable::make(*made_.image)),
        line_(FileTimeline::make(*made_.image, kPlaces * sizeof(FileEvent))) {}

  void add(std::int64_t begin, std::int64_t bytes, const AccessCounts& file,
           FileOperation operation = FileOperation::write, bool is_on_stream = false) {
    line_->add({kBegin + begin, 10, bytes, 3 * bytes, operation, is_on_stream}, file);
  }
  const AccessCounts& file(const char* name, AccessLayer layer = AccessLayer::posix) {
    return files_->find_or_add(layer, {name}).item->counts;
  }

  /// What a record has of what the image holds now.
  void gather() {
    std::vector<Image> images;
    images.push_back(std::move(Image::read(made_.image->path()).value()));
    tables_ = unpack(make_node_record(images, 3, {}).sections);
  }
  template <class Row>
  std::vector<Row> rows(Table table) {
    std::vector<Row> found;
    for (std::size_t i = 0; i < tables_[table].rows; ++i) {
      found.push_back(tables_[table].row<Row>(i));
    }
    return found;
  }
  std::vector<EventsRow> events() { return rows<EventsRow>(Table::events); }
  FileTimelinesRow all() { return rows<FileTimelinesRow>(Table::file_timelines).at(0); }
  std::string text(std::int64_t place) {
    return place < 0 ? "" : tables_[Table::texts].columns[0].texts.at(place);
  }

  PrivateFolder folder_;
  MadeImage made_;
  std::unique_ptr<AccessTable> files_;
  std::unique_ptr<FileTimeline> line_;
  std::map<Table, UnpackedTable> tables_;
};

TEST_F(FilesOfTimeline, AreAmongTheEventsOfTheirThread) {
  TimelineMemory memory(*made_.image, 16384);
  const auto calls = ThreadTimeline::make(*made_.image, memory, 0);
  const std::uint32_t write = made_.procedure("MPI_File_write", CallClass::io);
  const auto name = static_cast<std::int32_t>(made_.note(NoteKind::file, {"/of-mpi"}));
  calls->add({kBegin + 200, 10, write, kNone, 0, name, 8, 0});
  // Before the thread had its number: the kernel's tells which it is.
  add(100, 7, file("/a"));
  add(300, 5, file("/b", AccessLayer::stdio), FileOperation::read, true);
  made_.finish();
  gather();
  const std::vector<EventsRow> found = events();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].kind, kPosix);
  EXPECT_EQ(found[0].thread, 0);
  EXPECT_EQ(text(found[0].procedure), "write");
  EXPECT_EQ(text(found[0].file), "/a");
  EXPECT_EQ(found[0].sent, 7);
  EXPECT_EQ(found[0].received, 0);
  EXPECT_EQ(found[0].offset, 21);
  EXPECT_EQ(found[0].peer, -1);
  EXPECT_EQ(found[0].begin, kStart + 50) << "two ticks are a ns";
  EXPECT_EQ(found[0].time, 5);
  EXPECT_EQ(found[0].system_thread, ::gettid());
  EXPECT_EQ(found[1].kind, 0);
  EXPECT_EQ(text(found[1].file), "/of-mpi");
  EXPECT_EQ(found[1].peer, -1);
  EXPECT_EQ(found[2].kind, kStdio);
  EXPECT_EQ(text(found[2].procedure), "read");
  EXPECT_EQ(text(found[2].file), "/b");
  EXPECT_EQ(found[2].received, 5);
  EXPECT_EQ(rows<TimelinesRow>(Table::timelines).at(0).events, 1);
  EXPECT_EQ(all().events, 2);
  EXPECT_EQ(all().lost, 0);
  EXPECT_EQ(all().since, kStart);
}

TEST_F(FilesOfTimeline, OfThreadsWithoutMpiAreTold) {
  std::int64_t other = 0;
  std::thread([&] {
    other = ::gettid();
    add(100, 1, file("/a"));
  }).join();
  made_.finish();
  gather();
  ASSERT_EQ(events().size(), 1U);
  EXPECT_EQ(events()[0].thread, -1);
  EXPECT_EQ(events()[0].system_thread, other);
}

TEST_F(FilesOfTimeline, KeepsTheLatest) {
  const std::int64_t count = 5 * kPlaces + 17;
  for (std::int64_t i = 0; i < count; ++i) add(20 * i, i, file("/a"));
  made_.finish();
  gather();
  const std::vector<EventsRow> found = events();
  ASSERT_EQ(found.size(), kPlaces);
  for (std::int64_t i = 0; i < kPlaces; ++i) {
    EXPECT_EQ(found[static_cast<std::size_t>(i)].sent, count - kPlaces + i);
  }
  EXPECT_EQ(all().events, kPlaces);
  EXPECT_EQ(all().lost, count - kPlaces);
  EXPECT_EQ(all().since, kStart + 10 * (count - kPlaces) + 5);
}

/// Each event is whole, whichever threads write at once.
TEST_F(FilesOfTimeline, AreWholeWhereThreadsWriteAtOnce) {
  constexpr std::int64_t kEach = 20000;
  constexpr std::int64_t kThreads = 3;
  const AccessCounts& counts = file("/a");
  std::vector<std::thread> running;
  for (std::int64_t number = 0; number < kThreads; ++number) {
    running.emplace_back([&, number] {
      for (std::int64_t i = 0; i < kEach; ++i) add(2 * i, kThreads * i + number, counts);
    });
  }
  for (std::thread& one : running) one.join();
  made_.finish();
  gather();
  EXPECT_LE(events().size(), static_cast<std::size_t>(kPlaces));
  EXPECT_EQ(all().events + all().lost, kThreads * kEach);
  for (const EventsRow& row : events()) {
    EXPECT_EQ(row.offset, 3 * row.sent);
    EXPECT_EQ(row.begin, kStart + row.sent / kThreads);
  }
}

TEST_F(FilesOfTimeline, LeavesOutWhatAKilledProcessHadHalfWritten) {
  add(100, 1, file("/a"));
  add(200, 2, file("/a"));
  std::vector<Image> images;
  images.push_back(std::move(Image::read(made_.image->path()).value()));
  const std::span<const FileEvent> found = images[0].file_timeline().events;
  ASSERT_EQ(found.size(), static_cast<std::size_t>(kPlaces));
  const_cast<FileEvent&>(found[0]).turn = FileEvent::kIsWritten;
  tables_ = unpack(make_node_record(images, 3, {}).sections);
  ASSERT_EQ(events().size(), 1U);
  EXPECT_EQ(events()[0].sent, 2);
  EXPECT_EQ(all().lost, 1);
}

TEST_F(FilesOfTimeline, OfADamagedImageHaveNoNumberThatCannotBe) {
  add(100, -5, file("/a"), static_cast<FileOperation>(77));
  line_->add({-1, 5, 1, 1, FileOperation::read, false}, file("/a"));
  line_->add({INT64_MAX, 5, 1, 1, FileOperation::read, false}, file("/a"));
  std::vector<Image> images;
  images.push_back(std::move(Image::read(made_.image->path()).value()));
  auto& event = const_cast<FileEvent&>(images[0].file_timeline().events[0]);
  event.name_place = UINT64_MAX;
  event.region = 12345;
  event.system_thread = INT32_MIN;
  event.offset = INT64_MIN;
  event.operation = FileOperation::write;
  tables_ = unpack(make_node_record(images, 3, {}).sections);
  ASSERT_EQ(events().size(), 1U);
  const EventsRow row = events()[0];
  EXPECT_EQ(row.file, -1);
  EXPECT_EQ(row.region, 0);
  EXPECT_EQ(row.offset, -1);
  EXPECT_EQ(row.sent, 0);
  EXPECT_EQ(row.system_thread, 0);
}

}  // namespace
}  // namespace headrace::record
