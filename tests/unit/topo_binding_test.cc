#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "private_folder.h"
#include "topo/binding.h"

namespace headrace::topo {
namespace {

/// Ranks of nodes with four CPUs each.
Binding bound(const std::string& host, const std::string& cpus, int threads = 1) {
  return {host, std::hash<std::string>()(host), read_cpu_list(cpus), {}, 4, threads};
}

TEST(Binding, ReadsListsOfTheKernel) {
  EXPECT_EQ(read_cpu_list("0-3,8\n").to_ulong(), 0x10fU);
  EXPECT_EQ(read_cpu_list("5").to_ulong(), 0x20U);
  EXPECT_TRUE(read_cpu_list("").none());
  EXPECT_TRUE(read_cpu_list("x").none());
  EXPECT_EQ(read_cpu_list("2,x").to_ulong(), 4U);
  EXPECT_EQ(read_cpu_list("1022-99999").count(), 2U);
}

TEST(Binding, ShowsMasksAsAprunDoes) {
  EXPECT_EQ(shown_cpus(read_cpu_list("1"), 4, "n0"), "cpumask set to 1 cpu on n0, cpumask = 0010");
  EXPECT_EQ(shown_cpus(read_cpu_list("0-1,5"), 4, "n0"),
            "cpumask set to 3 cpus on n0, cpumask = 100011");
  EXPECT_EQ(shown_cpus({}, 2, "n0"), "cpumask set to 0 cpus on n0, cpumask = 00");
}

TEST(Binding, KnowsItsOwnCpus) {
  EXPECT_TRUE(cpus_of_thread(0).any());
  EXPECT_TRUE(cpus_of_thread(-1).none());
}

TEST(Binding, WarnsOfNothingThatIsNotKnown) {
  Binding unknown = bound("n0", "");
  unknown.near_network = read_cpu_list("2-3");
  EXPECT_TRUE(binding_warnings(std::vector{unknown, unknown}).empty());
  EXPECT_TRUE(binding_warnings(std::vector{unknown, bound("n0", "0"), unknown}).empty());
}

TEST(Binding, WarnsOfNothingWhereAllIsWell) {
  const std::vector<Binding> unbound(4, bound("n0", "0-3"));
  EXPECT_TRUE(binding_warnings(unbound).empty());
  const std::vector<Binding> apart = {bound("n0", "0"), bound("n0", "1"), bound("n1", "0")};
  EXPECT_TRUE(binding_warnings(apart).empty());
  EXPECT_TRUE(binding_warnings(std::vector{bound("n0", "0-1", 2)}).empty());
  EXPECT_TRUE(binding_warnings({}).empty());
}

std::string only_warning(const std::vector<Binding>& ranks) {
  const auto lines = binding_warnings(ranks);
  EXPECT_EQ(lines.size(), 1U);
  return lines.empty() ? "" : lines.front();
}

TEST(Binding, WarnsOfRanksThatShareCpus) {
  const std::string line = only_warning(
      {bound("n0", "0"), bound("n0", "0"), bound("n0", "1"), bound("n1", "2"), bound("n1", "2")});
  EXPECT_NE(line.find("ranks 0, 1 on n0 share 1 CPU of 4 (and on 1 more node), bind each"),
            std::string::npos)
      << line;
}

TEST(Binding, WarnsOfThreadsWithoutCpus) {
  const std::string line = only_warning({bound("n0", "0", 4)});
  EXPECT_NE(line.find("rank 0 on n0 is bound to 1 CPU and has 4 threads"), std::string::npos);
}

TEST(Binding, WarnsOfTooManyRanks) {
  const std::string line = only_warning(std::vector<Binding>(5, bound("n0", "0-3")));
  EXPECT_NE(line.find("n0 has 5 ranks and 4 CPUs, start fewer"), std::string::npos) << line;
}

TEST(Binding, WarnsOfRanksFarFromTheNetwork) {
  Binding one = bound("n0", "0-1");
  one.near_network = read_cpu_list("2-3");
  EXPECT_NE(only_warning({one}).find("rank 0 on n0 is far from the network card"),
            std::string::npos);
  one.near_network = read_cpu_list("1-3");
  EXPECT_TRUE(binding_warnings(std::vector{one}).empty());
}

TEST(Binding, FindsCpusNearNetworkCards) {
  const record::PrivateFolder folder;
  const std::string classes = folder.path;
  EXPECT_TRUE(cpus_near_network(classes).none());
  for (const auto& [card, cpus] : {std::pair{"infiniband/mlx5_0", "0-3"}, {"cxi/cxi0", "8"}}) {
    const std::string device = classes + "/" + card + "/device";
    std::filesystem::create_directories(device);
    std::ofstream(device + "/local_cpulist") << cpus << "\n";
  }
  EXPECT_EQ(cpus_near_network(classes).to_ulong(), 0x10fU);
}

TEST(Binding, ComparesWithAnOrder) {
  const std::vector<Binding> ranks = {bound("n0", "0"), bound("n1", "0"), bound("n0", "1"),
                                      bound("n1", "1")};
  EXPECT_EQ(order_fault("0,1,0,1", ranks), "");
  EXPECT_EQ(order_fault("1,0,1,0", ranks), "");  // the names of nodes do not count
  EXPECT_EQ(order_fault("", ranks), "");
  EXPECT_EQ(order_fault("0*2,1*2", ranks),
            "rank 1 is on n1, and the rank order has it on one node with rank 0, which is on n0");
  EXPECT_EQ(order_fault("0,1,2,1", ranks), "rank 2 is on n0, where the rank order has other ranks");
  EXPECT_EQ(order_fault("0,x", ranks), "");
  EXPECT_EQ(order_fault("0*99999999", std::vector{bound("n0", "0")}), "");
}

}  // namespace
}  // namespace headrace::topo
