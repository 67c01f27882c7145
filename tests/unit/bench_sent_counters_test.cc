// What a benchmark reads of the counters of network interfaces, from files made up here.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "collectives/sent_counters.h"
#include "unit/private_folder.h"

namespace headrace::bench::collectives {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeader =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop "
    "fifo colls carrier compressed\n";

class SentCounters : public testing::Test {
 protected:
  SentCounters() : root_(folder_.path) {
    places_ = {root_ / "dev", root_ / "net", root_ / "infiniband"};
  }

  void write(const fs::path& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  void add_interface(const std::string& name, const std::string& numbers, int type = 1) {
    lines_ += name + ":" + numbers + "\n";
    write("dev", kHeader + lines_);
    write(fs::path("net") / name / "type", std::to_string(type) + "\n");
  }
  void add_port(const std::string& device, const std::string& port, const std::string& words,
                const std::string& packets) {
    const auto counters = fs::path("infiniband") / device / "ports" / port / "counters";
    if (!words.empty()) write(counters / "port_xmit_data", words + "\n");
    if (!packets.empty()) write(counters / "port_xmit_packets", packets + "\n");
  }
  void expect(std::int64_t bytes, std::int64_t packets) {
    const auto found = sent_so_far(places_);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->bytes, bytes);
    EXPECT_EQ(found->packets, packets);
  }

  record::PrivateFolder folder_;
  fs::path root_;
  CounterPlaces places_;
  std::string lines_;
};

TEST_F(SentCounters, AddsUpAllInterfacesButTheLoopback) {
  add_interface("    lo", " 9 9 0 0 0 0 0 0 9000 900 0 0 0 0 0 0");
  // Large counters leave no room before the number.
  add_interface("  eth0", "18446744073 7 1 2 3 4 5 6 20000000000 300 7 8 9 1 2 3");
  add_interface("enp3s0f1np1", " 1 2 0 0 0 0 0 0 40 5 0 0 0 0 0 0");
  expect(20'000'000'040, 305);
}

TEST_F(SentCounters, LeavesOutWhatOthersCountToo) {
  add_interface("eth0", " 0 0 0 0 0 0 0 0 100 10 0 0 0 0 0 0");
  add_interface("eth1", " 0 0 0 0 0 0 0 0 200 20 0 0 0 0 0 0");
  add_interface("bond0", " 0 0 0 0 0 0 0 0 300 30 0 0 0 0 0 0");
  fs::create_symlink(root_ / "net" / "eth0", root_ / "net" / "bond0" / "lower_eth0");
  fs::create_symlink(root_ / "net" / "eth1", root_ / "net" / "bond0" / "lower_eth1");
  fs::create_symlink(root_ / "net" / "bond0", root_ / "net" / "eth0" / "upper_bond0");
  expect(300, 30);
}

TEST_F(SentCounters, AddsThePortsOfInfiniBandInUnitsOfFourBytes) {
  add_interface("eth0", " 0 0 0 0 0 0 0 0 100 10 0 0 0 0 0 0");
  add_port("mlx5_0", "1", "1000", "7");
  add_port("mlx5_1", "1", "20", "3");
  add_port("mlx5_1", "2", "300", "5");
  expect(100 + 4 * 1320, 10 + 15);
}

TEST_F(SentCounters, CountsIpOverInfiniBandOnce) {
  add_interface("ib0", " 0 0 0 0 0 0 0 0 500 50 0 0 0 0 0 0", 32);
  expect(500, 50);
  add_port("mlx5_0", "1", "200", "60");
  expect(800, 60);
}

TEST_F(SentCounters, PortsThatDoNotTellAreLeftOut) {
  add_interface("eth0", " 0 0 0 0 0 0 0 0 100 10 0 0 0 0 0 0");
  add_interface("ib0", " 0 0 0 0 0 0 0 0 500 50 0 0 0 0 0 0", 32);
  add_port("efa_0", "1", "", "");
  add_port("mlx5_0", "1", "200", "");
  add_port("mlx5_1", "1", "N/A (no PMA)", "4");
  expect(600, 60);
}

TEST_F(SentCounters, LinesThatAreCutOffAreLeftOut) {
  add_interface("eth0", " 0 0 0 0 0 0 0 0 100 10 0 0 0 0 0 0");
  add_interface("eth1", " 0 0 0 0 0 0 0 0 100");
  add_interface("eth2", "");
  expect(100, 10);
}

TEST_F(SentCounters, TellsThatNothingCanBeRead) {
  EXPECT_FALSE(sent_so_far(places_).has_value());
  add_port("mlx5_0", "1", "2", "1");
  expect(8, 1);
}

TEST(SentCountersOfThisMachine, AreRead) {
  const auto first = sent_so_far();
  ASSERT_TRUE(first.has_value());
  const auto second = sent_so_far();
  EXPECT_GE(second->bytes, first->bytes);
  EXPECT_GE(second->packets, first->packets);
}

}  // namespace
}  // namespace headrace::bench::collectives
