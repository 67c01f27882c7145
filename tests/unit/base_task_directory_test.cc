#include <gtest/gtest.h>

#include <cstddef>
#include <thread>

#include "base/task_directory.h"

namespace headrace {
namespace {

TEST(TaskDirectory, ListsThreadsAsTheyComeAndGo) {
  TaskDirectory tasks;
  const std::size_t before = tasks.list().size();
  ASSERT_GE(before, 1U);
  std::thread([&] { EXPECT_EQ(tasks.list().size(), before + 1); }).join();
}

}  // namespace
}  // namespace headrace
