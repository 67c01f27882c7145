#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <thread>

#include "profile/counter_choice.h"
#include "profile/counter_sum.h"
#include "profile/event_counts.h"
#include "record/node_tables.h"
#include "unit/made_images.h"
#include "unit/packed_sections.h"
#include "unit/private_folder.h"

namespace headrace::profile {
namespace {

using record::CountersRow;
using record::Image;
using record::MadeImage;
using record::Table;

constexpr std::size_t kPages = 5000;
constexpr std::int64_t kMargin = 200;  // of threads' stacks and the test itself

const ChosenEvent* find(const std::vector<ChosenEvent>& events, std::string_view name) {
  const auto found = std::find_if(events.begin(), events.end(),
                                  [&](const ChosenEvent& one) { return one.event.name == name; });
  return found == events.end() ? nullptr : &*found;
}

double value_of(const CounterReading& one) {
  return static_cast<double>(one.count) * static_cast<double>(one.enabled) /
         static_cast<double>(one.running);
}

TEST(CounterSum, ScalesEachThreadByItsOwnTimes) {
  // One had its counter always, one for a tenth of its time: 1,000 and 10,000 in truth.
  const CounterReading threads[] = {{1000, 100, 100}, {1000, 100, 10}};
  const CounterReading sum = sum_of(threads);
  EXPECT_EQ(sum.enabled, 200u);
  EXPECT_EQ(sum.running, 110u);
  EXPECT_NEAR(value_of(sum), 11000, 1);
}

TEST(CounterSum, TakesAThreadWithoutACounterForOneAsTheOthers) {
  const CounterReading threads[] = {{1000, 100, 50}, {0, 100, 0}, {0, 0, 0}};
  EXPECT_NEAR(value_of(sum_of(threads)), 4000, 4);
  const CounterReading never[] = {{0, 100, 0}};
  EXPECT_EQ(sum_of(never).running, 0u);
  EXPECT_EQ(sum_of(never).count, 0u);
}

TEST(CounterSum, AddsWholeCounts) {
  const std::uint64_t large = std::uint64_t{1} << 60;
  const CounterReading threads[] = {{large + 1, 7, 7}, {large + 2, 9, 9}};
  EXPECT_EQ(sum_of(threads).count, 2 * large + 3);
}

TEST(CounterChoice, HasAGroupOfEvents) {
  const auto events = events_of(CountersSetting::software, std::nullopt);
  ASSERT_NE(find(events, "minor_faults"), nullptr);
  EXPECT_EQ(find(events, "minor_faults")->event.source, EventSource::software);
  EXPECT_TRUE(find(events, "migrations")->event.in_kernel);
  EXPECT_EQ(find(events, "cycles"), nullptr);
  EXPECT_TRUE(events_of(CountersSetting::off, std::nullopt).empty());
}

TEST(CounterChoice, HasCodesOfTheProcessor) {
  const auto intel = events_of(CountersSetting::summary, Processor{"GenuineIntel", 6, 0x4F});
  ASSERT_NE(find(intel, "flops_4"), nullptr);
  EXPECT_EQ(find(intel, "flops_4")->event.config, 0x18C7U);
  EXPECT_EQ(find(intel, "flops"), nullptr);
  const auto amd = events_of(CountersSetting::summary, Processor{"AuthenticAMD", 0x17, 0x31});
  ASSERT_NE(find(amd, "flops_all"), nullptr);
  EXPECT_EQ(find(amd, "flops_all")->event.config, 0x0F03U);
}

TEST(CounterChoice, SaysWhatHasNoCode) {
  for (const auto& processor :
       {std::optional<Processor>(), std::optional(Processor{"GenuineIntel", 6, 0x97}),
        std::optional(Processor{"AuthenticAMD", 6, 0x4F})}) {
    const auto events = events_of(CountersSetting::summary, processor);
    ASSERT_NE(find(events, "flops"), nullptr);
    EXPECT_FALSE(find(events, "flops")->is_known);
    EXPECT_TRUE(find(events, "cycles")->is_known);
  }
}

TEST(CounterChoice, SaysWhyAnEventIsNotCounted) {
  EXPECT_NE(why_not_counted(ENOENT, false, 2).find("virtual machines"), std::string::npos);
  EXPECT_NE(why_not_counted(EACCES, false, 3).find("is 3, your administrator can set it to 2"),
            std::string::npos);
  EXPECT_NE(why_not_counted(EACCES, true, 2).find("is 2, your administrator can set it to 1"),
            std::string::npos);
  EXPECT_NE(why_not_counted(EPERM, false, 2).find("container"), std::string::npos);
  EXPECT_EQ(why_not_counted(EPERM, false, std::nullopt), "no permission");
  EXPECT_FALSE(why_not_counted(EIO, false, 2).empty());
}

void touch_pages() {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory =
      ::mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ::madvise(memory, kPages * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < kPages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  ::munmap(memory, kPages * page);
}

class EventCountsTest : public ::testing::Test {
 protected:
  /// The rows of the record that is made of the image as it is, by event.
  std::map<std::string, CountersRow> rows() {
    std::vector<Image> images;
    images.push_back(std::move(Image::read(made_.image->path()).value()));
    auto tables = record::unpack(record::make_node_record(images, 0, {}).sections);
    const std::vector<std::string>& texts = tables[Table::texts].columns[0].texts;
    std::map<std::string, CountersRow> found;
    for (std::size_t i = 0; i < tables[Table::counters].rows; ++i) {
      const auto row = tables[Table::counters].row<CountersRow>(i);
      found[texts.at(static_cast<std::size_t>(row.event))] = row;
    }
    return found;
  }
  record::PrivateFolder folder_;
  MadeImage made_{folder_.path, "job", 0, 1};
};

TEST_F(EventCountsTest, CountsThisThreadAndLaterOnes) {
  EventCounts counts(*made_.image, events_of(CountersSetting::software, std::nullopt));
  const pid_t threads[] = {static_cast<pid_t>(::syscall(SYS_gettid))};
  counts.begin(threads);
  counts.update();
  const auto before = rows();
  if (before.at("minor_faults").error != 0) GTEST_SKIP() << "the kernel allows no perf_event";
  touch_pages();
  std::thread(&touch_pages).join();
  counts.update();
  const auto after = rows();
  const std::int64_t faults = after.at("minor_faults").count - before.at("minor_faults").count;
  EXPECT_GE(faults, static_cast<std::int64_t>(2 * kPages));
  EXPECT_LT(faults, static_cast<std::int64_t>(2 * kPages) + kMargin);
  EXPECT_GT(after.at("task_clock").count, before.at("task_clock").count);
  EXPECT_EQ(after.at("task_clock").running, after.at("task_clock").enabled);
  EXPECT_GT(after.at("task_clock").wall, before.at("task_clock").wall);
}

TEST_F(EventCountsTest, NamesWhatIsRefused) {
  EventCounts counts(*made_.image, {{{"nothing", EventSource::software, 9999}, true},
                                    {{"unknown", EventSource::raw, 0}, false}});
  const pid_t threads[] = {static_cast<pid_t>(::syscall(SYS_gettid))};
  counts.begin(threads);
  counts.update();
  const auto found = rows();
  EXPECT_NE(found.at("nothing").error, 0);
  EXPECT_EQ(found.at("unknown").error, ENODATA);
  EXPECT_EQ(found.at("unknown").wall, 0);
  EXPECT_NE(counts.refusals().find("unknown: the event has no known code"), std::string::npos);
  EXPECT_NE(counts.refusals().find("nothing: "), std::string::npos);
}

}  // namespace
}  // namespace headrace::profile
