#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/loaded_objects.h"

namespace headrace {
namespace {

TEST(LoadedObjects, AreCounted) {
  const auto before = loaded_object_count();
  EXPECT_GT(before, 2u);
  EXPECT_EQ(loaded_object_count(), before);
}

TEST(LoadedObjects, AreVisitedByPath) {
  std::vector<std::string> paths;
  for_each_object_path([&](std::string_view path) { paths.emplace_back(path); });
  const auto ends = [](const std::string& path) { return path.ends_with("/libc.so.6"); };
  EXPECT_EQ(std::count_if(paths.begin(), paths.end(), ends), 1);
}

}  // namespace
}  // namespace headrace
