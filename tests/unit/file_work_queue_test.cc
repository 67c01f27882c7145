#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "file/work_queue.h"
#include "unit/allocation_operators.h"

// Work of a queue, also while no memory is left.

namespace {

thread_local bool is_memory_gone = false;

}  // namespace

bool headrace::allocation::is_refused() noexcept {
  return is_memory_gone;
}
void headrace::allocation::note_taken(void*) noexcept {}
void headrace::allocation::note_given_back(void*) noexcept {}

namespace headrace::file {
namespace {

/// What the works of a test have done.
struct Record {
  std::mutex gate;  ///< works wait for it
  std::vector<int> done;
  std::atomic<std::size_t> count = 0;
};

class Numbered : public Work {
 public:
  Numbered(Record& record, int number) : record_(record), number_(number) {}
  void run(const fabric::Waiter&) override {
    {
      const std::lock_guard lock(record_.gate);
      record_.done.push_back(number_);
    }
    record_.count.fetch_add(1);
    record_.count.notify_all();
  }

 private:
  Record& record_;
  int number_;
};

/// Works numbered from 0 on, and room to tell of them.
std::vector<std::shared_ptr<Work>> make_works(Record& record, int count) {
  record.done.reserve(static_cast<std::size_t>(count));
  std::vector<std::shared_ptr<Work>> works;
  for (int i = 0; i < count; ++i) works.push_back(std::make_shared<Numbered>(record, i));
  return works;
}

void wait_for(Record& record, std::size_t count) {
  for (std::size_t now = record.count; now < count; now = record.count) record.count.wait(now);
}

std::vector<int> numbers(int count, int left_out = -1) {
  std::vector<int> all;
  for (int i = 0; i < count; ++i) {
    if (i != left_out) all.push_back(i);
  }
  return all;
}

TEST(WorkQueue, TakesNoMemoryToAdd) {
  constexpr int kWorks = 200;
  Record record;
  const auto queue = std::make_shared<WorkQueue>(1);
  const std::vector<std::shared_ptr<Work>> works = make_works(record, kWorks);
  {
    const std::lock_guard shut(record.gate);
    queue->add(works[0], {});
    is_memory_gone = true;
    for (int i = 1; i < kWorks; ++i) queue->add(works[static_cast<std::size_t>(i)], {});
    is_memory_gone = false;
  }
  wait_for(record, kWorks);
  EXPECT_EQ(record.done, numbers(kWorks));
}

TEST(WorkQueue, DoesItselfWhatNoThreadCanBeHadFor) {
  constexpr int kWorks = 3;
  Record record;
  const auto queue = std::make_shared<WorkQueue>(1);
  std::vector<std::shared_ptr<Work>> works = make_works(record, kWorks);
  threads::HelperThreads::of_process().stop();
  is_memory_gone = true;
  for (const std::shared_ptr<Work>& work : works) queue->add(work, {});
  is_memory_gone = false;
  EXPECT_EQ(record.done, numbers(kWorks));
}

class Withdrawn : public testing::TestWithParam<int> {};

TEST_P(Withdrawn, IsNotDoneAndTheOthersAre) {
  constexpr int kWorks = 4;
  Record record;
  const auto queue = std::make_shared<WorkQueue>(1);
  const std::vector<std::shared_ptr<Work>> works = make_works(record, kWorks + 1);
  {
    const std::lock_guard shut(record.gate);
    for (int i = 0; i < kWorks; ++i) queue->add(works[static_cast<std::size_t>(i)], {});
    const Work& taken_back = *works[static_cast<std::size_t>(GetParam())];
    EXPECT_TRUE(queue->withdraw(taken_back));
    EXPECT_FALSE(queue->withdraw(taken_back));
    queue->add(works[kWorks], {});
  }
  wait_for(record, kWorks);
  EXPECT_EQ(record.done, numbers(kWorks + 1, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Places, Withdrawn, testing::Values(1, 2, 3));

}  // namespace
}  // namespace headrace::file
