#include <gtest/gtest.h>

#include <chrono>

#include "storage/slowed_store.h"
#include "unit/private_folder.h"

namespace headrace::storage {
namespace {

TEST(SlowedStore, ReadsItsDelays) {
  std::vector<std::string> problems;
  const std::vector<std::string> good{"write_call=200000", "read_byte=2"};
  EXPECT_EQ(read_delays(good, problems), (Delays{.write_call = 200'000, .read_byte = 2}));
  EXPECT_TRUE(problems.empty());
  const std::vector<std::string> bad{"write_call",
                                     "write_call=",
                                     "write_call=-1",
                                     "call=1",
                                     "read_call=1x",
                                     "read_call=99999999999999",
                                     "=",
                                     ""};
  EXPECT_EQ(read_delays(bad, problems), Delays{});
  ASSERT_EQ(problems.size(), bad.size());
  EXPECT_EQ(problems[0],
            "'write_call' of HEADRACE_MIMIC_STORE is ignored (it is no delay), write for example "
            "write_call=200000");
}

TEST(SlowedStore, TakesAtLeastItsTimeAndMovesTheSame) {
  const record::PrivateFolder folder;
  auto opened =
      posix_file_system().open(folder.path + "/f", {.read = true, .write = true, .create = true});
  ASSERT_TRUE(opened);
  const std::unique_ptr<Store> store =
      slowed(std::move(opened.value()), {.write_call = 1'000'000, .read_byte = 100'000});
  std::string text = "twenty bytes of text";
  const iovec all{text.data(), text.size()};
  const auto timed = [](const auto& action) {
    const auto begin = std::chrono::steady_clock::now();
    action();
    return std::chrono::steady_clock::now() - begin;
  };
  EXPECT_GE(timed([&] { EXPECT_EQ(store->write(0, {&all, 1}).bytes, 20); }),
            std::chrono::milliseconds(1));
  text.assign(20, ' ');
  EXPECT_GE(timed([&] { EXPECT_EQ(store->read(0, {&all, 1}).bytes, 20); }),
            std::chrono::milliseconds(2));
  EXPECT_EQ(text, "twenty bytes of text");
  EXPECT_FALSE(store->close());
}

TEST(SlowedStore, IsTheStoreItselfWithoutDelays) {
  const record::PrivateFolder folder;
  auto opened = posix_file_system().open(folder.path + "/f", {.write = true, .create = true});
  ASSERT_TRUE(opened);
  const Store* const inner = opened.value().get();
  EXPECT_EQ(slowed(std::move(opened.value()), {}).get(), inner);
}

}  // namespace
}  // namespace headrace::storage
