#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "record/node_tables.h"
#include "record/thread_timeline.h"
#include "unit/made_images.h"
#include "unit/packed_sections.h"
#include "unit/private_folder.h"

namespace headrace::record {
namespace {

constexpr std::int64_t kOfRow = TimelineMemory::kEventsAtATime;
constexpr std::uint64_t kTwoParts = 2 * 16384;

class Timeline : public ::testing::Test {
 protected:
  MadeImage& rank(int number, int of = 1) {
    made_.push_back(std::make_unique<MadeImage>(folder_.path, "job", number, of));
    return *made_.back();
  }
  /// Of a further thread.
  std::unique_ptr<ThreadTimeline> thread(MadeImage& made, TimelineMemory& memory,
                                         std::uint32_t number) {
    return ThreadTimeline::make(*made.image, memory, number);
  }

  /// What a record has of what the images hold now.
  void gather() {
    std::vector<Image> images;
    for (const auto& each : made_) {
      images.push_back(std::move(Image::read(each->image->path()).value()));
    }
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
  std::vector<TimelinesRow> threads() { return rows<TimelinesRow>(Table::timelines); }
  std::string text(std::int64_t place) {
    return place < 0 ? "" : tables_[Table::texts].columns[0].texts.at(place);
  }

  static Event call(std::int64_t begin, std::int64_t ticks, std::uint32_t procedure = 0) {
    return {begin, ticks, procedure, kNone, 0, kNoPeer, 0, 0};
  }

  PrivateFolder folder_;
  std::vector<std::unique_ptr<MadeImage>> made_;
  std::map<Table, UnpackedTable> tables_;
};

constexpr std::int64_t kStart = std::int64_t{1'800'000'000} * 1'000'000'000;

TEST_F(Timeline, IsInTheRecordByBeginWithOuterEventsFirst) {
  MadeImage& made = rank(0);
  TimelineMemory memory(*made.image, kTwoParts);
  const auto line = thread(made, memory, 0);
  const std::uint32_t free = made.procedure("MPI_Comm_free", CallClass::other);
  const std::uint32_t send = made.procedure("MPI_Send", CallClass::point_to_point);
  const std::uint32_t world = made.world(1);
  const std::uint32_t region = made.note(NoteKind::region, {"7", "solve"}) + 1;
  line->follow_regions(1, region, MadeImage::kBeginTicks + 100, true);
  // The outer one begins first and returns last.
  Event& inner = line->add({MadeImage::kBeginTicks + 200, 100, send, world, region, kNoPeer, 0, 0});
  inner.sent += 8;
  inner.received += 4;
  inner.peer = 0;
  line->add(call(MadeImage::kBeginTicks + 200, 300, free));
  line->follow_regions(0, 0, MadeImage::kBeginTicks + 1000, true);
  made.finish();
  gather();
  const std::vector<EventsRow> found = events();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].kind, 1);
  EXPECT_EQ(found[0].region, 1);
  EXPECT_EQ(found[0].begin, kStart + 50) << "two ticks are a ns";
  EXPECT_EQ(found[0].time, 450);
  EXPECT_EQ(found[0].procedure, -1);
  EXPECT_EQ(text(found[1].procedure), "MPI_Comm_free");
  EXPECT_EQ(found[1].begin, kStart + 100);
  EXPECT_EQ(found[1].time, 150);
  EXPECT_EQ(found[1].communicator, -1);
  EXPECT_EQ(found[1].peer, -1);
  EXPECT_EQ(text(found[2].procedure), "MPI_Send");
  EXPECT_EQ(found[2].time, 50);
  EXPECT_EQ(found[2].region, 1);
  EXPECT_EQ(found[2].communicator, 0);
  EXPECT_EQ(found[2].sent, 8);
  EXPECT_EQ(found[2].received, 4);
  EXPECT_EQ(found[2].peer, 0);
  ASSERT_EQ(threads().size(), 1U);
  EXPECT_EQ(threads()[0].events, 3);
  EXPECT_EQ(threads()[0].lost, 0);
  EXPECT_EQ(threads()[0].since, kStart) << "nothing is missing";
}

TEST_F(Timeline, KeepsTheLatestEventsAndSaysSinceWhen) {
  MadeImage& made = rank(0);
  TimelineMemory memory(*made.image, kTwoParts);
  const auto line = thread(made, memory, 0);
  const std::int64_t count = 5 * kOfRow + 17;
  for (std::int64_t i = 0; i < count; ++i) line->add(call(MadeImage::kBeginTicks + 4 * i, 2));
  made.finish();
  gather();
  const std::vector<EventsRow> found = events();
  const std::int64_t kept = kOfRow + 17;
  ASSERT_EQ(found.size(), kept);
  for (std::int64_t i = 0; i < kept; ++i) {
    EXPECT_EQ(found[static_cast<std::size_t>(i)].begin, kStart + 2 * (count - kept + i));
  }
  EXPECT_EQ(threads()[0].events, kept);
  EXPECT_EQ(threads()[0].lost, count - kept);
  EXPECT_EQ(threads()[0].since, kStart + 2 * (count - kept) + 1);
}

TEST_F(Timeline, GivesThePartThatWasFilledFirstToWhoNeedsOne) {
  MadeImage& made = rank(0);
  TimelineMemory memory(*made.image, 3 * 16384);
  const auto busy = thread(made, memory, 0);
  const auto late = thread(made, memory, 1);
  for (std::int64_t i = 0; i < 3 * kOfRow; ++i) busy->add(call(MadeImage::kBeginTicks + i, 1));
  late->add(call(MadeImage::kBeginTicks + 3 * kOfRow, 1));
  made.finish();
  gather();
  ASSERT_EQ(threads().size(), 2U);
  EXPECT_EQ(threads()[0].events, 2 * kOfRow);
  EXPECT_EQ(threads()[0].lost, kOfRow);
  EXPECT_EQ(threads()[1].events, 1);
  EXPECT_EQ(threads()[1].lost, 0);
  EXPECT_EQ(events().back().thread, 1);
}

TEST_F(Timeline, CountsWhatAThreadWithoutAPartLoses) {
  MadeImage& made = rank(0);
  TimelineMemory memory(*made.image, 1);  // one part
  const auto first = thread(made, memory, 0);
  const auto second = thread(made, memory, 1);
  first->add(call(MadeImage::kBeginTicks, 1));
  for (int i = 0; i < 10; ++i) {
    second->add(call(MadeImage::kBeginTicks + 10 + i, 1)).sent += 1;
  }
  made.finish();
  gather();
  ASSERT_EQ(threads().size(), 2U);
  EXPECT_EQ(threads()[0].events, 1);
  EXPECT_EQ(threads()[1].events, 0);
  EXPECT_EQ(threads()[1].lost, 10);
  EXPECT_EQ(events().size(), 1U);
}

TEST_F(Timeline, HasWhatGoesOnWhenTheProcessIsKilled) {
  MadeImage& made = rank(0);
  TimelineMemory memory(*made.image, kTwoParts);
  const auto line = thread(made, memory, 0);
  const std::uint32_t free = made.procedure("MPI_Comm_free", CallClass::other);
  const std::uint32_t wait = made.procedure("MPI_Wait", CallClass::point_to_point);
  const std::uint32_t region = made.note(NoteKind::region, {"1", "solve"}) + 1;
  line->follow_regions(1, region, MadeImage::kBeginTicks + 2, true);
  const char frames[3] = {};  // stacks grow downwards
  line->enter(free, MadeImage::kBeginTicks + 4, frames + 2);
  line->enter(wait, MadeImage::kBeginTicks + 6, frames + 1);
  gather();
  ASSERT_EQ(events().size(), 3U);
  EXPECT_EQ(events()[0].kind, 3);
  EXPECT_EQ(events()[1].kind, 2);
  EXPECT_EQ(text(events()[1].procedure), "MPI_Comm_free");
  EXPECT_EQ(text(events()[2].procedure), "MPI_Wait");
  EXPECT_EQ(events()[2].time, 0);
  EXPECT_EQ(threads()[0].events, 0) << "none has ended";

  line->leave(frames + 1);
  line->leave(frames + 2);
  line->follow_regions(0, 0, MadeImage::kBeginTicks + 10, false);
  gather();
  EXPECT_EQ(events().size(), 0U);
}

TEST_F(Timeline, ForgetsCallsThatAnExceptionOrAJumpHasLeft) {
  MadeImage& made = rank(0);
  TimelineMemory memory(*made.image, kTwoParts);
  const auto line = thread(made, memory, 0);
  const std::uint32_t send = made.procedure("MPI_Send", CallClass::point_to_point);
  const char frames[64] = {};
  for (int i = 0; i < 3; ++i) line->enter(send, 1, frames + 10 - i);  // nobody leaves
  line->enter(send, 2, frames + 20);
  gather();
  ASSERT_EQ(events().size(), 1U);
  line->enter(send, 3, frames + 5);
  line->leave(frames + 20);  // the inner one was left by a jump
  gather();
  EXPECT_EQ(events().size(), 0U);
  for (int i = 0; i < 50; ++i) line->enter(send, 4, frames + 50 - i);
  for (int i = 50; i-- > 0;) line->leave(frames + 50 - i);
  gather();
  EXPECT_EQ(events().size(), 0U) << "deeper than there is room for";
}

TEST_F(Timeline, OfRanksOfANodeHasOneClock) {
  MadeImage& first = rank(0, 2);
  MadeImage& second = rank(1, 2);
  second.image->header().start += 999'999;  // read late: its ticks tell when it began
  second.image->header().begin_ticks += 400;
  TimelineMemory memory_of_first(*first.image, kTwoParts);
  TimelineMemory memory_of_second(*second.image, kTwoParts);
  thread(first, memory_of_first, 0)->add(call(5000, 10));
  thread(second, memory_of_second, 0)->add(call(5000, 10));
  first.finish();
  second.finish();
  gather();
  ASSERT_EQ(events().size(), 2U);
  EXPECT_EQ(events()[0].begin, events()[1].begin);
  EXPECT_EQ(events()[0].begin, kStart + 2000);
}

TEST_F(Timeline, OfThreadsAtOnceLosesNothingUncounted) {
  MadeImage& made = rank(0);
  TimelineMemory memory(*made.image, 8 * 16384);
  constexpr int kThreads = 4;
  const std::int64_t each = 20 * kOfRow;
  std::vector<std::unique_ptr<ThreadTimeline>> lines;
  for (std::uint32_t i = 0; i < kThreads; ++i) lines.push_back(thread(made, memory, i));
  std::vector<std::thread> running;
  for (auto& line : lines) {
    running.emplace_back([&line, each] {
      for (std::int64_t i = 0; i < each; ++i)
        line->add(call(MadeImage::kBeginTicks + i, 1)).sent = i;
    });
  }
  for (std::thread& one : running) one.join();
  made.finish();
  gather();
  ASSERT_EQ(threads().size(), kThreads);
  for (const TimelinesRow& row : threads()) {
    EXPECT_EQ(row.events + row.lost, each);
    std::vector<std::int64_t> sent;
    for (const EventsRow& event : events()) {
      if (event.thread == row.thread) sent.push_back(event.sent);
    }
    ASSERT_EQ(static_cast<std::int64_t>(sent.size()), row.events);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      EXPECT_EQ(sent[i], row.lost + static_cast<std::int64_t>(i)) << "the latest, each once";
    }
  }
}

TEST_F(Timeline, OfADamagedImageHasNoNumberThatCannotBe) {
  MadeImage& made = rank(0);
  TimelineMemory memory(*made.image, kTwoParts);
  const auto line = thread(made, memory, 0);
  line->add({INT64_MAX, INT64_MAX, 12345, 12345, 12345, INT32_MIN, INT64_MIN, -5});
  line->add({INT64_MIN, 5, 0, 0, 0, 0, 0, 0});
  line->add({5, -5, 0, 0, 0, 0, 0, 0});
  line->add({INT64_MAX - 5, 5, 12345, 12345, 12345, INT32_MIN, INT64_MIN, -5});
  line->follow_regions(1, 99, INT64_MIN, true);
  line->enter(4321, INT64_MAX, this);
  made.finish();
  gather();
  ASSERT_EQ(events().size(), 3U);
  for (const EventsRow& row : events()) {
    EXPECT_GE(row.begin, 0);
    EXPECT_GE(row.time, 0);
    EXPECT_GE(row.sent, 0);
    EXPECT_GE(row.received, 0);
    EXPECT_GE(row.peer, -2);
    EXPECT_EQ(row.procedure, -1);
    EXPECT_EQ(row.region, 0);
    EXPECT_EQ(row.communicator, -1);
  }
  EXPECT_EQ(threads()[0].lost, 3);
}

}  // namespace
}  // namespace headrace::record
